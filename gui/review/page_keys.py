"""The keys of a page, without Ctrl: a field that is written in keeps them for itself.

Knows: shortcuts, what has the focus. Does not know: what keys do.
"""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Slot
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

_PAUSE_MS = 1000  # without a key, after which letters are keys of the page again
_NO_HAND_MS = 10  # in which nobody lets a key go and presses it again


class PageKeys(QObject):
    """Shortcuts that work wherever the focus is in a page."""

    def __init__(self, page: QWidget) -> None:
        super().__init__(page)
        self._page = page
        self._spares: list[tuple[QShortcut, tuple[type, ...]]] = []
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._released = 0, 0  # which key, and when
        self._held = False  # whether the key that is pressed now is one that repeats
        page.installEventFilter(self)
        application = QGuiApplication.instance()
        if isinstance(application, QGuiApplication):
            application.focusObjectChanged.connect(self._follow_focus)

    def add(
        self,
        key: str,
        do: Callable[[], object],
        repeat: bool = False,
        spares: tuple[type, ...] = (),
        by_hand: bool = False,
    ) -> None:
        """Let a key do something; not while a widget of a type in `spares` has the focus. `by_hand`: once
        each time that a hand presses it, whatever the system says.
        """
        shortcut = QShortcut(QKeySequence(key), self._page)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.setAutoRepeat(repeat)
        shortcut.activated.connect(partial(self._obey, do, by_hand))
        if spares:
            self._spares.append((shortcut, spares))

    @Slot()
    def pause(self) -> None:
        """An annotator still types what an editor was to get: nothing is done until that ends."""
        self._pause.start()

    @property
    def pausing(self) -> bool:
        """True while keys do nothing."""
        return self._pause.isActive()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """See whether a key is held down.

        X11 tells that by a release and a press of one time. Where Qt sees the first of these alone, on a busy
        computer, it takes the second one for a press by hand.
        """
        if isinstance(event, QKeyEvent):
            key, time = event.key(), event.timestamp()
            if event.type() == QEvent.Type.KeyRelease:
                self._released = key, time
            elif event.type() == QEvent.Type.ShortcutOverride:
                released, at = self._released
                self._held = key == released and time > 0 and time - at < _NO_HAND_MS
        return super().eventFilter(watched, event)

    def _obey(self, do: Callable[[], object], by_hand: bool) -> None:
        if self._held and by_hand:
            return
        if self._pause.isActive():
            self._pause.start()
        else:
            do()

    @Slot(QObject)
    def _follow_focus(self, now: QObject | None) -> None:
        for shortcut, spared in self._spares:
            shortcut.setEnabled(not isinstance(now, spared))
