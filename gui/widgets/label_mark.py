"""A label as users see it: in words, as the letter of its key, as a coloured square; bars and pills."""

from collections.abc import Mapping, Sequence

from PySide6 import QtWidgets
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QFontMetricsF, QIcon, QPainter, QPaintEvent, QPalette, QPixmap
from PySide6.QtWidgets import QSizePolicy, QWidget

from engine.core.column_map import NO_LABEL
from engine.core.formatting import percent
from engine.core.items import HUMAN_LABELS, PREFERENCES, HumanLabel, Preference, Tie, labels_beside
from gui.widgets.foreign_text import set_tip
from gui.widgets.labels import STRETCH, BigLabel, Painted, heading, in_row
from gui.widgets.theme import Colours, colours
from gui.widgets.views import Index, shown_cell

LABEL_WORDS: Mapping[HumanLabel | None, str] = {
    Preference.A: "A",
    Preference.B: "B",
    Preference.BOTH_GOOD: "both good",
    Preference.BOTH_BAD: "both bad",
    Tie.TIE: "tie",
    None: "unscored",
}
MEANINGS = (*((LABEL_WORDS[label], label.value) for label in HUMAN_LABELS), ("no label", NO_LABEL))
"""What a value of a foreign file may mean, as a list offers it."""
LETTERS = dict(zip(LABEL_WORDS, "ABGX=–", strict=True))

_ICON_SIDE = 48  # pixels that an icon is drawn with; Qt makes it smaller


def paint_label(painter: QPainter, place: QRectF, which: HumanLabel | None, palette: QPalette) -> None:
    used = colours(palette)
    ground = used.of_label(which)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(ground))
    painter.drawRoundedRect(place, place.height() / 5, place.height() / 5)
    _draw_letter(painter, place, which, used.ink_on(ground), max(6, int(place.height() * 0.72)))
    painter.restore()


def _draw_letter(
    painter: QPainter, place: QRectF, which: HumanLabel | None, ink: str, pixels: int, *, always: bool = True
) -> None:
    font = painter.font()
    font.setBold(True)
    font.setPixelSize(pixels)
    painter.setFont(font)
    painter.setPen(QColor(ink))
    if always or QFontMetricsF(font).horizontalAdvance(LETTERS[which]) < place.width():
        painter.drawText(place, int(Qt.AlignmentFlag.AlignCenter), LETTERS[which])


def paint_share(painter: QPainter, place: QRectF, which: HumanLabel | None, palette: QPalette) -> None:
    """Draw a label's part of a bar, with its letter where that fits, and a gap before the next part."""
    used = colours(palette)
    ground = used.of_label(which)
    part = place.adjusted(0, 0, -min(1.0, place.width() / 2), 0)
    painter.save()
    painter.fillRect(part, QColor(ground))
    pixels = max(8, int(place.height() * 0.9))
    _draw_letter(painter, part, which, used.ink_on(ground), pixels, always=False)
    painter.restore()


def label_icon(which: HumanLabel | None, palette: QPalette) -> QIcon:
    pixmap = QPixmap(_ICON_SIDE, _ICON_SIDE)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    paint_label(painter, QRectF(1, 1, _ICON_SIDE - 2, _ICON_SIDE - 2), which, palette)
    painter.end()
    return QIcon(pixmap)


class LabelSquare(QWidget):
    def __init__(self, which: HumanLabel | None = None) -> None:
        super().__init__()
        self._which = which
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def show_label(self, which: HumanLabel | None) -> None:
        self._which = which
        self.update()

    def sizeHint(self) -> QSize:
        side = self.fontMetrics().height() + 2
        return QSize(side, side)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        paint_label(painter, QRectF(self.rect()).adjusted(1, 1, -1, -1), self._which, self.palette())
        painter.end()


