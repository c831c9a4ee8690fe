"""Parts of a page whose sizes a person can change.

Knows: whether they were ever on the screen. Does not know: where sizes are remembered.
"""

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QSplitter, QWidget


class PageSplitter(QSplitter):
    """Parts side by side or above each other, of which none can be lost from sight.

    `seen`: whether it was shown once. Before that its parts have no sizes that are worth remembering.
    """

    def __init__(self, direction: Qt.Orientation) -> None:
        super().__init__(direction)
        self.setChildrenCollapsible(False)
        self.seen = False

    def showEvent(self, event: QShowEvent) -> None:
        """Its parts have their sizes now."""
        super().showEvent(event)
        self.seen = True


def two_parts(direction: Qt.Orientation, first: QWidget, second: QWidget) -> PageSplitter:
    """Two parts that keep their share."""
    made = PageSplitter(direction)
    made.addWidget(first)
    made.addWidget(second)
    made.setStretchFactor(0, 1)
    made.setStretchFactor(1, 1)
    made.setHandleWidth(8)
    return made
