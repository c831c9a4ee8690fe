"""The fields of settings, made of their rows: numbers, lists to choose from, boxes to tick.

Knows: the kinds of settings, how None is shown. Does not know: which settings there are, what they do.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from PySide6.QtCore import SignalInstance
from PySide6.QtWidgets import QCheckBox, QFormLayout, QWidget

from engine.core.run_setup import RunSetup
from engine.core.setting_row import SettingRow
from engine.core.settings import row_of
from gui.kit.fields import ComboBox, DoubleSpinBox, SpinBox
from gui.kit.labels import name, narrow

SortedFiles = SignalInstance | Callable[[], None]


class SettingFields:
    """One field for each of some settings, by name; whenever one of them changes, `changed` is told."""

    def __init__(self, names: tuple[str, ...], changed: SortedFiles) -> None:
        self._rows = tuple(map(row_of, names))
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

    def add_to(self, form: QFormLayout, *names: str) -> None:
        """Put fields in a form, with their labels."""
        for row in map(row_of, names):
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
