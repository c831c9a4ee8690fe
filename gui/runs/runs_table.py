"""The table of all runs of the store with their health, and how a run gets a name and a note."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from PySide6 import QtWidgets
from PySide6.QtCore import QObject, QSignalBlocker, QSortFilterProxyModel, Qt, Signal

from engine.core.errors import SetupError
from engine.core.health import Health
from engine.settings.identity import LONGEST_NAME, AnyRun, DamagedRun, StoredRun, checked_name, checked_note
from engine.settings.run_lists import run_in_lines, run_list
from gui.runs.queue import Queued
from gui.widgets.foreign_text import OneLine, tip
from gui.widgets.labels import hint, in_column, name, ok_and_cancel, show_text, silent
from gui.widgets.notice import IN_THE_WINDOW, problem_of
from gui.widgets.value_table import SORT_ROLE, Index, TableModel
from gui.workspace import store_jobs
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace

RUN, NAME, ITEMS, MODE, DATASET, MODEL, MADE, HEALTH, ARCHIVED = range(9)
"""The columns of `run_list`."""


class RunsTableModel(TableModel):
    renamed = Signal(int, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runs: Sequence[AnyRun] = ()
        self._health: Mapping[int, Health] = {}
        self.show_table(run_list(()))
        name = replace(self._heads[NAME], meaning="Its name; F2 changes it")
        self._heads = [*self._heads[:NAME], name, *self._heads[NAME + 1 :]]

    def show_runs(self, runs: Sequence[AnyRun], health: Mapping[int, Health]) -> None:
        """Show these; where they are as many as before, what is chosen stays chosen."""
        with self._changing(alike=[run.id for run in runs] == [run.id for run in self._runs]):
            self._runs, self._health, self._table = runs, health, run_list(runs, health)

    def run_at(self, row: int) -> AnyRun:
        return self._runs[row]

    def row_of(self, run_id: int) -> int | None:
        return next((row for row, run in enumerate(self._runs) if run.id == run_id), None)

    def flags(self, index: Index) -> Qt.ItemFlag:
        named = index.column() == NAME and not isinstance(self._runs[index.row()], DamagedRun)
        return super().flags(index) | (Qt.ItemFlag.ItemIsEditable if named else Qt.ItemFlag.NoItemFlags)

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role != Qt.ItemDataRole.EditRole or index.column() != NAME:
            return False
        run = self._runs[index.row()]
        if str(value).strip() != run.name:
            self.renamed.emit(run.id, str(value))
        return True

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        run = self._runs[index.row()]
        if role == Qt.ItemDataRole.EditRole and index.column() == NAME:
            return run.name
        if role == Qt.ItemDataRole.AccessibleTextRole and index.column() == NAME and not run.name:
            return f"Run {run.id} without a name"
        if role != Qt.ItemDataRole.ToolTipRole:
            return super().data(index, role)
        if isinstance(run, DamagedRun):
            return tip(f"{run.problem}\n{IN_THE_WINDOW.of(run.hint)}")
        return tip(run_in_lines(run, self._health.get(run.id)))


class NameDelegate(QtWidgets.QStyledItemDelegate):
    def createEditor(
        self, parent: QtWidgets.QWidget, _option: QtWidgets.QStyleOptionViewItem, _index: Index
    ) -> QtWidgets.QWidget:
        field = QtWidgets.QLineEdit(parent, maxLength=LONGEST_NAME)
        field.setAccessibleName("Name of the run")
        return field


class RunsOrder(QSortFilterProxyModel):
    """The runs that have all words of a text, with those in the archive or without; sorted by values."""

    def __init__(self, source: RunsTableModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._source, self._words, self._archived = source, "", False
        self.setSourceModel(source)
        self.setSortRole(SORT_ROLE)
        self.setSortCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.setDynamicSortFilter(True)

    def search(self, words: str, archived: bool) -> None:
        self.beginFilterChange()
        self._words, self._archived = words, archived
        self.endFilterChange()

    def filterAcceptsRow(self, row: int, _parent: Index) -> bool:
        run = self._source.run_at(row)
        return (self._archived or run.archived is None) and run.found_by(self._words)


class RunHealth(QObject):
    """Remembers what it found until the window closes."""

    changed = Signal()

    def __init__(self, workspace: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self.found: dict[int, Health] = {}  # what is known, by the number of the run
        self._state: dict[int, str] = {}  # of each run, when it was looked at
        self._wanted: list[StoredRun] = []
        self._looking = TaskPanel(workspace.threads, ThreadName.MEASURE, self, self._take)
        self._looking.failed.connect(self._next)  # one that cannot be read has no health

    def look(self, runs: Sequence[StoredRun]) -> None:
        self._wanted = [run for run in runs if run.by_a_model and self._state.get(run.id) != _state(run)]
        if not self._looking.busy:
            self._next()

    def rest(self) -> None:
        self._wanted = []
        self._looking.drop()

    def _next(self) -> None:
        # One job for each run: what else is to be measured need not wait for all of them.
        if self._wanted:
            run = self._wanted.pop(0)
            self._state[run.id] = _state(run)
            self._looking.start(store_jobs.health(self._workspace.store_path, run.id))

    def _take(self, found: tuple[int, Health]) -> None:
        self.found |= [found]
        self._next()
        self.changed.emit()


def _state(run: StoredRun) -> str:
    return f"{run.judged} {run.calibration}"


_LINES = 3
_WHEN = "The run gets both when it begins. If it resumes an earlier run, that run gets them."


class NoteField(QtWidgets.QPlainTextEdit):
    def __init__(self, accessible: str, what: str = "") -> None:
        super().__init__()
        self.setTabChangesFocus(True)
        self.setFixedHeight(self.fontMetrics().lineSpacing() * _LINES + 16)
        name(self, accessible, what)

    @property
    def modified(self) -> bool:
        return self.document().isModified()

    def fill(self, text: str) -> None:
        with QSignalBlocker(self):
            self.setPlainText(text)
        self.document().setModified(False)

    def take(self) -> str:
        """The note as it is written now, which counts as kept from here on."""
        self.document().setModified(False)
        return self.toPlainText()


class RunNameDialog(QtWidgets.QDialog):
    """Asks how a run is called; what cannot be stored is said, and the dialog stays open."""

    called = Signal(str, str)  # name, note

    def __init__(self, entry: Queued, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Name and note")
        shown = "Name, shown in lists"
        self.name = QtWidgets.QLineEdit(entry.name, maxLength=LONGEST_NAME, placeholderText=shown)
        self.name.selectAll()
        name(self.name, "Name of the run")
        self.note = NoteField("Note of the run")
        self.note.setPlaceholderText("Note")
        self.note.fill(entry.note)
        self.said = silent("warning")
        what = OneLine(f"{entry.what}, {entry.setup.model_path.stem}, {entry.how}", role="")
        when = hint(_WHEN if entry.run_id is None else f"Run {entry.run_id} gets the name at once.")
        parts = (what, self.name, self.note, when, self.said, ok_and_cancel(self))
        in_column(*parts, on=self, margins=None, spacing=10)
        self.setMinimumWidth(self.fontMetrics().averageCharWidth() * 64)

    def accept(self) -> None:
        try:
            called = checked_name(self.name.text()), checked_note(self.note.toPlainText())
        except SetupError as error:
            show_text(self.said, "\n".join(problem_of(error)))
        else:
            self.called.emit(*called)
            super().accept()
