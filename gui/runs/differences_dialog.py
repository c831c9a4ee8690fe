"""Two runs side by side: settings, model, dataset, times; what differs is marked and comes first.

Knows: how such a table is shown. Does not know: what is compared.
"""

from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSortFilterProxyModel, Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QCheckBox, QDialog, QDialogButtonBox, QWidget

from engine.core.formatting import counted, visible
from engine.core.value_tables import Table
from gui.kit.labels import hint, name
from gui.kit.layouts import in_column, make_room
from gui.kit.value_table import SORT_ROLE, TableModel
from gui.kit.views import FillingView, dressed

_FACT, _DIFFERS, _FIRST, _OTHER = range(4)
Index = QModelIndex | QPersistentModelIndex


class DifferencesModel(TableModel):
    """What differs is bold."""

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """As any table, with a heavier font for what differs."""
        if role == Qt.ItemDataRole.FontRole and index.isValid() and self.differs(index.row()):
            font = QFont()
            font.setWeight(QFont.Weight.DemiBold)
            return font
        return super().data(index, role)

    def differs(self, row: int) -> bool:
        """Whether the two runs differ in the fact of a row."""
        return self._table.rows[row][_DIFFERS] is True


class _Only(QSortFilterProxyModel):
    """All rows, or those that differ."""

    def __init__(self, source: DifferencesModel) -> None:
        super().__init__(source)
        self._model = source
        self._only = False
        self.setSourceModel(source)
        self.setSortRole(SORT_ROLE)

    def show_only(self, only: bool) -> None:
        """Leave out what is alike."""
        self.beginFilterChange()
        self._only = only
        self.endFilterChange()

    def filterAcceptsRow(self, row: int, _parent: Index) -> bool:
        """Whether a row is shown."""
        return not self._only or self._model.differs(row)


class DifferencesDialog(QDialog):
    """Shows a table of `engine.report.run_differences`."""

    def __init__(self, table: Table, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Compare settings")
        self.table = DifferencesModel(self)
        self.table.show_table(table)
        self._order = _Only(self.table)
        number = sum(self.table.differs(row) for row in range(self.table.rowCount()))
        said = counted(number, "difference", "differences") if number else "No differences"
        titles = (visible(table.titles[column]) for column in (_FIRST, _OTHER))
        self.summary = hint(f"{' and '.join(titles)}: {said}. Names, notes and times are not counted.")
        self.only = QCheckBox("Only what differs")
        self.only.setEnabled(number > 0)
        self.only.toggled.connect(self._order.show_only)
        self.view = dressed(FillingView(), self._order, "Facts of two runs")
        letter = self.view.fontMetrics().averageCharWidth()
        self.view.setColumnWidth(_FACT, 32 * letter)
        self.view.setColumnWidth(_DIFFERS, self.view.title_width(_DIFFERS))
        self.view.fill({_FIRST: 20 * letter, _OTHER: 20 * letter})
        name(self.only, self.only.text())
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        layout = in_column(self.summary, self.only, self.view, buttons, on=self, margins=None)
        layout.setStretchFactor(self.view, 1)
        make_room(self, 140, 34)
