"""The Qt model of all runs of the store, and the rows of it that words find.

Knows: what stands in a cell, by what it is sorted. Does not know: the store, views.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QObject, QSortFilterProxyModel, Qt, Signal
from PySide6.QtWidgets import QLineEdit, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from engine.core.formatting import short_name, words
from engine.core.health import Health, HealthVerdict
from engine.core.run_records import LONGEST_NAME, AnyRun, DamagedRun
from gui.kit.foreign_text import one_line, tip
from gui.kit.remedies import IN_THE_WINDOW
from gui.kit.value_table import SORT_ROLE, Head, HeadedModel, Index

_HEADS = (
    Head("Run", is_number=True),
    Head("Name", "What people call it; F2 gives it another name"),
    Head("Items", "Items that are judged, of all of the run", is_number=True),
    Head("Mode"),
    Head("Dataset"),
    Head("Model"),
    Head("Made"),
    Head("Health", "Whether the model judged, by what it gave"),
    Head("Archived", "Since when the run is left out of the lists"),
)
RUN, NAME, ITEMS, MODE, DATASET, MODEL, MADE, HEALTH, ARCHIVED = range(len(_HEADS))
_HEALTH = {
    HealthVerdict.JUDGES: "judges",
    HealthVerdict.LOOK: "look closely",
    HealthVerdict.DOES_NOT_JUDGE: "does not judge",
    HealthVerdict.TOO_FEW: "too few items",
}


class RunsTableModel(HeadedModel):
    """A row for each run; names can be edited."""

    renamed = Signal(int, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(_HEADS, parent)
        self._runs: Sequence[AnyRun] = ()
        self._health: Mapping[int, Health] = {}

    def show_runs(self, runs: Sequence[AnyRun], health: Mapping[int, Health]) -> None:
        """Show these; where they are as many as before, what is chosen stays chosen."""
        self._health = health
        if [run.id for run in runs] == [run.id for run in self._runs]:
            self._runs = runs
            self._tell_changed(0, len(runs) - 1)
            return
        self.beginResetModel()
        self._runs = runs
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
        """The text of a cell, its value for sorting, all of the run as tool tip."""
        if not index.isValid():
            return None
        run, column = self._runs[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return one_line(self._text(run, column))
        if role == Qt.ItemDataRole.EditRole and column == NAME:
            return run.name
        if role == SORT_ROLE:
            return self._value(run, column)
        return tip(self._about(run)) if role == Qt.ItemDataRole.ToolTipRole else super().data(index, role)

    def _count_rows(self) -> int:
        return len(self._runs)

    def _text(self, run: AnyRun, column: int) -> str:
        if isinstance(run, DamagedRun):
            return {RUN: str(run.id), ITEMS: f"{run.judged:,}", MODE: "damaged"}.get(column, "")
        identity = run.identity
        ways = len(identity.settings.get("ways", ()))
        mode = f"{identity.settings.get('mode', '')}{f', {ways} ways' if ways > 1 else ''}"
        health = self._health.get(run.id)
        return {
            RUN: str(run.id),
            NAME: run.name,
            ITEMS: f"{run.judged:,} of {identity.items:,}",
            MODE: "submission" if run.submitted else mode,
            DATASET: short_name(identity.dataset_in_words),
            MODEL: short_name(identity.model_name),
            MADE: f"{run.created.astimezone():%Y-%m-%d %H:%M}",
            HEALTH: "-" if run.submitted else _health_in_words(health),
            ARCHIVED: f"{run.archived.when.astimezone():%Y-%m-%d}" if run.archived else "",
        }[column]

    def _value(self, run: AnyRun, column: int) -> float | str:
        if column == RUN:
            return float(run.id)
        if column == ITEMS:
            return float(run.judged)
        if column == MADE and not isinstance(run, DamagedRun):
            return run.created.isoformat()
        return self._text(run, column).casefold()

    def _about(self, run: AnyRun) -> str:
        if isinstance(run, DamagedRun):
            return f"{run.problem}\n{IN_THE_WINDOW.of(run.remedy)}"
        identity = run.identity
        lines = [run.title, str(identity.dataset_path), str(identity.model_path)]
        if not run.submitted:
            asked = ", ".join(words(name) for name in identity.criteria)
            lines.append(f"Rubric {identity.asked.name}: {asked}")
        if identity.ways_in_words:
            lines.append(f"Asked by {identity.ways_in_words}")
        health = self._health.get(run.id)
        if health is not None and not run.submitted:
            lines.append(health.headline)
        if run.archived:
            lines.append(f"Archived {run.archived.when.astimezone():%Y-%m-%d %H:%M} by {run.archived.by}.")
        return "\n".join([*lines, *([run.note] if run.note else [])])


def _health_in_words(health: Health | None) -> str:
    if health is None:
        return "…"
    few_but_bad = health.verdict is HealthVerdict.TOO_FEW and health.doubted
    return "few items, look closely" if few_but_bad else _HEALTH[health.verdict]


class NameDelegate(QStyledItemDelegate):
    """A field for a name that is no longer than the store takes."""

    def createEditor(self, parent: QWidget, _option: QStyleOptionViewItem, _index: Index) -> QWidget:
        """The field."""
        field = QLineEdit(parent)
        field.setMaxLength(LONGEST_NAME)
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
