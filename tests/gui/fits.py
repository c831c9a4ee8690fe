"""What of a window is cut or covered, widget by widget.

Knows: how much room Qt's widgets ask for. Does not know: what they are for.
"""

from collections.abc import Iterator
from itertools import combinations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QComboBox,
    QHeaderView,
    QLabel,
    QLineEdit,
    QListView,
    QScrollBar,
    QSizeGrip,
    QSplitterHandle,
    QStatusBar,
    QTabBar,
    QTableView,
    QWidget,
)

_OF_TEXT = (QAbstractButton, QAbstractSpinBox, QComboBox, QLabel, QLineEdit, QTabBar)
_PLACED_BY_QT = (QAbstractItemView, QComboBox, QHeaderView, QLineEdit, QAbstractSpinBox, QStatusBar)
"""Whose inside is Qt's."""


def wrong_with(root: QWidget) -> list[str]:
    """What is cut or covered of all that is seen in a window, a line each."""
    seen = [widget for widget in root.findChildren(QWidget) if _is_seen(widget, root)]
    return [
        f"{_name(widget)}: {what}"
        for widget in seen
        for what in (
            *_too_small(widget),
            *_beyond(widget),
            *_covered(widget),
            *_cut_list(widget),
            *_cut_table(widget),
        )
    ]


def _is_seen(widget: QWidget, root: QWidget) -> bool:
    inside = widget.parentWidget()
    while inside is not None and inside is not root:
        if isinstance(inside, _PLACED_BY_QT):
            return False
        inside = inside.parentWidget()
    return widget.isVisible() and widget.window() is root.window()


def _name(widget: QWidget) -> str:
    text = getattr(widget, "text", lambda: "")() if isinstance(widget, QLabel | QAbstractButton) else ""
    path, parent = "", widget.parentWidget()
    while parent is not None and len(path) < 60:
        path, parent = f"{path} < {type(parent).__name__}", parent.parentWidget()
    return f"{type(widget).__name__} {(text or widget.accessibleName())[:30]!r}{path}"


def _too_small(widget: QWidget) -> Iterator[str]:
    """A text that is given less room than it takes."""
    if not isinstance(widget, _OF_TEXT):
        return
    needs = widget.sizeHint()
    if isinstance(widget, QLabel) and widget.wordWrap():
        needs.setHeight(widget.heightForWidth(widget.width()))
    if widget.height() < needs.height() - 1:
        yield f"{widget.height()} of {needs.height()} pixels high"
    if isinstance(widget, QAbstractButton | QTabBar) or type(widget) is QLabel:
        if not widget.wordWrap() if isinstance(widget, QLabel) else True:
            if widget.width() < needs.width() - 1:
                yield f"{widget.width()} of {needs.width()} pixels wide"


def _beyond(widget: QWidget) -> Iterator[str]:
    """What leaves its parent, where nothing can be scrolled to see it."""
    parent = widget.parentWidget()
    area = parent.parentWidget() if parent is not None else None
    room = parent.rect() if parent is not None else QRect()
    place = widget.geometry()
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
    """Parts of a widget that lie upon each other."""
    parts = [
        child
        for child in parent.children()
        if isinstance(child, QWidget)
        and child.isVisible()
        and not child.isWindow()
        and not isinstance(child, QSplitterHandle | QSizeGrip)
    ]
    if isinstance(parent, (*_PLACED_BY_QT, QAbstractScrollArea)):
        return
    for one, other in combinations(parts, 2):
        common = one.geometry() & other.geometry()
        if common.width() > 1 and common.height() > 1:
            yield f"{_name(one)} lies upon {_name(other)}"


def _cut_table(view: QWidget) -> Iterator[str]:
    """Titles and rows of a table that have less room than their texts."""
    if not isinstance(view, QTableView) or not view.model().rowCount():
        return
    header, model = view.horizontalHeader(), view.model()
    bold = QFont(header.font())
    bold.setWeight(QFont.Weight.DemiBold)
    for column in range(model.columnCount()):
        title = str(model.headerData(column, Qt.Orientation.Horizontal) or "")
        needs, room = QFontMetrics(bold).horizontalAdvance(title), header.sectionSize(column)
        if not view.isColumnHidden(column) and needs > room:
            yield f"title {title!r} takes {needs} of {room} pixels"
    lines = max(
        str(model.index(0, column).data() or "").count("\n") + 1 for column in range(model.columnCount())
    )
    if lines * view.fontMetrics().height() > view.rowHeight(0):
        yield f"rows of {lines} lines, {view.rowHeight(0)} pixels high"


def _cut_list(widget: QWidget) -> Iterator[str]:
    """Entries of a list that are not seen whole."""
    if isinstance(widget, QListView):
        model = widget.model()
        for row in range(model.rowCount()):
            index = model.index(row, 0)
            needs, room = widget.sizeHintForIndex(index).width(), widget.viewport().width()
            if needs > room + 1 and not _scrolls(widget.horizontalScrollBar()):
                yield f"{index.data()!r} takes {needs} of {room} pixels"
