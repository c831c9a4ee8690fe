"""An error or a note in the window: the problem, the hint, and the details to copy.

Knows: how errors are worded. Does not know: where they come from.
"""

import traceback
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QMessageBox, QPlainTextEdit, QPushButton, QWidget

from engine.core import VERSION
from engine.core.errors import EngineError, SetupError
from engine.core.formatting import visible
from gui.kit.foreign_text import plain_label
from gui.kit.labels import name, set_role, show_text
from gui.kit.layouts import STRETCH, in_column, in_row
from gui.kit.remedies import IN_THE_WINDOW

_FEWEST_LINES, _MOST_LINES = 3, 9
_COPY = "Copy details"


def problem_of(error: EngineError) -> tuple[str, str]:
    """What is wrong, and the next step, in words for display."""
    if isinstance(error, SetupError):
        return error.problem, IN_THE_WINDOW.of(error.hint)
    return (
        f"This is a bug in Tiebreak: {error}",
        "Judged items are saved. Copy the details and report them; then try again.",
    )


def details_of(error: EngineError) -> str:
    """All that is known of an error, for a report."""
    lines = [f"Tiebreak {VERSION}", *problem_of(error)]
    if not isinstance(error, SetupError):
        lines.append("".join(traceback.format_exception(error)))
    return "\n".join(lines)


def question(parent: QWidget, title: str, text: str, more: str = "") -> QMessageBox:
    """A box that asks, in plain text; its buttons are those of whoever asks."""
    box = QMessageBox(parent, textFormat=Qt.TextFormat.PlainText, icon=QMessageBox.Icon.Question)
    box.setWindowTitle(title)
    box.setText(visible(text))
    box.setInformativeText(visible(more))
    return box


@dataclass(frozen=True)
class Message:
    """What a notice says: a `text`, whose first line stands out, and the next step.

    `role`: that of its frame: problem, note or done. `details`: what is copied, where that is more. `steps`:
    what can be done about it, by the words of its buttons. `about`: a later notice about the same takes its
    place, and it goes once that is over; None for nothing that ends. `quiet`: nobody waits for it.
    """

    text: str
    hint: str = ""
    role: str = "note"
    details: str = ""
    steps: Mapping[str, Callable[[], object]] = field(default_factory=dict)
    about: Hashable = None
    quiet: bool = False

    @classmethod
    def of(cls, error: EngineError) -> "Message":
        """An error: what is wrong, the next step, and all that is known for a report."""
        problem, hint = problem_of(error)
        return cls(problem, hint, "problem", details_of(error))

    @property
    def in_words(self) -> str:
        """All of it."""
        return "\n".join(filter(None, (self.text, self.hint)))


class NoticeWords(QWidget):
    """What a notice says, one part below the other: what it is, all that was found, the next step."""

    def __init__(self) -> None:
        super().__init__()
        self._first = plain_label()
        self._first.setStyleSheet("font-weight: 600;")
        self._list = QPlainTextEdit(readOnly=True, tabChangesFocus=True)
        name(self._list, "All problems that were found")
        self._hint = plain_label()
        in_column(self._first, self._list, self._hint, on=self)

    @property
    def text(self) -> str:
        """All that it says."""
        parts = (self._first.text(), self._list.toPlainText(), self._hint.text())
        return "\n".join(part for part in parts if part)

    def show_message(self, said: Message) -> None:
        """Say this, in place of what it said; many lines become a list."""
        first, _, rest = said.text.partition("\n")
        self._first.setText(visible(first))
        found = [line.strip() for line in rest.splitlines()]
        self._list.setPlainText(visible("\n".join(found)))
        self._list.setVisible(bool(rest))
        line = self.fontMetrics().lineSpacing()
        self._list.setMinimumHeight(line * min(_FEWEST_LINES, len(found)) + 18)
        self._list.setMaximumHeight(line * min(_MOST_LINES, len(found)) + 18)
        show_text(self._hint, said.hint)


class CopyButton(QPushButton):
    """Copies the details of what a notice says."""

    def __init__(self) -> None:
        super().__init__(_COPY)
        name(self, "Copy the details of the problem")
        self._details = ""
        self.clicked.connect(self._copy)

    def show_message(self, said: Message) -> None:
        """Copy the details of this from now on."""
        self._details = said.details or said.in_words
        self.setText(_COPY)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._details)
        self.setText("Copied")


class Notice(QFrame):
    """A notice in its own place on a page or in a dialog; hidden until there is something to say."""

    closed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "problem")
        self._words = NoticeWords()
        self._copy = CopyButton()
        self._close = QPushButton("Dismiss")
        name(self._close, "Dismiss this message")
        self._close.clicked.connect(self.dismiss)
        self._buttons = in_column(self._copy, self._close, STRETCH)
        in_row((self._words, STRETCH), self._buttons, on=self, margins=(12, 8, 12, 8))
        self.hide()

    def show_error(self, error: EngineError) -> None:
        """Say what is wrong."""
        self._show(Message.of(error))

    def show_note(self, text: str, hint: str = "") -> None:
        """Say something that is no error but must be seen."""
        self._show(Message(text, hint))

    def offer(self, text: str) -> QPushButton:
        """A button more, above the others: the next step to take."""
        button = QPushButton(text)
        self._buttons.insertWidget(0, button)
        return button

    @property
    def text(self) -> str:
        """All that it says."""
        return self._words.text

    def dismiss(self) -> None:
        """Say nothing any more."""
        self.hide()
        self.closed.emit()

    def _show(self, said: Message) -> None:
        set_role(self, said.role)
        self._words.show_message(said)
        self._copy.show_message(said)
        self.setAccessibleName(visible(said.in_words))
        self.show()
