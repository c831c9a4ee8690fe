"""The weighted decisions painted: who wins how often, and by which margins; a click asks for items."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy

from engine.core.formatting import interval, number, percent
from engine.core.items import HumanLabel, Preference, Tie
from gui.results.weighted_scoring_jobs import HIGHEST_MARGIN, MARGIN_BINS, Share, WeightedResult
from gui.widgets.label_mark import paint_share
from gui.widgets.labels import Painted
from gui.widgets.theme import Colours, colours

_PATTERNS = {
    Preference.A: Qt.BrushStyle.NoBrush,
    Tie.TIE: Qt.BrushStyle.Dense6Pattern,
    Preference.B: Qt.BrushStyle.BDiagPattern,
}
_TICKS = (0.0, 2.5, 5.0, 7.5, 10.0)
_BIN = HIGHEST_MARGIN / MARGIN_BINS  # points


def _across(place: QRectF, margin: float) -> float:
    return place.left() + place.width() * margin / HIGHEST_MARGIN


def _paint_part(painter: QPainter, place: QRectF, winner: HumanLabel, used: Colours) -> None:
    """A part of a bar: of B striped, of ties dotted, for those who do not tell the colours apart."""
    painter.fillRect(place, QColor(used.of_label(winner)))
    painter.fillRect(place, QBrush(QColor(used.panel), _PATTERNS[winner]))


class WinBars(Painted):
    """One bar cut by the shares of A, tie and B, with the numbers and their 95 % intervals above it."""

    wanted = Signal(str)  # the winner whose items are asked for: `A`, `tie` or `B`

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.show_weighed(None)

    def show_weighed(self, weighed: WeightedResult | None) -> None:
        self._weighed = weighed
        shares = [
            f"{word} {percent(share)}{f' ({interval(ends, 100)})' if ends else ''}"
            for word, (share, ends), _ in self._parts()
        ]
        self.setAccessibleName(f"Win rates: {', '.join(shares) or 'none'}")
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(240, 2 * self._line() + max(14, self._line()))

    def minimumSizeHint(self) -> QSize:
        width = self.fontMetrics().horizontalAdvance("A wins 100.0 %   tie 100.0 %   B wins 100.0 %")
        return QSize(width, self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        used = colours(self.palette())
        line = self._line()
        bar = QRectF(0, 2 * line, self.width(), self.height() - 2 * line)
        painter.fillRect(bar, QColor(used.hover))
        left = 0.0
        aligned = (Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignHCenter, Qt.AlignmentFlag.AlignRight)
        for (word, (share, ends), winner), side in zip(self._parts(), aligned, strict=False):
            width = self.width() * share
            if share:
                paint_share(painter, QRectF(left, bar.top(), width, bar.height()), winner, self.palette())
            left += width
            above = int(side | Qt.AlignmentFlag.AlignTop)
            painter.setPen(self.palette().windowText().color())
            painter.drawText(QRectF(0, 0, self.width(), line), above, f"{word} {percent(share)}")
            painter.setPen(QColor(used.muted))
            painter.drawText(QRectF(0, line, self.width(), line), above, interval(ends, 100) if ends else "")
        painter.end()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        x = event.position().x() / max(1, self.width())
        for _word, (share, _ends), winner in self._parts():
            if 0 <= x < share:
                self.wanted.emit(winner.value)
                return
            x -= share

    def _parts(self) -> list[tuple[str, Share, HumanLabel]]:
        rates = self._weighed
        if rates is None:
            return []
        tie = ("tie", rates.tie, Tie.TIE)
        return [("A wins", rates.a, Preference.A), tie, ("B wins", rates.b, Preference.B)]

    def _line(self) -> int:
        return self.fontMetrics().height() + 3


class MarginChart(Painted):
    """A histogram of the margins in score points, by winner, and the tie threshold."""

    wanted = Signal(float, float)  # margins between which items are asked for

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        self.show_weighed(None)

    def show_weighed(self, weighed: WeightedResult | None) -> None:
        self._weighed = weighed
        self._bins = weighed.bins if weighed else ()
        text = ""
        if weighed:
            counts = [f"{count:,} from {low:g}" for low, _, count in self.bars()]
            text = f": mean {number(weighed.mean_margin)} points; comparisons by margin: {', '.join(counts)}"
        self.setAccessibleName(f"Margins{text}")
        self.update()

    def bars(self) -> list[tuple[float, float, int]]:
        ends = ((place * _BIN, (place + 1) * _BIN, sum(each)) for place, each in enumerate(self._bins))
        return [bar for bar in ends if bar[2]]

    def sizeHint(self) -> QSize:
        return QSize(320, 13 * self.fontMetrics().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(200, 8 * self.fontMetrics().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        used = colours(self.palette())
        place = self._place()
        highest = max(map(sum, self._bins), default=0)
        self._draw_axes(painter, place, used, highest)
        self._draw_bars(painter, place, used, highest)
        if self._weighed:
            self._draw_threshold(painter, place, used, self._weighed.request.tie_threshold)
        painter.end()

    def _place(self) -> QRectF:
        side, line = self.fontMetrics().horizontalAdvance("00,000") + 6, self.fontMetrics().height()
        return QRectF(side, line, self.width() - side - 12, self.height() - 4.8 * line)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Ask for the items of a bar, wherever above it the click is."""
        place = self._place()
        number_of_bin = int((event.position().x() - place.left()) * MARGIN_BINS / max(1.0, place.width()))
        there = place.contains(event.position()) and number_of_bin < len(self._bins)
        if there and any(self._bins[number_of_bin]):
            self.wanted.emit(number_of_bin * _BIN, (number_of_bin + 1) * _BIN)

    def _draw_axes(self, painter: QPainter, place: QRectF, used: Colours, highest: int) -> None:
        height, middle = self.fontMetrics().height(), int(Qt.AlignmentFlag.AlignHCenter)
        painter.setPen(QColor(used.border))
        painter.drawLine(place.bottomLeft(), place.bottomRight())
        painter.setPen(QColor(used.muted))
        for value in _TICKS:
            room = QRectF(_across(place, value) - 40, place.bottom() + 3, 80, height)
            painter.drawText(room, middle, f"{value:g}")
        below = QRectF(place.left(), place.bottom() + height + 3, place.width(), height)
        painter.drawText(below, middle, "margin (score points)")
        self._draw_legend(painter, below.translated(0, 1.3 * height), used)
        right = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if highest:
            top = QRectF(0, place.top() - height / 2, place.left() - 6, height)
            painter.drawText(top, right, f"{highest:,}")
        painter.drawText(QRectF(0, place.bottom() - height / 2, place.left() - 6, height), right, "0")

    def _draw_legend(self, painter: QPainter, line: QRectF, used: Colours) -> None:
        left, side = line.left(), 0.8 * line.height()
        for winner, word in ((Tie.TIE, "tie"), (Preference.A, "A wins"), (Preference.B, "B wins")):
            _paint_part(painter, QRectF(left, line.top() + 0.1 * line.height(), 2 * side, side), winner, used)
            left += 2.5 * side
            painter.drawText(QRectF(left, line.top(), line.right() - left, line.height()), word)
            left += self.fontMetrics().horizontalAdvance(word) + 2 * side

    def _draw_bars(self, painter: QPainter, place: QRectF, used: Colours, highest: int) -> None:
        width = place.width() / MARGIN_BINS
        for number_of_bin, (a, b, tie) in enumerate(self._bins):
            bottom = place.bottom()
            for count, winner in ((tie, Tie.TIE), (a, Preference.A), (b, Preference.B)):
                if count:
                    height = place.height() * count / highest
                    left = place.left() + number_of_bin * width
                    _paint_part(painter, QRectF(left + 1, bottom - height, width - 2, height), winner, used)
                    bottom -= height

    def _draw_threshold(self, painter: QPainter, place: QRectF, used: Colours, threshold: float) -> None:
        x = _across(place, min(threshold, HIGHEST_MARGIN))
        painter.setPen(QPen(QColor(used.warning), 2, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(x, place.top()), QPointF(x, place.bottom()))
        painter.setPen(QColor(used.warning))
        height = self.fontMetrics().height()
        room, side = (
            QRectF(x + 6, place.top() - height, place.right() - x, height),
            Qt.AlignmentFlag.AlignLeft,
        )
        if threshold > 0.7 * HIGHEST_MARGIN:
            room.setCoords(place.left(), room.top(), x - 6, room.bottom())
            side = Qt.AlignmentFlag.AlignRight
        painter.drawText(room, int(side), f"tie up to {threshold:g}")
