"""The health of all runs of the store, looked at one after another while somebody wants to see it.

Knows: which runs were looked at, and how far they were then. Does not know: how health is measured.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from engine.core.health import Health
from gui.runs import runs_jobs
from gui.work.lanes import LatestTask, ThreadName
from gui.work.workspace import Workspace

if TYPE_CHECKING:
    from engine.core.run_records import StoredRun


class RunHealth(QObject):
    """Remembers what it found until the window closes."""

    changed = Signal()

    def __init__(self, workspace: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._found: dict[int, Health] = {}
        self._state: dict[int, str] = {}  # of each run, when it was looked at
        self._wanted: list[StoredRun] = []
        self._looked: StoredRun | None = None
        self._looking = LatestTask(workspace.threads, ThreadName.MEASURE, self)
        self._looking.finished.connect(self._take)
        self._looking.failed.connect(self._next)  # it has no health then

    @property
    def found(self) -> Mapping[int, Health]:
        """What is known, by the number of the run."""
        return self._found

    def look(self, runs: "Sequence[StoredRun]") -> None:
        """Look at these runs, where that was not done since they changed."""
        self._wanted = [run for run in runs if run.by_a_model and self._state.get(run.id) != _state(run)]
        if not self._looking.busy:
            self._next()

    def rest(self) -> None:
        """Look at no more runs."""
        self._wanted = []
        self._looking.drop()

    @Slot()
    def _next(self) -> None:
        # One job for each run: what else is to be measured need not wait for all of them.
        if self._wanted:
            self._looked = self._wanted.pop(0)
            self._state[self._looked.id] = _state(self._looked)
            self._looking.start(runs_jobs.health(self._workspace.store_path, self._looked.id))

    @Slot(object)
    def _take(self, found: tuple[int, Health]) -> None:
        run_id, health = found
        self._found[run_id] = health
        self._next()
        self.changed.emit()


def _state(run: "StoredRun") -> str:
    """What its health depends on."""
    return f"{run.judged} {run.calibration}"
