"""A table of the engine whose best cells stand out.

Knows: bold letters. Does not know: what is the best.
"""

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont

from gui.kit.value_table import Index, TableModel

if TYPE_CHECKING:
    from engine.report.comparison_tables import RankedTable


class RankedTableModel(TableModel):
    """A TableModel with its best cells in bold letters, and said to be the best to a screen reader."""

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self._best: frozenset[tuple[int, int]] = frozenset()
        self._bold = QFont()
        self._bold.setBold(True)

    def show_ranked(self, table: "RankedTable") -> None:
        """Show another table."""
        self._best = table.best
        self.show_table(table)

    def _title(self, section: int) -> str:
        """Systems keep their names."""
        column = self._table.columns[section]
        return column.title if column.key.startswith("system_") else super()._title(section)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """As TableModel, and the letters of a cell."""
        if index.isValid() and (index.row(), index.column()) in self._best:
            if role == Qt.ItemDataRole.FontRole:
                return self._bold
            if role == Qt.ItemDataRole.AccessibleTextRole:
                return f"{super().data(index)}, the best"
        return super().data(index, role)
