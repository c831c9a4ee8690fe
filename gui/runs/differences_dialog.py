"""Two runs side by side: settings, model, dataset, times; what differs is marked and comes first. Below it
what changed in what they say, once it is known.

Knows: how both are shown. Does not know: what is compared.
"""

from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSortFilterProxyModel, Qt, Slot
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QCheckBox, QDialog, QDialogButtonBox, QWidget

from engine.core.errors import EngineError
from engine.core.formatting import counted, visible
from engine.core.sheets import Sheet
from engine.core.value_tables import Table
from gui.kit.labels import hint, name, scrolling
from gui.kit.layouts import in_column, make_room
from gui.kit.notice import problem_of
from gui.kit.value_table import SORT_ROLE, TableModel
from gui.kit.views import FillingView, dressed
from gui.reading.sheet_view import SheetView

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
    """Shows a table of `engine.report.run_differences`, and the sheet of `engine.report.drift_tables` once
    it is given.
    """

    def __init__(self, table: Table, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Compare settings")
        self.table = DifferencesModel(self)
        self.table.show_table(table)
        self._order = _Only(self.table)
        number = sum(self.table.differs(row) for row in range(self.table.rowCount()))
        said = counted(number, "difference", "differences") if number else "No differences"
        titles = (visible(table.titles[column]) for column in (_FIRST, _OTHER))
        self.summary = hint(f"{' and '.join(titles)}: {said}. Names, notes and times are not compared.")
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
        self._make_changes()
        layout = in_column(self.summary, self.only, on=self, margins=None)
        for part, stretch in ((self.view, 2), (self.said, 0), (self._room, 3), (buttons, 0)):
            layout.addWidget(part, stretch)
        make_room(self, 150, 46)

    def _make_changes(self) -> None:
        self.said = hint("Regression check: reading both runs …")
        self.changes = SheetView()
        self._room = scrolling(self.changes, "Regression check")
        self._room.hide()

    @Slot(object)
    def show_changes(self, sheet: Sheet) -> None:
        """Show what changed."""
        self.said.hide()
        self.changes.show_sheet(sheet)
        self._room.show()

    @Slot(object)
    def tell_problem(self, error: EngineError) -> None:
        """Say why that cannot be told."""
        problem, _hint = problem_of(error)
        self.said.setText(visible(f"No regression check. {problem}"))
