"""The items that are judged now: how far they are, an explanation as it grows, what a stop would lose.

Knows: events of a group, how they are worded. Does not know: runs, how anything is stopped.
"""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QProgressBar, QPushButton, QWidget

from engine.core.events import Drafted, GroupUnderWay
from engine.core.formatting import visible, words
from gui.kit.foreign_text import OneLine, one_line
from gui.kit.label_mark import LABEL_WORDS
from gui.kit.labels import hint, name, shown_text
from gui.kit.layouts import STRETCH, in_column, in_row

_WORTH_TELLING = 1.5  # seconds that a group takes: faster ones would only flicker
_LONGEST_ID = 40  # characters
_TAIL = 60  # characters of an explanation: its end is what is new


class GroupPanel(QWidget):
    """Hidden until a group takes longer than a moment; from then on until the run ends."""

    soon_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._what = OneLine()
        self._bar = QProgressBar(textVisible=False)
        self._bar.setMaximumHeight(6)
        name(self._bar, "Tokens of the item that is read")
        self._draft = OneLine()
        self._loss = hint("")
        self._soon = QPushButton("Stop after these items")
        name(self._soon, "Stop after the items being judged", "No work is lost.")
        self._soon.clicked.connect(self.soon_wanted)
        end = in_row((self._loss, STRETCH), self._soon)
        in_column(self._what, self._bar, self._draft, end, on=self, spacing=4)
        self.hide()

    @property
    def text(self) -> str:
        """All that it says, for screen readers and tests."""
        return shown_text(self)

    def end(self) -> None:
        """No group is judged any more."""
        self._draft.setText("")
        self.hide()

    def show_group(self, group: GroupUnderWay, ending: bool) -> None:
        """Show how far a group is; `ending`: the run is to stop after it."""
        item = one_line(group.item_id)
        item = f"{item[:_LONGEST_ID]}…" if len(item) > _LONGEST_ID else item
        self._bar.setRange(0, max(group.total, 1))
        self._bar.setValue(group.done)
        if group.writing:
            what = f"Writing explanations: {group.done:,} of about {group.total:,} tokens"
        else:
            what = f"Reading item {item}: {group.done:,} of {group.total:,} tokens"
            self._draft.setText("")
        self._what.setText(what)
        self._bar.setAccessibleDescription(what)
        self._soon.setEnabled(not ending)
        self._loss.setText(visible(group.ending_in_words if ending else group.loss_in_words))
        if group.seconds >= _WORTH_TELLING:
            self.show()

    def show_draft(self, draft: Drafted) -> None:
        """Show an explanation as far as it is written."""
        text = draft.text if len(draft.text) <= _TAIL else f"…{draft.text[-_TAIL:]}"
        label = LABEL_WORDS[draft.preference]
        self._draft.setText(f"{words(draft.criterion).capitalize()}, {label}: {one_line(text)}")
