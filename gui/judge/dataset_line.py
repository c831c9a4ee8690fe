"""The dataset that is judged, which of its items, and how long.

Knows: a name, a number, ids. Does not know: items, the ways to choose some.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QPushButton, QWidget

from engine.core.formatting import counted, listed, short_name, visible
from engine.core.item_sample import ItemSample
from engine.core.run_setup import RunSetup
from gui.judge.item_choice import ItemChoice
from gui.judge.until_choice import UntilChoice
from gui.kit.foreign_text import one_line, set_tip
from gui.kit.labels import heading, hint, label, name, show_text
from gui.kit.layouts import STRETCH, as_row, in_column

if TYPE_CHECKING:
    from engine.data.dataset import Dataset

_IDS_SHOWN, _IDS_IN_TIP = 3, 50


class DatasetLine(QWidget):
    """Without a dataset it offers the way to one."""

    changed = Signal()
    dataset_wanted = Signal()
    demo_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._name = label("")
        self.part = ItemChoice()
        self.part.changed.connect(self.changed)
        self.until = UntilChoice()
        self.until.changed.connect(self.changed)
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
        in_column(
            hint("No dataset is open. A run judges the items of a dataset."),
            as_row(choose, demo, STRETCH),
            on=self._without,
        )
        in_column(
            heading("Dataset"),
            self._name,
            self.part,
            self._choice,
            self.until,
            self._reading,
            self._without,
            on=self,
            spacing=6,
        )
        self.show_dataset(None)

    def in_setup(self, setup: RunSetup) -> RunSetup:
        """A setup with the items that are to be judged."""
        return replace(setup, items=self.items, sample=self.sample, ids=self.ids, until=self.until.until)

    @property
    def items(self) -> int | None:
        """The first this many items, None for all, and where items are drawn or chosen."""
        return None if self._ids else self.part.items

    @property
    def sample(self) -> ItemSample | None:
        """How items are drawn; None where they are not."""
        return None if self._ids else self.part.sample

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the chosen items; empty where none are."""
        return self._ids

    def set_items(self, items: int | None, sample: ItemSample | None = None) -> None:
        """Judge only the first items, or drawn ones; None of both for all."""
        before = self.items, self.sample
        self.part.choose(items, sample)
        self.set_ids(())
        if (self.items, self.sample) != before:
            self.changed.emit()

    def set_ids(self, ids: Sequence[str]) -> None:
        """Judge only chosen items; none for those of `part`."""
        changed, self._ids = self._ids != tuple(ids), tuple(ids)
        self._show_choice()
        if changed:
            self.changed.emit()

    def show_dataset(self, dataset: "Dataset | None") -> None:
        """Show the dataset that is open; None for none."""
        there, items = dataset is not None, len(dataset) if dataset is not None else 0
        file_name = dataset.name if dataset is not None else ""
        self.part.show_dataset(items, dataset.value_columns if dataset is not None else ())
        self.until.offer(dataset is not None and dataset.names_candidates)
        self._file_name = one_line(short_name(file_name))
        self._name.setText(f"{self._file_name}: {counted(items, 'item', 'items')}" if there else "")
        set_tip(self._name, file_name)
        self._there = there
        self._show_choice()
        self._without.setVisible(not there and self._reading.isHidden())

    def show_reading(self, file_name: str | None) -> None:
        """Say that a dataset is being read; None for none."""
        reading = f"Reading {one_line(short_name(file_name))} …" if file_name is not None else ""
        show_text(self._reading, reading)
        self._without.setVisible(not self._there and file_name is None)

    def _make_choice(self) -> None:
        self._chosen = label("")
        every = QPushButton("All items")
        name(every, "Judge all items, not only the chosen ones")
        every.clicked.connect(self._choose_all)
        self._choice = as_row((self._chosen, STRETCH), (every, Qt.AlignmentFlag.AlignTop))

    @Slot()
    def _choose_all(self) -> None:
        self.set_items(None)

    def _show_choice(self) -> None:
        """Show the choice in the place of the number, where there is one."""
        chosen, there = bool(self._ids), self._there
        self._name.setVisible(there and not chosen)
        self.part.setVisible(there and not chosen)
        self.until.setVisible(there)
        self._choice.setVisible(there and chosen)
        more = ", …" if len(self._ids) > _IDS_SHOWN else ""
        ids = f"{listed(self._ids[:_IDS_SHOWN])}{more}"
        count = counted(len(self._ids), "chosen item", "chosen items")
        self._chosen.setText(visible(f"Only {count} of {self._file_name} ({ids})"))
        set_tip(self._chosen, listed(self._ids, _IDS_IN_TIP))
