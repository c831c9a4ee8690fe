"""Write a dataset to a file, as TSV, JSON or Parquet: `load_dataset` reads the same cells back.

Knows: the three formats. Does not know: what a column means, where labels come from.
"""

from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from engine.core.errors import SetupError
from engine.data.arrow_arrays import text_array
from engine.data.file_format import plain_stem
from engine.data.submission import quoted_cell
from engine.system.files import write_json, write_whole

Cell = str | float | None
"""What stands in one: a text, a number, or nothing, which is read as an empty text."""
Columns = Mapping[str, Sequence[Cell]]


def write_dataset(path: Path, columns: Columns) -> None:
    """Write columns of one length in the format that the suffix names, whole or not at all. SetupError."""
    check_suffix(path)
    _WRITERS[path.suffix.lower()](path, columns)


def check_suffix(path: Path) -> None:
    """Raise SetupError for a name that says none of the formats in which a dataset is written."""
    if path.suffix.lower() not in _WRITERS:
        stem = plain_stem(path)
        raise SetupError(
            f"{path.name}: a dataset is written as TSV, JSON or Parquet.",
            f"Name it {stem}.tsv, {stem}.json or {stem}.parquet.",
        )


def _write_tsv(path: Path, columns: Columns) -> None:
    rows = [columns.keys(), *zip(*columns.values(), strict=True)]
    lines = ("\t".join(quoted_cell(_text(cell)) for cell in row) for row in rows)
    write_whole(path, "".join(f"{line}\n" for line in lines).encode("utf-8"))


def _write_json(path: Path, columns: Columns) -> None:
    write_json(path, [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)])


def _write_parquet(path: Path, columns: Columns) -> None:
    table = pa.table({name: _array(cells) for name, cells in columns.items()})
    written = BytesIO()
    parquet.write_table(table, written)
    write_whole(path, written.getvalue())


def _array(cells: Sequence[Cell]) -> pa.Array:
    if any(isinstance(cell, float) for cell in cells):
        return pa.array(cells, pa.float64())
    return text_array([_text(cell) for cell in cells])


def _text(cell: Cell) -> str:
    return "" if cell is None else cell if isinstance(cell, str) else repr(cell)


_WRITERS: Mapping[str, Callable[[Path, Columns], None]] = {
    ".tsv": _write_tsv,
    ".json": _write_json,
    ".parquet": _write_parquet,
}
