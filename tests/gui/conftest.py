"""What the tests of the window share: Qt without a screen, a workspace with threads that end."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest
from pytestqt.qtbot import QtBot

from engine.core.cancel import CancelToken
from engine.gguf.judge_file import read_model_file
from engine.loading.checked_model import checked_model
from engine.system.paths import cache_folder, demo_model
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


@pytest.fixture(scope="session")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is remembered once the demo model was tried in a child process, which takes seconds."""
    home = tmp_path_factory.mktemp("tried")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIEBREAK_HOME", str(home))
        checked_model(read_model_file(demo_model()), CancelToken())
        return cache_folder() / "models.sqlite"


@pytest.fixture
def demo_tried(tried: Path, private_home: Path) -> None:
    """The demo model was tried before, as on any day but the first."""
    cache_folder().mkdir(parents=True)
    shutil.copy(tried, cache_folder())
