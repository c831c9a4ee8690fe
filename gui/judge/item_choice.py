"""Which items of a dataset are judged: all, the first, some at random, or some evenly over a column's values.

Knows: numbers, a seed, names of columns. Does not know: items, how they are drawn.
"""

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QWidget

from engine.core.formatting import clipped, visible, words
from engine.core.item_sample import DEFAULT_SEED, LARGEST_SEED, ItemSample
from engine.core.remedies import Setting
from gui.kit.fields import ComboBox, SpinBox
from gui.kit.foreign_text import tip
from gui.kit.labels import label, name, narrow
from gui.kit.layouts import STRETCH, as_row, in_column, in_row
from gui.kit.remedies import FIELDS

_DEFAULT_PART = 30
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
        first = in_row(self._method, self._number, STRETCH)
        second = in_row(self._column, self._seed_field, STRETCH)
        in_column(first, second, on=self, spacing=6)
        self._follow_method()

    @property
    def items(self) -> int | None:
        """The first this many items; None for all, and where they are drawn."""
        return self._number.value() if self._method.currentData() == _FIRST else None

    @property
    def sample(self) -> ItemSample | None:
        """How items are drawn; None where they are not."""
        method = self._method.currentData()
        if method not in (_RANDOM, _EVEN):
            return None
        by = self._column.currentData() if method == _EVEN else ""
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
            method = _ALL if count is None else _FIRST if sample is None else _EVEN if sample.by else _RANDOM
            self._method.setCurrentIndex(self._method.findData(method))
        self._follow_method()

    def show_dataset(self, items: int, columns: Sequence[str]) -> None:
        """Offer what a dataset of this many items has; `columns`: over whose values they can be drawn."""
        self._number.setMaximum(min(max(items, self._number.value()), _MOST))
        if self._fresh and items:
            self._fresh = False
            self._number.setValue(_DEFAULT_PART)
        chosen = self._column.currentData()
        with QSignalBlocker(self):
            self._column.clear()
            for column in columns:
                self._offer(column)
            self._column.setCurrentIndex(max(0, self._column.findData(chosen)))
            self._offer_even()
        self._follow_method()

    def _make_fields(self) -> None:
        self._method = ComboBox()
        name(self._method, "Which items to judge")
        for text, method in (
            ("All items", _ALL),
            ("Only the first", _FIRST),
            (FIELDS[Setting.SAMPLE], _RANDOM),
        ):
            self._method.addItem(text, method)
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
        self._seed.setValue(DEFAULT_SEED)
        name(
            self._seed,
            "Seed of the draw",
            "The same seed draws the same items; another one draws others.",
        )
        self._seed_field = as_row(label("Seed of the draw", wrap=False), self._seed)
        self._method.currentIndexChanged.connect(self._follow_method)
        self._method.currentIndexChanged.connect(self.changed)
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
        place, there = self._method.findData(_EVEN), self._column.count() > 0
        if there and place < 0:
            self._method.addItem("Evenly over a column", _EVEN)
        elif not there and place >= 0:
            self._method.removeItem(place)

    @Slot()
    def _follow_method(self) -> None:
        method = self._method.currentData()
        self._number.setVisible(method != _ALL)
        self._seed_field.setVisible(method in (_RANDOM, _EVEN))
        self._column.setVisible(method == _EVEN)
