"""Fields that follow the mouse wheel only while they have the keyboard: who scrolls changes no setting.

The window makes all its fields of these, never of Qt's own (a test holds it to that). Beside them a field to
search with.

Knows: the wheel, the focus, edges. Does not know: what is chosen.
"""

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QLineEdit, QSlider, QSpinBox, QWidget

from gui.kit.labels import name, narrow
from gui.kit.theme import colours, draw_frame

if TYPE_CHECKING:
    _Field = QWidget
else:
    _Field = object


class _CalmField(_Field):
    """What all of them do; stands before Qt's own class among the bases."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # Qt's own lets the wheel give the focus

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Without the focus, the wheel is for what lies around: the page may be scrolled."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class _EdgedField(_CalmField):
    """Has an edge that is seen, and another one while it has the keys; those of the style are too pale."""

    FOCUSED = 2  # pixels

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the edge upon that of the style."""
        super().paintEvent(event)
        self.draw_edge()

    def draw_edge(self) -> None:
        """Draw it; also for who paints all of a field."""
        used, focused = colours(self.palette()), self.hasFocus()
        colour = used.accent if focused else used.edge if self.isEnabled() else used.border
        draw_frame(self, QRectF(self.rect()), colour, self.FOCUSED if focused else 1)


class ComboBox(_EdgedField, QComboBox):
    """One of several, to choose from a list."""


class SpinBox(_EdgedField, QSpinBox):
    """A whole number."""

    FOCUSED = 3  # the style shades the second pixel


class DoubleSpinBox(_EdgedField, QDoubleSpinBox):
    """A number."""

    FOCUSED = SpinBox.FOCUSED


class Slider(_CalmField, QSlider):
    """A number, to be drawn."""


class SearchField(QLineEdit):
    """A field for words. Enter and Down leave it; Escape empties it, and leaves it once it is empty."""

    left = Signal()

    def __init__(self, empty: str) -> None:
        """`empty`: what it says while nothing is written in it."""
        super().__init__(placeholderText=empty, clearButtonEnabled=True)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Catch the keys that leave it."""
        escape = event.key() == Qt.Key.Key_Escape
        if escape and self.text():
            self.clear()
            return
        super().keyPressEvent(event)
        if escape or event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Down):
            event.accept()  # what lies around must not scroll
            self.left.emit()


def narrow_box(accessible: str, letters: int = 8) -> ComboBox:
    """A list that no entry can widen."""
    box = ComboBox()
    narrow(box, letters)
    name(box, accessible)
    return box
