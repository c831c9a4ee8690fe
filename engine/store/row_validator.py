"""The one gate for what is read out of the store: each value is of the kind that this program writes there,
or is reported with its run and its field.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NoReturn, TypeVar

from engine.core.codec import plain_values
from engine.core.errors import Hint, SetupError, Step, StoreError
from engine.core.formatting import quoted
from engine.core.items import HUMAN_LABELS, HumanLabel, written_label
from engine.core.judgments import is_log_prob, is_seconds

_MOST = 1 << 53  # of what is counted: up to it each number is exact in whatever reads it
_YEARS = range(2000, 9000)  # what any clock and any time zone can tell
_UNLIKE = (AttributeError, KeyError, OverflowError, RecursionError, TypeError, ValueError, SetupError)

Kind = TypeVar("Kind", bound=StrEnum)
Made = TypeVar("Made")


class DamagedError(StoreError):
    """The store holds what this program does not write there. `of`: whose it is; `field`: what is damaged."""

    def __init__(self, of: str, field: str, found: str) -> None:
        hint = Hint("Another program wrote that, or the disk is damaged. ", Step.DELETE_DAMAGED)
        super().__init__(f"{of}: {field.replace('_', ' ')}: {found}.", hint)
        self.of, self.field, self.found = of, field, found

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.of, self.field, self.found)


@dataclass(frozen=True)
class RowValidator:
    """Lets values of a row through, or raises DamagedError. `field`: the column."""

    of: str  # whose row it is, for users: `Run 3`, `Run 3, item 17`

    def refuse(self, field: str, value: object, wanted: str) -> NoReturn:
        raise DamagedError(self.of, field, f"found {_in_words(value)}, expected {wanted}")

    def text(self, field: str, value: object) -> str:
        if not isinstance(value, str):
            self.refuse(field, value, "a text")
        # Most texts are ASCII, and that is asked in no time.
        if not value.isascii() and not _is_whole(value):
            self.refuse(field, value, "a text in UTF-8")
        return value

    def name(self, field: str, value: object) -> str:
        text = self.text(field, value)
        if "\0" in text:
            self.refuse(field, value, "the name of a file")
        return text

    def count(self, field: str, value: object, least: int = 0) -> int:
        # type, not isinstance: True is an int to Python.
        if type(value) is not int or not least <= value <= _MOST:
            self.refuse(field, value, f"a whole number, {least} or more")
        return value

    def seconds(self, field: str, value: object) -> float:
        if not is_seconds(value):
            self.refuse(field, value, "a number of seconds")
        return float(value)

    def log_probs(self, field: str, values: Iterable[object]) -> tuple[float, ...]:
        """Log-probabilities; NaN for what is stored as nothing, because the model gave no number."""
        read = []
        for value in values:
            if value is None:
                read.append(math.nan)
            elif is_log_prob(value):
                read.append(float(value))
            else:
                self.refuse(field, value, "the logarithm of a probability")
        return tuple(read)

    def flag(self, field: str, value: object) -> bool:
        if value not in (0, 1) or not isinstance(value, int):
            self.refuse(field, value, "0 or 1")
        return bool(value)

    def time(self, field: str, value: object) -> datetime:
        wanted = "a time in UTC"
        try:
            time = datetime.fromisoformat(self.text(field, value))
        except ValueError:
            self.refuse(field, value, wanted)
        if time.tzinfo is None or time.year not in _YEARS:
            self.refuse(field, value, wanted)
        return time

    def label(self, field: str, value: object) -> HumanLabel:
        if not isinstance(value, str) or value not in HUMAN_LABELS:
            self.refuse(field, value, f"one of {', '.join(HUMAN_LABELS)}")
        return written_label(value)

    def one_of(self, kind: type[Kind], field: str, value: object) -> Kind:
        if not isinstance(value, str) or value not in tuple(kind):
            self.refuse(field, value, f"one of {', '.join(kind)}")
        return kind(value)

    def plain(self, field: str, value: object) -> Any:
        text = self.text(field, value)
        try:
            read = plain_values(text)
        except ValueError as error:
            raise DamagedError(self.of, field, f"it {error}") from error
        # JSON can spell half a character, which no file in UTF-8 can hold.
        if "\\u" in text and not _is_whole(str(read)):
            self.refuse(field, text, "texts in UTF-8")
        return read

    def record(self, field: str, value: object) -> dict[str, Any]:
        read = self.plain(field, value)
        if not isinstance(read, dict):
            self.refuse(field, value, "a record")
        return read

    def texts(self, field: str, read: object) -> tuple[str, ...]:
        if not isinstance(read, list) or not all(isinstance(each, str) for each in read):
            self.refuse(field, read, "a list of texts")
        return tuple(read)

    def made(self, field: str, value: object, make: Callable[[], Made]) -> Made:
        """What is made of a value by a function that raises where it is none of its own."""
        try:
            return make()
        except DamagedError:
            raise
        except _UNLIKE as error:
            raise DamagedError(self.of, field, f"found {_in_words(value)}, and {_why(error)}") from error


def numbers_of_row(text: object) -> tuple[float, ...]:
    validator = RowValidator("A measure")
    read = validator.plain("numbers", text)
    if not isinstance(read, list) or not all(type(each) in (int, float) for each in read):
        validator.refuse("numbers", text, "a list of numbers")
    return tuple(read)


def _why(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{error} is missing"
    said = (error.problem if isinstance(error, SetupError) else str(error)).rstrip(".")
    return said if said.endswith(" is missing") else f"cannot be read ({said[:200]})"


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _in_words(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bytes):
        return f"{len(value):,} bytes"
    if isinstance(value, Mapping | list):
        return quoted(repr(value)[:100])
    return quoted(value) if isinstance(value, str) else str(value)[:40]
