"""Lines to be read in a window of their own, one below the other; the keys of a list work in it.

Knows: lines. Does not know: what they say.
"""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QListWidget, QWidget

from gui.widgets.foreign_text import one_line, tip
from gui.widgets.labels import STRETCH, in_column, make_room, name


class LinesDialog(QDialog):
    """Closed, it is gone."""

    def __init__(self, title: str, lines: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self.lines = lines
        self._list = QListWidget()
        self._list.setWordWrap(True)
        self._list.setTextElideMode(Qt.TextElideMode.ElideNone)
        for line in lines:
            self._list.addItem(one_line(line))
            self._list.item(self._list.count() - 1).setToolTip(tip(line))
        self._list.setCurrentRow(len(lines) - 1)
        name(self._list, title)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        in_column((self._list, STRETCH), buttons, on=self, margins=None)
        make_room(self, 72, 14)
        self._list.setFocus()
