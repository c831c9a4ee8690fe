"""Calibration of the open run: fit one, see its gain, decide the run with it; its learning curve. Trust:
which of its labels may stand, by human labels of a random part; kept with it; the others.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QCheckBox, QLabel, QPushButton, QWidget

from engine.annotations.records import Filters, ListOrder
from engine.core.errors import EngineError, SetupError
from engine.core.formatting import visible
from gui.results import fit_jobs
from gui.results.fit_jobs import CURVE_FIGURE, TRUST_FIGURE, FoundTrust, Learned, Proposal
from gui.widgets import labels
from gui.widgets.fields import FlowLayout, Fold, SpinBox, narrow_box
from gui.widgets.files import ask_source, ask_target
from gui.widgets.glossary import Topic, headed
from gui.widgets.notice import problem_of
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
        threads, fail, enable = workspace.threads, workspace.failures, self._enable
        lane = ThreadName.MEASURE
        self._learning = TaskPanel(threads, lane, self, self._take, failed=fail, changed=enable, at_once=True)
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
        threads, fail, enable = workspace.threads, workspace.failures, self._enable
        lane, done = ThreadName.MEASURE, self._propose
        self._fitting = TaskPanel(threads, lane, self, done, failed=fail, changed=enable, at_once=True)
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
            task = space.threads.start(ThreadName.STORE, job, self._take_applied, must_end=True)
            self._applying = task
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


TARGET, RISK = 85, 10  # in percent, as the command has them
MEASURES = {"probability": "Probability", "agreement": "Agreement", "both": "Both"}
_WHAT_STANDS = (
    "Which labels of the judge you may keep: those of which it is so confident that they agree with people as"
    " often as you ask. This takes human labels of items that were drawn at random. Choose what you ask for"
    " before you look."
)
_AGAIN = (
    "“I may look again”: what is found holds at each look, as you label more, but fewer labels may stand."
    " Without it, decide first how many labels to give, and look once."
)
_TARGET = "The share of labels that stand which is to agree with people"
_RISK = "How probable it may be that fewer of them agree"
_MEASURES = (
    "How sure the judge is: the probability of its label; that times the share of its orders, methods,"
    " reasoning samples and judges that agree; or the better of both, each at half of the risk"
)
_FEWEST = 60  # labels: with 57 of them in agreement, all may stand by default (p = .01)
_NO_CONFIDENCE = (
    "This is an opened submission: it has labels and no confidence, so which may stand is not known."
)
_NO_ITEMS = "The dataset of this run is missing or has changed: open it on the Dataset page."
_SAMPLE = "in the order of a random sample. Label the first {:,} from the top; then see Results, “Trust”"
_ESCALATED = "escalated, as one of their labels may not stand. A label of your own decides"


class TrustPanel(QWidget):
    """Finds out; the run changes only by Keep."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self.found: FoundTrust | None = None
        self._of: tuple[object, ...] = ()  # of which run it is
        threads, lane, fail = workspace.threads, ThreadName.MEASURE, self._refuse
        self._finding = TaskPanel(threads, lane, self, self._take, failed=fail, at_once=True)
        self._build()
        workspace.run_changed.connect(self.follow_run)
        changed = (self.target.valueChanged, self.risk.valueChanged, self.by.currentIndexChanged)
        boxes = (self.jointly.toggled, self.again.toggled)
        for signal in (workspace.gold_changed, workspace.reviewed, *changed, *boxes):
            signal.connect(self._drop)
        self.follow_run()

    @property
    def _run(self) -> "tuple[RunResults, Dataset] | None":
        """The run with its items, where these are there and it has confidence."""
        run, gold = self._workspace.run, self._workspace.gold
        items = gold or (run.dataset if run is not None else None)
        return (run.results, items) if run and items and not run.results.run.submitted else None

    def follow_run(self) -> None:
        results = self._workspace.run.results if self._workspace.run else None
        calibration = results.calibration.hash if results and results.calibration else None
        # Many annotations that come at once, as of an import, are told as another run.
        now = (results.run.id, len(results.judged), calibration, results.reviews) if results else ()
        if now != self._of:
            self._of = now
            self._drop()
        kept, holds = fit_jobs.kept_in_words(self._run[0]) if self._run else ("", False)
        labels.show_text(self.kept, kept)
        self.list_button.setEnabled(holds)

    def _drop(self) -> None:
        # What was found is of other labels, or by other wishes.
        self._finding.drop()
        run = self._workspace.run
        lacking = _NO_CONFIDENCE if run is not None and run.results.run.submitted else _NO_ITEMS
        self._show(None, lacking if run is not None and self._run is None else "")

    def find_out(self) -> None:
        self._begin("Testing the labels …", forecasts=False)

    def forecast(self) -> None:
        self._begin("Forecasting …", forecasts=True)

    def _begin(self, text: str, forecasts: bool) -> None:
        if self._run is not None:
            target, risk = self.target.value() / 100, self.risk.value() / 100
            by, jointly, anytime = self.by.currentData(), self.jointly.isChecked(), self.again.isChecked()
            promise: dict[str, Any] = {"target": target, "risk": risk, "anytime": anytime}
            job = fit_jobs.find_trust(*self._run, by, jointly, forecasts, **promise)
            self._finding.begin(job, text)

    def _take(self, found: FoundTrust) -> None:
        self._workspace.failures.end(self)
        self._show(found, found.in_short)

    def _refuse(self, error: EngineError) -> None:
        # That there are no labels yet, or picked ones, is a state like others, and no mishap.
        usual = isinstance(error, SetupError)
        self._show(None, " ".join(problem_of(error)) if usual else "")
        if not usual:
            self._workspace.failures.fail(self, error)

    def _show(self, found: FoundTrust | None, said: str) -> None:
        self.found = found
        labels.show_text(self.said, said)
        labels.set_role(self.said, "good" if found is not None and found.stands else "warning")
        self.sheet.show_sheet(found.sheet if found is not None else None)
        self.picture.show_source(found.figure if found is not None else None)
        run = self._run
        # Not otherwise while it is found out: the focus would jump from what was pressed.
        for button in (self.find_button, self.forecast_button):
            button.setEnabled(run is not None)
        self.keep_button.setEnabled(found is not None)
        items, labelled = len(run[0].judged) if run else 0, len(found.labelled) if found else 0
        self.label_button.setEnabled(labelled < items)
        counts = labelled < items and (found is not None or not said)  # a refusal says how many are needed
        self._more = min((found and found.more) or _FEWEST, items - labelled)
        self.label_button.setText(f"Label {self._more:,} at ra&ndom" if counts else "Label at ra&ndom")

    def keep(self) -> None:
        if self._run is not None and self.found is not None:
            space = self._workspace
            space.stay()
            job = fit_jobs.keep_trust(space.store_path, self._run[0].run.id, self.found.kept)
            task = space.threads.start(ThreadName.STORE, job, space.read_run_again, must_end=True)
            space.failures.follow(task, "trust kept")

    def _label_at_random(self) -> None:
        labelled = self.found.labelled if self.found is not None else frozenset()
        said = _SAMPLE.format(self._more)
        self._workspace.list_in_review(Filters(labelled=labelled), said, ListOrder.RANDOM)

    def _list_escalated(self) -> None:
        self._workspace.list_in_review(Filters(escalated=True), _ESCALATED)

    def _build(self) -> None:
        self.by, shares = narrow_box("Confidence by", 11), {"minimum": 1, "maximum": 99, "suffix": " %"}
        self.target, self.risk = SpinBox(value=TARGET, **shares), SpinBox(value=RISK, **shares)
        self.by.offer((text, measure) for measure, text in MEASURES.items())
        self.jointly, self.again = QCheckBox("One risk for &all criteria"), QCheckBox("I &may look again")
        named = {"Target": (self.target, _TARGET), "Risk": (self.risk, _RISK)}
        parts: list[QWidget] = [self.jointly, self.again]
        for place, (name, (each, what)) in enumerate(
            {**named, "Confidence by": (self.by, _MEASURES)}.items()
        ):
            labels.name(each, name, what)
            parts.insert(place, labels.as_row(labels.label(name, wrap=False), each, spacing=6))
        for part in parts:
            part.setMinimumHeight(self.by.sizeHint().height())  # of one line
        fields = FlowLayout(*parts, gap=10)
        made = [
            labels.button(text, do, text.replace("&", ""), what)
            for text, do, what in (
                ("F&ind out", self.find_out, "Test, on the labels that there are, which labels may stand"),
                ("For&ecast", self.forecast, "Find out, and forecast what more labels would let stand"),
                (
                    "Label at ra&ndom",
                    self._label_at_random,
                    "List unlabelled items of a random sample in Review",
                ),
                ("&Keep", self.keep, "Keep the thresholds with the run, for exports and Review"),
                ("Escalate&d", self._list_escalated, "List in Review what may not stand by what is kept"),
            )
        ]
        self.find_button, self.forecast_button, self.label_button, self.keep_button, self.list_button = made
        self.find_button.setProperty("role", "main")
        self.said, self.kept, self.sheet = labels.label(""), labels.hint(""), SheetView()
        self.picture = FramedPicture(self._workspace, TRUST_FIGURE, "Agreement of the labels that may stand")
        asked = (headed("Trust", Topic.TRUST), labels.hint(_WHAT_STANDS), fields, labels.hint(_AGAIN))
        first = labels.panel(*asked, FlowLayout(*made), self._finding.line, self.said, self.kept)
        below = (first, self.picture, self.sheet, labels.STRETCH)
        labels.in_column(*below, on=self, margins=(0, 0, 6, 0), spacing=10)
