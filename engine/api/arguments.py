"""Arguments converted to the types of the signature of the call.

Knows: numbers, texts, booleans, choices and paths of Python and NumPy. Does not know: which calls take them,
what they are for.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from inspect import signature
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin

import numpy as np
import pandas as pd

from engine.api.refused import in_python
from engine.core.errors import SetupError
from engine.core.formatting import in_a_line

AnyPath = str | os.PathLike[str]
_MOST_BITS = 63  # what the store can keep

Given = ParamSpec("Given")
Result = TypeVar("Result")


def api_call(call: Callable[Given, Result]) -> Callable[Given, Result]:
    """The same call with each argument converted by `taken`, and errors and notices by `in_python`."""
    known = signature(call)

    @wraps(call)
    def checked(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        given = known.bind(*args, **kwargs)
        with in_python():
            for name, value in given.arguments.items():
                given.arguments[name] = taken(name, known.parameters[name].annotation, value)
            return call(*given.args, **given.kwargs)

    return checked


def taken(name: str, kind: Any, value: object) -> Any:
    """A value converted to a boolean, a number, a text, a path or one of some choices, as the annotation of
    the parameter requires; other annotations are checked by the call itself. SetupError for any other value.
    """
    kinds = set(get_args(kind)) if get_origin(kind) in (Union, UnionType) else {kind}
    if value is None and NoneType in kinds:
        return None
    kinds.discard(NoneType)
    if kinds == set(get_args(AnyPath)):
        path_of(name, value)
    elif len(kinds) == 1:
        (only,) = kinds
        if get_origin(only) is Literal:
            return _choice_of(name, get_args(only), value)
        if only in _BY_KIND:
            return _BY_KIND[only](name, value)
    return value


def number_of(name: str, kind: type, value: object) -> float:
    """A number of a kind, also from NumPy; SetupError for anything else."""
    try:
        found = kind(value)
    except (TypeError, ValueError, OverflowError):
        found = None
    # NumPy's bool is no bool of Python, but equal to a number.
    if found is None or isinstance(value, str | bool | np.bool_) or found != value:
        what = "a whole number" if kind is int else "a number"
        raise SetupError(f"{name} is {in_a_line(value)}.", f"Use {what}.")
    if kind is int and found.bit_length() > _MOST_BITS:
        digits = int(found.bit_length() * np.log10(2)) + 1
        raise SetupError(f"{name} has {digits:,} digits.", "Use 18 or fewer.")
    return float(found) if kind is float else int(found)


def whole_number(name: str, value: object) -> int:
    """A whole number, also from NumPy; SetupError for anything else."""
    return int(number_of(name, int, value))


def text_of(name: str, value: object) -> str:
    """A text; SetupError for anything else."""
    if not isinstance(value, str):
        raise SetupError(f"{name} is {in_a_line(value)}.", "Use a text.")
    return str(value)


def list_of(name: str, value: object, hint: str) -> list[object]:
    """The values of a list, a column or the like; SetupError for anything else."""
    if isinstance(value, str | bytes | Mapping | pd.DataFrame) or not isinstance(value, Iterable):
        found = f"of the type {type(value).__name__}" if isinstance(value, pd.DataFrame) else in_a_line(value)
        raise SetupError(f"{name} is {found}.", hint)
    return list(value)


def path_of(name: str, value: object) -> Path:
    """A path from a text or a path, with ~ expanded; SetupError for anything else."""
    if not isinstance(value, str | os.PathLike) or isinstance(os.fspath(value), bytes):
        raise SetupError(f"{name} is {in_a_line(value)}.", "Use a path: a text, or a pathlib.Path.")
    try:
        return Path(value).expanduser()
    except RuntimeError as error:
        raise SetupError(
            f"{name} is {in_a_line(value)}: ~ cannot be expanded.", "Write the full path."
        ) from error


def name_or_path(name: str, value: object) -> str:
    """A name unchanged, a path as path_of converts it; SetupError for anything else."""
    path = path_of(name, value)
    return str(path if str(value).startswith("~") else value)


def _truth_of(name: str, value: object) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise SetupError(f"{name} is {in_a_line(value)}.", "Use True or False.")
    return bool(value)


def _choice_of(name: str, choices: tuple[str, ...], value: object) -> str:
    if not isinstance(value, str) or value not in choices:
        raise SetupError(f"{name} is {in_a_line(value)}.", f"Use {' or '.join(map(repr, choices))}.")
    return value


_BY_KIND: Mapping[type, Callable[[str, object], object]] = {
    bool: _truth_of,
    int: whole_number,
    float: lambda name, value: number_of(name, float, value),
    str: text_of,
}
