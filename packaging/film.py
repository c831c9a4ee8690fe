"""An animated picture of a window: with its dialogs, a pointer, and captions below it."""

from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import cast

from PIL import Image
from PySide6.QtCore import QBuffer, QPoint, QRect, Qt
from PySide6.QtGui import QColor, QFont, QImage, QPainter, QPen, QPolygon
from PySide6.QtWidgets import QApplication, QWidget

_BAR = 44  # pixels below the window
_TITLE = 26  # of a dialog
_EDGE = QColor("#4a5563")
_GROUND, _INK = QColor("#1c2024"), QColor("#ffffff")
_KEY_GROUND, _KEY_INK = QColor("#f0b860"), QColor("#1c2024")
_ARROW = ((0, 0), (0, 21), (5, 17), (9, 25), (13, 23), (9, 15), (16, 15))
_COLOURS = 192
_COUNTED = 40  # frames in which colours are counted


class Film:
    """The frames of a window of a size."""

    def __init__(self, size: tuple[int, int]) -> None:
        self._size = size
        self._frames: list[Image.Image] = []
        self._durations: list[int] = []  # milliseconds

    @property
    def seconds(self) -> float:
        """How long it plays."""
        return sum(self._durations) / 1000

    def add(self, window: QWidget, said: str, key: str, pointer: QPoint | None, seconds: float) -> None:
        """Show a window as it is now for some time, with a caption and a key below it."""
        image = QImage(self._size[0], self._size[1] + _BAR, QImage.Format.Format_RGB888)
        painter = QPainter(image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.drawPixmap(0, 0, window.grab())
        for dialog in _above(window):
            _draw_dialog(painter, dialog, dialog.pos() - window.pos())
        self._draw_bar(painter, said, key)
        if pointer is not None:
            painter.setPen(QPen(_INK, 1.5))
            painter.setBrush(_GROUND)
            painter.drawPolygon(QPolygon([pointer + QPoint(*corner) for corner in _ARROW]))
        painter.end()
        data = QBuffer()
        data.open(QBuffer.OpenModeFlag.WriteOnly)
        image.save(data, "PPM")  # type: ignore[call-overload]
        frame = Image.open(BytesIO(data.data().data()))
        if self._frames and frame.tobytes() == self._frames[-1].tobytes():
            self._durations[-1] += round(seconds * 1000)
        else:
            self._frames.append(frame)
            self._durations.append(round(seconds * 1000))

    def save(self, path: Path) -> None:
        """Write it as an animated GIF, in one set of colours."""
        palette = self._palette()
        reduced = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in self._frames]
        path.parent.mkdir(parents=True, exist_ok=True)
        reduced[0].save(
            path, save_all=True, append_images=reduced[1:], duration=self._durations, loop=0, optimize=False
        )

    def _palette(self) -> Image.Image:
        """The most frequent colours of the frames: all but some shades at the edges of characters."""
        counts: Counter[tuple[int, ...]] = Counter()
        for frame in self._frames[:: max(1, len(self._frames) // _COUNTED)]:
            for count, colour in frame.getcolors(frame.width * frame.height) or ():
                counts[cast(tuple[int, ...], colour)] += count
        palette = Image.new("P", (1, 1))
        palette.putpalette([part for colour, _ in counts.most_common(_COLOURS) for part in colour])
        return palette

    def _draw_bar(self, painter: QPainter, said: str, key: str) -> None:
        bar = QRect(0, self._size[1], self._size[0], _BAR)
        painter.fillRect(bar, _GROUND)
        font = QFont(QApplication.font())
        font.setPixelSize(18)
        painter.setFont(font)
        left = 16
        if key:
            width = painter.fontMetrics().horizontalAdvance(key) + 24
            cap = QRect(left, bar.top() + 8, width, _BAR - 16)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(_KEY_GROUND)
            painter.drawRoundedRect(cap, 5, 5)
            painter.setPen(_KEY_INK)
            painter.drawText(cap, Qt.AlignmentFlag.AlignCenter, key)
            left += width + 14
        painter.setPen(_INK)
        painter.drawText(bar.adjusted(left, 0, -8, 0), Qt.AlignmentFlag.AlignVCenter, said)


def _above(window: QWidget) -> Iterator[QWidget]:
    """The dialogs of a window that are to be seen."""
    for widget in QApplication.topLevelWidgets():
        if widget is not window and widget.isVisible() and widget.windowType() is Qt.WindowType.Dialog:
            yield widget


def _draw_dialog(painter: QPainter, dialog: QWidget, place: QPoint) -> None:
    """A dialog with a title, as the system's window manager would draw it."""
    size = dialog.size()
    title = QRect(place.x(), place.y() - _TITLE, size.width(), _TITLE)
    painter.fillRect(title.adjusted(-1, -1, 1, size.height() + 1), _EDGE)
    painter.setPen(_INK)
    painter.setFont(QApplication.font())
    painter.drawText(title, Qt.AlignmentFlag.AlignCenter, dialog.windowTitle())
    painter.drawPixmap(place, dialog.grab())
