"""A part of a page that can be folded away: settings that few need.

Knows: showing and hiding. Does not know: what is inside.
"""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QToolButton, QWidget

from gui.kit.labels import describe, name
from gui.kit.layouts import in_column


class Fold(QWidget):
    """A button with a title, and a widget below it that the button shows and hides."""

    opened = Signal()

    def __init__(self, title: str, inside: QWidget) -> None:
        super().__init__()
        self._button = QToolButton()
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
        """Give the button another title."""
        self._button.setText(title)
        self._button.setAccessibleName(title)

    @property
    def title(self) -> str:
        """What the button says."""
        return self._button.text()

    @property
    def button_height(self) -> int:
        """What it is high while it is folded."""
        return self._button.sizeHint().height()

    @property
    def open(self) -> bool:
        """True while the inside is shown."""
        return self._button.isChecked()

    def set_open(self, is_open: bool) -> None:
        """Show or hide the inside."""
        self._button.setChecked(is_open)

    def _show(self, is_open: bool) -> None:
        self._button.setArrowType(Qt.ArrowType.DownArrow if is_open else Qt.ArrowType.RightArrow)
        self._inside.setVisible(is_open)
        if is_open:
            self.opened.emit()
