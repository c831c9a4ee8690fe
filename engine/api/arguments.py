"""What is given as an argument, taken as what it has to be.

Knows: numbers, texts and paths of Python and NumPy. Does not know: which calls take them, what they are for.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from engine.core.errors import SetupError


def number_of(name: str, kind: type, value: object) -> float | None:
    """A number of a kind, also out of numpy; SetupError for anything else."""
    if value is None:
        return None
    try:
        found = kind(value)
    except (TypeError, ValueError, OverflowError):
        found = None
    # NumPy's truth is no bool of Python, and equal to a number all the same.
    if found is None or isinstance(value, str | bool | np.bool_) or found != value:
        what = "a whole number" if kind is int else "a number"
        raise SetupError(f"{name} is {value!r}.", f"Use {what}.")
    return float(found) if kind is float else int(found)


def whole_number(name: str, value: object) -> int:
    """A whole number, also out of numpy; SetupError for anything else, and for none."""
    found = number_of(name, int, value)
    if found is None:
        raise SetupError(f"{name} is None.", "Use a whole number.")
    return int(found)


def text_of(name: str, value: object) -> str:
    """A text; SetupError for anything else."""
    if not isinstance(value, str):
        raise SetupError(f"{name} is {value!r}.", "Use a text.")
    return str(value)


def list_of(name: str, value: object, remedy: str) -> list[object]:
    """What is in a list, a column or the like; SetupError for anything else."""
    if isinstance(value, str | bytes | Mapping | pd.DataFrame) or not isinstance(value, Iterable):
        found = f"of the type {type(value).__name__}" if isinstance(value, pd.DataFrame) else repr(value)
        raise SetupError(f"{name} is {found}.", remedy)
    return list(value)


def path_of(name: str, value: object) -> Path:
    """A path, of a text or a path, with the user's folder for ~; SetupError for anything else."""
    if not isinstance(value, str | os.PathLike) or isinstance(os.fspath(value), bytes):
        raise SetupError(f"{name} is {value!r}.", "Use a path: a text, or a pathlib.Path.")
    try:
        return Path(value).expanduser()
    except RuntimeError as error:
        raise SetupError(f"{name} is {value!r}: that ~ is nobody's.", "Write it out.") from error


def name_or_path(name: str, value: object) -> str:
    """A name as it is, a path as path_of takes it; SetupError for anything else."""
    path = path_of(name, value)
    return str(path if str(value).startswith("~") else value)
