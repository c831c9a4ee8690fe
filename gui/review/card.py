"""What the model said of a judgment in each order and by each elicitation method, as bars of probabilities;
reasoning to be read. It stands below the head of the judgment's card, scrolled.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from statistics import fmean

from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QRectF, QSize, Qt, QTimer, Slot
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QBoxLayout, QScrollArea, QSizePolicy, QWidget

from engine.core.formatting import percent
from engine.core.items import PREFERENCES, Method, Order, Preference
from engine.core.judgments import AnswerLogProbs, Judgment, RawPrediction
from engine.core.methods import among, mean_grade, raw_prediction_of, together
from gui.widgets.fields import Fold
from gui.widgets.foreign_text import plain_label, set_tip
from gui.widgets.label_mark import LABEL_WORDS, ProbabilityBars, paint_share
from gui.widgets.labels import STRETCH, Painted, as_column, heading, hint, in_column, in_row, name, show_text
from gui.widgets.text_views import TextPane
from gui.widgets.theme import colours

ORDER_NAMES = {Order.AB: "A shown first", Order.BA: "B shown first"}
_UNREAD = "not used"
_OF_ALL = "all methods"
_GAP = 8
_LEAST_LINES, _MOST_LINES = 2, 6  # of a reasoning sample, before it is scrolled
_YES = 0


def own_shares(reading: RawPrediction) -> dict[Preference, float]:
    """The probabilities (summing to 1) of the four labels of the item's own A and B, by label."""
    highest = max(reading.log_probs)
    weights = [math.exp(value - highest) for value in reading.log_probs]
    seen = {label: weight / sum(weights) for label, weight in zip(PREFERENCES, weights, strict=True)}
    return seen if reading.order is Order.AB else {label: seen[label.swapped] for label in PREFERENCES}


def likeliest(shares: Mapping[Preference, float], between: str = " ") -> str:
    best = max(shares, key=shares.__getitem__)
    return f"{LABEL_WORDS[best]}{between}{percent(shares[best])}"


