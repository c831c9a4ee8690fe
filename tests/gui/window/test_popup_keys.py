"""Keys while a list or a menu is open: they choose there, and no key of the page is pressed."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMainWindow, QMenu, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gui.widgets.fields import ComboBox
from gui.window.start import PopupKeys


class ShownPage(QWidget):
    """A page with the key S, a list and a menu."""

    def __init__(self) -> None:
        super().__init__()
        self.pressed: list[str] = []
        self.box = ComboBox()
        self.box.addItems(["accuracy", "safety"])
        self.menu = QMenu(self)
        self.menu.addAction("&Ada", lambda: self.pressed.append("chosen: Ada"))
        self.menu.addAction("&Sam", lambda: self.pressed.append("chosen: Sam"))
        QVBoxLayout(self).addWidget(self.box)
        key = QShortcut(QKeySequence("S"), self)
        key.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        key.activated.connect(lambda: self.pressed.append("key of the page"))


@pytest.fixture
def page(qtbot: QtBot, qapp: QApplication) -> Iterator[ShownPage]:
    keys = PopupKeys(qapp)
    frame, made = QMainWindow(), ShownPage()
    qtbot.addWidget(frame)
    frame.setCentralWidget(made)
    frame.menuBar().addMenu("&File").addAction("&Quit", lambda: made.pressed.append("chosen: Quit"))
    with qtbot.waitActive(frame):
        frame.show()
    made.box.setFocus()
    yield made
    keys.setParent(None)
    keys.deleteLater()


def press(key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    """As the system does: the window that has the keyboard is told."""
    window = QApplication.focusWindow()
    assert window is not None
    QTest.keyClick(window, key, modifier)


def test_a_key_in_an_open_list_searches_there(page: ShownPage, qtbot: QtBot) -> None:
    page.box.showPopup()
    qtbot.waitUntil(lambda: QApplication.activePopupWidget() is not None)
    press(Qt.Key.Key_S)
    assert page.pressed == []
    assert page.box.view().currentIndex().row() == 1
    press(Qt.Key.Key_Return)
    assert (page.box.currentText(), page.box.view().isVisible()) == ("safety", False)


def test_escape_leaves_an_open_list_as_it_was(page: ShownPage, qtbot: QtBot) -> None:
    page.box.showPopup()
    qtbot.waitUntil(lambda: QApplication.activePopupWidget() is not None)
    press(Qt.Key.Key_Down)
    press(Qt.Key.Key_Escape)
    assert (page.box.currentText(), page.box.view().isVisible()) == ("accuracy", False)


def test_a_key_in_an_open_menu_chooses_there(page: ShownPage, qtbot: QtBot) -> None:
    page.menu.popup(page.mapToGlobal(page.rect().center()))
    qtbot.waitUntil(lambda: QApplication.activePopupWidget() is page.menu)
    press(Qt.Key.Key_S)
    assert page.pressed == ["chosen: Sam"]


def test_a_key_that_chooses_nothing_in_a_menu_of_the_bar_does_nothing(page: ShownPage, qtbot: QtBot) -> None:
    frame = page.window()
    assert isinstance(frame, QMainWindow)
    menu = frame.menuBar().actions()[0].menu()
    press(Qt.Key.Key_F, Qt.KeyboardModifier.AltModifier)
    qtbot.waitUntil(lambda: QApplication.activePopupWidget() is menu)
    page.box.setFocus()  # where it was, as on some systems
    press(Qt.Key.Key_S)
    assert page.pressed == []
    press(Qt.Key.Key_Q)
    assert page.pressed == ["chosen: Quit"]


def test_a_key_without_a_popup_is_one_of_the_page(page: ShownPage) -> None:
    press(Qt.Key.Key_S)
    assert page.pressed == ["key of the page"]
