"""Which labels of the open run may stand, by human labels of a random part; kept with it; the others."""

from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QCheckBox, QWidget

from engine.annotations.records import Filters, ListOrder
from engine.core.errors import EngineError, SetupError
from gui.results import fit_jobs
from gui.results.fit_jobs import TRUST_FIGURE, FoundTrust
from gui.widgets import labels
from gui.widgets.fields import FlowLayout, SpinBox, narrow_box
from gui.widgets.glossary import Topic
from gui.widgets.help_dialog import headed
from gui.widgets.notice import problem_of
from gui.widgets.text_views import SheetView
from gui.workspace.figures import FramedPicture
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.results.run_results import RunResults

TARGET, RISK = 85, 10  # in percent, as the command has them
MEASURES = {"probability": "Probability", "agreement": "Agreement", "both": "Both"}
_WHAT = (
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
_SUBMITTED = "This is an opened submission: it has labels and no confidence, so which may stand is not known."
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
        now = (results.run.id, len(results.judged), calibration) if results else ()
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
        lacking = _SUBMITTED if run is not None and run.results.run.submitted else _NO_ITEMS
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
        counts = items > 0 and (found is not None or not said)  # a refusal says itself how many are needed
        self._more = min((found and found.more) or _FEWEST, items - labelled)
        self.label_button.setText(f"Label {self._more:,} at ra&ndom" if counts else "Label at ra&ndom")

    def keep(self) -> None:
        if self._run is not None and self.found is not None:
            space = self._workspace
            space.stay()
            job = fit_jobs.keep_trust(space.store_path, self._run[0].run.id, self.found.kept)
            task = space.threads.start(ThreadName.STORE, job, must_end=True)
            task.finished.connect(space.read_run_again)
            space.failures.follow(task, "trust kept")

    def _label_at_random(self) -> None:
        labelled = self.found.labelled if self.found is not None else frozenset()
        said = _SAMPLE.format(self._more)
        self._workspace.list_in_review(Filters(labelled=labelled), said, ListOrder.RANDOM)

    def _list_escalated(self) -> None:
        self._workspace.list_in_review(Filters(escalated=True), _ESCALATED)

    def _build(self) -> None:
        self.target, self.risk, self.by = SpinBox(), SpinBox(), narrow_box("Confidence by", 11)
        for field, share in ((self.target, TARGET), (self.risk, RISK)):
            field.setRange(1, 99)
            field.setValue(share)
            field.setSuffix(" %")
        for value, text in MEASURES.items():
            self.by.addItem(text, value)
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
        asked = (headed("Trust", Topic.TRUST), labels.hint(_WHAT), fields, labels.hint(_AGAIN))
        first = labels.panel(*asked, FlowLayout(*made), self._finding.line, self.said, self.kept)
        below = (first, self.picture, self.sheet, labels.STRETCH)
        labels.in_column(*below, on=self, margins=(0, 0, 6, 0), spacing=10)
