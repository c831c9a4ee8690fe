"""The dataset that is judged, and how many of its items, or which.

Knows: a name, a number, ids. Does not know: items.
"""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from engine.core.formatting import counted, listed, short_name, visible
from gui.kit.fields import SpinBox
from gui.kit.foreign_text import one_line, tip
from gui.kit.labels import heading, hint, label, name

_USUAL_PART = 30
_IDS_SHOWN, _IDS_IN_TIP = 3, 50
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
        self._number = SpinBox()
        self._number.setRange(1, 1)
        self._number.setGroupSeparatorShown(True)
        self._number.setSuffix(" items")
        name(self._number, "How many of the first items to judge")
        self._number.setEnabled(False)
        self._part.toggled.connect(self._number.setEnabled)
        self._part.toggled.connect(self.changed)
        self._number.valueChanged.connect(self.changed)
        self._with = _row(self._part, self._number)
        self._there, self._file_name = False, ""
        self._ids: tuple[str, ...] = ()
        self._make_choice()
        choose = QPushButton("Choose a dataset")
        name(choose, "Choose a dataset on the Dataset page")
        choose.clicked.connect(self.dataset_wanted)
        demo = QPushButton("Open the demo dataset")
        demo.clicked.connect(self.demo_wanted)
        self._reading = hint("")
        self._reading.hide()
        self._without = QWidget()
        without = QVBoxLayout(self._without)
        without.setContentsMargins(0, 0, 0, 0)
        without.addWidget(hint("No dataset is open. A run judges the items of a dataset."))
        without.addWidget(_row(choose, demo))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(heading("Dataset"))
        for widget in (self._name, self._with, self._choice, self._reading, self._without):
            layout.addWidget(widget)
        self.show_dataset(None, 0)

    @property
    def items(self) -> int | None:
        """The first so many items, None for all, and where items are chosen."""
        return self._number.value() if self._part.isChecked() and not self._ids else None

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the chosen items; empty where none are."""
        return self._ids

    def set_items(self, items: int | None) -> None:
        """Judge only the first items; None for all."""
        if items is not None:
            self._number.setMaximum(max(items, self._number.maximum()))
            self._number.setValue(items)
        self._part.setChecked(items is not None)
        self.set_ids(())

    def set_ids(self, ids: Sequence[str]) -> None:
        """Judge only chosen items; none for as many as `items` says."""
        changed, self._ids = self._ids != tuple(ids), tuple(ids)
        self._show_choice()
        if changed:
            self.changed.emit()

    def show_dataset(self, file_name: str | None, items: int) -> None:
        """Show the dataset that is open; None for none."""
        there = file_name is not None
        fresh = self._number.maximum() == 1 and not self._part.isChecked()
        self._number.setMaximum(min(max(items, self._number.value()), _MOST))
        if fresh and there:
            self._number.setValue(_USUAL_PART)
        self._file_name = one_line(short_name(file_name)) if file_name is not None else ""
        self._name.setText(f"{self._file_name}: {counted(items, 'item', 'items')}" if there else "")
        self._name.setToolTip(tip(file_name or ""))
        self._there = there
        self._show_choice()
        self._without.setVisible(not there and self._reading.isHidden())

    def show_reading(self, file_name: str | None) -> None:
        """Say that a dataset is being read; None for none."""
        self._reading.setText(f"Reading {one_line(short_name(file_name))} …" if file_name is not None else "")
        self._reading.setVisible(file_name is not None)
        self._without.setVisible(not self._there and file_name is None)

    def _make_choice(self) -> None:
        self._chosen = label("")
        every = QPushButton("All items")
        name(every, "Judge all items, not the chosen ones alone")
        every.clicked.connect(self._choose_all)
        self._choice = QWidget()
        row = QHBoxLayout(self._choice)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._chosen, 1)
        row.addWidget(every, 0, Qt.AlignmentFlag.AlignTop)

    @Slot()
    def _choose_all(self) -> None:
        self.set_items(None)

    def _show_choice(self) -> None:
        """Show the choice in the place of the number, where there is one."""
        chosen, there = bool(self._ids), self._there
        self._name.setVisible(there and not chosen)
        self._with.setVisible(there and not chosen)
        self._choice.setVisible(there and chosen)
        more = ", …" if len(self._ids) > _IDS_SHOWN else ""
        ids = f"{listed(self._ids[:_IDS_SHOWN])}{more}"
        count = counted(len(self._ids), "chosen item", "chosen items")
        self._chosen.setText(visible(f"Only {count} of {self._file_name} ({ids})"))
        self._chosen.setToolTip(tip(listed(self._ids, _IDS_IN_TIP)))


def _row(*widgets: QWidget) -> QWidget:
    row = QWidget()
    layout = QHBoxLayout(row)
    layout.setContentsMargins(0, 0, 0, 0)
    for widget in widgets:
        layout.addWidget(widget)
    layout.addStretch(1)
    return row
