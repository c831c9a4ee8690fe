"""The page Compare: systems side by side against the same human labels, juries, the way to Review."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6 import QtWidgets
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent

from engine.annotations.records import Filters, LabelSource, WantedItems
from engine.core.formatting import counted, short_name, visible
from engine.core.judgments import JudgmentKey
from engine.core.tables import Sheet
from gui.compare import compare_jobs
from gui.compare.choice_panel import ChoicePanel
from gui.compare.compare_jobs import CompareRequest
from gui.compare.comparison_view import ComparisonView
from gui.widgets import labels
from gui.widgets.fields import DoubleSpinBox
from gui.widgets.files import ask_target
from gui.widgets.foreign_text import plain_label
from gui.widgets.notice import Notice
from gui.workspace.open_run import run_mark
from gui.workspace.page import Page, PageSplitter
from gui.workspace.state import PageName
from gui.workspace.task_panel import TaskDialog, TaskPanel, tell_written
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace

if TYPE_CHECKING:
    from engine.data.dataset import Dataset

_JURY = (
    "Their judgments of the same items are combined into one: a jury, stored as a run of its own that can"
    " be scored, reviewed, compared, ranked and exported. The runs do not change."
)
_MEAN = "All judges count equally: the mean of their log-probabilities. Needs no human labels."
_BY_LABELS = (
    "Fits the weight and the confidence of each judge to human labels, with L2 regularisation towards equal"
    " weights, so that few labels do little harm. The gain is measured by cross-validation."
)
_WORTH = (
    "By the human labels, before the jury is made: how many independent judges these count as, and what each"
    " adds. Nothing is stored."
)
_LENGTHS = "Annotators often prefer the longer response; the labels then depend less on the content."
_CERTAINTY = (
    "The probability assumed for a submission's labels: a submission has labels without probabilities."
)


class JuryDialog(TaskDialog):
    made = Signal(int)  # the number of the run that the jury is

    def __init__(
        self, workspace: Workspace, choice: CompareRequest, gold: "Dataset | None", parent: QtWidgets.QWidget
    ) -> None:
        super().__init__("Make a jury", "Make the &jury", "&Open the jury", parent)
        self._workspace, self._choice = workspace, choice
        self._gold = gold if gold is not None and gold.criteria else None
        self.kept: compare_jobs.StoredJury | None = None
        self.called = QtWidgets.QLineEdit(placeholderText="no name")
        self.by_labels = QtWidgets.QRadioButton("Fit to human &labels")
        self.by_mean = QtWidgets.QRadioButton("&Mean of all judges")
        self.lengths = QtWidgets.QCheckBox("Use the len&gths of the responses")
        self.certainty = DoubleSpinBox(minimum=0.3, maximum=0.99, singleStep=0.05, value=0.9)
        named, worth = "What are these judges worth?", partial(self.decide, plan=True)
        self.worth_button = labels.button("&What are they worth?", worth, named, _WORTH)
        threads, take, fail = workspace.threads, self._take, self.notice
        self.task = TaskPanel(threads, ThreadName.MEASURE, self, take, failed=fail, changed=self._enable)
        self.lay_out(self._asked(), letters=160, lines=42)
        self.by_labels.toggled.connect(self._enable)
        self.act_button.clicked.connect(self.decide)
        self.use_button.clicked.connect(self._open)
        self._enable()

    def decide(self, _checked: bool = False, *, plan: bool = False) -> None:
        self.kept = None
        gold = self._gold if plan or self.by_labels.isChecked() else None
        lengths, certainty = gold is not None and self.lengths.isChecked(), self.certainty.value()
        asked = compare_jobs.JuryRequest(self._choice, self.called.text(), gold, lengths, certainty, plan)
        job = compare_jobs.decide_together(self._workspace.store_path, asked)
        self.begin(job, "Comparing the judges' errors …" if plan else "Combining the judges …")

    def _asked(self) -> QtWidgets.QWidget:
        labels.name(self.called, "Name of the jury")
        gold = self._gold
        of = f" of {short_name(gold.name)}" if gold else ": choose human labels on Compare first"
        self.by_labels.setText(f"Fit to human &labels{of}".replace("&&", "&"))
        self.by_labels.setEnabled(gold is not None)
        (self.by_labels if gold is not None else self.by_mean).setChecked(True)
        labels.name(self.lengths, "Use the lengths of the responses", _LENGTHS)
        what = "Confidence in a submission's labels"
        labels.name(self.certainty, what, _CERTAINTY)
        certain = labels.as_row(labels.label(f"{what}:", wrap=False), self.certainty, labels.hint(_CERTAINTY))
        opened = any(run.submitted for run in self._workspace.runs if run.id in self._choice.runs)
        certain.setVisible(bool(self._choice.files) or opened)
        title = labels.heading(f"{counted(self._choice.systems, 'system', 'systems')} as a jury")
        called = labels.in_row(labels.label("Name:", wrap=False), (self.called, labels.STRETCH))
        by_labels = (self.by_labels, labels.hint(_BY_LABELS), self.lengths)
        by_mean = (self.by_mean, labels.hint(_MEAN))
        worth = labels.in_row(self.worth_button, (labels.hint(_WORTH), labels.STRETCH))
        return labels.panel(title, labels.hint(_JURY), called, *by_labels, *by_mean, certain, worth)

    def _enable(self) -> None:
        self.lengths.setEnabled(self.by_labels.isChecked())
        self.act_button.setEnabled(not self.task.busy)
        self.worth_button.setEnabled(self._gold is not None and not self.task.busy)
        self.use_button.setVisible(self.kept is not None)

    def _take(self, kept: compare_jobs.StoredJury | Sheet) -> None:
        if isinstance(kept, Sheet):
            self.sheet.show_sheet(kept)
            return
        self.kept = kept
        self.show_outcome(f"{kept.title} is stored as run {kept.run_id}.", kept.sheet)
        self.made.emit(kept.run_id)
        self._workspace.refresh_runs()

    def _open(self) -> None:
        if self.kept is not None:
            self._workspace.show_run(self.kept.run_id)
            self.accept()


_TABLES = (".tsv", ".csv", ".json", ".jsonl", ".parquet")
_WHAT = (
    "Runs and submission files side by side, scored against the same human labels: accuracy and ROUGE-L"
    " with ranks, Borda counts, pairwise significance, and the items on which they differ."
)


class ComparePage(Page):
    NAME = PageName.COMPARE

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self.compared: compare_jobs.Compared | None = None
        self._all: compare_jobs.Compared | None = None  # the same of all items, once that was measured
        self._listed_otherwise: set[int] = set()  # runs that changed since they were compared
        self._overridden: set[int] = set()  # those of them that annotators changed, which no list tells
        self._equal: Dataset | None = None  # the labels of now, read again but the same
        self._looked_at: Dataset | None = None
        self.choosing = ChoicePanel(workspace)
        self.notice = Notice()
        threads = workspace.threads
        self._looking = TaskPanel(threads, ThreadName.FILES, self, self._take_look)
        self._comparing = TaskPanel(threads, ThreadName.MEASURE, self, self._take, failed=self.notice)
        for signal in (self._comparing.failed, self._comparing.cancelled):
            signal.connect(self._show_slice)
        self._comparing.busy_changed.connect(self.choosing.set_busy)
        self.stale = plain_label("The ticked systems or their labels have changed: compare again.", "warning")
        self.doubts, self.needs = plain_label(role="bad"), plain_label()
        self.view = ComparisonView(workspace)
        self.slices = self.view.slices.choice
        self.setAcceptDrops(True)
        self._build()
        self._connect()
        self._bring_up_to_date()

    def entered(self) -> None:
        self.workspace.refresh_runs()
        self.choosing.look_for_files()

    def compare(self) -> None:
        gold = self.choosing.gold
        if gold is None or self.choosing.lacking or self._comparing.busy:
            return
        choice, chosen = self.choosing.choice, self.slices.chosen
        chosen = chosen if self.compared is not None and self.compared.dataset is gold else None
        job = compare_jobs.compare_systems(self.workspace.store_path, choice, gold, chosen)
        self._comparing.begin(job, "Comparing …")

    def _keep_to_slice(self) -> None:
        compared, chosen = self.compared, self.slices.chosen
        self._comparing.drop()
        if compared is None or compared.chosen == chosen:
            return
        if chosen is None and self._all is not None and self._all.whole is compared.whole:
            self._take(self._all)
        else:
            self._comparing.begin(compare_jobs.compare_part(compared, chosen), "Comparing …")

    def decide_together(self) -> None:
        dialog = JuryDialog(self.workspace, self.choosing.choice, self.choosing.gold, self)
        dialog.made.connect(self.choosing.systems.tick)
        labels.open_dialog(dialog)

    def save(self, path: Path) -> None:
        if self.compared is not None:
            in_use = self.workspace.files_in_use(self)
            job = compare_jobs.save_comparison(path, self.compared, in_use, self.view.slices.sliced)
            tell, fail = partial(tell_written, self.workspace), self.notice.show_error
            self.workspace.threads.start(ThreadName.FILES, job, tell, fail, must_end=True)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        # Everything but submission files is left to the window.
        (event.acceptProposedAction if _dropped_files(event) else event.ignore)()

    def dropEvent(self, event: QDropEvent) -> None:
        event.acceptProposedAction()
        self.choosing.add_files(_dropped_files(event))

    # Making

    def _build(self) -> None:
        asked, what = self._ask_where_to_save, "All measures, every difference, all scores"
        self.save_button = labels.button("&Save as JSON…", asked, "Save the comparison as JSON", what)
        labels.keep_room(self.slices)
        self.slices.hide()  # until there is something to divide
        # What compares is last, where nothing can move it.
        for part in (self.slices, self.save_button, self.choosing.compare_button):
            self.header.addWidget(part)
        self.stack = labels.stack(self._empty(), self.view)
        self.doubts.hide()
        above = (self.notice, self._comparing.line, self.stale, self.doubts)
        right = labels.as_column(*above, (self.stack, labels.STRETCH))
        parts = PageSplitter(Qt.Orientation.Horizontal, self.choosing, right, stretches=(0, 1))
        self.body.addWidget(self.remember("compare", parts), 1)

    def _empty(self) -> QtWidgets.QWidget:
        self.judge_button = self.way_to_judge()
        go_on = (self.judge_button, Qt.AlignmentFlag.AlignLeft)
        title = labels.heading("Nothing is compared yet")
        return labels.panel(title, labels.hint(_WHAT), self.needs, go_on, labels.STRETCH)

    def _connect(self) -> None:
        space = self.workspace
        self.choosing.changed.connect(self._bring_up_to_date)
        self.choosing.compare_wanted.connect(self.compare)
        self.choosing.panel_button.clicked.connect(self.decide_together)
        self.choosing.refused.connect(self.notice.show_error)
        self.slices.changed.connect(self._keep_to_slice)
        self.view.differences.opened.connect(self._open_in_review)
        self.view.listed.connect(self._list_in_review)
        self.view.differences.failed.connect(self.notice.show_error)
        for signal in (space.run_changed, space.overrides_changed, space.runs_changed):
            signal.connect(self._look_at_runs)
        self.add_keys(compare=self.compare)

    # What happens

    def _bring_up_to_date(self) -> None:
        lacking = self.choosing.lacking
        self.needs.setText(visible("\n".join(lacking or ["Ready: press Compare."])))
        self.judge_button.setVisible(not self.workspace.runs)
        self.save_button.setEnabled(self.compared is not None)
        self._look_at_labels()
        self.stale.setVisible(self._is_stale())

    def _is_stale(self) -> bool:
        """True where Compare would now compare something else."""
        if self.compared is None or self._comparing.busy:
            return False
        gold = self.choosing.gold
        changed = self._listed_otherwise or self._overridden or self.compared.choice != self.choosing.choice
        same_labels = gold is self.compared.dataset or gold is self._equal or self._looking.busy
        return bool(changed) or not same_labels

    def _look_at_labels(self) -> None:
        gold = self.choosing.gold
        if self.compared is None or gold is None or gold is self._looked_at:
            return
        self._looked_at = gold
        if gold is not self.compared.dataset and gold.path == self.compared.dataset.path:
            self._looking.start(compare_jobs.same_labels(self.compared.dataset, gold))

    def _take_look(self, same: bool) -> None:
        self._equal = self._looked_at if same else None
        self.stale.setVisible(self._is_stale())

    def _look_at_runs(self) -> None:
        compared, run = self.compared, self.workspace.run
        if compared is None:
            return
        marks = compared.marks
        known = (stored for stored in self.workspace.runs if stored.id in marks)
        self._listed_otherwise = {stored.id for stored in known if not marks[stored.id].is_of(stored)}
        if run is not None and run.id in marks:
            results = run.results.by(LabelSource(compared.choice.labels_of))
            same = run_mark(results.answered).overrides == marks[run.id].overrides
            (self._overridden.discard if same else self._overridden.add)(run.id)
        self.stale.setVisible(self._is_stale())

    def _take(self, compared: compare_jobs.Compared) -> None:
        self.compared = compared
        self._all = compared if compared.chosen is None else self._all
        self._listed_otherwise.clear()
        self._overridden.clear()
        self._looked_at = self._equal = None
        labels.show_text(self.doubts, "\n".join(compared.doubts))
        self.view.show_comparison(compared)
        self.slices.show()
        self.stack.setCurrentWidget(self.view)
        self.workspace.refresh_runs()  # the list may be older than what was compared

    def _show_slice(self) -> None:
        # Let the choice of a slice say what is shown, where nothing came of another one.
        if self.compared is not None and (shown := self.compared.chosen) != self.slices.chosen:
            self.slices.choose_part(shown.part if shown is not None else None)

    def _ask_where_to_save(self) -> None:
        first = self.workspace.state.export_folder(self.choosing.folder) / "comparison.json"
        path = ask_target(self, "Save comparison", first, "JSON (*.json)")
        if path is not None:
            self.save(path)

    # The way to Review

    def _open_in_review(self, key: JudgmentKey, system: int | None) -> None:
        run = self._run_of(system)
        if run is not None:
            self.workspace.open_in_review(run, key)

    def _list_in_review(self, filters: Filters, words: str) -> None:
        run = self._run_of(None)
        if run is None:
            self.workspace.note.emit("Only a run can be opened in Review, and none of these systems is one.")
        else:
            self.workspace.open_in_review(run, WantedItems(run, filters, words))

    def _run_of(self, system: int | None) -> int | None:
        """The run of a system; else the run that is open, else the first one; None without any."""
        systems = self.compared.runs if self.compared else ()
        runs = [run for run in systems if run is not None]
        chosen = systems[system] if system is not None else None
        opened = self.workspace.run.id if self.workspace.run else None
        return chosen or (opened if opened in runs else next(iter(runs), None))


def _dropped_files(event: QDragEnterEvent | QDropEvent) -> list[Path]:
    """The files of a drop where all of them may hold what judges said."""
    paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
    suffixes = (*_TABLES, *(f"{suffix}.gz" for suffix in _TABLES))
    return paths if all(path.name.lower().endswith(suffixes) for path in paths) else []
