"""The queue on the Judge page: what waits, what became of it, and the buttons for it.

Knows: how a queue is shown. Does not know: when runs begin.
"""

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from engine.core.formatting import short_name, visible
from engine.settings.run_setup import RunSetup
from gui.runs.queue import MOST_QUEUED, Queued, QueueState, RunQueue
from gui.runs.runs_table import RunNameDialog
from gui.widgets.action_table import with_keys
from gui.widgets.actions import add_key
from gui.widgets.fields import FlowLayout
from gui.widgets.foreign_text import OneLine, one_line, tip
from gui.widgets.labels import STRETCH, guard, heading, in_column, in_row, name
from gui.widgets.value_table import Head, HeadedModel, Index
from gui.widgets.views import FillingView, dressed

_HEADS = (Head("Run"), Head("Model"), Head("State"))
RUN, MODEL, STATE = range(len(_HEADS))
_LINES = 2  # of text in a row
_MOST_ROWS = 4
_RESUME = "Resume the chosen run, then judge the waiting runs"
_GONE = "The chosen run is not in the run store any more: Try again starts it again"
_LEAST = {RUN: 22, MODEL: 10, STATE: 20}  # characters of each column that are always shown


class QueueTableModel(HeadedModel):
    """Shows what it is given."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(_HEADS, parent)
        self._entries: Sequence[Queued] = ()

    def show_entries(self, entries: Sequence[Queued]) -> None:
        """Show these; rows stay chosen where there are as many as before."""
        if len(entries) == len(self._entries):
            self._entries = entries
            self._tell_changed(0, len(entries) - 1)
            return
        self.beginResetModel()
        self._entries = entries
        self.endResetModel()

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The text of a cell, and all of the run as tool tip."""
        if not index.isValid():
            return None
        entry = self._entries[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return "\n".join(one_line(line) for line in _lines(entry)[index.column()])
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return tip(_about(entry)) if role == Qt.ItemDataRole.ToolTipRole else one_line(entry.in_words)
        return super().data(index, role)

    def _count_rows(self) -> int:
        return len(self._entries)


def _about(entry: Queued) -> str:
    """All of a run, each part on a line of its own."""
    parts = (entry.name, entry.what, str(entry.setup.model_path), entry.how, entry.outcome, entry.note)
    return "\n".join(part for part in parts if part)


def _lines(entry: Queued) -> tuple[tuple[str, ...], ...]:
    """The lines of each cell."""
    return (
        (entry.title, entry.how),
        (short_name(entry.setup.model_path.stem),),
        entry.outcome_lines,
    )


class QueuePanel(QFrame):
    """Hidden while the queue is empty; `add_button` stands elsewhere."""

    added = Signal(str)  # what was put into the queue, or why nothing was, in a sentence

    def __init__(self, queue: RunQueue, wanted: Callable[[], RunSetup | None]) -> None:
        """`wanted`: the run that the user has described, None where something of it lacks."""
        super().__init__()
        self.setProperty("role", "panel")
        self._queue = queue
        self._wanted = wanted
        self.add_button = QPushButton("Add to queue")
        accessible = with_keys("Add to queue", "add_to_queue")
        name(self.add_button, accessible, "Judge the described run after the others")
        self.add_button.clicked.connect(self.add_run)
        self.table = QueueTableModel(self)
        self.view = dressed(FillingView(lines=_LINES), self.table, "Queue of runs")
        self.view.setToolTip("Alt+Up and Alt+Down move a run, F2 names it, Delete removes it.")
        self._summary = OneLine()
        self._ended = ""  # what became of the queue, until it goes on
        self._make_buttons()
        top = in_row(heading("Queue"), (self._summary, STRETCH))
        in_column(top, self.view, self._buttons, on=self, margins=(12, 10, 12, 10), spacing=8)
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

    @property
    def text(self) -> str:
        """What it says, for screen readers and tests."""
        rows = "\n".join(entry.in_words for entry in self._queue.entries)
        return "\n".join(part for part in (self._summary.text(), rows) if part)

    def restyle(self) -> None:
        """Follow another text size."""
        # One takes the place of the other when a queue ends, under the hand of whoever presses what follows.
        both = (self.start_button, self.pause_button)
        for button in both:
            button.ensurePolished()
            button.setMinimumWidth(max(each.sizeHint().width() for each in both))
        letter = self.view.fontMetrics().averageCharWidth()
        self.view.fill({column: letters * letter for column, letters in _LEAST.items()})
        self._fit()

    def move_run(self, step: int) -> None:
        """Let the chosen run change places with its neighbour, and stay chosen."""
        place = self._place()
        if place is not None and self._queue.move(place, step):
            self.view.selectRow(place + step)

    @Slot()
    def add_run(self) -> None:
        """Put what the user has described at the end of the queue."""
        setup = self._wanted()
        if setup is not None:
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

    @Slot()
    def call_run(self) -> None:
        """Ask for the name and the note of the chosen run."""
        place = self._place()
        if place is not None:
            dialog = RunNameDialog(self._queue.entries[place], self)
            # Nothing changes places while the dialog holds the window, however the runs go on.
            dialog.called.connect(lambda name, note: self._queue.call(place, name, note))
            dialog.open()

    @Slot()
    def remove_run(self) -> None:
        """Take the chosen run out."""
        place = self._place()
        if place is not None:
            self._queue.remove(place)
            self.view.selectRow(min(place, self.table.rowCount() - 1))

    # Making

    def _make_buttons(self) -> None:
        self._buttons = QWidget()
        flow = FlowLayout(self._buttons)
        queue = self._queue
        self.start_button = self._button("Start queue", "Judge the waiting runs, one after another", flow)
        self.start_button.clicked.connect(queue.start)
        self.pause_button = self._button(
            "Pause after this run", "Start no further run after the current one", flow
        )
        self.pause_button.clicked.connect(queue.pause)
        self.skip_button = self._button(
            "Skip this run", "Stop the current run and start the next; judged items stay saved", flow
        )
        self.skip_button.clicked.connect(queue.skip)
        self.up_button = self._button("Up", "Judge the chosen run earlier (Alt+Up)", flow)
        self.up_button.clicked.connect(lambda: self.move_run(-1))
        self.down_button = self._button("Down", "Judge the chosen run later (Alt+Down)", flow)
        self.down_button.clicked.connect(lambda: self.move_run(1))
        self.name_button = self._button(
            "Name…", "Give the chosen run a name and a note, before it begins too (F2)", flow
        )
        self.name_button.clicked.connect(self.call_run)
        self.remove_button = self._button("Remove", "Remove the chosen run from the queue (Delete)", flow)
        self.remove_button.clicked.connect(self.remove_run)
        self.resume_button = self._button("Resume", "", flow)
        self.resume_button.clicked.connect(self._resume)
        self.again_button = self._button(
            "Try again", "Put the chosen run, which has ended, back into the queue", flow
        )
        self.again_button.clicked.connect(self._repeat)
        self.clear_button = self._button(
            "Clear ended", "Remove all ended runs from the queue; judged items stay saved", flow
        )
        self.clear_button.clicked.connect(queue.clear_ended)
        guard(self._buttons)

    def _button(self, text: str, what: str, flow: FlowLayout) -> QPushButton:
        button = QPushButton(text)
        name(button, f"{text}: queue", what)
        flow.addWidget(button)
        return button

    # What it shows

    def _place(self) -> int | None:
        row = self.view.currentIndex().row()
        return row if 0 <= row < len(self._queue.entries) else None

    @Slot()
    def _resume(self) -> None:
        place = self._place()
        if place is not None:
            run_id = self._queue.entries[place].run_id
            self._queue.resume(place)
            self.view.selectRow([entry.run_id for entry in self._queue.entries].index(run_id))

    @Slot()
    def _repeat(self) -> None:
        place = self._place()
        if place is not None:
            self._queue.repeat(place)

    @Slot(str)
    def _tell_end(self, summary: str) -> None:
        self._ended = visible(summary)
        self._show()

    @Slot()
    def _show(self) -> None:
        queue = self._queue
        self.table.show_entries(queue.entries)
        if queue.going or not queue.entries:
            self._ended = ""
        self._summary.setText(self._ended or queue.summary)
        self.setVisible(bool(queue.entries))
        self._fit()
        self._show_buttons()

    @Slot()
    def _show_buttons(self) -> None:
        queue, place = self._queue, self._place()
        entry = queue.entries[place] if place is not None else None
        waits = entry is not None and entry.state is QueueState.WAITING
        under_way = queue.current is not None
        self.start_button.setVisible(not queue.going)
        self.start_button.setEnabled(queue.waiting > 0)
        self.pause_button.setVisible(queue.going)
        self.skip_button.setEnabled(under_way)
        self.up_button.setEnabled(waits and place != 0)
        self.down_button.setEnabled(waits and place != len(queue.entries) - 1)
        self.name_button.setEnabled(entry is not None)
        self.remove_button.setEnabled(entry is not None and entry.state is not QueueState.UNDER_WAY)
        self.resume_button.setVisible(entry is not None and entry.resumable)
        there = place is not None and queue.is_stored(place)
        self.resume_button.setEnabled(there)
        name(self.resume_button, "Resume: queue", _RESUME if there else _GONE)
        self.again_button.setVisible(
            entry is not None and entry.state in (QueueState.FAILED, QueueState.SKIPPED)
        )
        self.clear_button.setVisible(any(one.state.ended for one in queue.entries))

    @Slot()
    def _fit(self) -> None:
        rows = min(max(self.table.rowCount(), 1), _MOST_ROWS)
        height = self.view.horizontalHeader().sizeHint().height()
        height += rows * self.view.verticalHeader().defaultSectionSize() + 2 * self.view.frameWidth()
        bar = self.view.horizontalScrollBar()
        height += bar.sizeHint().height() if bar.maximum() else 0
        self.view.setFixedHeight(height)
