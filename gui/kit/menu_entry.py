"""An entry of a menu: its title, what it does, its keys.

Knows: how an entry becomes an action of Qt. Does not know: which menus there are.
"""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu

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
