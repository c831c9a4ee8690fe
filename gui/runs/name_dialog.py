"""Name and note of a run: the field of a note, the dialog in which a run of the queue gets both.

Knows: what a name and a note may be. Does not know: the queue, the store.
"""

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QDialog, QLineEdit, QPlainTextEdit, QWidget

from engine.core.errors import SetupError
from engine.core.formatting import visible
from engine.core.run_records import LONGEST_NAME, checked_name, checked_note
from gui.kit.foreign_text import OneLine
from gui.kit.labels import hint, label, name
from gui.kit.layouts import in_column, ok_and_cancel
from gui.kit.notice import problem_of
from gui.runs.queued import Queued

_LINES = 3
_WHEN = "The run gets both when it begins. If it resumes an earlier run, that run gets them."


class NoteField(QPlainTextEdit):
    """A few lines for a note; whether somebody has written there is known."""

    def __init__(self, accessible: str, what: str = "") -> None:
        super().__init__()
        self.setTabChangesFocus(True)
        self.setFixedHeight(self.fontMetrics().lineSpacing() * _LINES + 16)
        name(self, accessible, what)

    @property
    def modified(self) -> bool:
        """True where something was written since it was filled or taken."""
        return self.document().isModified()

    def fill(self, text: str) -> None:
        """Show a note; nobody is told of a change."""
        with QSignalBlocker(self):
            self.setPlainText(text)
            self.document().setModified(False)

    def take(self) -> str:
        """The note as it is written now, which counts as kept from here on."""
        self.document().setModified(False)
        return self.toPlainText()


class RunNameDialog(QDialog):
    """Asks how a run is called; what cannot be stored is said, and the dialog stays open."""

    called = Signal(str, str)  # name, note

    def __init__(self, entry: Queued, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Name and note")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.name = QLineEdit(entry.name, maxLength=LONGEST_NAME, placeholderText="Name, shown in lists")
        self.name.selectAll()
        name(self.name, "Name of the run")
        self.note = NoteField("Note of the run")
        self.note.setPlaceholderText("Note")
        self.note.fill(entry.note)
        self.said = label("", "warning")
        self.said.hide()
        in_column(
            OneLine(f"{entry.what}, {entry.setup.model_path.stem}, {entry.how}", role=""),
            self.name,
            self.note,
            hint(_WHEN if entry.run_id is None else f"Run {entry.run_id} gets the name at once."),
            self.said,
            ok_and_cancel(self),
            on=self,
            margins=None,
            spacing=10,
        )
        self.setMinimumWidth(self.fontMetrics().averageCharWidth() * 64)

    def accept(self) -> None:
        """Close, unless what is written cannot be stored."""
        try:
            called = checked_name(self.name.text()), checked_note(self.note.toPlainText())
        except SetupError as error:
            self.said.setText(visible("\n".join(problem_of(error))))
            self.said.show()
            return
        self.called.emit(*called)
        super().accept()
