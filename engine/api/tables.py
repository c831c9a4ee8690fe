"""Tables of values as frames: one converter for every table of the program.

Knows: what each kind of value is in a frame. Does not know: what is measured.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from engine.core.sheets import Section
from engine.core.value_tables import (
    Column,
    Estimate,
    Fact,
    Kind,
    Partial,
    PartOf,
    Ranked,
    Table,
    Value,
)

Columns = Mapping[str, tuple[Any, str]]
"""The dtype and the meaning of each column, by its name."""
MEANING = "meaning"
"""The key in the `attrs` of a frame for the meaning of each column, by its name."""
_LOW, _HIGH = ("low", "The lower end of its 95 % interval."), ("high", "The upper end of its 95 % interval.")
_ENDS = (_LOW, _HIGH)
_ONE = ("", "")
_PARTS: dict[Kind, tuple[tuple[str, str], ...]] = {
    Kind.INTERVAL: (("low", "The lower end."), ("high", "The upper end.")),
    Kind.SHARE_INTERVAL: (("low", "The lower end."), ("high", "The upper end.")),
    Kind.PAIR: (("first", "The first of two numbers."), ("second", "The second of two numbers.")),
    Kind.RANKED: (_ONE, ("rank", "Its rank, 1 the best."), *_ENDS),
    Kind.PARTIAL: (_ONE, ("left_out", "How many items it leaves out."), *_ENDS),
    Kind.PART: (_ONE, ("of", "Of how many.")),
    Kind.ESTIMATE: (_ONE, *_ENDS),
    Kind.FACT: (_ONE, *_ENDS),
}
"""The columns that one column of a kind becomes: the suffix of the name, and the meaning."""
_DTYPES: dict[Kind, str] = {
    Kind.NAME: "string",
    Kind.TEXT: "string",
    Kind.FLAG: "boolean",
    Kind.COUNT: "Int64",
    Kind.PAIR: "Int64",
    Kind.PART: "Int64",
    Kind.FACT: "object",
}
_COUNTED = {"left_out": "Int64"}


def frame_of(table: Table) -> pd.DataFrame:
    """A table as a frame, a row for each of its rows.

    A column is named by its key, a user's column by its own name. Values that are not known or do not apply
    are missing. An interval becomes two columns, `<name>_low` and `<name>_high`; a value with an interval
    keeps its name and has these two as well. Shares are 0 to 1. `attrs["meaning"]`: the meaning of each
    column.
    """
    made: dict[str, Any] = {}
    meaning: dict[str, str] = {}
    for place, column in enumerate(table.columns):
        name = column.title if column.foreign else column.key
        own = [(f"{name}_{part}" if part else name, part, end) for part, end in _parts_of(column)]
        if any(each in made for each, _, _ in own):  # a user's name that is already taken
            own = [(f"{column.key}_{part}" if part else column.key, part, end) for _, part, end in own]
        columns = list(zip(*(_values(row[place], column.kind) for row in table.rows), strict=True))
        columns = columns or [()] * len(own)
        for (each, part, end), values in zip(own, columns, strict=True):
            made[each] = _typed(values, _COUNTED.get(part) or _DTYPES.get(column.kind, "float64"))
            meaning[each] = f"{column.meaning} {end}".strip()
    frame = pd.DataFrame(made)
    frame.attrs[MEANING] = meaning
    return frame


def frame_of_rows(columns: Columns, rows: Iterable[Iterable[object]], index: Any = None) -> pd.DataFrame:
    """Rows as a frame with given columns, whose meanings are in its `attrs`."""
    cells = list(zip(*rows, strict=True)) or [()] * len(columns)
    parts = zip(columns.items(), cells, strict=True)
    frame = pd.DataFrame({name: array_of(own, dtype) for (name, (dtype, _)), own in parts}, index=index)
    frame.attrs[MEANING] = {name: text for name, (_, text) in columns.items()}
    return frame


def array_of(values: Iterable[object], dtype: Any) -> Any:
    """Values as a column of a dtype; None is missing."""
    return pd.array(list(values), dtype=dtype)


def frames_of(sections: Iterable[Section]) -> dict[str, pd.DataFrame]:
    """The tables of sections by the sections' keys; a second table of a section as `<key>_2`."""
    return dict(_named(sections))


def _named(sections: Iterable[Section]) -> Iterator[tuple[str, pd.DataFrame]]:
    for section in sections:
        tables = [part for part in section.parts if isinstance(part, Table)]
        for number, table in enumerate(tables, start=1):
            yield section.key if number == 1 else f"{section.key}_{number}", frame_of(table)


def _parts_of(column: Column) -> Sequence[tuple[str, str]]:
    return _PARTS.get(column.kind, (_ONE,))


def _typed(values: Sequence[object], dtype: str) -> Any:
    known = [None if value == "" else value for value in values]
    words_among_numbers = dtype != "string" and any(isinstance(value, str) for value in known)
    return array_of(known, "object" if words_among_numbers else dtype)


def _values(value: Value, kind: Kind) -> tuple[object, ...]:
    """A value in each of the columns of its kind."""
    parts = len(_PARTS.get(kind, (_ONE,)))
    match value:
        case Fact(kind=inner) if kind is Kind.FACT:
            return _as_fact(value.value, inner)
        case Ranked():
            found: tuple[object, ...] = (value.value, value.rank, *(value.ends or (None, None)))
        case Partial():
            found = (value.value, value.left_out, *(value.ends or (None, None)))
        case PartOf():
            found = (value.value, value.whole)
        case Estimate():
            found = (value.value, *(value.ends or (None, None)))
        case tuple():
            found = value
        case _:
            found = (value,)
    return (*found, *[None] * (parts - len(found)))


def _as_fact(value: Value, kind: Kind) -> tuple[object, object, object]:
    """The value of a fact, with its interval if it has one."""
    if isinstance(value, tuple):
        return None, *value
    if isinstance(value, Estimate):
        return value.value, *(value.ends or (None, None))
    first, *_ = _values(value, kind)
    return first, None, None
