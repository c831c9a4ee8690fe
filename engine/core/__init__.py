"""The version of Tiebreak, its day and its authors, in the one place that all others read."""

VERSION = "0.1.0"
RELEASED = "2026-11-21"
AUTHORS = "The Tiebreak authors"
CITATION = f"{AUTHORS} ({RELEASED[:4]}). Tiebreak (version {VERSION}) [computer software]."
