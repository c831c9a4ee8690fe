"""The Qt model of all runs of the store, and the rows of it that words find.

Knows: names that are edited, tool tips, words that find. Does not know: the store, views, columns' words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, QSortFilterProxyModel, Qt, Signal
from PySide6.QtWidgets import QLineEdit, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from engine.core.health import Health
from engine.core.run_list import run_in_lines, run_list
from engine.core.run_records import LONGEST_NAME, AnyRun, DamagedRun
from gui.kit.foreign_text import tip
from gui.kit.remedies import IN_THE_WINDOW
from gui.kit.value_table import SORT_ROLE, Index, TableModel

RUN, NAME, ITEMS, MODE, DATASET, MODEL, MADE, HEALTH, ARCHIVED = range(9)
"""The columns of `run_list`."""


class RunsTableModel(TableModel):
    """A row for each run; names can be edited."""

    renamed = Signal(int, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runs: Sequence[AnyRun] = ()
        self._health: Mapping[int, Health] = {}
        self.show_table(run_list(()))
        heads = list(self._heads)
        heads[NAME] = replace(heads[NAME], meaning="Its name; F2 changes it")
        self._heads = heads

    def show_runs(self, runs: Sequence[AnyRun], health: Mapping[int, Health]) -> None:
        """Show these; where they are as many as before, what is chosen stays chosen."""
        alike = [run.id for run in runs] == [run.id for run in self._runs]
        if not alike:
            self.beginResetModel()
        self._runs, self._health, self._table = runs, health, run_list(runs, health)
        if alike:
            self._tell_changed(0, len(runs) - 1)
        else:
            self.endResetModel()

    def run_at(self, row: int) -> AnyRun:
        """The run of a row."""
        return self._runs[row]

    def row_of(self, run_id: int) -> int | None:
        """The row of a run; None where it is not there."""
        return next((row for row, run in enumerate(self._runs) if run.id == run_id), None)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Names can be edited."""
        flags = super().flags(index)
        named = index.column() == NAME and not isinstance(self._runs[index.row()], DamagedRun)
        return flags | Qt.ItemFlag.ItemIsEditable if named else flags

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Ask for another name; it is shown once it is stored."""
        if role != Qt.ItemDataRole.EditRole or index.column() != NAME:
            return False
        run = self._runs[index.row()]
        if str(value).strip() != run.name:
            self.renamed.emit(run.id, str(value))
        return True

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """As any table, a name to edit, all of the run as tool tip."""
        if index.isValid() and role == Qt.ItemDataRole.EditRole and index.column() == NAME:
            return self._runs[index.row()].name
        if index.isValid() and role == Qt.ItemDataRole.ToolTipRole:
            return tip(self._about(self._runs[index.row()]))
        return super().data(index, role)

    def _about(self, run: AnyRun) -> str:
        if isinstance(run, DamagedRun):
            return f"{run.problem}\n{IN_THE_WINDOW.of(run.hint)}"
        return run_in_lines(run, self._health.get(run.id))


class NameDelegate(QStyledItemDelegate):
    """A field for a name that is no longer than the store takes."""

    def createEditor(self, parent: QWidget, _option: QStyleOptionViewItem, _index: Index) -> QWidget:
        """The field."""
        field = QLineEdit(parent, maxLength=LONGEST_NAME)
        field.setAccessibleName("Name of the run")
        return field


class RunsOrder(QSortFilterProxyModel):
    """The runs that have all words of a text, with those in the archive or without; sorted by values."""

    def __init__(self, source: RunsTableModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._source = source
        self._words = ""
        self._archived = False
        self.setSourceModel(source)
        self.setSortRole(SORT_ROLE)
        self.setSortCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.setDynamicSortFilter(True)

    def search(self, words: str, archived: bool) -> None:
        """Show what has all these words; `archived`: those in the archive, too."""
        self.beginFilterChange()
        self._words, self._archived = words, archived
        self.endFilterChange()

    def filterAcceptsRow(self, row: int, _parent: Index) -> bool:
        """Whether a run is shown."""
        run = self._source.run_at(row)
        return (self._archived or run.archived is None) and run.found_by(self._words)
