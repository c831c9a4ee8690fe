"""Tables of values: each column knows of what kind its values are, how these are written, what they mean.

Knows: kinds of values, the text of each, by what each is sorted. Does not know: what is measured, where a
table is shown.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, cast

from engine.core.errors import EngineBug
from engine.core.formatting import interval, number, percent, yes_or_no


class Kind(StrEnum):
    """What the values of a column are."""

    NAME = "name"  # words of ours, such as the name of a criterion or a measure
    TEXT = "text"  # any other text, also of files and users
    FLAG = "flag"  # true or false
    COUNT = "count"  # a whole number
    SHARE = "share"  # 0 to 1
    NUMBER = "number"  # with the decimals of its column
    SHORTEST = "shortest"  # a number with the digits that it needs
    INTERVAL = "interval"  # its two ends
    SHARE_INTERVAL = "interval of shares"  # its two ends, 0 to 1
    PAIR = "pair"  # two whole numbers
    RANKED = "ranked"  # a Ranked
    PARTIAL = "partial"  # a Partial
    PART = "part"  # a PartOf
    ESTIMATE = "estimate"  # an Estimate
    FACT = "fact"  # a Fact: each row has a kind of its own

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers: these sort by size, and a window lines them up at the right."""
        return self not in _WORDS


_WORDS = {Kind.NAME, Kind.TEXT, Kind.FLAG}


@dataclass(frozen=True)
class Ranked:
    """A measure, its rank, 1 the best, and its 95 % interval, in its unit; neither where none is given."""

    value: float | None
    rank: float | None = None
    ends: tuple[float, float] | None = None

    def __str__(self) -> str:
        if self.value is None:
            return number(None)
        ends = f" ({interval(self.ends)})" if self.ends else ""
        rank = "" if self.rank is None else f" [{self.rank:g}]"
        return f"{number(self.value)}{ends}{rank}"


@dataclass(frozen=True)
class Partial:
    """A measure, how many items it omits, and its 95 % interval, in its unit, where there is one."""

    value: float | None
    left_out: int = 0
    ends: tuple[float, float] | None = None

    def __str__(self) -> str:
        shown = str(Ranked(self.value, ends=self.ends))
        return f"{shown} ({self.left_out:,} omitted)" if self.left_out else shown


@dataclass(frozen=True)
class PartOf:
    """So many, of how many there are; None where nobody knows that."""

    value: int
    whole: int | None

    def __str__(self) -> str:
        return f"{self.value:,}" if self.whole is None else f"{self.value:,} of {self.whole:,}"


@dataclass(frozen=True)
class Estimate:
    """A share (0 to 1) or a difference of shares (-1 to 1), and its 95 % interval where there is one."""

    value: float
    ends: tuple[float, float] | None = None

    def __str__(self) -> str:
        shown = number(100 * self.value, 1)
        return shown if self.ends is None else f"{shown} ({interval(self.ends, 100)})"

    def turned(self) -> "Estimate":
        """Of a share, that of the other side."""
        ends = None if self.ends is None else (1 - self.ends[1], 1 - self.ends[0])
        return Estimate(1 - self.value, ends)


@dataclass(frozen=True)
class Fact:
    """A value with its kind, where a column lists facts of several kinds."""

    kind: Kind
    value: "Value"

    def __str__(self) -> str:
        return value_text(self.value, self.kind)


Value = str | float | tuple[float, float] | Ranked | Partial | PartOf | Estimate | Fact | None
"""None where it is not known; the empty text where nothing belongs, in a column of any kind."""

_WRITTEN: Mapping[Kind, Callable[[Any], str]] = {
    Kind.FLAG: yes_or_no,
    Kind.COUNT: "{:,}".format,
    Kind.SHARE: percent,
    Kind.SHORTEST: "{:g}".format,
    Kind.INTERVAL: interval,
    Kind.SHARE_INTERVAL: lambda ends: interval(ends, 100),
    Kind.PAIR: lambda numbers: "{}/{}".format(*numbers),
}


def value_text(value: Value, kind: Kind, digits: int = 2, least: float | None = None) -> str:
    """A value as users read it, a dash for None; `digits` and `least` as `number` takes them."""
    if value is None:
        return "-"
    if isinstance(value, str | Ranked | Partial | PartOf | Estimate | Fact):
        return str(value)
    if kind is Kind.NUMBER:
        return number(cast(float, value), digits, least)
    return _WRITTEN[kind](value)


@dataclass(frozen=True)
class Column:
    """What stands in a column of a table.

    `key` names it among the columns of its table, `title` is its header, `meaning` says in a sentence what it
    holds. `digits`: decimals of a NUMBER. `least`: a NUMBER below it is shown as less than it. `instead`:
    texts that are shown for some values in place of these. `foreign`: its title is a name that the user gave.
    `shaded`: its estimates are shares about one half; a window colours its cells by them, and leaves their
    intervals to tool tips.
    """

    key: str
    title: str
    kind: Kind
    meaning: str
    digits: int = 2
    least: float | None = None
    instead: Mapping[Value, str] = field(default_factory=dict)
    foreign: bool = False
    shaded: bool = False

    def text(self, value: Value) -> str:
        """A value of this column as users read it."""
        if value in self.instead:
            return self.instead[value]
        return value_text(value, self.kind, self.digits, self.least)

    def sort_key(self, value: Value) -> float | str:
        """By what a value of this column is sorted: what is not known, or not there, comes before all."""
        return _size(value) if self.kind.is_number else "" if value is None else self.text(value)


def _size(value: Value) -> float:
    """A value as one number: the low end of an interval, the first of a pair."""
    if isinstance(value, Ranked | Partial | PartOf | Estimate | Fact):
        return _size(value.value)
    if isinstance(value, tuple):
        return value[0]
    return -math.inf if value is None or isinstance(value, str) else value


Row = Sequence[Value]


@dataclass(frozen=True)
class ItemsBehind:
    """Items that a row of a table reports, for who wants to see them: their ids, on one criterion or, for
    None, on all; what they have in common, in words.
    """

    ids: frozenset[str]
    criterion: str | None
    words: str


@dataclass(frozen=True)
class Table:
    """Columns, and rows of a value for each of them; the first column names the row.

    `best`: row and column, from 0, of the cells that stand out. `behind`: of each row what it reports; empty
    where no row does. `behind_cells`: of some cells, by row and column, what they alone tell of. Raises
    EngineBug where a row is longer or shorter than the columns, or two columns have one key.
    """

    columns: Sequence[Column]
    rows: Sequence[Row]
    best: frozenset[tuple[int, int]] = frozenset()
    behind: Sequence[ItemsBehind] = ()
    behind_cells: Mapping[tuple[int, int], ItemsBehind] = field(default_factory=dict)

    def __post_init__(self) -> None:
        keys = [column.key for column in self.columns]
        if len(set(keys)) < len(keys):
            raise EngineBug(f"two columns of a table have one key: {keys}")
        if any(len(row) != len(keys) for row in self.rows):
            raise EngineBug(f"a row of a table does not have {len(keys)} values, as its columns: {keys}")

    @property
    def titles(self) -> list[str]:
        """The header."""
        return [column.title for column in self.columns]

    def texts(self) -> list[list[str]]:
        """All values as users read them."""
        return [
            [column.text(value) for column, value in zip(self.columns, row, strict=True)] for row in self.rows
        ]

    def with_tabs(self) -> str:
        """Header and values, a line for each row, with tabs between them."""
        return "\n".join("\t".join(row) for row in (self.titles, *self.texts()))
