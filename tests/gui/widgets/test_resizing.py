"""Lines between parts and edges of columns, moved by keys."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QHeaderView, QListWidget, QSplitter, QTableView, QWidget
from pytestqt.qtbot import QtBot

from gui.widgets.value_table import resize_column, resize_part

ACROSS, DOWN = Qt.Orientation.Horizontal, Qt.Orientation.Vertical


@pytest.fixture
def parts(qtbot: QtBot) -> QSplitter:
    """Three parts side by side; the last one has two buttons above each other."""
    made, last = QSplitter(ACROSS), QSplitter(DOWN)
    for splitter, count in ((made, 2), (last, 2)):
        for _ in range(count):
            splitter.addWidget(QListWidget())
        splitter.setChildrenCollapsible(False)
    made.addWidget(last)
    qtbot.addWidget(made)
    made.resize(900, 600)
    made.setSizes([300, 300, 300])
    last.setSizes([300, 300])
    with qtbot.waitActive(made):
        made.show()
        made.activateWindow()
    return made


def go_to(qtbot: QtBot, widget: QWidget | None) -> None:
    assert widget is not None
    widget.setFocus()
    qtbot.waitUntil(widget.hasFocus)


@pytest.mark.parametrize("place", [0, 1])
def test_a_part_takes_room_from_the_next_one_and_gives_it_back(
    qtbot: QtBot, parts: QSplitter, place: int
) -> None:
    before = parts.sizes()
    go_to(qtbot, parts.widget(place))
    assert resize_part(ACROSS, larger=True)
    now = parts.sizes()
    assert now[place] > before[place]
    assert now[place] + now[place + 1] == before[place] + before[place + 1]
    assert resize_part(ACROSS, larger=False)
    assert parts.sizes() == before


def test_the_last_part_takes_it_from_the_one_before(qtbot: QtBot, parts: QSplitter) -> None:
    before, last = parts.sizes(), parts.widget(2)
    assert isinstance(last, QSplitter)
    go_to(qtbot, last.widget(1))
    assert resize_part(ACROSS, larger=True)
    assert parts.sizes()[2] > before[2]
    assert parts.sizes()[0] == before[0]
    above, below = last.sizes()
    assert resize_part(DOWN, larger=True)
    assert last.sizes()[1] > below
    assert sum(last.sizes()) == above + below


def test_a_hidden_part_gives_no_room_and_a_part_alone_gets_none(qtbot: QtBot, parts: QSplitter) -> None:
    first, second, last = (parts.widget(place) for place in range(3))
    assert first is not None
    assert second is not None
    assert last is not None
    second.hide()
    go_to(qtbot, first)
    before = parts.sizes()
    assert resize_part(ACROSS, larger=True)
    assert parts.sizes()[0] > before[0]
    assert not resize_part(DOWN, larger=True)
    last.hide()
    assert not resize_part(ACROSS, larger=True)


def test_a_part_is_never_lost(qtbot: QtBot, parts: QSplitter) -> None:
    first = parts.widget(0)
    assert first is not None
    go_to(qtbot, first)
    for _ in range(200):
        resize_part(ACROSS, larger=False)
    assert parts.sizes()[0] == first.minimumSizeHint().width()


@pytest.mark.parametrize("mode", [QHeaderView.ResizeMode.Interactive, QHeaderView.ResizeMode.Fixed])
def test_the_column_with_the_keys_changes_where_a_mouse_could(
    qtbot: QtBot, mode: QHeaderView.ResizeMode
) -> None:
    view = QTableView()
    qtbot.addWidget(view)
    view.setModel(QStandardItemModel(2, 2, view))
    view.horizontalHeader().setSectionResizeMode(mode)
    with qtbot.waitActive(view):
        view.show()
        view.activateWindow()
    go_to(qtbot, view)
    view.setCurrentIndex(view.model().index(0, 1))
    before = view.columnWidth(1)
    can_be = mode is QHeaderView.ResizeMode.Interactive
    assert resize_column(wider=True) is can_be
    assert (view.columnWidth(1) > before) is can_be
    for _ in range(50):
        resize_column(wider=False)
    least = view.horizontalHeader().minimumSectionSize()
    assert view.columnWidth(1) == (least if can_be else before)
    assert view.columnWidth(0) == before
