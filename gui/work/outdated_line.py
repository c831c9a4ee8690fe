"""Says that explanations were written for another label than the effective one, and offers to write them
again.

Knows: the rewriter. Does not know: which page it stands on.
"""

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QBoxLayout, QFrame, QPushButton

from gui.kit.busy import BusyLine
from gui.kit.labels import guard, hint, label, name
from gui.work.rewriter import Rewriter


class StaleLine(QFrame):
    """Hidden where nothing is stale. `across`: beside each other, for a wide page."""

    def __init__(self, rewriter: Rewriter, across: bool) -> None:
        super().__init__()
        self.setProperty("role", "note")
        self._rewriter = rewriter
        self.text = label("")
        self.why_not = hint("")
        self.button = QPushButton("")
        self.button.clicked.connect(rewriter.start)
        guard(self.button)
        self.busy = BusyLine()
        self.busy.cancelled.connect(rewriter.cancel)
        direction = QBoxLayout.Direction.LeftToRight if across else QBoxLayout.Direction.TopToBottom
        line = QBoxLayout(direction)
        line.addWidget(self.text, 1)
        line.addWidget(self.button, 0, Qt.AlignmentFlag.AlignLeft)
        outer = QBoxLayout(QBoxLayout.Direction.TopToBottom, self)
        outer.setContentsMargins(12, 8, 12, 8)
        outer.setSpacing(6)
        outer.addLayout(line)
        outer.addWidget(self.why_not)
        outer.addWidget(self.busy)
        rewriter.changed.connect(self.follow)
        self.follow()

    @Slot()
    def follow(self) -> None:
        """Show how things are now."""
        stale, busy, why_not = self._rewriter.stale, self._rewriter.busy, self._rewriter.obstacle
        single = stale == 1
        many = "1 explanation was" if single else f"{stale:,} explanations were"
        self.text.setText(f"{many} written for another label than the effective one.")
        self.button.setText("Write it again" if single else "Write them again")
        name(self.button, f"{many} written for another label: {self.button.text().lower()}")
        self.button.setEnabled(not why_not)
        self.button.setToolTip(why_not or "By the run's model, for the effective labels")
        self.button.setAccessibleDescription(why_not)
        self.button.setVisible(not busy)
        self.text.setVisible(stale > 0)
        self.why_not.setText(why_not)
        self.why_not.setVisible(bool(why_not) and not busy)
        self._show_work(busy)
        self.setVisible(stale > 0 or busy)

    def _show_work(self, busy: bool) -> None:
        progress = self._rewriter.progress
        if not busy:
            self.busy.end()
            return
        if self.busy.isHidden():
            self.busy.begin(self._rewriter.doing)
        if progress is not None:
            self.busy.go_on(self._rewriter.doing, progress.done, progress.total)
