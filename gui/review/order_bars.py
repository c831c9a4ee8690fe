"""What the model said in each order, or in each elicitation method: bars of the probabilities of the labels.

Knows: raw predictions, painting. Does not know: how raw predictions become a judgment.
"""

import math
from collections.abc import Mapping, Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from engine.core.formatting import percent
from engine.core.items import PREFERENCES, Order, Preference
from engine.core.judgments import RawPrediction
from gui.kit.bars import ProbabilityBars
from gui.kit.foreign_text import set_tip
from gui.kit.label_mark import LABEL_WORDS, paint_share
from gui.kit.labels import heading, hint
from gui.kit.layouts import STRETCH, in_column, in_row
from gui.kit.painted import Painted
from gui.kit.theme import colours

ORDER_NAMES = {Order.AB: "A shown first", Order.BA: "B shown first"}
_TOGETHER = "Both orders"
_FROM_ONE = "Only this order was used"
_BY_JURY = "All judges"
_UNREAD = "not used"
_GAP = 8


def own_shares(reading: RawPrediction) -> dict[Preference, float]:
    """The probabilities (summing to 1) of the four labels of the item's own A and B, by label."""
    highest = max(reading.log_probs)
    weights = [math.exp(value - highest) for value in reading.log_probs]
    seen = {label: weight / sum(weights) for label, weight in zip(PREFERENCES, weights, strict=True)}
    return seen if reading.order is Order.AB else {label: seen[label.swapped] for label in PREFERENCES}


def likeliest(shares: Mapping[Preference, float]) -> str:
    """The likeliest label and its share: `both good 61.0 %`."""
    best = max(shares, key=shares.__getitem__)
    return f"{LABEL_WORDS[best]} {percent(shares[best])}"


class OrderBars(Painted):
    """A line for each order, or whatever else was read: which it is, a bar, and its likeliest label."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[tuple[str, dict[Preference, float] | None, str]] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_raw_predictions(self, raw_predictions: Sequence[RawPrediction]) -> None:
        """Show these raw predictions, or none; of one order alone, that the other was not read."""
        unread = (
            set(Order).difference(reading.order for reading in raw_predictions) if raw_predictions else set()
        )
        lines: list[tuple[str, RawPrediction | None]] = [
            (ORDER_NAMES[reading.order], reading) for reading in raw_predictions
        ]
        self.show_lines("Orders", [*lines, *((ORDER_NAMES[order], None) for order in unread)])

    def show_lines(self, what: str, lines: Sequence[tuple[str, RawPrediction | None]]) -> None:
        """Show a reading for each name, None for one that was not made; `what` they are together."""
        self._lines = []
        for name, reading in lines:
            shares = own_shares(reading) if reading is not None else None
            self._lines.append((name, shares, likeliest(shares) if shares is not None else _UNREAD))
        text = "\n".join(f"{name}: {_all(shares)}" for name, shares, _ in self._lines)
        self.setAccessibleName(f"{what}: {text or 'none'}")
        set_tip(self, text)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """A line of text for each."""
        return QSize(220, len(self._lines) * self._line())

    def minimumSizeHint(self) -> QSize:
        """The words, and some bar between them."""
        first, last = self._widths()
        return QSize(first + last + 2 * _GAP + 40, self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the lines."""
        painter = QPainter(self)
        used = colours(self.palette())
        first, last = self._widths()
        line = self._line()
        room = max(10, self.width() - first - last - 2 * _GAP)
        centred = int(Qt.AlignmentFlag.AlignVCenter)
        for row, (name, shares, best) in enumerate(self._lines):
            painter.setPen(QColor(used.muted))
            painter.drawText(QRectF(0, row * line, first, line), centred, name)
            left = float(first + _GAP)
            for label, share in (shares or {}).items():
                place = QRectF(left, row * line + line * 0.22, room * share, line * 0.56)
                paint_share(painter, place, label, self.palette())
                left += room * share
            painter.setPen(self.palette().text().color() if shares else QColor(used.muted))
            painter.drawText(
                QRectF(self.width() - last, row * line, last, line),
                centred | int(Qt.AlignmentFlag.AlignRight),
                best,
            )
        painter.end()

    def _line(self) -> int:
        return self.fontMetrics().height() + 3

    def _widths(self) -> tuple[int, int]:
        metrics = self.fontMetrics()
        names = [name for name, _, _ in self._lines] or [""]
        widest = max((metrics.horizontalAdvance(best) for _, _, best in self._lines), default=0)
        return max(map(metrics.horizontalAdvance, names)), widest


def _all(shares: dict[Preference, float] | None) -> str:
    if shares is None:
        return _UNREAD
    return ", ".join(f"{LABEL_WORDS[label]} {percent(share)}" for label, share in shares.items())


class OrdersView(QWidget):
    """The bars large: up to three columns, for each order that was read and for both together."""

    def __init__(self) -> None:
        super().__init__()
        layout = in_row(on=self, spacing=24)
        self._columns = []
        for _ in range(3):
            column, title, words, bars = QWidget(), heading(""), hint(""), ProbabilityBars()
            in_column(title, bars, words, STRETCH, on=column, spacing=3)
            layout.addWidget(column, 1)
            self._columns.append((column, title, words, bars))

    def show_raw_predictions(
        self, raw_predictions: Sequence[RawPrediction], together: Sequence[float], panel: bool = False
    ) -> None:
        """Show what these raw predictions say of the item's own A and B, and the probabilities of the
        judgment; in a `panel` more than what was read may be in these.
        """
        shown = [
            (ORDER_NAMES[reading.order], tuple(own_shares(reading).values())) for reading in raw_predictions
        ]
        if together:
            of_orders = _TOGETHER if len(raw_predictions) > 1 else _FROM_ONE
            shown.append((_BY_JURY if panel else of_orders, tuple(together)))
        for number, (column, title, words, bars) in enumerate(self._columns):
            column.setVisible(number < len(shown))
            text, shares = shown[number] if number < len(shown) else ("", ())
            title.setText(text)
            words.setText(_best(shares))
            bars.show_probabilities(shares)

    @property
    def titles(self) -> Sequence[str]:
        """What the columns that are shown say, from the left."""
        return [title.text() for column, title, _, _ in self._columns if not column.isHidden()]


def _best(shares: Sequence[float]) -> str:
    if not shares:
        return ""
    label = PREFERENCES[shares.index(max(shares))]
    return f"Likeliest: {LABEL_WORDS[label]}, {percent(max(shares))}"
