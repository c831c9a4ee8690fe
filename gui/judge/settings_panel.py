"""The settings of a run: fields made of their rows, elicitation methods, criteria, and what few need."""

from collections.abc import Callable, Collection
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSignalBlocker, Signal, SignalInstance
from PySide6.QtWidgets import QCheckBox, QFormLayout, QSizePolicy, QWidget

from engine.core.column_map import ColumnMap
from engine.core.errors import EngineError, Setting
from engine.core.formatting import short_name, without_middle, words
from engine.core.items import Method
from engine.core.methods import METHODS
from engine.core.rubric import Rubric
from engine.settings.rows import DEFAULT_MARGIN, Group, SettingRow, Surface, rows_on
from engine.settings.run_setup import RunSetup
from gui.judge.run_control import default_setup
from gui.models.device_choice import DeviceChoice
from gui.models.model_jobs import can_reason
from gui.widgets import labels
from gui.widgets.fields import ComboBox, DoubleSpinBox, FlowLayout, Fold, SpinBox
from gui.widgets.files import DATASETS, FileChoice
from gui.widgets.foreign_text import one_line, set_tip
from gui.widgets.glossary import MORE_BY_F1, HelpMark, Topic
from gui.widgets.notice import FIELDS
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace

if TYPE_CHECKING:
    from engine.data.dataset import Dataset

Listener = SignalInstance | Callable[[], None]


class SettingFields:
    """One field for each setting of some groups, by name; whenever one of them changes, `changed` is told."""

    def __init__(self, groups: Collection[Group], changed: Listener) -> None:
        self._rows = rows_on(Surface.WINDOW, *groups)
        self.by_name: dict[str, Any] = {row.name: _field(row, changed) for row in self._rows}

    def show_setup(self, setup: RunSetup) -> None:
        for row in self._rows:
            _show(row, self.by_name[row.name], getattr(setup, row.name))

    def values(self) -> dict[str, Any]:
        return {row.name: _value(row, self.by_name[row.name]) for row in self._rows}

    def follow(self, setup: RunSetup) -> None:
        for row in self._rows:
            self.by_name[row.name].setEnabled(row.counts(setup))

    def add_to(self, form: QFormLayout, *groups: Group) -> None:
        for row in rows_on(Surface.WINDOW, *groups):
            form.addRow("" if row.kind is bool else row.field_label, self.by_name[row.name])


def _field(row: SettingRow, changed: Listener) -> QWidget:
    field: QWidget
    if row.kind is bool:
        field = QCheckBox(row.field_label)
        field.toggled.connect(changed)
    elif issubclass(row.kind, StrEnum):
        field = ComboBox()
        labels.narrow(field)
        field.offer([(words, member.value) for member, words in row.choices.items()])
        field.currentIndexChanged.connect(changed)
    else:
        kind: Any = row.kind
        field = DoubleSpinBox() if kind is float else SpinBox()
        field.setRange(*map(kind, row.offered))
        field.setSingleStep(kind(row.step))
        field.setGroupSeparatorShown(kind is int)
        field.setSpecialValueText(row.special)
        field.setSuffix(f" {row.unit}" if row.unit else "")
        field.valueChanged.connect(changed)
    labels.name(field, row.title or row.field_label, row.tip)
    return field


def _show(row: SettingRow, field: Any, value: Any) -> None:
    if row.kind is bool:
        field.setChecked(value)
    elif issubclass(row.kind, StrEnum):
        field.choose(value.value)
    else:
        field.setValue(row.instead if value is None else value)


def _value(row: SettingRow, field: Any) -> Any:
    if row.kind is bool:
        return field.isChecked()
    if issubclass(row.kind, StrEnum):
        return row.kind(field.currentData())
    value = round(field.value(), 2)  # Qt's sums of steps are off by a rounding
    return None if row.special and value == row.instead else value


