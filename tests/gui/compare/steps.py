"""What a person does on the Compare page, and what it shows then."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gui.compare.compare_page import ComparePage
from gui.widgets.value_table import TableModel

Save = Callable[[str, bytes], Path]


def press(
    widget: QWidget, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
) -> None:
    """Press a key where a user would: in the widget that has the keyboard."""
    widget.setFocus()
    QTest.keyClick(widget, key, modifier)


def choose(qtbot: QtBot, page: ComparePage, gold: Path, *files: Path) -> None:
    """Tick the run with the keyboard, add files, and open the labels."""
    view = page.choosing.systems.view
    view.setCurrentRow(0)
    press(view, Qt.Key.Key_Space)
    page.choosing.add_files(files)
    with qtbot.waitSignal(page.choosing.gold_changed):
        page.choosing.choose_gold(gold)


def compare(qtbot: QtBot, page: ComparePage) -> str:
    """Press Ctrl+Return and wait for the end; what the page says went wrong."""
    press(page.choosing.systems.view, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: not page._comparing.busy, timeout=20_000)
    return page.notice.text if page.notice.isVisible() else ""


def differences(qtbot: QtBot, page: ComparePage) -> list[list[str]]:
    """The cells of the list of differences once it is there."""
    found = page.view.differences
    qtbot.waitUntil(lambda: not (found._filtering.busy or found._typing.isActive()))
    columns = range(found.table.columnCount())
    return [
        [found.table.index(row, column).data() for column in columns] for row in range(found.table.rowCount())
    ]


def cells(table: TableModel) -> list[list[str]]:
    return [line.split("\t") for line in table.as_text().splitlines()]
