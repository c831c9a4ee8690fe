"""The one run that is under way: started, stopped, followed; what was not finished is remembered.

Knows: the events of a run, and how they become progress. Does not know: pages, how anything is judged.
"""

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from engine.core.errors import EngineError, SetupError
from engine.core.events import (
    DeviceLeft,
    Drafted,
    GroupUnderWay,
    HealthSeen,
    ItemJudged,
    LabelsRead,
    ModelOpened,
    Preparing,
    RunEnded,
    RunStarted,
    TokensEvaluated,
)
from engine.core.health import NOT_LOOKED_AT, Health
from engine.core.judgments import Unscored
from engine.core.run_setup import RunSetup
from engine.system.places import is_there
from gui.judge import run_jobs
from gui.judge.devices.device_jobs import Computing
from gui.judge.usual_setup import usual_setup
from gui.work.lanes import Lane, Task
from gui.work.open_run import UnderWay
from gui.work.workspace import Workspace

if TYPE_CHECKING:
    from engine.core.run_records import StoredRun

_TICK_MS = 100
_RATE_SECONDS = 30.0
UNFINISHED = "unfinished"
"""Where the state keeps the runs that were begun and not completed."""
_MOST_UNFINISHED = 20


@dataclass(frozen=True)
class RunProgress:
    """How far the run with the number `run_id` is.

    `judged`: items in the store, `judged_before` of them from earlier sessions. `unscored`: judgments of
    this session that could not be made. `tokens_per_second`: over the last half minute, None where nothing
    was read yet. `elapsed`, `eta`: seconds; None where it cannot be known yet. `note`: what is done now, or
    what a person should know of the model. `computing`: what computes, and whether a GPU failed in it.
    """

    run_id: int
    items: int
    judged: int
    judged_before: int
    unscored: int = 0
    tokens_per_second: float | None = None
    elapsed: float = 0.0
    eta: float | None = None
    note: str = ""
    stopping: bool = False
    computing: Computing = field(default_factory=Computing)


