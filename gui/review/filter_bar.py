"""What the list of a review is to hold and in which order: a search, filters, the seed of the sample."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QComboBox, QPushButton, QScrollArea, QSizePolicy, QToolButton, QWidget

from engine.annotations.records import NO_LABEL, Filters, ListOrder, WantedItems
from engine.core.formatting import counted, words
from engine.core.items import HUMAN_LABELS, PREFERENCES, HumanLabel, written_label
from engine.settings.identity import StoredRun
from engine.settings.sampling import DEFAULT_SEED, LARGEST_SEED
from gui.review.annotators import AnnotatorFilter
from gui.review.criterion_strip import compact_button
from gui.review.review_jobs import Review
from gui.widgets import labels
from gui.widgets.actions import timer
from gui.widgets.fields import FlowLayout, SearchField, SpinBox, narrow_box
from gui.widgets.foreign_text import one_line, set_tip
from gui.widgets.label_mark import LABEL_WORDS
from gui.widgets.labels import STRETCH, DownScroll, hint, in_column, in_row, name
from gui.workspace.slices_panel import SliceChoice
from gui.workspace.workspace import Workspace

_WHAT = (
    "Another seed draws another sample: the items come in another order. The seed is stored with the"
    " run, the same for all annotators."
)


class SeedButton(QPushButton):
    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self.dialog: SeedDialog | None = None
        self.setProperty("compact", True)
        self.show_seed(DEFAULT_SEED)
        self.clicked.connect(self.ask)

    def show_seed(self, seed: int) -> None:
        self.setText(f"Seed {seed}…")
        name(self, f"Seed of the random sample: {seed}", "Draw another random sample of the run")

    def ask(self) -> None:
        run = self._workspace.run
        if run is None or self.dialog is not None:
            return
        results = run.results
        self.dialog = SeedDialog(results.run.review_seed, results.reviews.labels_by_seed, self.window())
        self.dialog.chosen.connect(lambda seed, run_id=run.id: self._workspace.draw_sample_by(run_id, seed))
        self.dialog.finished.connect(lambda: setattr(self, "dialog", None))
        labels.open_dialog(self.dialog)


HOW_MANY = (
    "An accuracy near 70 % is known to ±10 points by 89 random labels of different instructions, to ±5 points"
    " by 341, to ±3 points by 928."
)


class SeedDialog(labels.Dialog):
    chosen = Signal(int)

    def __init__(self, seed: int, given: Mapping[int, int], parent: QWidget | None = None) -> None:
        """`given`: by seed, how many labels were given in samples of it."""
        super().__init__("Random sample", parent, 64)
        self._before = seed
        # A store may hold more than the field can.
        self.field = SpinBox(maximum=LARGEST_SEED, value=min(seed, LARGEST_SEED))
        self.field.selectAll()
        name(self.field, "Seed of the random sample")
        so_far = (f"{counted(each, 'label', 'labels')} by seed {of}" for of, each in sorted(given.items()))
        self.said = hint(
            f"Labels given in a random sample so far: {', '.join(so_far)}. They keep their origin and"
            " stay in the random sample, together with those of the new seed."
            if given
            else f"No label was given in the sample of seed {seed} yet."
        )
        asked = in_row(labels.label("Seed", wrap=False), self.field, STRETCH)
        parts = (labels.heading("Seed of the random sample"), asked, hint(_WHAT), hint(HOW_MANY), self.said)
        in_column(*parts, labels.ok_and_cancel(self), on=self, margins=None, spacing=10)

    def accept(self) -> None:
        if self.field.value() != self._before:
            self.chosen.emit(self.field.value())
        super().accept()


_FLIPPED = "Position-inconsistent: the two orders of the responses alone would give different labels"
_ESCALATED = "Escalated"
_CHIPS = (
    ("differs_from_human", "Differs", "The effective label differs from the human one"),
    ("flipped", "Flipped", _FLIPPED),
    ("unscored", "Unscored", "There is no label"),
    ("low_margin", "Uncertain", "Less than 20 points between the likeliest label and the next"),
    ("overridden", "Overridden", "An annotator gave the label or the explanation"),
    ("annotators_differ", "Annotators differ", "Annotators gave different labels"),
    ("stale", "Stale", "The explanation was written for another label than the effective one"),
    ("escalated", _ESCALATED, "Its label may not stand by what was kept on Results, under “Trust”"),
)
_OF_JUDGE = ("flipped", "low_margin", "escalated")
_PAUSE_MS = 250  # after the last key in the search
_ORDERS = {
    ListOrder.UNCERTAINTY: "Most uncertain first",
    ListOrder.DATASET: "Dataset order",
    ListOrder.DISAGREEMENT: "Disagreements first",
    ListOrder.ANNOTATORS: "Annotators differ first",
    ListOrder.JUDGES: "Judges differ",
    ListOrder.MOST_UNCERTAIN: "Unlabelled, most uncertain",
    ListOrder.RANDOM: "Random sample",
    ListOrder.LEAST_UNCERTAINTY: "Least uncertain first",
    ListOrder.TO_DO: "To do first",
    ListOrder.DONE: "Done first",
    ListOrder.ID: "By id",
    ListOrder.ID_BACKWARDS: "By id, backwards",
    ListOrder.LABELS: "By labels",
    ListOrder.LABELS_BACKWARDS: "By labels, backwards",
    ListOrder.MOST_MARKS: "Most marks first",
    ListOrder.FEWEST_MARKS: "Fewest marks first",
    ListOrder.INSTRUCTION: "By instruction",
    ListOrder.INSTRUCTION_BACKWARDS: "By instruction, backwards",
}
_MOST_UNCERTAIN = (
    "Items that you have not labelled, the judge's most uncertain first. Use such labels to fit a"
    " calibration. They are not a random sample, so do not compute rates, win rates or accuracy from"
    " them: label the random sample instead (on Ranking: “Label at random”)."
)
_NOT_TELLING = {  # of labels: for who labels blind, too; an order that is missing here is kept from them
    *(ListOrder.DATASET, ListOrder.RANDOM, ListOrder.TO_DO, ListOrder.DONE, ListOrder.ID),
    *(ListOrder.ID_BACKWARDS, ListOrder.INSTRUCTION, ListOrder.INSTRUCTION_BACKWARDS),
}
_LABELS = (
    ("own", "Judge", "The judge's own label"),
    ("label", "Effective", "The effective label: an annotator's, else the judge's"),
    ("human", "Human", "The dataset's human label"),
)


class FilterBar(QWidget):
    """The controls above the list.

    `annotators`: an annotator's own filters, which count with these and are cleared with them.
    """

    changed = Signal()
    left = Signal()  # the keys are to go to the list

    def __init__(self, workspace: Workspace, annotators: AnnotatorFilter) -> None:
        super().__init__()
        self.slices = SliceChoice(workspace)
        self._annotators = annotators
        self.search = SearchField("Search in the texts (/)")
        name(self.search, "Search in ids, texts, explanations, notes and tags")
        self.criterion = narrow_box("Listed criterion")
        self.order = narrow_box("Order of the list")
        self.seed = SeedButton(workspace)
        self._ids: frozenset[str] | None = None  # the only items that are to be listed
        self._labelled_already: frozenset[str] = frozenset()  # items that are not
        self._labelled = self._blind = self._of_jury = self._sure = False
        self._judge = True
        self._other_order = ListOrder.DATASET.value  # blind, while not blind; and the reverse
        self.labels = {
            key: _label_box(text, what, HUMAN_LABELS if key == "human" else PREFERENCES)
            for key, text, what in _LABELS
        }
        self.chips = {key: _chip(text, what) for key, text, what in _CHIPS}
        # Said while the filters themselves are folded away; a click ends one.
        self.active: dict[QWidget, QToolButton] = {
            control: _tool_button() for control in (*self.chips.values(), *self.labels.values(), self.slices)
        }
        self.more = _chip("Filters", "Filters by label and by marks")
        self.more.setAccessibleName("More filters")
        self.clear_all = labels.button("Clear", self.clear, "Clear the search and all filters")
        self._typing = timer(self, _PAUSE_MS, self._tell)
        self._fill_criteria(())
        self._fill_orders()
        boxes = in_row((self.criterion, STRETCH), (self.order, STRETCH), self.seed)
        first = in_row((self.search, STRETCH), self.more, self.clear_all)
        self._said = QWidget()
        FlowLayout(*self.active.values(), on=self._said, gap=4)
        chips = FlowLayout(*self.chips.values(), gap=4)
        self._panel = labels.as_column(self.slices, FlowLayout(*self.labels.values()), chips, spacing=6)
        in_column(first, boxes, self._said, self._panel, on=self, spacing=6)
        self._panel.hide()  # at first: the room is the list's
        self.clear_all.hide()
        self.search.textChanged.connect(self._typing.start)
        self.search.left.connect(self.left)
        chosen = [box.activated for box in (self.criterion, self.order, *self.labels.values())]
        clicked = [chip.clicked for chip in self.chips.values()]
        for signal in (*chosen, *clicked, self.slices.changed, self.search.returnPressed):
            signal.connect(self._tell)
        self.order.currentIndexChanged.connect(self._offer_seed)
        self.more.toggled.connect(self._show_panel)
        for control, ends in self.active.items():
            ends.clicked.connect(partial(self._end, control))
        self._offer_seed()

    @property
    def narrows(self) -> bool:
        return self.request.narrows or self.part is not None or self._annotators.narrows

    @property
    def request(self) -> Filters:
        # Who labels blind learns nothing by a filter of labels.
        chosen = self._chosen
        told = Filters(criterion=chosen.criterion, text=chosen.text, labelled=chosen.labelled)
        # That an item is escalated says of all its labels alone that the judge is not sure of them.
        return replace(told, escalated=chosen.escalated) if self._blind else chosen

    @property
    def part(self) -> frozenset[str] | None:
        # A slice may tell of labels, too.
        return None if self._blind else self.slices.ids

    @property
    def _chosen(self) -> Filters:
        chosen: dict[str, Any] = {key: chip.isChecked() for key, chip in self.chips.items()}
        for key, box in self.labels.items():
            of = box.currentData()
            chosen[key] = NO_LABEL if of == NO_LABEL else of and written_label(of)
        chosen |= {"criterion": self.criterion.currentData(), "text": self.search.text().strip()}
        return Filters(ids=self._ids, labelled=self._labelled_already, **chosen)

    @property
    def list_order(self) -> ListOrder:
        return ListOrder(self.order.currentData())

    def set_blind(self, blind: bool) -> None:
        # Nobody who labels blind may learn of labels by what is offered, or by how the list is put in order.
        if blind is not self._blind:
            self._blind, before = blind, self.order.currentData()
            self._fill_orders(self._other_order)
            self._other_order = before
        self.more.setVisible(not blind)
        self._show_panel()

    def _offer_seed(self) -> None:
        self.seed.setVisible(self.order.currentData() == ListOrder.RANDOM.value)

    def choose_order(self, order: ListOrder) -> None:
        """Another order, as if it were chosen in the box; one that it does not offer changes nothing."""
        place = self.order.findData(order.value)
        self.order.setCurrentIndex(self.order.currentIndex() if place < 0 else place)
        self._tell()

    def show_run(self, review: Review, run: StoredRun | None) -> None:
        self._fill_criteria(review.criteria, self.criterion.currentData())
        self._labelled = review.labelled
        self._of_jury = run is not None and run.deciding_together > 0
        self._sure = run is not None and not run.submitted  # it says how sure it is of its labels
        self._judge = run is None or not run.by_hand
        self.labels["own"].setVisible(self._judge)
        for chip in _OF_JUDGE:
            self.chips[chip].setVisible(self._judge)
        self.seed.show_seed(review.seed)
        self._fill_orders(self.order.currentData())
        for control in (self.labels["human"], self.chips["differs_from_human"]):
            control.setEnabled(review.labelled)
        if not review.labelled:
            self.labels["human"].setCurrentIndex(0)
            self.chips["differs_from_human"].setChecked(False)
        if not review.escalated:
            self.chips["escalated"].setChecked(False)
        self.show_escalated(review)

    def show_escalated(self, review: Review) -> None:
        """How many items of the chosen criterion there are to decide."""
        items = review.escalated.get(self.criterion.currentData())
        self.chips["escalated"].setEnabled(items is not None)
        self.chips["escalated"].setText(_ESCALATED if items is None else f"{_ESCALATED}: {len(items):,}")
        self.offer_to_clear()

    def show_progress(self, labelled: Mapping[str, int], items: int) -> None:
        """On how many items each criterion is labelled, in the open list of them."""
        for place in range(1, self.criterion.count()):
            criterion = self.criterion.itemData(place)
            far = f": {labelled.get(criterion, 0):,} of {items:,}" if labelled else ""
            self.criterion.setItemText(place, f"{words(criterion).capitalize()}{far}")

    def show_wanted(self, wanted: WantedItems) -> None:
        self._choose(wanted.filters)
        self.choose_order(wanted.order or self.list_order)

    def _choose(self, request: Filters) -> None:
        self._ids, self._labelled_already = request.ids, request.labelled
        self.slices.clear()
        self._typing.stop()
        with QSignalBlocker(self.search):
            self.search.setText(request.text)
        self.criterion.setCurrentIndex(max(0, self.criterion.findData(request.criterion)))
        self._set(asdict(request))

    def _set(self, record: Mapping[str, Any]) -> None:
        for key, box in self.labels.items():
            label = record.get(key)
            box.setCurrentIndex(max(0, box.findData(label and str(label))))
        for key, chip in self.chips.items():
            chip.setChecked(record.get(key) is True)

    def as_record(self) -> dict[str, Any]:
        """What is chosen, to be remembered; the search and a set of items are not."""
        kept = {"order": self.order.currentData(), "more": self.more.isChecked()}
        return {**asdict(self._chosen), "text": "", "ids": None, "labelled": None, **kept}

    def restore(self, record: Mapping[str, Any], criteria: Sequence[str]) -> None:
        self._fill_criteria(criteria, record.get("criterion"))
        self._labelled = self._of_jury = self._sure = True  # until the run says more
        self._fill_orders(record.get("order"))
        self._set(record)
        self.more.setChecked(record.get("more") is True)
        self.offer_to_clear()

    def clear(self) -> None:
        self._choose(Filters())
        self._annotators.clear()
        self._tell()

    def offer_to_clear(self) -> None:
        narrows = self.narrows
        said: dict[QWidget, str] = {chip: chip.text() for chip in self.chips.values() if chip.isChecked()}
        said |= {box: box.currentText() for box in self.labels.values() if box.currentIndex() > 0}
        said |= {self.slices: self.slices.words} if self.slices.ids is not None else {}
        if self._blind:  # the only one that counts then
            said = {chip: text for chip, text in said.items() if chip is self.chips["escalated"]}
        for control, ends in self.active.items():
            text = said.get(control, "")
            ends.setText(f"{one_line(text).replace('&', '&&')}  ×")
            name(ends, f"No longer only: {one_line(text)}")
            set_tip(ends, f"Only: {text}\nClick to list the others, too.")
            ends.setVisible(control in said)
        self.more.setText(f"Filters: {len(said)}" if said else "Filters")
        self._show_panel()
        # A hidden button must not take the focus with it to where nobody looks.
        if not narrows and self.clear_all.hasFocus():
            self.left.emit()
        self.clear_all.setVisible(narrows)

    def _show_panel(self) -> None:
        unfolded = self.more.isChecked()
        self._panel.setVisible(unfolded and not self._blind)
        said = any(not ends.isHidden() for ends in self.active.values())
        self._said.setVisible(said and (self._blind or not unfolded))

    def _end(self, control: QWidget, *_checked: bool) -> None:
        if isinstance(control, QToolButton):
            control.setChecked(False)
        elif isinstance(control, QComboBox):
            control.setCurrentIndex(0)
        else:
            self.slices.clear()
        self.left.emit()  # its button vanishes, and would give the focus to where nobody looks
        self._tell()

    def _tell(self) -> None:
        self._typing.stop()
        self.offer_to_clear()
        self.changed.emit()

    def _fill_criteria(self, criteria: Sequence[str], chosen: str | None = None) -> None:
        offered = [(words(criterion).capitalize(), criterion) for criterion in criteria]
        self.criterion.offer([("All criteria", None), *offered], chosen)

    def _fill_orders(self, chosen: str | None = None) -> None:
        offered = {
            ListOrder.DISAGREEMENT: self._labelled,
            ListOrder.JUDGES: self._of_jury,
            ListOrder.MOST_UNCERTAIN: self._sure,
            ListOrder.UNCERTAINTY: self._judge,
            ListOrder.LEAST_UNCERTAINTY: self._judge,
        }
        entries = (
            (text, order.value, _MOST_UNCERTAIN if order is ListOrder.MOST_UNCERTAIN else "")
            for order, text in _ORDERS.items()
            if offered.get(order, True) and (not self._blind or order in _NOT_TELLING)
        )
        self.order.offer(entries, chosen)


class Controls(DownScroll):
    """What stands above the items: scrolled where they would have too little room below it."""

    def __init__(self, *controls: QWidget) -> None:
        super().__init__(labels.as_column(*controls, spacing=6))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._soon = timer(self, 0, self._keep_in_sight)  # once all parts have found their places
        self.verticalScrollBar().rangeChanged.connect(self._soon.start)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
            self._soon.start()
        return super().eventFilter(watched, event)

    def _keep_in_sight(self) -> None:
        used = self.window().focusWidget()
        if used is not None and self.isAncestorOf(used):
            self.show_control(used)

    def show_control(self, control: QWidget) -> None:
        area: QWidget | None = self
        while area is not None:
            if isinstance(area, QScrollArea):
                area.ensureWidgetVisible(control)
            area = area.parentWidget()

    def sizeHint(self) -> QSize:
        inside, size = self.widget(), super().sizeHint()
        layout = inside.layout() if inside is not None else None
        if layout is not None:
            # Of a layout that is as high at any width Qt says -1 for one.
            of_width = layout.totalHeightForWidth(self.width()) if layout.hasHeightForWidth() else 0
            size.setHeight((of_width or layout.totalSizeHint().height()) + 2 * self.frameWidth())
        return size

    def minimumSizeHint(self) -> QSize:
        search = self.findChild(SearchField)
        least = search.sizeHint().height() if search is not None else 0
        least = max(least, 2 * self.fontMetrics().height()) + 6
        return QSize(super().minimumSizeHint().width(), least)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.updateGeometry()


def _label_box(text: str, what: str, offered: Sequence[HumanLabel]) -> QComboBox:
    box = narrow_box(f"Filter by {what[0].lower()}{what[1:]}")
    box.setToolTip(what)
    entries = ((f"{text}: {LABEL_WORDS[each]}", each.value) for each in offered)
    box.offer([(f"{text}: any", None), *entries, (f"{text}: none", NO_LABEL)])
    return box


def _tool_button() -> QToolButton:
    made = compact_button()
    made.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # a click leaves the search
    return made


def _chip(text: str, what: str) -> QToolButton:
    chip = _tool_button()
    chip.setText(text)
    chip.setCheckable(True)
    name(chip, f"Only: {text}", what)
    return chip
