"""How the height of the review is shared between the texts of an item and its judgment.

Knows: the texts above, the judgment below, which height a person gave it. Does not know: what they show.
"""

from PySide6.QtCore import QEvent, Qt, QTimer, Slot

from gui.review.item_reading import ItemReading
from gui.review.judgment_desk import JudgmentDesk
from gui.work.page_splitter import PageSplitter
from gui.work.state import State

_STATE = "review/card"  # the height of the open card
_MOST_FOR_CARD = 0.45  # of the height of both, at first


class CardRoom(PageSplitter):
    """The texts get what the judgment leaves; folded it leaves nearly everything.

    `height`: of the judgment while its card is open, in pixels; 0 until it is known.
    """

    def __init__(self, reading: ItemReading, desk: JudgmentDesk, state: State) -> None:
        super().__init__(Qt.Orientation.Vertical)
        self._desk, self._state = desk, state
        self.addWidget(reading)
        self.addWidget(desk)
        self.setStretchFactor(0, 1)
        self.setStretchFactor(1, 0)
        self.setHandleWidth(8)
        self.card_height = max(0, state.number(_STATE, 0))
        if self.card_height:
            self.setSizes([2 * self.card_height, self.card_height])
        self._soon = QTimer(self)  # once what is new has its place
        self._soon.setSingleShot(True)
        self._soon.timeout.connect(self._begin)
        desk.card.body_shown.connect(self._make_room)

    @property
    def settled(self) -> bool:
        """True once the card has its height."""
        return self.card_height > 0 and not self._soon.isActive()

    def follow(self) -> None:
        """Something is shown: give the card its height, if it has none yet."""
        self._soon.start()

    def keep(self) -> None:
        """Remember the height of the open card."""
        if self.card_height:
            self._state.set_number(_STATE, self.sizes()[1] if self._desk.card.open else self.card_height)

    def changeEvent(self, event: QEvent) -> None:
        """Another size of text needs another height."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_soon"):
            self.card_height = 0
            self._soon.start()

    @Slot()
    def _begin(self) -> None:
        """At first the card is as high as it wants to be, but most of the room is for the texts."""
        room = sum(self.sizes())
        if self.card_height or not room or not self._desk.card.open:
            return
        self._lay_out()
        self.card_height = min(self._desk.sizeHint().height(), int(room * _MOST_FOR_CARD))
        self.setSizes([room - self.card_height, self.card_height])

    @Slot(bool)
    def _make_room(self, for_card: bool) -> None:
        """Give the texts what a folded card leaves, and the card its height again once it opens."""
        reading, card = self.sizes()
        self._lay_out()
        self.handle(1).setEnabled(for_card)
        if not for_card:
            self.card_height = self.card_height and card
            self.setSizes([reading + card, 0])  # as little as it needs
        elif self.card_height:
            self.setSizes([max(0, reading + card - self.card_height), self.card_height])
        else:
            self._begin()

    def _lay_out(self) -> None:
        """At once; else the card still asks for as much as before."""
        for widget in (self._desk.strip, self._desk.card, self._desk):
            layout = widget.layout()
            if layout is not None:
                layout.activate()
