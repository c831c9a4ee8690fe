"""The offer to go on with the run that was not finished last time.

Knows: words and two buttons. Does not know: which run.
"""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QWidget

from engine.shown import visible
from gui.widgets.labels import label, name


class ResumeBanner(QFrame):
    """Hidden until there is such a run."""

    resumed = Signal()
    dismissed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "note")
        self._text = label("")
        resume = QPushButton("Resume")
        name(resume, "Resume the run that was not finished")
        resume.clicked.connect(self.resumed)
        dismiss = QPushButton("Dismiss")
        name(dismiss, "Dismiss the offer to resume", "What was judged stays in the store.")
        dismiss.clicked.connect(self.dismissed)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 8, 12, 8)
        layout.addWidget(self._text, 1)
        layout.addWidget(resume)
        layout.addWidget(dismiss)
        self.hide()

    @property
    def text(self) -> str:
        """What it says."""
        return self._text.text()

    def offer(self, text: str) -> None:
        """Show the offer."""
        self._text.setText(visible(text))
        self.setAccessibleName(visible(text))
        self.show()
