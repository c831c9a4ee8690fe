"""The frame of the window, before anything is in it: its look, and what it remembers of that."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gui.widgets.theme import ThemeChoice, is_dark
from gui.window.frame import MainWindow
from gui.workspace.state import State

Opened = Callable[[], MainWindow]


@pytest.fixture
def opened(qtbot: QtBot, tmp_path: Path) -> Iterator[Opened]:
    """Opens frames on one memory, one after the other; the system's size of text is put back at the end."""
    made: list[MainWindow] = []
    font = QApplication.font()

    def close() -> None:
        for frame in made:
            frame.close()
            frame.deleteLater()
        made.clear()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)

    def open_frame() -> MainWindow:
        close()
        QApplication.setFont(font)  # a program finds the system's when it starts
        made.append(MainWindow(State(tmp_path / "state")))
        made[0].show()
        return made[0]

    yield open_frame
    close()
    QApplication.setFont(font)


def test_the_theme_and_the_size_of_text_change_at_once_and_are_remembered(opened: Opened) -> None:
    frame = opened()
    before = frame.fontMetrics().height()
    frame.set_theme(ThemeChoice.DARK)
    frame.set_text_size(200)
    assert is_dark(frame.palette())
    assert frame.fontMetrics().height() > 1.6 * before
    again = opened()
    assert is_dark(again.palette())
    again.set_theme(ThemeChoice.LIGHT)
    again.set_text_size(100)
    assert not is_dark(again.palette())
