"""Numbers, names and foreign texts as users read them, and names that every file can have."""

import difflib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import PureWindowsPath

# Control characters but tab and line feed, halves of characters, marks of direction.
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def percent(share: float | None) -> str:
    """A share (0 to 1) in percent; a dash where there is none."""
    return "-" if share is None else f"{100 * share:.1f} %"


def points(difference: float) -> str:
    return f"{100 * difference:.1f} points"


def number(value: float | None, digits: int = 2, least: float | None = None) -> str:
    """Without a sign where it rounds to 0; a dash for None. Below `least` it is shown as less than that."""
    if value is None:
        return "-"
    if least is not None and value < least:
        return f"<{least:.{digits}f}"
    return f"{round(value, digits) + 0.0:.{digits}f}"


def yes_or_no(value: bool) -> str:
    return "yes" if value else "no"


def interval(ends: tuple[float, float] | None, factor: float = 1) -> str:
    """`15.3 to 31.6`; a dash where there is none."""
    if ends is None:
        return "-"
    low, high = ends
    return f"{number(factor * low, 1)} to {number(factor * high, 1)}"


def amount(n_bytes: int) -> str:
    """A size in bytes: `1.5 GiB`, `12 MiB`."""
    return f"{n_bytes / (1 << 30):,.1f} GiB" if n_bytes >= 1 << 30 else f"{n_bytes / (1 << 20):,.0f} MiB"


def short_count(count: int) -> str:
    return f"{count / 1e9:.1f} B" if count >= 1e9 else f"{count / 1e6:.1f} M"


def duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def counted(number: int, singular: str, plural: str) -> str:
    return f"{number:,} {singular if number == 1 else plural}"


def value_in_words(value: object) -> str:
    """Of JSON: `yes`, `4096`, `a, b`, `total: 1; free: 2`."""
    if isinstance(value, bool):
        return yes_or_no(value)
    if isinstance(value, Mapping):
        return "; ".join(f"{words(str(name))}: {value_in_words(part)}" for name, part in value.items())
    return ", ".join(map(value_in_words, value)) if isinstance(value, list) else str(value)


def words(name: str) -> str:
    return name.replace("_", " ")


def visible(text: str) -> str:
    r"""Text with control characters, marks of direction and lone surrogates written out: `\u202e`."""
    return HIDDEN.sub(lambda found: repr(found[0])[1:-1], text.replace("\r\n", "\n"))


_LONGEST_SHOWN = 40
_LONGEST_NAME = 60
_LONGEST_VALUE = 100
_MOST_LISTED = 10
_NEEDS_NO_QUOTES = re.compile(r"[\w.:#-]+( [\w.:#-]+)*")


def did_you_mean(text: str, choices: Collection[str]) -> str:
    """`Did you mean NAME? `, to begin a hint; empty where no name is near."""
    near = difflib.get_close_matches(text, choices, n=1)
    return f"Did you mean {named(near[0])}? " if near else ""


