"""A line that shows work under way: what is done, how far, and a button that stops it.

Knows: progress. Does not know: what works.
"""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QProgressBar, QPushButton, QWidget

from gui.kit.foreign_text import OneLine
from gui.kit.labels import name
from gui.kit.layouts import STRETCH, in_row


class BusyLine(QWidget):
    """Hidden until something is under way."""

    cancelled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._text = OneLine()
        self._bar = QProgressBar(textVisible=False)
        self._bar.setFixedHeight(8)
        name(self._bar, "How far it is")
        self._button = QPushButton("Cancel")
        name(self._button, "Cancel what is under way")
        self._button.clicked.connect(self._cancel)
        in_row(self._text, (self._bar, STRETCH), self._button, on=self)
        self.hide()

    def begin(self, text: str) -> None:
        """Show that something is under way; how far is not known yet."""
        # Qt's bar for an unknown end: it moves to and fro.
        self._bar.setRange(0, 0)
        self._button.setEnabled(True)
        self._say(text)
        self.show()

    def go_on(self, text: str, done: int | None = None, total: int | None = None) -> None:
        """Show how far it is; without `total` only the text."""
        if done is not None and total:
            # Parts in a thousand: Qt's numbers end at two thousand million.
            self._bar.setRange(0, 1000)
            self._bar.setValue(int(1000 * done / total))
        self._say(text)

    def end(self) -> None:
        """Nothing is under way any more."""
        self._bar.setRange(0, 1)
        self.hide()

    def _say(self, text: str) -> None:
        self._text.setText(text)
        self.setAccessibleName(text)

    def _cancel(self) -> None:
        self._button.setEnabled(False)
        self._say("Stopping …")
        self.cancelled.emit()
