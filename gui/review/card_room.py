"""How the height of the review is shared between the texts of an item and its judgment.

Knows: the texts above, the judgment below, which height an annotator gave it. Does not know: what they show.
"""

from PySide6.QtCore import QEvent, Qt, QTimer, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from gui.review.item_reading import ItemReading
from gui.review.judgment_desk import JudgmentDesk
from gui.work.page import PageSplitter
from gui.work.state import State

_MOST = 100_000  # pixels
_STATE = "review/card"  # the height of the open card
_MOST_FOR_CARD = 0.45  # of the height of both, at first
_MOST_FOR_METHODS = 0.75  # of the height of both, while an annotator looks at what each method said


class ReviewLayout(PageSplitter):
    """The texts get what the judgment leaves; folded it leaves nearly everything.

    `card_height`: of the judgment while its card is open, in pixels; 0 until it is known. Until an annotator
    moves the handle it is what the card wants. Who goes to what each elicitation method said sees all of it,
    where there is room at all, until they go back.
    """

    def __init__(self, reading: ItemReading, below: QWidget, desk: JudgmentDesk, state: State) -> None:
        """`below` holds the desk; its card is hidden while columns stand in its place elsewhere."""
        super().__init__(Qt.Orientation.Vertical)
        self._desk, self._state = desk, state
        self.addWidget(reading)
        self.addWidget(below)
        self.setStretchFactor(0, 1)
        self.setStretchFactor(1, 0)
        self.setHandleWidth(8)
        self.card_height = max(0, state.number(_STATE, 0, most=_MOST))
        self._by_annotator = self.card_height > 0
        self._for_methods = False
        if self._by_annotator:
            self.setSizes([2 * self.card_height, self.card_height])
        self.splitterMoved.connect(self._follow_annotator)
        self._letter = self.fontMetrics().height()
        self._soon = QTimer(self, singleShot=True)  # once what is new has its place
        self._soon.timeout.connect(self._begin)
        desk.card.body_shown.connect(self._make_room)
        desk.card.methods_wanted.connect(self._make_room_for_methods)

    @property
    def adjudicated(self) -> bool:
        """True once the card has its height."""
        return self.card_height > 0 and not self._soon.isActive()

    def keep(self) -> None:
        """Remember the height that an annotator gave the card."""
        if self._by_annotator:
            self._state.set_number(_STATE, self.card_height)

    def event(self, event: QEvent) -> bool:
        """Follow what the card wants."""
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest and hasattr(self, "_soon"):
            self._soon.start()
        return done

    def showEvent(self, event: QShowEvent) -> None:
        """There is room to share now."""
        super().showEvent(event)
        self._soon.start()

    @Slot()
    def _follow_annotator(self) -> None:
        if not self._desk.card.isHidden():
            self.card_height, self._by_annotator, self._for_methods = self.sizes()[1], True, False

    def changeEvent(self, event: QEvent) -> None:
        """Another size of text needs another height."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_soon"):
            before, self._letter = self._letter, self.fontMetrics().height()
            self._by_annotator = self._by_annotator and (not self.seen or before == self._letter)
            self._soon.start()

    @Slot()
    def _begin(self) -> None:
        """The card is as high as it wants to be, but most of the room is for the texts."""
        room = sum(self.sizes())
        if (
            self._for_methods
            or self._by_annotator
            or not room
            or not self._desk.card.open
            or self._desk.card.isHidden()
        ):
            return
        self._desk.lay_out_now()
        self.card_height = min(self._desk.sizeHint().height(), int(room * _MOST_FOR_CARD))
        if self.sizes()[1] != self.card_height:
            self.setSizes([room - self.card_height, self.card_height])

    @Slot(bool)
    def _make_room_for_methods(self, wanted: bool) -> None:
        """Let the texts give what the methods need to be seen, and have it back afterwards."""
        if self._desk.card.isHidden() or wanted == self._for_methods:
            return
        self._for_methods = wanted
        room, height = sum(self.sizes()), self.card_height
        if wanted:
            self._desk.lay_out_now()
            body = self._desk.card.body
            needed = self._desk.height() - body.viewport().height() + body.methods.height()
            height = max(self.sizes()[1], min(needed, int(room * _MOST_FOR_METHODS)))
        self.setSizes([room - height, height])

    @Slot(bool)
    def _make_room(self, for_card: bool) -> None:
        """Give the texts what a folded card leaves, and the card its height again once it opens."""
        reading, card = self.sizes()
        self._for_methods = False
        self._desk.lay_out_now()
        self.handle(1).setEnabled(for_card)
        if not for_card:
            self.setSizes([reading + card, 0])  # as little as it needs
        elif self._by_annotator:
            self.setSizes([max(0, reading + card - self.card_height), self.card_height])
        else:
            self._begin()
