"""Read a table of text cells from TSV, CSV, JSON, JSON Lines or Parquet, plain or gzip-compressed.

Whatever the format, a row is its number in the file and its text by column; text is never changed.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from engine.core.errors import InputError
from engine.core.formatting import listed, named, quoted
from engine.data import file_format, json_records
from engine.data.arrow_arrays import holds_bytes, unpacked_bytes
from engine.data.catalogue import records_keys
from engine.data.delimited import Cell, PlainRecord, QuotingError, Record, Splitter, TooManyCells

_PARQUET_ROWS_AT_ONCE = 64  # of which each may repeat a text of megabytes that the file has once
_RECORDS_LOOKED_AT = 100
# What pyarrow raises where it makes Python objects of what a file holds.
_ARROW_FAILURES = (pa.ArrowException, OSError, ValueError, ArithmeticError)
_SPLIT = " A carriage return ends this line: a cell that contains one must be quoted."
_MEND = "Fix the problems above, then load the file again."
_EXPORT_AS_TEXT = "export it as JSON Lines."
_SAVE_AS_UTF8 = f"{file_format.SAVE_AS_UTF8} Then load it again."


class SourceRow(NamedTuple):
    """`number` as SourceTable.row_word counts it, from 1; `cells` are texts by column name, of which `nulls`
    are no texts in the file: a null of JSON or Parquet, which is an empty cell.
    """

    number: int
    cells: dict[str, str]
    nulls: Collection[str] = ()


class SourceTable(ABC):
    """A table whose rows can be read once. What is wrong with them is added to `problems` on the way.

    `columns` are the names in the file, in order and as often as they occur. Where `has_header` is
    false they are the keys met so far, and a row may lack some of them. `must_be_text`: the columns of which
    a cell that is no text is a problem (None: all); of others what can be read of it is stored.
    """

    row_word: str
    has_header: ClassVar[bool] = True
    again: Callable[[], "SourceTable"]
    """The same table once more from its first row on; the file is read and unpacked once."""

    def __init__(self, path: Path, data_format: file_format.FileFormat) -> None:
        self.path = path
        self.data_format = data_format
        self.columns: list[str] = []
        self.problems: list[str] = []
        self.bad_rows: list[tuple[int, str]] = []  # the number of each row with a problem, and the problem
        self.must_be_text: Collection[str] | None = None
        self.of_bytes: Collection[str] = ()
        self.is_broken_off = False  # whether rows after a problem were not read
        self.said: Sequence[str] = ()  # of how the file is written
        self._hint = _MEND

    @property
    def notices(self) -> Sequence[str]:
        """What users should know of how the rows were read."""
        return self.said

    @property
    def has_bad_bytes(self) -> bool:
        """True once a byte was met that is no text: then the file must be saved again."""
        return self._hint is not _MEND

    def first_columns(self) -> list[str]:
        """The columns, before any row is read; without a header those of the first rows."""
        return self.columns

    @abstractmethod
    def rows(self, wanted: Collection[str] | None = None) -> Iterator[SourceRow]:
        """The rows in order, with the cells of the `wanted` columns (None: of all) that the file has.

        A row that cannot be read is omitted and named in `problems`.
        """

    def holds_text(self, column: str) -> bool:
        """False for a column that holds bytes, such as pictures."""
        return column not in self.of_bytes

    def forgives(self, column: str) -> bool:
        """True where a cell of the column need not be text."""
        return self.must_be_text is not None and column not in self.must_be_text

    def report(self, number: int, problem: str, column: str | None = None) -> None:
        """Add a problem of one row, and of one of its cells where `column` is given."""
        cell = "" if column is None else f", {named(column)}"
        self.problems.append(f"{self.row_word} {number}{cell}: {problem}")
        self.bad_rows.append((number, problem if column is None else f"{named(column)}: {problem}"))

    def _checked(self, number: int, column: str, text: str) -> str:
        """The text of a cell; reported where it is too long."""
        if len(text) > file_format.MOST_TEXT:
            found = f"{len(text):,} characters; at most {file_format.MOST_TEXT:,} are read."
            self.report(number, found, column)
        return text

    def _gives_up(self) -> bool:
        """True, and said, where there are this many problems that it is not worth reading on."""
        if len(self.problems) < file_format.MOST_PROBLEMS:
            return False
        self.is_broken_off = True
        # First, for only the first problems are shown.
        found = f"{len(self.problems):,} problems were found, and nothing after them was read."
        self.problems.insert(0, found)
        return True

    def raise_problems(self) -> None:
        """Raise InputError with all problems, if there are any."""
        if self.problems:
            raise InputError(self.path, self.problems, self._hint)

    def no_rows(self) -> InputError:
        """The error of a table that holds nothing but its header."""
        hint = "Check that it was saved or downloaded completely."
        return InputError(self.path, ["has no rows."], hint)


def open_table(path: Path, records: str = "", *, exact: bool = False) -> SourceTable:
    """The table in a file whose name says its format. `records`: the key of a JSON object where they lie.
    `exact`: only as this program writes it, not as spreadsheets do.

    Raises SetupError where the file cannot be read, InputError where it is not what its name says or too
    large.
    """
    read = file_format.read_table_file(path, exact=exact)
    start = file_format.text_start(read.data)
    # Parsed once, however often the table is wanted.
    found: Sequence[json_records.JsonRecord] = ()
    if read.data_format is file_format.FileFormat.JSON:
        found = _json_records(path, read.data, start, records)

    def made() -> SourceTable:
        table: SourceTable
        match read.data_format:
            case file_format.FileFormat.JSON:
                table = _JsonTable(path, read.data_format, found, "record")
            case file_format.FileFormat.JSON_LINES:
                lines = json_records.read_json_lines(read.blocks(), start)
                table = _JsonTable(path, read.data_format, lines, "line")
            case file_format.FileFormat.PARQUET:
                table = _ParquetTable(path, read.data_format, read.data)
            case _:
                table = _DelimitedTable(path, read.data_format, Splitter(read.data, read.delimiter, start))
                table.said = read.notices
        table.again = made
        return table

    return made()


def delimited_table(
    path: Path, data_format: Literal[file_format.FileFormat.TSV, file_format.FileFormat.CSV], data: bytes
) -> SourceTable:
    """The table in the bytes of a TSV or CSV file. InputError where it has no header."""
    delimiter = b"\t" if data_format is file_format.FileFormat.TSV else b","
    return _DelimitedTable(path, data_format, Splitter(data, delimiter, file_format.text_start(data)))


def read_json_records(path: Path) -> Sequence[json_records.JsonRecord]:
    """The records of a JSON file (.json, .json.gz), whatever they are; the errors are those of open_table."""
    data_format, data = file_format.read_data_file(path)
    if data_format is not file_format.FileFormat.JSON:
        raise InputError(path, [f"is {data_format}; a JSON file is required here."], "Export it as .json.")
    return _json_records(path, data, file_format.text_start(data))


def _json_records(path: Path, data: bytes, start: int, key: str = "") -> Sequence[json_records.JsonRecord]:
    try:
        records = json_records.read_json(data, start, key, records_keys)
    except json_records.JsonProblem as problem:
        hint = _SAVE_AS_UTF8 if isinstance(problem, json_records.NotUtf8) else _MEND
        raise InputError(path, [str(problem)], hint) from problem
    if json_records.are_numbered([record.value for record in records]):
        return [record._replace(value=record.value["row"]) for record in records]  # type: ignore[index]
    return records


class _DelimitedTable(SourceTable):
    row_word = "line"

    def __init__(self, path: Path, data_format: file_format.FileFormat, splitter: Splitter) -> None:
        super().__init__(path, data_format)
        self._records = splitter.records()
        try:
            header = self._next_record()
        except TooManyCells as error:
            raise file_format.too_many_columns(path, error.found) from error
        if header is None:
            self.raise_problems()
            raise self.no_rows()
        for number, cell in enumerate(header.cells, start=1):
            self.columns.append(self._text(header.line, cell, f"column {number}"))
        file_format.check_columns(path, self.columns)

    def rows(self, wanted: Collection[str] | None = None) -> Iterator[SourceRow]:
        width = len(self.columns)
        places = {name: place for place, name in enumerate(self.columns) if wanted is None or name in wanted}
        while record := self._record(width):
            if self._gives_up():
                return
            texts = record.texts if isinstance(record, PlainRecord) else None
            if texts is not None and len(texts) == width:
                yield SourceRow(record.line, {name: texts[at] for name, at in places.items()})
                continue
            if len(record.cells) != width:
                why = _SPLIT if record.split else ""
                self.report(record.line, f"cells found: {len(record.cells)}; the header has {width}.{why}")
                continue
            before = len(self.problems)
            cells = {name: self._text(record.line, record.cells[at], name) for name, at in places.items()}
            if len(self.problems) == before:
                yield SourceRow(record.line, cells)

    def _record(self, width: int) -> Record | PlainRecord | None:
        """The next row; None after the last one, and where one is so long that it cannot be a row."""
        try:
            return self._next_record()
        except TooManyCells as error:
            self.report(error.line, f"cells found: {error.found:,}; the header has {width}.")
            self.is_broken_off = True
            self.problems.append(f"Nothing after line {error.line:,} was read.")
            return None

    def _next_record(self) -> Record | PlainRecord | None:
        try:
            return next(self._records, None)
        except QuotingError as error:
            known = error.cell < len(self.columns)
            column = self.columns[error.cell] if known else f"column {error.cell + 1}"
            found = "a quote opens the cell and is never closed."
            if error.closed_on is not None:
                closed = f"closes on line {error.closed_on}"
                found = f"a quote opens the cell, {closed}, and text goes on after it."
            self.report(error.line, f'{found} A quote inside a quoted cell is written "".', column)
            self.is_broken_off = True
            self.problems.append(f"Nothing after line {error.line} was read.")
            return None

    def _text(self, line: int, cell: Cell, column: str) -> str:
        try:
            return self._checked(line, column, cell.text)
        except UnicodeDecodeError as error:
            if self.forgives(column):
                return error.object.decode("utf-8", "replace")
            self.report(line, json_records.undecodable(error, cell.start), column)
            self._hint = _SAVE_AS_UTF8
            return ""


class _JsonTable(SourceTable):
    has_header = False

    def __init__(
        self,
        path: Path,
        data_format: file_format.FileFormat,
        records: Sequence[json_records.JsonRecord]
        | Iterator[json_records.JsonRecord | json_records.JsonProblem],
        row_word: str,
    ) -> None:
        super().__init__(path, data_format)
        self.row_word = row_word
        self._records: Iterable[json_records.JsonRecord | json_records.JsonProblem] = records

    def first_columns(self) -> list[str]:
        records = iter(self._records)
        first = list(islice(records, _RECORDS_LOOKED_AT))
        found = [one.value for one in first if isinstance(one, json_records.JsonRecord)]
        inside = json_records.inside_of(found)
        self._records = records = chain(first, records)
        if inside and not self.said:
            self.said = [f"Its records lie in {quoted(inside)}."]
            self._records = records = json_records.lifted(records, inside)
            first = list(islice(records, _RECORDS_LOOKED_AT))
            self._records = chain(first, records)
        values = (record.value for record in first if isinstance(record, json_records.JsonRecord))
        return list(dict.fromkeys(name for value in values if isinstance(value, dict) for name in value))

    def rows(self, wanted: Collection[str] | None = None) -> Iterator[SourceRow]:
        known: set[str] = set()
        for record in self._records:
            if self._gives_up():
                return
            if isinstance(record, json_records.JsonProblem):
                self.problems.append(str(record))
                if isinstance(record, json_records.NotUtf8):
                    self._hint = _SAVE_AS_UTF8
                continue
            if not isinstance(record.value, dict):
                self.report(record.number, "not an object with a key for each column.")
                continue
            if not record.value.keys() <= known:
                new = [name for name in record.value if name not in known]
                file_format.check_columns(self.path, new, len(known))
                known.update(new)
                self.columns += new
            if wanted is None and isinstance(record, json_records.TextRecord):
                yield SourceRow(record.number, record.value)
                continue
            before = len(self.problems)
            cells = {
                name: self._text(record.number, name, value)
                for name, value in record.value.items()
                if wanted is None or name in wanted
            }
            if len(self.problems) == before:
                has_nulls = None in record.value.values()
                nulls = tuple(name for name in cells if record.value[name] is None) if has_nulls else ()
                yield SourceRow(record.number, cells, nulls)

    def _text(self, number: int, name: str, value: object) -> str:
        if type(value) is str and len(value) <= file_format.MOST_TEXT and value.isascii():
            return value  # nearly all of them
        try:
            text = json_records.cell_text(value)
        except RecursionError:
            if not self.forgives(name):
                self.report(number, "lists or objects are nested too deeply.", name)
            return ""
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            if self.forgives(name):
                return text.encode("utf-8", "replace").decode("utf-8")
            found = f"\\u{ord(text[error.start]):04x} is half a character (a lone surrogate), not text."
            self.report(number, found, name)
        return self._checked(number, name, text)


class _ParquetTable(SourceTable):
    row_word = "row"

    def __init__(self, path: Path, data_format: file_format.FileFormat, data: bytes) -> None:
        from pyarrow import parquet  # noqa: PLC0415 - most tables are text

        super().__init__(path, data_format)
        self._unpacking = file_format.Unpacking(path, len(data), _EXPORT_AS_TEXT)
        try:
            self._file = parquet.ParquetFile(pa.BufferReader(data))
            metadata = self._file.metadata
            if metadata.num_columns > file_format.MOST_COLUMNS:  # before seconds of work on their names
                raise file_format.too_many_columns(path, metadata.num_columns)
            # What the file says of itself is checked first, for a page is unpacked whole.
            said = (metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
            file_format.Unpacking(path, len(data), _EXPORT_AS_TEXT).add(sum(said))
            self.columns = list(self._file.schema_arrow.names)
            file_format.check_columns(path, self.columns)
            self._classes = _class_names(self._file.schema_arrow)
            if self._classes:
                classes = "; ".join(f"{name}: {listed(names)}" for name, names in self._classes.items())
                self.said = [f"Numbers of classes are read as the names that the file gives: {classes}."]
            self.of_bytes = {field.name for field in self._file.schema_arrow if holds_bytes(field.type)}
        except _ARROW_FAILURES as error:
            raise self._damaged(error) from error

    def rows(self, wanted: Collection[str] | None = None) -> Iterator[SourceRow]:
        names = [name for name in dict.fromkeys(self.columns) if wanted is None or name in wanted]
        number = 0
        try:
            for batch in self._file.iter_batches(_PARQUET_ROWS_AT_ONCE, columns=names):
                arrays = [batch.column(batch.schema.names.index(name)) for name in names]
                self._unpacking.add(sum(map(unpacked_bytes, arrays)))
                columns = [
                    _named_classes(_parquet_values(array), self._classes.get(name))
                    for name, array in zip(names, arrays, strict=True)
                ]
                for values in zip(*columns, strict=True):
                    number += 1
                    if self._gives_up():
                        return
                    before = len(self.problems)
                    of_row = dict(zip(names, values, strict=True))
                    cells = {name: self._text(number, name, value) for name, value in of_row.items()}
                    if len(self.problems) == before:
                        nulls = tuple(name for name, value in of_row.items() if value is None)
                        yield SourceRow(number, cells, nulls)
        except _ARROW_FAILURES as error:
            raise self._damaged(error) from error

    def _text(self, number: int, name: str, value: object) -> str:
        try:
            if isinstance(value, _Unreadable):
                raise value.error
            return self._checked(number, name, _parquet_text(value))
        except UnicodeDecodeError as error:
            if self.forgives(name):
                return error.object.decode("utf-8", "replace")
            self.report(number, json_records.undecodable(error, 0), name)
        except _ARROW_FAILURES as error:
            if not self.forgives(name):
                self.report(number, f"its value cannot be read ({error}).", name)
        return ""

    def _damaged(self, error: Exception) -> InputError:
        if isinstance(error, MemoryError):  # which pyarrow says in its own way
            raise error
        found = f"the Parquet file is damaged ({error})."
        return InputError(self.path, [found], "Download or export it again.")


def _class_names(schema: pa.Schema) -> dict[str, list[str]]:
    """The names of classes by column that holds their numbers, as Hugging Face's `datasets` keeps them."""
    try:
        features = json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"]
        found = {
            name: each.get("names") for name, each in features.items() if each.get("_type") == "ClassLabel"
        }
    except (KeyError, ValueError, TypeError, AttributeError):
        return {}
    return {
        name: names
        for name, names in found.items()
        if isinstance(names, list) and all(isinstance(each, str) for each in names)
    }


