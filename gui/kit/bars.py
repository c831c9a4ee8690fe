"""Small bars: how often each label occurs, and how likely each is.

Knows: painting shares. Does not know: where they come from.
"""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy

from engine.core.formatting import percent
from engine.core.items import PREFERENCES, HumanLabel, labels_beside
from gui.kit.foreign_text import set_tip
from gui.kit.label_mark import LABEL_WORDS, paint_share
from gui.kit.painted import Painted
from gui.kit.theme import colours


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
        for label, count in self._counts.items():
            if total and count:
                width = self.width() * count / total
                paint_share(painter, QRectF(left, 0, width, self.height()), label, self.palette())
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
        for row, label in enumerate(PREFERENCES):
            top = row * line
            painter.setPen(self.palette().text().color())
            painter.drawText(
                QRectF(0, top, name_width, line),
                centred | int(Qt.AlignmentFlag.AlignLeft),
                LABEL_WORDS[label],
            )
            bar = QRectF(name_width, top + line * 0.22, room, line * 0.56)
            painter.fillRect(bar, QColor(used.hover))
            value = self._values[row] if self._values else None
            if value is not None:
                bar.setWidth(room * value)
                painter.fillRect(bar, QColor(used.of_label(label)))
            painter.drawText(
                QRectF(name_width + room, top, number_width, line),
                centred | int(Qt.AlignmentFlag.AlignRight),
                percent(value),
            )
        painter.end()

    def _line(self) -> int:
        return self.fontMetrics().height() + 3
