"""The texts that a widget paints, whoever paints them, and how far their letters stand out in a picture. It
is painted twice: as SVG, which names every text with its place and its colour, and as a picture three times
as large, so that the strokes of letters hold pixels of ink alone. The contrast is of the pixels.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QTransform
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QAbstractItemView, QMenu, QMenuBar, QTabBar, QWidget

from tests.gui.seen import contrast

LEAST_OF_TEXT, LEAST_OF_SIGNS = 4.5, 3.0
_SIGNS = {"■"}  # beside a word that says the same
_MOST_UNREAD = 0.1  # of the texts: those that something else hides. Measured: 2 of 39 at most
_LARGER = 3  # times
_ALIKE = 10  # of 255: what rounding and blending at the edge of a letter leave of a colour
_SVG = "{http://www.w3.org/2000/svg}"


@dataclass(frozen=True)
class PaintedText:
    text: str
    place: QRectF
    ink: QColor


def painted_texts(widget: QWidget) -> list[PaintedText]:
    """All texts that a widget and what is in it paint, also those that something else hides."""
    written = QByteArray()
    buffer = QBuffer(written)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    made = QSvgGenerator()
    made.setOutputDevice(buffer)
    made.setResolution(widget.logicalDpiX())
    made.setSize(widget.size())
    made.setViewBox(widget.rect())
    painter = QPainter(made)
    widget.render(painter, QPoint())
    painter.end()
    found = []
    for group in ElementTree.fromstring(bytes(written.data())).iter(f"{_SVG}g"):
        found += [_painted(group, each) for each in group.findall(f"{_SVG}text") if each.text]
    return [each for each in found if each.text.strip()]


def _painted(group: ElementTree.Element, found: ElementTree.Element) -> PaintedText:
    text = (found.text or "").strip("\n ")
    font = QFont(found.attrib["font-family"].split(",")[0].strip("'"))
    font.setPointSizeF(float(found.attrib["font-size"]))
    font.setWeight(QFont.Weight(int(found.attrib["font-weight"])))
    metrics = QFontMetricsF(font)
    left, line = float(found.attrib["x"]), float(found.attrib["y"])
    place = QRectF(left, line - metrics.ascent(), metrics.horizontalAdvance(text), metrics.height())
    numbers = group.attrib["transform"].removeprefix("matrix(").removesuffix(")").split(",")
    return PaintedText(text, QTransform(*map(float, numbers)).mapRect(place), QColor(found.attrib["fill"]))


def read_texts(widget: QWidget) -> Iterator[tuple[str, float | None, str]]:
    """The texts that are seen in a widget, but for what cannot be used at the moment; each with its contrast
    to the ground around its letters, None where no ink is seen, and of what it is.
    """
    large = QImage(widget.size() * _LARGER, QImage.Format.Format_RGB32)
    large.setDevicePixelRatio(_LARGER)
    widget.render(large, QPoint())
    pixels = pixels_of(large)
    for painted in painted_texts(widget):
        middle = painted.place.center().toPoint()
        owner = widget.childAt(middle) or widget
        ends = (painted.place.topLeft(), painted.place.bottomLeft())
        if any(_is_in_list(there := widget.childAt(end.toPoint())) and there is not owner for end in ends):
            continue  # of a row that the edge of its list cuts
        place = painted.place.toAlignedRect() & _seen_of(owner, widget)
        if place.isEmpty() or not _usable(owner, owner.mapFrom(widget, middle)):
            continue
        part = pixels[
            _LARGER * place.top() : _LARGER * (place.bottom() + 1),
            _LARGER * place.left() : _LARGER * (place.right() + 1),
        ]
        of = f"{type(owner).__name__} {owner.accessibleName()[:30]}"
        yield painted.text, ink_contrast(part.ravel(), painted.ink), of


def pixels_of(shown: QImage) -> np.ndarray:
    """The colours of a picture of 32 bits for each pixel, shape (height, width)."""
    return np.asarray(shown.constBits()).view(np.uint32).reshape(shown.height(), -1)[:, : shown.width()]


def _seen_of(owner: QWidget, root: QWidget) -> QRect:
    return QRect(owner.visibleRegion().boundingRect().translated(owner.mapTo(root, QPoint(0, 0))))


def _is_in_list(widget: QWidget | None) -> bool:
    view = None if widget is None else widget.parent()
    return isinstance(view, QAbstractItemView) and view.viewport() is widget


def _usable(owner: QWidget, at: QPoint) -> bool:
    """Whether what stands there can be used: the rest may be faint."""
    if not owner.isEnabled():
        return False
    if isinstance(owner, QMenu | QMenuBar):
        action = owner.actionAt(at)
        return action is None or action.isEnabled()
    if isinstance(owner, QTabBar):
        return owner.isTabEnabled(owner.tabAt(at))
    view = owner.parent()
    if isinstance(view, QAbstractItemView) and _is_in_list(owner) and view.indexAt(at).isValid():
        return bool(view.indexAt(at).flags() & Qt.ItemFlag.ItemIsEnabled)
    return True


def ink_contrast(pixels: np.ndarray, ink: QColor) -> float | None:
    """That of letters of an ink in some pixels to the colour most of the others have; None without any."""
    kinds, counts = np.unique(pixels, return_counts=True)
    parts = [kinds >> 16 & 255, kinds >> 8 & 255, kinds & 255]
    of_ink = np.ones(len(kinds), bool)
    for part, wanted in zip(parts, (ink.red(), ink.green(), ink.blue()), strict=True):
        of_ink &= np.abs(part.astype(int) - wanted) <= _ALIKE
    if not of_ink.any():
        return None
    if of_ink.all():
        return 1.0
    letters = kinds[of_ink][counts[of_ink].argmax()]
    ground = kinds[~of_ink][counts[~of_ink].argmax()]
    return contrast(QColor(int(letters)), QColor(int(ground)))


def hard_to_read(widget: QWidget) -> list[str]:
    """The texts whose letters stand out too little, a line each."""
    texts = list(read_texts(widget))
    assert texts, f"no text is seen in {widget}"
    unread = [text for text, found, _ in texts if found is None]
    assert len(unread) <= _MOST_UNREAD * len(texts), f"of {len(texts)} texts no ink is seen of {unread}"
    read = (
        (found, LEAST_OF_SIGNS if text in _SIGNS else LEAST_OF_TEXT, text, of) for text, found, of in texts
    )
    return sorted(
        {f"{found:.2f} {text[:40]!r} in {of}" for found, least, text, of in read if found and found < least}
    )