class MethodsPanel(QWidget):
    """Folded to one line that names what is chosen; `changed` whenever that is."""

    changed = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._model: Path | None = None
        self._reasons: bool | None = None  # whether this model does; None: not known
        threads, failures = workspace.threads, workspace.failures
        self._looking = TaskPanel(threads, ThreadName.SCAN, self, self._take, failed=failures)
        self.boxes: dict[Method, QCheckBox] = {}
        for method in Method:
            box = QCheckBox(method.title.capitalize())
            labels.name(box, f"Elicitation method “{method.title}”", METHODS[method].help)
            box.toggled.connect(self._tell)
            self.boxes[method] = box
        self.of_reasoning_samples = SettingFields([Group.METHODS], self._tell)
        self.fold = Fold("", self._inside())
        self._problem = labels.label("", "bad")
        # The problem is above, where it is seen whether the methods are folded or not.
        labels.in_column(self._problem, self.fold, on=self, spacing=4)
        self.show_setup(default_setup())

    def show_setup(self, setup: RunSetup) -> None:
        with QSignalBlocker(self):
            for method, box in self.boxes.items():
                box.setChecked(method in setup.methods)
            self.of_reasoning_samples.show_setup(setup)
        self._say()

    def in_setup(self, setup: RunSetup) -> RunSetup:
        """A setup with what the fields say; without methods where none is chosen."""
        return replace(setup, methods=self._chosen, **self.of_reasoning_samples.values())

    @property
    def _chosen(self) -> tuple[Method, ...]:
        return tuple(method for method, box in self.boxes.items() if box.isChecked())

    def set_model(self, path: Path) -> None:
        if path != self._model:
            self._model, self._reasons = path, None
            self._looking.start(can_reason(path))
            self._say()

    def _inside(self) -> QWidget:
        parts: list[QWidget] = []
        for method, box in self.boxes.items():
            what = labels.hint(METHODS[method].help)
            what.setContentsMargins(22, 0, 0, 2)
            parts += [box, what]
        self._reasoning_samples = QWidget()
        form = QFormLayout(self._reasoning_samples, rowWrapPolicy=QFormLayout.RowWrapPolicy.WrapLongRows)
        form.setContentsMargins(22, 4, 0, 0)
        self.of_reasoning_samples.add_to(form, Group.METHODS)
        last = labels.hint("The label probabilities of all methods are averaged; Review shows each method.")
        return labels.as_column(*parts, self._reasoning_samples, last, margins=(18, 0, 0, 0), spacing=2)

    def _take(self, reasons: bool | None) -> None:
        self._reasons = reasons
        self._say()

    def _tell(self) -> None:
        if not self.signalsBlocked():
            self._say()
            self.changed.emit()

    def _say(self) -> None:
        chosen, thought = self._chosen, Method.CHAIN_OF_THOUGHT
        titles = ", ".join(method.title for method in chosen) or "none"
        self.fold.set_title(f"{FIELDS[Setting.METHODS]}: {titles}")
        self._reasoning_samples.setVisible(thought in chosen)
        problem = "" if chosen else "Choose at least one elicitation method."
        if thought in chosen and self._reasons is False and self._model is not None:
            why = f"{short_name(self._model.stem)} has no chain of thought: its chat template has no"
            untick = f"untick “{thought.title.capitalize()}”"
            problem = f"{why} reasoning block. Choose a reasoning model, or {untick}."
        labels.show_text(self._problem, problem)


_CALIBRATIONS = "Calibrations (*.json)"


