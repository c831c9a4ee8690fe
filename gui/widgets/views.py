"""Tables and lists as the whole window uses them, whatever is in them: columns with heads over rows of any
kind; parts and columns resized by keys. Tables of the engine hold values in its words; headers and names of
rows get a capital letter here.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6 import QtCore, QtGui, QtWidgets
from PySide6.QtCore import QModelIndex, QObject, QRectF, Qt, QTimer
from PySide6.QtWidgets import QWidget

from engine.core import tables
from engine.core.formatting import words
from engine.core.tables import Column, Estimate, ItemsBehind, Kind, Table, Value
from gui.widgets.actions import add_key
from gui.widgets.foreign_text import one_line, tip
from gui.widgets.theme import colours, draw_frame

_STEP = 4  # mean characters


def resize_part(direction: Qt.Orientation, larger: bool) -> bool:
    """Resize the part of the window that has the keys; False where none is beside it in this direction."""
    part = QtWidgets.QApplication.focusWidget()
    while part is not None and not _resized(part, direction, larger):
        part = part.parentWidget()
    return part is not None


def _resized(part: QWidget, direction: Qt.Orientation, larger: bool) -> bool:
    splitter = part.parentWidget()
    if not isinstance(splitter, QtWidgets.QSplitter) or splitter.orientation() != direction:
        return False
    parts = [splitter.widget(place) for place in range(splitter.count())]
    shown = [place for place, each in enumerate(parts) if each is not None and not each.isHidden()]
    if len(shown) == 1:
        return False
    at = shown.index(splitter.indexOf(part))
    is_last = at == len(shown) - 1
    line = shown[at] if is_last else shown[at + 1]  # each has the number of the part after it
    edge = splitter.handle(line).pos()
    before = edge.x() if direction is Qt.Orientation.Horizontal else edge.y()
    splitter.moveSplitter(before + _step(part, forward=larger is not is_last), line)
    return True


def resize_column(wider: bool) -> bool:
    """Resize the column of the cell that has the keys; False where no mouse could."""
    view = QtWidgets.QApplication.focusWidget()
    if not isinstance(view, QtWidgets.QTableView) or not view.currentIndex().isValid():
        return False
    header, column = view.horizontalHeader(), view.currentIndex().column()
    if header.sectionResizeMode(column) is not QtWidgets.QHeaderView.ResizeMode.Interactive:
        return False
    width = header.sectionSize(column) + _step(view, forward=wider)
    header.resizeSection(column, max(width, header.minimumSectionSize()))
    return True


def _step(widget: QWidget, forward: bool) -> int:
    pixels = _STEP * widget.fontMetrics().averageCharWidth()
    return pixels if forward else -pixels


SORT_ROLE = int(Qt.ItemDataRole.UserRole) + 1
VALUE_ROLE = int(Qt.ItemDataRole.UserRole) + 2
Index = QModelIndex | QtCore.QPersistentModelIndex
_NOTHING = Table((), ())
_Role = Qt.ItemDataRole
_OF_SHADES = (_Role.BackgroundRole, _Role.ForegroundRole, _Role.AccessibleTextRole)


@dataclass(frozen=True)
class Head:
    """Of a column: its title, what it holds (said by a tool tip), whether these are numbers."""

    title: str
    meaning: str = ""
    is_number: bool = False

    @property
    def alignment(self) -> int:
        side = Qt.AlignmentFlag.AlignRight if self.is_number else Qt.AlignmentFlag.AlignLeft
        return int(side | Qt.AlignmentFlag.AlignVCenter)


class HeadedModel(QtCore.QAbstractTableModel):
    def __init__(self, heads: Sequence[Head] = (), parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._heads = heads
        self._shown: Sequence[Any] = ()  # a row for each, unless a subclass counts them otherwise

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else self._count_rows()

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._heads)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(self._heads):
            return None
        head = self._heads[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return one_line(head.title)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return head.alignment
        return tip(head.meaning) if role == Qt.ItemDataRole.ToolTipRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if index.isValid() and role == Qt.ItemDataRole.TextAlignmentRole:
            return self._heads[index.column()].alignment
        return None

    def _count_rows(self) -> int:
        return len(self._shown)

    @contextmanager
    def _changing(self, alike: bool = False) -> Iterator[None]:
        """Something else is shown inside; `alike`: by as many rows, so that views keep their place."""
        if not alike:
            self.beginResetModel()
        yield
        if alike:
            self._tell_changed(0, self._count_rows() - 1)
        else:
            self.endResetModel()

    def _tell_changed(self, first: int, last: int) -> None:
        if first <= last:
            self.dataChanged.emit(self.index(first, 0), self.index(last, len(self._heads) - 1))


class TableModel(HeadedModel):
    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent=parent)
        self._table = _NOTHING
        self._bold = QtGui.QFont()
        self._bold.setBold(True)

    def show_table(self, table: Table) -> None:
        with self._changing():
            self._table = table
            self._heads = [
                Head(self._title(place), column.meaning, column.kind.is_number)
                for place, column in enumerate(table.columns)
            ]

    @property
    def table(self) -> Table:
        return self._table

    @property
    def shaded(self) -> list[int]:
        return [place for place, column in enumerate(self._table.columns) if column.shaded]

    def behind(self, row: int, column: int = 0) -> ItemsBehind | None:
        """The items that a cell tells of, else those of its row, where it is known which they are."""
        of_row = self._table.behind[row] if self._table.behind else None
        return self._table.behind_cells.get((row, column), of_row)

    def clear(self) -> None:
        self.show_table(_NOTHING)

    def as_text(self) -> str:
        return self._table.with_tabs()

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        column = self._table.columns[index.column()]
        value = self._table.rows[index.row()][index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            text = column.text(
                replace(value, ends=None) if column.shaded and isinstance(value, Estimate) else value
            )
            return one_line(sentence_case(text) if column.kind is Kind.NAME else text)
        if role == Qt.ItemDataRole.ToolTipRole:
            behind = self._table.behind_cells.get((index.row(), index.column()))
            text = column.text(value)
            return tip(f"{behind.words}: {text}" if behind is not None else text)
        if role == SORT_ROLE:
            return column.sort_key(value)
        return value if role == VALUE_ROLE else self._marked(index, role)

    def _marked(self, index: Index, role: int) -> Any:
        column = self._table.columns[index.column()]
        best = (index.row(), index.column()) in self._table.best
        if best and role == Qt.ItemDataRole.FontRole:
            return self._bold
        if column.shaded and role in _OF_SHADES:
            return self._shade(column, self._table.rows[index.row()][index.column()], best, role)
        if best and role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{self.data(index)}, the best"
        return super().data(index, role)

    @staticmethod
    def _shade(column: Column, value: Value, best: bool, role: int) -> Any:
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{column.text(value)}, stands out" if best else column.text(value)
        if not isinstance(value, Estimate):
            return None
        used = colours(
            QtGui.QGuiApplication.palette()
        )  # asked for each painting: the theme may be another by then
        colour = used.text if role == Qt.ItemDataRole.ForegroundRole else used.shade(value.value)
        return QtGui.QBrush(QtGui.QColor(colour))

    def _count_rows(self) -> int:
        return len(self._table.rows)

    def _title(self, section: int) -> str:
        """The name of a column in the window's words: `Both good` for the label `both_good`."""
        column = self._table.columns[section]
        return column.title if column.foreign else sentence_case(words(column.title))


