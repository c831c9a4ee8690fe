"""Read which items of a dataset are chosen: a list of ids, or a table whose first column holds them."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from engine.core.errors import InputError
from engine.core.formatting import quoted
from engine.data.dataset import Dataset
from engine.data.file_format import SAVE_AS_UTF8, UTF8_MARK, FileFormat, read_text_file, text_start
from engine.data.json_records import undecodable
from engine.data.tables import delimited_table
from engine.system.sandbox import sandboxed

_TABLE = re.compile(rb'("?)id\1(\t|,|\r?\n|\r|\Z)')  # how the first line of one begins
_HINT = "Write one id on each line, or give a TSV or CSV file whose first column is id."
_Line = tuple[int, str]  # its number, from 1, and the id on it


def read_ids(path: Path, dataset: Dataset, data: bytes | None = None) -> tuple[str, ...]:
    """The ids of items of a dataset in a file, in its order: one on each line, or the column id of a table.
    `data`: its bytes, where they are read already; then `path` is what they are called in errors.

    A table is TSV or CSV, whatever its suffix, and begins with a header whose first column is id; what else
    it holds does not count. Lines without any text are passed over; an id with spaces around it is found
    without them, where there is none with them. Raises SetupError where the file cannot be read; InputError
    with all that is wrong, by line: an id that the dataset lacks, one that was there before, bytes that are
    not UTF-8; and where there is no id at all.
    """
    known = frozenset(dataset.ids)
    lines = [(number, text if text in known else text.strip()) for number, text in _lines_of(path, data)]
    first: dict[str, int] = {}
    problems = []
    for number, item_id in lines:
        if item_id not in known:
            problems.append(f"line {number}: {dataset.name} has no item {quoted(item_id)}.")
        elif (met := first.setdefault(item_id, number)) != number:
            problems.append(f"line {number}: id {quoted(item_id)} is already on line {met}.")
    if problems:
        raise InputError(path, problems, _HINT)
    return tuple(first)


@sandboxed
def _lines_of(path: Path, data: bytes | None = None) -> Sequence[_Line]:
    """Each id that is written in a file, or in the bytes that are current."""
    data = read_text_file(path) if data is None else data
    table = _TABLE.match(data.removeprefix(UTF8_MARK))
    if table is None:
        lines = list(_list(path, data))
    else:
        read = delimited_table(path, FileFormat.CSV if table[2] == b"," else FileFormat.TSV, data)
        lines = [(row.number, row.cells[read.columns[0]]) for row in read.rows(read.columns[:1])]
        read.raise_problems()
    if not lines:
        raise InputError(path, ["contains no ids."], _HINT)
    return lines


def _list(path: Path, data: bytes) -> Iterator[_Line]:
    newline = b"\n" if b"\n" in data else b"\r"  # a lone return: the classic Mac
    problems, start = [], text_start(data)
    for number, line in enumerate(data[start:].split(newline), start=1):
        try:
            text = line.removesuffix(b"\r").decode("utf-8")
        except UnicodeDecodeError as error:
            problems.append(f"line {number}: {undecodable(error, start)}")
            text = ""
        if text.strip():
            yield number, text
        start += len(line) + 1
    if problems:
        raise InputError(path, problems, SAVE_AS_UTF8)
