"""Small bars: how often each label occurs, and how likely each is.

A label as users see it: in words, as a letter, as a small coloured square with that letter.

The letters are those of the keys: A, B, G for both good, X for both bad; a dash for unscored, = for a tie
that is not specified further.
"""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QIcon, QPainter, QPaintEvent, QPalette, QPixmap
from PySide6.QtWidgets import QSizePolicy, QWidget

from engine.core.formatting import percent
from engine.core.items import PREFERENCES, HumanLabel, Preference, Tie, labels_beside
from gui.widgets.foreign_text import set_tip
from gui.widgets.labels import STRETCH, Painted, in_row, label
from gui.widgets.theme import colours

LABEL_WORDS: Mapping[HumanLabel | None, str] = {
    Preference.A: "A",
    Preference.B: "B",
    Preference.BOTH_GOOD: "both good",
    Preference.BOTH_BAD: "both bad",
    Tie.TIE: "tie",
    None: "unscored",
}
LETTERS: Mapping[HumanLabel | None, str] = {
    Preference.A: "A",
    Preference.B: "B",
    Preference.BOTH_GOOD: "G",
    Preference.BOTH_BAD: "X",
    Tie.TIE: "=",
    None: "–",
}

_ICON_SIDE = 48  # pixels that an icon is drawn with; Qt makes it smaller


def paint_label(painter: QPainter, place: QRectF, which: HumanLabel | None, palette: QPalette) -> None:
    """Draw the square of a label."""
    used = colours(palette)
    ground = used.of_label(which)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(ground))
    painter.drawRoundedRect(place, place.height() / 5, place.height() / 5)
    font = painter.font()
    font.setBold(True)
    font.setPixelSize(max(6, int(place.height() * 0.72)))
    painter.setFont(font)
    painter.setPen(QColor(used.ink_on(ground)))
    painter.drawText(place, int(Qt.AlignmentFlag.AlignCenter), LETTERS[which])
    painter.restore()


def paint_share(painter: QPainter, place: QRectF, which: HumanLabel | None, palette: QPalette) -> None:
    """Draw a label's part of a bar, with its letter where that fits, and a gap before the next part."""
    used = colours(palette)
    ground = used.of_label(which)
    part = place.adjusted(0, 0, -min(1.0, place.width() / 2), 0)
    painter.save()
    painter.fillRect(part, QColor(ground))
    font = painter.font()
    font.setBold(True)
    font.setPixelSize(max(8, int(place.height() * 0.9)))
    painter.setFont(font)
    painter.setPen(QColor(used.ink_on(ground)))
    if QFontMetricsF(font).horizontalAdvance(LETTERS[which]) < part.width():
        painter.drawText(part, int(Qt.AlignmentFlag.AlignCenter), LETTERS[which])
    painter.restore()


def label_icon(which: HumanLabel | None, palette: QPalette) -> QIcon:
    """The square as an icon."""
    pixmap = QPixmap(_ICON_SIDE, _ICON_SIDE)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    paint_label(painter, QRectF(1, 1, _ICON_SIDE - 2, _ICON_SIDE - 2), which, palette)
    painter.end()
    return QIcon(pixmap)


