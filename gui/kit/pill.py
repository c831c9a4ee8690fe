"""A short word on a coloured ground: fits, tight, demo.

Knows: how it is painted. Does not know: what it says.
"""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from gui.kit.theme import Colours, colours

KINDS = ("good", "warning", "bad", "plain")


def pill_colours(kind: str, of: Colours) -> tuple[str, str]:
    """Ground and text of a kind of pill."""
    return {
        "good": (of.good_ground, of.good),
        "warning": (of.warning_ground, of.warning),
        "bad": (of.bad_ground, of.bad),
        "plain": (of.hover, of.muted),
    }[kind]


_AROUND = 18  # pixels at the ends of a word


def paint_pill(painter: QPainter, place: QRectF, text: str, kind: str, of: Colours) -> None:
    """Draw a pill into a place that fits it."""
    ground, ink = pill_colours(kind, of)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(ground))
    painter.drawRoundedRect(place, place.height() / 2, place.height() / 2)
    painter.setPen(QColor(ink))
    painter.drawText(place, int(Qt.AlignmentFlag.AlignCenter), text)


class Pill(QWidget):
    """A pill as a widget."""

    def __init__(self, text: str = "", kind: str = "plain", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = text
        self._kind = kind
        self.setAccessibleName(text)

    def say(self, text: str, kind: str) -> None:
        """Show another word; `kind` is one of KINDS."""
        self._text, self._kind = text, kind
        self.setAccessibleName(text)
        self.updateGeometry()
        self.update()

    @property
    def text(self) -> str:
        """The word that it shows."""
        return self._text

    def sizeHint(self) -> QSize:
        """Room for the word."""
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self._text) + _AROUND, metrics.height() + 6)

    def minimumSizeHint(self) -> QSize:
        """As much as it wants."""
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the word on its ground."""
        painter = QPainter(self)
        wished, text = self.sizeHint(), self._text
        width, height = min(self.width(), wished.width()), min(self.height(), wished.height())
        if width < wished.width():
            text = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, width - _AROUND)
        place = QRectF(0, (self.height() - height) / 2, width, height)
        paint_pill(painter, place, text, self._kind, colours(self.palette()))
        painter.end()
