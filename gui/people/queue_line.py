"""How far a person is, and the buttons that confirm an item, skip it, or take it back.

Knows: how it is laid out. Does not know: items, labels.
"""

from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from engine.core.judgments import ReviewState
from gui.kit.flow import FlowLayout
from gui.kit.foreign_text import OneLine, tip
from gui.kit.labels import name
from gui.people.item_queue import ItemQueue
from gui.people.naming import WhoButton
from gui.people.progress import STATE_WORDS


class QueueLine(QWidget):
    """Below the list."""

    def __init__(self, queue: ItemQueue, who: WhoButton, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = OneLine()
        self.confirm = QPushButton("Confirm (Enter)")
        name(
            self.confirm,
            "Confirm the item",
            "You agree with all its labels; the next one to do follows",
        )
        self.skip = QPushButton("Skip (S)")
        name(self.skip, "Skip the item", "Leave the item out for now; the next one to do follows")
        self.again = QPushButton("To do (T)")
        name(self.again, "Take the item back to to do")
        self.confirm.clicked.connect(queue.confirm)
        self.skip.clicked.connect(queue.skip)
        self.again.clicked.connect(queue.take_back)
        buttons = FlowLayout(gap=4)
        for button in (self.confirm, self.skip, self.again):
            buttons.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        line = QHBoxLayout()
        line.addWidget(self.text, 1)
        line.addWidget(who)
        layout.addLayout(line)
        layout.addLayout(buttons)

    def show_progress(self, words: str) -> None:
        """Show how far the person is."""
        self.text.setText(words)
        self.text.setToolTip(tip(words))
        self.text.setAccessibleName(words)

    def show_state(self, state: ReviewState | None) -> None:
        """Offer what can be done with an item in this state; None where there is no item."""
        self.confirm.setEnabled(state is not None)
        self.skip.setEnabled(state is not None)
        self.again.setVisible(state not in (None, ReviewState.TO_DO))
        self.again.setText(f"{STATE_WORDS[state].capitalize()}: to do again (T)" if state else "")
