"""What the user calls by a menu or a key: an entry of a menu, a button with a menu, a key of a widget alone.

Knows: how an entry becomes an action of Qt. Does not know: which menus and keys there are.
"""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction, QKeySequence, QShortcut
from PySide6.QtWidgets import QAbstractButton, QMenu, QToolButton, QWidget

Key = QKeySequence.StandardKey | str


@dataclass(frozen=True)
class Entry:
    """`title` with `&` before its letter; `action` is called without arguments; `keys` work in the window."""

    title: str
    action: Callable[[], object]
    keys: tuple[Key, ...] = ()

    def add_to(self, menu: QMenu, with_keys: bool = True) -> QAction:
        """Put the entry at the end of a menu. Only one menu may have the keys: two make Qt ignore them."""
        added = menu.addAction(self.title)
        if with_keys:
            added.setShortcuts([QKeySequence(key) for key in self.keys])
        # The signal carries whether the action is checked, which nobody wants to know.
        added.triggered.connect(lambda _checked=False: self.action())
        return added


class PanelMenu(QMenu):
    """A menu of fields: Tab goes through them, where it would choose entries else."""

    def focusNextPrevChild(self, forward: bool) -> bool:
        """As in a window."""
        return QWidget.focusNextPrevChild(self, forward)


class MenuButton(QToolButton):
    """A button that opens a menu. `tips`: whether the menu shows the tool tips of its entries."""

    def __init__(self, text: str = "", tips: bool = False, kind: type[QMenu] = QMenu) -> None:
        super().__init__(popupMode=QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setText(text)
        self.setProperty("role", "button")
        self._menu = kind(self)
        self._menu.setToolTipsVisible(tips)
        self.setMenu(self._menu)


class _Once(QObject):
    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Let nobody hear of the second press of a double click."""
        return event.type() == QEvent.Type.MouseButtonDblClick


def press_once(button: QAbstractButton) -> None:
    """A double click presses it once: its second click would be of what the first one has led to."""
    button.installEventFilter(_Once(button))


def add_key(place: QWidget, key: Key, do: Callable[[], object], inside: bool = False) -> None:
    """Let a key do something while a widget has the focus, or, with `inside`, while anything in it has."""
    context = Qt.ShortcutContext
    shortcut = QShortcut(QKeySequence(key), place)
    shortcut.setContext(context.WidgetWithChildrenShortcut if inside else context.WidgetShortcut)
    shortcut.activated.connect(do)
