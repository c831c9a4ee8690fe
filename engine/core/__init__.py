"""The version of Tiebreak and its day, in the one place that all others read."""

VERSION = "0.1.0"
RELEASED = "2026-11-21"