class RunControl(QObject):
    """Starts and stops the window's one run, and tells all who want to know how it goes."""

    started = Signal()
    progressed = Signal()  # at most ten times a second; see `progress`
    judged = Signal(object)  # ItemJudged
    told = Signal(object)  # of what is judged now and not kept yet: GroupUnderWay, LabelsRead, Drafted
    ending_asked = Signal()  # the run is to stop after the items that are judged now
    health_seen = Signal(object)  # a Health, of what was judged by now
    ended = Signal(object)  # RunEnded; an EngineError; None where it was stopped before it had begun

    def __init__(self, workspace: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._task: Task | None = None
        self._setup: RunSetup | None = None
        self._heard = False  # of the job: it has left the queue of its lane
        self._stopping = self._ending = False
        self._group: GroupUnderWay | None = None
        self._left_told: tuple[float, float] | None = None  # when, and the seconds until the end
        self._note = ""
        self.health: Health | None = None  # of all that is judged, once that can be said
        self.computing = Computing()
        self._count: RunProgress | None = None
        self._begun = self._finished = 0.0
        self._spans: deque[tuple[float, int]] = deque()
        self._tick = QTimer(self)
        self._tick.setInterval(_TICK_MS)
        self._tick.timeout.connect(self.progressed)
        self.progressed.connect(self._tell_workspace)
        workspace.runs_deleted.connect(self.forget_runs)

    @property
    def running(self) -> bool:
        """True from start to end."""
        return self._task is not None

    @property
    def stopping(self) -> bool:
        """True once the run was asked to stop, until it has ended."""
        return self._stopping

    @property
    def ending(self) -> bool:
        """True once the run was asked to stop after the items that are judged, until it has ended."""
        return self._ending

    @property
    def setup(self) -> RunSetup | None:
        """What the run that is under way, or ended last, was asked to be."""
        return self._setup

    @property
    def note(self) -> str:
        """What is done now, or what a person should know of the model; empty for nothing."""
        return "Stopping …" if self._stopping else self._note

    @property
    def progress(self) -> RunProgress | None:
        """How far the run is, or was at its end; None before its files and its model were found good."""
        count = self._count
        if count is None:
            return None
        now = time.monotonic() if self.running else self._finished
        return replace(
            count,
            tokens_per_second=self._rate(now),
            elapsed=now - self._begun,
            eta=self._left(now) if self.running else None,
            note=self.note,
            stopping=self._stopping,
            computing=self.computing,
        )

    def _left(self, now: float) -> float | None:
        """Seconds until the end, as the run said last."""
        if self._left_told is None:
            return None
        told, seconds = self._left_told
        return max(0.0, seconds - (now - told))

    @property
    def unfinished(self) -> RunSetup | None:
        """The run that was begun last, where it is not complete; its setup goes on with it."""
        setup = self._offered().get("setup")
        return RunSetup.of_json(setup, usual_setup()) if isinstance(setup, dict) else None

    @property
    def unfinished_run(self) -> int | None:
        """The number of that run in the store."""
        run_id = self._offered().get("run")
        return run_id if isinstance(run_id, int) else None

    def going_on_with(self, run: "StoredRun") -> RunSetup:
        """What goes on with a run: as it was asked for here, else by the store. SetupError where none can."""
        kept = next((entry.get("setup") for entry in self._kept() if entry.get("run") == run.id), None)
        if isinstance(kept, dict) and not run.why_over:
            setup = replace(RunSetup.of_json(kept, usual_setup()), resumes=run.id)
        else:
            setup = RunSetup.going_on_with(run)
        for path in (setup.dataset_path, setup.model_path):
            if not is_there(path):
                raise SetupError(f"{run.title} cannot go on: {path} is gone.", "Put the file back.")
        return setup

    def forget_unfinished(self) -> None:
        """Offer it no more; the one that was begun before it, where that is not complete, comes next."""
        self._keep(self._kept()[:-1])

    @Slot(object)
    def forget_runs(self, run_ids: Sequence[int]) -> None:
        """Runs were deleted: offer to go on with none of them."""
        self._keep([entry for entry in self._kept() if entry.get("run") not in run_ids])

    def _offered(self) -> dict[str, Any]:
        return (self._kept() or [{}])[-1]

    def _kept(self) -> list[dict[str, Any]]:
        """The runs that were begun and not completed, the latest last."""
        runs = self._workspace.state.record(UNFINISHED).get("runs")
        return [entry for entry in runs if isinstance(entry, dict)] if isinstance(runs, list) else []

    def _keep(self, runs: list[dict[str, Any]]) -> None:
        self._workspace.state.set_record(UNFINISHED, {"runs": runs[-_MOST_UNFINISHED:]})
        self._workspace.state.save()

    def _others(self, run_id: int) -> list[dict[str, Any]]:
        return [entry for entry in self._kept() if entry.get("run") != run_id]

    def is_stored(self, run_id: int) -> bool:
        """True where the store had this run when it was read last."""
        return any(run.id == run_id for run in self._workspace.runs)

    def start(self, setup: RunSetup) -> None:
        """Judge; nothing where a run is under way already."""
        if self.running:
            return
        at_hand, store = self._workspace.dataset, self._workspace.store_path
        waits = self._workspace.threads.busy(Lane.MODEL)
        self._setup = setup
        self._heard = False
        self._stopping = self._ending = False
        self._group = self._left_told = None
        self._note = "Waiting for other work with a model to end …" if waits else ""
        self._count = None
        self.health = None
        self.computing = Computing()
        self._begun = time.monotonic()
        self._spans.clear()
        self._task = self._workspace.threads.start(Lane.MODEL, run_jobs.judge(setup, store, at_hand))
        self._task.progress.connect(self._hear)
        self._task.finished.connect(self._end)
        self._task.failed.connect(self._end)
        self._task.cancelled.connect(self._end_early)
        self._tick.start()
        self.started.emit()

    @Slot()
    def stop(self) -> None:
        """Ask the run to stop; `ended` tells when it has, which takes a second at most."""
        if self._task is None or self._stopping:
            return
        self._stopping = True
        if self._heard:
            self._task.cancel()
            self.progressed.emit()
        else:
            # It still waits for other work, which may take long: nothing of it is to be waited for.
            self._task.abandon()
            self._end(None)

    @Slot()
    def stop_soon(self) -> None:
        """Ask the run to stop after the items that are judged now, so that nothing of them is lost."""
        if self._task is not None and self._group is not None and not self._stopping:
            self._ending = True
            self._task.end_soon()
            self.told.emit(self._group)
            self.ending_asked.emit()

    @Slot(object)
    def _hear(self, event: object) -> None:
        self._heard = True
        if isinstance(event, TokensEvaluated):
            self._spans.append((time.monotonic(), event.tokens))
        elif isinstance(event, ItemJudged):
            self._take_item(event)
        elif isinstance(event, GroupUnderWay | LabelsRead | Drafted):
            if isinstance(event, GroupUnderWay):
                self._group = event
                if event.run_seconds_left is not None:
                    self._left_told = (time.monotonic(), event.run_seconds_left)
            self.told.emit(event)
        elif isinstance(event, Computing):
            self.computing = event
        elif isinstance(event, DeviceLeft):
            self.computing = Computing.after(event)
        elif isinstance(event, Preparing):
            self._note = f"{event.what} …"
        elif isinstance(event, RunStarted):
            self._take_start(event)
        elif isinstance(event, ModelOpened):
            self._spans.append((time.monotonic(), 0))
            self._note = event.note
        elif isinstance(event, HealthSeen):
            self.health = event.health
            self.health_seen.emit(event.health)

    def _take_item(self, event: ItemJudged) -> None:
        if self._count is not None:
            missing = sum(isinstance(judgment, Unscored) for judgment in event.judgments)
            self._count = replace(
                self._count, judged=self._count.judged + 1, unscored=self._count.unscored + missing
            )
        self.judged.emit(event)

    def _take_start(self, event: RunStarted) -> None:
        begun = self._count  # where a GPU failed, the processor begins once more
        self._count = RunProgress(
            event.run_id,
            event.items,
            event.judged,
            judged_before=event.judged if begun is None else begun.judged_before,
            unscored=0 if begun is None else begun.unscored,
        )
        if event.judged < event.items and self._setup is not None:
            setup = replace(self._setup, fresh=False, name=None, note=None)  # the run has them, or others
            kept = {"run": event.run_id, "setup": setup.as_json()}
            self._keep([*self._others(event.run_id), kept])
        self._workspace.refresh_runs()

    @Slot()
    def _end_early(self) -> None:
        self._end(None)

    @Slot(object)
    def _end(self, how: RunEnded | EngineError | None) -> None:
        self._tick.stop()
        self._finished = time.monotonic()
        self._task = None
        self._stopping = self._ending = False
        self._group = self._left_told = None
        self._note = ""
        if isinstance(how, RunEnded) and not how.stopped:
            self._keep(self._others(how.run_id))
        if self._count is not None or isinstance(how, EngineError):
            self._workspace.refresh_runs()  # a run that was to go on may be gone
        if self._count is not None:
            self._tell_ended(self._count, how)
        self.progressed.emit()
        self.ended.emit(how)
        if isinstance(how, EngineError):
            self._workspace.problem.emit(how)

    @Slot()
    def _tell_workspace(self) -> None:
        count = self._count if self.running else None
        self._workspace.tell_judging(UnderWay(count.run_id, count.judged, count.items) if count else None)

    def _tell_ended(self, count: RunProgress, how: RunEnded | EngineError | None) -> None:
        """Say that there is something to look at."""
        finished = isinstance(how, RunEnded) and not how.stopped
        words = "has finished" if finished else f"has ended after {count.judged:,} of {count.items:,} items"
        if count.judged:
            self._workspace.tell_ended(count.run_id, words, self.health or NOT_LOOKED_AT)

    def _rate(self, now: float) -> float | None:
        """Tokens per second over the last half minute, so that it follows the load of the computer."""
        while len(self._spans) > 2 and now - self._spans[1][0] > _RATE_SECONDS:
            self._spans.popleft()
        if len(self._spans) < 2:
            return None
        counted = sum(tokens for _, tokens in list(self._spans)[1:])
        return counted / max(now - self._spans[0][0], 1e-9)
