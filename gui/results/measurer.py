"""Measures the open run in the background, step by step, and keeps what it found.

Labels are known first, explanations grow criterion by criterion, and what needs a model comes when it is
asked for. What was measured is kept, also while the run or the labels are read again: what it depends on is
compared by value.

Knows: which measure follows which, and when one is stale. Does not know: how they are shown.
"""

from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from gui.results import score_jobs
from gui.results.score_jobs import Measuring, ModelMeasure, Scores
from gui.workspace.file_jobs import Chosen
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.results.run_results import RunResults

_MOST_KEPT = 3  # with and without human overrides, a slice; each holds all judgments of its run


class Measurer(QObject):
    """`changed` tells the Scores that are known now; it comes again as they grow."""

    changed = Signal(object)
    progress = Signal(object)  # Measuring, None once nothing is under way
    failed = Signal(object)  # an EngineError
    stopped = Signal()  # before anything was known

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._workspace = workspace
        self._kept: dict[Hashable, Scores] = {}  # by their mark
        self._wanted: tuple[RunResults, Dataset | None, Chosen | None] | None = None
        self.scores: Scores | None = None
        threads, measure = workspace.threads, ThreadName.MEASURE
        self._labels = TaskPanel(threads, measure, self, self._take_labels, stopped=self._tell_stop)
        self._explanations = TaskPanel(threads, measure, self, self._take, follow=self._follow)
        self._model_task = TaskPanel(
            threads, ThreadName.MODEL, self, self._take_model_scores, follow=self.progress.emit
        )
        self._tasks = (self._labels, self._explanations, self._model_task)
        for task in self._tasks:
            task.failed.connect(self.failed)
            task.busy_changed.connect(self._tell_end)

    @property
    def busy(self) -> bool:
        """True while anything is measured."""
        return any(task.busy for task in self._tasks)

    @property
    def model_busy(self) -> bool:
        """True while a model measures."""
        return self._model_task.busy

    @property
    def known(self) -> Sequence[Scores]:
        """All that was measured and is still kept."""
        return tuple(self._kept.values())

    def measure(self, results: "RunResults", gold: "Dataset | None", chosen: Chosen | None = None) -> None:
        """Measure a run, or a slice of it, against these labels, unless that was measured before."""
        if self._measures(results, gold, chosen):
            return
        self._wanted = results, gold, chosen
        self._explanations.drop()
        run = self._workspace.run
        own = run.dataset if run is not None and run.id == results.run.id else None
        self._labels.start(score_jobs.measure_labels(results, gold, self.known, chosen, own))
        self.progress.emit(Measuring("Measuring the labels …"))

    def _measures(self, results: "RunResults", gold: "Dataset | None", chosen: Chosen | None) -> bool:
        """True while these very objects are being measured; of equal ones the job finds out."""
        if self._wanted is None or not (self._labels.busy or self._explanations.busy):
            return False
        wanted, labels, part = self._wanted
        return wanted is results and labels is gold and part == chosen

    def measure_explanations(self) -> None:
        """Go on with what was stopped."""
        if self.scores is not None and not self.scores.explained and not self._explanations.busy:
            self._explanations.start(score_jobs.measure_explanations(self.scores))
            self.progress.emit(Measuring("Measuring the explanations …"))

    def measure_with_model(self, measure: ModelMeasure, path: Path) -> None:
        """Let a model measure the explanations of what is shown now."""
        if self.scores is None or self._model_task.busy:
            return
        waits = self._workspace.threads.busy(ThreadName.MODEL)
        self._model_task.start(
            score_jobs.measure_with_model(measure, self.scores, path, self._workspace.store_path)
        )
        text = f"{measure}: waits until the current run has ended …" if waits else f"{measure} …"
        self.progress.emit(Measuring(text))

    @Slot()
    def cancel(self) -> None:
        """Stop what is under way; what is known stays."""
        for task in self._tasks:
            task.cancel()

    def forget(self) -> None:
        """No run is looked at any more."""
        self._labels.drop()
        self._explanations.drop()
        self._wanted, self.scores = None, None

    @Slot(object)
    def _take_labels(self, scores: Scores) -> None:
        # More may have become known of the same run since the job began.
        known = self._kept.get(scores.mark)
        self._take(scores if known is None else score_jobs.with_annotators_of(known, scores))
        self.measure_explanations()

    @Slot(object)
    def _take(self, scores: Scores) -> None:
        self._keep(scores)
        self.scores = scores
        self.changed.emit(scores)

    @Slot(object)
    def _take_model_scores(self, scores: Scores) -> None:
        if self.scores is not None and self.scores.mark == scores.mark:
            self._take(scores)
            return
        self._keep(scores)
        self._workspace.note.emit(
            "The model's answers are stored, but the run or its labels have changed: measure"
            " again (it is quick)."
        )

    def _keep(self, scores: Scores) -> None:
        self._kept.pop(scores.mark, None)
        self._kept[scores.mark] = scores
        for old in list(self._kept)[:-_MOST_KEPT]:
            del self._kept[old]

    @Slot(object)
    def _follow(self, event: Measuring) -> None:
        self.progress.emit(event)
        if event.scores is not None:
            self._take(event.scores)

    @Slot()
    def _tell_stop(self) -> None:
        self.forget()
        self.stopped.emit()

    @Slot(bool)
    def _tell_end(self, _busy: bool) -> None:
        if not self.busy:
            self.progress.emit(None)
