"""The page of results: what the open run is worth, measured in the background, and the ways to get it out."""

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QTabWidget, QWidget

from engine.annotations.records import Filters
from engine.core.errors import Hint, SetupError, Step
from engine.core.tables import ItemsBehind
from engine.settings.identity import StoredRun
from gui.results import score_jobs
from gui.results.calibration_panel import CalibrationPanel, TrustPanel
from gui.results.export_dialog import Exporter
from gui.results.export_jobs import Exported, Form
from gui.results.score_jobs import Measuring, ModelMeasure, Scores
from gui.results.scores_panel import FiguresPanel, GoldPicker, MeasureModelDialog, ScoresPanel
from gui.results.weighted_scoring_panel import WeightedScoringPanel
from gui.widgets import labels
from gui.widgets.action_table import EXPORTS_OF_RESULTS
from gui.widgets.actions import BusyLine, MenuButton, add_entry, timer
from gui.widgets.glossary import Topic, beside_help
from gui.widgets.labels import STRETCH, button, in_row, label, name
from gui.widgets.views import TableModel
from gui.workspace.file_jobs import Chosen, measure_slices
from gui.workspace.page import Page, SourceBox
from gui.workspace.rewriter import Rewriter, StaleLine
from gui.workspace.slices_panel import SlicesPanel, SliceWords
from gui.workspace.state import MOST_OF_QT, PageName
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
        threads, measure, model = workspace.threads, ThreadName.MEASURE, ThreadName.MODEL
        follow = self.progress.emit
        self._labels = TaskPanel(threads, measure, self, self._take_labels, stopped=self._tell_stop)
        self._explanations = TaskPanel(threads, measure, self, self._take, follow=self._follow)
        self._model_task = TaskPanel(threads, model, self, self._take_model_scores, follow=follow)
        self._tasks = (self._labels, self._explanations, self._model_task)
        for task in self._tasks:
            task.failed.connect(self.failed)
            task.busy_changed.connect(self._tell_end)

    @property
    def busy(self) -> bool:
        return any(task.busy for task in self._tasks)

    @property
    def model_busy(self) -> bool:
        return self._model_task.busy

    @property
    def known(self) -> Sequence[Scores]:
        return tuple(self._kept.values())

    def measure(self, results: "RunResults", gold: "Dataset | None", chosen: Chosen | None = None) -> None:
        before, busy = self._wanted, self._labels.busy or self._explanations.busy
        if busy and before is not None and before[0] is results and before[1] is gold and before[2] == chosen:
            return  # these very objects are being measured; of equal ones the job finds out
        self._wanted = results, gold, chosen
        self._explanations.drop()
        run, known = self._workspace.run, self.known
        own = run.dataset if run is not None and run.id == results.run.id else None
        self._labels.start(score_jobs.measure_labels(results, gold, known=known, chosen=chosen, own=own))
        self.progress.emit(Measuring("Measuring the labels …"))

    def measure_explanations(self) -> None:
        if self.scores is not None and not self.scores.explained and not self._explanations.busy:
            self._explanations.start(score_jobs.measure_explanations(self.scores))
            self.progress.emit(Measuring("Measuring the explanations …"))

    def measure_with_model(self, measure: ModelMeasure, path: Path) -> None:
        if self.scores is None or self._model_task.busy:
            return
        waits, store = self._workspace.threads.busy(ThreadName.MODEL), self._workspace.store_path
        self._model_task.start(score_jobs.measure_with_model(measure, self.scores, path, store))
        wait = ": waits until the current run has ended" if waits else ""
        self.progress.emit(Measuring(f"{measure}{wait} …"))

    def cancel(self) -> None:
        for task in self._tasks:
            task.cancel()

    def forget(self) -> None:
        self._labels.drop()
        self._explanations.drop()
        self._wanted, self.scores = None, None

    def _take_labels(self, scores: Scores) -> None:
        # More may have become known of the same run since the job began.
        known = self._kept.get(scores.mark)
        self._take(scores if known is None else score_jobs.with_annotators_of(known, scores))
        self.measure_explanations()

    def _take(self, scores: Scores) -> None:
        self._keep(scores)
        self.scores = scores
        self.changed.emit(scores)

    def _take_model_scores(self, scores: Scores) -> None:
        if self.scores is not None and self.scores.mark == scores.mark:
            self._take(scores)
        else:
            self._keep(scores)
            changed = "The model's answers are stored, but the run or its labels have changed"
            self._workspace.note.emit(f"{changed}: measure again (it is quick).")

    def _keep(self, scores: Scores) -> None:
        self._kept.pop(scores.mark, None)
        self._kept[scores.mark] = scores
        for old in list(self._kept)[:-_MOST_KEPT]:
            del self._kept[old]

    def _follow(self, event: Measuring) -> None:
        self.progress.emit(event)
        if event.scores is not None:
            self._take(event.scores)

    def _tell_stop(self) -> None:
        self.forget()
        self.stopped.emit()

    def _tell_end(self, _busy: bool) -> None:
        if not self.busy:
            self.progress.emit(None)


