r"""Cut the bytes of a TSV or CSV file into rows of cells.

The rules are those of RFC 4180 and of Python's csv module in its strict mode: a cell that begins with
a quote ends at its closing quote and may hold anything, `""` inside it is one quote; in any other cell
quotes are plain characters. Outside quotes each of `\n`, `\r\n` and `\r` ends a row, also where a file
mixes them. Only where that cuts a file into rows of different lengths, and taking lone carriage returns
for text does not, they are text: csv.writer leaves them unquoted before Python 3.13. Cells stay bytes with
their offsets, so that a wrong byte can be named by place and memory holds the file once.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from engine.data.file_format import MOST_COLUMNS, MOST_TEXT

_QUOTE, _RETURN = ord('"'), ord("\r")
_LONE_RETURN = re.compile(rb"\r(?!\n)")


class Cell(NamedTuple):
    """The bytes of one cell as they stand in the file, from byte `start`; inner quotes still doubled."""

    raw: bytes
    start: int
    quoted: bool

    @property
    def text(self) -> str:
        """What the cell says; UnicodeDecodeError where the bytes are not UTF-8."""
        text = self.raw.decode("utf-8")
        return text.replace('""', '"') if self.quoted else text


class Record(NamedTuple):
    """One row: the number of the line on which it begins (from 1) and its cells.

    `split`: True where a lone carriage return ends it, as none ends the first row: it may have been text.
    """

    line: int
    cells: list[Cell]
    split: bool = False


class PlainRecord(NamedTuple):
    """The same of a row without quotes or carriage returns: `raw`, from byte `start`, is all of its line."""

    line: int
    raw: bytes
    start: int
    delimiter: bytes

    @property
    def split(self) -> bool:
        return False

    @property
    def cells(self) -> list[Cell]:
        cells, start = [], self.start
        for raw in self.raw.split(self.delimiter):
            cells.append(Cell(raw, start, False))
            start += len(raw) + 1
        return cells

    @property
    def texts(self) -> list[str] | None:
        """What its cells say; None where the bytes are not UTF-8, or so many that one may be too long."""
        with suppress(UnicodeDecodeError):
            if len(self.raw) <= MOST_TEXT:
                return self.raw.decode("utf-8").split(self.delimiter.decode())
        return None


class QuotingError(Exception):
    """A quoted cell has no proper end. `cell` counts from 0; `closed_on` is None where nothing closes it."""

    def __init__(self, line: int, cell: int, closed_on: int | None) -> None:
        super().__init__(line, cell, closed_on)
        self.line = line
        self.cell = cell
        self.closed_on = closed_on


class TooManyCells(Exception):
    """A row has more cells than are cut. `found`: how many, counted roughly."""

    def __init__(self, line: int, found: int) -> None:
        super().__init__(line, found)
        self.line = line
        self.found = found


class Splitter:
    """Cuts `data`, from byte `start` on, at `delimiter` (one byte) and at line ends."""

    def __init__(self, data: bytes, delimiter: bytes, start: int = 0) -> None:
        self._data = data
        self._start = start
        self._delimiter = delimiter
        self._quoted = re.compile(rb'"([^"]*+(?:""[^"]*+)*+)"')
        self._take_returns_for_ends()
        if _LONE_RETURN.search(data) and len(lengths := self._lengths()) > 1:
            # All that no line feed follows.
            self._plain = re.compile(rb"(?:[^%s\r\n]|\r(?!\n))*" % self._delimiter)
            self._cell_end = re.compile(rb"%s|\r\n|\n|\Z" % self._delimiter)
            self._blank_lines = re.compile(rb"(?:\r?\n)++")
            if self._lengths() != lengths[:1]:
                self._take_returns_for_ends()

    def _take_returns_for_ends(self) -> None:
        self._plain = re.compile(rb"[^%s\r\n]*" % self._delimiter)
        self._cell_end = re.compile(rb"%s|\r\n|\n|\r|\Z" % self._delimiter)
        self._blank_lines = re.compile(rb"[\r\n]+")

    def _lengths(self) -> list[int]:
        """The numbers of cells that rows have, each once, that of the header first; 0 where none is sure."""
        found: dict[int, None] = {}
        try:
            for record in self.records():
                found[len(record.cells)] = None
        except (QuotingError, TooManyCells):
            found[0] = None
        return list(found)

    def records(self) -> Iterator[Record | PlainRecord]:
        """Every row in order, blank lines omitted.

        QuotingError ends them, for no row after it is sure; and TooManyCells.
        """
        position, line = self._start, 1
        first_end: bytes | None = None
        while position < len(self._data):
            newline = self._data.find(b"\n", position)
            raw = self._data[position:newline] if newline > position else b""
            # Most rows, in a fifth of the time.
            if raw and _QUOTE not in raw and _RETURN not in raw and raw.count(self._delimiter) < MOST_COLUMNS:
                yield PlainRecord(line, raw, position, self._delimiter)
                first_end = first_end or b"\n"
                position, line = newline + 1, line + 1
                continue
            cells, end, after = self._cut_record(position, line)
            if first_end is None:
                first_end = end
            if len(cells) > 1 or cells[0].raw or cells[0].quoted:
                yield Record(line, cells, split=end == b"\r" != first_end)
            elif blank := self._blank_lines.match(self._data, after):
                after = blank.end()  # all at once: there may be many
            line += self._lines(position, after)
            position = after

    def _lines(self, start: int, end: int) -> int:
        """How many lines end between two places."""
        ends = self._data.count(b"\n", start, end) + self._data.count(b"\r", start, end)
        return ends - self._data.count(b"\r\n", start, end)

    def _cut_record(self, position: int, line: int) -> tuple[list[Cell], bytes, int]:
        """The cells of the row at `position`, its line end, and the position after that."""
        data, start = self._data, position
        cells: list[Cell] = []
        while True:
            quoted = data.startswith(b'"', position)
            match = (self._quoted if quoted else self._plain).match(data, position)
            end = match and self._cell_end.match(data, match.end())
            if match is None or end is None:
                opened = line + self._lines(start, position)
                closed = opened + self._lines(match.start(), match.end()) if match else None
                raise QuotingError(opened, len(cells), closed)
            if end.group() == self._delimiter and len(cells) >= MOST_COLUMNS:
                ends = [at for mark in (b"\n", b"\r") if (at := data.find(mark, position)) >= 0]
                rest = data.count(self._delimiter, position, min(ends, default=len(data)))
                raise TooManyCells(line + self._lines(start, position), len(cells) + rest + 1)
            cells.append(Cell(match.group(quoted), match.start(quoted), quoted))
            if end.group() != self._delimiter:
                return cells, end.group(), end.end()
            position = end.end()
