"""The mouse wheel, turned over a widget.

Knows: events of Qt. Does not know: what the widget does with it.
"""

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QWidget


def turn_wheel(field: QWidget) -> QWheelEvent:
    """One step down over its middle; the event, which it may have accepted."""
    middle = QPointF(field.rect().center())
    event = QWheelEvent(
        middle,
        field.mapToGlobal(middle),
        QPoint(),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(field, event)
    return event
