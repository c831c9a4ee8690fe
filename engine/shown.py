"""Numbers as people read them, in terminals, reports and windows.

Knows: shares, numbers, intervals, names. Does not know: what they measure, where they are shown.
"""


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


def words(name: str) -> str:
    """The name of a criterion as words: `overall quality`."""
    return name.replace("_", " ")
