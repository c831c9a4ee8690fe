"""Asks which column of a file holds the verdicts of a judge, and what its values mean."""

from collections.abc import Mapping
from pathlib import Path

from PySide6 import QtWidgets
from PySide6.QtCore import Qt

from engine.core.column_map import JudgeColumn
from engine.core.formatting import short_name, visible
from gui.widgets import labels
from gui.widgets.fields import ComboBox
from gui.widgets.foreign_text import plain_label
from gui.widgets.label_mark import MEANINGS

_CHOOSE = "choose …"


class JudgeColumnDialog(QtWidgets.QDialog):
    """`accepted`: `column` may be read. `columns`: that may be it, what each value means or None."""

    def __init__(
        self, path: Path, columns: Mapping[str, Mapping[str, str | None]], parent: QtWidgets.QWidget
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("A judge's verdicts")
        self._columns = columns
        self.choice = ComboBox()
        self.choice.addItems([*map(visible, columns)])
        labels.name(self.choice, "Column of the judge's verdicts")
        self.meanings: dict[str, ComboBox] = {}
        self._rows = QtWidgets.QFormLayout()
        self.buttons = labels.ok_and_cancel(self)
        self.ok_button = self.buttons.button(QtWidgets.QDialogButtonBox.StandardButton.Ok)
        self.ok_button.setText("&Add")
        asked = f"Which column of {short_name(path.name)} holds the judge's verdicts?"
        none = [] if columns else [plain_label("No column of few values is in this file.")]
        inside = labels.scrolling(labels.as_column(self._as_widget(), labels.STRETCH)), labels.STRETCH
        question = plain_label(asked)
        labels.in_column(
            question, self.choice, *none, inside, self.buttons, on=self, margins=None, spacing=10
        )
        self.choice.setVisible(bool(columns))
        self.choice.currentIndexChanged.connect(self._show_values)
        self._show_values()
        labels.make_room(self, 60, 18)
        self.choice.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def column(self) -> JudgeColumn:
        chosen = ((value, field.currentData()) for value, field in self.meanings.items())
        return JudgeColumn(self._name, tuple((value, label) for value, label in chosen if value != label))

    @property
    def _name(self) -> str:
        return [*self._columns][self.choice.currentIndex()] if self._columns else ""

    def _as_widget(self) -> QtWidgets.QWidget:
        holder = QtWidgets.QWidget()
        holder.setLayout(self._rows)
        return holder

    def _show_values(self) -> None:
        while self._rows.rowCount():
            self._rows.removeRow(0)
        self.meanings = {}
        for value, meaning in self._columns.get(self._name, {}).items():
            field = self.meanings[value] = ComboBox()
            field.offer([(_CHOOSE, None), *MEANINGS], meaning)
            labels.name(field, f"Meaning of {visible(value)}")
            field.currentIndexChanged.connect(self._enable)
            self._rows.addRow(f"{visible(value)} means", field)
        self._enable()

    def _enable(self) -> None:
        known = all(field.currentData() is not None for field in self.meanings.values())
        self.ok_button.setEnabled(bool(self.meanings) and known)
