"""The field of a run's note.

Knows: how a note is shown, and whether somebody writes. Does not know: runs, the store.
"""

from PySide6.QtWidgets import QPlainTextEdit, QWidget

from gui.kit.labels import name

_LINES = 3


class NoteField(QPlainTextEdit):
    """A few lines to write into."""

    def __init__(self, accessible: str, what: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTabChangesFocus(True)
        self.setFixedHeight(self.fontMetrics().lineSpacing() * _LINES + 16)
        name(self, accessible, what)

    @property
    def modified(self) -> bool:
        """True where something was written since it was filled or taken."""
        return self.document().isModified()

    def fill(self, text: str) -> None:
        """Show a note; nobody is told of a change."""
        self.blockSignals(True)
        self.setPlainText(text)
        self.document().setModified(False)
        self.blockSignals(False)

    def take(self) -> str:
        """The note as it is written now, which counts as kept from here on."""
        self.document().setModified(False)
        return self.toPlainText()
