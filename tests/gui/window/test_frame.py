"""The window as a whole: how it starts, its menus, its memory, and how it closes during a run."""

from collections.abc import Iterator
from dataclasses import replace
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
from gui.window.interior import Interior
from gui.work.page_name import PageName
from gui.work.state import State

A_WHILE = 60_000


class Opened:
    """Opens windows on one memory and one store, one after the other."""

    def __init__(self, qtbot: QtBot, folder: Path) -> None:
        self._qtbot = qtbot
        self.folder = folder
        self.windows: list[Interior] = []

    def __call__(self, dataset: Path | None = None) -> Interior:
        frame = MainWindow(State(self.folder / "state"))
        frame.show()
        window = Interior(frame, self.folder / "runs.sqlite")
        window.begin(dataset)
        self.windows.append(window)
        return window

    def close(self, window: Interior) -> None:
        window.run_control.stop()
        self._qtbot.waitUntil(lambda: not window.run_control.running, timeout=A_WHILE)
        self.end(window)

    def end(self, window: Interior) -> None:
        """Close a window in which nothing runs; it must be gone, since each change of style costs time."""
        window.frame.close()
        window.end()
        self.windows.remove(window)
        window.frame.deleteLater()
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


def wait_for_plan(window: Interior, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: window.judge.can_run, timeout=A_WHILE)


def run(window: Interior, qtbot: QtBot) -> None:
    """Run what is planned, on one thread: other tests are at work too."""
    window.judge.settings.show_setup(replace(window.judge.setup(), threads=1))
    wait_for_plan(window, qtbot)
    window.run()


def test_the_first_start_has_the_demo_ready_to_run(opened: Opened, qtbot: QtBot) -> None:
    window = opened()
    wait_for_plan(window, qtbot)
    assert window.workspace.dataset is not None
    assert window.workspace.dataset.path == demo_dataset()
    assert window.judge.setup().model_path == demo_model()
    assert window.frame.rail.currentItem().text() == "Judge"


def test_keys_turn_the_pages(opened: Opened, qtbot: QtBot) -> None:
    window = opened()
    with qtbot.waitActive(window.frame):
        window.frame.activateWindow()
    for number, page in enumerate(window.pages, start=1):
        qtbot.keyClick(window.frame, getattr(Qt.Key, f"Key_{number}"), Qt.KeyboardModifier.ControlModifier)
        assert window.frame.stack.currentWidget() is page


def test_an_error_is_shown_as_problem_and_remedy(opened: Opened) -> None:
    window = opened()
    window.workspace.problem.emit(SetupError("<b>This</b> is wrong.", "Do that."))
    assert window.notice.isVisible()
    assert window.notice.text == "<b>This</b> is wrong.\nDo that."


def test_a_fault_of_the_program_says_so_without_a_traceback(opened: Opened) -> None:
    window = opened()
    window.workspace.problem.emit(EngineBug("KeyError: 'x'"))
    assert "fault of Tiebreak" in window.notice.text
    assert "Traceback" not in window.notice.text


def test_the_theme_and_the_size_of_text_change_at_once_and_are_remembered(opened: Opened) -> None:
    window = opened()
    before = window.frame.fontMetrics().height()
    window.frame.set_theme(ThemeChoice.DARK)
    window.frame.set_text_size(200)
    assert is_dark(window.frame.palette())
    assert window.frame.fontMetrics().height() > 1.6 * before
    opened.close(window)
    again = opened()
    assert is_dark(again.frame.palette())
    again.frame.set_theme(ThemeChoice.LIGHT)
    again.frame.set_text_size(100)
    assert not is_dark(again.frame.palette())


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
    window.frame.dropEvent(event)
    qtbot.waitUntil(lambda: window.workspace.dataset is not None, timeout=A_WHILE)
    assert window.frame.rail.currentItem().text() == "Dataset"
    assert window.workspace.dataset is not None
    assert window.workspace.dataset.name == demo_gold.name


def test_the_last_dataset_and_page_are_there_next_time(opened: Opened, qtbot: QtBot, demo_gold: Path) -> None:
    window = opened(demo_gold)
    qtbot.waitUntil(lambda: window.workspace.dataset is not None, timeout=A_WHILE)
    window.frame.show_page(PageName.REVIEW)
    opened.close(window)
    again = opened()
    qtbot.waitUntil(lambda: again.workspace.dataset is not None, timeout=A_WHILE)
    assert again.workspace.dataset is not None
    assert again.workspace.dataset.name == demo_gold.name
    assert again.frame.rail.currentItem().text() == "Review"


def test_closing_during_a_run_asks_and_can_go_on(opened: Opened, qtbot: QtBot, demo_gold: Path) -> None:
    window = opened(demo_gold)
    wait_for_plan(window, qtbot)
    run(window, qtbot)
    qtbot.waitUntil(lambda: window.run_control.running, timeout=A_WHILE)
    answer("Keep judging")
    window.frame.close()
    assert window.frame.isVisible()
    assert window.run_control.running


def test_closing_during_a_run_stops_it_cleanly_and_the_next_start_offers_to_resume(
    opened: Opened, qtbot: QtBot
) -> None:
    window = opened()
    wait_for_plan(window, qtbot)
    run(window, qtbot)
    qtbot.waitUntil(
        lambda: window.run_control.progress is not None and window.run_control.progress.judged >= 6,
        timeout=A_WHILE,
    )
    answer("Stop and close")
    window.frame.close()
    qtbot.waitUntil(lambda: not window.frame.isVisible(), timeout=A_WHILE)
    opened.end(window)
    again = opened()
    assert again.run_control.unfinished is not None
    wait_for_plan(again, qtbot)
    again.run()
    qtbot.waitUntil(lambda: again.run_control.progress is not None, timeout=A_WHILE)
    assert again.run_control.progress is not None
    assert again.run_control.progress.judged >= 6


def test_letters_belong_to_the_page_and_never_turn_it(opened: Opened, qtbot: QtBot) -> None:
    window = opened()
    window.frame.show_page(PageName.REVIEW)
    assert not window.frame.rail.hasFocus()
    window.frame.rail.setFocus()
    qtbot.keyClick(window.frame.rail, Qt.Key.Key_J)
    assert window.frame.rail.currentItem().text() == "Review"
