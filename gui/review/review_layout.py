"""An item to read: the instruction, beside it context and reference answer, above both responses; how texts
and judgment share the height.
"""

from enum import StrEnum

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QColor, QShowEvent, QTextCharFormat
from PySide6.QtWidgets import QWidget

from engine.core.formatting import counted, percent
from engine.core.items import Item, Preference
from engine.core.judgments import Shortening
from engine.core.rubric import DEFAULT_WORDING
from gui.review.judgment_desk import JudgmentDesk
from gui.review.review_jobs import Highlights, compare_wording
from gui.review.review_table import MOST_MARKED, Search, Spans, hit_style
from gui.widgets.actions import timer
from gui.widgets.fields import ComboBox
from gui.widgets.foreign_text import set_tip
from gui.widgets.labels import in_column, name
from gui.widgets.text_views import TextPane
from gui.widgets.theme import colours
from gui.workspace.page import PageSplitter
from gui.workspace.state import State
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import EngineThreads, ThreadName


class Marking(StrEnum):
    NOTHING = "nothing"
    DIFFERENCES = "differences"
    SHARED = "shared"


class MarkingBox(ComboBox):
    chosen = Signal(object)  # a Marking

    def __init__(self) -> None:
        super().__init__()
        self.offer(zip(("No highlight", "Differences", "Shared words"), Marking, strict=True))
        name(self, "Highlight in the responses", "Highlight what differs or what is shared (D)")
        self.currentIndexChanged.connect(lambda: self.chosen.emit(Marking(self.currentData())))

    def choose_next(self) -> None:
        self.setCurrentIndex((self.currentIndex() + 1) % self.count())


class ItemReading(QWidget):
    def __init__(self, threads: EngineThreads) -> None:
        super().__init__()
        self.instruction, self.background = TextPane("Instruction"), TextPane("Reference answer and context")
        self.a, self.b = TextPane("Response A", Preference.A), TextPane("Response B", Preference.B)
        self._marking = Marking.NOTHING
        self._found: Highlights | None = None
        self._search = Search()
        self._notes: dict[TextPane, str] = {}  # what stands beside a heading, but for the hits
        self._new = False  # its first hit is still to be scrolled to
        self._comparing = TaskPanel(threads, ThreadName.FILES, self, self._take)
        # Both responses change at once: they are compared once.
        self._soon = timer(self, 0, self._compare)
        for pane in (self.a, self.b):
            pane.changed.connect(self._forget)
        across, alike = Qt.Orientation.Horizontal, (0, 0)
        self.beside = PageSplitter(across, self.a, self.b, stretches=alike)
        asked = PageSplitter(across, self.instruction, self.background, stretches=alike)
        self.above = PageSplitter(Qt.Orientation.Vertical, asked, self.beside, stretches=(0, 1))
        self.above.setHandleWidth(-1)  # as the style has it
        self.above.setSizes([72, 300])
        in_column(self.above, on=self)

    def show_item(self, item: Item, shortening: Shortening | None) -> None:
        self._new = True
        self.instruction.show_text(item.instruction)
        beside = reversed(item.background.items())  # a context may be long
        texts = (f"{getattr(DEFAULT_WORDING, name)}:\n{text}" for name, text in beside)
        self.background.show_text("\n\n".join(texts))
        self.background.setVisible(bool(item.background))
        a, b = (shortening.left_out_a, shortening.left_out_b) if shortening else (0, 0)
        for pane, text, left_out in ((self.a, item.output_a, a), (self.b, item.output_b, b)):
            self._notes[pane] = counted(len(text.split()), "word", "words")
            pane.show_text(text)
            pane.pill.setVisible(left_out > 0)
            pane.pill.say("shortened", "warning")
            without = f"The model saw it without {left_out:,} characters of its middle."
            set_tip(pane.pill, f"{without} It is shown whole here.")

    @property
    def panes(self) -> tuple[TextPane, ...]:
        return self.instruction, self.background, self.a, self.b

    def set_markdown(self, on: bool) -> None:
        for pane in self.panes:
            pane.set_markdown(on)

    def set_marking(self, marking: Marking) -> None:
        self._marking = marking
        self._forget()

    def set_search(self, search: Search) -> None:
        self._search, self._new = search, True
        self.restyle()

    def _forget(self) -> None:
        self._found = None
        self._comparing.drop()
        self._soon.start()

    def _compare(self) -> None:
        if self._marking is Marking.NOTHING:
            self.restyle()
        else:
            self._comparing.start(compare_wording(self.a.text, self.b.text))

    def _take(self, found: Highlights) -> None:
        self._found = found
        self.restyle()

    def restyle(self) -> None:
        found, used, style = self._found, colours(self.palette()), QTextCharFormat()
        spans: tuple[Spans, Spans] = ((), ())
        self._notes[self.instruction] = ""
        if found is not None and self._marking is not Marking.NOTHING:
            differences = self._marking is Marking.DIFFERENCES
            spans = found.own if differences else found.shared
            style.setBackground(QColor(used.own_ground if differences else used.shared_ground))
            # Hits of a search have a line that is whole.
            style.setUnderlineStyle(QTextCharFormat.UnderlineStyle.DotLine)
            shared = f"{percent(found.share)} of the responses' words are shared"
            self._notes[self.instruction] = shared + ("" if found.whole else ", of their beginnings")
        for pane, marked in zip(self.panes, ((), (), *spans), strict=True):
            hits = self._search.spans(pane.text)
            pane.mark((marked, style), (hits[:MOST_MARKED], hit_style(self)))
            said = counted(len(hits), "hit", "hits") if hits else ""
            pane.say(", ".join(part for part in (self._notes.get(pane, ""), said) if part))
            if hits and self._new:
                pane.bring_into_view(hits[0][0])
        self._new = False


