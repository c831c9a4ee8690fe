"""An item to read: the instruction above both responses, which stand side by side.

Knows: an item, how its texts are shown and compared. Does not know: judgments.
"""

from enum import StrEnum

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from engine.core.formatting import percent
from engine.core.items import Item, Preference
from engine.core.judgments import Shortening
from gui.kit.foreign_text import tip
from gui.kit.theme import colours
from gui.review.review_jobs import Highlights, compare_wording
from gui.review.text_pane import TextPane
from gui.work.lanes import EngineThreads, Lane, LatestTask
from gui.work.page_splitter import PageSplitter


class Marking(StrEnum):
    """What is marked in the two responses."""

    NOTHING = "nothing"
    DIFFERENCES = "differences"
    SHARED = "shared"


class ItemReading(QWidget):
    """The three texts of an item."""

    def __init__(self, threads: EngineThreads, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.instruction = TextPane("Instruction")
        self.a = TextPane("Response A", Preference.A)
        self.b = TextPane("Response B", Preference.B)
        self._marking = Marking.NOTHING
        self._found: Highlights | None = None
        self._comparing = LatestTask(threads, Lane.FILES, self)
        self._comparing.finished.connect(self._take)
        # Both responses change at once: they are compared once.
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(0)
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
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.above)

    def show_item(self, item: Item, shortening: Shortening | None) -> None:
        """Show an item; `shortening`: what the model did not see of it."""
        self.instruction.show_text(item.instruction)
        for pane, text, left_out in (
            (self.a, item.output_a, shortening.left_out_a if shortening else 0),
            (self.b, item.output_b, shortening.left_out_b if shortening else 0),
        ):
            count = len(text.split())
            pane.show_text(text, f"{count:,} word{'' if count == 1 else 's'}")
            pane.pill.setVisible(left_out > 0)
            pane.pill.say("shortened", "warning")
            pane.pill.setToolTip(
                tip(f"The model saw it without {left_out:,} characters of its middle. Here it is whole.")
            )

    def set_markdown(self, on: bool) -> None:
        """Show all texts as Markdown, or as they are."""
        for pane in (self.instruction, self.a, self.b):
            pane.set_markdown(on)

    def set_marking(self, marking: Marking) -> None:
        """Mark what differs, what is shared, or nothing."""
        self._marking = marking
        self._forget()

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
        if found is None or self._marking is Marking.NOTHING:
            self.a.mark((), used.shared_ground)
            self.b.mark((), used.shared_ground)
            self.instruction.say("")
            return
        differences = self._marking is Marking.DIFFERENCES
        spans, ground = (found.own, used.own_ground) if differences else (found.shared, used.shared_ground)
        self.a.mark(spans[0], ground)
        self.b.mark(spans[1], ground)
        beginning = "" if found.whole else ", of their beginnings"
        self.instruction.say(f"{percent(found.share)} of the responses' words are shared{beginning}")
