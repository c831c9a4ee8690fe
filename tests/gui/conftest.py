"""What the tests of the window share: Qt without a screen, a workspace with threads that end."""

import gc
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import matplotlib

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
if sys.platform == "win32":  # where Qt knows no font without a screen; DejaVu, as on Linux
    os.environ.setdefault("QT_QPA_FONTDIR", str(Path(matplotlib.get_data_path(), "fonts", "ttf")))

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gui.app import guard_overrides
from gui.widgets.theme import Colours, ThemeChoice, apply_theme
from gui.workspace.state import State
from gui.workspace.threads import EngineThreads
from gui.workspace.workspace import Workspace

guard_overrides()  # as the application does
if sys.platform == "win32":  # otherwise the first of all families, which may be one for formulas
    QFont.insertSubstitution("Sans Serif", "DejaVu Sans")

# A busy computer proves nothing: what a test waits for may take a minute where it does not say otherwise; and
# where Wine runs it beside others, five.
_PATIENCE = 300_000 if sys.platform == "win32" else 60_000
for _waiting in (QtBot.waitUntil, QtBot.waitSignal, QtBot.waitSignals, QtBot.waitExposed):
    _waiting.__kwdefaults__ = {**(_waiting.__kwdefaults__ or {}), "timeout": _PATIENCE}


@pytest.fixture(autouse=True, scope="module")
def windows_collected() -> Iterator[None]:
    """What is left of windows that have lived through several tests is cleared away, too, and their look."""
    gc.collect()
    gc.freeze()  # what other files have left for good, as the packages that they used
    yield
    gc.collect()
    app = QApplication.instance()
    if isinstance(app, QApplication):
        app.setStyleSheet("")  # with it each widget of the tests to come would take twice as long
        app.styleHints().unsetColorScheme()
        app.setPalette(app.style().standardPalette())  # dark colours too end with the tests that chose them


@pytest.fixture(autouse=True)
def closed_windows_ended() -> Iterator[None]:
    """What a test closed ends with it, not in the next one, where it would be styled anew."""
    yield
    if QApplication.instance() is not None:
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def threads(qtbot: QtBot, request: pytest.FixtureRequest) -> Iterator[EngineThreads]:
    """Stopped at the end of the test. Work with models is done in the process of the tests, a second sooner;
    for those marked `apart`, and for all of the whole window, by processes of their own, as for users.
    """
    made = EngineThreads(apart=request.node.get_closest_marker("apart") is not None)
    yield made
    assert made.stop()


@pytest.fixture(scope="module", params=[ThemeChoice.LIGHT, ThemeChoice.DARK])
def dressed(qapp: QApplication, request: pytest.FixtureRequest) -> Iterator[Colours]:
    """The colours of each theme in turn, which the application wears."""
    points = qapp.font().pointSizeF()
    yield apply_theme(qapp, request.param, 100, points).colours
    apply_theme(qapp, ThemeChoice.LIGHT, 100, points)


@pytest.fixture
def workspace(threads: EngineThreads, tmp_path: Path) -> Workspace:
    """A workspace with a state and a store of its own."""
    return Workspace(threads, State(tmp_path / "state"), tmp_path / "runs.sqlite")


@pytest.fixture
def space(workspace: Workspace, demo_store: Path) -> Workspace:
    """A workspace whose store holds a demo run of its own."""
    shutil.copy(demo_store, workspace.store_path)
    return workspace
