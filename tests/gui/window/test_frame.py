"""The window as a whole: how it starts, its menus, its memory, and how it closes during a run."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QMimeData, QPointF, Qt, QTimer, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QApplication, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from engine.core.errors import EngineBug, SetupError
from engine.system.paths import demo_dataset, demo_model
from gui.kit.theme import ThemeChoice, is_dark
from gui.window.frame import MainWindow
from gui.work.state import State

A_WHILE = 60_000


class Opened:
    """Opens windows on one memory and one store, one after the other."""

    def __init__(self, qtbot: QtBot, folder: Path) -> None:
        self._qtbot = qtbot
        self.folder = folder
        self.windows: list[MainWindow] = []

    def __call__(self, dataset: Path | None = None) -> MainWindow:
        window = MainWindow(State(self.folder / "state"), self.folder / "runs.sqlite")
        window.show()
        window.begin(dataset)
        self.windows.append(window)
        return window

    def close(self, window: MainWindow) -> None:
        window.interior.run_control.stop()
        self._qtbot.waitUntil(lambda: not window.interior.run_control.running, timeout=A_WHILE)
        self.end(window)

    def end(self, window: MainWindow) -> None:
        """Close a window in which nothing runs; it must be gone, since each change of style costs time."""
        window.close()
        window.end()
        self.windows.remove(window)
        window.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def opened(qtbot: QtBot, tmp_path: Path, demo_tried: None) -> Iterator[Opened]:
    made = Opened(qtbot, tmp_path)
    yield made
    for window in list(made.windows):
        made.close(window)


def answer(button_text: str) -> None:
    """Press a button of the message box that is about to open, as soon as it is there."""

    def press() -> None:
        box = QApplication.activeModalWidget()
        if not isinstance(box, QMessageBox):
            QTimer.singleShot(50, press)
            return
        for button in box.findChildren(QPushButton):
            if button.text().replace("&", "") == button_text:
                button.click()

    QTimer.singleShot(50, press)


def wait_for_plan(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: window.interior.judge.can_run, timeout=A_WHILE)


def test_the_first_start_has_the_demo_ready_to_run(opened: Opened, qtbot: QtBot) -> None:
    window = opened()
    wait_for_plan(window, qtbot)
    assert window.workspace.dataset is not None
    assert window.workspace.dataset.path == demo_dataset()
    assert window.interior.judge.setup().model_path == demo_model()
    assert window.rail.currentItem().text() == "Judge"


def test_keys_turn_the_pages(opened: Opened, qtbot: QtBot) -> None:
    window = opened()
    with qtbot.waitActive(window):
        window.activateWindow()
    for number, page in enumerate(window.interior.pages, start=1):
        qtbot.keyClick(window, getattr(Qt.Key, f"Key_{number}"), Qt.KeyboardModifier.ControlModifier)
        assert window.stack.currentWidget() is page


def test_an_error_is_shown_as_problem_and_remedy(opened: Opened) -> None:
    window = opened()
    window.workspace.problem.emit(SetupError("<b>This</b> is wrong.", "Do that."))
    assert window.interior.notice.isVisible()
    assert window.interior.notice.text == "<b>This</b> is wrong.\nDo that."


def test_a_fault_of_the_program_says_so_without_a_traceback(opened: Opened) -> None:
    window = opened()
    window.workspace.problem.emit(EngineBug("KeyError: 'x'"))
    assert "fault of Tiebreak" in window.interior.notice.text
    assert "Traceback" not in window.interior.notice.text


def test_the_theme_and_the_size_of_text_change_at_once_and_are_remembered(opened: Opened) -> None:
    window = opened()
    before = window.fontMetrics().height()
    window.set_theme(ThemeChoice.DARK)
    window.set_text_size(200)
    assert is_dark(window.palette())
    assert window.fontMetrics().height() > 1.6 * before
    opened.close(window)
    again = opened()
    assert is_dark(again.palette())
    again.set_theme(ThemeChoice.LIGHT)
    again.set_text_size(100)
    assert not is_dark(again.palette())


def test_a_dropped_dataset_is_opened(opened: Opened, qtbot: QtBot, demo_gold: Path) -> None:
    window = opened()
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(demo_gold))])
    event = QDropEvent(
        QPointF(5, 5),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    window.dropEvent(event)
    qtbot.waitUntil(lambda: window.workspace.dataset is not None, timeout=A_WHILE)
    assert window.rail.currentItem().text() == "Dataset"
    assert window.workspace.dataset is not None
    assert window.workspace.dataset.name == demo_gold.name


def test_the_last_dataset_and_page_are_there_next_time(opened: Opened, qtbot: QtBot, demo_gold: Path) -> None:
    window = opened(demo_gold)
    qtbot.waitUntil(lambda: window.workspace.dataset is not None, timeout=A_WHILE)
    window.show_page("Review")
    opened.close(window)
    again = opened()
    qtbot.waitUntil(lambda: again.workspace.dataset is not None, timeout=A_WHILE)
    assert again.workspace.dataset is not None
    assert again.workspace.dataset.name == demo_gold.name
    assert again.rail.currentItem().text() == "Review"


def test_closing_during_a_run_asks_and_can_go_on(opened: Opened, qtbot: QtBot, demo_gold: Path) -> None:
    window = opened(demo_gold)
    wait_for_plan(window, qtbot)
    window.run()
    qtbot.waitUntil(lambda: window.interior.run_control.running, timeout=A_WHILE)
    answer("Keep judging")
    window.close()
    assert window.isVisible()
    assert window.interior.run_control.running


def test_closing_during_a_run_stops_it_cleanly_and_the_next_start_offers_to_resume(
    opened: Opened, qtbot: QtBot
) -> None:
    window = opened()
    wait_for_plan(window, qtbot)
    window.run()
    qtbot.waitUntil(
        lambda: (
            window.interior.run_control.progress is not None
            and window.interior.run_control.progress.judged >= 6
        ),
        timeout=A_WHILE,
    )
    answer("Stop and close")
    window.close()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=A_WHILE)
    opened.end(window)
    again = opened()
    assert again.interior.run_control.unfinished is not None
    wait_for_plan(again, qtbot)
    again.run()
    qtbot.waitUntil(lambda: again.interior.run_control.progress is not None, timeout=A_WHILE)
    assert again.interior.run_control.progress is not None
    assert again.interior.run_control.progress.judged >= 6


def test_letters_belong_to_the_page_and_never_turn_it(opened: Opened, qtbot: QtBot) -> None:
    window = opened()
    window.show_page("Review")
    assert not window.rail.hasFocus()
    window.rail.setFocus()
    qtbot.keyClick(window.rail, Qt.Key.Key_J)
    assert window.rail.currentItem().text() == "Review"
