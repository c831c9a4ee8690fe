"""What the review says where there is nothing to look at, or only a part of it.

Knows: the workspace's run and dataset. Does not know: judgments.
"""

from pathlib import Path

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QFileDialog, QFrame, QPushButton, QVBoxLayout, QWidget

from engine.shown import visible
from gui.text import plain_label
from gui.widgets.labels import heading, hint, main_button, name
from gui.workspace import Workspace


class NothingToReview(QWidget):
    """Says why there is nothing, and leads to where a run is made."""

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._first = heading("")
        self._next = hint("")
        self.button = main_button("Go to Judge")
        name(self.button, "Go to the Judge page")
        self.button.clicked.connect(self._go)
        layout = QVBoxLayout(self)
        layout.addStretch(1)
        for widget in (self._first, self._next, self.button):
            layout.addWidget(widget, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(2)
        self._next.setWordWrap(False)
        self.follow()

    def follow(self) -> None:
        """Say it of the run that is open, if one is."""
        if self._workspace.run is None:
            self._first.setText("No run is open.")
            self._next.setText("Judge a dataset, or choose a run above.")
        else:
            self._first.setText(f"Run {self._workspace.run.id} has judged nothing yet.")
            self._next.setText("Its judgments appear here as it goes on.")

    @Slot()
    def _go(self) -> None:
        self._workspace.page_wanted.emit("Judge")


class MissingDataset(QFrame):
    """Says that the run's dataset is not at hand, and asks for its file."""

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "note")
        self._workspace = workspace
        self._looked_for: int | None = None
        self.text = plain_label()
        self.find_button = QPushButton("Find the dataset…")
        name(self.find_button, "Find the dataset of this run")
        self.find_button.clicked.connect(self._ask)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 8, 12, 8)
        layout.addWidget(self.text)
        layout.addWidget(self.find_button, 0, Qt.AlignmentFlag.AlignLeft)
        workspace.dataset_changed.connect(self._reopen)
        workspace.dataset_failed.connect(self._forget)
        self.follow()

    def follow(self) -> None:
        """Show or hide, as the open run needs it."""
        run = self._workspace.run
        self.setVisible(run is not None and run.dataset is None)
        if run is None or run.dataset is not None:
            self._looked_for = None
            return
        identity = run.results.run.identity
        again = "The file that you chose holds other items than this run judged. " if self._looked_for else ""
        self.text.setText(
            visible(
                f"{again}The dataset of run {run.id} ({identity.dataset_path}) is gone or has changed."
                " Its judgments are shown without the texts."
            )
        )
        self._looked_for = None

    def look_in(self, path: Path) -> None:
        """Try a file."""
        run = self._workspace.run
        if run is not None:
            self._looked_for = run.id
            self._workspace.open_dataset(path)

    @Slot()
    def _ask(self) -> None:
        run = self._workspace.run
        folder = run.results.run.identity.dataset_path.parent if run else Path()
        chosen, _ = QFileDialog.getOpenFileName(self, "Find the dataset", str(folder))
        if chosen:
            self.look_in(Path(chosen))

    @Slot()
    def _reopen(self) -> None:
        if self._looked_for is not None:
            self._workspace.open_run(self._looked_for)

    @Slot(object)
    def _forget(self, _error: object) -> None:
        self._looked_for = None
