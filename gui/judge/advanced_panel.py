"""The settings of a run that few need: examples, calibration, memory, the computer, explanations.

Knows: fields for a RunSetup. Does not know: what the engine does with them.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QFormLayout,
    QSizePolicy,
    QSpinBox,
    QWidget,
)

from engine.core.column_map import ColumnMap
from engine.core.errors import EngineError
from engine.core.remedies import Setting
from engine.core.run_setup import RunSetup
from engine.core.settings import CPU, DEFAULT_CONTEXT, MOST_THREADS, USUAL_MARGIN, ExampleChoice, KvType, Mode
from gui.judge.devices.device_choice import DeviceChoice
from gui.judge.usual_setup import usual_setup
from gui.kit.fields import ComboBox, DoubleSpinBox, SpinBox
from gui.kit.file_choice import FileChoice
from gui.kit.file_dialogs import DATASETS
from gui.kit.labels import name, narrow
from gui.kit.remedies import FIELDS
from gui.reading.glossary import MORE_BY_F1
from gui.work.workspace import Workspace

if TYPE_CHECKING:
    from engine.data.dataset import Dataset

_AUTOMATIC = 0  # what a number field shows for None
_LARGEST_CONTEXT = 2**24
_LARGEST_SEED = 2**31 - 1
_CONTEXT_STEP = 1024
_CALIBRATIONS = "Calibrations (*.json)"


class AdvancedPanel(QWidget):
    """One field for each; `changed` whenever one of them is."""

    changed = Signal()

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._example_columns: ColumnMap | None = None
        self._known_examples: Path | None = None  # whose columns these are
        self._workspace, self._problem = workspace, workspace.problem
        self._reading = workspace.reader(self)
        self._reading.finished.connect(self._take_examples)
        self._reading.failed.connect(self._refuse_examples)
        self._reading.left.connect(self._leave_examples)
        self._make_prompt_fields()
        self._make_computer_fields()
        self._make_explanation_fields()
        form = QFormLayout(self)
        form.setContentsMargins(18, 0, 0, 0)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        for text, field in (
            (FIELDS[Setting.EXAMPLES], self._examples),
            (FIELDS[Setting.SHOTS], self._shots),
            (FIELDS[Setting.CHOICE], self._choice),
            ("Calibration", self._calibration),
            ("Margin of doubt", self._margin),
            (FIELDS[Setting.CONTEXT], self._context),
            ("", self._shorten),
            (FIELDS[Setting.KV_TYPE], self._kv_type),
            ("Threads", self._threads),
            (FIELDS[Setting.DEVICE], self.device),
            (FIELDS[Setting.GPU_LAYERS], self._layers),
            (FIELDS[Setting.EXPLANATION_TOKENS], self._length),
            ("Temperature", self._temperature),
            ("Seed", self._seed),
        ):
            form.addRow(text, field)
        self.follow(usual_setup())

    def show_setup(self, setup: RunSetup) -> None:
        """Show what a setup says; `changed` is not emitted."""
        self.blockSignals(True)
        self._reading.drop()
        self._examples.set_path(setup.examples_path)
        self._known_examples, self._example_columns = setup.examples_path, setup.example_columns
        self._shots.setValue(setup.shots)
        self._choice.setCurrentIndex(self._choice.findData(setup.example_choice.value))
        self._calibration.set_path(setup.calibration_path)
        self._margin.setValue(setup.second_order_below or USUAL_MARGIN)
        self._context.setValue(setup.context or _AUTOMATIC)
        self._shorten.setChecked(setup.shorten)
        self._kv_type.setCurrentIndex(self._kv_type.findData(setup.kv_type.value))
        self._threads.setValue(setup.threads or _AUTOMATIC)
        self.device.choose(setup.device)
        self._layers.setValue(-1 if setup.gpu_layers is None else setup.gpu_layers)
        self._length.setValue(setup.max_explanation_tokens)
        self._temperature.setValue(setup.temperature)
        self._seed.setValue(setup.seed)
        self.blockSignals(False)
        self.follow(setup)

    def in_setup(self, setup: RunSetup) -> RunSetup:
        """A setup with what the fields say."""
        layers = self._layers.value()
        return replace(
            setup,
            examples_path=self._examples.path,
            example_columns=self._example_columns if self._examples.path else None,
            shots=self._shots.value(),
            example_choice=ExampleChoice(self._choice.currentData()),
            calibration_path=self._calibration.path,
            second_order_below=round(self._margin.value(), 2) if _in_doubt(setup) else None,
            context=self._context.value() or None,
            shorten=self._shorten.isChecked(),
            kv_type=KvType(self._kv_type.currentData()),
            threads=self._threads.value() or None,
            device=self.device.wish,
            gpu_layers=None if layers < 0 else layers,
            max_explanation_tokens=self._length.value(),
            temperature=round(self._temperature.value(), 2),
            seed=self._seed.value(),
        )

    def set_context(self, tokens: int) -> None:
        """Use this much context."""
        self._context.setValue(tokens)

    def set_shorten(self) -> None:
        """Shorten what does not fit."""
        self._shorten.setChecked(True)

    def follow(self, setup: RunSetup) -> None:
        """Enable the fields that count for this setup."""
        explains = setup.mode is Mode.EXPLAIN
        self._length.setEnabled(explains)
        self._temperature.setEnabled(explains)
        self._seed.setEnabled(explains and setup.temperature > 0)
        self._shots.setEnabled(setup.examples_path is not None)
        self._choice.setEnabled(setup.examples_path is not None)
        self._margin.setEnabled(_in_doubt(setup))
        self._layers.setEnabled(setup.device != CPU)

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

    def _make_prompt_fields(self) -> None:
        self._examples = FileChoice("labelled examples", DATASETS)
        self._examples.changed.connect(self._read_examples)
        self._shots = self._number("How many labelled examples the model is shown", 1, 32)
        self._choice = ComboBox()
        narrow(self._choice)
        self._choice.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._choice.addItem("the same for all items", ExampleChoice.FIXED.value)
        self._choice.addItem("nearest by words", ExampleChoice.NEAR.value)
        name(
            self._choice,
            "Which labelled examples an item is shown",
            "The same for all items: those that show different labels, the shortest first; they are read once"
            " for the whole run. Nearest by words: for each item those with the instructions most like its"
            " own; they are read with each item, so the run takes longer.",
        )
        self._choice.currentIndexChanged.connect(self.changed)
        self._calibration = FileChoice("calibration", _CALIBRATIONS)
        self._calibration.changed.connect(self.changed)
        self._margin = DoubleSpinBox()
        self._margin.setRange(0.01, 1)
        self._margin.setSingleStep(0.05)
        name(
            self._margin,
            "Margin below which the second order is read",
            "An item is in doubt where the likeliest label leads the next by less than this on one criterion"
            " or more. Which margin is right for a model, the command “orders” tells from a run in both"
            " orders.",
        )
        self._margin.valueChanged.connect(self.changed)
        self._shorten = QCheckBox(FIELDS[Setting.SHORTEN])
        name(
            self._shorten,
            FIELDS[Setting.SHORTEN],
            "Leaves out the middle of long responses instead of leaving the item unscored; it is recorded.",
        )
        self._shorten.toggled.connect(self.changed)

    def _make_computer_fields(self) -> None:
        self._context = self._number("Tokens of context", _AUTOMATIC, _LARGEST_CONTEXT, "Automatic")
        self._context.setSingleStep(_CONTEXT_STEP)
        self._context.setToolTip(
            f"Tokens that the model can hold at once. Automatic: {DEFAULT_CONTEXT:,}, or what the model was"
            f" trained with. {MORE_BY_F1}"
        )
        self._kv_type = ComboBox()
        narrow(self._kv_type)
        self._kv_type.addItem("f16: exact", KvType.F16.value)
        self._kv_type.addItem("q8_0: half the memory, rounder results", KvType.Q8_0.value)
        name(self._kv_type, "What the model's cache is kept in")
        self._kv_type.currentIndexChanged.connect(self.changed)
        self._threads = self._number("Processor cores to use", _AUTOMATIC, MOST_THREADS, "Automatic")
        self._threads.setToolTip(
            "Automatic: the physical cores, fewer while other programs need them, one for a very small model."
        )
        self.device = DeviceChoice(self._workspace, lambda: self._threads.value() or None)
        self.device.changed.connect(self.changed)
        self._layers = self._number("Layers of the model on the GPU", -1, 9999, "Automatic")
        self._layers.setToolTip(
            "Where a GPU computes: so many layers of the model are on it, the others stay with the processor."
            " Automatic: as many as its memory holds."
        )

    def _make_explanation_fields(self) -> None:
        self._length = self._number("Longest explanation, in tokens", 1, 4096)
        self._length.setSuffix(" tokens")
        self._temperature = DoubleSpinBox()
        self._temperature.setRange(0, 5)
        self._temperature.setSingleStep(0.1)
        self._temperature.setSpecialValueText("0 (likeliest words)")
        name(
            self._temperature,
            "Temperature of explanations",
            "0 takes the likeliest words; more than 0 samples. Labels are never sampled.",
        )
        self._temperature.valueChanged.connect(self.changed)
        self._seed = self._number("Seed for a temperature above 0", 0, _LARGEST_SEED)

    def _number(self, accessible: str, least: int, most: int, automatic: str = "") -> QSpinBox:
        field = SpinBox()
        field.setRange(least, most)
        field.setGroupSeparatorShown(True)
        field.setSpecialValueText(automatic)
        name(field, accessible)
        field.valueChanged.connect(self.changed)
        return field


def _in_doubt(setup: RunSetup) -> bool:
    return setup.both_orders and setup.second_order_below is not None
