r"""What independent readers find in a file: Python's csv and json, and pyarrow read as Python values.

They share nothing with the engine but the suffix. What they read is what the program must give where it takes
a file at all; where they cannot read a file, the program must refuse it. The program may refuse more: a file
that looks like another format, an id that occurs twice, an unknown label.

Where this oracle has to be fair:

- CSV leaves open whether a lone carriage return ends a row. Both readings are made; the program says of which
  it is (rows as long as the header, else ends).
- JSON keeps the last of two equal keys without a word. Here such an object cannot be read.
- A number is the text as it is written; lists and objects are compared as values, not by their spacing.
- Only the columns of a dataset are looked at: bad bytes in another column are nobody's loss.
- Blank lines are no rows. A row that is longer or shorter than the header cannot be read.
"""

import csv
import io
import json
import re
import zlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyarrow import parquet

csv.field_size_limit(1 << 30)

Cells = Sequence[Mapping[str, Any]]
"""Rows: a text for each column that is looked at and there; in JSON and Parquet also a `Nested`."""


class Unreadable(Exception):
    """An independent reader gives it up."""


class Nested:
    """A list or an object in a cell; equal to any JSON that spells it."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def spelt_by(self, text: str) -> bool:
        """Whether a text is this value in JSON."""
        return bool(json.loads(text, **_NUMBERS_AS_WRITTEN) == self.value)


class _Number(str):
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Number) and str(self) == str(other)

    __hash__ = str.__hash__


def no_key_twice(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise Unreadable("a key occurs twice")
    return dict(pairs)


_NUMBERS_AS_WRITTEN: Mapping[str, Any] = {
    "parse_int": _Number,
    "parse_float": _Number,
    "parse_constant": _Number,
    "object_pairs_hook": no_key_twice,
}


def raw_predictions(data: bytes, suffix: str, wanted: Collection[str]) -> list[Cells]:
    """What a file holds, in each way in which it can be read. Unreadable where there is none."""
    if suffix.endswith(".gz"):
        data, suffix = _unpacked(data), suffix.removesuffix(".gz")
    if suffix == ".parquet":
        return [_parquet(data, wanted)]
    whole = data.decode("utf-8-sig", "surrogateescape")
    if suffix in (".tsv", ".csv"):
        return _delimited(whole, "\t" if suffix == ".tsv" else ",", wanted)
    try:
        records = _json_lines(whole) if suffix == ".jsonl" else _json_records(whole)
    except (ValueError, RecursionError) as error:
        raise Unreadable(str(error)) from error
    if any(not isinstance(record, dict) for record in records):
        raise Unreadable("a record is no object")
    return [[_looked_at(record, wanted) for record in records]]


def _unpacked(data: bytes) -> bytes:
    """The content of all gzip members; zeros may follow the last."""
    whole = b""
    try:
        while data.strip(b"\0"):
            member = zlib.decompressobj(wbits=31)
            whole += member.decompress(data)
            if not member.eof:
                raise Unreadable("a gzip member is cut short")
            data = member.unused_data.lstrip(b"\0")
    except zlib.error as error:
        raise Unreadable(str(error)) from error
    return whole


_RETURN_AS_TEXT = "\U0010fffe"  # a noncharacter, which no generator writes


def _delimited(whole: str, delimiter: str, wanted: Collection[str]) -> list[Cells]:
    methods = [whole]
    if re.search(r"\r(?!\n)", whole):
        methods.append(re.sub(r"\r(?!\n)", _RETURN_AS_TEXT, whole))
    found, problems = [], []
    for method in methods:
        try:
            found.append(_rows_of(method, delimiter, wanted))
        except Unreadable as problem:
            problems.append(problem)
    if not found:
        raise problems[0]
    return found


def _rows_of(whole: str, delimiter: str, wanted: Collection[str]) -> Cells:
    # csv.reader is given lines with their ends, so that those inside of quotes stay as they are.
    lines = io.StringIO(whole, newline="")
    try:
        records = [cells for cells in csv.reader(lines, delimiter=delimiter, strict=True) if cells]
    except csv.Error as error:
        raise Unreadable(str(error)) from error
    if not records:
        raise Unreadable("no header")
    header, *rows = [[cell.replace(_RETURN_AS_TEXT, "\r") for cell in cells] for cells in records]
    if any(len(cells) != len(header) for cells in rows):
        raise Unreadable("a row is longer or shorter than the header")
    _refuse_repeated(header, wanted)
    return [_looked_at(dict(zip(header, cells, strict=True)), wanted) for cells in rows]


def _refuse_repeated(names: Sequence[str], wanted: Collection[str]) -> None:
    repeated = [name for name, times in Counter(names).items() if times > 1 and name in wanted]
    if repeated:
        raise Unreadable(f"columns occur twice: {repeated}")


def _json_lines(whole: str) -> list[Any]:
    lines = [line for line in whole.split("\n") if line.strip(" \t\r\x0b\x0c")]
    return [json.loads(line, **_NUMBERS_AS_WRITTEN) for line in lines]


def _json_records(whole: str) -> list[Any]:
    value = json.loads(whole, **_NUMBERS_AS_WRITTEN)
    if isinstance(value, dict):
        tables = [inner for inner in value.values() if _holds_records(inner)]
        if len(tables) != 1:
            raise Unreadable(f"{len(tables)} lists of records")
        if _items_below(value, tables[0]):
            raise Unreadable("more items in an object beside the list of records")
        value = tables[0]
    if not isinstance(value, list):
        raise Unreadable("no list of records")
    return value


def _holds_records(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(record, dict) for record in value)


def _items_below(value: Any, known: Any) -> int:
    """How many more records with the keys of an item objects hold, outside of the list that is known."""
    if isinstance(value, dict):
        return sum(_items_below(inner, known) for inner in value.values() if inner is not known)
    items = value if isinstance(value, list) else []
    return sum(
        isinstance(item, dict) and {"id", "instruction", "output_a", "output_b"} <= item.keys()
        for item in items
    )


def _looked_at(record: Mapping[str, Any], wanted: Collection[str]) -> dict[str, Any]:
    return {name: _cell(value) for name, value in record.items() if name in wanted}


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError as error:
            raise Unreadable("bytes or half a character that are no text") from error
        return str(value)
    return Nested(value)


def _parquet(data: bytes, wanted: Collection[str]) -> Cells:
    try:
        file = parquet.ParquetFile(io.BytesIO(data))
        names = file.schema_arrow.names
        _refuse_repeated(names, wanted)
        table = file.read([name for name in names if name in wanted])
        # Decoded before: a value of a dictionary that no row has is nobody's loss.
        for chunk in (each for column in table.columns for each in column.chunks):
            (chunk.dictionary_decode() if pa.types.is_dictionary(chunk.type) else chunk).validate(full=True)
        rows = table.to_pylist()
    except (pa.ArrowException, OSError, ValueError, ArithmeticError) as error:
        raise Unreadable(str(error)) from error
    return [{name: _parquet_cell(value) for name, value in row.items()} for row in rows]


def _parquet_cell(value: Any) -> Any:
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Unreadable("bytes that are no text") from error
    if isinstance(value, list | dict):
        return Nested(_plain(value))
    return _cell(value) if value is None or isinstance(value, bool | str) else str(value)


def _plain(value: Any) -> Any:
    """A nested value as JSON would give it back with its numbers as they are written."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if value is None or isinstance(value, bool | str):
        return value
    return _Number(json.dumps(value)) if isinstance(value, int | float) else str(value)
