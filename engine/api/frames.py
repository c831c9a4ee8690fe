"""Frames given instead of files: each is written once as a file named by its content.

Knows: pandas, which columns a dataset reads. Does not know: how a cell becomes text, who reads it.
"""

import filecmp
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from engine.api.arguments import path_of
from engine.api.cells import FRAME, MEND, column_cells, texts
from engine.api.refused import notice
from engine.commands.shared.console import told_to
from engine.core.cancel import CancelToken
from engine.core.column_map import CANDIDATES, ID, INSTRUCTION, OUTPUTS
from engine.core.errors import InputError, SetupError
from engine.core.formatting import in_a_line
from engine.core.items import digest
from engine.core.rubric import Rubric
from engine.data.dataset import Dataset, load_dataset
from engine.data.dataset_file import write_dataset
from engine.system.files import make_folder

_FOLDER, _NAME = "frames", "frame-{}.parquet"
_LETTERS_OF_HASH = 12
_OF_LABELS = ("_preference", "_explanation")
_READ_AS = f"{FRAME}.parquet"


@dataclass(frozen=True)
class FramedItems:
    """The cells of a frame as texts, by column; `folder`: of its file."""

    columns: Mapping[str, list[str]]
    folder: Path

    @classmethod
    def of(cls, frame: pd.DataFrame, store: Path) -> "FramedItems":
        """The same for a frame whose file is in a folder next to a store. An index named id, or with a level
        of that name, becomes columns.

        SetupError for duplicate column names, and for a cell that cannot be written as text. A column that
        is not one of a dataset is omitted in that case, with a warning.
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
                if _is_read(name):
                    raise
                notice(f"{FRAME}: 1 column is omitted ({error.problems[0]}): {name!r}.")
        return cls(columns, store.parent / _FOLDER)

    @cached_property
    def path(self) -> Path:
        """The path of its file, named by the SHA-256 of its cells."""
        content = digest([[name, cells] for name, cells in self.columns.items()])
        return self.folder / _NAME.format(content[:_LETTERS_OF_HASH])

    def load(self, rubric: Rubric, cancel: CancelToken | None = None) -> Dataset:
        """Its dataset, read as from its file; no file is left behind. Raises what load_dataset raises, with
        the name of the frame.
        """
        with TemporaryDirectory() as folder, called_the_frame(_READ_AS):
            path = Path(folder) / _READ_AS
            write_dataset(path, self.columns)
            return replace(load_dataset(path, rubric, cancel), path=self.path)

    def keep(self) -> None:
        """Write its file if it is missing or damaged. SetupError if it cannot be written."""
        if self.path.is_file():
            with TemporaryDirectory() as folder:
                whole = Path(folder) / _READ_AS
                write_dataset(whole, self.columns)
                if filecmp.cmp(whole, self.path, shallow=False):
                    return
        make_folder(self.folder)
        write_dataset(self.path, self.columns)


def is_of_a_frame(path: Path, store: Path) -> bool:
    """Whether a path is that of a frame's file next to a store."""
    return path.parent == store.parent / _FOLDER and path.match(_NAME.format("*"))


def _name_of(label: object) -> str:
    try:
        return str(label)
    except ValueError:  # a number of thousands of digits
        return in_a_line(label)


def _is_read(name: str) -> bool:
    """True for a column that a dataset reads, rather than passes through."""
    return name in {ID, INSTRUCTION, *OUTPUTS, *CANDIDATES} or name.endswith(_OF_LABELS)


@contextmanager
def called_the_frame(name: str) -> Iterator[None]:
    """Within the block, errors and warnings that name this file name the frame instead."""
    with told_to(lambda text: notice(text.replace(name, FRAME))):
        try:
            yield
        except SetupError as error:
            raise SetupError(error.problem.replace(name, FRAME), error.hint) from error


def path_or_frame(data: object, store: Path) -> Path | FramedItems:
    """A path, or a frame as texts. SetupError for anything else."""
    if isinstance(data, pd.DataFrame):
        return FramedItems.of(data, store)
    if isinstance(data, str | os.PathLike):
        return path_of("data", data)
    raise SetupError(
        f"The data are of the type {type(data).__name__}.", "Give a pandas DataFrame, or the path of a file."
    )


def text_column(cells: Iterable[str | None], empty_is_missing: bool = False) -> Any:
    """Texts as a column of the dtype `string`; None is missing."""
    known = [None if empty_is_missing and cell == "" else cell for cell in cells]
    return pd.array(known, dtype="string")
