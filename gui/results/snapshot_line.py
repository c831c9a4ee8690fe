"""Says that a run is shown as it was after some of its items, and offers to read it again.

Knows: how that is worded. Does not know: how runs are read.
"""

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QPushButton, QWidget

from gui.kit.labels import label, name
from gui.kit.layouts import STRETCH, in_row

if TYPE_CHECKING:
    from engine.core.run_records import StoredRun


class SnapshotLine(QWidget):
    """What is shown of a run that is not complete, and the way to more of it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = label("", "warning", wrap=False)
        self.again_button = QPushButton("Read again")
        name(self.again_button, "Read the run again", "Show what has been judged since")
        in_row(self.text, self.again_button, STRETCH, on=self)

    def follow(self, stored: "StoredRun | None", goes_on: bool) -> None:
        """Say how far a run is; nothing of a complete one, nor of a submission, which the scores tell."""
        self.setVisible(stored is not None and not stored.complete and not stored.submitted)
        if stored is not None:
            text = f"{stored.title} after {stored.judged:,} of {stored.identity.items:,} items"
            self.text.setText(f"{text}; it goes on." if goes_on else f"{text}.")
