"""What the tests of the window share: Qt without a screen, a workspace with threads that end."""

import os
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest
from pytestqt.qtbot import QtBot

from gui.engine_thread import EngineThreads
from gui.state import State
from gui.workspace import Workspace


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
