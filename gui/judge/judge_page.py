"""The Judge page: what is judged, with which model and how; when a plan is made anew; the run."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMessageBox, QPushButton, QVBoxLayout, QWidget

from engine.core.column_map import ColumnMap
from engine.core.errors import EngineError
from engine.core.events import ItemJudged, MeasureProgress, RunEnded, TuningStage
from engine.core.formatting import counted, short_name
from engine.core.items import Method
from engine.core.judgments import JudgmentKey
from engine.settings.run_setup import RunSetup
from engine.system.paths import PathKind, demo_dataset, seen_at
from gui.judge import run_jobs
from gui.judge.dataset_line import DatasetLine
from gui.judge.plan_panel import PlanPanel, ResumeBanner
from gui.judge.run_control import RunControl, default_setup
from gui.judge.run_panel import RunPanel
from gui.judge.settings_panel import SettingsPanel
from gui.models.model_jobs import ModelRequest
from gui.models.model_picker import ModelPicker
from gui.widgets import labels
from gui.widgets.fields import ComboBox, DoubleSpinBox, SpinBox
from gui.widgets.glossary import FirstSteps
from gui.widgets.notice import question
from gui.workspace.file_jobs import Loading
from gui.workspace.page import Page, PageSplitter
from gui.workspace.state import PageName
from gui.workspace.task_panel import TaskDialog, TaskPanel
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace

if TYPE_CHECKING:
    from engine.data.dataset import Dataset

_WHAT = (
    "Elicitation methods, orders, a shorter prompt and few-shot examples are tried on a part of the labelled"
    " items. The cheapest settings that are as good as the best are chosen and calibrated;"
    " their accuracy is measured on held-out items."
)
_KEPT = (
    "All judgments are stored in runs of their own. If you stop, or the time ends, the search can be resumed."
)
_NO_DATASET = "No dataset is open. Open one with human labels."
_NO_LABELS = "The open dataset has no human labels, which the search needs. Open one with labels."
_DEFAULT_MINUTES = 30.0
_METHODS = {
    "all but chain of thought": tuple(method for method in Method if method is not Method.CHAIN_OF_THOUGHT),
    "label tokens only (fastest)": (Method.LABEL_TOKENS,),
    "all, with chain of thought": tuple(Method),
}
_TRIED = "Elicitation methods:"


class TuneDialog(TaskDialog):
    """`wanted`: the path of the recipe that was found, which the user wants to use."""

    wanted = Signal(object)

    def __init__(self, workspace: Workspace, setup: RunSetup, parent: QWidget) -> None:
        super().__init__("Find the best settings", "&Find", "&Use these settings", parent)
        self._workspace, self._setup, self._dataset = workspace, setup, workspace.dataset
        self.found: run_jobs.FoundSettings | None = None
        self._stage, self._judged, self._part = "", 0, 0.0
        longest = 7 * 24 * 60
        self.minutes = DoubleSpinBox(
            minimum=1, maximum=longest, decimals=0, value=_DEFAULT_MINUTES, suffix=" min"
        )
        self.items = SpinBox(maximum=100_000, specialValueText="as many as the time allows")
        self.methods = ComboBox()
        threads, take, follow = workspace.threads, self._take, self._follow
        self.task = TaskPanel(threads, ThreadName.MODEL, self, take, follow=follow, failed=self.notice)
        self.task.busy_changed.connect(self._follow_busy)
        self.task.cancelled.connect(self._tell_stopped)
        self.lay_out(self._asked(), letters=150, lines=44)
        self.act_button.clicked.connect(self.search)
        self.use_button.clicked.connect(self._use)
        self._enable()

    def search(self) -> None:
        self.found, self._stage, self._judged, self._part = None, "", 0, 0.0
        methods, items = _METHODS[self.methods.currentText()], self.items.value() or None
        asked = run_jobs.TuneAsked(self._setup, self.minutes.value(), methods, items)
        self.begin(run_jobs.find(asked, self._workspace.store_path, self._dataset), "Reading the files …")

    def _asked(self) -> QWidget:
        labels.name(self.minutes, "How long it may take", "The search can be resumed later with more time.")
        labels.name(self.items, "How many items are judged at most", "A random sample, drawn by instruction.")
        self.methods.addItems(list(_METHODS))
        long = "Chain of thought takes many times as long as all others."
        labels.name(self.methods, "The elicitation methods to try", long)
        dataset = short_name(self._dataset.name) if self._dataset is not None else "no dataset"
        title = labels.heading(f"{short_name(self._setup.model_path.stem)} on {dataset}")
        time, items, tried = (labels.label(what, wrap=False) for what in ("Time:", "Items:", _TRIED))
        first = labels.in_row(time, self.minutes, items, self.items, labels.STRETCH)
        second = labels.in_row(tried, self.methods, labels.STRETCH)
        return labels.panel(title, labels.hint(_WHAT), first, second, labels.hint(_KEPT))

    def _enable(self) -> None:
        busy, labelled = self.task.busy, self._dataset is not None and bool(self._dataset.criteria)
        for field in (self.minutes, self.items, self.methods):
            field.setEnabled(not busy)
        self.act_button.setEnabled(not busy and labelled)
        self.use_button.setVisible(self.found is not None)
        if not labelled:
            labels.show_text(self.outcome, _NO_DATASET if self._dataset is None else _NO_LABELS)

    def _follow(self, event: object) -> None:
        done = ""
        if isinstance(event, ItemJudged):
            self._judged += 1
        elif isinstance(event, MeasureProgress):
            done = f"{event.done:,} of {event.total:,} compared"
        elif isinstance(event, TuningStage):
            self._stage, self._part = event.what, (event.number - 1) / event.stages
        else:
            self.task.show_progress(event)
            return
        done = done or f"{counted(self._judged, 'item', 'items')} judged"
        self.task.line.go_on(f"{self._stage}: {done} …", round(100 * self._part), 100)

    def _follow_busy(self) -> None:
        if not self.task.busy:
            self._workspace.refresh_runs()
        self._enable()

    def _take(self, found: run_jobs.FoundSettings) -> None:
        self.found = found
        self.show_outcome(f"Judge configuration saved: {found.path}", found.sheet)

    def _tell_stopped(self) -> None:
        labels.show_text(self.outcome, "Stopped. Judged items are saved: “Find” resumes the search.")

    def _use(self) -> None:
        if self.found is not None:
            self.wanted.emit(self.found.path)
            self.accept()


_STEPS_CLOSED = "judge/first_steps_closed"
_AGAIN = "Judge the items again in a new run"


class JudgePage(Page):
    NAME = PageName.JUDGE

    audit_described = Signal(object)  # a DescribedAudit

    def __init__(self, workspace: Workspace, control: RunControl) -> None:
        super().__init__(workspace)
        self.control = control
        self._awake = False  # set once the page is seen: what it computes can wait until then
        self._reading = False  # a dataset is being read
        self._shown_path: Path | None = None
        self._awaited: RunSetup | None = None  # whose dataset is still read
        self._best: TuneDialog | None = None
        self._keys_follow = False  # the keys were on Stop, or Stop was pressed: they go to what follows
        self._make_parts()
        self._make_header()
        left = labels.column(*map(labels.panel, (self.dataset_line, self.picker, self.settings)))
        # The plan before the run: the judgments of an old one take what room is left, and push nothing away.
        right = labels.column(self.first_steps, self.plan_panel, self.run_panel)
        self._right = cast(QVBoxLayout, right.layout())
        self._right.setStretchFactor(self.run_panel, 100)
        areas = labels.scrolling(left, "What to judge, and how"), labels.scrolling(right, "Plan and run")
        splitter = PageSplitter(Qt.Orientation.Horizontal, *areas)
        splitter.setSizes([530, 602])
        self.body.addWidget(self.banner)
        self.body.addWidget(self.remember("judge/splitter", splitter), 1)
        threads, failures, tell = workspace.threads, workspace.failures, self.audit_described.emit
        self._recipes = TaskPanel(threads, ThreadName.STORE, self, self._use_settings, failed=failures)
        self._auditing = TaskPanel(threads, ThreadName.FILES, self, tell, failed=failures)
        workspace.dataset_changed.connect(self._show_dataset)
        workspace.dataset_loading.connect(self._show_loading)
        workspace.run_changed.connect(self._follow_open_run)
        workspace.runs_changed.connect(self._show_first_steps)
        control.started.connect(self._follow_start)
        control.progressed.connect(self._follow)
        control.ended.connect(self._follow_end)
        self._show_dataset()

    # What the window asks of it

    def entered(self) -> None:
        if not self._awake:
            self._awake = True
            self.picker.scan()
        self._change()

    def choose_model(self, path: Path) -> None:
        self._awake = True
        folder = seen_at(path) is PathKind.FOLDER
        (self.picker.add_folder if folder else self.picker.choose_file)(path)

    def choose_items(self, dataset: Path, ids: Sequence[str], columns: ColumnMap | None = None) -> None:
        """Describe a run of these items alone, of a dataset that is opened where it is not; none starts."""
        self._describe(replace(default_setup(), dataset_path=dataset, ids=tuple(ids), columns=columns))
        if self.control.running:
            self.workspace.note.emit("The chosen items can be judged when the current run has ended.")

    def run(self) -> None:
        """Run, or resume; a run that is complete is not judged again: only its button does that."""
        plan = self.plan_panel.plan
        if plan is None or not plan.forecast.complete or self.control.running:
            self._run(fresh=False)
        else:
            self.workspace.note.emit(f"{plan.forecast.stored.capitalize()}; press Judge again for a new run.")

    def audit(self) -> None:
        setup, dataset = self.wanted(fresh=False), self.workspace.dataset
        if setup is not None and dataset is not None:
            self._auditing.start(run_jobs.describe_audit(setup, dataset, self.workspace.store_path))

    @property
    def can_run(self) -> bool:
        return self.plan_panel.plan is not None and not self.control.running

    def take_in(self, add: QPushButton, beside: QWidget) -> None:
        """Show a button beside the main one, and a panel above plan and run."""
        self.header.addWidget(add)
        self._right.insertWidget(1, beside)

    def wanted(self, fresh: bool | None = None) -> RunSetup | None:
        """What the main button would start, or `fresh` or not; None, which is said, where something lacks."""
        plan = self.plan_panel.plan
        over = plan is not None and plan.forecast.complete
        setup = replace(self.setup(), fresh=over if fresh is None else fresh)
        if self._reading:
            self.workspace.note.emit("Another dataset is being read: press Run once it is loaded.")
            return None
        if self.workspace.dataset is None or not setup.asks:
            missing = "Open a dataset, choose a criterion and an elicitation method, then run."
            self.workspace.note.emit(missing)
            return None
        goes_on = plan is not None and plan.forecast.unfinished and not setup.fresh
        return replace(setup, resumes=plan.forecast.run_id if plan is not None and goes_on else None)

    def setup(self) -> RunSetup:
        dataset = self.workspace.dataset
        setup = self.dataset_line.in_setup(replace(default_setup(), model_path=self.picker.path))
        if dataset is not None:
            setup = replace(setup, dataset_path=dataset.path.absolute(), columns=dataset.columns)
        return self.settings.in_setup(setup)

    # Parts

    def _make_parts(self) -> None:
        self.banner = ResumeBanner(self.workspace, self.control, self.setup)
        self.banner.resumed.connect(self.resume)
        self.dataset_line, space = DatasetLine(), self.workspace
        self.dataset_line.demo_wanted.connect(lambda: space.open_dataset(demo_dataset()))
        self.picker = ModelPicker(space)
        self.picker.doing.audit_wanted.connect(self.audit)
        self.settings = SettingsPanel(space)
        for part in (self.dataset_line, self.picker, self.settings):
            part.changed.connect(self._change)
        self.settings.advanced.device.tried.connect(self._follow_trial)
        self.settings.best_wanted.connect(self._find_best)
        self.first_steps = FirstSteps()
        self.first_steps.closed.connect(self._close_first_steps)
        self.first_steps.hide()  # until it is known that nothing was ever judged here
        self.plan_panel = PlanPanel(space)
        self.plan_panel.planned.connect(self._show_buttons)
        fields = self.settings.advanced.default.by_name
        self.plan_panel.context_wanted.connect(fields["context"].setValue)
        self.plan_panel.shorten_wanted.connect(lambda: fields["shorten"].setChecked(True))
        self.picker.measured.connect(self.plan_panel.time_anew)
        self.run_panel = RunPanel(self.control)
        self.run_panel.page_wanted.connect(self._show_run)
        self.run_panel.item_wanted.connect(self._want_item)

    def _make_header(self) -> None:
        self.results_button = labels.button("Show results", self._show_results)
        stays = "Judged items stay saved, and the run can be resumed later."
        self.over_button = labels.button("Start over", lambda: self._run(fresh=True), _AGAIN)
        self.run_button = labels.button("Run", self._run)  # what it says
        self.stop_button = labels.button("Stop", self.control.stop, "Stop the run", stays)
        # Stop keeps its place, and what stands beside it: a run ends by itself, under the hand of the user.
        for each in (self.results_button, self.over_button, self.run_button, self.stop_button):
            self.header.addWidget(each)

    # Recipes

    def _find_best(self) -> None:
        if self._best is None:
            self._best = TuneDialog(self.workspace, self.setup(), self)
            self._best.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            self._best.wanted.connect(self.use_recipe)
            self._best.finished.connect(lambda: setattr(self, "_best", None))
        self._best.show()
        self._best.raise_()
        self._best.activateWindow()

    @property
    def searching(self) -> bool:
        return self._best is not None and self._best.task.busy

    def use_recipe(self, path: Path) -> None:
        self._recipes.start(run_jobs.open_recipe(path, self.setup()))

    def _use_settings(self, setup: RunSetup) -> None:
        self.settings.show_setup(setup)
        if setup.model_path != self.picker.path:
            self.picker.choose_file(setup.model_path)
        calibration = setup.calibration_path
        where = f" of {short_name(calibration.name)}" if calibration is not None else ""
        self.workspace.note.emit(f"The settings{where} are used, with their calibration.")

    # The plan

    def _change(self) -> None:
        setup = self.setup()
        if self._awake:
            self.settings.set_model(setup.model_path)
        self.picker.set_request(ModelRequest.of(setup, self.settings.advanced.device.known))
        self._plan_soon()

    def _show_dataset(self) -> None:
        dataset = self.workspace.dataset
        path = dataset.path if dataset else None
        if self._shown_path not in (None, path):
            self.dataset_line.set_items(None)
        self._shown_path = path
        self.dataset_line.show_dataset(dataset)
        if dataset is not None:
            self._show_part(dataset)
        self._plan_soon()

    def _describe(self, setup: RunSetup) -> None:
        # Show dataset and items of a setup, once the dataset is open.
        dataset, self._awaited = self.workspace.dataset, setup
        if dataset is not None and dataset.path.absolute() == setup.dataset_path.absolute():
            self._show_part(dataset)
        else:
            self.workspace.open_dataset(setup.dataset_path, setup.columns)

    def _show_part(self, dataset: "Dataset") -> None:
        """Judge as many items of the open dataset as the awaited setup says, or the chosen ones."""
        setup, self._awaited = self._awaited, None
        if setup is None or dataset.path.absolute() != setup.dataset_path.absolute():
            return
        ids = setup.ids
        there = tuple(dataset.only(frozenset(ids)).ids) if ids else ()
        whole = len(dataset) in (len(there), setup.items)
        self.dataset_line.set_items(None if whole else setup.items, None if whole else setup.sample)
        self.dataset_line.until.choose(setup.until)
        # In the order of the file; with those that it lacks by now, of which the plan tells.
        self.dataset_line.set_ids(() if whole else there if len(there) == len(ids) else ids)

    def _show_loading(self, loading: Loading | None) -> None:
        begins_or_ends = (loading is not None) != self._reading
        self._reading = loading is not None
        self.dataset_line.show_reading(self._reading)
        if begins_or_ends:
            self._plan_soon()

    def _plan_soon(self) -> None:
        dataset, setup = self.workspace.dataset, self.setup()
        if self.control.running:
            return
        if self._reading:
            self.plan_panel.show_nothing("A plan follows when the dataset is read.")
        elif dataset is None or not setup.asks:
            least = f"Choose at least one {'elicitation method' if setup.criteria else 'criterion'}"
            missing = "Open a dataset" if dataset is None else least
            self.plan_panel.show_nothing(f"{missing} to see the plan.")
        elif self._awake:
            self.plan_panel.want(setup, dataset)
        self._show_buttons()

    def _show_first_steps(self) -> None:
        # They are for those who have not judged anything yet.
        closed = bool(self.workspace.state.text(_STEPS_CLOSED))
        self.first_steps.setVisible(not closed and (self.control.running or not self.workspace.runs))

    def _close_first_steps(self) -> None:
        self.workspace.state.set_text(_STEPS_CLOSED, "yes")
        self.first_steps.hide()

    def _follow_trial(self) -> None:
        # Another device may compute from now on, at a speed that is known.
        self.picker.set_request(ModelRequest.of(self.setup(), self.settings.advanced.device.known), anew=True)
        self.plan_panel.make()

    # The run

    def _run(self, *, fresh: bool | None = None) -> None:
        setup = None if self.control.running else self.wanted(fresh)
        if setup is not None and (setup.resumes is not None or self._is_meant()):
            self.control.start(setup)

    def _is_meant(self) -> bool:
        """Whether the dataset seems to be read right, and the judge is none of its candidates, or a person
        says that it is meant so: a run may take hours.
        """
        dataset, plan = self.workspace.dataset, self.plan_panel.plan
        strong = [sign.text for sign in dataset.signs if sign.strong] if dataset is not None else []
        if dataset is not None and strong:
            seems = f"{short_name(dataset.name)} seems to be read wrong."
            if not self._says_so(
                "Is the dataset read right?", seems, "\n".join(f"{text}." for text in strong)
            ):
                return False
        if plan is None and dataset is not None and dataset.names_candidates:
            self.workspace.note.emit(
                "The plan tells whether the judge is a candidate: press Run once it is there."
            )
            return False
        if plan is None or not plan.favours:
            return True
        return self._says_so("Is this the right judge?", plan.favours, "Another model has no such interest.")

    def _says_so(self, title: str, found: str, details: str) -> bool:
        box = question(self, title, found, details)
        anyway = box.addButton("Judge it so", QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton("Do not judge", QMessageBox.ButtonRole.RejectRole))
        box.exec()
        box.deleteLater()
        return box.clickedButton() is anyway

    def _follow_start(self) -> None:
        self.plan_panel.drop()
        self.plan_panel.hide()
        setup, dataset = self.control.setup, self.workspace.dataset
        if setup is not None:
            ranks = dataset is not None and dataset.names_candidates
            self.run_panel.begin(setup.criteria, f"{setup.dataset_in_words}, {setup.model_path.name}", ranks)
        self._follow()

    def _follow(self) -> None:
        self.run_panel.follow(self.control.progress)
        self._show_buttons()

    def _follow_end(self, how: RunEnded | EngineError | None) -> None:
        self.run_panel.end(how, self.control.progress)
        self._close_first_steps()
        self.plan_panel.show()
        if self._keys_follow and self.isVisible():
            self.run_button.setFocus(Qt.FocusReason.OtherFocusReason)
        self._plan_soon()

    def _show_buttons(self) -> None:
        running, planned = self.control.running, self.plan_panel.plan
        complete = planned is not None and planned.forecast.complete
        unfinished = planned is not None and planned.forecast.unfinished
        self.run_button.setText("Judge again" if complete else "Resume" if unfinished else "Run")
        labels.name(self.run_button, _AGAIN if complete else f"{self.run_button.text()} (Ctrl+R)")
        labels.set_role(self.run_button, "" if complete else "main")
        labels.set_role(self.results_button, "main" if complete else "")
        self._keys_follow |= running and (self.control.stopping or self.stop_button.hasFocus())
        # Before Run is hidden: the keys go from there to what stands beside it and can be pressed.
        self.stop_button.setEnabled(running and not self.control.stopping)
        self.stop_button.setText("Stopping …" if self.control.stopping else "Stop")
        self.run_button.setEnabled(self.workspace.dataset is not None and self.setup().asks)
        self.run_button.setVisible(not running)
        self.over_button.setVisible(unfinished and not running)
        self.results_button.setVisible(complete and not running)
        self.run_panel.offer_results(not complete)
        if self._keys_follow and planned is not None and not running:
            self._keys_follow = False
            if complete and self.run_button.hasFocus():
                self.results_button.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_results(self) -> None:
        plan = self.plan_panel.plan
        if plan is not None and plan.forecast.run_id is not None:
            self.workspace.show_run(plan.forecast.run_id)

    def _show_run(self, page: PageName) -> None:
        progress, run = self.control.progress, self.workspace.run
        if progress is not None and (run is None or run.id != progress.run_id):
            self.workspace.open_run(progress.run_id)
        self.workspace.page_wanted.emit(page)

    def _want_item(self, key: JudgmentKey) -> None:
        if self.control.progress is not None:
            self.workspace.open_in_review(self.control.progress.run_id, key, anew=self.control.running)

    def _follow_open_run(self) -> None:
        # Of the run that was judged here all is known now: its health too, with what was judged before.
        run, progress = self.workspace.run, None if self.control.running else self.control.progress
        if run is not None and progress is not None and run.id == progress.run_id:
            self.run_panel.show_health(run.health)

    def resume(self, setup: RunSetup) -> None:
        self.settings.show_setup(setup)
        self.picker.choose_file(setup.model_path)
        self._describe(setup)
        self.control.start(setup)
