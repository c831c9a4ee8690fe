"""What a run would take: planned a moment after each change; the offer to resume the last run."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QWidget

from engine.core.errors import EngineError
from engine.core.events import FilesRead, MeasureProgress, Preparing, RunEnded
from engine.core.formatting import visible, without_middle
from engine.settings.run_setup import RunSetup
from gui.judge import run_jobs
from gui.judge.run_control import RunControl
from gui.judge.run_jobs import Planned
from gui.models.model_table import FIT_ROLES
from gui.widgets import labels
from gui.widgets.actions import BusyLine, timer
from gui.widgets.foreign_text import one_line, set_tip
from gui.widgets.label_mark import Pill
from gui.widgets.notice import Notice
from gui.widgets.views import sentence_case
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import WAITING, ThreadName
from gui.workspace.workspace import Workspace

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.judging.forecast import Forecast


_REST_MS = 350  # of no change before a plan is made
_FACTS = (
    "In the store",
    "Raw predictions",
    "Too long",
    "Tokens",
    "Elicitation methods",
    "Memory",
    "Computes on",
    "Time",
)


class PlanPanel(QWidget):
    """Makes the newest plan; shows that it is being made, the plan, or why there is none."""

    planned = Signal()  # `plan` is there, or is known to fail
    context_wanted = Signal(object)  # tokens
    shorten_wanted = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self._wanted: tuple[RunSetup, Dataset] | None = None
        self.plan: Planned | None = None
        self._context: int | None = None
        self._rest = timer(self, _REST_MS, self.make)

        threads, model = workspace.threads, ThreadName.MODEL
        take, follow, fail = self._take, self._show_work, self._fail
        self._planning = TaskPanel(threads, model, self, take, follow=follow, failed=fail)
        self._planning.cancelled.connect(self._show_stopped)
        self._timing = TaskPanel(threads, model, self, take, follow=follow, failed=fail)
        self._timing.cancelled.connect(self._show_plan)
        self._busy = BusyLine()
        for work in (self._planning, self._timing):
            self._busy.cancelled.connect(work.cancel)
        self._problem = Notice()
        self._again = labels.button("Try again", self.make, "Plan again")
        self._hint = labels.hint("")
        self._notices = labels.label("")
        self._notices.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._outcomes = (self._problem, self._again, self._hint)  # why there is no plan
        self._fit = Pill()
        named = "Judge some items to know the time"
        how = "Judges four items of typical length (two if that takes minutes) and stores nothing."
        self._time = labels.button("Time some items", self._time_some, named, how)
        self._more_room = labels.button("", lambda: self.context_wanted.emit(self._context))
        named, how = (
            "Shorten the items that do not fit",
            "Omits the middle of their responses; the run records it.",
        )
        self._shorten = labels.button("Shorten them", self.shorten_wanted.emit, named, how)
        self._buttons = (self._fit, self._time, self._more_room, self._shorten)
        shown = (labels.heading("Plan"), self._hint, self._busy, self._problem, self._facts(), self._notices)
        labels.in_column(labels.panel(*shown, (self._again, Qt.AlignmentFlag.AlignLeft)), on=self)
        self.show_nothing("")

    def want(self, setup: RunSetup, dataset: "Dataset") -> None:
        """Plan this after a moment, unless its plan is there or under way."""
        under_way = self._rest.isActive() or self._planning.busy or self.plan is not None
        if not under_way or self._wanted != (setup, dataset):
            self.drop()
            self._wanted = (setup, dataset)
            self._rest.start()
            self._begin()

    def drop(self) -> None:
        self._rest.stop()
        self._planning.drop()
        self._timing.drop()
        self.plan = self._wanted = None

    def make(self) -> None:
        if self._wanted is not None:
            wanted, self.plan = self._wanted, None
            self._rest.stop()
            self._timing.drop()
            waits = self._workspace.threads.busy(ThreadName.MODEL)
            self._begin()
            self._busy.go_on(f"{WAITING if waits else 'Making a plan'} …")
            self._planning.start(run_jobs.plan(self._workspace.store_path, *wanted))

    def time_anew(self) -> None:
        # Make the plan again where its time may come from the speed of the model file: that is new.
        made = self.plan.forecast if self.plan is not None else None
        if made is not None and made.untimed:
            self.make()

    def show_nothing(self, why: str) -> None:
        self.drop()
        self._show_none(why)

    def _show_none(self, why: str) -> None:
        self._reset()
        labels.show_text(self._hint, why)

    def _time_some(self) -> None:
        if self.plan is not None and self._wanted is not None:
            self._timing.start(run_jobs.time_first(self.plan, self._wanted[1]))

    def _take(self, found: "Planned | Forecast") -> None:
        """A plan, or the forecast of the plan that is shown with its time."""
        if isinstance(found, Planned):
            self.plan = found
        elif self.plan is not None:
            self.plan = replace(self.plan, forecast=found)
        self._show_plan()

    def _fail(self, error: EngineError) -> None:
        self.plan = None
        self._reset()
        self._problem.show_error(error)
        self._again.show()
        self.planned.emit()

    def _show_stopped(self) -> None:
        self._show_none("The plan is not complete. A run can start without it.")
        self._again.show()

    def _begin(self) -> None:
        # A plan of this follows: no figure of another one is shown, and its rows keep their places.
        for caption in self._lines:
            self._lines[caption][1].setText("…")
            self._lines[caption][1].setToolTip("")
        for widget in (*self._outcomes, self._notices, *self._buttons):
            widget.hide()
        self._busy.begin("A plan follows …")

    def _show_work(self, event: Preparing | FilesRead | MeasureProgress) -> None:
        if not self._busy.isVisibleTo(self):
            for widget in self._outcomes:
                widget.hide()
            self._busy.begin("")
        if isinstance(event, MeasureProgress):
            counting = f"Counting tokens: {event.done:,} of {event.total:,} items"
            self._busy.go_on(counting, event.done, event.total)
        elif isinstance(event, Preparing):
            self._busy.go_on(f"{event.what} …")

    def _show_plan(self) -> None:
        if (planned := self.plan) is None:
            return
        self._reset()
        forecast, computing = planned.forecast, planned.computing
        for fact, text in planned.facts.pairs:
            self._say(sentence_case(fact), text)
        self._say("Computes on", ". ".join(filter(None, (computing.on, computing.remark))))
        self._say("Time", forecast.time_in_words)
        self._fit.say(str(planned.fit), FIT_ROLES[str(planned.fit)])
        self._fit.show()
        self._time.setVisible(forecast.untimed and len(forecast.too_long) < forecast.items)
        if forecast.too_long or forecast.shortened:
            set_tip(self._lines["Too long"][1], ", ".join((*forecast.too_long, *forecast.shortened)))
            self._context = forecast.context_that_fits_all
            if self._context is not None:
                self._more_room.setText(f"Use a context of {self._context:,}")
                self._more_room.show()
            self._shorten.setVisible(bool(forecast.too_long) and not planned.setup.shorten)
        labels.show_text(self._notices, "\n".join(f"• {visible(notice)}" for notice in planned.notices))
        self._table.show()
        self.planned.emit()

    def _facts(self) -> QWidget:
        self._table = QWidget()
        grid = QGridLayout(self._table)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(6)
        grid.setHorizontalSpacing(14)
        grid.setColumnStretch(1, 1)
        self._lines: dict[str, tuple[QLabel, QLabel]] = {}
        beside = {"Memory": self._fit, "Time": self._time}
        for caption in _FACTS:
            title, value = labels.hint(caption, wrap=False), labels.label("")
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self._lines[caption] = title, value
            right = [(beside[caption], Qt.AlignmentFlag.AlignVCenter)] if caption in beside else []
            row = grid.rowCount()
            grid.addLayout(labels.in_row((value, labels.STRETCH), *right, spacing=8), row, 1)
            grid.addWidget(title, row, 0, Qt.AlignmentFlag.AlignTop)
            if caption == "Too long":
                offered = labels.in_row(self._more_room, self._shorten, labels.STRETCH, spacing=8)
                grid.addLayout(offered, row + 1, 1)
        return self._table

    def _say(self, caption: str, text: str) -> None:
        title, value = self._lines[caption]
        title.show()
        value.setToolTip("")
        labels.show_text(value, text)

    def _reset(self) -> None:
        self._busy.end()
        lines = (label for line in self._lines.values() for label in line)
        for widget in (*self._outcomes, *self._buttons, self._notices, self._table, *lines):
            widget.hide()


_LONGEST_NAME = 80  # characters


class ResumeBanner(QFrame):
    """Hidden until there is such a run; gone when a run starts, back where the page cannot go on with it."""

    resumed = Signal(object)  # a RunSetup that names the run
    queue_wanted = Signal(object)  # the same

    def __init__(self, workspace: Workspace, control: RunControl, described: Callable[[], RunSetup]) -> None:
        """`described`: the run that the page describes."""
        super().__init__()
        self._workspace, self._control, self._described = workspace, control, described
        self._offered: RunSetup | None = None
        self._which = "The last run"
        self.setProperty("role", "note")
        self._text = labels.label("")
        run, turn = "the run that was not finished", "It is resumed in its turn."
        gone, stays = "Dismiss the offer to resume", "Judged items stay in the store."
        buttons = (
            labels.button("Resume", lambda: self.resumed.emit(self._offered), f"Resume {run}"),
            labels.button("Add to queue", self._queue, f"Add {run} to the queue", turn),
            labels.button("Dismiss", self._dismiss, gone, stays),
        )
        labels.in_row((self._text, labels.STRETCH), *buttons, on=self, margins=(12, 8, 12, 8))
        control.started.connect(self._withdraw)
        control.ended.connect(self._follow_end)
        workspace.runs_changed.connect(self._say)
        workspace.runs_deleted.connect(self._follow_deletion)
        self._offer()

    def _offer(self) -> None:
        self._offered = self._control.unfinished
        self.setVisible(self._offered is not None)
        self._say()

    def _say(self) -> None:
        if self._offered is None:
            return
        number, whole = self._offered.resumes, self._offered.dataset_in_words
        stored = next((run for run in self._workspace.runs if run.id == number), None)
        far = f": {stored.judged:,} of {stored.identity.items:,} items are judged" if stored else ""
        dataset = one_line(without_middle(whole, _LONGEST_NAME))
        text = visible(f"{self._which}, of {dataset}, was not finished{far}.")
        self._text.setText(text)
        set_tip(self._text, whole if len(whole) > _LONGEST_NAME else "")
        self.setAccessibleName(text)

    def _queue(self) -> None:
        # The queue remembers this one from now on; the one that was begun before it is offered.
        self.queue_wanted.emit(self._offered)
        self._control.forget_unfinished()
        self._which = "An earlier run"
        self._offer()

    def _dismiss(self) -> None:
        self._control.forget_unfinished()
        self._withdraw()

    def _follow_deletion(self, run_ids: Sequence[int]) -> None:
        if self._offered is not None and self._offered.resumes in run_ids:
            self._withdraw()

    def _withdraw(self) -> None:
        self._offered, self._which = None, "The last run"
        self.hide()

    def _follow_end(self, how: RunEnded | EngineError | None) -> None:
        asked, last = self._control.setup, self._control.unfinished
        number = last.resumes if last is not None else None
        if asked is None or number is None:
            return
        described = (self._described(), asked)
        here, there = ((setup.dataset_path.absolute(), setup.ids, setup.sample) for setup in described)
        elsewhere = self._workspace.dataset is None or here != there
        refused = isinstance(how, EngineError) and asked.resumes == number
        # Where the user turned to other items meanwhile, the page's own button would judge these.
        stopped = isinstance(how, RunEnded) and how.stopped and how.run_id == number
        if refused or (stopped and elsewhere):
            self._offer()
