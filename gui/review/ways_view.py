"""What each way of asking said of a judgment, beside what all of them say together; thoughts to be read.

Knows: readings of several ways, how they stand side by side. Does not know: decisions, how a way asks.
"""

import math
from collections.abc import Iterator, Sequence
from statistics import fmean

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtWidgets import QBoxLayout, QWidget

from engine.core.formatting import percent
from engine.core.items import Order, Way
from engine.core.judgments import RawAnswer, Reading
from engine.core.ways.all_ways import reading_of, together
from engine.core.ways.graded import mean_grade
from engine.core.ways.question import among
from gui.kit.fold import Fold
from gui.kit.foreign_text import plain_label
from gui.kit.label_mark import LABEL_WORDS
from gui.kit.labels import heading, hint, show_text
from gui.kit.layouts import as_column, in_column
from gui.reading.text_pane import TextPane
from gui.review.order_bars import ORDER_NAMES, OrderBars, likeliest, own_shares

_TOGETHER = "all together"
_BY_WAY, _BY_JUDGE = "What each way of asking said", "What each judge said"
_LEAST_LINES, _MOST_LINES = 2, 6  # of a thought, before it is scrolled
_NONE = "(nothing was written)"
_YES = 0


class WaysView(QWidget):
    """A column for each order, with a bar for each way; in words what is said of each response, and labels
    of a panel that nobody read; thoughts.

    Hidden where one way was asked that the bars of the orders show whole.
    """

    def __init__(self) -> None:
        super().__init__()
        self.of_panel = False  # whether these are judges of a panel, and their ways
        self.bars = {order: OrderBars() for order in Order}
        self._columns: dict[Order, QWidget] = {}
        self._beside = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._beside.setSpacing(24)
        for order, bars in self.bars.items():
            column = as_column(hint(ORDER_NAMES[order]), bars, spacing=2)
            self._beside.addWidget(column, 1)
            self._columns[order] = column
        self.title = heading(_BY_WAY)
        self.words = plain_label()
        self.thoughts = Thoughts()
        in_column(
            self.title,
            self._beside,
            self.words,
            self.thoughts,
            on=self,
            margins=(0, 4, 0, 0),
            spacing=4,
        )
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.hide()

    @property
    def usual_height(self) -> int:
        """Without thoughts that are open."""
        hint_size: QSize = self.sizeHint()
        inside = self.thoughts.sizeHint().height() - self.thoughts.fold.button_height
        return hint_size.height() - (inside if not self.thoughts.isHidden() else 0)

    def show_readings(self, readings: Sequence[Reading]) -> None:
        """Show what these say, or nothing where there are letters alone."""
        read = [reading for reading in readings if not reading.label_alone]
        thinks = any(reading.way is Way.THINKING for reading in read)
        panel = self.of_panel = any(reading.judge for reading in readings)
        named = tuple(dict.fromkeys(map(_said_by, read)))
        words = "\n".join((*said_of_each(read), *_labels_alone(readings)))
        show_text(self.words, words)
        self.thoughts.show_readings(readings)
        several = len(named) > 1
        self.setVisible(several or bool(words) or thinks)
        both = {reading.order: reading for reading in together(read)} if several else {}
        for order, bars in self.bars.items():
            own = {_said_by(reading): reading for reading in read if reading.order is order}
            lines: list[tuple[str, Reading | None]] = [(_TOGETHER, both[order])] if order in both else []
            bars.show_lines(ORDER_NAMES[order], [*lines, *((each, own.get(each)) for each in named)])
            self._columns[order].setVisible((several or panel) and bool(own))
        shown = (bars for order, bars in self.bars.items() if not self._columns[order].isHidden())
        said = "; ".join(bars.accessibleName() for bars in shown)
        title = _BY_JUDGE if panel else _BY_WAY
        self.title.setText(title)
        self.setAccessibleName(title)
        self.setAccessibleDescription(f"{said}; {words}".replace("\n", ", "))

    def set_narrow(self, narrow: bool) -> None:
        """Put the orders one below the other, or side by side."""
        direction = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        self._beside.setDirection(direction)


class Thoughts(QWidget):
    """What the model wrote before its answers: a line that opens all thoughts, with what was said then."""

    def __init__(self) -> None:
        super().__init__()
        self._thoughts: Sequence[tuple[Order, RawAnswer]] = ()
        self._shown: Sequence[tuple[Order, RawAnswer]] = ()
        self._column = QWidget()
        inside = in_column(on=self._column, margins=(18, 0, 0, 0), spacing=8)
        self._inside = inside
        self.fold = Fold("", self._column)
        self.fold.opened.connect(self._fill)
        in_column(self.fold, on=self)

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
        for title, note, text in _told(self._thoughts):
            pane = TextPane(title)
            pane.show_text(text or _NONE, note)
            line = pane.view.fontMetrics().lineSpacing()
            pane.view.setFixedHeight(line * min(_MOST_LINES, max(_LEAST_LINES, 1 + len(text) // 60)) + 20)
            self._inside.addWidget(pane)


def _told(thoughts: Sequence[tuple[Order, RawAnswer]]) -> Iterator[tuple[str, str, str]]:
    """Which thought it is, what was answered after it, the thought."""
    for order in Order:
        own = [answer for shown_first, answer in thoughts if shown_first is order]
        for number, answer in enumerate(own, start=1):
            said = likeliest(own_shares(reading_of(Way.THINKING, order, [answer])))
            cut = "; cut at the length limit" if answer.cut else ""
            title = f"{ORDER_NAMES[order]}, thought {number} of {len(own)}"
            yield title, f"then says {said}{cut}", answer.thought


def said_of_each(readings: Sequence[Reading]) -> Iterator[str]:
    """A sentence for each way that asks of each response: its mean over the orders."""
    for way, what, value, words in (
        (Way.ABSOLUTE, "how likely it is good", _good, percent),
        (Way.GRADED, "mean grade, 1 to 5", mean_grade, "{:.2f}".format),
    ):
        own = [_by_response(reading) for reading in readings if reading.way is way and reading.answers]
        if own:
            a, b = (fmean(value(pair[place]) for pair in own) for place in (0, 1))
            orders = ", in both orders together" if len(own) > 1 else ""
            yield f"{way.capitalize()}, {what}: A {words(a)}, B {words(b)}{orders}."


def _labels_alone(readings: Sequence[Reading]) -> Iterator[str]:
    """A sentence for each judge of a panel that gave a label and was not read."""
    for reading in readings:
        if reading.label_alone:
            shares = own_shares(reading)
            label = max(shares, key=shares.__getitem__)
            yield (
                f"Judge {reading.judge}, a submission, gives a label alone: {LABEL_WORDS[label]}; it is taken"
                f" to be {percent(shares[label])} sure."
            )


def _said_by(reading: Reading) -> str:
    """`letters`; in a panel `judge 2, letters`."""
    return f"judge {reading.judge}, {reading.way}" if reading.judge else reading.way.value


def _by_response(reading: Reading) -> tuple[RawAnswer, RawAnswer]:
    """What was said of the item's own A, and of its B: the model calls A what it sees first."""
    first, second = reading.answers
    return (first, second) if reading.order is Order.AB else (second, first)


def _good(answer: RawAnswer) -> float:
    return math.exp(among(answer)[_YES])
