"""A label as users see it: in words, as a letter, as a small coloured square with that letter.

The letters are those of the keys: A, B, G for both good, X for both bad; a dash for unscored, = for a tie
that is not specified further.

Knows: how labels are called and painted. Does not know: whose labels they are.
"""

from collections.abc import Mapping

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QIcon, QPainter, QPaintEvent, QPalette, QPixmap
from PySide6.QtWidgets import QSizePolicy, QWidget

from engine.core.items import HumanLabel, Preference, Tie
from gui.kit.labels import label
from gui.kit.layouts import STRETCH, in_row
from gui.kit.theme import colours

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
