"""What the tests of the window share: Qt without a screen, a workspace with threads that end."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest
from pytestqt.qtbot import QtBot

from gui.work.lanes import EngineThreads
from gui.work.state import State
from gui.work.workspace import Workspace


@pytest.fixture
def threads(qtbot: QtBot) -> Iterator[EngineThreads]:
    """The lanes, stopped at the end of the test."""
    made = EngineThreads()
    yield made
    assert made.stop()


@pytest.fixture
def workspace(threads: EngineThreads, tmp_path: Path) -> Workspace:
    """A workspace with a state and a store of its own."""
    return Workspace(threads, State(tmp_path / "state"), tmp_path / "runs.sqlite")


@pytest.fixture
def space(workspace: Workspace, demo_store: Path) -> Workspace:
    """A workspace whose store holds a demo run of its own."""
    shutil.copy(demo_store, workspace.store_path)
    return workspace
