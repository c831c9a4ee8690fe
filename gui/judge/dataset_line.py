"""The dataset that is judged, and how many of its items.

Knows: a name and a number. Does not know: items.
"""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QPushButton, QSpinBox, QVBoxLayout, QWidget

from gui.kit.foreign_text import one_line
from gui.kit.labels import heading, hint, label, name

_USUAL_PART = 30
_MOST = 10**9  # what the field can hold; larger datasets can still be judged whole


class DatasetLine(QWidget):
    """Without a dataset it offers the way to one."""

    changed = Signal()
    dataset_wanted = Signal()
    demo_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = label("")
        self._part = QCheckBox("Only the first")
        name(self._part, "Judge only the first items")
        self._number = QSpinBox()
        self._number.setRange(1, 1)
        self._number.setGroupSeparatorShown(True)
        self._number.setSuffix(" items")
        name(self._number, "How many of the first items to judge")
        self._number.setEnabled(False)
        self._part.toggled.connect(self._number.setEnabled)
        self._part.toggled.connect(self.changed)
        self._number.valueChanged.connect(self.changed)
        self._with = _row(self._part, self._number)
        choose = QPushButton("Choose a dataset")
        name(choose, "Choose a dataset on the Dataset page")
        choose.clicked.connect(self.dataset_wanted)
        demo = QPushButton("Open the demo dataset")
        demo.clicked.connect(self.demo_wanted)
        self._reading = hint("")
        self._reading.hide()
        self._there = False
        self._without = QWidget()
        without = QVBoxLayout(self._without)
        without.setContentsMargins(0, 0, 0, 0)
        without.addWidget(hint("No dataset is open. A run judges the items of a dataset."))
        without.addWidget(_row(choose, demo))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(heading("Dataset"))
        for widget in (self._name, self._with, self._reading, self._without):
            layout.addWidget(widget)
        self.show_dataset(None, 0)

    @property
    def items(self) -> int | None:
        """The first so many items, None for all."""
        return self._number.value() if self._part.isChecked() else None

    def set_items(self, items: int | None) -> None:
        """Judge only the first items; None for all."""
        if items is not None:
            self._number.setMaximum(max(items, self._number.maximum()))
            self._number.setValue(items)
        self._part.setChecked(items is not None)

    def show_dataset(self, file_name: str | None, items: int) -> None:
        """Show the dataset that is open; None for none."""
        there = file_name is not None
        fresh = self._number.maximum() == 1 and not self._part.isChecked()
        self._number.setMaximum(min(max(items, self._number.value()), _MOST))
        if fresh and there:
            self._number.setValue(_USUAL_PART)
        self._name.setText(f"{one_line(file_name)}: {items:,} items" if file_name is not None else "")
        self._name.setVisible(there)
        self._with.setVisible(there)
        self._there = there
        self._without.setVisible(not there and self._reading.isHidden())

    def show_reading(self, file_name: str | None) -> None:
        """Say that a dataset is being read; None for none."""
        self._reading.setText(f"Reading {one_line(file_name)} …" if file_name is not None else "")
        self._reading.setVisible(file_name is not None)
        self._without.setVisible(not self._there and file_name is None)


def _row(*widgets: QWidget) -> QWidget:
    row = QWidget()
    layout = QHBoxLayout(row)
    layout.setContentsMargins(0, 0, 0, 0)
    for widget in widgets:
        layout.addWidget(widget)
    layout.addStretch(1)
    return row
