"""The dataset that is judged, which of its items, and how long: to the end, or until something is clear."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QWidget

from engine.core.errors import Setting
from engine.core.formatting import clipped, counted, listed, visible, words
from engine.settings.run_setup import RunSetup
from engine.settings.sampling import DEFAULT_SEED, LARGEST_SEED, ItemSample, StoppingRule
from gui.widgets import labels
from gui.widgets.fields import ComboBox, SpinBox
from gui.widgets.foreign_text import set_tip
from gui.widgets.notice import FIELDS

if TYPE_CHECKING:
    from engine.data.dataset import Dataset

_DEFAULT_WIDTH, _LARGEST_WIDTH = 10, 99  # points of a hundred
_END, _SURE, _WIDTH = range(3)
_EARLY = (
    "To stop early, instructions are judged in random order and tested as the run goes on. The error rate is"
    " at most 5 %, however often it is tested."
)


def _let_offer(box: ComboBox, place: int, text: str, data: int, there: bool) -> None:
    at = box.findData(data)
    if there and at < 0:
        box.insertItem(place, text, data)
    elif not there and at >= 0:
        box.removeItem(at)


class UntilChoice(QWidget):
    """Offers to stop once candidates differ significantly only if the dataset names candidates."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._which = ComboBox()
        labels.name(self._which, "How long to judge", _EARLY)
        self._which.offer([("To the end", _END), ("Until interval width is at most", _WIDTH)])
        self._width = SpinBox(minimum=1, maximum=_LARGEST_WIDTH, value=_DEFAULT_WIDTH, suffix=" points")
        of = "Of each candidate's win rate, or of how often A wins; 10 points are plus and minus 5."
        labels.name(self._width, "Width of the intervals", of)
        labels.in_row(self._which, self._width, labels.STRETCH, on=self)
        self._which.currentIndexChanged.connect(self._follow_which)
        self._which.currentIndexChanged.connect(self.changed)
        self._width.valueChanged.connect(self.changed)
        self._follow_which()

    @property
    def until(self) -> StoppingRule | None:
        width = float(self._width.value()) if self._which.currentData() == _WIDTH else None
        return None if self._which.currentData() == _END else StoppingRule(width)

    def choose(self, until: StoppingRule | None) -> None:
        if until is not None and until.width is not None:
            self._width.setValue(round(until.width))
        which = _END if until is None else _SURE if until.width is None else _WIDTH
        self._which.choose(which)

    def offer(self, names_candidates: bool) -> None:
        before = self.until
        with QSignalBlocker(self._which):
            if self._which.currentData() == _SURE and not names_candidates:
                self._which.setCurrentIndex(0)
            _let_offer(self._which, 1, "Until all differences are significant", _SURE, names_candidates)
        self._follow_which()
        if self.until != before:
            self.changed.emit()

    def _follow_which(self) -> None:
        self._width.setVisible(self._which.currentData() == _WIDTH)


_DEFAULT_PART = 30
_MOST = 10**9  # what the field can hold; larger datasets can still be judged whole
_ALL, _FIRST, _RANDOM, _EVEN = range(4)
_LABEL = "_preference"


class ItemChoice(QWidget):
    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._fresh = True  # no number is proposed yet
        self._make_fields()
        first = labels.in_row(self._which, self._number, labels.STRETCH)
        second = labels.in_row(self._column, self._seed_field, labels.STRETCH)
        labels.in_column(first, second, on=self, spacing=6)
        self._follow_which()

    @property
    def items(self) -> int | None:
        return self._number.value() if self._which.currentData() == _FIRST else None

    @property
    def sample(self) -> ItemSample | None:
        which = self._which.currentData()
        by = self._column.currentData() if which == _EVEN else ""
        drawn = ItemSample(self._number.value(), self._seed.value(), by or "")
        return drawn if which in (_RANDOM, _EVEN) else None

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
                    self._column.choose(sample.by)
            which = _ALL if count is None else _FIRST if sample is None else _EVEN if sample.by else _RANDOM
            self._which.choose(which)
        self._follow_which()

    def show_dataset(self, items: int, columns: Sequence[str]) -> None:
        """Offer what a dataset of this many items has; `columns`: over whose values they can be drawn."""
        self._number.setMaximum(min(max(items, self._number.value()), _MOST))
        if self._fresh and items:
            self._fresh = False
            self._number.setValue(_DEFAULT_PART)
        self._column.offer(map(_entry, columns), self._column.currentData())
        with QSignalBlocker(self):
            self._offer_even()
        self._follow_which()

    def _make_fields(self) -> None:
        self._which = ComboBox()
        labels.name(self._which, "Which items to judge")
        ways = {"All items": _ALL, "Only the first": _FIRST, FIELDS[Setting.SAMPLE]: _RANDOM}
        self._which.offer(ways.items())
        self._number = SpinBox(minimum=1, maximum=1, showGroupSeparator=True, suffix=" items")
        labels.name(self._number, "How many items to judge")
        self._column = ComboBox()
        labels.narrow(self._column, letters=20)
        labels.name(self._column, "The column over whose values items are drawn evenly")
        self._seed = SpinBox(maximum=LARGEST_SEED, value=DEFAULT_SEED)
        again = "The same seed draws the same items; another one draws others."
        labels.name(self._seed, "Seed of the draw", again)
        self._seed_field = labels.as_row(labels.label("Seed of the draw", wrap=False), self._seed)
        way, column = self._which.currentIndexChanged, self._column.currentIndexChanged
        way.connect(self._follow_which)
        for signal in (way, column, self._number.valueChanged, self._seed.valueChanged):
            signal.connect(self.changed)

    def _offer(self, column: str) -> None:
        if self._column.findData(column) < 0:
            self._column.add(*_entry(column))
        self._offer_even()

    def _offer_even(self) -> None:
        _let_offer(self._which, _EVEN, "Evenly over a column", _EVEN, self._column.count() > 0)

    def _follow_which(self) -> None:
        which = self._which.currentData()
        self._number.setVisible(which != _ALL)
        self._seed_field.setVisible(which in (_RANDOM, _EVEN))
        self._column.setVisible(which == _EVEN)


