"""Numbers and foreign texts as people read them, in terminals, reports and windows.

Knows: shares, numbers, intervals, names, tables of them, invisible characters. Does not know: what they
measure or mean, where they are shown.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

# Control characters but tab and line feed, halves of characters, marks of direction.
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Table:
    """Cells as they are shown; the first column names the row."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]


def percent(share: float | None) -> str:
    """A share (0 to 1) in percent; a dash where there is none."""
    return "-" if share is None else f"{100 * share:.1f} %"


def number(value: float | None, digits: int = 2) -> str:
    """A number with so many decimals, without a sign where it rounds to 0; a dash where there is none."""
    return "-" if value is None else f"{round(value, digits) + 0.0:.{digits}f}"


def interval(ends: tuple[float, float] | None, factor: float = 1) -> str:
    """`15.3 to 31.6`; a dash where there is none."""
    if ends is None:
        return "-"
    low, high = ends
    return f"{factor * low:.1f} to {factor * high:.1f}"


def amount(n_bytes: int) -> str:
    """A size in bytes: `1.5 GiB`, `12 MiB`."""
    return f"{n_bytes / (1 << 30):,.1f} GiB" if n_bytes >= 1 << 30 else f"{n_bytes / (1 << 20):,.0f} MiB"


def short_count(count: int) -> str:
    """A large number in millions or thousand millions: `1.1 M`, `8.0 B`."""
    return f"{count / 1e9:.1f} B" if count >= 1e9 else f"{count / 1e6:.1f} M"


def duration(seconds: float) -> str:
    """A time as people say it: `40 s`, `25 min`, `3 h 10 min`."""
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def words(name: str) -> str:
    """The name of a criterion as words: `overall quality`."""
    return name.replace("_", " ")


def visible(text: str) -> str:
    r"""Text with control characters, marks of direction and lone surrogates written out: `\x00`, `\u202e`.

    Line breaks and tabs stay; a Windows line break becomes a plain one.
    """
    return _HIDDEN.sub(lambda found: repr(found[0])[1:-1], text.replace("\r\n", "\n"))


_LONGEST_SHOWN = 40
_MOST_LISTED = 10
_NEEDS_NO_QUOTES = re.compile(r"[\w.:#-]+( [\w.:#-]+)*")


def clipped(text: str) -> str:
    """A text cut to 40 characters."""
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…"


def quoted(text: str) -> str:
    """A text from a file, in quotes, cut short, with control characters written out."""
    return repr(clipped(text))


def named(text: str) -> str:
    """A name from a file: as it is where its end is plain to see, else quoted."""
    return clipped(text) if _NEEDS_NO_QUOTES.fullmatch(text) else quoted(text)


def listed(names: Sequence[str], most: int = _MOST_LISTED, shown: Callable[[str], str] = named) -> str:
    """The first few names, and how many more there are."""
    text = ", ".join(map(shown, names[:most]))
    return f"{text} and {len(names) - most:,} more" if len(names) > most else text
