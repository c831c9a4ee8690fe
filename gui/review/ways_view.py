"""Raw predictions of a judgment by elicitation method, and of all methods together; reasoning to be read.

Knows: raw predictions of several methods, how they are laid out. Does not know: decisions, how a method asks.
"""

import math
from collections.abc import Iterator, Sequence
from statistics import fmean

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtWidgets import QBoxLayout, QWidget

from engine.core.formatting import percent
from engine.core.items import Method, Order
from engine.core.judgments import AnswerLogProbs, RawPrediction
from engine.core.ways.all_ways import raw_prediction_of, together
from engine.core.ways.graded import mean_grade
from engine.core.ways.question import among
from gui.kit.fold import Fold
from gui.kit.foreign_text import plain_label
from gui.kit.label_mark import LABEL_WORDS
from gui.kit.labels import heading, hint, show_text
from gui.kit.layouts import as_column, in_column
from gui.reading.text_pane import TextPane
from gui.review.order_bars import ORDER_NAMES, OrderBars, likeliest, own_shares

_TOGETHER = "all methods"
_BY_METHOD, _BY_JUDGE = "Raw predictions by elicitation method", "Raw predictions by judge"
_LEAST_LINES, _MOST_LINES = 2, 6  # of a reasoning sample, before it is scrolled
_NONE = "(nothing was written)"
_YES = 0


class MethodsView(QWidget):
    """A column for each order, with a bar for each method; in words what is said of each response, and labels
    of a jury that has no raw predictions; reasoning.

    Hidden where one way was asked that the bars of the orders show whole.
    """

    def __init__(self) -> None:
        super().__init__()
        self.of_jury = False  # whether these are judges of a jury, and their methods
        self.bars = {order: OrderBars() for order in Order}
        self._columns: dict[Order, QWidget] = {}
        self._beside = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._beside.setSpacing(24)
        for order, bars in self.bars.items():
            column = as_column(hint(ORDER_NAMES[order]), bars, spacing=2)
            self._beside.addWidget(column, 1)
            self._columns[order] = column
        self.title = heading(_BY_METHOD)
        self.words = plain_label()
        self.reasoning_samples = ReasoningView()
        in_column(
            self.title,
            self._beside,
            self.words,
            self.reasoning_samples,
            on=self,
            margins=(0, 4, 0, 0),
            spacing=4,
        )
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.hide()

    @property
    def default_height(self) -> int:
        """Without reasoning that is open."""
        hint_size: QSize = self.sizeHint()
        inside = self.reasoning_samples.sizeHint().height() - self.reasoning_samples.fold.button_height
        return hint_size.height() - (inside if not self.reasoning_samples.isHidden() else 0)

    def show_raw_predictions(self, raw_predictions: Sequence[RawPrediction]) -> None:
        """Show what these say, or nothing where there are letters alone."""
        read = [reading for reading in raw_predictions if not reading.label_alone]
        reasons = any(reading.method is Method.CHAIN_OF_THOUGHT for reading in read)
        panel = self.of_jury = any(reading.judge for reading in raw_predictions)
        named = tuple(dict.fromkeys(map(_said_by, read)))
        words = "\n".join((*said_of_each(read), *_labels_alone(raw_predictions)))
        show_text(self.words, words)
        self.reasoning_samples.show_raw_predictions(raw_predictions)
        several = len(named) > 1
        self.setVisible(several or bool(words) or reasons)
        both = {reading.order: reading for reading in together(read)} if several else {}
        for order, bars in self.bars.items():
            own = {_said_by(reading): reading for reading in read if reading.order is order}
            lines: list[tuple[str, RawPrediction | None]] = (
                [(_TOGETHER, both[order])] if order in both else []
            )
            bars.show_lines(ORDER_NAMES[order], [*lines, *((each, own.get(each)) for each in named)])
            self._columns[order].setVisible((several or panel) and bool(own))
        shown = (bars for order, bars in self.bars.items() if not self._columns[order].isHidden())
        said = "; ".join(bars.accessibleName() for bars in shown)
        title = _BY_JUDGE if panel else _BY_METHOD
        self.title.setText(title)
        self.setAccessibleName(title)
        self.setAccessibleDescription(f"{said}; {words}".replace("\n", ", "))

    def set_narrow(self, narrow: bool) -> None:
        """Put the orders one below the other, or side by side."""
        direction = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        self._beside.setDirection(direction)


