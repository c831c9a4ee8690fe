"""While a list, a menu or another popup is open, keys are for it alone: none is a key of a page.

Qt finds the keys of a page by the widget that has the focus, and that of an open list lies inside the page.

Knows: windows that have the keyboard, popups. Does not know: what keys do.
"""

from PySide6.QtCore import QEvent, QObject, Slot
from PySide6.QtGui import QGuiApplication, QWindow
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget


class PopupKeys(QObject):
    """Made once for an application: holds for all its windows."""

    def __init__(self, app: QGuiApplication) -> None:
        super().__init__(app)
        app.focusWindowChanged.connect(self._watch)
        self._watch(app.focusWindow())

    @Slot(QWindow)
    def _watch(self, window: QWindow | None) -> None:
        if window is not None:
            window.installEventFilter(self)  # once, however often it is said
        # A menu hands a key that chooses nothing to its bar, and Qt looks for a shortcut then once more.
        for frame in QApplication.topLevelWidgets():
            bar = frame.menuWidget() if isinstance(frame, QMainWindow) else None
            if bar is not None:
                bar.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt asks with this event whether a key is wanted as it is, before it looks for a shortcut.

        The popup is asked first: an open list deals with Enter and Escape there and then.
        """
        popup = QApplication.activePopupWidget() if event.type() is QEvent.Type.ShortcutOverride else None
        if popup is None:
            return super().eventFilter(watched, event)
        if not isinstance(watched, QWidget):
            QApplication.sendEvent(popup.focusWidget() or popup, event)
        event.accept()
        return True
