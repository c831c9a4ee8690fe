"""The plan of the run that is described at the moment: made anew a moment after each change.

Knows: when a plan is old. Does not know: how it is made, where it is shown.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from engine.core.events import Preparing
from engine.core.run_setup import RunSetup
from gui.judge import run_jobs
from gui.judge.run_jobs import Planned
from gui.work.lanes import WAITING, LatestTask, ThreadName
from gui.work.workspace import Workspace

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.judge.forecast import Forecast

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
        self._plan: Planned | None = None
        self._rest = QTimer(self, singleShot=True, interval=_REST_MS)
        self._rest.timeout.connect(self.make)
        self._planning = LatestTask(workspace.threads, ThreadName.MODEL, self)
        self._planning.progress.connect(self.progress)
        self._planning.finished.connect(self._take)
        self._planning.failed.connect(self.failed)
        self._planning.cancelled.connect(self.stopped)
        self._timing = LatestTask(workspace.threads, ThreadName.MODEL, self)
        self._timing.progress.connect(self.progress)
        self._timing.finished.connect(self._take_time)
        self._timing.failed.connect(self._take_no_time)
        self._timing.cancelled.connect(self.planned)

    @property
    def plan(self) -> Planned | None:
        """The plan; None where there is none yet, or it could not be made."""
        return self._plan

    def want(self, setup: RunSetup, dataset: "Dataset") -> None:
        """Plan this after a moment, unless its plan is there or under way."""
        under_way = self._rest.isActive() or self._planning.busy or self._plan is not None
        if under_way and self._wanted == (setup, dataset):
            return
        self.drop()
        self._wanted = (setup, dataset)
        self._rest.start()
        self.begun.emit(setup)

    def drop(self) -> None:
        """Forget the plan, and whatever is under way."""
        self._rest.stop()
        self._planning.drop()
        self._timing.drop()
        self._plan = None
        self._wanted = None

    @Slot()
    def make(self) -> None:
        """Make the plan that is wanted, now."""
        if self._wanted is not None:
            setup, dataset = self._wanted
            self._plan = None
            self._rest.stop()
            self._timing.drop()
            waits = self._workspace.threads.busy(ThreadName.MODEL)
            self.begun.emit(setup)
            self.progress.emit(Preparing(WAITING if waits else "Making a plan"))
            self._planning.start(run_jobs.plan(setup, self._workspace.store_path, dataset))

    @Slot()
    def time_anew(self) -> None:
        """Make the plan again where its time may come from the speed of the model file: that is new."""
        made = self._plan.forecast if self._plan is not None else None
        if made is not None and (made.seconds is None or made.seconds_of_file):
            self.make()

    @Slot()
    def time(self) -> None:
        """Judge some items, to know how long the run would take."""
        if self._plan is not None and self._wanted is not None:
            self._timing.start(run_jobs.time_first(self._plan, self._wanted[1]))

    @Slot()
    def cancel(self) -> None:
        """Stop what is under way; `stopped`, or `planned` where a plan is there, tells when it has."""
        self._planning.cancel()
        self._timing.cancel()

    @Slot(object)
    def _take(self, plan: Planned) -> None:
        self._plan = plan
        self.planned.emit()

    @Slot(object)
    def _take_time(self, timed: "Forecast") -> None:
        if self._plan is not None:
            self._plan = replace(self._plan, forecast=timed)
            self.planned.emit()

    @Slot(object)
    def _take_no_time(self, error: object) -> None:
        self._plan = None
        self.failed.emit(error)
