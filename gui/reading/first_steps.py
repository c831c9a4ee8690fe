"""What a person reads who opens the program for the first time: what it does, and the three steps.

Knows: how it is laid out. Does not know: when it is to be shown.
"""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from gui.kit.labels import heading, hint, label, name
from gui.reading.glossary import THREE_STEPS, WHAT_IT_DOES
from gui.reading.help_dialog import show_help

_DEMO = "To try it, the demo dataset and the demo model are chosen already: just press Run."
_OWN = "Your own data: Ctrl+O, or drop a file on the window."


class FirstSteps(QFrame):
    """A panel that can be closed."""

    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        steps = QGridLayout()
        steps.setColumnStretch(1, 1)
        steps.setHorizontalSpacing(12)
        for number, (title, what) in enumerate(THREE_STEPS, start=1):
            steps.addWidget(heading(f"{number}. {title}"), number, 0, Qt.AlignmentFlag.AlignTop)
            steps.addWidget(label(what), number, 1)
        words, close = QPushButton("What the words mean (F1)"), QPushButton("Close")
        name(close, "Show these first steps no more")
        words.clicked.connect(lambda: show_help(self.window()))
        close.clicked.connect(self.closed)
        buttons = QHBoxLayout()
        buttons.addWidget(words)
        buttons.addWidget(close)
        buttons.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 10, 12, 10)
        layout.setSpacing(8)
        for widget in (heading("Welcome to Tiebreak"), label(WHAT_IT_DOES)):
            layout.addWidget(widget)
        layout.addLayout(steps)
        layout.addWidget(hint(f"{_DEMO} {_OWN}"))
        layout.addLayout(buttons)
