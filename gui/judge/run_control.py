"""The one run that is under way: started, stopped, followed; what was not finished is remembered."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from engine.core import events
from engine.core.errors import EngineError, SetupError
from engine.core.health import NOT_LOOKED_AT, Health
from engine.settings.identity import StoredRun
from engine.settings.run_setup import RunSetup
from engine.system.paths import demo_dataset, demo_model, is_there
from gui.judge import run_jobs
from gui.models.model_jobs import Computing
from gui.widgets.actions import timer
from gui.workspace.open_run import UnderWay
from gui.workspace.threads import WAITING, Task, ThreadName
from gui.workspace.workspace import Workspace


def default_setup() -> RunSetup:
    return RunSetup(demo_dataset(), demo_model())


_TICK_MS = 100
UNFINISHED = "unfinished"
"""By which the runs are kept that were begun and not completed."""
_MOST_UNFINISHED = 20  # older ones can go on from the list of all runs


class RunControl(QObject):
    """Starts and stops the window's one run, and tells all who want to know how it goes."""

    started = Signal()
    progressed = Signal()  # at most ten times a second; see `progress`
    judged = Signal(object)  # ItemJudged
    told = Signal(object)  # of what is judged now and not kept yet: LabelsRead, Drafted
    ending_asked = Signal()  # the run is to stop after the items that are judged now
    health_seen = Signal(object)  # a Health, of what was judged by now
    ended = Signal(object)  # RunEnded; an EngineError; None where it was stopped before it had begun

    def __init__(self, workspace: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._task: Task | None = None
        self.setup: RunSetup | None = None
        self.stopping = self.ending = False
        self._follower = events.RunFollower()
        self.computing = Computing()
        self._tick = timer(self, _TICK_MS, self.progressed.emit, once=False)
        self.progressed.connect(self._tell_workspace)
        workspace.runs_deleted.connect(self.forget_runs)

    @property
    def running(self) -> bool:
        return self._task is not None

    @property
    def note(self) -> str:
        """What is done now, or what the user should know of the model; empty for nothing."""
        return "Stopping …" if self.stopping else self._follower.note

    @property
    def clear(self) -> Sequence[str]:
        """What was found so far of what the run is to answer, in words."""
        return self._follower.clear

    @property
    def health(self) -> Health | None:
        return self._follower.health

    @property
    def progress(self) -> events.RunProgress | None:
        """How far the run is, or was at its end; None before its files and its model were found good."""
        return self._follower.progress

    @property
    def unfinished(self) -> RunSetup | None:
        """The run that was begun last, where it is not complete; its setup names it, and goes on with it."""
        last = (self._kept() or [{}])[-1]
        setup, run_id = last.get("setup"), last.get("run")
        if not isinstance(setup, dict):
            return None
        number = run_id if isinstance(run_id, int) else None
        return replace(RunSetup.of_json(setup, default_setup()), resumes=number)

    def going_on_with(self, run: StoredRun) -> RunSetup:
        """What goes on with a run: as it was asked for here, else by the store. SetupError where none can."""
        kept = next((entry.get("setup") for entry in self._kept() if entry.get("run") == run.id), None)
        if isinstance(kept, dict) and not run.why_over:
            setup = replace(RunSetup.of_json(kept, default_setup()), resumes=run.id)
        else:
            setup = RunSetup.going_on_with(run)
        for path in (setup.dataset_path, setup.model_path):
            if not is_there(path):
                gone = f"{run.title} cannot be resumed: {path} does not exist any more."
                raise SetupError(gone, "Put the file back.")
        return setup

    def forget_unfinished(self) -> None:
        """Offer it no more; the one that was begun before it, where that is not complete, comes next."""
        self._keep(self._kept()[:-1])

    def forget_runs(self, run_ids: Sequence[int]) -> None:
        self._keep([entry for entry in self._kept() if entry.get("run") not in run_ids])

    def _kept(self) -> list[dict[str, Any]]:
        """The runs that were begun and not completed, the latest last."""
        return [entry for entry in self._workspace.begun.entries(UNFINISHED) if isinstance(entry, dict)]

    def _keep(self, runs: list[dict[str, Any]]) -> None:
        kept = runs[-_MOST_UNFINISHED:]
        try:
            if kept != self._kept():
                self._workspace.begun.keep(UNFINISHED, kept)
        except SetupError as error:  # it can go on from the list of all runs
            self._workspace.problem.emit(error)

    def _others(self, run_id: int) -> list[dict[str, Any]]:
        return [entry for entry in self._kept() if entry.get("run") != run_id]

    def start(self, setup: RunSetup, *, goes_on: bool = False) -> None:
        """Judge; nothing where a run is under way already. `goes_on`: after another one, of itself."""
        if self.running:
            return
        if not goes_on:
            self._workspace.tell_begun()
        space, model = self._workspace, ThreadName.MODEL
        self._follower = events.RunFollower(f"{WAITING} …" if space.threads.busy(model) else "")
        self.setup, self.computing = setup, Computing()
        self.stopping = self.ending = False
        self._task = space.threads.start(model, run_jobs.judge(setup, space.store_path, space.dataset))
        self._task.progress.connect(self._hear)
        for signal in (self._task.finished, self._task.failed, self._task.cancelled):
            signal.connect(self._end)
        self._tick.start()
        space.failures.end(self)
        self.started.emit()

    def stop(self) -> None:
        """Ask the run to stop; `ended` tells when it has, which takes a second at most."""
        if self._task is None or self.stopping:
            return
        self.stopping = True
        if self._task.begun:
            self._task.cancel()
            self.progressed.emit()
        else:
            # It still waits for other work, which may take long: nothing of it is to be waited for.
            self._task.abandon()
            self._end()

    def stop_soon(self) -> None:
        """Ask the run to stop after the items that are judged now, so that nothing of them is lost."""
        if self._task is not None and self.progress is not None and not self.stopping:
            self.ending = True
            self._task.end_soon()
            self.progressed.emit()
            self.ending_asked.emit()

    def _hear(self, event: object) -> None:
        self._follower.follow(event)
        match event:
            case events.ItemJudged():
                self.judged.emit(event)
            case events.LabelsRead() | events.Drafted():
                self.told.emit(event)
            case Computing():
                self.computing = event
            case events.DeviceLeft():
                self.computing = Computing(remark=event.in_words, failed=True)
            case events.RunStarted():
                self._remember(event)
            case events.HealthSeen(health=health):
                self.health_seen.emit(health)

    def _remember(self, event: events.RunStarted) -> None:
        if event.judged < event.items and self.setup is not None:
            setup = replace(self.setup, fresh=False, name=None, note=None)  # the run has them, or others
            kept = {"run": event.run_id, "setup": setup.as_json()}
            self._keep([*self._others(event.run_id), kept])
        self._workspace.refresh_runs()

    def _end(self, how: events.RunEnded | EngineError | None = None) -> None:
        self._tick.stop()
        self._follower.end()
        self._task = None
        self.stopping = self.ending = False
        if isinstance(how, events.RunEnded) and not how.stopped:
            self._keep(self._others(how.run_id))
        if self.progress is not None or isinstance(how, EngineError):
            self._workspace.refresh_runs()  # a run that was to go on may be gone
        if self.progress is not None:
            self._tell_ended(self.progress, how)
        self.progressed.emit()
        self.ended.emit(how)
        if isinstance(how, EngineError):
            self._workspace.failures.fail(self, how)

    def _tell_workspace(self) -> None:
        far = self.progress if self.running else None
        self._workspace.tell_judging(UnderWay(far.run_id, far.judged, far.items) if far else None)

    def _tell_ended(self, progress: events.RunProgress, how: events.RunEnded | EngineError | None) -> None:
        ended = how if isinstance(how, events.RunEnded) and not how.stopped else None
        so_far = f"{progress.judged:,} of {progress.items:,} items"
        words = f"{'is resolved' if ended and not ended.open else 'has ended'} after {so_far}"
        if ended and progress.judged == progress.items:
            words = "has finished"
        if progress.judged:
            self._workspace.tell_ended(progress.run_id, words, self.health or NOT_LOOKED_AT)