_DEBOUNCE_MS = 300
_NO_RUN = (
    "No run yet",
    "Judge the dataset on the Judge page, choose a run at the head of the window, or open a submission file"
    " there. Its results appear here.",
)
_STOPPED = "Measuring was stopped. Open this page again to measure the labels."
_TAB = "results/tab"
_TABS = ("&Scores", "Fi&gures", "&Weighted scoring", "&Calibration", "&Trust", "B&y slice")
_SLICES = SliceWords(
    measured="Each slice is measured as all items are.",
    table="Measures by slice",
    heading="Accuracy by criterion, in percent",
    below="Accuracy by slice and criterion",
)


class ResultsPage(Page):
    """Scores, figures, the weighted judge and calibration of the run that is looked at."""

    NAME = PageName.RESULTS

    can_export_changed = Signal(bool)

    def __init__(self, workspace: Workspace, rewriter: Rewriter) -> None:
        super().__init__(workspace)
        self.measurer = Measurer(workspace)
        self.stale = StaleLine(rewriter, across=True)
        self.scores, self.figures = ScoresPanel(self.stale), FiguresPanel(workspace)
        self.weighted_scoring, self.calibration = WeightedScoringPanel(workspace), CalibrationPanel(workspace)
        self.trust = TrustPanel(workspace)
        title, framed = labels.heading("By slice"), labels.panel
        head, table = beside_help(title, Topic.SLICE), TableModel(self)
        self.slices = SlicesPanel(
            workspace, _SLICES, title=title, head=head, table=table, framed=framed, letters=20
        )
        self.exporter = Exporter(workspace, self._exported, self)
        self._stale = True
        self._run_id: int | None = None
        self._later = timer(self, _DEBOUNCE_MS, self._measure_if_stale)
        self._build_header()
        self._build_body()
        self._connect()
        self._divide()
        self._follow_run()
        self._follow_judging()

    # Exports, for the menus too

    @property
    def exports(self) -> dict[str, Callable[[], object]]:
        return {f"export_{form}": partial(self.export, form) for form in Form}

    def export(self, form: Form, path: Path | None = None) -> None:
        self.exporter.export(form, path)

    def load_calibration(self, path: Path) -> None:
        if self.workspace.run is None:
            none = SetupError(f"{path.name}: no run is open for this calibration.", Hint(Step.CHOOSE_RUN))
            self.workspace.problem.emit(none)
            return
        self.tabs.setCurrentIndex(_TABS.index("&Calibration"))
        self.calibration.load(path)

    # What is looked at

    def entered(self) -> None:
        self.workspace.refresh_runs()
        self._measure_if_stale()

    def keep_layout(self) -> None:
        super().keep_layout()
        self.workspace.state.set_number(_TAB, self.tabs.currentIndex())

    def _results(self) -> "RunResults | None":
        """The run as the page looks at it: with or without human overrides."""
        run = self.workspace.run
        return None if run is None else run.results.by(self.whose.source)

    def _exported(self) -> Exported | None:
        space, run = self.workspace, self.workspace.run
        if run is None:
            return None
        what = (run.results, self.whose.source, run.dataset, space.gold)
        weights, known = self.weighted_scoring.weights.of(run.results.run), self.measurer.known
        in_use, slicing = space.files_in_use(self), self.slices.choice.slicing
        return Exported(*what, weights, known, in_use, run.health, space.gold_from, slicing)

    def _follow_run(self) -> None:
        run = self.workspace.run
        self.stack.setCurrentIndex(0 if run is None else 1)
        if run is None or run.id != self._run_id:
            self.stopped.hide()
        self._run_id = run.id if run else None
        by_hand = run is not None and run.results.run.by_hand
        for place in range(1, self.tabs.count()):  # all that measures a judge
            self.tabs.setTabVisible(place, not by_hand)
        for part in (self.gold, self.slices.choice):
            part.setHidden(by_hand)
        self._follow_judging()
        self._follow_overrides()
        self.can_export_changed.emit(run is not None)
        self.export_button.setEnabled(run is not None)
        self._measure_soon(0)

    def _follow_overrides(self) -> None:
        self.whose.offer_of(self.workspace.run)
        self._measure_soon(_DEBOUNCE_MS)

    def _follow_judging(self) -> None:
        run, judging = self.workspace.run, self.workspace.judging
        self.snapshot.follow(run.results.run if run is not None else None, self.workspace.judges_open_run)
        title, what = _NO_RUN
        if judging is not None:
            title = f"Run {judging.run_id} is being judged ({judging.judged:,} of {judging.items:,})"
            what = "Its results appear here when it ends."
        self._empty_title.setText(title)
        self._empty_text.setText(what)
        self.so_far_button.setVisible(judging is not None and judging.judged > 0)
        self.judge_button.setVisible(judging is None)

    def _open_so_far(self) -> None:
        if self.workspace.judging is not None:
            self.workspace.open_run(self.workspace.judging.run_id)

    def _measure_soon(self, milliseconds: int) -> None:
        # At once or when the changes end; a hidden page, which nobody reads, waits until it is entered.
        self._stale = True
        if self.isVisible():
            self._later.start(milliseconds)

    def _measure_if_stale(self) -> None:
        results = self._results()
        if self._stale and results is not None:
            self._stale = False
            self.stopped.hide()
            known = self.measurer.scores
            if known is not None and known.results.run.id != results.run.id:
                self._show_nothing()
            self.measurer.measure(results, self.workspace.gold, self.slices.choice.chosen)
            self.slices.measure(partial(measure_slices, results, self.workspace.gold))

    def _show_nothing(self) -> None:
        # Else the scores of another run would stand beside this one's name.
        self.measurer.forget()
        for shown in (self.scores, self.figures):
            shown.show_scores(None)
        self.weighted_scoring.show_run(None, None)

    def _tell_stop(self) -> None:
        self._stale = True
        self._show_nothing()
        self.stopped.show()

    def _show(self, scores: Scores) -> None:
        for shown in (self.scores, self.figures):
            shown.show_scores(scores)
        self._allow_model_measures()
        self.weighted_scoring.show_run(scores.system, scores.gold)

    def _allow_model_measures(self) -> None:
        scores = self.measurer.scores
        ready = scores is not None and scores.explained and bool(scores.gold)
        self.scores.allow_model_measures(ready and not self.measurer.model_busy)

    def _follow_progress(self, event: Measuring | None) -> None:
        if event is None:
            self.busy.end()
        else:
            if self.busy.isHidden():
                self.busy.begin(event.text)
            self.busy.go_on(event.text, event.done, event.total)
        self.scores.go_on_button.setEnabled(event is None)  # nobody needs to ask for what is under way
        self._allow_model_measures()

    def _ask_for_model(self, measure: ModelMeasure) -> None:
        dialog = MeasureModelDialog(measure, self.workspace, self)
        dialog.chosen.connect(self.measurer.measure_with_model)
        labels.open_dialog(dialog)

    def _divide(self) -> None:
        # The items that the open run judged; where they are not there, those with human labels.
        run, gold = self.workspace.run, self.workspace.gold
        items = gold if run is None or run.dataset is None else run.dataset
        self.slices.choice.show_dataset(None if run is None else items, gold)

    def _list_behind(self, behind: ItemsBehind) -> None:
        filters = Filters(ids=behind.ids, criterion=behind.criterion)
        self.workspace.list_in_review(filters, behind.words)

    # Making

    def _build_header(self) -> None:
        self.export_button = MenuButton("E&xport")
        name(self.export_button, "Export", "Write the run to files")
        for row in EXPORTS_OF_RESULTS:
            add_entry(self.export_button.menu(), row.text, self.exports[row.name])
        self.header.addWidget(self.export_button)

    def _build_body(self) -> None:
        self.gold = GoldPicker(self.workspace)
        self.whose = SourceBox()
        line = in_row(self.gold, STRETCH, self.slices.choice, self.whose)
        self.busy, self.snapshot = BusyLine(), SnapshotLine(self.workspace.read_run_again)
        self.stopped = label(_STOPPED, "warning")
        self.stopped.hide()
        self.tabs = QTabWidget(documentMode=True)
        name(self.tabs.tabBar(), "Parts of the results")
        panels = (self.scores, self.figures, self.weighted_scoring)
        for text, inside in zip(_TABS, (*panels, self.calibration, self.trust, self.slices), strict=True):
            inside.setProperty("role", "content")
            self.tabs.addTab(labels.scrolling(inside, text.replace("&", "")), text)
        self.tabs.setCurrentIndex(self.workspace.state.number(_TAB, 0, MOST_OF_QT))
        # What was stopped is said where the line of work was, whose button was pressed.
        parts = (line, self.snapshot, self.busy, self.stopped, (self.tabs, STRETCH))
        self.stack = labels.stack(self._empty(), labels.as_column(*parts))
        self.body.addWidget(self.stack, 1)

    def _empty(self) -> QWidget:
        self.judge_button = self.way_to_judge()
        self.judge_button.setProperty("role", "main")
        self.so_far_button = button("Show what is judged so far", self._open_so_far)
        self._empty_title, self._empty_text = labels.heading(""), labels.hint("")
        buttons = [(each, Qt.AlignmentFlag.AlignLeft) for each in (self.judge_button, self.so_far_button)]
        return labels.panel(self._empty_title, self._empty_text, *buttons, STRETCH)

    def _connect(self) -> None:
        space = self.workspace
        for signal in (space.run_changed, space.gold_changed):
            signal.connect(self._divide)
        for signal in (space.run_changed, space.run_called):
            signal.connect(self._follow_run)
        space.judging_changed.connect(self._follow_judging)
        space.reviewed.connect(self._follow_overrides)
        for signal in (space.gold_changed, self.slices.choice.changed, self.whose.changed):
            signal.connect(partial(self._measure_soon, 0))
        self.slices.listed.connect(space.list_in_review)
        self.scores.sheet.listed.connect(self._list_behind)
        self.measurer.changed.connect(self._show)
        self.measurer.progress.connect(self._follow_progress)
        self.measurer.stopped.connect(self._tell_stop)
        self.measurer.failed.connect(partial(space.failures.fail, self.measurer))
        self.measurer.changed.connect(partial(space.failures.end, self.measurer))
        self.busy.cancelled.connect(self.measurer.cancel)
        self.scores.measure_wanted.connect(self._ask_for_model)
        self.scores.rest_wanted.connect(self.measurer.measure_explanations)
        self.scores.item_wanted.connect(space.show_in_review)


class SnapshotLine(QWidget):
    """Says of a run that is not complete after how many items it is shown, and offers to read it again."""

    def __init__(self, read_again: Callable[[], None]) -> None:
        super().__init__()
        self.text = label("", "warning", wrap=False)
        again, since = "Read the run again", "Show what has been judged since"
        self.again_button = button("Read again", read_again, again, since)
        in_row(self.text, self.again_button, STRETCH, on=self)

    def follow(self, stored: "StoredRun | None", goes_on: bool) -> None:
        """Nothing is said of a complete run, nor of a submission, of which the scores tell."""
        self.setVisible(stored is not None and not stored.complete and not stored.submitted)
        if stored is not None:
            items = f"{stored.judged:,} of {stored.identity.items:,} items{stored.sample_in_short}"
            text = f"{stored.title} after {items}"
            self.text.setText(f"{text}; it goes on." if goes_on else f"{text}.")