class LabelBadge(QWidget):
    def __init__(self, big: bool = False) -> None:
        super().__init__()
        self._square = LabelSquare()
        self._words = BigLabel(1.3) if big else heading("")
        in_row(self._square, self._words, STRETCH, on=self, spacing=8)
        self.hide()

    @property
    def text(self) -> str:
        return self._words.text()

    def show_label(self, which: HumanLabel | None) -> None:
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

    def show_counts(self, counts: Mapping[HumanLabel | None, int]) -> None:
        self._counts = {label: counts.get(label, 0) for label in (*labels_beside(counts), None)}
        total = sum(self._counts.values()) or 1
        found = {self._words[label]: count for label, count in self._counts.items() if count}
        shares = [f"{word} {count:,} ({percent(count / total)})" for word, count in found.items()]
        text = f"{self._name}: {', '.join(shares) or 'no labels'}"
        self.setAccessibleName(text)
        set_tip(self, text)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(120, max(10, self.fontMetrics().ascent()))

    def minimumSizeHint(self) -> QSize:
        return QSize(40, self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
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
    def __init__(self) -> None:
        super().__init__()
        self._values: Sequence[float] = ()

    def show_probabilities(self, values: Sequence[float]) -> None:
        """Show four probabilities (0 to 1) in the order of PREFERENCES, or none."""
        self._values = tuple(values)
        pairs = zip(PREFERENCES, self._values, strict=False)
        text = ", ".join(f"{LABEL_WORDS[label]} {percent(value)}" for label, value in pairs)
        self.setAccessibleName(f"Probabilities: {text or 'none'}")
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(220, 4 * self.line)

    def minimumSizeHint(self) -> QSize:
        return QSize(self.fontMetrics().horizontalAdvance("both good 100.0 %") + 50, 4 * self.line)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        used = colours(self.palette())
        metrics, line = self.fontMetrics(), self.line
        name_width = metrics.horizontalAdvance("both good") + 8
        number_width = metrics.horizontalAdvance("100.0 %") + 6
        room = max(10, self.width() - name_width - number_width)
        sides = (Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight)
        left, right = (int(Qt.AlignmentFlag.AlignVCenter | side) for side in sides)
        painter.setPen(self.palette().text().color())
        for row, which in enumerate(PREFERENCES):
            top = row * line
            painter.drawText(QRectF(0, top, name_width, line), left, LABEL_WORDS[which])
            bar = QRectF(name_width, top + line * 0.22, room, line * 0.56)
            painter.fillRect(bar, QColor(used.hover))
            value = self._values[row] if self._values else None
            if value is not None:
                bar.setWidth(room * value)
                painter.fillRect(bar, QColor(used.of_label(which)))
            painter.drawText(QRectF(name_width + room, top, number_width, line), right, percent(value))
        painter.end()


KINDS = ("good", "warning", "bad", "plain")
PILL_ROLE = int(Qt.ItemDataRole.UserRole) + 7  # the word and its kind, as Pill has them, or None
_AROUND = 18  # pixels at the ends of a word
_ROOM = 16  # the same in a cell
_GAP = 6


def pill_colours(kind: str, of: Colours) -> tuple[str, str]:
    """Of the ground and of the letters; `kind`: of KINDS."""
    return (of.hover, of.muted) if kind == "plain" else (getattr(of, f"{kind}_ground"), getattr(of, kind))


def paint_pill(painter: QPainter, place: QRectF, text: str, kind: str, of: Colours) -> None:
    ground, ink = pill_colours(kind, of)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(ground))
    painter.drawRoundedRect(place, place.height() / 2, place.height() / 2)
    painter.setPen(QColor(ink))
    painter.drawText(place, int(Qt.AlignmentFlag.AlignCenter), text)


class Pill(QWidget):
    def __init__(self, text: str = "", kind: str = "plain") -> None:
        super().__init__()
        self.say(text, kind)

    def say(self, text: str, kind: str) -> None:
        self._text, self._kind = text, kind
        self.setAccessibleName(text)
        self.updateGeometry()
        self.update()

    @property
    def text(self) -> str:
        return self._text

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self._text) + _AROUND, metrics.height() + 6)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        wished, text = self.sizeHint(), self._text
        width, height = min(self.width(), wished.width()), min(self.height(), wished.height())
        if width < wished.width():
            text = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, width - _AROUND)
        place = QRectF(0, (self.height() - height) / 2, width, height)
        paint_pill(painter, place, text, self._kind, colours(self.palette()))
        painter.end()


class PillDelegate(QtWidgets.QStyledItemDelegate):
    """Draws the pill of a cell at its right, or in the place of the text where the two are the same."""

    def paint(self, painter: QPainter, option: QtWidgets.QStyleOptionViewItem, index: Index) -> None:
        pill = index.data(PILL_ROLE)
        if pill is None:
            super().paint(painter, option, index)
            return
        word, kind = pill
        shown, style = shown_cell(self, option, index)
        text = "" if shown.text == word else shown.text
        metrics = QFontMetrics(shown.font)
        width = metrics.horizontalAdvance(word) + _ROOM
        margin = style.pixelMetric(QtWidgets.QStyle.PixelMetric.PM_FocusFrameHMargin, None, shown.widget) + 1
        left = shown.rect.left() + margin
        if text:
            room = shown.rect.width() - width - 2 * margin - _GAP
            text = metrics.elidedText(text, shown.textElideMode, max(0, room))
            left += metrics.horizontalAdvance(text) + _GAP
        shown.text = text
        style.drawControl(QtWidgets.QStyle.ControlElement.CE_ItemViewItem, shown, painter, shown.widget)
        height = metrics.height() + 2
        place = QRectF(left, shown.rect.center().y() - height / 2 + 1, width, height)
        painter.save()
        painter.setFont(shown.font)
        paint_pill(painter, place, word, kind, colours(shown.palette))
        painter.restore()

    def sizeHint(self, option: QtWidgets.QStyleOptionViewItem, index: Index) -> QSize:
        size = super().sizeHint(option, index)
        pill = index.data(PILL_ROLE)
        if pill is not None:
            alone = index.data() == pill[0]
            more = _ROOM if alone else QFontMetrics(option.font).horizontalAdvance(pill[0]) + _ROOM + _GAP
            size.setWidth(size.width() + more)
        return size
