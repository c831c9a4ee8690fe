"""Calibration of the open run: fit one, see its gain, decide the run with it; its learning curve."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QCheckBox, QLabel, QPushButton, QWidget

from engine.core.formatting import visible
from gui.results import fit_jobs
from gui.results.fit_jobs import CURVE_FIGURE, Learned, Proposal
from gui.widgets import labels
from gui.widgets.fields import Fold
from gui.widgets.files import ask_source, ask_target
from gui.widgets.glossary import Topic
from gui.widgets.help_dialog import headed
from gui.widgets.text_views import SectionView, SheetView
from gui.workspace.figures import FramedPicture
from gui.workspace.task_panel import TaskPanel, write_file
from gui.workspace.threads import Task, ThreadName
from gui.workspace.workspace import Workspace

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.results.calibration import Calibration
    from engine.results.run_results import RunResults


_TITLE = "Learning curve"
_PICTURE = "Calibration quality by number of human labels"
_WHAT = "Calibration quality by number of training labels: would more labels help? It changes nothing"


def _measuring(
    workspace: Workspace, parent: QWidget, done: Callable[[Any], None], changed: Callable[[], None]
) -> TaskPanel:
    threads, failed = workspace.threads, workspace.failures
    lane = ThreadName.MEASURE
    return TaskPanel(threads, lane, parent, done, failed=failed, changed=changed, at_once=True)


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
        self.button = labels.button("Learning c&urve", self.learn, _TITLE, _WHAT)
        self._learning = _measuring(workspace, self, self._take, self._enable)
        self.busy = self._learning.line
        self.picture = FramedPicture(workspace, CURVE_FIGURE, _PICTURE)
        self.sheet = SheetView()
        self.fold = Fold(_TITLE, labels.as_column(self.picture, self.sheet, spacing=10))
        labels.in_column(self.fold, on=self)
        workspace.run_wanted.connect(self._drop_curve)
        for signal in (workspace.run_changed, workspace.gold_changed):
            signal.connect(self.follow_run)
        self._show(None)
        self._enable()

    def learn(self) -> None:
        run, gold = self._workspace.run, self._workspace.gold
        if run is not None and gold is not None:
            self._of, self._gold = self._open, gold
            curve = fit_jobs.learn(run.results, gold, self._wishes())
            self._learning.begin(curve, "Measuring the learning curve …")

    def _drop_curve(self, _run_id: int) -> None:
        self._learning.drop()  # another run would wait for it, which takes long

    def follow_run(self) -> None:
        # What is of another run, of other labels or by other requests goes; decided anew, it is the same.
        if self._of and (self._of != self._open or self._gold is not self._workspace.gold):
            self._of, self._gold = (), None
            self._learning.drop()
            self._show(None)
        self._enable()

    @property
    def _open(self) -> tuple[object, ...]:
        run = self._workspace.run
        known = (run.id, len(run.results.judged)) if run is not None else ()
        return (*known, *self._wishes().values())

    def _show(self, learned: Learned | None) -> None:
        self.learned = learned
        self.setVisible(learned is not None)
        self.sheet.show_sheet(learned.sheet if learned is not None else None)
        self.picture.show_source(learned.figure if learned is not None else None)

    def _take(self, learned: Learned) -> None:
        self._show(learned)
        self.fold.set_open(True)

    def _enable(self) -> None:
        run, gold = self._workspace.run, self._workspace.gold
        possible = run is not None and not run.results.run.submitted and gold is not None
        self.button.setEnabled(possible and not self._learning.busy)


_PLACES_MATTER = (
    "Tick this only if it means something which response is A, for instance if A is always the new"
    " model's. Otherwise A and B are treated alike, and no label depends on the position of a response."
)
_LENGTHS = (
    "Annotators often prefer the longer response, and a judge may miss that. With the lengths,"
    " labels are predicted better, but they depend less on the content."
)
_NEEDS = "Calibration needs human labels: choose a labelled dataset with “Choose labels…”."
_NOT_CALIBRATED = "This run is not calibrated: its labels come from the model's own probabilities."
_SUBMITTED = (
    "This is an opened submission: it has labels and no probabilities, so it cannot be calibrated."
    " Weighted scoring and scores use its labels."
)
_PROPOSED = "Proposed, {}. Nothing has changed yet: press “Apply to {run}” to use it."
_APPLIED = "Applied, {}: {run} uses it now."
_KIND = "Calibrations (*.json)"


def show_proposal(line: QLabel, button: QPushButton, source: str, run: str, applied: bool) -> None:
    """Say what is proposed for a run; the button that applies it names the run, and goes once it is done."""
    line.setText(visible((_APPLIED if applied else _PROPOSED).format(source, run=run)))
    labels.set_role(line, "good" if applied else "warning")
    button.setText(f"Appl&y to {run}")
    labels.name(button, f"Apply what is proposed to {run}")
    button.setVisible(not applied)


class CalibrationPanel(QWidget):
    """Proposes a calibration; the run changes only when it is applied."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self.proposal: Proposal | None = None
        self._proposed_for: int | None = None  # a run
        self._applying: Task | None = None
        self._fitting = _measuring(workspace, self, self._propose, self._enable)
        self._build()
        for request in (self.places_matter, self.lengths):
            request.toggled.connect(self.learning.follow_run)
        for signal in (workspace.run_changed, workspace.gold_changed):
            signal.connect(self.follow_run)
        self.follow_run()

    @property
    def _results(self) -> "RunResults | None":
        return self._workspace.run.results if self._workspace.run else None

    def follow_run(self) -> None:
        results = self._results
        calibration = results.calibration if results else None
        without = _SUBMITTED if results is not None and results.run.submitted else _NOT_CALIBRATED
        one_label = results.one_label_sentence if results else ""
        self.state.setText(visible(f"{_in_words(calibration)} {one_label}" if calibration else without))
        labels.set_role(self.state, "warning" if one_label else "")
        run = results.run.in_short if results else "the run"
        own = f"Decide {run} by the model's own probabilities"
        labels.name(self.off_button, f"Remove the calibration from {run}", own)
        self._fitting.drop()
        self._show_proposal(self.proposal if self._is_applied else None)
        self._enable()

    @property
    def _is_applied(self) -> bool:
        # What was proposed decides the run now: its tables stay, as what was done.
        results, proposal = self._results, self.proposal
        if results is None or proposal is None or results.calibration is None:
            return False
        return (results.run.id, results.calibration.hash) == (self._proposed_for, proposal.calibration.hash)

    def calibrate(self) -> None:
        results, gold = self._results, self._workspace.gold
        if results is not None and gold is not None:
            self._workspace.stay()
            self._fitting.begin(fit_jobs.fit(results, gold, self._wishes()), "Fitting and cross-validating …")

    def _wishes(self) -> dict[str, bool]:
        return {"places_matter": self.places_matter.isChecked(), "lengths": self.lengths.isChecked()}

    def load(self, path: Path) -> None:
        if self._results is not None:
            self._workspace.stay()
            self._fitting.begin(fit_jobs.load(self._results, path), "Reading the calibration …")

    def save(self, path: Path) -> None:
        calibration = self._savable()
        if calibration is not None:
            work = fit_jobs.save(calibration, path, self._workspace.files_in_use(self))
            write_file(self._workspace, work, "calibration written")

    def apply(self) -> None:
        if self.proposal is not None:
            self._decide_with(self.proposal)

    def take_off(self) -> None:
        self._decide_with(None)

    def _decide_with(self, proposal: Proposal | None) -> None:
        space = self._workspace
        if self._results is not None:
            space.stay()
            calibration = proposal.calibration if proposal else None
            job = fit_jobs.apply(space.store_path, self._results.run.id, calibration)
            self._applying = task = space.threads.start(ThreadName.STORE, job, must_end=True)
            task.finished.connect(self._take_applied)
            space.failures.follow(task, "calibration applied")
            task.ended.connect(self._enable)
            self._enable()

    def _savable(self) -> "Calibration | None":
        if self.proposal is not None:
            return self.proposal.calibration
        return self._results.calibration if self._results else None

    def _propose(self, proposal: Proposal) -> None:
        self._proposed_for = self._results.run.id if self._results else None
        self._show_proposal(proposal)
        self.learning.fold.set_open(False)  # what is asked for last stands at the top
        self._enable()

    def _take_applied(self) -> None:
        self._workspace.note.emit("The run is decided again; its labels, scores and exports follow.")
        self._workspace.read_run_again()
        self._workspace.refresh_runs()

    def _enable(self) -> None:
        results, gold = self._results, self._workspace.gold
        possible = results is not None and not results.run.submitted
        idle = possible and not self._fitting.busy and (self._applying is None or self._applying.done)
        self.fit_button.setEnabled(idle and gold is not None)
        self.needs.setVisible(possible and gold is None)
        self.load_button.setEnabled(idle)
        self.apply_button.setEnabled(idle and self.proposal is not None and not self._is_applied)
        self.save_button.setEnabled(self._savable() is not None)
        self.off_button.setEnabled(idle and results is not None and results.calibration is not None)

    def _show_proposal(self, proposal: Proposal | None) -> None:
        self.proposal = proposal
        self._proposed.setVisible(proposal is not None)
        if proposal is None:
            return
        run = self._results.run.in_short if self._results else "the run"
        show_proposal(self._source, self.apply_button, proposal.source, run, self._is_applied)
        if proposal.one_label:
            labels.set_role(self._source, "warning")
        self.sheet.show_sheet(proposal.sheet)
        self._fold.setVisible(proposal.fitted is not None)
        if proposal.fitted is not None:
            self._fitted.show_section(proposal.fitted)

    # Making

    def _build(self) -> None:
        self.state = labels.label("")
        self.busy = self._fitting.line
        self.needs = labels.hint(_NEEDS)
        on_these = "Calibrate on these labels"
        self.fit_button = labels.button("Calibrate on these &labels", self.calibrate, on_these)
        self.places_matter = QCheckBox("The &positions matter")
        self.lengths = QCheckBox("Use the lengths of the responses")
        labels.name(self.places_matter, "The positions of the responses matter", _PLACES_MATTER)
        labels.name(self.lengths, "Use the lengths of the responses", _LENGTHS)
        made, used = "A calibration that was saved, made for this judge", "To judge other datasets with it"
        self.load_button = labels.button("Loa&d…", self._ask_for_file, "Load a calibration", made)
        self.save_button = labels.button("Save…", self._ask_where, "Save the calibration", used)
        self.off_button = labels.button("Ta&ke off", self.take_off)
        self.apply_button = labels.button("Appl&y", self.apply, "Apply the calibration")
        for main in (self.fit_button, self.apply_button):
            main.setProperty("role", "main")
        self.learning = LearningPanel(self._workspace, self._wishes)
        self._source = labels.label("")
        self.sheet, self._fitted = SheetView(), SectionView()
        self._fold = Fold("What was fitted", self._fitted)
        others = (self.load_button, self.save_button, self.off_button)
        buttons = labels.in_row(self.fit_button, self.learning.button, *others, labels.STRETCH)
        asked = (headed("Calibration", Topic.CALIBRATION), self.state, self.needs)
        wishes = (self.places_matter, labels.hint(_PLACES_MATTER), self.lengths, labels.hint(_LENGTHS))
        first = labels.panel(*asked, *wishes, buttons, self.busy, self.learning.busy)
        # Above the tables, which may be higher than the window: nobody must look for the button.
        second = labels.panel(self._source, labels.in_row(self.apply_button, labels.STRETCH))
        self._proposed = labels.as_column(second, self.sheet, self._fold, labels.STRETCH, spacing=10)
        parts = (first, self.learning, self._proposed, labels.STRETCH)
        labels.in_column(*parts, on=self, margins=(0, 0, 6, 0), spacing=10)

    def _folder(self) -> Path:
        results = self._results
        beside = results.run.identity.dataset_path.parent if results else None
        return self._workspace.state.export_folder(beside)

    def _ask_for_file(self) -> None:
        path = ask_source(self, "Load a calibration", self._folder(), _KIND)
        if path is not None:
            self.load(path)

    def _ask_where(self) -> None:
        results = self._results
        suggested = self._folder() / f"{results.run.stem if results else 'run'}-calibration.json"
        path = ask_target(self, "Save the calibration", suggested, _KIND)
        if path is not None:
            self._workspace.state.keep_export_folder(path.parent)
            self.save(path)


def _in_words(calibration: "Calibration") -> str:
    """What decides the run, and what it was worth on the labels that it was fitted on."""
    made = f"fitted on {calibration.dataset} ({calibration.hash[:12]})"
    text, found = f"This run is calibrated: {made}. {calibration.in_words}", calibration.accuracies
    if not found:
        return text
    change = f"{found['before']} before, {found['after']} after; accuracy gain: {found['more']}"
    return f"{text} Accuracy there, in percent, cross-validated: {change}."