class OrderBars(Painted):
    def __init__(self) -> None:
        super().__init__()
        self._lines: list[tuple[str, dict[Preference, float], str]] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_raw_predictions(self, raw_predictions: Sequence[RawPrediction]) -> None:
        """Show these raw predictions, or none; of one order alone, that the other was not read."""
        read = {reading.order: reading for reading in raw_predictions}
        orders = sorted(Order, key=lambda order: order not in read) if read else []
        self.show_lines("Orders", {ORDER_NAMES[order]: read.get(order) for order in orders})

    def show_lines(self, what: str, lines: Mapping[str, RawPrediction | None]) -> None:
        self._lines, texts = [], []
        for caption, reading in lines.items():
            shares = own_shares(reading) if reading is not None else {}
            self._lines.append((caption, shares, likeliest(shares) if shares else _UNREAD))
            said = (f"{LABEL_WORDS[label]} {percent(share)}" for label, share in shares.items())
            texts.append(f"{caption}: {', '.join(said) or _UNREAD}")
        text = "\n".join(texts)
        self.setAccessibleName(f"{what}: {text or 'none'}")
        set_tip(self, text)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(220, len(self._lines) * self._line())

    def minimumSizeHint(self) -> QSize:
        first, last = self._widths()
        return QSize(first + last + 2 * _GAP + 40, self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, used = QPainter(self), colours(self.palette())
        (first, last), line = self._widths(), self._line()
        room = max(10, self.width() - first - last - 2 * _GAP)
        centred = int(Qt.AlignmentFlag.AlignVCenter)
        for row, (caption, shares, best) in enumerate(self._lines):
            painter.setPen(QColor(used.muted))
            painter.drawText(QRectF(0, row * line, first, line), centred, caption)
            left = float(first + _GAP)
            for label, share in shares.items():
                place = QRectF(left, row * line + line * 0.22, room * share, line * 0.56)
                paint_share(painter, place, label, self.palette())
                left += room * share
            painter.setPen(self.palette().text().color() if shares else QColor(used.muted))
            right = QRectF(self.width() - last, row * line, last, line)
            painter.drawText(right, centred | int(Qt.AlignmentFlag.AlignRight), best)
        painter.end()

    def _line(self) -> int:
        return self.fontMetrics().height() + 3

    def _widths(self) -> tuple[int, int]:
        width = self.fontMetrics().horizontalAdvance
        names, _, bests = zip(*self._lines, strict=True) if self._lines else ([""], [], [""])
        return max(map(width, names)), max(map(width, bests))


class OrdersView(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._columns = []
        for _ in range(3):
            title, words, bars = heading(""), hint(""), ProbabilityBars()
            column = as_column(title, bars, words, STRETCH, spacing=3)
            self._columns.append((column, title, words, bars))
        in_row(*((column, 1) for column, *_ in self._columns), on=self, spacing=24)

    def show_raw_predictions(
        self, raw_predictions: Sequence[RawPrediction], together: Sequence[float], panel: bool = False
    ) -> None:
        shown = [(ORDER_NAMES[reading.order], own_shares(reading)) for reading in raw_predictions]
        if together:
            of_orders = "Both orders" if len(raw_predictions) > 1 else "Only this order was used"
            shares = dict(zip(PREFERENCES, together, strict=True))
            shown.append(("All judges" if panel else of_orders, shares))
        for number, (column, title, words, bars) in enumerate(self._columns):
            column.setVisible(number < len(shown))
            text, shares = shown[number] if number < len(shown) else ("", {})
            title.setText(text)
            words.setText(f"Likeliest: {likeliest(shares, ', ')}" if shares else "")
            bars.show_probabilities(tuple(shares.values()))

    @property
    def titles(self) -> Sequence[str]:
        return [title.text() for column, title, _, _ in self._columns if not column.isHidden()]


class MethodsView(QWidget):
    """A column for each order, with a bar for each method; in words what these leave out; reasoning."""

    def __init__(self) -> None:
        super().__init__()
        self.of_jury = False  # whether these are judges of a jury, and their methods
        self.bars = {order: OrderBars() for order in Order}
        self._columns = {
            order: as_column(hint(ORDER_NAMES[order]), bars, spacing=2) for order, bars in self.bars.items()
        }
        self._beside = in_row(*((column, 1) for column in self._columns.values()), spacing=24)
        self.title, self.words = heading(""), plain_label()
        self.reasoning_samples = ReasoningView()
        parts = (self.title, self._beside, self.words, self.reasoning_samples)
        in_column(*parts, on=self, margins=(0, 4, 0, 0), spacing=4)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.hide()

    @property
    def default_height(self) -> int:
        samples, height = self.reasoning_samples, self.sizeHint().height()
        inside = samples.sizeHint().height() - samples.fold.button_height
        return height if samples.isHidden() else height - inside

    def show_raw_predictions(self, raw_predictions: Sequence[RawPrediction]) -> None:
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
        said = []
        for order, bars in self.bars.items():
            own = {_said_by(reading): reading for reading in read if reading.order is order}
            of_all = {_OF_ALL: both[order]} if order in both else {}
            bars.show_lines(ORDER_NAMES[order], of_all | {each: own.get(each) for each in named})
            shown = (several or panel) and bool(own)
            self._columns[order].setVisible(shown)
            said += [bars.accessibleName()] if shown else []
        title = f"Raw predictions by {'judge' if panel else 'elicitation method'}"
        self.title.setText(title)
        self.setAccessibleName(title)
        self.setAccessibleDescription(f"{'; '.join(said)}; {words}".replace("\n", ", "))

    def set_narrow(self, narrow: bool) -> None:
        direction = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        self._beside.setDirection(direction)


class ReasoningView(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._reasoning_samples: Sequence[tuple[Order, AnswerLogProbs]] = ()
        self._shown: Sequence[tuple[Order, AnswerLogProbs]] = ()
        self._column = QWidget()
        self._inside = in_column(on=self._column, margins=(18, 0, 0, 0), spacing=8)
        self.fold = Fold("", self._column)
        self.fold.opened.connect(self._fill)
        in_column(self.fold, on=self)

    @property
    def panes(self) -> Sequence[TextPane]:
        return [] if self._column.isHidden() else self._column.findChildren(TextPane)

    def show_raw_predictions(self, raw_predictions: Sequence[RawPrediction]) -> None:
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
        if self._shown == self._reasoning_samples:
            return
        self._shown = self._reasoning_samples
        for pane in self._column.findChildren(TextPane):
            pane.setParent(None)  # now, else it would be counted among the new ones
            pane.deleteLater()
        for order in Order:
            own = [answer for shown_first, answer in self._reasoning_samples if shown_first is order]
            for number, answer in enumerate(own, start=1):
                said = likeliest(own_shares(raw_prediction_of(Method.CHAIN_OF_THOUGHT, order, [answer])))
                cut = "; cut at the length limit" if answer.cut else ""
                pane = TextPane(f"{ORDER_NAMES[order]}, reasoning sample {number} of {len(own)}")
                pane.show_text(answer.thought or "(nothing was written)", f"then answers {said}{cut}")
                lines = min(_MOST_LINES, max(_LEAST_LINES, 1 + len(answer.thought) // 60))
                pane.view.setFixedHeight(pane.view.fontMetrics().lineSpacing() * lines + 20)
                self._inside.addWidget(pane)


def said_of_each(raw_predictions: Sequence[RawPrediction]) -> Iterator[str]:
    """A sentence for each method that asks of each response: its mean over the orders."""
    yes, grade = (lambda answer: math.exp(among(answer)[_YES])), "mean grade, 1 to 5"
    for method, what, value, words in (
        (Method.POINTWISE_YES_NO, "probability of “yes”", yes, percent),
        (Method.POINTWISE_GRADE, grade, mean_grade, "{:.2f}".format),
    ):
        # Of the item's own A, and of its B: the model calls A what it sees first.
        own = [
            reading.answers if reading.order is Order.AB else reading.answers[::-1]
            for reading in raw_predictions
            if reading.method is method and reading.answers
        ]
        if own:
            a, b = (fmean(value(pair[place]) for pair in own) for place in (0, 1))
            orders = ", mean of both orders" if len(own) > 1 else ""
            yield f"{method.title.capitalize()}, {what}: A {words(a)}, B {words(b)}{orders}."


def _labels_alone(raw_predictions: Sequence[RawPrediction]) -> Iterator[str]:
    for reading in raw_predictions:
        if reading.label_alone:
            shares = own_shares(reading)
            label = max(shares, key=shares.__getitem__)
            yield (
                f"Judge {reading.judge}, a submission, has only a label: {LABEL_WORDS[label]}; its"
                f" assumed confidence is {percent(shares[label])}."
            )


def _said_by(reading: RawPrediction) -> str:
    return f"judge {reading.judge}, {reading.method.title}" if reading.judge else reading.method.title


class CardBody(QScrollArea):
    def __init__(self, columns: QBoxLayout) -> None:
        super().__init__()
        self.large = OrdersView()
        self.large.hide()
        self.methods = MethodsView()
        inside = as_column(self.large, (columns, STRETCH), self.methods, role="content")
        self.setWidgetResizable(True)
        self.setWidget(inside)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        name(self, "The judgment in full: Up and Down scroll")
        samples = self.methods.reasoning_samples
        samples.fold.opened.connect(lambda: self._scroll_to(samples))

    def sizeHint(self) -> QSize:
        methods = 0 if self.methods.isHidden() else self.methods.default_height
        return QSize(super().sizeHint().width(), 6 * (self.fontMetrics().height() + 3) + 8 + methods)

    def minimumSizeHint(self) -> QSize:
        return QSize(100, 2 * self.fontMetrics().lineSpacing())

    def show_scored(self, scored: Judgment | None) -> None:
        raw_predictions = scored.raw_predictions if scored else ()
        panel = any(reading.judge for reading in raw_predictions)
        shares = scored.probabilities if scored else ()
        self.large.show_raw_predictions(together(raw_predictions), shares, panel)
        self.methods.show_raw_predictions(raw_predictions)
        self.updateGeometry()  # what is in it does not tell

    def to_top(self) -> None:
        self.verticalScrollBar().setValue(0)

    @property
    def at_methods(self) -> bool:
        focused = self.window().focusWidget()
        return self.methods.hasFocus() or (focused is not None and self.methods.isAncestorOf(focused))

    def go_to_methods(self) -> None:
        self.methods.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._scroll_to(self.methods)

    def _scroll_to(self, part: QWidget) -> None:
        QTimer.singleShot(0, part, partial(self._scroll, part))  # once it is known what is shown

    def _scroll(self, part: QWidget) -> None:
        inside = self.widget()
        if inside is not None:
            # Layouts within layouts take their time: its place is wanted now.
            for widget in (*reversed(inside.findChildren(QWidget)), inside):
                layout = widget.layout()
                if layout is not None:
                    layout.activate()
            QCoreApplication.sendEvent(self, QEvent(QEvent.Type.LayoutRequest))
            self.verticalScrollBar().setValue(part.mapTo(inside, QPoint(0, 0)).y())
