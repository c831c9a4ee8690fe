"""Frames that are given in the place of files: each becomes a file once, named by its content.

Knows: pandas, what a cell of a frame is as text. Does not know: what a dataset must have, who reads it.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import numpy as np
import pandas as pd

from engine.api.refused import notice
from engine.commands.shared.console import told_to
from engine.core.cancel import CancelToken
from engine.core.column_map import ID
from engine.core.errors import InputError, SetupError
from engine.core.items import digest
from engine.core.rubric import Rubric
from engine.data.dataset import Dataset, load_dataset
from engine.data.dataset_file import write_dataset
from engine.system.files import make_folder

AnyPath = str | os.PathLike[str]
FRAME = "the frame"
"""What a frame is called where a file would be called by its name."""
_FOLDER = "frames"
_LETTERS_OF_HASH = 12
_READ_AS = f"{FRAME}.parquet"
_MEND = "Mend it in the frame, then call again."


@dataclass(frozen=True)
class FramedItems:
    """The cells of a frame as texts, by column; `folder`: where its file would lie."""

    columns: Mapping[str, list[str]]
    folder: Path

    @classmethod
    def of(cls, frame: pd.DataFrame, store: Path) -> "FramedItems":
        """The same of a frame whose file lies beside a store. An index named id counts as a column.

        SetupError for two columns of a name and for text that no file can hold.
        """
        if frame.index.name == ID and ID not in frame.columns:
            frame = frame.reset_index()
        names = [str(name) for name in frame.columns]
        if twice := [f"column {name!r} occurs {n} times." for name, n in Counter(names).items() if n > 1]:
            raise InputError(Path(FRAME), twice, _MEND)
        columns = {name: texts(frame.iloc[:, place]) for place, name in enumerate(names)}
        _check("column {}", names)
        for name, cells in columns.items():
            _check(f"row {{}}, {name}", cells)
        return cls(columns, store.parent / _FOLDER)

    @cached_property
    def path(self) -> Path:
        """Where its file lies, or would lie: named by the SHA-256 of its cells."""
        content = digest([[name, cells] for name, cells in self.columns.items()])
        return self.folder / f"frame-{content[:_LETTERS_OF_HASH]}.parquet"

    def load(self, rubric: Rubric, cancel: CancelToken | None = None) -> Dataset:
        """Its dataset, read as a file of it would be; no file of it is left. Raises what load_dataset raises,
        in the name of the frame.
        """
        with TemporaryDirectory() as folder, called_the_frame(_READ_AS):
            path = Path(folder) / _READ_AS
            write_dataset(path, self.columns)
            return replace(load_dataset(path, rubric, cancel), path=self.path)

    def keep(self) -> None:
        """Write its file, where it is not there yet. SetupError where it cannot be written."""
        if not self.path.exists():
            make_folder(self.folder)
            write_dataset(self.path, self.columns)


@contextmanager
def called_the_frame(name: str) -> Iterator[None]:
    """Within the block what is refused, or warned of, of the file of this name is said of the frame."""
    with told_to(lambda text: notice(text.replace(name, FRAME))):
        try:
            yield
        except SetupError as error:
            raise SetupError(error.problem.replace(name, FRAME), error.remedy) from error


def path_or_frame(data: object, store: Path) -> Path | FramedItems:
    """A path, or a frame as texts. SetupError for anything else."""
    if isinstance(data, pd.DataFrame):
        return FramedItems.of(data, store)
    if isinstance(data, str | os.PathLike):
        return Path(data)
    raise SetupError(
        f"The data are of the type {type(data).__name__}.", "Give a pandas DataFrame, or the path of a file."
    )


def texts(cells: "pd.Series[Any]") -> list[str]:
    """Each cell of a column as text."""
    return [cell_text(cell) for cell in cells.astype(object)]


def cell_text(cell: object) -> str:
    """A cell as a file of it holds it: what is missing is empty, a whole number has no decimals; truths,
    lists and dictionaries are JSON.
    """
    if isinstance(cell, str):
        return str(cell)
    if isinstance(cell, bool | np.bool_ | list | tuple | dict | set | np.ndarray):
        return json.dumps(_plain(cell), ensure_ascii=False, default=_plain)
    if pd.api.types.is_scalar(cell) and pd.isna(cast(Any, cell)):
        return ""
    if isinstance(cell, float | np.floating):
        return str(int(cell)) if float(cell).is_integer() else repr(float(cell))
    return str(cell)


def _plain(value: object) -> object:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return list(value) if isinstance(value, tuple | set) else value if _is_plain(value) else cell_text(value)


def _is_plain(value: object) -> bool:
    return isinstance(value, bool | int | float | str | list | dict) or value is None


def _check(where: str, texts: Iterable[str]) -> None:
    """SetupError for half a character, which no file can hold; `where`: what has the number in its braces."""
    for number, text in enumerate(texts, start=1):
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            found = f"\\u{ord(text[error.start]):04x} is half a character (a lone surrogate), not text."
            raise InputError(Path(FRAME), [f"{where.format(number)}: {found}"], _MEND) from error


def text_column(cells: Iterable[str | None], empty_is_missing: bool = False) -> Any:
    """Texts as a column of the dtype `string`; None is missing."""
    known = [None if empty_is_missing and cell == "" else cell for cell in cells]
    return pd.array(known, dtype="string")
