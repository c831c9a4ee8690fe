"""What a window has for its runs: the queue on the Judge page, their dialog, what its title and bar tell."""

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QApplication, QFrame, QPushButton, QWidget

from engine.core.errors import SetupError
from engine.core.formatting import short_name, visible
from engine.settings.identity import StoredRun
from engine.settings.run_setup import RunSetup
from engine.system.computer import Awake, KeepAwake
from gui.judge.judge_page import JudgePage
from gui.judge.run_jobs import DescribedAudit
from gui.runs.queue import MOST_QUEUED, Queued, QueueState, RunQueue
from gui.runs.runs_dialog import RunHealth, RunNameDialog, RunsDialog
from gui.widgets.action_table import with_keys
from gui.widgets.actions import add_key, timer
from gui.widgets.fields import FlowLayout
from gui.widgets.foreign_text import OneLine, one_line, tip
from gui.widgets.labels import STRETCH, button, heading, in_column, in_row, name, open_dialog
from gui.widgets.views import FillingView, Head, HeadedModel, Index, dressed
from gui.workspace.state import PageName, State
from gui.workspace.workspace import Workspace

_HEADS = (Head("Run"), Head("Model"), Head("State"))
RUN, MODEL, STATE = range(len(_HEADS))
_LINES = 2  # of text in a row
_MOST_ROWS = 4
_RESUME = "Resume the chosen run, then judge the waiting runs"
_GONE = "The chosen run is not in the run store any more: Try again starts it again"
_LEAST = {RUN: 22, MODEL: 10, STATE: 20}  # characters of each column that are always shown


class QueueTableModel(HeadedModel):
    def show_entries(self, entries: Sequence[Queued]) -> None:
        with self._changing(alike=len(entries) == len(self._shown)):
            self._shown = entries

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        entry = self._shown[index.row()]
        model = entry.setup.model_path
        if role == Qt.ItemDataRole.DisplayRole:
            cells = ((entry.title, entry.how), (short_name(model.stem),), entry.outcome)
            return "\n".join(one_line(line) for line in cells[index.column()])
        if role == Qt.ItemDataRole.ToolTipRole:
            outcome = ": ".join(entry.outcome)
            parts = (entry.name, entry.what, str(model), entry.how, outcome, entry.note)
            return tip("\n".join(filter(None, parts)))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return one_line(entry.in_words)
        return super().data(index, role)


