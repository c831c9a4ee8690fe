"""An error or a note in the window: the problem, the remedy, and the details to copy.

Knows: how errors are worded. Does not know: where they come from.
"""

import traceback

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from engine.core import VERSION
from engine.core.errors import EngineError, SetupError
from engine.core.formatting import visible
from gui.kit.foreign_text import plain_label
from gui.kit.labels import name, set_role
from gui.kit.remedies import IN_THE_WINDOW

_FEWEST_LINES, _MOST_LINES = 3, 9


def problem_of(error: EngineError) -> tuple[str, str]:
    """What is wrong, and the next step, in words for people."""
    if isinstance(error, SetupError):
        return error.problem, IN_THE_WINDOW.of(error.remedy)
    return (
        f"This is a fault of Tiebreak, not yours: {error}",
        "What was judged is kept. Copy the details and report them; then try again.",
    )


def details_of(error: EngineError) -> str:
    """All that is known of an error, for a report."""
    lines = [f"Tiebreak {VERSION}", *problem_of(error)]
    if not isinstance(error, SetupError):
        lines.append("".join(traceback.format_exception(error)))
    return "\n".join(lines)


class Notice(QFrame):
    """Hidden until there is something to say."""

    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "problem")
        self._details = ""
        self._first = plain_label()
        self._first.setStyleSheet("font-weight: 600;")
        self._list = QPlainTextEdit()
        self._list.setReadOnly(True)
        self._list.setTabChangesFocus(True)
        name(self._list, "All problems that were found")
        self._remedy = plain_label()
        self._copy = QPushButton("Copy details")
        name(self._copy, "Copy the details of the problem")
        self._copy.clicked.connect(self._copy_details)
        self._close = QPushButton("Dismiss")
        name(self._close, "Dismiss this message")
        self._close.clicked.connect(self.dismiss)
        texts = QVBoxLayout()
        texts.addWidget(self._first)
        texts.addWidget(self._list)
        texts.addWidget(self._remedy)
        self._buttons = buttons = QVBoxLayout()
        buttons.addWidget(self._copy)
        buttons.addWidget(self._close)
        buttons.addStretch(1)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 8, 12, 8)
        layout.addLayout(texts, 1)
        layout.addLayout(buttons)
        self.hide()

    def show_error(self, error: EngineError) -> None:
        """Say what is wrong; many problems become a list."""
        problem, remedy = problem_of(error)
        self._show("problem", problem, remedy, details_of(error))

    def show_note(self, text: str, remedy: str = "", bad: bool = False) -> None:
        """Say something that is no error but must be seen; `bad`: in the colour of a problem."""
        self._show("problem" if bad else "note", text, remedy, f"{text}\n{remedy}".strip())

    def offer(self, text: str) -> QPushButton:
        """A button more, above the others: the next step to take."""
        button = QPushButton(text)
        self._buttons.insertWidget(0, button)
        return button

    @property
    def text(self) -> str:
        """All that it says."""
        parts = (self._first.text(), self._list.toPlainText(), self._remedy.text())
        return "\n".join(part for part in parts if part)

    def dismiss(self) -> None:
        """Say nothing any more."""
        self.hide()
        self.closed.emit()

    def _show(self, role: str, text: str, remedy: str, details: str) -> None:
        set_role(self, role)
        first, _, rest = text.partition("\n")
        self._first.setText(visible(first))
        found = [line.strip() for line in rest.splitlines()]
        self._list.setPlainText(visible("\n".join(found)))
        self._list.setVisible(bool(rest))
        line = self.fontMetrics().lineSpacing()
        self._list.setMinimumHeight(line * min(_FEWEST_LINES, len(found)) + 18)
        self._list.setMaximumHeight(line * min(_MOST_LINES, len(found)) + 18)
        self._remedy.setText(visible(remedy))
        self._remedy.setVisible(bool(remedy))
        self._details = details
        self._copy.setText("Copy details")
        self.setAccessibleName(visible(f"{text} {remedy}"))
        self.show()

    def _copy_details(self) -> None:
        QGuiApplication.clipboard().setText(self._details)
        self._copy.setText("Copied")
