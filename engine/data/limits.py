"""How large a data file may be: more than any dataset, little enough to be read or refused in seconds.

Knows: limits, and how it is said that one is passed. Does not know: formats.
"""

import gzip
import io
import zlib
from collections.abc import Collection
from pathlib import Path

from engine.core.cancel import CancelToken
from engine.core.errors import InputError
from engine.core.formatting import amount
from engine.core.run_deletion import amount_of_file

MOST_COLUMNS = 10_000
MOST_TEXT = 4_000_000
"""Characters of a cell: about a million tokens."""
MOST_PROBLEMS = 10_000
"""Of one table: after this many of them nothing more is read."""
MOST_BYTES = 4 << 30
"""Of one file, unpacked."""

_MOST_NAME = 100_000  # characters of a column's name
# Text shrinks to a third or a tenth, tables of repeated rows to a fiftieth.
_MOST_TIMES = 200
_ALWAYS_UNPACKED = 64 << 20
_CHUNK = 1 << 20
_CHECK_HEADER = "Check that the file is a table, and its first line the header."


def too_many_columns(path: Path, found: int) -> InputError:
    """The error of a table with this many columns."""
    problem = f"has {found:,} columns; at most {MOST_COLUMNS:,} are read."
    return InputError(path, [problem], "Export the columns that are needed.")


def check_columns(path: Path, names: Collection[str], before: int = 0) -> None:
    """Raise InputError where there are too many columns, with those `before`, or a name is no name."""
    if before + len(names) > MOST_COLUMNS:
        raise too_many_columns(path, before + len(names))
    for number, name in enumerate(names, start=before + 1):
        if len(name) > _MOST_NAME:
            long = f"{len(name):,} characters; at most {_MOST_NAME:,} are read."
            raise InputError(path, [f"the name of column {number} has {long}"], _CHECK_HEADER)


def check_size(path: Path, size: int) -> None:
    """Raise InputError where a file is too large to be read."""
    if size > MOST_BYTES:
        raise InputError(
            path,
            [f"has {amount(size)}; at most {amount(MOST_BYTES)} are read."],
            "Split it into several files.",
        )


class Unpacking:
    """Counts what comes out of a packed file, so that it is refused before much of it is there.

    `hint`: what to do with a table that shrinks more than tables do.
    """

    def __init__(self, path: Path, packed: int, hint: str) -> None:
        self._path = path
        self._packed = packed
        self._hint = hint
        self._most = max(_ALWAYS_UNPACKED, _MOST_TIMES * packed)
        self._size = 0

    def add(self, size: int) -> None:
        """So many bytes more. InputError once it is more than any dataset has, or shrinks like no table."""
        self._size += size
        check_size(self._path, self._size)
        if self._size > self._most:
            found = (
                f"is {amount_of_file(self._packed)} and unpacks to more than {amount(self._most)}; at most"
                f" {_MOST_TIMES} times its size is read."
            )
            raise InputError(self._path, [found], f"Check what it holds. If it is a table, {self._hint}")


def unpack(path: Path, packed: bytes, cancel: CancelToken | None = None) -> bytes:
    """What gzip has compressed. InputError where it is damaged, or shrinks like no table; Cancelled."""
    unpacking = Unpacking(path, len(packed), "unpack it and choose the unpacked file.")
    parts = []
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
            while part := file.read(_CHUNK):
                parts.append(part)
                if cancel is not None:
                    cancel.raise_if_requested()
                unpacking.add(len(part))
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            path, [f"the gzip compression is damaged or cut short ({error})."], "Download or pack it again."
        ) from error
    return b"".join(parts)