class QueuePanel(QFrame):
    """What waits, what became of it, buttons. Hidden while it is empty; `add_button` stands elsewhere."""

    added = Signal(str)  # what was put into the queue, or why nothing was, in a sentence

    def __init__(self, queue: RunQueue, wanted: Callable[[], RunSetup | None]) -> None:
        """`wanted`: the run that the user has described, None where something of it lacks."""
        super().__init__()
        self.setProperty("role", "panel")
        self._queue, self._wanted = queue, wanted
        add, called = "Judge the described run after the others", with_keys("Add to queue", "add_to_queue")
        self.add_button = button("Add to queue", self.add_run, called, add)
        self.table = QueueTableModel(_HEADS, self)
        self.view = dressed(FillingView(lines=_LINES), self.table, "Queue of runs")
        self.view.setToolTip("Alt+Up and Alt+Down move a run, F2 names it, Delete removes it.")
        self._summary = OneLine()
        self._ended = ""  # what became of the queue, until it goes on
        top = in_row(heading("Queue"), (self._summary, STRETCH))
        in_column(top, self.view, self._make_buttons(), on=self, margins=(12, 10, 12, 10), spacing=8)
        add_key(self.view, "Alt+Up", lambda: self.move_run(-1))
        add_key(self.view, "Alt+Down", lambda: self.move_run(1))
        add_key(self.view, QKeySequence.StandardKey.Delete, self.remove_run)
        add_key(self.view, "F2", self.call_run)
        self.view.selectionModel().currentRowChanged.connect(self._show_buttons)
        self.view.horizontalScrollBar().rangeChanged.connect(self._fit)
        queue.changed.connect(self._show)
        queue.ended.connect(self._tell_end)
        self.restyle()
        self._show()

    def _make_buttons(self) -> QWidget:
        buttons, queue = QWidget(), self._queue
        flow = FlowLayout(on=buttons)

        def made(text: str, what: str, do: Callable[[], object]) -> QPushButton:
            flow.addWidget(new := button(text, do, f"{text}: queue", what))
            return new

        self.start_button = made("Start queue", "Judge the waiting runs, one after another", queue.start)
        pause = "Start no further run after the current one"
        self.pause_button = made("Pause after this run", pause, queue.pause)
        skip = "Stop the current run and start the next; judged items stay saved"
        self.skip_button = made("Skip this run", skip, queue.skip)
        self.up_button = made("Up", "Judge the chosen run earlier (Alt+Up)", lambda: self.move_run(-1))
        self.down_button = made("Down", "Judge the chosen run later (Alt+Down)", lambda: self.move_run(1))
        called = "Give the chosen run a name and a note, before it begins too (F2)"
        self.name_button = made("Name…", called, self.call_run)
        self.remove_button = made("Remove", "Remove the chosen run from the queue (Delete)", self.remove_run)
        self.resume_button = made("Resume", "", self._resume)
        again = "Put the chosen run, which has ended, back into the queue"
        self.again_button = made("Try again", again, lambda: queue.repeat(self._place))
        clear = "Remove all ended runs from the queue; judged items stay saved"
        self.clear_button = made("Clear ended", clear, queue.clear_ended)
        return buttons

    def restyle(self) -> None:
        # One takes the place of the other when a queue ends, under the hand of whoever presses what follows.
        both = (self.start_button, self.pause_button)
        for each in both:
            each.ensurePolished()
            each.setMinimumWidth(max(one.sizeHint().width() for one in both))
        letter = self.view.fontMetrics().averageCharWidth()
        self.view.fill({column: letters * letter for column, letters in _LEAST.items()})
        self._fit()

    # What the user does with it

    def add_run(self) -> None:
        if (setup := self._wanted()) is not None:
            self.add(setup)

    def add(self, setup: RunSetup) -> str:
        """Put a run at the end of the queue; what is said of it, or why that is not done."""
        said = "This run is in the queue already; change a setting, or remove it."
        if self._queue.add(setup):
            self.view.selectRow(self.table.rowCount() - 1)
            said = f"In the queue: {self._queue.entries[-1].in_words}."
        elif not self._queue.kept:
            said = "The queue cannot be written to the disk: nothing is added."
        elif len(self._queue.entries) >= MOST_QUEUED:
            said = f"The queue holds at most {MOST_QUEUED} runs: remove some."
        self.added.emit(said)
        return said

    @property
    def _place(self) -> int:
        """Of the chosen run in the queue; -1 for none."""
        return self.view.currentIndex().row()

    @property
    def _chosen(self) -> Queued | None:
        return self._queue.entries[self._place] if self._place >= 0 else None

    def move_run(self, step: int) -> None:
        if self._queue.move(place := self._place, step):
            self.view.selectRow(place + step)

    def call_run(self) -> None:
        if self._chosen is not None:
            place, dialog = self._place, RunNameDialog(self._chosen, self)
            # Nothing changes places while the dialog holds the window, however the runs go on.
            dialog.called.connect(lambda name, note: self._queue.call(place, name, note))
            open_dialog(dialog)

    def remove_run(self) -> None:
        place = self._place
        self._queue.remove(place)
        self.view.selectRow(min(place, self.table.rowCount() - 1))

    def _resume(self) -> None:
        if self._chosen is not None:
            run_id = self._chosen.run_id
            self._queue.resume(self._place)
            self.view.selectRow([entry.run_id for entry in self._queue.entries].index(run_id))

    # What it shows

    def _tell_end(self, summary: str) -> None:
        self._ended = visible(summary)
        self._show()

    def _show(self) -> None:
        queue, entries = self._queue, self._queue.entries
        self.table.show_entries(entries)
        self._ended = "" if queue.going or not entries else self._ended
        self._summary.setText(self._ended or queue.summary)
        self.setVisible(bool(entries))
        self._fit()
        self._show_buttons()

    def _show_buttons(self) -> None:
        queue, place, entry = self._queue, self._place, self._chosen
        waits = entry is not None and entry.state is QueueState.WAITING
        self.start_button.setVisible(not queue.going)
        self.start_button.setEnabled(queue.waiting > 0)
        self.pause_button.setVisible(queue.going)
        self.skip_button.setEnabled(queue.current is not None)
        self.up_button.setEnabled(waits and place != 0)
        self.down_button.setEnabled(waits and place != len(queue.entries) - 1)
        self.name_button.setEnabled(entry is not None)
        self.remove_button.setEnabled(entry is not None and entry.state is not QueueState.UNDER_WAY)
        self.resume_button.setVisible(entry is not None and entry.resumable)
        there = entry is not None and queue.is_stored(place)
        self.resume_button.setEnabled(there)
        name(self.resume_button, "Resume: queue", _RESUME if there else _GONE)
        again = entry is not None and entry.state in (QueueState.FAILED, QueueState.SKIPPED)
        self.again_button.setVisible(again)
        self.clear_button.setVisible(any(one.state.ended for one in queue.entries))

    def _fit(self) -> None:
        rows, bar = min(max(self.table.rowCount(), 1), _MOST_ROWS), self.view.horizontalScrollBar()
        inside = rows * self.view.verticalHeader().defaultSectionSize() + 2 * self.view.frameWidth()
        inside += bar.sizeHint().height() if bar.maximum() else 0
        self.view.setFixedHeight(self.view.horizontalHeader().sizeHint().height() + inside)


