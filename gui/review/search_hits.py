"""Where the words of a search stand in texts as they are shown: marked in cells, and found for other marks.

Knows: a search, painting a cell. Does not know: what is searched, which items are listed.
"""

import re
from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRect, Qt
from PySide6.QtGui import QColor, QPainter, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import QApplication, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from engine.core.review_filters import search_pattern
from gui.kit.theme import colours
from gui.kit.value_table import Index
from gui.review.review_jobs import in_units

MOST_MARKED = 500  # in one text: more take long to draw
_BEFORE_HIT = 4  # characters that a narrow cell may show before what was found

Spans = Sequence[tuple[int, int]]


class Search:
    """What is looked for; nothing at first."""

    def __init__(self, text: str = "") -> None:
        pattern = search_pattern(text)
        self._pattern = re.compile(pattern, re.IGNORECASE) if pattern else None

    def __bool__(self) -> bool:
        return self._pattern is not None

    def spans(self, text: str) -> Spans:
        """Where the words stand, (start, end) in Qt's units."""
        found = [match.span() for match in self._pattern.finditer(text)] if self._pattern else []
        return in_units(text, found)

    def from_hit(self, text: str) -> str | None:
        """The text from its first hit on; whole where that is near its beginning; None without a hit."""
        hit = self._pattern.search(text) if self._pattern else None
        if hit is None:
            return None
        return text if hit.start() <= _BEFORE_HIT else f"…{text[hit.start() :]}"


def hit_style(widget: QWidget) -> QTextCharFormat:
    """How a hit looks: by its ground, and underlined for those who do not see its colour."""
    style = QTextCharFormat()
    style.setBackground(QColor(colours(widget.palette()).hit_ground))
    style.setFontUnderline(True)
    return style


class HitDelegate(QStyledItemDelegate):
    """Draws cells of text with what was found in them marked."""

    def __init__(self, view: QWidget) -> None:
        super().__init__(view)
        self.search = Search()

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw a cell."""
        shown = QStyleOptionViewItem(option)
        self.initStyleOption(shown, index)
        widget = shown.widget
        spans = self.search.spans(shown.text)[:MOST_MARKED]
        if not spans or not isinstance(widget, QWidget):
            super().paint(painter, option, index)
            return
        style = widget.style() or QApplication.style()
        place = style.subElementRect(QStyle.SubElement.SE_ItemViewItemText, shown, widget)
        text, shown.text = shown.text, ""
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, shown, painter, widget)
        margin = style.pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, None, widget) + 1
        _draw(painter, place.adjusted(margin, 0, -margin, 0), text, spans, shown)


def _draw(painter: QPainter, place: QRect, text: str, spans: Spans, option: QStyleOptionViewItem) -> None:
    """Draw one line of text, its end left out where there is no room, with its hits."""
    fitting = option.fontMetrics.elidedText(text, Qt.TextElideMode.ElideRight, place.width())
    layout = QTextLayout(fitting, option.font)
    wrapping = QTextOption()
    wrapping.setWrapMode(QTextOption.WrapMode.NoWrap)
    layout.setTextOption(wrapping)
    style = hit_style(option.widget)
    formats = []
    for start, end in spans:
        part = QTextLayout.FormatRange()
        part.start, part.length, part.format = start, end - start, style
        formats.append(part)
    layout.setFormats(formats)
    layout.beginLayout()
    line = layout.createLine()
    layout.endLayout()
    painter.save()
    painter.setPen(option.palette.text().color())
    painter.setClipRect(place)
    layout.draw(painter, QPointF(place.left(), place.top() + (place.height() - line.height()) / 2))
    painter.restore()
