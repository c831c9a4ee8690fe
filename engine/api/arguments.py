"""Arguments of calls, converted to the types of their signatures; frames, written as files named by content.
Does not know: what the calls do.
"""

import filecmp
import json
import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, fields, replace
from functools import cached_property, wraps
from inspect import signature
from pathlib import Path
from tempfile import TemporaryDirectory
from types import NoneType, UnionType
from typing import Any, Literal, ParamSpec, TypeVar, Union, cast, get_args, get_origin

import numpy as np
import pandas as pd

from engine.api.refused import in_python, notice
from engine.core.column_map import CANDIDATES, ID, INSTRUCTION, OUTPUTS
from engine.core.errors import InputError, SetupError
from engine.core.events import CancelToken
from engine.core.formatting import in_a_line
from engine.core.items import digest
from engine.core.rubric import Rubric
from engine.data.dataset import Dataset, load_dataset
from engine.data.json_records import undecodable
from engine.data.submission import write_dataset
from engine.system.files import make_folder

AnyPath = str | os.PathLike[str]
_MOST_BITS = 63  # what the store can keep

Given = ParamSpec("Given")
Result = TypeVar("Result")


def api_call(call: Callable[Given, Result]) -> Callable[Given, Result]:
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
    """A value as the annotation of its parameter requires: boolean, number, text, path or choice. SetupError;
    other annotations are checked by the call itself.
    """
    kinds = set(get_args(kind)) if get_origin(kind) in (Union, UnionType) else {kind}
    if value is None and NoneType in kinds:
        return None
    kinds.discard(NoneType)
    if kinds == set(get_args(AnyPath)):
        path_of(name, value)
    elif len(kinds) == 1:
        (only,) = kinds
        choices = get_args(only) if get_origin(only) is Literal else ()
        if choices and (not isinstance(value, str) or value not in choices):
            raise SetupError(f"{name} is {in_a_line(value)}.", f"Use {' or '.join(map(repr, choices))}.")
        if only in _BY_KIND:
            return _BY_KIND[only](name, value)
    return value


def take_fields(record: Any) -> None:
    """Convert the fields of a new record, also of a frozen one, in the same way. SetupError."""
    for each in fields(record):
        object.__setattr__(record, each.name, taken(each.name, each.type, getattr(record, each.name)))


def number_of(name: str, kind: type, value: object) -> float:
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
    return int(number_of(name, int, value))