KEEP_AWAKE = "keep_awake"  # where the state keeps when the computer shall stay awake
_TICK_MS = 20_000  # a run may tell nothing for minutes, and the computer go to its battery meanwhile


def kept_awake(state: State) -> KeepAwake:
    """When the computer shall stay awake: as the user chose, else on mains."""
    chosen = state.text(KEEP_AWAKE, KeepAwake.MAINS)
    return KeepAwake(chosen) if chosen in set(KeepAwake) else KeepAwake.MAINS


class RunWatch(QObject):
    """Follows the runs of one window: while they are judged the computer stays awake, and the title says how
    far they are, for a minimised window shows nothing else. At their end the task bar calls.
    """

    def __init__(self, judge: JudgePage, queue: RunQueue, state: State, window: QWidget) -> None:
        super().__init__(window)
        self._control, self._queue, self._state, self._window = judge.control, queue, state, window
        self._say_awake = judge.run_panel.show_awake
        self._awake: Awake | None = None
        self._name = window.windowTitle()
        self._tick = timer(self, _TICK_MS, self._follow, once=False)
        for signal in (judge.control.started, judge.control.progressed, queue.changed):
            signal.connect(self._follow)
        judge.control.ended.connect(self._follow_end)
        queue.ended.connect(self._call)

    @property
    def awake(self) -> bool:
        return self._awake is not None and self._awake.active

    def set_name(self, name: str) -> None:
        self._name = name
        self._show_title()

    def follow_settings(self) -> None:
        self._release()
        self._follow()

    def _follow(self) -> None:
        if self._control.running or self._queue.going:
            if self._awake is None:
                self._awake = Awake(kept_awake(self._state))
                self._tick.start()
            self._awake.refresh()
        else:
            self._release()
        self._say_awake(self.awake)
        self._show_title()

    def _release(self) -> None:
        self._tick.stop()
        if self._awake is not None:
            self._awake.release()
            self._awake = None

    def _follow_end(self, _how: object) -> None:
        self._follow()
        if not self._queue.going:
            self._call()

    def _call(self) -> None:
        QApplication.alert(self._window)  # until somebody looks; nothing where the window is looked at

    def _show_title(self) -> None:
        running, progress, part = self._control.running, self._control.progress, self._queue.part
        done = f"{100 * progress.judged // max(1, progress.items)} %" if running and progress else ""
        which = f"run {part[0]} of {part[1]}" if running and part and part[1] > 1 else ""
        far = ", ".join(filter(None, (done, which)))
        self._window.setWindowTitle(" - ".join(filter(None, (far, self._name))))


class RunDesk(QObject):
    """Made once for a window; puts the queue on its Judge page."""

    def __init__(self, workspace: Workspace, judge: JudgePage, window: QWidget) -> None:
        super().__init__(window)
        self._workspace, self._window, self._judge = workspace, window, judge
        self.queue = RunQueue(judge.control, workspace, self)
        self.panel = QueuePanel(self.queue, judge.wanted)
        judge.take_in(self.panel.add_button, self.panel)
        self.watch = RunWatch(judge, self.queue, workspace.state, window)
        self.health = RunHealth(workspace, self)
        workspace.runs_deleted.connect(self.queue.forget_runs)
        judge.banner.queue_wanted.connect(self.panel.add)
        judge.audit_described.connect(self._queue_audit)
        self.panel.added.connect(workspace.note)
        self.queue.ended.connect(workspace.note)

    def _queue_audit(self, described: DescribedAudit) -> None:
        said = self.panel.add(described.setup)
        if described.lacking:
            self._workspace.note.emit(f"{said} {described.lacking}")

    def show_runs(self) -> None:
        dialog = RunsDialog(self._workspace, self.health, self._window)
        dialog.deleted.connect(self._workspace.forget_runs)
        dialog.resume_wanted.connect(lambda run: self._resume(run, dialog))
        open_dialog(dialog)

    def _resume(self, run: StoredRun, dialog: RunsDialog) -> None:
        """Go on with a run, at once or in the queue; the dialog says why where that cannot be."""
        try:
            setup = self._judge.control.going_on_with(run)
        except SetupError as error:
            dialog.tell_problem(error)
            return
        if self._judge.control.running:
            dialog.say(self.panel.add(setup))
        else:
            dialog.accept()
            self._workspace.page_wanted.emit(PageName.JUDGE)
            self._judge.resume(setup)

    def add_to_queue(self) -> None:
        self._workspace.page_wanted.emit(PageName.JUDGE)
        self.panel.add_run()

    def start_queue(self) -> None:
        self._workspace.page_wanted.emit(PageName.JUDGE)
        self.queue.start()
        if not self.queue.entries:
            self._workspace.note.emit("The queue is empty: describe a run and press Add to queue.")