class ReasoningView(QWidget):
    """What the model wrote before its answers: a line that opens all samples, with the answer after each."""

    def __init__(self) -> None:
        super().__init__()
        self._reasoning_samples: Sequence[tuple[Order, AnswerLogProbs]] = ()
        self._shown: Sequence[tuple[Order, AnswerLogProbs]] = ()
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

    def show_raw_predictions(self, raw_predictions: Sequence[RawPrediction]) -> None:
        """Show the reasoning of these; hidden where there are none."""
        self._reasoning_samples = tuple(
            (reading.order, answer)
            for reading in raw_predictions
            if reading.method is Method.CHAIN_OF_THOUGHT
            for answer in reading.answers
        )
        cut = sum(answer.cut for _, answer in self._reasoning_samples)
        at_limit = f", {cut} cut at the length limit" if cut else ""
        self.fold.set_title(f"Reasoning ({len(self._reasoning_samples)}{at_limit})")
        self.setVisible(bool(self._reasoning_samples))
        if self.fold.open:
            self._fill()

    @Slot()
    def _fill(self) -> None:
        """Make the panes that are to be read, once they are wanted."""
        if self._shown == self._reasoning_samples:
            return
        self._shown = self._reasoning_samples
        for pane in self._column.findChildren(TextPane):
            self._inside.removeWidget(pane)
            pane.setParent(None)
            pane.deleteLater()
        for title, note, text in _told(self._reasoning_samples):
            pane = TextPane(title)
            pane.show_text(text or _NONE, note)
            line = pane.view.fontMetrics().lineSpacing()
            pane.view.setFixedHeight(line * min(_MOST_LINES, max(_LEAST_LINES, 1 + len(text) // 60)) + 20)
            self._inside.addWidget(pane)


def _told(reasoning_samples: Sequence[tuple[Order, AnswerLogProbs]]) -> Iterator[tuple[str, str, str]]:
    """Which sample it is, the answer after it, its text."""
    for order in Order:
        own = [answer for shown_first, answer in reasoning_samples if shown_first is order]
        for number, answer in enumerate(own, start=1):
            said = likeliest(own_shares(raw_prediction_of(Method.CHAIN_OF_THOUGHT, order, [answer])))
            cut = "; cut at the length limit" if answer.cut else ""
            title = f"{ORDER_NAMES[order]}, reasoning sample {number} of {len(own)}"
            yield title, f"then answers {said}{cut}", answer.thought


def said_of_each(raw_predictions: Sequence[RawPrediction]) -> Iterator[str]:
    """A sentence for each method that asks of each response: its mean over the orders."""
    for method, what, value, words in (
        (Method.POINTWISE_YES_NO, "probability of “yes”", _good, percent),
        (Method.POINTWISE_GRADE, "mean grade, 1 to 5", mean_grade, "{:.2f}".format),
    ):
        own = [
            _by_response(reading)
            for reading in raw_predictions
            if reading.method is method and reading.answers
        ]
        if own:
            a, b = (fmean(value(pair[place]) for pair in own) for place in (0, 1))
            orders = ", mean of both orders" if len(own) > 1 else ""
            yield f"{method.title.capitalize()}, {what}: A {words(a)}, B {words(b)}{orders}."


def _labels_alone(raw_predictions: Sequence[RawPrediction]) -> Iterator[str]:
    """A sentence for each judge of a jury that has a label without raw predictions."""
    for reading in raw_predictions:
        if reading.label_alone:
            shares = own_shares(reading)
            label = max(shares, key=shares.__getitem__)
            yield (
                f"Judge {reading.judge}, a submission, has only a label: {LABEL_WORDS[label]}; its"
                f" assumed confidence is {percent(shares[label])}."
            )


def _said_by(reading: RawPrediction) -> str:
    """`label tokens`; in a jury `judge 2, label tokens`."""
    return f"judge {reading.judge}, {reading.method.title}" if reading.judge else reading.method.title


def _by_response(reading: RawPrediction) -> tuple[AnswerLogProbs, AnswerLogProbs]:
    """What was said of the item's own A, and of its B: the model calls A what it sees first."""
    first, second = reading.answers
    return (first, second) if reading.order is Order.AB else (second, first)


def _good(answer: AnswerLogProbs) -> float:
    return math.exp(among(answer)[_YES])