def _entry(column: str) -> tuple[str, str, str]:
    human = column.endswith(_LABEL)
    title = f"human label: {words(column.removesuffix(_LABEL))}" if human else column
    return visible(clipped(title)), column, title


_IDS_SHOWN, _IDS_IN_TIP = 3, 50


class DatasetLine(QWidget):
    changed = Signal()
    demo_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._count = labels.label("")
        self.part = ItemChoice()
        self.part.changed.connect(self.changed)
        self.until = UntilChoice()
        self.until.changed.connect(self.changed)
        self._there = False
        self.ids: tuple[str, ...] = ()
        self._chosen = labels.label("")
        whole = "Judge all items, not only the chosen ones"
        every = labels.button("All items", lambda: self.set_items(None), whole)
        self._choice = labels.as_row((self._chosen, labels.STRETCH), (every, Qt.AlignmentFlag.AlignTop))
        demo = labels.button("Open the demo dataset", self.demo_wanted.emit)
        none = labels.hint("No dataset is open: choose one at the head of the window.")
        self._without = labels.as_column(none, labels.as_row(demo, labels.STRETCH))
        shown = (self._count, self.part, self._choice, self.until, self._without)
        labels.in_column(labels.heading("Items"), *shown, on=self, spacing=6)
        self.show_dataset(None)

    def in_setup(self, setup: RunSetup) -> RunSetup:
        return replace(setup, items=self.items, sample=self.sample, ids=self.ids, until=self.until.until)

    @property
    def items(self) -> int | None:
        """The first this many items, None for all, and where items are drawn or chosen."""
        return None if self.ids else self.part.items

    @property
    def sample(self) -> ItemSample | None:
        return None if self.ids else self.part.sample

    def set_items(self, items: int | None, sample: ItemSample | None = None) -> None:
        before = self.items, self.sample
        self.part.choose(items, sample)
        self.set_ids(())
        if (self.items, self.sample) != before:
            self.changed.emit()

    def set_ids(self, ids: Sequence[str]) -> None:
        changed, self.ids = self.ids != tuple(ids), tuple(ids)
        self._show_choice()
        if changed:
            self.changed.emit()

    def show_dataset(self, dataset: "Dataset | None") -> None:
        self._there = dataset is not None
        self.part.show_dataset(*((0, ()) if dataset is None else (len(dataset), dataset.value_columns)))
        if dataset is not None:
            self._count.setText(counted(len(dataset), "item", "items"))
        self.until.offer(dataset is not None and dataset.names_candidates)
        self._show_choice()
        self.show_reading(False)

    def show_reading(self, reading: bool) -> None:
        self._without.setVisible(not self._there and not reading)

    def _show_choice(self) -> None:
        chosen, there = bool(self.ids), self._there
        for widget, is_shown in ((self._count, not chosen), (self.part, not chosen), (self._choice, chosen)):
            widget.setVisible(there and is_shown)
        self.until.setVisible(there)
        more = ", …" if len(self.ids) > _IDS_SHOWN else ""
        ids = f"{listed(self.ids[:_IDS_SHOWN])}{more}"
        count = counted(len(self.ids), "chosen item", "chosen items")
        self._chosen.setText(visible(f"Only {count} ({ids})"))
        set_tip(self._chosen, listed(self.ids, _IDS_IN_TIP))
