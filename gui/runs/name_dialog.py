"""The dialog in which a run of the queue gets a name and a note.

Knows: what a name and a note may be. Does not know: the queue, the store.
"""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLineEdit, QVBoxLayout, QWidget

from engine.core.errors import SetupError
from engine.core.formatting import visible
from engine.core.run_records import LONGEST_NAME, checked_name, checked_note
from gui.kit.foreign_text import OneLine
from gui.kit.labels import hint, label, name
from gui.kit.notice import problem_of
from gui.runs.note_field import NoteField
from gui.runs.queued import Queued


class RunNameDialog(QDialog):
    """Asks how a run is called; what cannot be stored is said, and the dialog stays open."""

    called = Signal(str, str)  # name, note

    def __init__(self, entry: Queued, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Name and note")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.name = QLineEdit(entry.name)
        self.name.setMaxLength(LONGEST_NAME)
        self.name.setPlaceholderText("Name, which lists show")
        self.name.selectAll()
        name(self.name, "Name of the run")
        self.note = NoteField("Note of the run")
        self.note.setPlaceholderText("Note")
        self.note.fill(entry.note)
        self.said = label("", "warning")
        self.said.hide()
        buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel
        )
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setSpacing(10)
        layout.addWidget(OneLine(f"{entry.what}, {entry.setup.model_path.stem}, {entry.how}", role=""))
        layout.addWidget(self.name)
        layout.addWidget(self.note)
        layout.addWidget(hint(_WHEN if entry.run_id is None else f"Run {entry.run_id} is called so at once."))
        layout.addWidget(self.said)
        layout.addWidget(buttons)
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


_WHEN = "The run gets both when it begins. If it goes on with an earlier run, that is called so."
