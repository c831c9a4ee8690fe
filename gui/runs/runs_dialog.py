"""All runs of the store in one place: found, named, noted, opened, compared, put away, deleted.

Knows: what can be done with runs that are chosen. Does not know: how any of it is stored.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QCheckBox, QDialog, QLineEdit, QPushButton, QWidget

from engine.core.errors import EngineError, SetupError
from engine.core.formatting import counted
from engine.core.tables import Sheet, Table
from engine.settings.identity import AnyRun, DamagedRun
from engine.settings.run_lists import Deleted, RunContents
from gui.runs import runs_jobs
from gui.runs.run_dialogs import DeleteDialog, DifferencesDialog
from gui.runs.runs_table import (
    ARCHIVED,
    DATASET,
    MODEL,
    NAME,
    RUN,
    NameDelegate,
    NoteField,
    RunHealth,
    RunsOrder,
    RunsTableModel,
)
from gui.widgets.actions import add_key
from gui.widgets.foreign_text import OneLine
from gui.widgets.labels import STRETCH, in_column, in_row, label, make_room, name, show_text
from gui.widgets.notice import problem_of
from gui.widgets.views import FillingView, dressed
from gui.workspace.state import PageName
from gui.workspace.threads import Job, LatestTask, ThreadName
from gui.workspace.workspace import Workspace

_REST_MS = 700  # without a key before a note is stored
_RESUME = "Resume the run; while another run is judged, in the queue"
_LEAST = {NAME: 16, DATASET: 12, MODEL: 12}
"""Letters of the columns that share the room."""


class RunsDialog(QDialog):
    """Stays open beside the window; what is done in it takes effect at once."""

    deleted = Signal(object)  # the numbers of runs that are gone
    resume_wanted = Signal(object)  # a StoredRun that is not finished

    def __init__(self, workspace: Workspace, health: RunHealth, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Runs")
        self._workspace = workspace
        self._health = health
        self._noted: int | None = None  # the run whose note is in the field
        self._written: dict[int, str] = {}  # by run, notes that the list of runs may not know yet
        self._make_table()
        self._make_note()
        self._make_buttons()
        self._lay_out()
        self._rest = QTimer(self, singleShot=True, interval=_REST_MS)
        self._rest.timeout.connect(self._keep_note)
        self.finished.connect(self._keep_note)
        workspace.runs_changed.connect(self._show_runs)
        workspace.judging_changed.connect(self._follow_choice)
        health.changed.connect(self._show_runs)
        self._show_note(None)
        self._show_runs()
        if workspace.run is not None:
            self.choose(workspace.run.id)
        self.view.setFocus()
        workspace.refresh_runs()

    # What is chosen

    @property
    def chosen(self) -> "list[AnyRun]":
        """The runs that are chosen, damaged ones too, in the order of the table."""
        rows = sorted(index.row() for index in self.view.selectionModel().selectedRows())
        return [self.table.run_at(self.order.mapToSource(self.order.index(row, 0)).row()) for row in rows]

    def choose(self, *run_ids: int) -> None:
        """Choose these runs, where they are shown."""
        chosen = self.view.selectionModel()
        chosen.clearSelection()
        for run_id in run_ids:
            row = self.table.row_of(run_id)
            shown = (
                self.order.mapFromSource(self.table.index(row, NAME)) if row is not None else QModelIndex()
            )
            if shown.isValid():
                how = QItemSelectionModel.SelectionFlag
                chosen.setCurrentIndex(shown, how.NoUpdate)
                chosen.select(shown, how.Select | how.Rows)

    # What is done with it

    @Slot()
    def open_run(self) -> None:
        """Look at the chosen run on the Results page."""
        if self.open_button.isEnabled():
            self._workspace.open_run(self.chosen[0].id)
            self._workspace.page_wanted.emit(PageName.RESULTS)
            self.accept()

    @Slot()
    def resume(self) -> None:
        """Go on with the chosen run."""
        if len(self.chosen) == 1:
            self.say("")
            self.resume_wanted.emit(self.chosen[0])

    @Slot()
    def rename(self) -> None:
        """Edit the name of the chosen run in its cell."""
        if self.rename_button.isEnabled():
            row = self.table.row_of(self.chosen[0].id)
            if row is not None:
                self.view.edit(self.order.mapFromSource(self.table.index(row, NAME)))

    @Slot()
    def archive(self) -> None:
        """Put the chosen runs away, or take them out again where all of them are there."""
        runs = self.chosen
        ids = [run.id for run in runs]
        path = self._workspace.store_path
        if runs and all(run.archived for run in runs):
            self._do(runs_jobs.restore(path, ids))
        elif runs:
            self._do(runs_jobs.archive(path, ids, self._workspace.author))

    @Slot()
    def compare(self) -> None:
        """Show the two chosen runs side by side."""
        if len(self.chosen) == 2:
            first, other = sorted(run.id for run in self.chosen)
            path = self._workspace.store_path
            drift = runs_jobs.drift(path, first, other)
            show = partial(self._show_differences, drift)
            self._do(runs_jobs.differences(path, first, other), show, refresh=False)

    @Slot()
    def delete(self) -> None:
        """Ask whether the chosen runs shall be deleted."""
        if self.chosen:
            ids = [run.id for run in self.chosen]
            self._do(runs_jobs.contents(self._workspace.store_path, ids), self._ask, refresh=False)

    def _ask(self, held: Sequence[RunContents]) -> None:
        ids = [each.run.id for each in held]
        dialog = DeleteDialog(held, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.wanted.connect(lambda decisions: self._delete(ids, decisions))
        dialog.export_wanted.connect(lambda: self._export(ids[0]))
        dialog.open()

    def _export(self, run_id: int) -> None:
        self.choose(run_id)
        self.open_run()

    def _delete(self, ids: Sequence[int], with_decisions: bool) -> None:
        if self._noted in ids:
            self._show_note(None)
        self._do(runs_jobs.delete(self._workspace.store_path, ids, with_decisions), self._tell_deleted)

    def _tell_deleted(self, deleted: Deleted) -> None:
        for run_id in deleted.ids:
            self._written.pop(run_id, None)
        self.say(deleted.in_words)
        self.deleted.emit(deleted.ids)

    def _show_differences(self, drift: Job[Sheet], table: Table) -> None:
        dialog = DifferencesDialog(table, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        task = LatestTask(self._workspace.threads, ThreadName.MEASURE, dialog)
        task.finished.connect(dialog.show_changes)
        task.failed.connect(dialog.tell_problem)
        dialog.finished.connect(task.drop)
        dialog.open()
        task.start(drift)

    def _do(self, job: Job[Any], then: Callable[[Any], object] | None = None, refresh: bool = True) -> None:
        """Do a job of the store to its end; say what went wrong."""
        self.say("")
        task = self._workspace.threads.start(ThreadName.STORE, job, must_end=True)
        if then is not None:
            task.finished.connect(then)
        task.failed.connect(self.tell_problem)
        if refresh:
            task.ended.connect(self._workspace.refresh_runs)

    @Slot(object)
    def tell_problem(self, error: EngineError) -> None:
        """Say what went wrong."""
        self.say("\n".join(problem_of(error)))
        self._show_runs()

    def say(self, text: str) -> None:
        """Say a sentence above the buttons; empty for none."""
        show_text(self.said, text)

    @Slot(int, str)
    def _rename(self, run_id: int, text: str) -> None:
        self._call(run_id, name=text)

    def _call(self, run_id: int, name: str | None = None, note: str | None = None) -> None:
        """Let a run be called so, or this be noted of it; say where that is not possible."""
        self.say("")
        try:
            self._workspace.call_run(run_id, name, note)
        except SetupError as error:
            self.tell_problem(error)

    # The note

    @Slot()
    def _note_soon(self) -> None:
        self._rest.start()

    @Slot()
    def _keep_note(self) -> None:
        """Store the note that was written, if any was."""
        self._rest.stop()
        if self._noted is not None and self.note.modified:
            self._written[self._noted] = self.note.take()
            self._call(self._noted, note=self._written[self._noted])

    def _show_note(self, run: "AnyRun | None") -> None:
        self._noted = run.id if run else None
        self.note.fill(self._note_of(run) if run else "")
        self.note.setEnabled(run is not None)
        self.note.setPlaceholderText(f"Note of {run.called}" if run else "Choose one run to write its note")

    def _note_of(self, run: "AnyRun") -> str:
        """The note of a run: what was written here, until the list of runs has it, too."""
        return self._written.get(run.id, run.note)

    def _take_notes(self) -> None:
        """Show what the store holds by now, unless somebody writes."""
        stored = not self._workspace.words.count
        for run in self._workspace.runs:
            # The store leaves out the space around a note, which whoever writes on still needs.
            if stored and self._written.get(run.id, "").strip() == run.note:
                self._written.pop(run.id, None)
            held = self._note_of(run).strip()
            if run.id == self._noted and not self.note.modified and held != self.note.toPlainText().strip():
                self.note.fill(held)

    # What is shown

    @Slot()
    def _show_runs(self) -> None:
        if self._editing:
            return  # it would put the old name into the editor; shown once that is closed
        chosen = [run.id for run in self.chosen]
        self.table.show_runs([*self._workspace.runs, *self._workspace.damaged_runs], self._health.found)
        if chosen and [run.id for run in self.chosen] != chosen:
            self.choose(*chosen)
        self._take_notes()
        self._search()
        if self.isVisible():
            self._health.look(self._workspace.runs)

    @Slot()
    def _search(self) -> None:
        self.order.search(self.search.text(), self.archived.isChecked())
        self.view.setColumnHidden(ARCHIVED, not self.archived.isChecked())
        self._follow_choice()

    @Slot()
    def _follow_choice(self) -> None:
        runs = self.chosen
        sound = not any(isinstance(run, DamagedRun) for run in runs)
        one, several = sound and len(runs) == 1, sound and bool(runs)
        if self._noted != (runs[0].id if one else None):
            self._keep_note()
            self._show_note(runs[0] if one else None)
        away = several and all(run.archived for run in runs)
        self.open_button.setEnabled(one)
        why_not = self._why_not_resumed(runs)
        self.resume_button.setEnabled(not why_not)
        name(self.resume_button, self.resume_button.text().replace("&", ""), why_not or _RESUME)
        self.rename_button.setEnabled(one)
        self.compare_button.setEnabled(sound and len(runs) == 2)
        self.archive_button.setEnabled(several)
        self.archive_button.setText("Take out of the &archive" if away else "&Archive")
        self.delete_button.setEnabled(bool(runs))
        shown, known = self.order.rowCount(), self.table.rowCount()
        marked = f", {len(runs):,} chosen" if runs else ""
        self.count.setText(f"{shown:,} of {counted(known, 'run', 'runs')}{marked}")

    def _why_not_resumed(self, runs: Sequence[AnyRun]) -> str:
        run = runs[0] if len(runs) == 1 else None
        if run is None or isinstance(run, DamagedRun):
            return "Choose one run that is not finished"
        judging = self._workspace.judging
        under_way = judging is not None and judging.run_id == run.id
        why = "it is being judged" if under_way else run.why_over
        return f"{run.title} cannot be resumed: {why}" if why else ""

    # Making

    def showEvent(self, event: Any) -> None:
        """Look at the health of runs from now on, while somebody sees it."""
        super().showEvent(event)
        self._health.look(self._workspace.runs)

    def done(self, result: int) -> None:
        """Close, and look at nothing more."""
        self._health.rest()
        super().done(result)

    def _make_table(self) -> None:
        self.table = RunsTableModel(self)
        self.table.renamed.connect(self._rename)
        self.order = RunsOrder(self.table, self)
        self.view = dressed(FillingView(), self.order, "All runs")
        self.view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.view.setSortingEnabled(True)
        self.view.sortByColumn(RUN, Qt.SortOrder.DescendingOrder)
        letter = self.view.fontMetrics().averageCharWidth()
        for column, sample in enumerate(_WIDEST):
            wanted = self.view.fontMetrics().horizontalAdvance(sample) + 18
            self.view.setColumnWidth(column, max(wanted, self.view.title_width(column) + 14))
        self.view.fill({column: letters * letter for column, letters in _LEAST.items()})
        self.view.activated.connect(self._activate)
        names = NameDelegate(self.view)
        self.view.setItemDelegateForColumn(NAME, names)
        # Not at once: the view is in the middle of it.
        names.closeEditor.connect(self._show_runs, Qt.ConnectionType.QueuedConnection)
        self.view.selectionModel().selectionChanged.connect(self._follow_choice)

    @Slot()
    def _activate(self) -> None:
        if not self._editing:
            self.open_run()

    @property
    def _editing(self) -> bool:
        return self.view.state() == QAbstractItemView.State.EditingState

    def _make_note(self) -> None:
        self.note = NoteField("Note of the chosen run", "Stored as you write")
        self.note.textChanged.connect(self._note_soon)
        self.said = label("", "warning")
        self.said.hide()
        self.count = OneLine()

    def _make_buttons(self) -> None:
        self.search = QLineEdit()
        self.search.setClearButtonEnabled(True)
        self.search.setPlaceholderText("Search names, notes, models, datasets, settings")
        name(self.search, "Search runs")
        self.search.textChanged.connect(self._search)
        self.archived = QCheckBox("Show &archived")
        self.archived.toggled.connect(self._search)
        self.open_button = self._button("&Open", "Look at the run on the Results page (Enter)", self.open_run)
        self.resume_button = self._button("&Resume", _RESUME, self.resume)
        self.rename_button = self._button("Re&name", "Give the run another name (F2)", self.rename)
        self.compare_button = self._button(
            "Compare &settings",
            "Compare two runs, with a regression check: choose two with Ctrl",
            self.compare,
        )
        self.archive_button = self._button(
            "&Archive", "Hide the runs in the lists; nothing is deleted", self.archive
        )
        self.delete_button = self._button(
            "&Delete…", "Delete the runs, after a confirmation (Del)", self.delete
        )
        self.close_button = self._button("Close", "", self.accept)
        add_key(self, QKeySequence.StandardKey.Find, self.search.setFocus, inside=True)
        add_key(self.view, QKeySequence.StandardKey.Delete, self.delete)
        add_key(self.view, "F2", self.rename)

    def _button(self, text: str, what: str, action: Callable[[], object]) -> QPushButton:
        button = QPushButton(text, autoDefault=False)
        button.setToolTip(what)
        button.setAccessibleDescription(what)
        button.clicked.connect(action)
        return button

    def _lay_out(self) -> None:
        top = in_row((self.search, STRETCH), self.archived)
        bottom = in_row(
            self.open_button,
            self.resume_button,
            self.rename_button,
            self.compare_button,
            self.archive_button,
            self.delete_button,
            (self.count, STRETCH),
            self.close_button,
        )
        in_column(top, (self.view, STRETCH), self.note, self.said, bottom, on=self, margins=None)
        make_room(self, 180, 34, 0.92)


_WIDEST = (
    "9999",
    "",
    "1,248 of 1,248",
    "submission",
    "",
    "",
    "2026-12-12 22:22",
    "does not judge",
    "2026-12-12",
)
"""By column, how wide a text may be that is shown whole."""
