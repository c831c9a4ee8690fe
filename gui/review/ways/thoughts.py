"""What the model wrote before its answers, to be read: folded to one line until a person opens it.

Knows: answers with thoughts. Does not know: how thoughts are put together, judgments.
"""

from collections.abc import Iterator, Sequence

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from engine.core.items import Order, Way
from engine.core.judgments import RawAnswer, Reading
from engine.core.ways.all_ways import reading_of
from gui.kit.fold import Fold
from gui.reading.text_pane import TextPane
from gui.review.order_bars import ORDER_NAMES, likeliest, own_shares

_LEAST_LINES, _MOST_LINES = 2, 6  # of a thought, before it is scrolled
_NONE = "(nothing was written)"


class Thoughts(QWidget):
    """A line with their number, and below it each of them with what was answered after it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._thoughts: Sequence[tuple[Order, RawAnswer]] = ()
        self._shown: Sequence[tuple[Order, RawAnswer]] = ()
        self._column = QWidget()
        inside = QVBoxLayout(self._column)
        inside.setContentsMargins(18, 0, 0, 0)
        inside.setSpacing(8)
        self._inside = inside
        self.fold = Fold("", self._column)
        self.fold.opened.connect(self._fill)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.fold)

    @property
    def panes(self) -> Sequence[TextPane]:
        """Those that can be read."""
        return [] if self._column.isHidden() else self._column.findChildren(TextPane)

    def show_readings(self, readings: Sequence[Reading]) -> None:
        """Show the thoughts of these; hidden where there are none."""
        self._thoughts = tuple(
            (reading.order, answer)
            for reading in readings
            if reading.way is Way.THINKING
            for answer in reading.answers
        )
        cut = sum(answer.cut for _, answer in self._thoughts)
        at_limit = f", {cut} cut at the length limit" if cut else ""
        self.fold.set_title(f"Thoughts ({len(self._thoughts)}{at_limit})")
        self.setVisible(bool(self._thoughts))
        if self.fold.open:
            self._fill()

    @Slot()
    def _fill(self) -> None:
        """Make the panes that are to be read, once they are wanted."""
        if self._shown == self._thoughts:
            return
        self._shown = self._thoughts
        for pane in self._column.findChildren(TextPane):
            self._inside.removeWidget(pane)
            pane.setParent(None)
            pane.deleteLater()
        before: QWidget | None = None
        for title, note, text in _told(self._thoughts):
            pane = TextPane(title)
            pane.show_text(text or _NONE, note)
            line = pane.view.fontMetrics().lineSpacing()
            pane.view.setFixedHeight(line * min(_MOST_LINES, max(_LEAST_LINES, 1 + len(text) // 60)) + 20)
            self._inside.addWidget(pane)
            if before is None:
                self.fold.first_inside(pane.view)
            else:
                self.setTabOrder(before, pane.view)
            before = pane.view


def _told(thoughts: Sequence[tuple[Order, RawAnswer]]) -> Iterator[tuple[str, str, str]]:
    """Which thought it is, what was answered after it, the thought."""
    for order in Order:
        own = [answer for shown_first, answer in thoughts if shown_first is order]
        for number, answer in enumerate(own, start=1):
            said = likeliest(own_shares(reading_of(Way.THINKING, order, [answer])))
            cut = "; cut at the length limit" if answer.cut else ""
            title = f"{ORDER_NAMES[order]}, thought {number} of {len(own)}"
            yield title, f"then says {said}{cut}", answer.thought
