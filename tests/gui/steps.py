"""Steps that tests of several pages take: show a widget, open a file or a run, press a key or a button."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import QAbstractItemModel, QMimeData, QModelIndex, QPoint, QPointF, Qt, QTimer, QUrl
from PySide6.QtGui import QAction, QDropEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QApplication, QComboBox, QMessageBox, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from engine.data.dataset import Dataset
from gui.widgets.actions import CurrentChoice
from gui.window.frame import MainWindow
from gui.window.main_content import MainContent
from gui.workspace.open_run import OpenRun
from gui.workspace.state import State
from gui.workspace.workspace import Workspace
from tests.gui.windows import end_window

Shown = TypeVar("Shown", bound=QWidget)
PAGE = (1180, 640)
"""Size in pixels of a page in a window of 1280 x 720."""


def shown(qtbot: QtBot, made: Shown, size: tuple[int, int] = PAGE) -> Shown:
    """A widget on the screen, with the keys."""
    qtbot.addWidget(made)
    made.resize(*size)
    with qtbot.waitExposed(made):
        made.show()
    made.activateWindow()
    return made


def open_dataset(qtbot: QtBot, workspace: Workspace, path: Path) -> None:
    with qtbot.waitSignal(workspace.dataset_changed):
        workspace.open_dataset(path)


def open_run(qtbot: QtBot, workspace: Workspace, run_id: int) -> None:
    workspace.open_run(run_id)
    qtbot.waitUntil(lambda: is_open(workspace, run_id))


def is_open(workspace: Workspace, run_id: int) -> bool:
    return workspace.run is not None and workspace.run.id == run_id


def run_of(space: Workspace) -> OpenRun:
    assert space.run is not None
    return space.run


def items_of(space: Workspace) -> Dataset:
    assert space.run is not None
    assert space.run.dataset is not None
    return space.run.dataset


def dataset_of(space: Workspace) -> Dataset:
    assert space.dataset is not None
    return space.dataset


def gold_of(space: Workspace) -> Dataset:
    """The labels that the open run is compared with."""
    assert space.gold is not None
    return space.gold


def press(
    widget: QWidget, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
) -> None:
    """Press a key where a user would: in the widget that has the keyboard."""
    widget.setFocus()
    QTest.keyClick(widget, key, modifier)


def double_click(view: QAbstractItemView, place: QModelIndex) -> None:
    port, spot = view.viewport(), view.visualRect(place).center()
    for press_once in (QTest.mouseClick, QTest.mouseDClick):  # Qt's own second press alone is none
        press_once(port, Qt.MouseButton.LeftButton, pos=spot)


def click(widget: QWidget, text: str) -> None:
    """The one button of that text that is seen."""
    found = [each for each in widget.findChildren(QPushButton) if each.isVisible()]
    (button,) = [each for each in found if each.text().replace("&", "") == text]
    button.click()


def pick(box: QComboBox, data: str | None) -> None:
    box.setCurrentIndex(box.findData(data))
    assert box.currentData() == data, data
    box.activated.emit(box.currentIndex())


def offered(choice: CurrentChoice) -> dict[str, QAction]:
    """What the menu of a part of the head offers when it opens, by its words."""
    choice.menu().aboutToShow.emit()
    return {each.text().replace("&", ""): each for each in choice.menu().actions() if each.text()}


def column(model: QAbstractItemModel, number: int, role: int = Qt.ItemDataRole.DisplayRole) -> list[Any]:
    return [model.index(row, number).data(role) for row in range(model.rowCount())]


@contextmanager
def whole_window(
    qtbot: QtBot,
    folder: Path,
    *files: Path,
    run: int | None = None,
    author: str = "",
    memory: str = "state",
) -> Iterator[MainContent]:
    """A window of 1280 x 720 on the store `runs.sqlite` of a folder, its `memory` beside it. `files` are open
    (without any the demo dataset), and so is `run`, as it was when the last window was closed. A run at work
    is stopped at the end.
    """
    state = State(folder / memory)
    if author:
        state.set_text("author", author)
    if run is not None:
        state.set_number("last/run", run)
    frame = MainWindow(state)
    frame.resize(1280, 720)
    frame.show()
    made = MainContent(frame, folder / "runs.sqlite")
    made.begin(*files)
    qtbot.waitUntil(lambda: made.workspace.dataset is not None)
    qtbot.waitUntil(lambda: run is None or is_open(made.workspace, run))
    try:
        yield made
    finally:
        made.runs.queue.pause()
        made.run_control.stop()
        qtbot.waitUntil(lambda: not made.run_control.running)
        end_window(made)


def drop(frame: MainWindow, *files: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in files])
    how = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    frame.dropEvent(QDropEvent(QPointF(5, 5), *how))


def turn_wheel(field: QWidget) -> QWheelEvent:
    """One step down over its middle; the event, which it may have accepted."""
    middle = QPointF(field.rect().center())
    event = QWheelEvent(
        middle,
        field.mapToGlobal(middle),
        QPoint(),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(field, event)
    return event


def answer(button: str) -> list[str]:
    """Press a button of the message box that comes next; what the box says is put into the list."""
    said: list[str] = []

    def press() -> None:
        box = QApplication.activeModalWidget()
        if not isinstance(box, QMessageBox):
            QTimer.singleShot(20, press)
            return
        said.append(f"{box.text()} {box.informativeText()}".strip())
        click(box, button)

    QTimer.singleShot(0, press)
    return said
