"""Fields that follow the mouse wheel only while they have the keyboard: who scrolls changes no setting. The
window makes all its fields of these, never of Qt's own (a test holds it to that).
"""

from collections.abc import Iterable
from functools import partial, reduce
from typing import Any

from PySide6 import QtWidgets
from PySide6.QtCore import QPoint, QRect, QRectF, QSignalBlocker, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from gui.widgets.foreign_text import tip
from gui.widgets.labels import Mixed, describe, in_column, name, narrow
from gui.widgets.theme import colours, draw_frame


class FlowLayout(QtWidgets.QLayout):
    """Lines of widgets, each as large as it wants to be; its height follows its width."""

    def __init__(self, *parts: QWidget, on: QWidget | None = None, gap: int = 6, whole: bool = False) -> None:
        """On the widget `on`, if any. `whole`: it alone lays that out, which is never lower than its lines; a
        splitter, which asks for the least height at any width, would cut them.
        """
        super().__init__(on)
        self._whole = whole
        self._items: list[QtWidgets.QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(gap)
        for part in parts:
            self.addWidget(part)

    def addItem(self, item: QtWidgets.QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QtWidgets.QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QtWidgets.QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._place(QRect(0, 0, width, 0), only_measure=True)

    def setGeometry(self, place: QRect) -> None:
        super().setGeometry(place)
        height, widget = self._place(place, only_measure=False), self.parentWidget()
        if self._whole and widget is not None and widget.minimumHeight() != height:
            # Not now: the layouts around, which are at work, would not hear of it.
            QTimer.singleShot(0, widget, partial(widget.setMinimumHeight, height))

    def sizeHint(self) -> QSize:
        sizes = [item.sizeHint() for item in self._items if not item.isEmpty()]
        width = sum(size.width() + self.spacing() for size in sizes)
        return QSize(width, max((size.height() for size in sizes), default=0))

    def minimumSize(self) -> QSize:
        return reduce(QSize.expandedTo, (item.minimumSize() for item in self._items), QSize())

    def _place(self, room: QRect, only_measure: bool) -> int:
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


class Fold(QtWidgets.QWidget):
    opened = Signal()

    def __init__(self, title: str, inside: QtWidgets.QWidget) -> None:
        super().__init__()
        self._button = QtWidgets.QToolButton()
        self._button.setText(title)
        self._button.setCheckable(True)
        self._button.setAutoRaise(True)
        self._button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        # Qt tells a button that stays down as a box to tick; what folds is no kind of its own.
        name(self._button, title)
        describe(self._button, "Ticked while what belongs to it is shown below")
        self._button.toggled.connect(self._show)
        self._inside = inside
        in_column(self._button, inside, on=self)
        self._show(False)

    def set_title(self, title: str) -> None:
        self._button.setText(title)
        self._button.setAccessibleName(title)

    @property
    def title(self) -> str:
        return self._button.text()

    @property
    def button_height(self) -> int:
        return self._button.sizeHint().height()

    @property
    def open(self) -> bool:
        return self._button.isChecked()

    def set_open(self, is_open: bool) -> None:
        self._button.setChecked(is_open)

    def _show(self, is_open: bool) -> None:
        self._button.setArrowType(Qt.ArrowType.DownArrow if is_open else Qt.ArrowType.RightArrow)
        self._inside.setVisible(is_open)
        if is_open:
            self.opened.emit()


class _CalmField(Mixed):
    """What all of them do; stands before Qt's own class among the bases."""

    def __init__(self, *arguments: Any, **properties: Any) -> None:
        """`properties`: of Qt's class, in this order."""
        super().__init__(*arguments, **properties)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # Qt's own lets the wheel give the focus

    def wheelEvent(self, event: QWheelEvent) -> None:
        # without the focus, the wheel is for what lies around: the page may be scrolled
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class _EdgedField(_CalmField):
    """Has an edge that is seen, and another one while it has the keys; those of the style are too pale."""

    FOCUSED = 2  # pixels

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        used, focused = colours(self.palette()), self.hasFocus()
        colour = used.accent if focused else used.edge if self.isEnabled() else used.border
        draw_frame(self, QRectF(self.rect()), colour, self.FOCUSED if focused else 1)


class ComboBox(_EdgedField, QtWidgets.QComboBox):
    """One of several, to choose from a list of texts, each with its data and, where it says more, a tip."""

    def offer(self, entries: Iterable[tuple[str, Any] | tuple[str, Any, str]], chosen: Any = None) -> None:
        """Offer these alone, and choose one by its data; no signal tells of it."""
        with QSignalBlocker(self):
            self.clear()
            for entry in entries:
                self.add(*entry)
            self.choose(chosen)

    def add(self, text: str, data: Any, what: str = "") -> None:
        self.addItem(text, data)
        if what:
            self.setItemData(self.count() - 1, tip(what), Qt.ItemDataRole.ToolTipRole)

    def choose(self, data: Any) -> None:
        """Choose what has these data, else the first."""
        self.setCurrentIndex(max(0, self.findData(data)))


class SpinBox(_EdgedField, QtWidgets.QSpinBox):
    FOCUSED = 3  # the style shades the second pixel


class DoubleSpinBox(_EdgedField, QtWidgets.QDoubleSpinBox):
    FOCUSED = SpinBox.FOCUSED


class Slider(_CalmField, QtWidgets.QSlider):
    """A number, to be drawn."""


class SearchField(QtWidgets.QLineEdit):
    """A field for words. Enter and Down leave it; Escape empties it, and leaves it once it is empty."""

    left = Signal()

    def __init__(self, empty: str) -> None:
        super().__init__(placeholderText=empty, clearButtonEnabled=True)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        escape = event.key() == Qt.Key.Key_Escape
        if escape and self.text():
            self.clear()
            return
        super().keyPressEvent(event)
        if escape or event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Down):
            event.accept()  # what lies around must not scroll
            self.left.emit()


def narrow_box(accessible: str, letters: int = 8) -> ComboBox:
    box = ComboBox()
    narrow(box, letters)
    name(box, accessible)
    return box
