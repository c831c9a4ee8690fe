"""The keys of a page, without Ctrl: a field that is written in keeps them for itself.

Knows: shortcuts, what has the focus. Does not know: what keys do.
"""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Qt, QTimer, Slot
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

_PAUSE_MS = 1000  # without a key, after which letters are keys of the page again


class PageKeys(QObject):
    """Shortcuts that work wherever the focus is in a page."""

    def __init__(self, page: QWidget) -> None:
        super().__init__(page)
        self._page = page
        self._spares: list[tuple[QShortcut, tuple[type, ...]]] = []
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        application = QGuiApplication.instance()
        if isinstance(application, QGuiApplication):
            application.focusObjectChanged.connect(self._follow_focus)

    def add(
        self, key: str, do: Callable[[], object], repeat: bool = False, spares: tuple[type, ...] = ()
    ) -> None:
        """Let a key do something; not while a widget of a type in `spares` has the focus."""
        shortcut = QShortcut(QKeySequence(key), self._page)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.setAutoRepeat(repeat)
        shortcut.activated.connect(partial(self._obey, do))
        if spares:
            self._spares.append((shortcut, spares))

    @Slot()
    def pause(self) -> None:
        """A person still types what an editor was to get: nothing is done until that ends."""
        self._pause.start()

    @property
    def pausing(self) -> bool:
        """True while keys do nothing."""
        return self._pause.isActive()

    def _obey(self, do: Callable[[], object]) -> None:
        if self._pause.isActive():
            self._pause.start()
        else:
            do()

    @Slot(QObject)
    def _follow_focus(self, now: QObject | None) -> None:
        for shortcut, spared in self._spares:
            shortcut.setEnabled(not isinstance(now, spared))
