"""The base of what is painted by hand and shows something: bars, charts, figures.

Knows: how Qt tells kinds of widgets apart. Does not know: what is painted.
"""

from PySide6.QtCore import Qt
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QLabel


class Painted(QLabel):
    """Told as a picture by those that read the screen; a subclass paints it, and names it.

    A bare widget would be told as a part of the layout, which screen readers pass over, name and all. Qt
    takes the kind from the class of a widget, and a label that has a picture, however small, for a picture.
    """

    def __init__(self) -> None:
        super().__init__(textFormat=Qt.TextFormat.PlainText)
        self.setPixmap(QPixmap(1, 1))
