"""Tables for a view: columns with heads over rows of any kind; parts and columns resized by keys. Tables of
the engine hold values in its words; headers and names of rows get a capital letter here.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QGuiApplication
from PySide6.QtWidgets import QApplication, QHeaderView, QSplitter, QTableView, QWidget

from engine.core.formatting import words
from engine.core.tables import Column, Estimate, ItemsBehind, Kind, Table, Value
from gui.widgets.foreign_text import one_line, tip
from gui.widgets.theme import colours

_STEP = 4  # mean characters


def resize_part(direction: Qt.Orientation, larger: bool) -> bool:
    """Resize the part of the window that has the keys; False where none is beside it in this direction."""
    part = QApplication.focusWidget()
    while part is not None and not _resized(part, direction, larger):
        part = part.parentWidget()
    return part is not None


def _resized(part: QWidget, direction: Qt.Orientation, larger: bool) -> bool:
    splitter = part.parentWidget()
    if not isinstance(splitter, QSplitter) or splitter.orientation() != direction:
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
    view = QApplication.focusWidget()
    if not isinstance(view, QTableView) or not view.currentIndex().isValid():
        return False
    header, column = view.horizontalHeader(), view.currentIndex().column()
    if header.sectionResizeMode(column) is not QHeaderView.ResizeMode.Interactive:
        return False
    width = header.sectionSize(column) + _step(view, forward=wider)
    header.resizeSection(column, max(width, header.minimumSectionSize()))
    return True


def _step(widget: QWidget, forward: bool) -> int:
    pixels = _STEP * widget.fontMetrics().averageCharWidth()
    return pixels if forward else -pixels


SORT_ROLE = int(Qt.ItemDataRole.UserRole) + 1
VALUE_ROLE = int(Qt.ItemDataRole.UserRole) + 2
Index = QModelIndex | QPersistentModelIndex
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


class HeadedModel(QAbstractTableModel):
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
        self._bold = QFont()
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
        used = colours(QGuiApplication.palette())  # asked for each painting: the theme may be another by then
        colour = used.text if role == Qt.ItemDataRole.ForegroundRole else used.shade(value.value)
        return QBrush(QColor(colour))

    def _count_rows(self) -> int:
        return len(self._table.rows)

    def _title(self, section: int) -> str:
        """The name of a column in the window's words: `Both good` for the label `both_good`."""
        column = self._table.columns[section]
        return column.title if column.foreign else sentence_case(words(column.title))


def sentence_case(text: str) -> str:
    return text[:1].upper() + text[1:]
