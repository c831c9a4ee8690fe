"""Tells a screen reader what happens where the keys are not.

Knows: accessibility of Qt. Does not know: what is told.
"""

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QWidget

LONGEST = 240  # characters: who wants more of a text goes there


class Announcer(QObject):
    """Speaks for a widget; silent while nobody sees that. `said` is emitted with each text, heard or not."""

    said = Signal(str)

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._widget = widget

    def say(self, text: str, at_once: bool = False) -> None:
        """Let a text be read; `at_once`: in the place of what is being read, which it makes old."""
        if not text or not self._widget.isVisible():
            return
        event = QAccessibleAnnouncementEvent(self._widget, text)
        urgency = QAccessible.AnnouncementPoliteness
        event.setPoliteness(urgency.Assertive if at_once else urgency.Polite)
        QAccessible.updateAccessibility(event)
        self.said.emit(text)
