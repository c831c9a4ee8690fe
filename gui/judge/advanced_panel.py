"""The settings of a run that few need: examples, calibration, memory, the computer, explanations.

Knows: fields for a RunSetup. Does not know: what the engine does with them.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QFormLayout, QSizePolicy, QWidget

from engine.core.column_map import ColumnMap
from engine.core.errors import EngineError
from engine.core.remedies import Setting
from engine.core.run_setup import RunSetup
from engine.core.settings import OF_EXPLANATIONS
from gui.judge.devices.device_choice import DeviceChoice
from gui.judge.setting_fields import SettingFields
from gui.judge.usual_setup import default_setup
from gui.kit.file_choice import FileChoice
from gui.kit.file_dialogs import DATASETS
from gui.kit.remedies import FIELDS
from gui.reading.glossary import MORE_BY_F1
from gui.work.workspace import Workspace

if TYPE_CHECKING:
    from engine.data.dataset import Dataset

_OF_EXAMPLES = ("shots", "example_choice")
_OF_COMPUTER = ("context", "shorten", "kv_type", "threads")
_CALIBRATIONS = "Calibrations (*.json)"


class AdvancedPanel(QWidget):
    """One field for each; `changed` whenever one of them is."""

    changed = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._example_columns: ColumnMap | None = None
        self._known_examples: Path | None = None  # whose columns these are
        self._workspace, self._problem = workspace, workspace.problem
        self._reading = workspace.reader(self)
        self._reading.finished.connect(self._take_examples)
        self._reading.failed.connect(self._refuse_examples)
        self._reading.left.connect(self._leave_examples)
        names = (*_OF_EXAMPLES, "second_order_below", *_OF_COMPUTER, "gpu_layers", *OF_EXPLANATIONS)
        self.default = SettingFields(names, self.changed)
        self._make_fields()
        form = QFormLayout(self)
        form.setContentsMargins(18, 0, 0, 0)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        form.addRow(FIELDS[Setting.EXAMPLES], self._examples)
        self.default.add_to(form, *_OF_EXAMPLES)
        form.addRow("Calibration", self._calibration)
        self.default.add_to(form, "second_order_below", *_OF_COMPUTER)
        form.addRow(FIELDS[Setting.DEVICE], self.device)
        self.default.add_to(form, "gpu_layers", *OF_EXPLANATIONS)
        self.follow(default_setup())

    def show_setup(self, setup: RunSetup) -> None:
        """Show what a setup says; `changed` is not emitted."""
        with QSignalBlocker(self):
            self._reading.drop()
            self._examples.set_path(setup.examples_path)
            self._known_examples, self._example_columns = setup.examples_path, setup.example_columns
            self._calibration.set_path(setup.calibration_path)
            self.device.choose(setup.device)
            self.default.show_setup(setup)
        self.follow(setup)

    def in_setup(self, setup: RunSetup) -> RunSetup:
        """A setup with what the fields say; the margin where the setup has one."""
        values = self.default.values()
        if not setup.may_read_one_order:
            values["second_order_below"] = None
        return replace(
            setup,
            examples_path=self._examples.path,
            example_columns=self._example_columns if self._examples.path else None,
            calibration_path=self._calibration.path,
            device=self.device.request,
            **values,
        )

    def set_context(self, tokens: int) -> None:
        """Use this much context."""
        self.default.by_name["context"].setValue(tokens)

    def set_shorten(self) -> None:
        """Shorten what does not fit."""
        self.default.by_name["shorten"].setChecked(True)

    def follow(self, setup: RunSetup) -> None:
        """Enable the fields that count for this setup."""
        self.default.follow(setup)

    @Slot()
    def _read_examples(self) -> None:
        """See that a file can be read, and by which columns, before a run is planned with it."""
        path = self._examples.path
        if path is None:
            self._reading.drop()
            self._know_examples(None, None)
        else:
            self._reading.read_labels(path)

    @Slot(object)
    def _take_examples(self, dataset: "Dataset") -> None:
        self._know_examples(dataset.path, dataset.columns)

    @Slot(object)
    def _refuse_examples(self, error: EngineError) -> None:
        """The plan says what is wrong with the file; of one that was left, nothing else does."""
        if self._examples.path == self._known_examples:
            self._problem.emit(error)
        else:
            self._know_examples(self._examples.path, None)

    @Slot()
    def _leave_examples(self) -> None:
        """Nobody said which columns they have: those of before stay."""
        self._examples.set_path(self._known_examples)

    def _know_examples(self, path: Path | None, columns: ColumnMap | None) -> None:
        self._known_examples, self._example_columns = path, columns
        self.changed.emit()

    def _make_fields(self) -> None:
        """The fields that the table of settings does not make, and what its fields have in addition."""
        self._examples = FileChoice("labelled examples", DATASETS)
        self._examples.changed.connect(self._read_examples)
        self._calibration = FileChoice("calibration", _CALIBRATIONS)
        self._calibration.changed.connect(self.changed)
        fields = self.default.by_name
        fields["example_choice"].setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        fields["context"].setToolTip(f"{fields['context'].toolTip()} {MORE_BY_F1}")
        self.device = DeviceChoice(self._workspace, lambda: self.default.values()["threads"])
        self.device.changed.connect(self.changed)