def sentence_case(text: str) -> str:
    return text[:1].upper() + text[1:]


if TYPE_CHECKING:
    _View = QtWidgets.QAbstractItemView
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
        if self.selectionBehavior() is QtWidgets.QAbstractItemView.SelectionBehavior.SelectRows:
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


class ListView(RowFrame, QtWidgets.QListWidget):
    """A list of words."""

    def put(
        self, text: str, data: object, what: str, ticked: bool | None = None
    ) -> QtWidgets.QListWidgetItem:
        """One more entry, with a box to tick unless `ticked` is None; `what`: its tool tip."""
        entry = QtWidgets.QListWidgetItem(one_line(text))
        entry.setData(Qt.ItemDataRole.UserRole, data)
        entry.setToolTip(tip(what))
        if ticked is not None:
            entry.setCheckState(Qt.CheckState.Checked if ticked else Qt.CheckState.Unchecked)
        self.addItem(entry)
        return entry


class RowsView(RowFrame, QtWidgets.QTableView):
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

    def moveCursor(self, action: QtWidgets.QTableView.CursorAction, keys: Qt.KeyboardModifier) -> QModelIndex:
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
            behavior = QtWidgets.QAbstractItemView.SelectionBehavior
            self.setSelectionBehavior(behavior.SelectItems if shaded else behavior.SelectRows)
            # What is chosen would have the colour of another value; the frame shows where the keys are.
            modes = QtWidgets.QAbstractItemView.SelectionMode
            self.setSelectionMode(modes.NoSelection if shaded else modes.SingleSelection)
            # Names of models differ at their ends.
            elide = Qt.TextElideMode
            title.setTextElideMode(elide.ElideMiddle if shaded else elide.ElideRight)
        least = self.fontMetrics().horizontalAdvance(_SHARE) + _BESIDE_TITLE
        self.fill(dict.fromkeys(shaded, least))


