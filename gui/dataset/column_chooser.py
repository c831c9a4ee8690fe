"""The button that chooses the columns of the item table, and by which of them it is sorted.

Knows: the columns of the table. Does not know: how items are sorted.
"""

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QTableView, QToolButton, QWidget

from gui.dataset.item_columns import NEVER_HIDDEN, ItemColumns
from gui.dataset.item_table import DatasetColumn, ItemTableModel, column_named
from gui.kit.labels import name

_LONGEST_TITLE = 28
_MOST_IN_A_MENU = 20  # what does not stand on a screen


class ColumnChooser(QToolButton):
    """A drop-down menu, which the header of the view also opens by the right mouse button."""

    shown_changed = Signal()
    sort_wanted = Signal(str, bool)  # a column's name in the dataset, empty for the file's order; descending

    def __init__(
        self, view: QTableView, table: ItemTableModel, columns: ItemColumns, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._view = view
        self._table = table
        self._columns = columns
        self._sorted = ("", False)
        self.setText("Columns")
        self.setProperty("role", "button")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        name(self, "Columns", "Choose the columns, and by which the items are sorted")
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(self._fill)
        self.setMenu(self._menu)
        header = view.horizontalHeader()
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(self._open_at)

    def show_sorted(self, source: str, descending: bool) -> None:
        """Mark how the table is sorted now."""
        self._sorted = (source, descending)

    @Slot()
    def _fill(self) -> None:
        self._menu.clear()
        others = [column for column in self._table.columns if column.is_other]
        for column in self._table.columns:
            if not column.is_other:
                self._add_shown(self._menu, column)
        self._menu.addSeparator()
        for start in range(0, len(others), _MOST_IN_A_MENU):
            part = others[start : start + _MOST_IN_A_MENU]
            some = f", {start + 1} to {start + len(part)}" if len(others) > len(part) else ""
            menu = self._menu.addMenu(f"Other columns of the file{some}")
            for column in part:
                self._add_shown(menu, column)
        self._add_sorting()

    def _add_shown(self, menu: QMenu, column: DatasetColumn) -> None:
        """An entry that shows and hides a column."""
        shown = menu.addAction(_plain(column.title))
        shown.setCheckable(True)
        shown.setChecked(self._columns.is_shown(column))
        shown.setEnabled(column.source != NEVER_HIDDEN)
        shown.toggled.connect(lambda on: self._show(column, on))

    def _show(self, column: DatasetColumn, shown: bool) -> None:
        self._columns.set_shown(column, shown)
        self.shown_changed.emit()

    def _add_sorting(self) -> None:
        menu = self._menu.addMenu("Sort by")
        source, descending = self._sorted
        orders = QActionGroup(menu)
        shown = (
            column for column in self._table.columns if not column.is_other or self._columns.is_shown(column)
        )
        for column in (DatasetColumn("", "Order of the file"), *shown):
            action = self._choice(menu, orders, _plain(column.title), column.source == source)
            action.triggered.connect(lambda _on, to=column.source: self.sort_wanted.emit(to, descending))
        menu.addSeparator()
        directions = QActionGroup(menu)
        for text, down in (("Ascending", False), ("Descending", True)):
            action = self._choice(menu, directions, text, down == descending)
            action.setEnabled(column_named(self._table.columns, source) is not None)
            action.triggered.connect(lambda _on, to=down: self.sort_wanted.emit(source, to))

    @staticmethod
    def _choice(menu: QMenu, group: QActionGroup, text: str, chosen: bool) -> QAction:
        action = menu.addAction(text)
        action.setCheckable(True)
        action.setChecked(chosen)
        group.addAction(action)
        return action

    @Slot(QPoint)
    def _open_at(self, place: QPoint) -> None:
        self._menu.popup(self._view.horizontalHeader().mapToGlobal(place))


def _plain(title: str) -> str:
    """A title for a menu, where a sign & would mark a key."""
    short = title if len(title) <= _LONGEST_TITLE else f"{title[:_LONGEST_TITLE]}…"
    return short.replace("&", "&&")
