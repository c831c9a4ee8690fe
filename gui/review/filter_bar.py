"""What the list of a review is to hold and in which order: a search, a criterion, and filters to switch on.

Knows: a wish. Does not know: rows, what passes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QComboBox, QPushButton, QToolButton, QWidget

from engine.core.formatting import words
from engine.core.items import HUMAN_LABELS, PREFERENCES, HumanLabel, written_label
from engine.core.review_filters import NO_LABEL, Filters, LabelWish, ListOrder, WantedItems
from gui.kit.fields import SearchField, narrow_box
from gui.kit.flow import FlowLayout
from gui.kit.label_mark import LABEL_WORDS
from gui.kit.labels import name
from gui.kit.layouts import STRETCH, in_column, in_row
from gui.people.person_filter import PersonFilter
from gui.review.sample_seed import SeedButton
from gui.work.slice_choice import SliceChoice
from gui.work.workspace import Workspace

_CHIPS = (
    ("differs_from_human", "Differs", "The label in force is not the human one"),
    ("flipped", "Flipped", "The model's two orders disagree"),
    ("unscored", "Unscored", "There is no label"),
    ("low_margin", "Unsure", "Less than 20 points between the likeliest label and the next"),
    ("overridden", "Overridden", "A person gave the label or the explanation"),
    ("people_differ", "People differ", "People gave different labels"),
    ("outdated", "Outdated", "The explanation was written for another label than the one in force"),
)
_PAUSE_MS = 250  # after the last key in the search
_ORDERS = {
    ListOrder.DOUBT: "Doubtful first",
    ListOrder.DATASET: "Dataset order",
    ListOrder.DISAGREEMENT: "Disagreements first",
    ListOrder.PEOPLE: "People differ first",
    ListOrder.RANDOM: "Random sample",
}
_TELLING = (ListOrder.DOUBT, ListOrder.DISAGREEMENT, ListOrder.PEOPLE)  # of labels: not for who labels blind
_LABELS = (
    ("own", "Model", "The model's own label"),
    ("label", "In force", "The label in force: a person's, else the model's"),
    ("human", "Human", "The dataset's human label"),
)


class FilterBar(QWidget):
    """The controls above the list.

    `people`: a person's own filters, which count with these and are cleared with them.
    """

    changed = Signal()
    left = Signal()  # the keys are to go to the list

    def __init__(self, workspace: Workspace, people: PersonFilter) -> None:
        super().__init__()
        self.slices = SliceChoice(workspace)
        self._people = people
        self.search = SearchField("Search in the texts (/)")
        name(self.search, "Search in ids, instructions and responses")
        self.criterion = narrow_box("Criterion that is listed")
        self.order = narrow_box("Order of the list")
        self.seed = SeedButton(workspace)
        self._ids: frozenset[str] | None = None  # the only items that are to be listed
        self._labelled = self._blind = False
        self._other_order = ListOrder.DATASET.value  # blind, while not blind; and the reverse
        self.labels = {
            key: _label_box(text, what, HUMAN_LABELS if key == "human" else PREFERENCES)
            for key, text, what in _LABELS
        }
        self.chips = {key: _chip(text, what) for key, text, what in _CHIPS}
        self.more = _chip("Filters", "Filters by label and by what is to be looked at")
        name(self.more, "More filters", "Filters by label and by what is to be looked at")
        self.clear_all = QPushButton("Clear")
        name(self.clear_all, "Clear the search and all filters")
        self._typing = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._fill_criteria(())
        self._fill_orders()
        self._lay_out()
        self._connect()
        self._offer_seed()

    def _lay_out(self) -> None:
        boxes = in_row((self.criterion, STRETCH), (self.order, STRETCH), self.seed)
        first = in_row((self.search, STRETCH), self.more, self.clear_all)
        labels = in_row(*((box, STRETCH) for box in self.labels.values()))
        chips = FlowLayout(gap=4)
        for chip in self.chips.values():
            chips.addWidget(chip)
        self._panel = QWidget()  # folded away at first: the room is the list's
        in_column(self.slices, labels, chips, on=self._panel, spacing=6)
        in_column(first, boxes, self._panel, on=self, spacing=6)
        self._panel.hide()
        self.clear_all.hide()

    def _connect(self) -> None:
        self._typing.timeout.connect(self._tell)
        self.search.textChanged.connect(self._typing.start)
        self.search.returnPressed.connect(self._tell)
        self.search.left.connect(self.left)
        for box in (self.criterion, self.order, *self.labels.values()):
            box.activated.connect(self._tell)
        self.order.currentIndexChanged.connect(self._offer_seed)
        self.more.toggled.connect(self._panel.setVisible)
        self.clear_all.clicked.connect(self.clear)
        for chip in self.chips.values():
            chip.clicked.connect(self._tell)
        self.slices.changed.connect(self._tell)

    @property
    def narrows(self) -> bool:
        """True where anything is left out, here or elsewhere."""
        return self.wish.narrows or self.slices.ids is not None or self._people.narrows

    @property
    def wish(self) -> Filters:
        """What is chosen."""
        chosen: dict[str, Any] = {key: chip.isChecked() for key, chip in self.chips.items()}
        chosen |= {key: _wished(box.currentData()) for key, box in self.labels.items()}
        return Filters(
            criterion=self.criterion.currentData(),
            ids=self._ids,
            text=self.search.text().strip(),
            **chosen,
        )

    @property
    def list_order(self) -> ListOrder:
        """In which order."""
        return ListOrder(self.order.currentData())

    def set_blind(self, blind: bool) -> None:
        """Leave away what would tell something of labels: nobody may learn by it who labels blind."""
        if blind is not self._blind:
            self._blind, before = blind, self.order.currentData()
            self._fill_orders(self._other_order)
            self._other_order = before
        self.more.setVisible(not blind)
        self._panel.setVisible(not blind and self.more.isChecked())

    @Slot()
    def _offer_seed(self) -> None:
        self.seed.setVisible(self.order.currentData() == ListOrder.RANDOM.value)

    def choose_order(self, order: ListOrder) -> None:
        """Another order, as if it were chosen in the box."""
        self.order.setCurrentIndex(max(0, self.order.findData(order.value)))
        self._tell()

    def show_run(self, criteria: Sequence[str], labelled: bool, seed: int) -> None:
        """Offer what makes sense for a run; what is chosen stays where it can. `seed`: of its sample."""
        criterion = self.criterion.currentData()
        self._fill_criteria(criteria)
        self._labelled = labelled
        self.seed.show_seed(seed)
        self._fill_orders(self.order.currentData())
        self.criterion.setCurrentIndex(max(0, self.criterion.findData(criterion)))
        for control in (self.labels["human"], self.chips["differs_from_human"]):
            control.setEnabled(labelled)
        if not labelled:
            self.labels["human"].setCurrentIndex(0)
            self.chips["differs_from_human"].setChecked(False)

    def show_wanted(self, wanted: WantedItems) -> None:
        """Choose the filters of a set of items, and no others."""
        self._choose(wanted.filters)
        self._tell()

    def _choose(self, wish: Filters) -> None:
        self._ids = wish.ids
        self.slices.clear()
        self._typing.stop()
        with QSignalBlocker(self.search):
            self.search.setText(wish.text)
        self.criterion.setCurrentIndex(max(0, self.criterion.findData(wish.criterion)))
        for key, box in self.labels.items():
            label = getattr(wish, key)
            box.setCurrentIndex(0 if label is None else max(0, box.findData(str(label))))
        for key, chip in self.chips.items():
            chip.setChecked(getattr(wish, key))

    def as_record(self) -> dict[str, Any]:
        """What is chosen, to be remembered; the search and a set of items are not."""
        kept = {"order": self.order.currentData(), "more": self.more.isChecked()}
        return {**asdict(self.wish), "text": "", "ids": None, **kept}

    def restore(self, record: Mapping[str, Any], criteria: Sequence[str]) -> None:
        """Choose what was remembered, as far as it makes sense."""
        self._fill_criteria(criteria)
        self._labelled = True  # until the run says more
        self._fill_orders(record.get("order"))
        self.criterion.setCurrentIndex(max(0, self.criterion.findData(record.get("criterion"))))
        for key, box in self.labels.items():
            box.setCurrentIndex(max(0, box.findData(record.get(key))))
        for key, chip in self.chips.items():
            chip.setChecked(record.get(key) is True)
        self.more.setChecked(record.get("more") is True)
        self.offer_to_clear()

    @Slot()
    def clear(self) -> None:
        """List everything; the order stays."""
        self._choose(Filters())
        self._people.clear()
        self._tell()

    def offer_to_clear(self) -> None:
        """Offer it where anything is left out."""
        narrows = self.narrows
        chosen = [chip.isChecked() for chip in self.chips.values()]
        chosen += [self.slices.ids is not None, *(box.currentIndex() > 0 for box in self.labels.values())]
        self.more.setText(f"Filters: {sum(chosen)}" if any(chosen) else "Filters")
        # A hidden button must not take the focus with it to where nobody looks.
        if not narrows and self.clear_all.hasFocus():
            self.left.emit()
        self.clear_all.setVisible(narrows)

    @Slot()
    def _tell(self) -> None:
        self._typing.stop()
        self.offer_to_clear()
        self.changed.emit()

    def _fill_criteria(self, criteria: Sequence[str]) -> None:
        self.criterion.clear()
        self.criterion.addItem("All criteria", None)
        for criterion in criteria:
            self.criterion.addItem(words(criterion).capitalize(), criterion)

    def _fill_orders(self, chosen: str | None = None) -> None:
        self.order.clear()
        for order, text in _ORDERS.items():
            offered = self._labelled or order is not ListOrder.DISAGREEMENT
            if offered and not (self._blind and order in _TELLING):
                self.order.addItem(text, order.value)
        self.order.setCurrentIndex(max(0, self.order.findData(chosen)))


def _wished(data: str | None) -> LabelWish:
    """The label that an entry of a box stands for."""
    return NO_LABEL if data == NO_LABEL else written_label(data) if data else None


def _label_box(text: str, what: str, labels: Sequence[HumanLabel]) -> QComboBox:
    """A choice of labels; closed it says whose label it is."""
    box = narrow_box(f"{what}, that is listed")
    box.setToolTip(what)
    box.addItem(f"{text}: any", None)
    for label in labels:
        box.addItem(f"{text}: {LABEL_WORDS[label]}", label.value)
    box.addItem(f"{text}: none", NO_LABEL)
    return box


def _chip(text: str, what: str) -> QToolButton:
    chip = QToolButton()
    chip.setText(text)
    chip.setCheckable(True)
    chip.setProperty("role", "button")
    chip.setProperty("compact", True)
    chip.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # a click leaves the search
    name(chip, f"Only: {text}", what)
    return chip
