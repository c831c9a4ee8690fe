"""A table of the engine (accuracy, labels, explanations) for a view: values, shown as the engine writes them.

Cells and the clipboard have the engine's words; headers and the names of rows begin with a capital letter.

Knows: kinds of values. Does not know: what is measured.
"""

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from engine.core.formatting import visible, words
from engine.core.value_tables import Column, Kind, Table
from gui.kit.foreign_text import one_line, tip

SORT_ROLE = int(Qt.ItemDataRole.UserRole) + 1
VALUE_ROLE = int(Qt.ItemDataRole.UserRole) + 2
Index = QModelIndex | QPersistentModelIndex
_NOTHING = Table((), ())


class TableModel(QAbstractTableModel):
    """Columns and rows of values; numbers are aligned right."""

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self._table = _NOTHING

    def show_table(self, table: Table) -> None:
        """Show another table."""
        self.beginResetModel()
        self._table = table
        self.endResetModel()

    def clear(self) -> None:
        """Show nothing."""
        self.show_table(_NOTHING)

    def as_text(self) -> str:
        """All cells with tabs between them, for the clipboard."""
        return "\n".join("\t".join(row) for row in (self._table.titles, *self._table.texts()))

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        """How many rows there are."""
        return 0 if parent.isValid() else len(self._table.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        """How many columns there are."""
        return 0 if parent.isValid() else len(self._table.columns)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """The names of the columns, and what they mean as tool tips."""
        if orientation is not Qt.Orientation.Horizontal or section >= self.columnCount():
            return None
        column = self._table.columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return visible(self._title(section))
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(column.meaning)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The text of a cell, its alignment, and its value for sorting."""
        if not index.isValid():
            return None
        column = self._table.columns[index.column()]
        value = self._table.rows[index.row()][index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            text = column.text(value)
            return one_line(sentence_case(text) if column.kind is Kind.NAME else text)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(column.text(value))
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        if role == SORT_ROLE:
            return column.sort_key(value)
        return value if role == VALUE_ROLE else None

    def _title(self, section: int) -> str:
        """The name of a column in the window's words: `Both good` for the label `both_good`."""
        return sentence_case(words(self._table.columns[section].title))


def _alignment(column: Column) -> int:
    side = Qt.AlignmentFlag.AlignRight if column.kind.is_number else Qt.AlignmentFlag.AlignLeft
    return int(side | Qt.AlignmentFlag.AlignVCenter)


def sentence_case(text: str) -> str:
    """The same with a capital first letter."""
    return text[:1].upper() + text[1:]
