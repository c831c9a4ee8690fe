"""Which columns of foreign files are ours, remembered by the set of a file's columns.

Kept as `columns.json` in the data folder. Where that is damaged, or not there, nothing is remembered.
"""

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

from engine.core.codec import plain_values
from engine.core.column_map import ColumnMap
from engine.system.files import make_folder, write_json
from engine.system.paths import data_folder

_MOST = 500  # maps; the oldest is forgotten


def remembered(columns: Collection[str]) -> ColumnMap | None:
    """The map for files with these columns, in whatever order; None where none is remembered."""
    key = _key(columns)
    return next((columns for names, columns in reversed(_all()) if names == key), None)


def remember(columns: Collection[str], column_map: ColumnMap) -> None:
    """Keep a map for files with these columns, in the place of an earlier one. Raises SetupError."""
    key = _key(columns)
    _keep([*(pair for pair in _all() if pair[0] != key), (key, column_map)])


def forget(columns: Collection[str]) -> None:
    """Keep no map for files with these columns. Raises SetupError."""
    key, known = _key(columns), _all()
    left = [pair for pair in known if pair[0] != key]
    if len(left) < len(known):
        _keep(left)


def _path() -> Path:
    return data_folder() / "columns.json"


def _key(columns: Collection[str]) -> list[str]:
    # In whatever order a file has them: the next one of its kind may have another.
    return sorted(set(columns))


def _keep(pairs: list[tuple[list[str], ColumnMap]]) -> None:
    make_folder(_path().parent)
    write_json(_path(), [{"file": names, **columns.as_json()} for names, columns in pairs[-_MOST:]])


def _all() -> list[tuple[list[str], ColumnMap]]:
    entries: Any = []
    with suppress(OSError, ValueError):
        entries = plain_values(_path().read_bytes())
    found = []
    for entry in entries if isinstance(entries, list) else []:
        columns = ColumnMap.of_json(entry)
        names = entry.get("file") if columns is not None else None
        if columns is not None and isinstance(names, list) and all(isinstance(name, str) for name in names):
            found.append((names, columns))
    return found
