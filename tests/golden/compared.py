"""Texts compared with golden files, or written into them.

Knows: where golden files are, what differs from one computer to the next. Does not know: the program's names.
"""

import difflib
import gzip
import math
import os
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
WRITING = "TIEBREAK_WRITE_GOLDEN"
HOW = "If this is meant: `python -m tests.golden.write`, look through the diff, commit it."

checked: set[Path] = set()
"""The golden files that were looked at in this process."""

_LONG, _LONG_DATA = 10_000, 2_000  # bytes; a longer golden file is compressed
_DATA = (".json", ".jsonl", ".csv", ".tsv", ".parquet", ".sql")
_MOST_LINES = 60  # of a diff that is shown
_TIME = re.compile(
    r"20(?:2[6-9]|[3-9]\d)-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:\+00:00|Z)?)?(?: UTC)?"
)
_PROGRESS = re.compile(r"\r[^\r\n]*elapsed[^\r\n]*")
_NUMBER = re.compile(r"-?\d+\.\d{7,}(?:e[-+]?\d+)?|-?\d+(?:\.\d+)?e-\d+")
_FITTED = re.compile(r"^(calibration +)[0-9a-f]{64}(, fitted on)", re.MULTILINE)
_ANY_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]\d+)?…?")


def tidy(text: str, named: dict[str, str]) -> str:
    """A text as it is on every computer: `named` gives texts and what stands for them, the longest first.

    Numbers of seven digits and more after the point are cut to five and … instead. The digest of a fitted
    calibration is not shown: it changes with the last digit of a fit, so with the processor and NumPy.
    """
    for found in sorted(named, key=len, reverse=True):
        text = text.replace(found, named[found])
    text = _FITTED.sub(r"\1{fitted}\2", text)
    text = _TIME.sub("{time}", _PROGRESS.sub("", text)).replace("\r", "{CR}")
    return _NUMBER.sub(lambda found: f"{float(found[0]):.5g}…", text)


def check(name: str, got: str) -> None:
    """Fail with a diff where a text is not that of its golden file; or write it, where that is asked for."""
    plain = FOLDER / "files" / name
    packed = plain.with_name(f"{plain.name}.gz")
    if os.environ.get(WRITING):
        checked.add(_write(plain, packed, got))
        return
    kept = read(packed) if packed.exists() else read(plain) if plain.exists() else ""
    same(name, kept, _with_last_digits_of(kept, got), HOW)


def same(name: str, kept: str, got: str, how: str) -> None:
    """Fail with a short diff where two texts are not the same; `how`: what to do then."""
    if got == kept:
        return
    found = difflib.unified_diff(
        kept.splitlines(), got.splitlines(), f"golden {name}", "now", lineterm="", n=1
    )
    lines = list(found)
    more = [f"… and {len(lines) - _MOST_LINES} more lines"] if len(lines) > _MOST_LINES else []
    shown = "\n".join(line[:300] for line in [*lines[:_MOST_LINES], *more])
    pytest.fail(f"{shown or 'only the ends of lines differ'}\n\n{how}", pytrace=False)


def read(path: Path) -> str:
    """A text file, compressed or not, with line ends of one kind."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    return data.decode("utf-8").replace("\r\n", "\n")


def page_text(page: str) -> str:
    """The text of an HTML page: a line for each paragraph and table row; pictures by their titles."""
    parser = _Words()
    parser.feed(page)
    lines = (" ".join(line.split()) for line in "".join(parser.words).split("\n"))
    return "\n".join(line for line in lines if line) + "\n"


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self._style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._style = tag in ("style", "script")
        words = [value for name, value in attrs if name in ("alt", "title") and value]
        if tag in ("h1", "h2", "h3"):
            self.words.append(f"\n{'#' * int(tag[1])} ")
        self.words += [f"[{each}] " for each in words]

    def handle_endtag(self, tag: str) -> None:
        self._style = False
        if tag not in ("a", "b", "em", "i", "span"):
            self.words.append(" | " if tag in ("td", "th") else "\n")

    def handle_data(self, data: str) -> None:
        if not self._style:
            self.words.append(data.replace("\n", " "))


def _write(plain: Path, packed: Path, text: str) -> Path:
    plain.parent.mkdir(parents=True, exist_ok=True)
    data = text.encode()
    is_long = len(data) > (_LONG_DATA if plain.suffix in _DATA else _LONG)
    kept, other = (packed, plain) if is_long else (plain, packed)
    other.unlink(missing_ok=True)
    before = read(kept) if kept.exists() else None
    if before is None or _with_last_digits_of(before, text) != before:  # else nothing is different
        kept.write_bytes(gzip.compress(data, 9, mtime=0) if is_long else data)
    return kept


def _with_last_digits_of(kept: str, got: str) -> str:
    """A text with the long numbers of another one where they are nearly the same."""
    numbers = iter(_ANY_NUMBER.findall(kept))

    def nearest(found: re.Match[str]) -> str:
        before, now = next(numbers, None), found[0]
        if before is None or "…" not in before + now:  # 0.563075 is 0.56308… where the last digit differs
            return now
        then, value = (float(each.rstrip("…")) for each in (before, now))
        return before if math.isclose(value, then, rel_tol=2e-4, abs_tol=1e-7) else now

    return _ANY_NUMBER.sub(nearest, got)
