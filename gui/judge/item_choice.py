"""Which items of a dataset are judged: all, the first, some at random, or some evenly over a column's values.

Knows: numbers, a seed, names of columns. Does not know: items, how they are drawn.
"""

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QWidget

from engine.core.formatting import clipped, visible, words
from engine.core.item_sample import LARGEST_SEED, USUAL_SEED, ItemSample
from engine.core.remedies import Setting
from gui.kit.fields import ComboBox, SpinBox
from gui.kit.foreign_text import tip
from gui.kit.labels import label, name, narrow
from gui.kit.layouts import STRETCH, as_row, in_column, in_row
from gui.kit.remedies import FIELDS

_USUAL_PART = 30
_MOST = 10**9  # what the field can hold; larger datasets can still be judged whole
_ALL, _FIRST, _RANDOM, _EVEN = range(4)
_LABEL = "_preference"


class ItemChoice(QWidget):
    """A list of ways to choose; beside it the fields that the chosen way needs."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._fresh = True  # no number is proposed yet
        self._make_fields()
        first = in_row(self._way, self._number, STRETCH)
        second = in_row(self._column, self._seed_field, STRETCH)
        in_column(first, second, on=self, spacing=6)
        self._follow_way()

    @property
    def items(self) -> int | None:
        """The first so many items; None for all, and where they are drawn."""
        return self._number.value() if self._way.currentData() == _FIRST else None

    @property
    def sample(self) -> ItemSample | None:
        """How items are drawn; None where they are not."""
        way = self._way.currentData()
        if way not in (_RANDOM, _EVEN):
            return None
        by = self._column.currentData() if way == _EVEN else ""
        return ItemSample(self._number.value(), self._seed.value(), by or "")

    def choose(self, items: int | None, sample: ItemSample | None = None) -> None:
        """Choose as if by hand; all items for None of both."""
        with QSignalBlocker(self):
            count = items if sample is None else sample.items
            if count is not None:
                self._fresh = False
                self._number.setMaximum(max(count, self._number.maximum()))
                self._number.setValue(count)
            if sample is not None:
                self._seed.setValue(sample.seed)
                if sample.by:
                    self._offer(sample.by)
                    self._column.setCurrentIndex(self._column.findData(sample.by))
            way = _ALL if count is None else _FIRST if sample is None else _EVEN if sample.by else _RANDOM
            self._way.setCurrentIndex(self._way.findData(way))
        self._follow_way()

    def show_dataset(self, items: int, columns: Sequence[str]) -> None:
        """Offer what a dataset of so many items has; `columns`: over whose values they can be drawn."""
        self._number.setMaximum(min(max(items, self._number.value()), _MOST))
        if self._fresh and items:
            self._fresh = False
            self._number.setValue(_USUAL_PART)
        chosen = self._column.currentData()
        with QSignalBlocker(self):
            self._column.clear()
            for column in columns:
                self._offer(column)
            self._column.setCurrentIndex(max(0, self._column.findData(chosen)))
            self._offer_even()
        self._follow_way()

    def _make_fields(self) -> None:
        self._way = ComboBox()
        name(self._way, "Which items to judge")
        for text, way in (
            ("All items", _ALL),
            ("Only the first", _FIRST),
            (FIELDS[Setting.SAMPLE], _RANDOM),
        ):
            self._way.addItem(text, way)
        self._number = SpinBox()
        self._number.setRange(1, 1)
        self._number.setGroupSeparatorShown(True)
        self._number.setSuffix(" items")
        name(self._number, "How many items to judge")
        self._column = ComboBox()
        narrow(self._column)
        self._column.setMinimumContentsLength(20)
        name(self._column, "The column over whose values items are drawn evenly")
        self._seed = SpinBox()
        self._seed.setRange(0, LARGEST_SEED)
        self._seed.setValue(USUAL_SEED)
        name(
            self._seed,
            "Seed of the draw",
            "The same seed draws the same items; another one draws others.",
        )
        self._seed_field = as_row(label("Seed of the draw", wrap=False), self._seed)
        self._way.currentIndexChanged.connect(self._follow_way)
        self._way.currentIndexChanged.connect(self.changed)
        self._column.currentIndexChanged.connect(self.changed)
        for number in (self._number, self._seed):
            number.valueChanged.connect(self.changed)

    def _offer(self, column: str) -> None:
        """Offer a column of the file, once."""
        if self._column.findData(column) < 0:
            human = column.endswith(_LABEL)
            title = f"human label: {words(column.removesuffix(_LABEL))}" if human else column
            self._column.addItem(visible(clipped(title)), column)
            self._column.setItemData(self._column.count() - 1, tip(title), Qt.ItemDataRole.ToolTipRole)
        self._offer_even()

    def _offer_even(self) -> None:
        place, there = self._way.findData(_EVEN), self._column.count() > 0
        if there and place < 0:
            self._way.addItem("Evenly over a column", _EVEN)
        elif not there and place >= 0:
            self._way.removeItem(place)

    @Slot()
    def _follow_way(self) -> None:
        way = self._way.currentData()
        self._number.setVisible(way != _ALL)
        self._seed_field.setVisible(way in (_RANDOM, _EVEN))
        self._column.setVisible(way == _EVEN)
