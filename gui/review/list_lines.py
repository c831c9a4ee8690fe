"""Lines above the list of a review: what set of items is listed, and that an order says nothing.

Knows: how they are worded. Does not know: how items are chosen and put in order.
"""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QPushButton, QVBoxLayout, QWidget

from engine.core.formatting import visible
from engine.core.review_filters import ListOrder, WantedItems
from gui.kit.flow import FlowLayout
from gui.kit.foreign_text import plain_label
from gui.kit.labels import name

ALIKE = 0.01  # doubts that lie no further apart say nothing
_FEWEST_ALIKE = 3  # items: two are alike by chance


class _Line(QFrame):
    """A note with buttons below it; hidden until there is something to say."""

    def __init__(self, *buttons: QPushButton) -> None:
        super().__init__()
        self.setProperty("role", "note")
        self.text = plain_label()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 5, 10, 6)
        layout.setSpacing(4)
        layout.addWidget(self.text)
        below = FlowLayout(gap=4)
        for button in buttons:
            below.addWidget(button)
        layout.addLayout(below)
        self.hide()


class WantedLine(_Line):
    """Says which items another page wanted listed, and leaves them."""

    def __init__(self) -> None:
        self.show_all = QPushButton("Show all")
        name(self.show_all, "Show all items again")
        super().__init__(self.show_all)

    def follow(self, wanted: WantedItems | None, shown: int) -> None:
        """What the listed items have in common, and how many they are; nothing where none are wanted."""
        self.setVisible(wanted is not None)
        if wanted is None:
            return
        ids = wanted.filters.ids
        of_all = f" of {len(ids):,}" if ids is not None and len(ids) != shown else ""
        self.text.setText(
            visible(f"{shown:,}{of_all} item{'' if shown == 1 and not of_all else 's'}: {wanted.words}")
        )


class AlikeLine(_Line):
    """Says that all doubts are alike, and offers another order."""

    wanted = Signal(object)  # a ListOrder

    def __init__(self, parent: QWidget | None = None) -> None:
        self.by_dataset = QPushButton("Dataset order")
        name(self.by_dataset, "List the items in the order of the dataset")
        self.by_people = QPushButton("Disagreements first")
        name(self.by_people, "List the items first whose labels differ from the human ones")
        super().__init__(self.by_people, self.by_dataset)
        self.setParent(parent)
        self.text.setText("All doubts are alike: this order says nothing.")
        self.by_dataset.clicked.connect(lambda: self.wanted.emit(ListOrder.DATASET))
        self.by_people.clicked.connect(lambda: self.wanted.emit(ListOrder.DISAGREEMENT))

    def follow(self, order: ListOrder, items: int, spread: float, labelled: bool) -> None:
        """Show or hide, as a list needs it."""
        self.by_people.setVisible(labelled)
        self.setVisible(order is ListOrder.DOUBT and items >= _FEWEST_ALIKE and spread < ALIKE)
