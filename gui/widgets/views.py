"""Tables and lists as the whole window uses them, whatever is in them."""

import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from PySide6 import QtGui
from PySide6.QtCore import QAbstractItemModel, QModelIndex, QRectF, Qt, QTimer
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QListWidget, QTableView, QWidget

from engine.core.tables import latex_label, latex_table, markdown_table
from gui.widgets.actions import add_key
from gui.widgets.theme import colours, draw_frame
from gui.widgets.value_table import Index, TableModel

if TYPE_CHECKING:
    _View = QAbstractItemView
else:
    _View = object

View = TypeVar("View", bound="RowsView")
_BESIDE_TITLE = 14  # pixels
_BESIDE_LINES = 10
_SHARE = "100.0"  # the longest
_TELLS_VIEW_ALONE = sys.platform.startswith("linux")
"""There Qt tells who reads the screen of a table or list that got the keys, elsewhere of the row in it."""
_AFTER_VIEW_MS = 100  # of a window that was just opened Qt tells the view later than it gives the keys to it


class RowFrame(_View):
    """Frames the row that has the keys, and tells it to a screen reader; stands before Qt's own class."""

    def focusInEvent(self, event: QtGui.QFocusEvent) -> None:
        super().focusInEvent(event)
        if _TELLS_VIEW_ALONE and QtGui.QAccessible.isActive():
            QTimer.singleShot(_AFTER_VIEW_MS, self, self._tell_row)

    def _tell_row(self) -> None:
        told = QtGui.QAccessible.queryAccessibleInterface(self) if self.hasFocus() else None
        cell = told.focusChild() if told is not None else None
        if cell is not None:
            QtGui.QAccessible.updateAccessibility(QtGui.QAccessibleEvent(cell, QtGui.QAccessible.Event.Focus))

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        super().paintEvent(event)
        place = self.visualRect(self.currentIndex())
        if place.isEmpty():
            return
        if self.selectionBehavior() is QAbstractItemView.SelectionBehavior.SelectRows:
            place.setLeft(0)
            place.setRight(self.viewport().width() - 1)
        if self.hasFocus():
            draw_frame(self.viewport(), QRectF(place), colours(self.palette()).accent, 2)
        elif self.selectionModel() is not None and self.selectionModel().isSelected(self.currentIndex()):
            # What is chosen has a ground that is hardly another one for many eyes: a bar at its left, too.
            painter = QtGui.QPainter(self.viewport())
            place.setWidth(3)
            painter.fillRect(place, QtGui.QColor(colours(self.palette()).accent))
            painter.end()

    def currentChanged(self, now: Index, before: Index) -> None:
        # Qt paints the cells alone anew
        super().currentChanged(now, before)
        self.viewport().update()


class ListView(RowFrame, QListWidget):
    """A list of words."""


class RowsView(RowFrame, QTableView):
    """A table whose rows are `lines` of text high; `fit_rows` when the size of the text is another."""

    def __init__(self, parent: QWidget | None = None, lines: int = 1) -> None:
        super().__init__(parent)
        self._lines = lines

    def doItemsLayout(self) -> None:
        # Else each change of the look would let Qt measure all columns of all pages: .2 s of the text size's.
        if self.isVisible():
            super().doItemsLayout()
        else:
            self.scheduleDelayedItemsLayout()

    def moveCursor(self, action: QTableView.CursorAction, keys: Qt.KeyboardModifier) -> QModelIndex:
        # Home and End go to the first and last row; Qt would go to the first and last cell of this one.
        if action in (self.CursorAction.MoveHome, self.CursorAction.MoveEnd):
            keys |= Qt.KeyboardModifier.ControlModifier
        return super().moveCursor(action, keys)

    def fit_rows(self) -> None:
        self.verticalHeader().setDefaultSectionSize(
            self._lines * self.fontMetrics().lineSpacing() + _BESIDE_LINES
        )


class FillingView(RowsView):
    def __init__(self, parent: QWidget | None = None, lines: int = 1) -> None:
        super().__init__(parent, lines)
        self._least: dict[int, int] = {}
        self._sharing = False
        self.horizontalHeader().sectionResized.connect(self._share)

    def fill(self, least: Mapping[int, int]) -> None:
        self._least = dict(least)
        self._share()

    def title_width(self, column: int) -> int:
        font = QtGui.QFont(self.font())
        font.setWeight(QtGui.QFont.Weight.DemiBold)
        title = self.model().headerData(column, Qt.Orientation.Horizontal)
        return QtGui.QFontMetrics(font).horizontalAdvance(str(title)) + _BESIDE_TITLE

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share()

    def _share(self) -> None:
        # Every change of a column comes back here as a signal.
        if self._sharing or not self._least or self.model() is None:
            return
        self._sharing = True
        header = self.horizontalHeader()
        others = set(range(header.count())) - self._least.keys()
        taken = sum(map(header.sectionSize, others)) + sum(self._least.values())
        free = max(0, self.viewport().width() - taken)
        more, rest = divmod(free, len(self._least))
        for place, (column, least) in enumerate(self._least.items()):
            header.resizeSection(column, least + more + (place < rest))
        self._sharing = False


