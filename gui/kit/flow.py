"""A layout that puts widgets side by side and goes on in the next line where there is no room.

Knows: sizes. Does not know: what the widgets are.
"""

from functools import partial

from PySide6.QtCore import QPoint, QRect, QSize, Qt, QTimer
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class FlowLayout(QLayout):
    """Lines of widgets, each as large as it wants to be; its height follows its width."""

    def __init__(self, parent: QWidget | None = None, gap: int = 6, whole: bool = False) -> None:
        """`whole`: its widget, which it alone lays out, is never lower than its lines; a splitter, which asks
        for the least height at any width, would cut them.
        """
        super().__init__(parent)
        self._whole = whole
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(gap)

    def addItem(self, item: QLayoutItem) -> None:
        """Put an item at the end."""
        self._items.append(item)

    def count(self) -> int:
        """How many there are."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """One of them, None past the end."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Take one out."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        """None: what is left over stays empty."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """Narrow is high."""
        return True

    def heightForWidth(self, width: int) -> int:
        """The height of all lines at a width."""
        return self._place(QRect(0, 0, width, 0), only_measure=True)

    def setGeometry(self, place: QRect) -> None:
        """Put the widgets where they belong."""
        super().setGeometry(place)
        height, widget = self._place(place, only_measure=False), self.parentWidget()
        if self._whole and widget is not None and widget.minimumHeight() != height:
            # Not now: the layouts around, which are at work, would not hear of it.
            QTimer.singleShot(0, widget, partial(widget.setMinimumHeight, height))

    def sizeHint(self) -> QSize:
        """All in one line."""
        sizes = [item.sizeHint() for item in self._items if not item.isEmpty()]
        width = sum(size.width() + self.spacing() for size in sizes)
        return QSize(width, max((size.height() for size in sizes), default=0))

    def minimumSize(self) -> QSize:
        """As much as the largest of them."""
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        return size

    def _place(self, room: QRect, only_measure: bool) -> int:
        """Go through the lines; the height of all."""
        left, top, line = room.left(), room.top(), 0
        for item in self._items:
            if item.isEmpty():
                continue
            size = item.sizeHint()
            if left > room.left() and left + size.width() > room.left() + room.width():
                left, top, line = room.left(), top + line + self.spacing(), 0
            if not only_measure:
                width = min(size.width(), room.width())
                item.setGeometry(QRect(QPoint(left, top), QSize(width, size.height())))
            left += size.width() + self.spacing()
            line = max(line, size.height())
        return top + line - room.top()
