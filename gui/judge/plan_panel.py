"""What a run would take: planned a moment after each change; the offer to resume the last run."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QPushButton, QWidget

from engine.core.errors import EngineError
from engine.core.events import FilesRead, MeasureProgress, Preparing, RunEnded
from engine.core.formatting import short_name, visible, without_middle
from engine.settings.run_setup import RunSetup
from gui.judge import run_jobs
from gui.judge.run_control import RunControl
from gui.judge.run_jobs import Planned
from gui.models.model_table import FIT_ROLES
from gui.widgets import labels
from gui.widgets.actions import BusyLine
from gui.widgets.foreign_text import OneLine, one_line, set_tip
from gui.widgets.label_mark import Pill
from gui.widgets.notice import Notice
from gui.widgets.value_table import sentence_case
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import WAITING, ThreadName
from gui.workspace.workspace import Workspace

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.judging.forecast import Forecast


class PlanPanel(QWidget):
    """Shows that a plan is being made, the plan, or why there is none."""

    cancelled = Signal()
    context_wanted = Signal(object)  # tokens

    def __init__(self) -> None:
        super().__init__()
        self._context: int | None = None
        self._busy = BusyLine()
        self._busy.cancelled.connect(self.cancelled)
        self._problem = Notice()
        self.again_button = QPushButton("Try again")
        labels.name(self.again_button, "Plan again")
        self._hint = labels.hint("")
        self._notices = labels.label("")
        self._notices.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._outcomes = (self._problem, self.again_button, self._hint)  # why there is no plan
        self._subject = OneLine()  # what is planned
        self._fit = Pill()
        self.time_button = QPushButton("Time some items")
        labels.name(
            self.time_button,
            "Judge some items to know the time",
            "Judges four items of typical length (two if that takes minutes) and stores nothing.",
        )
        self._context_button = QPushButton("")
        self._context_button.clicked.connect(lambda: self.context_wanted.emit(self._context))
        self.shorten_button = QPushButton("Shorten them")
        labels.name(
            self.shorten_button,
            "Shorten the items that do not fit",
            "Omits the middle of their responses; the run records it.",
        )
        self._buttons = (self._fit, self.time_button, self._context_button, self.shorten_button)
        top = labels.in_row(labels.heading("Plan"), (self._subject, labels.STRETCH))
        shown = (self._hint, self._busy, self._problem, self._facts(), self._notices)
        labels.in_column(labels.panel(top, *shown, (self.again_button, Qt.AlignmentFlag.AlignLeft)), on=self)
        self.show_nothing("")

    @property
    def text(self) -> str:
        return labels.shown_text(self)

    def show_nothing(self, why: str) -> None:
        """There is no plan; `why` says what is missing."""
        self._reset()
        self._subject.setText("")
        labels.show_text(self._hint, why)

    def begin(self, setup: RunSetup) -> None:
        """A plan of this follows: no figure of another one is shown, and its rows keep their places."""
        self._subject.setText(short_name(setup.dataset_in_words))
        for value in self._values.values():
            value.setText("…")
            value.setToolTip("")
        for widget in (*self._outcomes, self._notices, *self._buttons):
            widget.hide()
        self._busy.begin("A plan follows …")

    def show_work(self, event: Preparing | FilesRead | MeasureProgress) -> None:
        """Show how far the making of a plan is, or the timing of what is planned."""
        if not self._busy.isVisibleTo(self):
            for widget in self._outcomes:
                widget.hide()
            self._busy.begin("")
        if isinstance(event, MeasureProgress):
            text = f"Counting tokens: {event.done:,} of {event.total:,} items"
            self._busy.go_on(text, event.done, event.total)
        elif isinstance(event, Preparing):
            self._busy.go_on(f"{event.what} …")

    def show_error(self, error: EngineError) -> None:
        self._reset()
        self._problem.show_error(error)
        self.again_button.show()

    def show_stopped(self) -> None:
        self.show_nothing("The plan is not complete. A run can start without it.")
        self.again_button.show()

    def show_plan(self, planned: Planned) -> None:
        self._reset()
        forecast = planned.forecast
        for fact, text in planned.facts.pairs:
            self._say(sentence_case(fact), text)
        on, remark = planned.computing.on, planned.computing.remark
        self._say("Computes on", f"{on}. {remark}" if remark else on)
        self._say("Time", forecast.time_in_words)
        self._fit.say(str(planned.fit), FIT_ROLES[str(planned.fit)])
        self._fit.show()
        untimed = (forecast.seconds is None or forecast.seconds_of_file) and not forecast.complete
        self.time_button.setVisible(untimed and len(forecast.too_long) < forecast.items)
        self._offer_room(planned)
        labels.show_text(self._notices, "\n".join(f"• {visible(notice)}" for notice in planned.notices))
        self._table.show()

    def _offer_room(self, planned: Planned) -> None:
        lost, shortened = planned.forecast.too_long, planned.forecast.shortened
        if not lost and not shortened:
            return
        set_tip(self._values["Too long"], ", ".join((*lost, *shortened)))
        self._context = planned.forecast.context_that_fits_all
        if self._context is not None:
            self._context_button.setText(f"Use a context of {self._context:,}")
            self._context_button.show()
        self.shorten_button.setVisible(bool(lost) and not planned.setup.shorten)

    def _facts(self) -> QWidget:
        self._captions: dict[str, QLabel] = {}
        self._values: dict[str, QLabel] = {}
        self._table = QWidget()
        grid = QGridLayout(self._table)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(6)
        grid.setHorizontalSpacing(14)
        grid.setColumnStretch(1, 1)
        rows: Sequence[tuple[str, Sequence[QWidget]]] = (
            ("In the store", ()),
            ("Raw predictions", ()),
            ("Too long", ()),
            ("", (self._context_button, self.shorten_button)),
            ("Tokens", ()),
            ("Elicitation methods", ()),
            ("Memory", (self._fit,)),
            ("Computes on", ()),
            ("Time", (self.time_button,)),
        )
        for row, (caption, beside) in enumerate(rows):
            grid.addLayout(_line(beside, self._value(caption)), row, 1)
            if caption:
                grid.addWidget(self._captions[caption], row, 0, Qt.AlignmentFlag.AlignTop)
        return self._table

    def _value(self, caption: str) -> QLabel | None:
        if not caption:
            return None
        self._captions[caption] = labels.hint(caption, wrap=False)
        self._values[caption] = labels.label("")
        self._values[caption].setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        return self._values[caption]

    def _say(self, caption: str, text: str) -> None:
        self._values[caption].setText(visible(text))
        self._values[caption].setToolTip("")
        self._values[caption].show()
        self._captions[caption].show()

    def _reset(self) -> None:
        self._busy.end()
        for widget in (
            *self._outcomes,
            *self._buttons,
            self._notices,
            self._table,
            *self._values.values(),
            *self._captions.values(),
        ):
            widget.hide()


def _line(widgets: Sequence[QWidget], value: QLabel | None) -> QHBoxLayout:
    beside = [(widget, Qt.AlignmentFlag.AlignVCenter) for widget in widgets]
    if value is None:
        return labels.in_row(*beside, labels.STRETCH, spacing=8)
    return labels.in_row((value, labels.STRETCH), *beside, spacing=8)


_REST_MS = 350  # of no change before a plan is made


class Planner(QObject):
    """Holds the newest plan. Whatever a new one replaces is dropped."""

    begun = Signal(object)  # the RunSetup of which a plan follows
    progress = Signal(object)  # Preparing, FilesRead or MeasureProgress
    planned = Signal()  # `plan` is there
    failed = Signal(object)  # an EngineError: there is no plan
    stopped = Signal()  # the making of the plan was cancelled

    def __init__(self, workspace: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._wanted: tuple[RunSetup, Dataset] | None = None
        self.plan: Planned | None = None
        self._rest = QTimer(self, singleShot=True, interval=_REST_MS)
        self._rest.timeout.connect(self.make)
        threads, model = workspace.threads, ThreadName.MODEL
        self._planning = TaskPanel(
            threads,
            model,
            self,
            self._take,
            follow=self.progress.emit,
            failed=self.failed.emit,
            stopped=self.stopped.emit,
        )
        self._timing = TaskPanel(
            threads,
            model,
            self,
            self._take_time,
            follow=self.progress.emit,
            failed=self._take_no_time,
            stopped=self.planned.emit,
        )

    def want(self, setup: RunSetup, dataset: "Dataset") -> None:
        """Plan this after a moment, unless its plan is there or under way."""
        under_way = self._rest.isActive() or self._planning.busy or self.plan is not None
        if under_way and self._wanted == (setup, dataset):
            return
        self.drop()
        self._wanted = (setup, dataset)
        self._rest.start()
        self.begun.emit(setup)

    def drop(self) -> None:
        self._rest.stop()
        self._planning.drop()
        self._timing.drop()
        self.plan = None
        self._wanted = None

    @Slot()
    def make(self) -> None:
        if self._wanted is not None:
            setup, dataset = self._wanted
            self.plan = None
            self._rest.stop()
            self._timing.drop()
            waits = self._workspace.threads.busy(ThreadName.MODEL)
            self.begun.emit(setup)
            self.progress.emit(Preparing(WAITING if waits else "Making a plan"))
            self._planning.start(run_jobs.plan(setup, self._workspace.store_path, dataset))

    @Slot()
    def time_anew(self) -> None:
        """Make the plan again where its time may come from the speed of the model file: that is new."""
        made = self.plan.forecast if self.plan is not None else None
        if made is not None and (made.seconds is None or made.seconds_of_file):
            self.make()

    @Slot()
    def time(self) -> None:
        if self.plan is not None and self._wanted is not None:
            self._timing.start(run_jobs.time_first(self.plan, self._wanted[1]))

    @Slot()
    def cancel(self) -> None:
        """Stop what is under way; `stopped`, or `planned` where a plan is there, tells when it has."""
        self._planning.cancel()
        self._timing.cancel()

    @Slot(object)
    def _take(self, plan: Planned) -> None:
        self.plan = plan
        self.planned.emit()

    @Slot(object)
    def _take_time(self, timed: "Forecast") -> None:
        if self.plan is not None:
            self.plan = replace(self.plan, forecast=timed)
            self.planned.emit()

    @Slot(object)
    def _take_no_time(self, error: object) -> None:
        self.plan = None
        self.failed.emit(error)


_LONGEST_NAME = 80  # characters


class ResumeBanner(QFrame):
    """Hidden until there is such a run; gone when a run starts, back where the page cannot go on with it."""

    resumed = Signal(object)  # a RunSetup that names the run
    queue_wanted = Signal(object)  # the same

    def __init__(
        self,
        workspace: Workspace,
        control: RunControl,
        described: Callable[[], RunSetup],
    ) -> None:
        """`described`: the run that the page describes."""
        super().__init__()
        self._workspace = workspace
        self._control = control
        self._described = described
        self._offered: RunSetup | None = None
        self._which = "The last run"
        self.setProperty("role", "note")
        self._text = labels.label("")
        resume = QPushButton("Resume")
        labels.name(resume, "Resume the run that was not finished")
        resume.clicked.connect(self._resume)
        queue = QPushButton("Add to queue")
        labels.name(queue, "Add the run that was not finished to the queue", "It is resumed in its turn.")
        queue.clicked.connect(self._queue)
        dismiss = QPushButton("Dismiss")
        labels.name(dismiss, "Dismiss the offer to resume", "Judged items stay in the store.")
        dismiss.clicked.connect(self._dismiss)
        labels.guard(resume, queue, dismiss)
        labels.in_row((self._text, labels.STRETCH), resume, queue, dismiss, on=self, margins=(12, 8, 12, 8))
        control.started.connect(self._withdraw)
        control.ended.connect(self._follow_end)
        workspace.runs_changed.connect(self._say)
        workspace.runs_deleted.connect(self._follow_deletion)
        self._offer()

    @property
    def text(self) -> str:
        return self._text.text()

    def _offer(self) -> None:
        setup = self._control.unfinished
        self._offered = setup and replace(setup, resumes=self._control.unfinished_run)
        self.setVisible(setup is not None)
        self._say()

    @Slot()
    def _say(self) -> None:
        if self._offered is None:
            return
        number = self._offered.resumes
        stored = next((run for run in self._workspace.runs if run.id == number), None)
        far = f": {stored.judged:,} of {stored.identity.items:,} items are judged" if stored else ""
        whole = self._offered.dataset_in_words
        dataset = one_line(without_middle(whole, _LONGEST_NAME))
        text = visible(f"{self._which}, of {dataset}, was not finished{far}.")
        self._text.setText(text)
        set_tip(self._text, whole if len(whole) > _LONGEST_NAME else "")
        self.setAccessibleName(text)

    @Slot()
    def _resume(self) -> None:
        self.resumed.emit(self._offered)

    @Slot()
    def _queue(self) -> None:
        """The queue remembers this one from now on; the one that was begun before it is offered."""
        self.queue_wanted.emit(self._offered)
        self._control.forget_unfinished()
        self._which = "An earlier run"
        self._offer()

    @Slot()
    def _dismiss(self) -> None:
        self._control.forget_unfinished()
        self._withdraw()

    @Slot(object)
    def _follow_deletion(self, run_ids: Sequence[int]) -> None:
        if self._offered is not None and self._offered.resumes in run_ids:
            self._withdraw()

    @Slot()
    def _withdraw(self) -> None:
        self._offered, self._which = None, "The last run"
        self.hide()

    @Slot(object)
    def _follow_end(self, how: RunEnded | EngineError | None) -> None:
        asked, number = self._control.setup, self._control.unfinished_run
        if asked is None or number is None:
            return
        now = self._described()
        same_items = (now.dataset_path, now.ids, now.sample) == (
            *(asked.dataset_path.absolute(), asked.ids, asked.sample),
        )
        elsewhere = self._workspace.dataset is None or not same_items
        refused = isinstance(how, EngineError) and asked.resumes == number
        # Where the user turned to other items meanwhile, the page's own button would judge these.
        stopped = isinstance(how, RunEnded) and how.stopped and how.run_id == number
        if refused or (stopped and elsewhere):
            self._offer()