def shown_cell(
    delegate: QtWidgets.QStyledItemDelegate, option: QtWidgets.QStyleOptionViewItem, index: Index
) -> tuple[QtWidgets.QStyleOptionViewItem, QtWidgets.QStyle]:
    """A cell as Qt would draw it, for a delegate that draws some of it otherwise, and the style that does."""
    shown = QtWidgets.QStyleOptionViewItem(option)
    delegate.initStyleOption(shown, index)
    return shown, shown.widget.style() if shown.widget else QtWidgets.QApplication.style()


def table_view(model: QtCore.QAbstractItemModel, accessible: str) -> RowsView:
    """A view of whole rows, without grid, with rows one line high."""
    return dressed(RowsView(), model, accessible)


def dressed(view: View, model: QtCore.QAbstractItemModel, accessible: str) -> View:
    view.setAccessibleName(accessible)
    view.setModel(model)
    view.setShowGrid(False)
    view.setAlternatingRowColors(True)
    view.setSelectionBehavior(QtWidgets.QAbstractItemView.SelectionBehavior.SelectRows)
    view.setSelectionMode(QtWidgets.QAbstractItemView.SelectionMode.SingleSelection)
    view.setEditTriggers(QtWidgets.QAbstractItemView.EditTrigger.NoEditTriggers)
    # Tab leads to the next control of the page, not through thousands of cells.
    view.setTabKeyNavigation(False)
    view.setWordWrap(False)
    view.setTextElideMode(Qt.TextElideMode.ElideRight)
    view.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideRight)
    # By whole columns a wide one could never be seen to its end.
    view.setHorizontalScrollMode(QtWidgets.QAbstractItemView.ScrollMode.ScrollPerPixel)
    rows = view.verticalHeader()
    rows.setVisible(False)
    rows.setSectionResizeMode(QtWidgets.QHeaderView.ResizeMode.Fixed)
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
    header.setSectionResizeMode(QtWidgets.QHeaderView.ResizeMode.Fixed)
    header.setStretchLastSection(False)
    model.modelReset.connect(view.fit_rows)
    # Several such tables stand on one page; Ctrl+C is for the one that has the focus.
    add_key(view, QtGui.QKeySequence.StandardKey.Copy, partial(_copy, model.as_text))
    view.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)

    def as_latex() -> str:
        title = view.accessibleName()
        return tables.latex_table(model.table, title, tables.latex_label(title))

    as_markdown = ("Copy as &Markdown", lambda: tables.markdown_table(model.table))
    for entry, text in (("&Copy", model.as_text), ("Copy as &LaTeX", as_latex), as_markdown):
        action = QtGui.QAction(entry, view)
        action.triggered.connect(partial(_copy, text))
        view.addAction(action)
    return view


def _copy(text: Callable[[], str], _checked: bool = False) -> None:
    QtGui.QGuiApplication.clipboard().setText(text())
