"""Calibration quality by number of human labels the open run's calibration: a button that measures it, and
what came of it.

Knows: when a curve is of what is open. Does not know: how a curve is measured or drawn, what is calibrated.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QPushButton, QWidget

from engine.core.events import MeasureProgress
from gui.kit.busy import BusyLine
from gui.kit.fold import Fold
from gui.kit.labels import name
from gui.kit.layouts import as_column, in_column
from gui.reading.sheet_view import SheetView
from gui.results import learning_jobs
from gui.results.learning_jobs import CURVE_FIGURE, Learned
from gui.work.framed_picture import FramedPicture
from gui.work.lanes import LatestTask, ThreadName
from gui.work.workspace import Workspace

if TYPE_CHECKING:
    from engine.data.dataset import Dataset

_TITLE = "Learning curve"
_PICTURE = "Calibration quality by number of human labels"
_WHAT = "Calibration quality by number of training labels: would more labels help? It changes nothing"
_LEARNING = "Measuring the learning curve …"


class LearningPanel(QWidget):
    """Hidden until there is a curve. `button` and `busy` are for whoever shows what it is made of; `wishes`
    gives what a calibration may look at.
    """

    def __init__(self, workspace: Workspace, wishes: Callable[[], Mapping[str, bool]]) -> None:
        super().__init__()
        self._workspace, self._wishes = workspace, wishes
        self.learned: Learned | None = None
        self._of: tuple[object, ...] = ()  # of what the curve is, or will be
        self._gold: Dataset | None = None
        self.button = QPushButton("Learning c&urve")
        name(self.button, _TITLE, _WHAT)
        self.busy = BusyLine()
        self.picture = FramedPicture(workspace, CURVE_FIGURE, _PICTURE)
        self.sheet = SheetView()
        self.fold = Fold(_TITLE, as_column(self.picture, self.sheet, spacing=10))
        in_column(self.fold, on=self)
        self._learning = LatestTask(workspace.threads, ThreadName.MEASURE, self)
        self._learning.finished.connect(self._take)
        self._learning.progress.connect(self._follow)
        self._learning.busy_changed.connect(self._follow_busy)
        workspace.failures.follow(self._learning)
        self.button.clicked.connect(self.learn)
        self.busy.cancelled.connect(self._learning.drop)
        workspace.run_wanted.connect(self._make_method)
        workspace.run_changed.connect(self.follow_run)
        workspace.gold_changed.connect(self.follow_run)
        self._show(None)
        self._enable()

    @Slot()
    def learn(self) -> None:
        """Measure the curve of the open run by the human loaded labels."""
        run, gold = self._workspace.run, self._workspace.gold
        if run is not None and gold is not None:
            self._of, self._gold = self._open, gold
            self._learning.start(learning_jobs.learn(run.results, gold, self._wishes()))
            self.busy.begin(_LEARNING)

    @Slot(int)
    def _make_method(self, _run_id: int) -> None:
        """Another run would wait for the curve, which takes long, and is not of it."""
        self._learning.drop()

    @Slot()
    def follow_run(self) -> None:
        """Drop what is of another run, of other labels or by other requests; decided anew, it is the same."""
        if self._of and (self._of != self._open or self._gold is not self._workspace.gold):
            self._of, self._gold = (), None
            self._learning.drop()
            self._show(None)
        self._enable()

    def restyle(self) -> None:
        """The picture has colours of its own."""
        self.picture.restyle()

    @property
    def _open(self) -> tuple[object, ...]:
        """By what a curve of what is open is known, beside its labels."""
        run = self._workspace.run
        known = (run.id, len(run.results.judged)) if run is not None else ()
        return (*known, *self._wishes().values())

    def _show(self, learned: Learned | None) -> None:
        self.learned = learned
        self.setVisible(learned is not None)
        self.sheet.show_sheet(learned.sheet if learned is not None else None)
        self.picture.show_source(learned.figure if learned is not None else None)

    @Slot(object)
    def _take(self, learned: Learned) -> None:
        self._show(learned)
        self.fold.set_open(True)

    @Slot(object)
    def _follow(self, event: MeasureProgress) -> None:
        self.busy.go_on(_LEARNING, event.done, event.total)

    @Slot(bool)
    def _follow_busy(self, busy: bool) -> None:
        if not busy:
            self.busy.end()
        self._enable()

    def _enable(self) -> None:
        run, gold = self._workspace.run, self._workspace.gold
        possible = run is not None and not run.results.run.submitted and gold is not None
        self.button.setEnabled(possible and not self._learning.busy)
