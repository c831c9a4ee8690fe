"""Cells of a table with a pill: a short word on a coloured ground, beside the cell's text or alone.

Knows: painting a cell. Does not know: what is in it.
"""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QApplication, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from gui.kit.pill import paint_pill
from gui.kit.theme import colours

PILL_ROLE = int(Qt.ItemDataRole.UserRole) + 7  # the word and its kind, as Pill has them, or None
_ROOM = 16  # pixels of a pill beside its word
_GAP = 6


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
