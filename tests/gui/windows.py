"""How a test opens a whole window and lets go of it, and what one that was killed leaves."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent
from pytestqt.qtbot import QtBot

from engine.data.dataset import Dataset
from gui.window.frame import MainWindow
from gui.window.main_content import MainContent
from gui.workspace.open_run import OpenRun
from gui.workspace.state import State
from gui.workspace.workspace import Workspace


@contextmanager
def opened_window(
    qtbot: QtBot, folder: Path, *files: Path, store: Path | None = None, run: int = 0, author: str = ""
) -> Iterator[MainContent]:
    """A window on the memory and the store in a folder, its dataset open. `store`: of which that is a copy,
    with the `run` open that was open last.
    """
    if store is not None:
        shutil.copy(store, folder / "runs.sqlite")
    state = State(folder / "state")
    state.set_number("last/run", run)
    state.set_text("author", author)
    frame = MainWindow(state)
    frame.resize(1280, 720)
    frame.show()
    made = MainContent(frame, folder / "runs.sqlite")
    made.begin(*files)
    qtbot.waitUntil(lambda: made.workspace.dataset is not None and (not run or is_open(made, run)))
    try:
        yield made
    finally:
        made.runs.queue.pause()
        made.run_control.stop()
        qtbot.waitUntil(lambda: not made.run_control.running)
        end_window(made)


def is_open(main_content: MainContent, run_id: int) -> bool:
    run = main_content.workspace.run
    return run is not None and run.id == run_id


def run_of(space: Workspace) -> OpenRun:
    """The run that is open."""
    assert space.run is not None
    return space.run


def items_of(space: Workspace) -> Dataset:
    """The items of the run that is open."""
    assert space.run is not None
    assert space.run.dataset is not None
    return space.run.dataset


def dataset_of(space: Workspace) -> Dataset:
    """The dataset that is open."""
    assert space.dataset is not None
    return space.dataset


def gold_of(space: Workspace) -> Dataset:
    """The labels that the open run is compared with."""
    assert space.gold is not None
    return space.gold


def end_window(main_content: MainContent) -> None:
    """Close a window in which nothing runs, and end it: each change of style takes longer with it."""
    main_content.frame.close()
    ended = main_content.end()
    main_content.frame.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert ended


def after_a_crash(state: State) -> State:
    """The memory of a window as the disk holds it at this moment, which is all that a crash leaves."""
    folder = state.path.parent
    again = folder.with_name(f"{folder.name}-again")
    shutil.rmtree(again, ignore_errors=True)
    shutil.copytree(folder, again, ignore=shutil.ignore_patterns("*.lock"))
    return State(again)