class AdvancedPanel(QWidget):
    changed = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._example_columns: ColumnMap | None = None
        self._known_examples: Path | None = None  # whose columns these are
        self._workspace = workspace
        self._reading = workspace.reader(self)
        self._reading.finished.connect(self._take_examples)
        self._reading.failed.connect(self._refuse_examples)
        self._reading.left.connect(self._leave_examples)
        self.default = SettingFields(set(Group) - {Group.OUTPUT, Group.METHODS}, self.changed)
        # The fields that the table of settings does not make, and what its fields have in addition.
        self._examples = FileChoice("labelled examples", DATASETS)
        self._examples.changed.connect(self._read_examples)
        self._calibration = FileChoice("calibration", _CALIBRATIONS)
        self._calibration.changed.connect(self.changed)
        fields = self.default.by_name
        fields["example_choice"].setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        fields["context"].setToolTip(f"{fields['context'].toolTip()} {MORE_BY_F1}")
        self.device = DeviceChoice(self._workspace, lambda: self.default.values()["threads"])
        self.device.changed.connect(self.changed)
        form = QFormLayout(self, rowWrapPolicy=QFormLayout.RowWrapPolicy.WrapLongRows)
        form.setContentsMargins(18, 0, 0, 0)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        form.addRow(FIELDS[Setting.EXAMPLES], self._examples)
        self.default.add_to(form, Group.EXAMPLES)
        form.addRow("Calibration", self._calibration)
        self.default.add_to(form, Group.ORDERS)
        self.default.add_to(form, Group.ITEMS, Group.COMPUTER)
        form.addRow(FIELDS[Setting.DEVICE], self.device)
        self.default.add_to(form, Group.GPU)
        self.default.add_to(form, Group.EXPLANATIONS)
        self.default.follow(default_setup())

    def show_setup(self, setup: RunSetup) -> None:
        with QSignalBlocker(self):
            self._reading.drop()
            self._examples.set_path(setup.examples_path)
            self._known_examples, self._example_columns = setup.examples_path, setup.example_columns
            self._calibration.set_path(setup.calibration_path)
            self.device.choose(setup.device)
            self.default.show_setup(setup)
        self.default.follow(setup)

    def in_setup(self, setup: RunSetup) -> RunSetup:
        """A setup with what the fields say; the margin where the setup has one."""
        values = self.default.values()
        values |= {"examples_path": self._examples.path, "calibration_path": self._calibration.path}
        values["example_columns"] = self._example_columns if self._examples.path else None
        if not setup.may_read_one_order:
            values["second_order_below"] = None
        return replace(setup, device=self.device.request, **values)

    def _read_examples(self) -> None:
        # See that a file can be read, and by which columns, before a run is planned with it.
        if (path := self._examples.path) is not None:
            self._reading.read_labels(path)
        else:
            self._reading.drop()
            self._know_examples(None, None)

    def _take_examples(self, dataset: "Dataset") -> None:
        self._know_examples(dataset.path, dataset.columns)

    def _refuse_examples(self, error: EngineError) -> None:
        # The plan says what is wrong with the file; of one that was left, nothing else does.
        if self._examples.path == self._known_examples:
            self._workspace.problem.emit(error)
        else:
            self._know_examples(self._examples.path, None)

    def _leave_examples(self) -> None:
        # Nobody said which columns they have: those of before stay.
        self._examples.set_path(self._known_examples)

    def _know_examples(self, path: Path | None, columns: ColumnMap | None) -> None:
        self._known_examples, self._example_columns = path, columns
        self.changed.emit()


_KEPT = "judge/settings"
_LONGEST_NAME = 24  # characters of a criterion

_BOTH, _ONE, _UNCERTAIN = range(3)  # places in the list of orders
_WHY_ORDERS = (
    "Both orders show position bias: labels that depend on which response comes first. If the first order is"
    " confident, the second seldom changes the label; the margin threshold under Advanced says what counts as"
    " uncertain."
)


