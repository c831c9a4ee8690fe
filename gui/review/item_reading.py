"""An item to read: the instruction above both responses, which stand side by side.

Knows: an item, how its texts are shown and compared. Does not know: judgments.
"""

from enum import StrEnum

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QColor, QTextCharFormat
from PySide6.QtWidgets import QWidget

from engine.core.formatting import counted, percent
from engine.core.items import Item, Preference
from engine.core.judgments import Shortening
from gui.kit.fields import ComboBox
from gui.kit.foreign_text import set_tip
from gui.kit.labels import name
from gui.kit.layouts import in_column
from gui.kit.theme import colours
from gui.reading.text_pane import TextPane
from gui.review.review_jobs import Highlights, compare_wording
from gui.review.search_hits import MOST_MARKED, Search, Spans, hit_style
from gui.work.lanes import EngineThreads, LatestTask, ThreadName
from gui.work.page import PageSplitter


class Marking(StrEnum):
    """What is marked in the two responses."""

    NOTHING = "nothing"
    DIFFERENCES = "differences"
    SHARED = "shared"


_MARKINGS = {
    Marking.NOTHING: "No highlight",
    Marking.DIFFERENCES: "Differences",
    Marking.SHARED: "Shared words",
}


class MarkingBox(ComboBox):
    """Where an annotator chooses what is marked."""

    chosen = Signal(object)  # a Marking

    def __init__(self) -> None:
        super().__init__()
        for marking, words in _MARKINGS.items():
            self.addItem(words, marking)
        name(self, "Highlight in the responses", "Highlight what differs or what is shared (D)")
        self.currentIndexChanged.connect(self._tell)

    @Slot()
    def choose_next(self) -> None:
        """The next one."""
        self.setCurrentIndex((self.currentIndex() + 1) % self.count())

    @Slot()
    def _tell(self) -> None:
        self.chosen.emit(Marking(self.currentData()))


class ItemReading(QWidget):
    """The three texts of an item."""

    def __init__(self, threads: EngineThreads) -> None:
        super().__init__()
        self.instruction = TextPane("Instruction")
        self.a = TextPane("Response A", Preference.A)
        self.b = TextPane("Response B", Preference.B)
        self._marking = Marking.NOTHING
        self._found: Highlights | None = None
        self._search = Search()
        self._notes: dict[TextPane, str] = {}  # what stands beside a heading, but for the hits
        self._new = False  # its first hit is still to be scrolled to
        self._comparing = LatestTask(threads, ThreadName.FILES, self)
        self._comparing.finished.connect(self._take)
        # Both responses change at once: they are compared once.
        self._soon = QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self._compare)
        self.a.changed.connect(self._forget)
        self.b.changed.connect(self._forget)
        self.beside = PageSplitter(Qt.Orientation.Horizontal)
        self.beside.addWidget(self.a)
        self.beside.addWidget(self.b)
        self.beside.setHandleWidth(8)
        self.above = PageSplitter(Qt.Orientation.Vertical)
        self.above.addWidget(self.instruction)
        self.above.addWidget(self.beside)
        self.above.setStretchFactor(1, 1)
        self.above.setSizes([72, 300])
        in_column(self.above, on=self)

    def show_item(self, item: Item, shortening: Shortening | None) -> None:
        """Show an item; `shortening`: what the model did not see of it."""
        self._new = True
        self.instruction.show_text(item.instruction)
        for pane, text, left_out in (
            (self.a, item.output_a, shortening.left_out_a if shortening else 0),
            (self.b, item.output_b, shortening.left_out_b if shortening else 0),
        ):
            count = len(text.split())
            self._notes[pane] = counted(count, "word", "words")
            pane.show_text(text)
            pane.pill.setVisible(left_out > 0)
            pane.pill.say("shortened", "warning")
            set_tip(
                pane.pill,
                f"The model saw it without {left_out:,} characters of its middle. It is shown whole here.",
            )

    def set_markdown(self, on: bool) -> None:
        """Show all texts as Markdown, or as they are."""
        for pane in (self.instruction, self.a, self.b):
            pane.set_markdown(on)

    def set_marking(self, marking: Marking) -> None:
        """Mark what differs, what is shared, or nothing."""
        self._marking = marking
        self._forget()

    def set_search(self, search: Search) -> None:
        """Mark what is searched for, in whatever else is marked."""
        self._search, self._new = search, True
        self._show()

    def restyle(self) -> None:
        """Follow the colours."""
        self._show()

    @Slot()
    def _forget(self) -> None:
        self._found = None
        self._comparing.drop()
        self._soon.start()

    @Slot()
    def _compare(self) -> None:
        if self._marking is Marking.NOTHING:
            self._show()
        else:
            self._comparing.start(compare_wording(self.a.text, self.b.text))

    @Slot(object)
    def _take(self, found: Highlights) -> None:
        self._found = found
        self._show()

    def _show(self) -> None:
        found, used = self._found, colours(self.palette())
        spans: tuple[Spans, Spans] = ((), ())
        style = QTextCharFormat()
        self._notes[self.instruction] = ""
        if found is not None and self._marking is not Marking.NOTHING:
            differences = self._marking is Marking.DIFFERENCES
            spans = found.own if differences else found.shared
            style.setBackground(QColor(used.own_ground if differences else used.shared_ground))
            # Hits of a search have a line that is whole.
            style.setUnderlineStyle(QTextCharFormat.UnderlineStyle.DotLine)
            beginning = "" if found.whole else ", of their beginnings"
            self._notes[self.instruction] = (
                f"{percent(found.share)} of the responses' words are shared{beginning}"
            )
        for pane, marked in ((self.instruction, ()), (self.a, spans[0]), (self.b, spans[1])):
            self._mark(pane, marked, style)
        self._new = False

    def _mark(self, pane: TextPane, marked: Spans, style: QTextCharFormat) -> None:
        """Mark what was compared and what is searched for, and say how often it is there."""
        hits = self._search.spans(pane.text)
        pane.mark((marked, style), (hits[:MOST_MARKED], hit_style(self)))
        found = counted(len(hits), "hit", "hits") if hits else ""
        pane.say(", ".join(part for part in (self._notes.get(pane, ""), found) if part))
        if hits and self._new:
            pane.bring_into_view(hits[0][0])
