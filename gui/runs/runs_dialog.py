"""All runs of the store in one place, with their health: found, named, noted, opened, compared, put away,
deleted.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6 import QtCore, QtWidgets
from PySide6.QtCore import QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QKeySequence, QShowEvent

from engine.core.errors import EngineError, SetupError
from engine.core.formatting import counted, visible
from engine.core.health import Health
from engine.core.tables import Sheet, Table
from engine.settings.identity import LONGEST_NAME, AnyRun, DamagedRun, StoredRun, checked_name, checked_note
from engine.settings.run_lists import Deleted, RunContents, amount_of_file, run_in_lines, run_list
from gui.runs.queue import Queued
from gui.widgets import labels
from gui.widgets.actions import add_key, timer
from gui.widgets.foreign_text import OneLine, plain_label, tip
from gui.widgets.notice import IN_THE_WINDOW, problem_of
from gui.widgets.text_views import SheetView
from gui.widgets.views import SORT_ROLE, VALUE_ROLE, FillingView, Index, TableModel, dressed
from gui.workspace import store_jobs
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import Job, ThreadName
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


class RunsOrder(QtCore.QSortFilterProxyModel):
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
        labels.name(self, accessible, what)

    @property
    def modified(self) -> bool:
        return self.document().isModified()

    def fill(self, text: str) -> None:
        with QtCore.QSignalBlocker(self):
            self.setPlainText(text)
        self.document().setModified(False)

    def take(self) -> str:
        """The note as it is written now, which counts as kept from here on."""
        self.document().setModified(False)
        return self.toPlainText()


class RunNameDialog(labels.Dialog):
    """Asks how a run is called; what cannot be stored is said, and the dialog stays open."""

    called = Signal(str, str)  # name, note

    def __init__(self, entry: Queued, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__("Name and note", parent, 64)
        shown = "Name, shown in lists"
        self.name = QtWidgets.QLineEdit(entry.name, maxLength=LONGEST_NAME, placeholderText=shown)
        self.name.selectAll()
        labels.name(self.name, "Name of the run")
        self.note = NoteField("Note of the run")
        self.note.setPlaceholderText("Note")
        self.note.fill(entry.note)
        self.said = labels.silent("warning")
        what = OneLine(f"{entry.what}, {entry.setup.model_path.stem}, {entry.how}", role="")
        when = labels.hint(_WHEN if entry.run_id is None else f"Run {entry.run_id} gets the name at once.")
        parts = (what, self.name, self.note, when, self.said, labels.ok_and_cancel(self))
        labels.in_column(*parts, on=self, margins=None, spacing=10)

    def accept(self) -> None:
        try:
            called = checked_name(self.name.text()), checked_note(self.note.toPlainText())
        except SetupError as error:
            labels.show_text(self.said, "\n".join(problem_of(error)))
        else:
            self.called.emit(*called)
            super().accept()


_REST_MS = 700  # without a key before a note is stored
_RESUME = "Resume the run; while another run is judged, in the queue"
_LEAST = {NAME: 16, DATASET: 12, MODEL: 12}  # letters, of those that share
_WIDEST = (  # by column, the text that is shown whole
    *("9999", "", "1,248 of 1,248", "submission", "", ""),
    *("2026-12-12 22:22", "does not judge", "2026-12-12"),
)


class RunsDialog(labels.Dialog):
    """Stays open beside the window; what is done in it takes effect at once."""

    deleted = Signal(object)  # the numbers of runs that are gone
    resume_wanted = Signal(object)  # a StoredRun that is not finished

    def __init__(
        self, workspace: Workspace, health: RunHealth, parent: QtWidgets.QWidget | None = None
    ) -> None:
        super().__init__("Runs", parent, 180, 34, 0.92)
        self._workspace, self._health = workspace, health
        self._noted: int | None = None  # the run whose note is in the field
        self._written: dict[int, str] = {}  # by run, notes that the list of runs may not know yet
        self._make_table()
        self.note = NoteField("Note of the chosen run", "Stored as you write")
        self.said = labels.silent("warning")
        self.count = OneLine()
        self._make_buttons()
        self._rest = timer(self, _REST_MS, self._keep_note)
        self.note.textChanged.connect(self._rest.start)
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

    # Making

    def _make_table(self) -> None:
        self.table = RunsTableModel(self)
        self.table.renamed.connect(lambda run_id, text: self._call(run_id, name=text))
        self.order = RunsOrder(self.table, self)
        self.view = dressed(FillingView(), self.order, "All runs")
        self.view.setSelectionMode(QtWidgets.QAbstractItemView.SelectionMode.ExtendedSelection)
        self.view.setSortingEnabled(True)
        self.view.sortByColumn(RUN, Qt.SortOrder.DescendingOrder)
        letter = self.view.fontMetrics().averageCharWidth()
        for column, sample in enumerate(_WIDEST):
            wanted = self.view.fontMetrics().horizontalAdvance(sample) + 18
            self.view.setColumnWidth(column, max(wanted, self.view.title_width(column) + 14))
        self.view.fill({column: letters * letter for column, letters in _LEAST.items()})
        self.view.activated.connect(self.open_run)
        names = NameDelegate(self.view)
        self.view.setItemDelegateForColumn(NAME, names)
        # Not at once: the view is in the middle of it.
        names.closeEditor.connect(self._show_runs, Qt.ConnectionType.QueuedConnection)
        self.view.selectionModel().selectionChanged.connect(self._follow_choice)

    def _make_buttons(self) -> None:
        def button(text: str, what: str, action: Callable[[], object]) -> QtWidgets.QPushButton:
            made = labels.button(text, action, what=what)
            made.setAutoDefault(False)
            return made

        what = "Search names, notes, models, datasets, settings"
        self.search = QtWidgets.QLineEdit(placeholderText=what, clearButtonEnabled=True)
        labels.name(self.search, "Search runs")
        self.search.textChanged.connect(self._search)
        self.archived = QtWidgets.QCheckBox("Show &archived")
        self.archived.toggled.connect(self._search)
        self.open_button = button("&Open", "Look at the run on the Results page (Enter)", self.open_run)
        self.resume_button = button("&Resume", _RESUME, self.resume)
        self.rename_button = button("Re&name", "Give the run another name (F2)", self.rename)
        both = "Compare two runs, with a regression check: choose two with Ctrl"
        self.compare_button = button("Compare &settings", both, self.compare)
        hidden = "Hide the runs in the lists; nothing is deleted"
        self.archive_button = button("&Archive", hidden, self.archive)
        self.delete_button = button("&Delete…", "Delete the runs, after a confirmation (Del)", self.delete)
        self.close_button = button("Close", "", self.accept)
        add_key(self, QKeySequence.StandardKey.Find, self.search.setFocus, inside=True)
        add_key(self.view, QKeySequence.StandardKey.Delete, self.delete)
        add_key(self.view, "F2", self.rename)
        top = labels.in_row((self.search, labels.STRETCH), self.archived)
        bottom = labels.in_row(
            *(self.open_button, self.resume_button, self.rename_button, self.compare_button),
            *(self.archive_button, self.delete_button, (self.count, labels.STRETCH), self.close_button),
        )
        labels.in_column(
            top, (self.view, labels.STRETCH), self.note, self.said, bottom, on=self, margins=None
        )

    # What is chosen

    @property
    def chosen(self) -> "list[AnyRun]":
        rows = sorted(self.view.selectionModel().selectedRows())
        return [self.table.run_at(self.order.mapToSource(row).row()) for row in rows]

    def choose(self, *run_ids: int) -> None:
        chosen, how = self.view.selectionModel(), QtCore.QItemSelectionModel.SelectionFlag
        chosen.clearSelection()
        for shown in filter(QModelIndex.isValid, map(self._cell_of_name, run_ids)):
            chosen.setCurrentIndex(shown, how.Select | how.Rows)

    def _cell_of_name(self, run_id: int) -> QModelIndex:
        row = self.table.row_of(run_id)
        return self.order.mapFromSource(self.table.index(-1 if row is None else row, NAME))

    # What is done with it

    @property
    def _editing(self) -> bool:
        return self.view.state() == QtWidgets.QAbstractItemView.State.EditingState

    def open_run(self) -> None:
        if self.open_button.isEnabled() and not self._editing:
            self._workspace.show_run(self.chosen[0].id)
            self.accept()

    def resume(self) -> None:
        if len(self.chosen) == 1:
            self.say("")
            self.resume_wanted.emit(self.chosen[0])

    def rename(self) -> None:
        if self.rename_button.isEnabled():
            self.view.edit(self._cell_of_name(self.chosen[0].id))

    def archive(self) -> None:
        ids, author = [run.id for run in self.chosen], self._workspace.author
        away = all(run.archived for run in self.chosen)
        if ids:
            self._do(self._in_store(lambda store: store.restore(ids) if away else store.archive(ids, author)))

    def compare(self) -> None:
        if len(self.chosen) == 2:
            first, other = sorted(run.id for run in self.chosen)
            path = self._workspace.store_path
            show = partial(self._show_differences, store_jobs.drift(path, first, other))
            self._do(store_jobs.differences(path, first, other), show, refresh=False)

    def delete(self) -> None:
        if ids := [run.id for run in self.chosen]:
            self._do(self._in_store(lambda store: store.contents(ids)), self._ask, refresh=False)

    def _ask(self, held: Sequence[RunContents]) -> None:
        def export() -> None:
            self.choose(ids[0])
            self.open_run()

        ids, dialog = [each.run.id for each in held], DeleteDialog(held, self)
        dialog.wanted.connect(lambda decisions: self._delete(ids, decisions))
        dialog.export_wanted.connect(export)
        labels.open_dialog(dialog)

    def _delete(self, ids: Sequence[int], with_decisions: bool) -> None:
        def tell(deleted: Deleted) -> None:
            for run_id in deleted.ids:
                self._written.pop(run_id, None)
            self.say(deleted.in_words)
            self.deleted.emit(deleted.ids)

        if self._noted in ids:
            self._show_note(None)
        self._do(self._in_store(lambda store: store.delete(ids, with_decisions)), tell)

    def _show_differences(self, drift: Job[Sheet], table: Table) -> None:
        dialog = DifferencesDialog(table, self)
        task = TaskPanel(self._workspace.threads, ThreadName.MEASURE, dialog, dialog.show_changes)
        task.failed.connect(dialog.tell_problem)
        labels.open_dialog(dialog)
        task.start(drift)

    def _in_store(self, ask: Callable[[Any], Any]) -> Job[Any]:
        return store_jobs.in_store(self._workspace.store_path, ask)

    def _do(self, job: Job[Any], then: Callable[[Any], object] | None = None, refresh: bool = True) -> None:
        self.say("")
        start = self._workspace.threads.start
        task = start(ThreadName.STORE, job, then, self.tell_problem, must_end=True)
        if refresh:
            task.ended.connect(self._workspace.refresh_runs)

    def tell_problem(self, error: EngineError) -> None:
        self.say("\n".join(problem_of(error)))
        self._show_runs()

    def say(self, text: str) -> None:
        labels.show_text(self.said, text)

    def _call(self, run_id: int, name: str | None = None, note: str | None = None) -> None:
        self.say("")
        try:
            self._workspace.call_run(run_id, name, note)
        except SetupError as error:
            self.tell_problem(error)

    # The note

    def _keep_note(self) -> None:
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
        # The note of a run: what was written here, until the list of runs has it, too.
        return self._written.get(run.id, run.note)

    def _take_notes(self) -> None:
        # Show what the store holds by now, unless somebody writes.
        for run in self._workspace.runs:
            # The store leaves out the space around a note, which whoever writes on still needs.
            if not self._workspace.words.count and self._written.get(run.id, "").strip() == run.note:
                self._written.pop(run.id, None)
            held = self._note_of(run).strip()
            if run.id == self._noted and not self.note.modified and held != self.note.toPlainText().strip():
                self.note.fill(held)

    # What is shown

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

    def _search(self) -> None:
        self.order.search(self.search.text(), self.archived.isChecked())
        self.view.setColumnHidden(ARCHIVED, not self.archived.isChecked())
        self._follow_choice()

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
        labels.name(self.resume_button, self.resume_button.text().replace("&", ""), why_not or _RESUME)
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

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._health.look(self._workspace.runs)

    def done(self, result: int) -> None:
        self._health.rest()
        super().done(result)


class DeleteDialog(labels.Dialog):
    """Where annotators decided something, the runs are deleted only once it is ticked that this goes, too."""

    wanted = Signal(bool)  # delete; with what annotators decided
    export_wanted = Signal()

    def __init__(self, held: Sequence[RunContents], parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__("Delete runs", parent, 84, 19)
        number = counted(len(held), "run", "runs")
        frees = amount_of_file(sum(each.n_bytes for each in held))
        decided = any(each.decided for each in held)
        held_in_words = visible("\n".join(each.in_words for each in held))
        self.list = QtWidgets.QPlainTextEdit(held_in_words, readOnly=True, tabChangesFocus=True)
        labels.name(self.list, "What would be deleted")
        self.tick = QtWidgets.QCheckBox("Delete the annotations in them, too")
        self.tick.setVisible(decided)
        buttons = QtWidgets.QDialogButtonBox(QtWidgets.QDialogButtonBox.StandardButton.Cancel)
        self.delete = QtWidgets.QPushButton(f"&Delete {number}", autoDefault=False)
        self.delete.setEnabled(not decided)
        self.tick.toggled.connect(lambda ticked: self.delete.setEnabled(ticked or not decided))
        self.delete.clicked.connect(self.accept)
        self.accepted.connect(lambda: self.wanted.emit(self.tick.isChecked()))
        opens = "Opens the first of the runs on the Results page"
        self.export = labels.button("&Export first…", self.reject, "Export first", opens)
        self.export.setAutoDefault(False)
        self.export.clicked.connect(self.export_wanted)
        buttons.addButton(self.export, QtWidgets.QDialogButtonBox.ButtonRole.ActionRole)
        buttons.addButton(self.delete, QtWidgets.QDialogButtonBox.ButtonRole.DestructiveRole)
        buttons.rejected.connect(self.reject)
        cancel = buttons.button(QtWidgets.QDialogButtonBox.StandardButton.Cancel)
        cancel.setDefault(True)
        cancel.setFocus()
        asked = labels.heading(f"Delete {number}? That frees about {frees}.")
        goes = plain_label("This cannot be undone. Export first what you may still need.")
        stays = labels.hint("Datasets, models, exports and the notes and tags of items stay.")
        parts = (asked, (self.list, labels.STRETCH), goes, stays, self.tick, buttons)
        labels.in_column(*parts, on=self, margins=None, spacing=10)


_FACT, _DIFFERS, _FIRST, _OTHER = range(4)


class DifferencesModel(TableModel):
    """What differs is bold."""

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        bold = role == Qt.ItemDataRole.FontRole and index.isValid() and self.differs(index.row())
        return self._bold if bold else super().data(index, role)

    def differs(self, row: int) -> bool:
        return self._table.rows[row][_DIFFERS] is True


class DifferencesDialog(labels.Dialog):
    """Two runs side by side, what differs first; below it what changed in their judgments, once given."""

    def __init__(self, table: Table, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__("Compare settings", parent, 150, 46)
        self.table = DifferencesModel(self)
        self.table.show_table(table)
        order = QtCore.QSortFilterProxyModel(self, filterKeyColumn=_DIFFERS, filterRole=VALUE_ROLE)
        order.setSourceModel(self.table)
        number = sum(self.table.differs(row) for row in range(self.table.rowCount()))
        said = counted(number, "difference", "differences") if number else "No differences"
        titles = (visible(table.titles[column]) for column in (_FIRST, _OTHER))
        self.summary = labels.hint(
            f"{' and '.join(titles)}: {said}. Names, notes and times are not compared."
        )
        self.only = QtWidgets.QCheckBox("Only what differs")
        self.only.setEnabled(number > 0)
        self.only.toggled.connect(lambda only: order.setFilterFixedString("true" if only else ""))
        labels.name(self.only, self.only.text())
        self.view = dressed(FillingView(), order, "Facts of two runs")
        letter = self.view.fontMetrics().averageCharWidth()
        self.view.setColumnWidth(_FACT, 32 * letter)
        self.view.setColumnWidth(_DIFFERS, self.view.title_width(_DIFFERS))
        self.view.fill({_FIRST: 20 * letter, _OTHER: 20 * letter})
        self.said = labels.hint("Regression check: reading both runs …")
        self.changes = SheetView()
        self._room = labels.scrolling(self.changes, "Regression check")
        self._room.hide()
        tables = ((self.view, 2), self.said, (self._room, 3))
        labels.in_column(self.summary, self.only, *tables, labels.close_button(self), on=self, margins=None)

    def show_changes(self, sheet: Sheet) -> None:
        self.said.hide()
        self.changes.show_sheet(sheet)
        self._room.show()

    def tell_problem(self, error: EngineError) -> None:
        self.said.setText(visible(f"No regression check. {problem_of(error)[0]}"))