class SettingsPanel(QWidget):
    """Shows and remembers all of a setup but dataset, items and model."""

    changed = Signal()
    best_wanted = Signal()  # settings, of a search

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self._make_fields()
        form = QFormLayout(rowWrapPolicy=QFormLayout.RowWrapPolicy.WrapLongRows)
        self._mode.add_to(form, Group.OUTPUT)
        form.addRow("Show the responses", self._orders)
        form.addRow("Criteria", self.criteria)
        top = labels.in_row(labels.heading("Settings"), labels.STRETCH, self._best, self._reset)
        labels.in_column(top, form, self._none, self.methods, self.fold, on=self)
        kept = RunSetup.of_json(workspace.state.record(_KEPT), default_setup())
        self.show_setup(replace(kept, rubric=workspace.rubric.rubric))

    def show_setup(self, setup: RunSetup) -> None:
        with QSignalBlocker(self):
            self._mode.show_setup(setup)
            both = _BOTH if setup.second_order_below is None else _UNCERTAIN
            self._orders.setCurrentIndex(both if setup.both_orders else _ONE)
            self._workspace.rubric.ask(setup.rubric, setup.dataset_path)
            self.criteria.show_rubric(self._workspace.rubric.rubric, setup.criteria)
            self.methods.show_setup(setup)
            self.advanced.show_setup(setup)
        self._tell()

    def in_setup(self, setup: RunSetup) -> RunSetup:
        """A setup with what the fields say; without criteria where none is chosen."""
        rubric, orders = self._workspace.rubric.rubric, self._orders.currentIndex()
        values = self._mode.values()
        values |= {"rubric": rubric, "criteria": self.criteria.chosen, "both_orders": orders != _ONE}
        values["second_order_below"] = DEFAULT_MARGIN if orders == _UNCERTAIN else None
        return self.advanced.in_setup(replace(self.methods.in_setup(setup), **values))

    def set_model(self, path: Path) -> None:
        self.advanced.device.set_model(path)
        self.methods.set_model(path)

    def _make_fields(self) -> None:
        self._mode = SettingFields([Group.OUTPUT], self._tell)
        self._orders = ComboBox()
        labels.narrow(self._orders)
        self._orders.addItems(["In both orders", "In one order (half the time)", "In both only if uncertain"])
        labels.name(self._orders, "Orders of the responses", _WHY_ORDERS)
        self.criteria = CriteriaBoxes()
        self.criteria.changed.connect(self._tell)
        self._workspace.rubric.changed.connect(self._follow_rubric)
        self._none = labels.label("Choose at least one criterion.", "bad")
        tried = "Try elicitation methods, orders, prompts and few-shot examples on labelled items"
        find, best, tell = "Find the best settings", f"{tried}, and use the best", self.best_wanted.emit
        self._best = labels.button("Find the best…", tell, find, best)
        back = "Set all settings back to their defaults"
        self._reset = labels.button("Back to defaults", self._show_defaults, back)
        self.methods = MethodsPanel(self._workspace)
        self.methods.changed.connect(self._tell)
        self.advanced = AdvancedPanel(self._workspace)
        self.fold = Fold("Advanced", self.advanced)
        self._orders.currentIndexChanged.connect(self._tell)
        self.advanced.changed.connect(self._tell)

    def _show_defaults(self) -> None:
        # All but the rubric, which is no setting but what is asked, as at first.
        rubric = self._workspace.rubric.rubric
        self.show_setup(replace(default_setup(), rubric=rubric, criteria=rubric.names))

    def _follow_rubric(self) -> None:
        # Ask all criteria of another rubric; of one that was changed all but those that were left out.
        rubric, before = self._workspace.rubric.rubric, set(self.criteria.boxes)
        left_out = before - set(self.criteria.chosen) if before & set(rubric.names) else set[str]()
        self.criteria.show_rubric(rubric, set(rubric.names) - left_out)
        self._tell()

    def _tell(self) -> None:
        if self.signalsBlocked():
            return
        setup = self.in_setup(default_setup())
        self._none.setVisible(not setup.criteria)
        self.advanced.default.follow(setup)
        self._workspace.state.set_record(_KEPT, setup.as_json())
        self.changed.emit()


class CriteriaBoxes(QWidget):
    """A box for each criterion. `changed`: the user has ticked one, or taken its tick away."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.boxes: dict[str, QCheckBox] = {}
        self._flow, self._help = FlowLayout(on=self, gap=8), HelpMark(Topic.RUBRIC)

    @property
    def chosen(self) -> tuple[str, ...]:
        return tuple(criterion for criterion, box in self.boxes.items() if box.isChecked())

    def show_rubric(self, rubric: Rubric, chosen: Collection[str]) -> None:
        labels.take_out(self._flow, self.boxes.values())
        self.boxes = {}
        for criterion in rubric.criteria:
            shown = one_line(words(criterion.name))
            text = without_middle(shown, _LONGEST_NAME)
            box = QCheckBox((text[:1].upper() + text[1:]).replace("&", "&&"))
            labels.name(box, f"Judge {shown}", criterion.question)
            set_tip(box, f"{shown}: {criterion.question}")
            box.setChecked(criterion.name in chosen)
            box.toggled.connect(self.changed)
            self._flow.addWidget(box)
            self.boxes[criterion.name] = box
        self._flow.removeWidget(self._help)
        self._flow.addWidget(self._help)