def _named_classes(values: list[object], names: Sequence[str] | None) -> list[object]:
    if names is None:
        return values
    return [
        names[value] if isinstance(value, int) and 0 <= value < len(names) else None if value == -1 else value
        for value in values
    ]


@dataclass(frozen=True)
class _Unreadable:
    """A value that pyarrow holds and Python cannot: bad UTF-8, a day after the year 9999."""

    error: Exception


def _parquet_values(column: pa.Array) -> list[object]:
    """The values as Python objects, strings as bytes: pyarrow reads Parquet without looking for bad UTF-8."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = column.cast(pa.large_binary())
    try:
        values: list[object] = column.to_pylist()
    except _ARROW_FAILURES:
        values = [_parquet_value(scalar) for scalar in column]
    return [_shortest(value, column.type) for value in values] if _holds_short_floats(column.type) else values


def _is_short_float(kind: pa.DataType) -> bool:
    return bool(pa.types.is_float32(kind) or pa.types.is_float16(kind))


def _holds_short_floats(kind: pa.DataType) -> bool:
    inner = (kind.field(place).type for place in range(kind.num_fields))
    return _is_short_float(kind) or any(map(_holds_short_floats, inner))


def _shortest(value: object, kind: pa.DataType) -> object:
    """Floats of 16 and 32 bits as they were written: 0.1, where their 64 bits would say 0.10000000149."""
    if isinstance(value, float) and _is_short_float(kind):
        return float(str((np.float32 if pa.types.is_float32(kind) else np.float16)(value)))
    if isinstance(value, dict) and pa.types.is_struct(kind):
        return {field.name: _shortest(value[field.name], field.type) for field in kind}
    if isinstance(value, list) and pa.types.is_map(kind):
        return [(key, _shortest(each, kind.item_type)) for key, each in value]
    if isinstance(value, list):
        return [_shortest(each, kind.value_type) for each in value]
    return value


def _parquet_value(scalar: pa.Scalar) -> object:
    try:
        return scalar.as_py()
    except _ARROW_FAILURES as error:
        return _Unreadable(error)


def _parquet_text(value: object) -> str:
    """A value as the text of a cell. UnicodeDecodeError for bytes that are none."""
    if value is None:
        return ""
    if isinstance(value, bytes):
        return value.decode("utf-8")
    if isinstance(value, bool | list | dict):
        return json.dumps(value, ensure_ascii=False, default=_parquet_text)
    return str(value)
