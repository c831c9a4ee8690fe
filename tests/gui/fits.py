"""What of a window is cut or covered, widget by widget."""

from collections.abc import Iterator
from itertools import combinations

from PySide6 import QtWidgets
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QLabel,
    QListView,
    QScrollBar,
    QTableView,
    QWidget,
)

from gui.widgets.actions import CurrentChoice
from gui.widgets.foreign_text import OneLine
from gui.widgets.labels import Painted

_EDITED = (QtWidgets.QAbstractSpinBox, QtWidgets.QComboBox, QtWidgets.QLineEdit)
_OF_TEXT = (*_EDITED, QAbstractButton, QLabel)
_VIEWS = (QtWidgets.QAbstractItemView, QtWidgets.QHeaderView, QtWidgets.QStatusBar, QtWidgets.QTabBar)
_INSIDE_OF_QT = (*_EDITED, *_VIEWS)
_UPON_OTHERS = (QtWidgets.QSizeGrip, QtWidgets.QSplitterHandle)
_LONG = 40  # letters


def wrong_with(root: QWidget) -> list[str]:
    """What is cut or covered of all that is seen in a window, a line each."""
    rules = (_small_texts, _beyond, _covered, _cut_tables, _cut_lists)
    return [f"{_name(widget)}: {what}" for widget in _seen(root) for rule in rules for what in rule(widget)]


def _seen(root: QWidget) -> Iterator[QWidget]:
    """All that is seen in a widget, but for what Qt itself puts into its own."""
    for part in _parts(root):
        yield part
        yield from () if isinstance(part, _INSIDE_OF_QT) else _seen(part)


def _parts(widget: QWidget) -> list[QWidget]:
    parts = (child for child in widget.children() if isinstance(child, QWidget))
    return [part for part in parts if part.isVisible() and not part.isWindow()]


def _name(widget: QWidget) -> str:
    text = widget.accessibleName()
    if isinstance(widget, QLabel | QAbstractButton) and not isinstance(widget, Painted):
        text = widget.text()
    path, parent = "", widget.parentWidget()
    while parent is not None and len(path) < 60:
        path, parent = f"{path} < {type(parent).__name__}", parent.parentWidget()
    return f"{type(widget).__name__} {text[:30]!r}{path}"


def _small_texts(widget: QWidget) -> Iterator[str]:
    """A text that is given less room than it takes, unless it leaves something out by itself."""
    if not isinstance(widget, _OF_TEXT) or isinstance(widget, Painted):
        return
    needs, wraps = widget.sizeHint(), isinstance(widget, QLabel) and widget.wordWrap()
    if wraps:
        needs.setHeight(widget.heightForWidth(widget.width()))
    if widget.height() < needs.height() - 1:
        yield f"{widget.height()} of {needs.height()} pixels high"
    elided = wraps or isinstance(widget, OneLine | CurrentChoice)
    whole = isinstance(widget, QAbstractButton | QLabel) and not elided
    if whole and widget.width() < needs.width() - 1:
        yield f"{widget.width()} of {needs.width()} pixels wide"


def _beyond(widget: QWidget) -> Iterator[str]:
    """What leaves its parent, where nothing is scrolled to see it."""
    parent = widget.parentWidget()
    if parent is None:
        return
    area, place, room = parent.parentWidget(), widget.geometry(), parent.rect()
    if isinstance(area, QAbstractScrollArea) and area.viewport() is parent:
        if place.width() > room.width() + 1 and not _scrolls(area.horizontalScrollBar()):
            yield f"{place.width()} pixels wide in a view of {room.width()}"
        if place.height() > room.height() + 1 and not _scrolls(area.verticalScrollBar()):
            yield f"{place.height()} pixels high in a view of {room.height()}"
    elif not room.adjusted(-1, -1, 1, 1).contains(place):
        yield f"at {place.getRect()}, beyond its parent of {room.width()} x {room.height()}"


def _scrolls(bar: QScrollBar) -> bool:
    return bar.isVisible() and bar.maximum() > 0


def _covered(parent: QWidget) -> Iterator[str]:
    if isinstance(parent, (*_INSIDE_OF_QT, QAbstractScrollArea)):
        return
    for one, other in combinations(_parts(parent), 2):
        common = one.geometry() & other.geometry()
        upon = isinstance(one, _UPON_OTHERS) or isinstance(other, _UPON_OTHERS)
        if common.width() > 1 and common.height() > 1 and not upon:
            yield f"{_name(one)} lies upon {_name(other)}"


def _cut_tables(view: QWidget) -> Iterator[str]:
    if not isinstance(view, QTableView) or not view.model().rowCount():
        return
    header, model = view.horizontalHeader(), view.model()
    bold = QFont(header.font())
    bold.setWeight(QFont.Weight.DemiBold)
    for column in range(model.columnCount()):
        title = str(model.headerData(column, Qt.Orientation.Horizontal) or "")
        needs, room = QFontMetrics(bold).horizontalAdvance(title), header.sectionSize(column)
        tip = model.headerData(column, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
        if needs > room and not (view.isColumnHidden(column) or _is_whole_in(tip, title)):
            yield f"title {title!r} takes {needs} of {room} pixels"
    row = [str(model.index(0, column).data() or "") for column in range(model.columnCount())]
    needs = max(text.count("\n") + 1 for text in row) * view.fontMetrics().height()
    room = min(view.rowHeight(0), view.viewport().height())
    if needs > room:
        yield f"a row takes {needs} of {room} pixels"


def _is_whole_in(tip: object, text: str) -> bool:
    """Whether a text is a long one, such as a name that somebody gave, and whole in its tool tip."""
    return len(text) > _LONG and text[:_LONG] in str(tip)


def _cut_lists(view: QWidget) -> Iterator[str]:
    if not isinstance(view, QListView) or _scrolls(view.horizontalScrollBar()):
        return
    for row in range(view.model().rowCount()):
        index = view.model().index(row, 0)
        needs, room = view.sizeHintForIndex(index).width(), view.viewport().width()
        if needs > room + 1 and not _is_whole_in(index.data(Qt.ItemDataRole.ToolTipRole), index.data()):
            yield f"{index.data()!r} takes {needs} of {room} pixels"
