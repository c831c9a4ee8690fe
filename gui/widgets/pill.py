"""A short word on a coloured ground: fits, tight, demo; by itself, and in the cells of a table.

Knows: how it is painted. Does not know: what it says.
"""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from gui.widgets.theme import Colours, colours

KINDS = ("good", "warning", "bad", "plain")
PILL_ROLE = int(Qt.ItemDataRole.UserRole) + 7  # the word and its kind, as Pill has them, or None
_AROUND = 18  # pixels at the ends of a word
_ROOM = 16  # the same in a cell
_GAP = 6


def pill_colours(kind: str, of: Colours) -> tuple[str, str]:
    """Ground and text of a kind of pill."""
    return {
        "good": (of.good_ground, of.good),
        "warning": (of.warning_ground, of.warning),
        "bad": (of.bad_ground, of.bad),
        "plain": (of.hover, of.muted),
    }[kind]


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

    def __init__(self, text: str = "", kind: str = "plain") -> None:
        super().__init__()
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


class PillDelegate(QStyledItemDelegate):
    """Draws the pill of a cell at its right, or in the place of the text where the two are the same."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw a cell."""
        pill = index.data(PILL_ROLE)
        if pill is None:
            super().paint(painter, option, index)
            return
        word, kind = pill
        shown = QStyleOptionViewItem(option)
        self.initStyleOption(shown, index)
        text = "" if shown.text == word else shown.text
        style = shown.widget.style() if shown.widget else QApplication.style()
        metrics = QFontMetrics(shown.font)
        width = metrics.horizontalAdvance(word) + _ROOM
        margin = style.pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, None, shown.widget) + 1
        left = shown.rect.left() + margin
        if text:
            room = shown.rect.width() - width - 2 * margin - _GAP
            text = metrics.elidedText(text, shown.textElideMode, max(0, room))
            left += metrics.horizontalAdvance(text) + _GAP
        shown.text = text
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, shown, painter, shown.widget)
        height = metrics.height() + 2
        place = QRectF(left, shown.rect.center().y() - height / 2 + 1, width, height)
        painter.save()
        painter.setFont(shown.font)
        paint_pill(painter, place, word, kind, colours(shown.palette))
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Room for text and pill."""
        size = super().sizeHint(option, index)
        pill = index.data(PILL_ROLE)
        if pill is not None:
            alone = index.data() == pill[0]
            more = _ROOM if alone else QFontMetrics(option.font).horizontalAdvance(pill[0]) + _ROOM + _GAP
            size.setWidth(size.width() + more)
        return size