class _WholeView(FillingView):
    """As high as its rows; shaded columns share the room. `widest`: of a column, in average characters."""

    def __init__(self, widest: int | None = None) -> None:
        super().__init__()
        self._widest = widest

    def fit_rows(self) -> None:
        super().fit_rows()
        title, rows = self.horizontalHeader(), self.verticalHeader()
        title.ensurePolished()  # on a tab that nobody has seen it is not
        if self._widest is not None:
            title.setMaximumSectionSize(self._widest * self.fontMetrics().averageCharWidth())
        self._fit_columns()
        height = title.sizeHint().height() + self.model().rowCount() * rows.defaultSectionSize()
        self.setFixedHeight(height + 2 * self.frameWidth() + self.horizontalScrollBar().sizeHint().height())

    def _fit_columns(self) -> None:
        # Once, as wide as what is in them. By Qt's own mode they would be measured at each change of a size.
        model = self.model()
        shaded = model.shaded if isinstance(model, TableModel) else []
        title = self.horizontalHeader()
        for column in set(range(title.count())) - set(shaded):
            self.resizeColumnToContents(column)
        if shaded or self._least:
            # There each cell tells of something else, so that the keys go from cell to cell.
            behavior = QAbstractItemView.SelectionBehavior
            self.setSelectionBehavior(behavior.SelectItems if shaded else behavior.SelectRows)
            # What is chosen would have the colour of another value; the frame shows where the keys are.
            modes = QAbstractItemView.SelectionMode
            self.setSelectionMode(modes.NoSelection if shaded else modes.SingleSelection)
            # Names of models differ at their ends.
            elide = Qt.TextElideMode
            title.setTextElideMode(elide.ElideMiddle if shaded else elide.ElideRight)
        least = self.fontMetrics().horizontalAdvance(_SHARE) + _BESIDE_TITLE
        self.fill(dict.fromkeys(shaded, least))


def table_view(model: QAbstractItemModel, accessible: str) -> RowsView:
    """A view of whole rows, without grid, with rows one line high."""
    return dressed(RowsView(), model, accessible)


def dressed(view: View, model: QAbstractItemModel, accessible: str) -> View:
    view.setAccessibleName(accessible)
    view.setModel(model)
    view.setShowGrid(False)
    view.setAlternatingRowColors(True)
    view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    # Tab leads to the next control of the page, not through thousands of cells.
    view.setTabKeyNavigation(False)
    view.setWordWrap(False)
    view.setTextElideMode(Qt.TextElideMode.ElideRight)
    view.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideRight)
    # By whole columns a wide one could never be seen to its end.
    view.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    rows = view.verticalHeader()
    rows.setVisible(False)
    rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    rows.setMinimumSectionSize(1)  # else the header's own font, which changes later, keeps rows high
    view.fit_rows()
    view.horizontalHeader().setHighlightSections(False)
    return view


def measure_view(model: TableModel, accessible: str, widest: int | None = None) -> RowsView:
    """A small table shown whole, each column at most `widest` characters; Ctrl+C and its menu copy it."""
    view = dressed(_WholeView(widest), model, accessible)
    view.setProperty("role", "whole")
    view.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    header = view.horizontalHeader()
    header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    header.setStretchLastSection(False)
    model.modelReset.connect(view.fit_rows)
    # Several such tables stand on one page; Ctrl+C is for the one that has the focus.
    add_key(view, QtGui.QKeySequence.StandardKey.Copy, partial(_copy, model.as_text))
    view.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)

    def as_latex() -> str:
        title = view.accessibleName()
        return latex_table(model.table, title, latex_label(title))

    as_markdown = ("Copy as &Markdown", lambda: markdown_table(model.table))
    for words, text in (("&Copy", model.as_text), ("Copy as &LaTeX", as_latex), as_markdown):
        action = QtGui.QAction(words, view)
        action.triggered.connect(partial(_copy, text))
        view.addAction(action)
    return view


def _copy(text: Callable[[], str], _checked: bool = False) -> None:
    QtGui.QGuiApplication.clipboard().setText(text())
