"""The Judge page: what is judged, with which model and how; when a plan is made anew; the run."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QMessageBox, QPushButton, QVBoxLayout, QWidget

from engine.core.column_map import ColumnMap
from engine.core.errors import EngineError
from engine.core.events import RunEnded
from engine.core.formatting import short_name
from engine.core.judgments import JudgmentKey
from engine.settings.run_setup import RunSetup
from engine.system.paths import demo_dataset
from gui.judge.dataset_line import DatasetLine
from gui.judge.plan_panel import PlanPanel, ResumeBanner
from gui.judge.run_control import RunControl, default_setup
from gui.judge.run_jobs import describe_audit, open_recipe
from gui.judge.run_panel import RunPanel
from gui.judge.settings_panel import SettingsPanel
from gui.judge.tune_dialog import TuneDialog
from gui.models.model_jobs import ModelRequest
from gui.models.model_picker import ModelPicker
from gui.widgets.help_dialog import FirstSteps
from gui.widgets.labels import button, column, guard, name, panel, scrolling, set_role
from gui.widgets.notice import question
from gui.workspace.file_jobs import Loading
from gui.workspace.page import Page, PageSplitter
from gui.workspace.state import PageName
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace

_SPLITTER = "judge/splitter"
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
        self._make_parts()
        self._make_header()
        left = column(panel(self.dataset_line), panel(self.picker), panel(self.settings))
        # The plan before the run: the judgments of an old one take what room is left, and push nothing away.
        right = column(self.first_steps, self.plan_panel, self.run_panel)
        self._right = cast(QVBoxLayout, right.layout())
        self._right.setStretchFactor(self.run_panel, 100)
        self._splitter = PageSplitter(Qt.Orientation.Horizontal)
        self._splitter.addWidget(scrolling(left, "What to judge, and how"))
        self._splitter.addWidget(scrolling(right, "Plan and run"))
        self._splitter.setStretchFactor(0, 1)
        self._splitter.setStretchFactor(1, 1)
        self._splitter.setSizes([532, 600])
        self._splitter.restoreState(self.workspace.state.layout(_SPLITTER))
        self.body.addWidget(self.banner)
        self.body.addWidget(self._splitter, 1)
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

    def keep_layout(self) -> None:
        self.keep_splitter(_SPLITTER, self._splitter)

    def choose_model(self, path: Path) -> None:
        """Choose a model file, or search one more folder."""
        self._awake = True
        if path.suffix.lower() == ".gguf":
            self.picker.choose_file(path)
        else:
            self.picker.add_folder(path)

    def choose_model_file(self, path: Path) -> None:
        self._awake = True
        self.picker.choose_file(path)

    def choose_items(self, dataset: Path, ids: Sequence[str], columns: ColumnMap | None = None) -> None:
        """Describe a run of these items alone, of a dataset that is opened where it is not; none starts."""
        self._describe(replace(default_setup(), dataset_path=dataset, ids=tuple(ids), columns=columns))
        if self.control.running:
            self.workspace.note.emit("The chosen items can be judged when the current run has ended.")

    @Slot()
    def run(self) -> None:
        """Run, or resume; a run that is complete is not judged again: only its button does that."""
        plan = self.plan_panel.plan
        if plan is not None and plan.forecast.complete and not self.control.running:
            self.workspace.note.emit(f"{plan.forecast.stored.capitalize()}; press Judge again for a new run.")
        else:
            self._run(fresh=False)

    @Slot()
    def audit(self) -> None:
        """Describe an audit of the judge that stands here, with items of the open dataset."""
        setup, dataset = self.wanted(fresh=False), self.workspace.dataset
        if setup is not None and dataset is not None:
            self._auditing.start(describe_audit(setup, dataset, self.workspace.store_path))

    @property
    def can_run(self) -> bool:
        """True where `run` would start something, with a current plan of what."""
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
            self.workspace.note.emit(
                "Open a dataset, choose a criterion and an elicitation method, then run."
            )
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
        self.dataset_line.changed.connect(self._change)
        self.dataset_line.choice_wanted.connect(lambda: space.page_wanted.emit(PageName.DATASET))
        self.dataset_line.demo_wanted.connect(lambda: space.open_dataset(demo_dataset()))
        self.picker = ModelPicker(self.workspace)
        self.picker.changed.connect(self._change)
        self.picker.doing.audit_wanted.connect(self.audit)
        self.settings = SettingsPanel(self.workspace, self.setup)
        self.settings.changed.connect(self._change)
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
        for follow in (self.picker.refit, self.run_panel.restyle):
            self.restyled.connect(follow)
        self.run_panel.page_wanted.connect(self._show_run)
        self.run_panel.item_wanted.connect(self._want_item)

    def _make_header(self) -> None:
        self.results_button = button("Show results", self._show_results)
        anew, stays = _AGAIN, "Judged items stay saved, and the run can be resumed later."
        self.over_button = button("Start over", lambda: self._run(fresh=True), anew)
        self.run_button = button("Run", self._run)  # what it says
        self.stop_button = button("Stop", self.control.stop, "Stop the run", stays)
        # Stop keeps its place, and what stands beside it: a run ends by itself, under the hand of the user.
        for each in (self.results_button, self.over_button, self.run_button, self.stop_button):
            self.header.addWidget(each)
            guard(each)

    # Recipes

    @Slot()
    def _find_best(self) -> None:

        if self._best is not None and self._best.isVisible():
            self._best.raise_()
            self._best.activateWindow()
            return
        self._best = TuneDialog(self.workspace, self.setup(), self.workspace.dataset, self)
        self._best.wanted.connect(self.use_recipe)
        self._best.finished.connect(self._forget_best)
        self._best.show()

    @Slot()
    def _forget_best(self) -> None:
        if self._best is not None:
            self._best.deleteLater()
            self._best = None

    @property
    def searching(self) -> bool:
        return self._best is not None and self._best.task.busy

    @Slot(object)
    def use_recipe(self, path: Path) -> None:
        self._recipes.start(open_recipe(path, self.setup()))

    @Slot(object)
    def _use_settings(self, setup: RunSetup) -> None:
        self.settings.show_setup(setup)
        if setup.model_path != self.picker.path:
            self.picker.choose_file(setup.model_path)
        calibration = setup.calibration_path
        where = f" of {short_name(calibration.name)}" if calibration is not None else ""
        self.workspace.note.emit(f"The settings{where} are used, with their calibration.")

    # The plan

    @Slot()
    def _change(self) -> None:
        setup = self.setup()
        if self._awake:
            self.settings.set_model(setup.model_path)
        self.picker.set_request(ModelRequest.of(setup, self.settings.advanced.device.known))
        self._plan_soon()

    @Slot()
    def _show_dataset(self) -> None:
        dataset = self.workspace.dataset
        path = dataset.path if dataset else None
        if self._shown_path not in (None, path):
            self.dataset_line.set_items(None)
        self._shown_path = path
        self.dataset_line.show_dataset(dataset)
        awaited, self._awaited = self._awaited, None
        if awaited is not None and self._is_open(awaited.dataset_path):
            self._show_part(awaited)
        self.context.setText(dataset.name if dataset else "")
        self._plan_soon()

    def _describe(self, setup: RunSetup) -> None:
        """Show dataset and items of a setup, once the dataset is open."""
        if self._is_open(setup.dataset_path):
            self._show_part(setup)
        else:
            self._awaited = setup
            self.workspace.open_dataset(setup.dataset_path, setup.columns)

    def _is_open(self, path: Path) -> bool:
        dataset = self.workspace.dataset
        return dataset is not None and dataset.path.absolute() == path.absolute()

    def _show_part(self, setup: RunSetup) -> None:
        """Judge as many items of the open dataset as a setup says, or the chosen ones."""
        dataset, ids = self.workspace.dataset, setup.ids
        there = tuple(dataset.only(frozenset(ids)).ids) if ids and dataset is not None else ()
        whole = dataset is not None and len(dataset) in (len(there), setup.items)
        self.dataset_line.set_items(None if whole else setup.items, None if whole else setup.sample)
        self.dataset_line.until.choose(setup.until)
        # In the order of the file; with those that it lacks by now, of which the plan tells.
        self.dataset_line.set_ids(() if whole else there if len(there) == len(ids) else ids)

    @Slot(object)
    def _show_loading(self, loading: Loading | None) -> None:
        begins_or_ends = (loading is not None) != self._reading
        self._reading = loading is not None
        self.dataset_line.show_reading(loading.path.name if loading else None)
        if begins_or_ends:
            self._plan_soon()

    def _plan_soon(self) -> None:
        dataset, setup = self.workspace.dataset, self.setup()
        if self.control.running:
            return
        if dataset is None or not setup.asks or self._reading:
            least = f"Choose at least one {'elicitation method' if setup.criteria else 'criterion'}"
            missing = "Open a dataset" if dataset is None else least
            why = f"{missing} to see the plan."
            self.plan_panel.show_nothing("A plan follows when the dataset is read." if self._reading else why)
        elif self._awake:
            self.plan_panel.want(setup, dataset)
        self._show_buttons()

    @Slot()
    def _show_first_steps(self) -> None:
        """They are for those who have not judged anything yet."""
        closed = bool(self.workspace.state.text(_STEPS_CLOSED))
        self.first_steps.setVisible(not closed and (self.control.running or not self.workspace.runs))

    @Slot()
    def _close_first_steps(self) -> None:
        self.workspace.state.set_text(_STEPS_CLOSED, "yes")
        self.first_steps.hide()

    @Slot()
    def _follow_trial(self) -> None:
        """Another device may compute from now on, at a speed that is known."""
        self.picker.set_request(ModelRequest.of(self.setup(), self.settings.advanced.device.known), anew=True)
        self.plan_panel.make()

    # The run

    def _run(self, *, fresh: bool | None = None) -> None:
        setup = None if self.control.running else self.wanted(fresh)
        if setup is not None and (setup.resumes is not None or self._is_read_right()):
            self.control.start(setup)

    def _is_read_right(self) -> bool:
        """Whether the dataset seems to be read right, or a person says that it is: a run may take hours."""
        dataset = self.workspace.dataset
        strong = [sign.text for sign in dataset.signs if sign.strong] if dataset is not None else []
        if dataset is None or not strong:
            return True
        seems = f"{short_name(dataset.name)} seems to be read wrong."
        box = question(self, "Is the dataset read right?", seems, "\n".join(f"{text}." for text in strong))
        anyway = box.addButton("Judge it so", QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton("Do not judge", QMessageBox.ButtonRole.RejectRole))
        box.exec()
        box.deleteLater()
        return box.clickedButton() is anyway

    @Slot()
    def _follow_start(self) -> None:
        self.plan_panel.drop()
        self.plan_panel.hide()
        setup = self.control.setup
        if setup is not None:
            self.run_panel.begin(setup.criteria, f"{setup.dataset_in_words}, {setup.model_path.name}")
        self._follow()

    @Slot()
    def _follow(self) -> None:
        self.run_panel.follow(self.control.progress)
        self._show_buttons()

    @Slot(object)
    def _follow_end(self, how: RunEnded | EngineError | None) -> None:
        self.run_panel.end(how, self.control.progress)
        self._close_first_steps()
        self.plan_panel.show()
        self._plan_soon()

    @Slot()
    def _show_buttons(self) -> None:
        running, planned = self.control.running, self.plan_panel.plan
        complete = planned is not None and planned.forecast.complete
        unfinished = planned is not None and planned.forecast.unfinished
        self.run_button.setText("Judge again" if complete else "Resume" if unfinished else "Run")
        name(self.run_button, _AGAIN if complete else f"{self.run_button.text()} (Ctrl+R)")
        set_role(self.run_button, "" if complete else "main")
        set_role(self.results_button, "main" if complete else "")
        # Before Run is hidden: the keys go from there to what stands beside it and can be pressed.
        self.stop_button.setEnabled(running and not self.control.stopping)
        self.stop_button.setText("Stopping …" if self.control.stopping else "Stop")
        self.run_button.setEnabled(self.workspace.dataset is not None and self.setup().asks)
        self.run_button.setVisible(not running)
        self.over_button.setVisible(unfinished and not running)
        self.results_button.setVisible(complete and not running)
        self.run_panel.offer_results(not complete)

    @Slot()
    def _show_results(self) -> None:
        plan = self.plan_panel.plan
        if plan is not None and plan.forecast.run_id is not None:
            self.workspace.open_run(plan.forecast.run_id)
            self.workspace.page_wanted.emit(PageName.RESULTS)

    @Slot(object)
    def _show_run(self, page: PageName) -> None:

        progress, run = self.control.progress, self.workspace.run
        if progress is not None and (run is None or run.id != progress.run_id):
            self.workspace.open_run(progress.run_id)
        self.workspace.page_wanted.emit(page)

    @Slot(object)
    def _want_item(self, key: JudgmentKey) -> None:
        if self.control.progress is not None:
            self.workspace.open_in_review(self.control.progress.run_id, key, anew=self.control.running)

    @Slot()
    def _follow_open_run(self) -> None:
        """Of the run that was judged here all is known now: its health too, with what was judged before."""
        run, progress = self.workspace.run, None if self.control.running else self.control.progress
        if run is not None and progress is not None and run.id == progress.run_id:
            self.run_panel.show_health(run.health)

    @Slot(object)
    def resume(self, setup: RunSetup) -> None:
        """Go on with the run that a setup names, and describe it on the page."""
        self.settings.show_setup(setup)
        self.picker.choose_file(setup.model_path)
        self._describe(setup)
        self.control.start(setup)