def text_of(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise SetupError(f"{name} is {in_a_line(value)}.", "Use a text.")
    return str(value)


def list_of(name: str, value: object, hint: str) -> list[object]:
    if isinstance(value, str | bytes | Mapping | pd.DataFrame) or not isinstance(value, Iterable):
        found = f"of the type {type(value).__name__}" if isinstance(value, pd.DataFrame) else in_a_line(value)
        raise SetupError(f"{name} is {found}.", hint)
    return list(value)


def path_of(name: str, value: object) -> Path:
    if not isinstance(value, str | os.PathLike) or isinstance(os.fspath(value), bytes):
        raise SetupError(f"{name} is {in_a_line(value)}.", "Use a path: a text, or a pathlib.Path.")
    try:
        return Path(value).expanduser()
    except RuntimeError as error:
        raise SetupError(
            f"{name} is {in_a_line(value)}: ~ cannot be expanded.", "Write the full path."
        ) from error


def name_or_path(name: str, value: object) -> str:
    path = path_of(name, value)
    return str(path if str(value).startswith("~") else value)


def _truth_of(name: str, value: object) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise SetupError(f"{name} is {in_a_line(value)}.", "Use True or False.")
    return bool(value)


_BY_KIND: Mapping[type, Callable[[str, object], object]] = {
    bool: _truth_of,
    int: whole_number,
    float: lambda name, value: number_of(name, float, value),
    str: text_of,
}


FRAME = "the frame"
"""The name of a frame in messages, in place of a file name."""
MEND = "Fix it in the frame, then call again."
_LISTS = (np.ndarray, list, tuple, pd.Series, pd.Index, pd.api.extensions.ExtensionArray)


class NoText(ValueError):
    """A cell cannot be written as text; the message names what was found."""


def ids_as_texts(ids: Iterable[object]) -> list[str]:
    try:
        return [cell_text(each) for each in ids]
    except NoText as error:
        raise SetupError(f"ids: {error}", "Use ids of items.") from error


def column_cells(column: pd.Series) -> Iterable[object]:
    kind = getattr(column.dtype, "numpy_dtype", column.dtype)  # of nullable and Arrow dtypes
    cells = column.astype(object)
    for short in (np.float16, np.float32):
        if kind == short:
            return [each if pd.isna(each) else short(each) for each in cells]
    return cells


def texts(cells: Iterable[object], where: str) -> list[str]:
    """Each cell as text; InputError with all that cannot be. `where` is filled with the number."""
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
    """A cell as its file has it: missing values are empty, bytes are UTF-8, numbers are read as from Parquet,
    lists and dictionaries are JSON. NoText for what no file can contain.
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
    if isinstance(value, np.ndarray) and not value.ndim:
        value = value[()]
    if isinstance(value, _LISTS):
        return [_plain(each) for each in cast(Iterable[object], value)]
    if isinstance(value, Set):  # in an order that is the same in every process
        return sorted(map(_plain, value), key=_json)
    if isinstance(value, Mapping):
        return _object(value)
    if isinstance(value, bytes | bytearray):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError as error:
            raise NoText(undecodable(error, 0)) from error
    return _plain_one(value)


def _plain_one(value: object) -> bool | int | float | str | None:
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


_FOLDER, _NAME = "frames", "frame-{}.parquet"
_LETTERS_OF_HASH = 12
_READ, _OF_LABELS = {ID, INSTRUCTION, *OUTPUTS, *CANDIDATES}, ("_preference", "_explanation")
_READ_AS = f"{FRAME}.parquet"


@dataclass(frozen=True)
class FramedItems:
    columns: Mapping[str, list[str]]
    folder: Path

    @classmethod
    def of(cls, frame: pd.DataFrame, store: Path) -> "FramedItems":
        """An index named id, or with such a level, becomes columns. SetupError for duplicate columns, and
        cells that are no text; of a column that no dataset has, a warning: it is left out.
        """
        # Only for names that are texts: pandas.NA is neither equal nor unequal to anything.
        named = {place: name for place, name in enumerate(frame.index.names) if isinstance(name, str)}
        if ID in named.values() and ID not in frame.columns:
            levels = [place for place, name in named.items() if name not in frame.columns]
            frame = frame.reset_index(levels, allow_duplicates=True)
        names = [_name_of(each) for each in frame.columns]
        if twice := [f"column {name!r} occurs {n} times." for name, n in Counter(names).items() if n > 1]:
            raise InputError(Path(FRAME), twice, MEND)
        texts(names, "column {}")
        columns = {}
        for place, name in enumerate(names):
            try:
                columns[name] = texts(column_cells(frame.iloc[:, place]), f"row {{}}, {name}")
            except InputError as error:
                if name in _READ or name.endswith(_OF_LABELS):
                    raise  # the others are only passed through
                notice(f"{FRAME}: 1 column is omitted ({error.problems[0]}): {name!r}.")
        return cls(columns, store.parent / _FOLDER)

    @cached_property
    def path(self) -> Path:
        content = digest([[name, cells] for name, cells in self.columns.items()])
        return self.folder / _NAME.format(content[:_LETTERS_OF_HASH])

    def load(self, rubric: Rubric, cancel: CancelToken | None = None) -> Dataset:
        """Its dataset, read as from its file. Raises as load_dataset does, naming the frame."""
        with TemporaryDirectory() as folder:
            path = Path(folder) / _READ_AS
            write_dataset(path, self.columns)
            try:
                return replace(load_dataset(path, rubric, cancel), path=self.path)
            except SetupError as error:
                raise SetupError(error.problem.replace(_READ_AS, FRAME), error.hint) from error

    def keep(self) -> None:
        # A file of this name is not trusted: a damaged one would be judged, or refused, for ever.
        if self.path.is_file():
            with TemporaryDirectory() as folder:
                whole = Path(folder) / _READ_AS
                write_dataset(whole, self.columns)
                if filecmp.cmp(whole, self.path, shallow=False):
                    return
        make_folder(self.folder)
        write_dataset(self.path, self.columns)


def is_of_a_frame(path: Path, store: Path) -> bool:
    return path.parent == store.parent / _FOLDER and path.match(_NAME.format("*"))


def _name_of(label: object) -> str:
    try:
        return str(label)
    except ValueError:  # a number of thousands of digits
        return in_a_line(label)


def target_of(path: AnyPath, form: str, *suffixes: str) -> Path:
    """A file to write, of a `form` in words. SetupError for another suffix."""
    target = path_of("path", path)
    if target.suffix.lower() not in suffixes:
        raise SetupError(f"{target.name}: the file will be {form}.", f"Name it {target.stem}{suffixes[0]}")
    return target


def path_or_frame(data: object, store: Path) -> Path | FramedItems:
    if isinstance(data, pd.DataFrame):
        return FramedItems.of(data, store)
    if isinstance(data, str | os.PathLike):
        return path_of("data", data)
    raise SetupError(
        f"The data are of the type {type(data).__name__}.", "Give a pandas DataFrame, or the path of a file."
    )


def text_column(cells: Iterable[str | None], empty_is_missing: bool = False) -> Any:
    known = [None if empty_is_missing and cell == "" else cell for cell in cells]
    return pd.array(known, dtype="string")