_MOST = 100_000  # pixels
_STATE = "review/card"  # the height of the open card
_MOST_FOR_CARD = 0.45  # of the height of both, at first
_MOST_FOR_METHODS = 0.75  # of the height of both, while an annotator looks at what each method said


class ReviewLayout(PageSplitter):
    """The texts get what the judgment leaves; folded it leaves nearly everything. Until an annotator moves
    the handle the card is as high as it wants to be. Who goes to what each elicitation method said sees all
    of it, where there is room at all, until they go back.
    """

    def __init__(self, reading: ItemReading, below: QWidget, desk: JudgmentDesk, state: State) -> None:
        """`below` holds the desk; its card is hidden while columns stand in its place elsewhere."""
        super().__init__(Qt.Orientation.Vertical, reading, below, stretches=(1, 0))
        self._desk, self._state = desk, state
        # Of the judgment while its card is open, in pixels; 0 until it is known.
        self.card_height = max(0, state.number(_STATE, 0, most=_MOST))
        self._by_annotator = self.card_height > 0
        self._for_methods = False
        if self._by_annotator:
            self.setSizes([2 * self.card_height, self.card_height])
        self.splitterMoved.connect(self._follow_annotator)
        self._letter = self.fontMetrics().height()
        self._soon = timer(self, 0, self._begin)  # once what is new has its place
        desk.card.body_shown.connect(self._make_room)
        desk.card.methods_wanted.connect(self._make_room_for_methods)

    @property
    def arranged(self) -> bool:
        return self.card_height > 0 and not self._soon.isActive()

    def keep(self) -> None:
        if self._by_annotator:
            self._state.set_number(_STATE, self.card_height)

    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest and hasattr(self, "_soon"):
            self._soon.start()
        return done

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._soon.start()

    def _follow_annotator(self) -> None:
        if not self._desk.card.isHidden():
            self.card_height, self._by_annotator, self._for_methods = self.sizes()[1], True, False

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_soon"):
            before, self._letter = self._letter, self.fontMetrics().height()
            self._by_annotator = self._by_annotator and (not self.seen or before == self._letter)
            self._soon.start()

    def _begin(self) -> None:
        # The card is as high as it wants to be, but most of the room is for the texts.
        room, card = sum(self.sizes()), self._desk.card
        if self._for_methods or self._by_annotator or not room or not card.open or card.isHidden():
            return
        self._desk.lay_out_now()
        self.card_height = min(self._desk.sizeHint().height(), int(room * _MOST_FOR_CARD))
        if self.sizes()[1] != self.card_height:
            self.setSizes([room - self.card_height, self.card_height])

    def _make_room_for_methods(self, wanted: bool) -> None:
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

    def _make_room(self, for_card: bool) -> None:
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
