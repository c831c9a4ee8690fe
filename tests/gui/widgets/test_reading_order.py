"""Tab goes as one reads, whatever came into the window when."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gui.widgets.actions import ReadingOrder
from gui.widgets.labels import as_column, in_column, in_row, scrolling


class ShownWindow(ReadingOrder, QWidget):
    """Two rows; in the second two columns of two buttons, the left one filled last."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = in_column(), in_column()
        in_column(in_row(self.button("head"), self.button("more")), in_row(self.left, self.right), on=self)
        for text in ("right above", "right below"):
            self.right.addWidget(self.button(text))
        for text in ("left below", "left above"):
            self.left.insertWidget(0, self.button(text))

    def button(self, text: str) -> QPushButton:
        return QPushButton(text)


@pytest.fixture
def shown(qtbot: QtBot) -> ShownWindow:
    window = ShownWindow()
    qtbot.addWidget(window)
    with qtbot.waitActive(window):
        window.show()
    return window


def texts(key: Qt.Key, window: QWidget, presses: int) -> list[str]:
    """What has the keys now, and after each press."""
    found = []
    for _ in range(presses + 1):
        now = QApplication.focusWidget()
        assert isinstance(now, QPushButton)
        found.append(now.text())
        QTest.keyClick(window.windowHandle(), key)
    return found


def first(window: QWidget) -> QPushButton:
    return next(each for each in window.findChildren(QPushButton) if each.text() == "head")


READ = ["head", "more", "left above", "left below", "right above", "right below", "head"]


def test_rows_from_the_top_and_columns_whole_and_round_again(shown: ShownWindow) -> None:
    first(shown).setFocus()
    assert texts(Qt.Key.Key_Tab, shown, 6) == READ


def test_back_the_same_way(shown: ShownWindow) -> None:
    first(shown).setFocus()
    assert texts(Qt.Key.Key_Backtab, shown, 6) == READ[::-1]


def test_a_proxy_for_the_keys_hides_nothing_that_stands_before_it(shown: ShownWindow) -> None:
    """As a page gives its keys to its list: Qt would jump over the page's head."""
    outside = ShownWindow()
    outside.setFocusProxy(outside.findChildren(QPushButton)[-1])
    shown.right.addWidget(outside)
    first(shown).setFocus()
    assert texts(Qt.Key.Key_Tab, shown, 6)[-1] == "head"
    assert texts(Qt.Key.Key_Tab, shown, 4)[:2] == ["more", "left above"]


def test_what_vanishes_under_the_keys_gives_them_to_what_stood_after_it(shown: ShownWindow) -> None:
    above = next(each for each in shown.findChildren(QPushButton) if each.text() == "left above")
    above.setFocus()
    above.hide()
    assert texts(Qt.Key.Key_Tab, shown, 0) == ["left below"]


def test_what_tab_comes_to_is_scrolled_into_sight(qtbot: QtBot, shown: ShownWindow) -> None:
    far = QPushButton("far below")
    inside = as_column(*(QWidget() for _ in range(3)), far)
    inside.setMinimumHeight(3000)
    area = scrolling(inside)
    area.setFixedHeight(60)
    shown.right.addWidget(area)
    last = next(each for each in shown.findChildren(QPushButton) if each.text() == "right below")
    last.setFocus()
    qtbot.waitUntil(area.isVisible)
    assert texts(Qt.Key.Key_Tab, shown, 0) == ["right below"]
    assert QApplication.focusWidget() is far
    assert not far.visibleRegion().isEmpty()