class LabelSquare(QWidget):
    """The square as a widget, as high as a line of its text."""

    def __init__(self, which: HumanLabel | None = None) -> None:
        super().__init__()
        self._which = which
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def show_label(self, which: HumanLabel | None) -> None:
        """Show another label."""
        self._which = which
        self.update()

    def sizeHint(self) -> QSize:
        """A line of text high."""
        side = self.fontMetrics().height() + 2
        return QSize(side, side)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw it."""
        painter = QPainter(self)
        paint_label(painter, QRectF(self.rect()).adjusted(1, 1, -1, -1), self._which, self.palette())
        painter.end()


class LabelBadge(QWidget):
    """The square and the words of a label; hidden until there is one to show."""

    def __init__(self, big: bool = False) -> None:
        super().__init__()
        self._square = LabelSquare()
        self._words = label("", "figure" if big else "heading", wrap=False)
        in_row(self._square, self._words, STRETCH, on=self, spacing=8)
        self.hide()

    @property
    def text(self) -> str:
        """The words that it shows."""
        return self._words.text()

    def show_label(self, which: HumanLabel | None) -> None:
        """Show a label, None where there is none."""
        self._square.show_label(which)
        self._words.setText(LABEL_WORDS[which].capitalize())
        self.setAccessibleName(self._words.text())
        self.show()


class ShareBar(Painted):
    """One bar cut by how often each label occurs; None counts what has no label, called `without`."""

    def __init__(self, name: str, without: str = "unscored") -> None:
        super().__init__()
        self._name = name
        self._words = {**LABEL_WORDS, None: without}
        self._counts: dict[HumanLabel | None, int] = {}
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_counts(self, counts: Mapping[HumanLabel | None, int]) -> None:
        """Show these counts."""
        self._counts = {label: counts.get(label, 0) for label in (*labels_beside(counts), None)}
        total = sum(self._counts.values()) or 1
        text = ", ".join(
            f"{self._words[label]} {count:,} ({percent(count / total)})"
            for label, count in self._counts.items()
            if count
        )
        self.setAccessibleName(f"{self._name}: {text or 'no labels'}")
        set_tip(self, f"{self._name}: {text or 'no labels'}")
        self.update()

    def sizeHint(self) -> QSize:
        """A line of text high."""
        return QSize(120, max(10, self.fontMetrics().ascent()))

    def minimumSizeHint(self) -> QSize:
        """Narrow, but never lower than a line."""
        return QSize(40, self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the parts side by side."""
        painter = QPainter(self)
        used = colours(self.palette())
        painter.fillRect(self.rect(), QColor(used.hover))
        total = sum(self._counts.values())
        left = 0.0
        for which, count in self._counts.items():
            if total and count:
                width = self.width() * count / total
                paint_share(painter, QRectF(left, 0, width, self.height()), which, self.palette())
                left += width
        painter.end()


class ProbabilityBars(Painted):
    """Four bars, one below the other, with the label and the probability of each."""

    def __init__(self) -> None:
        super().__init__()
        self._values: Sequence[float] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_probabilities(self, values: Sequence[float]) -> None:
        """Show four probabilities (0 to 1) in the order of PREFERENCES, or none."""
        self._values = tuple(values)
        text = ", ".join(
            f"{LABEL_WORDS[label]} {percent(value)}"
            for label, value in zip(PREFERENCES, self._values, strict=False)
        )
        self.setAccessibleName(f"Probabilities: {text or 'none'}")
        self.update()

    def sizeHint(self) -> QSize:
        """Four lines of text."""
        return QSize(220, 4 * self._line())

    def minimumSizeHint(self) -> QSize:
        """The words and numbers, and some bar between them."""
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance("both good 100.0 %") + 50, 4 * self._line())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw label, bar and number of each."""
        painter = QPainter(self)
        used = colours(self.palette())
        metrics, line = self.fontMetrics(), self._line()
        name_width = metrics.horizontalAdvance("both good") + 8
        number_width = metrics.horizontalAdvance("100.0 %") + 6
        room = max(10, self.width() - name_width - number_width)
        centred = int(Qt.AlignmentFlag.AlignVCenter)
        for row, which in enumerate(PREFERENCES):
            top = row * line
            painter.setPen(self.palette().text().color())
            painter.drawText(
                QRectF(0, top, name_width, line),
                centred | int(Qt.AlignmentFlag.AlignLeft),
                LABEL_WORDS[which],
            )
            bar = QRectF(name_width, top + line * 0.22, room, line * 0.56)
            painter.fillRect(bar, QColor(used.hover))
            value = self._values[row] if self._values else None
            if value is not None:
                bar.setWidth(room * value)
                painter.fillRect(bar, QColor(used.of_label(which)))
            painter.drawText(
                QRectF(name_width + room, top, number_width, line),
                centred | int(Qt.AlignmentFlag.AlignRight),
                percent(value),
            )
        painter.end()

    def _line(self) -> int:
        return self.fontMetrics().height() + 3
