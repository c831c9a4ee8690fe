"""What an eye can tell apart in a picture of a window, by the formula of WCAG 2.2 for contrast."""

from PySide6.QtCore import QPoint
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QWidget


def picture(widget: QWidget) -> QImage:
    return widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)


def luminance(colour: QColor) -> float:
    """Relative luminance, 0 (black) to 1 (white), as WCAG 2.2 defines it."""
    parts = (colour.redF(), colour.greenF(), colour.blueF())
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: QColor, other: QColor) -> float:
    """Contrast ratio of two colours, 1 to 21, as WCAG 2.2 defines it."""
    lower, higher = sorted((luminance(one), luminance(other)))
    return (higher + 0.05) / (lower + 0.05)


def highest_contrast(shown: QImage, ground: QColor) -> float:
    """That of the pixel that differs most from a ground."""
    pixels = {shown.pixel(x, y) for x in range(shown.width()) for y in range(shown.height())}
    return max(contrast(QColor(pixel), ground) for pixel in pixels)


def edge_contrast(shown: QImage, begin: QPoint, end: QPoint) -> tuple[float, float]:
    """Along a line into a field, that of its edge: to what is around it, and to what is in it."""
    steps = max(abs(end.x() - begin.x()), abs(end.y() - begin.y()))
    line = [shown.pixelColor(begin + (end - begin) * (step / steps)) for step in range(steps + 1)]
    around, inside = line[0], line[-1]
    edge = max(line, key=lambda each: min(contrast(each, around), contrast(each, inside)))
    return contrast(edge, around), contrast(edge, inside)


def changed(before: QImage, after: QImage, least: float) -> int:
    """How many pixels differ by a contrast of at least so much."""
    assert before.size() == after.size()
    places = [(x, y) for x in range(before.width()) for y in range(before.height())]
    pairs = ((before.pixel(x, y), after.pixel(x, y)) for x, y in places)
    return sum(one != other and contrast(QColor(one), QColor(other)) >= least for one, other in pairs)
