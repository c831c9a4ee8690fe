"""Says above all pages that a run has just ended and is shown, and leads back to the one that was looked at.

Knows: the workspace's runs. Does not know: pages.
"""

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QWidget

from engine.core.formatting import visible
from gui.kit.labels import label, name, set_role
from gui.work.workspace import Workspace


class EndedLine(QFrame):
    """Hidden until a run takes the place of another; gone once a person went back, stayed or chose one."""

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "note")
        self._workspace = workspace
        self.text = label("")
        self.back = QPushButton("")
        self.back.clicked.connect(workspace.go_back)
        self.stay = QPushButton("Dismiss")
        name(self.stay, "Stay with the run that is shown")
        self.stay.clicked.connect(workspace.stay)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 8, 12, 8)
        layout.addWidget(self.text, 1)
        layout.addWidget(self.back)
        layout.addWidget(self.stay)
        workspace.replaced_changed.connect(self.follow)
        self.follow()

    @Slot()
    def follow(self) -> None:
        """Show or hide, as the workspace says."""
        replaced = self._workspace.replaced
        self.setVisible(replaced is not None)
        if replaced is None:
            return
        was, where = "looking at", ""
        if replaced.place is not None:
            was, where = "reviewing", f", item {replaced.place.item_id}"
        run = self._workspace.run
        doubt = f" {run.health.in_short}".rstrip() if run is not None else ""
        set_role(self, "problem" if doubt else "note")
        is_open = run is not None and run.id == replaced.run_id
        title = run.results.run.title if run is not None and is_open else f"Run {replaced.run_id}"
        shown = f"{title} {replaced.how} and is shown."
        text = f"{shown}{doubt} You were {was} {replaced.called}."
        self.text.setText(visible(text))
        self.setAccessibleName(visible(text))
        self.back.setText(f"Bac&k to {visible(replaced.called).replace('&', '&&')}")
        name(self.back, visible(f"Back to {replaced.called}{where}"))
