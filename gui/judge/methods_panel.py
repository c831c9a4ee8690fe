"""The elicitation methods of a run: which of them, and how many reasoning samples of which length.

The fields of settings, made of their rows: numbers, lists to choose from, boxes to tick.
"""

from collections.abc import Callable, Collection
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSignalBlocker, Signal, SignalInstance, Slot
from PySide6.QtWidgets import QCheckBox, QFormLayout, QWidget

from engine.core.errors import Setting
from engine.core.formatting import short_name
from engine.core.items import Method
from engine.core.methods import METHODS
from engine.settings.rows import Group, SettingRow, Surface, rows_on
from engine.settings.run_setup import RunSetup
from gui.judge.run_control import default_setup
from gui.models.model_jobs import can_reason
from gui.widgets.fields import ComboBox, DoubleSpinBox, Fold, SpinBox
from gui.widgets.labels import hint, in_column, label, name, narrow, show_text
from gui.widgets.notice import FIELDS
from gui.workspace.threads import LatestTask, ThreadName
from gui.workspace.workspace import Workspace

SortedFiles = SignalInstance | Callable[[], None]


class SettingFields:
    """One field for each setting of some groups, by name; whenever one of them changes, `changed` is told."""

    def __init__(self, groups: Collection[Group], changed: SortedFiles) -> None:
        self._rows = rows_on(Surface.WINDOW, *groups)
        self.by_name: dict[str, Any] = {row.name: _field(row, changed) for row in self._rows}

    def show_setup(self, setup: RunSetup) -> None:
        """Show what a setup says."""
        for row in self._rows:
            _show(row, self.by_name[row.name], getattr(setup, row.name))

    def values(self) -> dict[str, Any]:
        """What the fields say, by the names of the settings."""
        return {row.name: _value(row, self.by_name[row.name]) for row in self._rows}

    def follow(self, setup: RunSetup) -> None:
        """Enable the fields that count for this setup."""
        for row in self._rows:
            self.by_name[row.name].setEnabled(row.counts(setup))

    def add_to(self, form: QFormLayout, *groups: Group) -> None:
        """Put the fields of some groups in a form, with their labels."""
        for row in rows_on(Surface.WINDOW, *groups):
            form.addRow("" if row.kind is bool else row.field_label, self.by_name[row.name])


def _field(row: SettingRow, changed: SortedFiles) -> QWidget:
    field: QWidget
    if row.kind is bool:
        field = QCheckBox(row.field_label)
        field.toggled.connect(changed)
    elif issubclass(row.kind, StrEnum):
        field = ComboBox()
        narrow(field)
        for member, words in row.choices.items():
            field.addItem(words, member.value)
        field.currentIndexChanged.connect(changed)
    else:
        field = _number(row)
        field.valueChanged.connect(changed)
    name(field, row.title or row.field_label, row.tip)
    return field


def _number(row: SettingRow) -> SpinBox | DoubleSpinBox:
    field = DoubleSpinBox() if row.kind is float else SpinBox()
    least, most = map(row.kind, row.offered)
    field.setRange(least, most)
    field.setSingleStep(row.kind(row.step))
    field.setGroupSeparatorShown(row.kind is int)
    field.setSpecialValueText(row.special)
    field.setSuffix(f" {row.unit}" if row.unit else "")
    return field


def _show(row: SettingRow, field: Any, value: Any) -> None:
    if row.kind is bool:
        field.setChecked(value)
    elif issubclass(row.kind, StrEnum):
        field.setCurrentIndex(field.findData(value.value))
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
        self._looking = LatestTask(workspace.threads, ThreadName.SCAN, self)
        self._looking.finished.connect(self._take)
        workspace.failures.follow(self._looking)
        self._make_fields()
        self.fold = Fold("", self._inside())
        self._problem = label("", "bad")
        # The problem is above, where it is seen whether the methods are folded or not.
        in_column(self._problem, self.fold, on=self, spacing=4)
        self.show_setup(default_setup())

    def show_setup(self, setup: RunSetup) -> None:
        """Show what a setup says; `changed` is not emitted."""
        with QSignalBlocker(self):
            for method, box in self.boxes.items():
                box.setChecked(method in setup.methods)
            self.of_reasoning_samples.show_setup(setup)
        self._say()

    def in_setup(self, setup: RunSetup) -> RunSetup:
        """A setup with what the fields say; without methods where none is chosen."""
        return replace(
            setup,
            methods=tuple(method for method, box in self.boxes.items() if box.isChecked()),
            **self.of_reasoning_samples.values(),
        )

    def set_model(self, path: Path) -> None:
        """Say which model is chosen: whether it thinks is looked up."""
        if path != self._model:
            self._model, self._reasons = path, None
            self._looking.start(can_reason(path))
            self._say()

    def _make_fields(self) -> None:
        self.boxes: dict[Method, QCheckBox] = {}
        for method in Method:
            box = QCheckBox(method.title.capitalize())
            name(box, f"Elicitation method “{method.title}”", METHODS[method].help)
            box.toggled.connect(self._tell)
            self.boxes[method] = box
        self.of_reasoning_samples = SettingFields([Group.METHODS], self._tell)

    def _inside(self) -> QWidget:
        inside = QWidget()
        layout = in_column(on=inside, margins=(18, 0, 0, 0), spacing=2)
        for method, box in self.boxes.items():
            layout.addWidget(box)
            layout.addWidget(_indented(hint(METHODS[method].help)))
        self._reasoning_samples = QWidget()
        form = QFormLayout(self._reasoning_samples, rowWrapPolicy=QFormLayout.RowWrapPolicy.WrapLongRows)
        form.setContentsMargins(22, 4, 0, 0)
        self.of_reasoning_samples.add_to(form, Group.METHODS)
        layout.addWidget(self._reasoning_samples)
        layout.addWidget(
            hint("The label probabilities of all methods are averaged; Review shows each method.")
        )
        return inside

    @Slot(object)
    def _take(self, reasons: bool | None) -> None:
        self._reasons = reasons
        self._say()

    @Slot()
    def _tell(self) -> None:
        if not self.signalsBlocked():
            self._say()
            self.changed.emit()

    def _say(self) -> None:
        """Name what is chosen, and what is wrong with it."""
        chosen = [method for method, box in self.boxes.items() if box.isChecked()]
        reasons = Method.CHAIN_OF_THOUGHT in chosen
        self.fold.set_title(
            f"{FIELDS[Setting.METHODS]}: {', '.join(method.title for method in chosen) or 'none'}"
        )
        self._reasoning_samples.setVisible(reasons)
        problem = "" if chosen else "Choose at least one elicitation method."
        if reasons and self._reasons is False and self._model is not None:
            problem = (
                f"{short_name(self._model.stem)} has no chain of thought: its chat template has"
                f" no reasoning block. Choose a reasoning model, or untick"
                f" “{Method.CHAIN_OF_THOUGHT.title.capitalize()}”."
            )
        show_text(self._problem, problem)


def _indented(widget: QWidget) -> QWidget:
    widget.setContentsMargins(22, 0, 0, 2)
    return widget
