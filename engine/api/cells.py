"""The cells of a frame as the texts of its file.

Knows: the kinds of values that pandas and Python keep in cells, JSON. Does not know: columns, files.
"""

import json
import math
from collections.abc import Iterable, Mapping, Set
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from engine.core.errors import InputError, SetupError
from engine.data.json_records import undecodable

FRAME = "the frame"
"""The name of a frame in messages, in place of a file name."""
MEND = "Fix it in the frame, then call again."
_LISTS = (np.ndarray, list, tuple, pd.Series, pd.Index, pd.api.extensions.ExtensionArray)


class NoText(ValueError):
    """A cell cannot be written as text; the message names what was found."""


def ids_as_texts(ids: Iterable[object]) -> list[str]:
    """The ids of a list, as those of a frame. SetupError for an impossible id."""
    try:
        return [cell_text(each) for each in ids]
    except NoText as error:
        raise SetupError(f"ids: {error}", "Use ids of items.") from error


def column_cells(column: pd.Series) -> Iterable[object]:
    """The values of a column, with floats of 16 and 32 bits unchanged."""
    kind = getattr(column.dtype, "numpy_dtype", column.dtype)  # of nullable and Arrow dtypes
    cells = column.astype(object)
    for short in (np.float16, np.float32):
        if kind == short:
            return [each if pd.isna(each) else short(each) for each in cells]
    return cells


def texts(cells: Iterable[object], where: str) -> list[str]:
    """Each cell as text; InputError with all that cannot be. The braces of `where` are filled with the
    number.
    """
    made, problems = [], []
    for number, cell in enumerate(cells, start=1):
        try:
            made.append(cell_text(cell))
        except NoText as error:
            problems.append(f"{where.format(number)}: {error}")
    if problems:
        raise InputError(Path(FRAME), problems, MEND)
    return made


def cell_text(cell: object) -> str:
    """A cell as its file has it: missing values are empty, bytes are UTF-8, numbers are read as from Parquet;
    booleans, lists and dictionaries are JSON. NoText for what no file can contain.
    """
    try:
        value = _plain(cell)
        text = "" if value is None else value if isinstance(value, str) else _json(value)
    except RecursionError as error:
        raise NoText("lists or dictionaries are nested too deeply, or contain themselves.") from error
    except NoText:
        raise
    except ValueError as error:  # only for a whole number with more digits than Python writes
        raise NoText(f"a value cannot be written as text ({error}).") from error
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        found = f"\\u{ord(text[error.start]):04x} is half a character (a lone surrogate), not text."
        raise NoText(found) from error
    return text


def _plain(value: object) -> object:
    """A value that JSON can represent; None for missing values."""
    if isinstance(value, np.ndarray) and not value.ndim:
        value = value[()]
    if isinstance(value, _LISTS):
        return [_plain(each) for each in cast(Iterable[object], value)]
    if isinstance(value, Set):  # in an order that is the same in every process
        return sorted(map(_plain, value), key=_json)
    if isinstance(value, Mapping):
        return _object(value)
    if isinstance(value, bytes | bytearray):
        return _decoded(value)
    return _plain_one(value)


def _plain_one(value: object) -> bool | int | float | str | None:
    """The same for a single value."""
    if pd.api.types.is_scalar(value) and pd.isna(cast(Any, value)):
        return None
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating) and math.isfinite(value):
        return float(str(value))  # of 16 and 32 bits as they were written: 0.1, not 0.10000000149
    return str(value)


def _object(value: Mapping[Any, object]) -> dict[str, object]:
    """A dictionary with texts as keys. NoText if two keys are the same text."""
    made: dict[str, object] = {}
    for plain, each in zip(map(_plain, value), value.values(), strict=True):
        key = plain if isinstance(plain, str) else _json(plain)
        if key in made:
            raise NoText(f"two keys of a dictionary are {key!r} as text.")
        made[key] = _plain(each)
    return made


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _decoded(data: bytes | bytearray) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NoText(undecodable(error, 0)) from error