def capitalised(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def short_name(name: str) -> str:
    return without_middle(name, _LONGEST_NAME)


def without_middle(text: str, most: int) -> str:
    """A text of at most this many characters: a longer one lacks its middle, and keeps more of its start."""
    end = most * 3 // 10
    return text if len(text) <= most else f"{text[: most - end - 1]}…{text[-end:]}"


def clipped(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…"


def in_a_line(value: object) -> str:
    """Any value as it is typed in Python, in one line and cut short; else its type."""
    try:
        return without_middle(" ".join(repr(value).split()), _LONGEST_VALUE)
    except (ValueError, RecursionError):  # of whole numbers with thousands of digits, of lists in lists
        return f"of the type {type(value).__name__}"


def quoted(text: str) -> str:
    """A text from a file, in quotes, cut short, with control characters written out."""
    return repr(clipped(text))


def named(text: str) -> str:
    """A name from a file: as it is where its end is plain to see, else quoted."""
    return clipped(text) if _NEEDS_NO_QUOTES.fullmatch(text) else quoted(text)


def listed(names: Sequence[str], most: int = _MOST_LISTED, shown: Callable[[str], str] = named) -> str:
    text = ", ".join(map(shown, names[:most]))
    return f"{text} and {len(names) - most:,} more" if len(names) > most else text


_KEPT = re.compile(r'[\x00-\x1f<>:"/\\|?*]+')
_DEVICES = {"aux", "con", "conin$", "conout$", "nul", "prn"}
_DEVICES |= {f"{name}{number}" for name in ("com", "lpt") for number in range(10)}
_LONGEST = 259  # characters of UTF-16 of a path with its folders, where long ones are not switched on


def file_stem(called: str, most: int) -> str:
    """How a file's name begins, out of what something is called: `most` bytes in UTF-8, perhaps none."""
    stem = _KEPT.sub("-", called).encode("utf-8", "ignore")[:most].decode("utf-8", "ignore").strip(" .")
    return f"_{stem}" if _is_device(stem) else stem


def windows_fault(path: PureWindowsPath, long_paths: bool) -> str:
    """Why Windows does not take an absolute path, or for another one, as a clause; empty where it does."""
    if path.drive and not path.root:
        return f"{path.drive!r} names a drive, but no folder on it"
    for part in path.parts[1:]:
        if part == "..":
            continue
        if found := _KEPT.search(part):
            return f"Windows allows no {found[0][0]!r} in a name"
        if _is_device(part):
            return f"Windows reserves the name {part!r} for a device"
        if part.endswith((" ", ".")):
            end = "dot" if part.endswith(".") else "space"
            return f"the name {part!r} ends with a {end}, which Windows drops"
    length = len(str(path).encode("utf-16-le", "surrogatepass")) // 2
    if length > _LONGEST and not long_paths and not str(path).startswith("\\\\?\\"):
        return (
            f"with its folders it has {length} characters, and this Windows allows {_LONGEST} while long"
            " paths are not enabled"
        )
    return ""


def _is_device(name: str) -> bool:
    """Whether Windows, of whatever age, opens a device at a name: what comes after a dot does not count."""
    # It takes the small digits 1 to 3 for digits, too.
    first = name.partition(".")[0].rstrip(" ").casefold().translate({0xB9: "1", 0xB2: "2", 0xB3: "3"})
    return first in _DEVICES


INTERVAL = (
    "95 % confidence interval of the value for items of this kind: at least 95 of 100 such intervals contain"
    " it. Items with the same instruction are one cluster; few instructions make the interval wide."
)
KAPPA = "Cohen's kappa: agreement beyond chance. 0 is chance, 1 is complete; “-” where only one label occurs."
AC1 = "Gwet's AC1: agreement beyond chance, which stays high if nearly all labels are rightly the same one."
MACRO_F1 = (
    "The mean F1 score (0 to 1) over the labels that occur: rare labels count as much as frequent ones."
)
BETTER = (
    "Is the judge better than the best baseline on the same items, which is given in brackets? “Yes”: the"
    " whole 95 % interval of the difference is above 0; “not significant”: it includes 0; “no”: the accuracy"
    " is not above it; “-”: fewer than ten instructions, too few to tell."
)
ROUGE_L = (
    "Overlap between the judge's explanation and the human one: words in the same order, × 100. It measures"
    " word overlap, not whether an explanation is right."
)
AGREEMENT = (
    "The percentage of explanations that a judge model finds accurate and in agreement with the human one."
)
SLICES_NOTE = (
    "Many slices mean multiple comparisons: one interval in twenty misses by chance, and the best and the"
    " worst slice look further apart than they are. Test a difference between slices on new items before you"
    " rely on it."
)
"""The note under every table of slices."""
SCORE = "10 × (P(it is preferred) + P(both good)), 0 to 10"
"""The score of a response on a criterion in weighted scoring."""


def best_of(what: str, choice: tuple[int, float] | None, by: str = "accuracy") -> list[str]:
    """On the optimism of selecting the best of several, where there is any. `choice`: how many, and how much
    better (0 to 1) the best looks than it is if all are equally good, `by` which measure.
    """
    if choice is None or not round(100 * choice[1], 1):
        return []
    candidates, excess = choice
    return [
        f"The best of {candidates:,} {what} is selected on these items: if all were equally good, its {by}"
        f" would still look {100 * excess:.1f} points better than it is."
    ]
