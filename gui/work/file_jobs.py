"""Jobs on files: a dataset read, what is missing of a list.

All modules named *_jobs.py hold work that runs on the lanes. They import what is heavy (pyarrow, llama.cpp,
matplotlib) there and only then, so that the window is visible at once.

Knows: how far reading is. Does not know: windows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.column_map import ColumnMap
from gui.work.lanes import Job, JobControl

if TYPE_CHECKING:
    from engine.data.dataset import Dataset


@dataclass(frozen=True)
class Loading:
    """How far the reading of a file is."""

    path: Path
    rows: int


def load(path: Path, columns: ColumnMap | None = None, remember: bool | None = None) -> "Job[Dataset]":
    """Read a dataset; reports Loading.

    `columns`: by which a foreign file is read. `remember`: whether they are kept for files with the same
    columns, or forgotten; None leaves what is remembered.
    """

    def work(control: JobControl) -> "Dataset":
        from engine.data.dataset import load_dataset
        from engine.system import column_memory

        dataset = load_dataset(
            path,
            cancel=control.cancel,
            progress=lambda rows: control.report(Loading(path, rows)),
            columns=columns,
        )
        if columns is not None and remember is not None:
            keep = partial(column_memory.remember, column_map=columns) if remember else column_memory.forget
            keep(dataset.file_columns)
        # Both are needed soon, and take a moment for many items.
        _ = dataset.hash, dataset.criteria
        control.cancel.raise_if_requested()
        return dataset

    return work


def missing(paths: Sequence[Path]) -> Job[frozenset[Path]]:
    """Those of some files that are not there; a job, because a disk of the network may take its time."""

    def work(control: JobControl) -> frozenset[Path]:
        gone = set()
        for path in paths:
            control.cancel.raise_if_requested()
            if not is_there(path):
                gone.add(path)
        return frozenset(gone)

    return work


def is_there(path: Path) -> bool:
    """Whether a file is there, as far as the system lets us see."""
    try:
        return path.exists()
    except OSError:
        return False
