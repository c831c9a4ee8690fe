"""What the review says where there is nothing to look at, or only a part of it.

Knows: the workspace's run and dataset. Does not know: judgments.
"""

from pathlib import Path

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QFileDialog, QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from engine.core.formatting import visible
from gui.kit.foreign_text import plain_label
from gui.kit.labels import heading, hint, main_button, name
from gui.work.page_name import PageName
from gui.work.places import UnderWay
from gui.work.workspace import Workspace


class NothingToReview(QWidget):
    """Says why there is nothing, and leads to where a run is made."""

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._first = heading("")
        self._next = hint("")
        self.button = main_button("")
        self.button.clicked.connect(self._go)
        self.submission = QPushButton("Open submission…")
        name(self.submission, "Open a submission file", "Review a submission file as a run (Ctrl+Shift+O)")
        self.submission.clicked.connect(workspace.submission_wanted)
        layout = QVBoxLayout(self)
        layout.addStretch(1)
        for widget in (self._first, self._next, self.button, self.submission):
            layout.addWidget(widget, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(2)
        self._next.setWordWrap(False)
        self.follow()

    def follow(self) -> None:
        """Say it of the run that is open, else of the one that is being judged, if one is."""
        judging = self._judging
        self.button.setText("Show what is judged so far" if judging and judging.judged else "Go to Judge")
        name(self.button, self.button.text() if judging and judging.judged else "Go to the Judge page")
        if judging is not None:
            far = f"{judging.judged:,} of {judging.items:,} items"
            self._first.setText(f"Run {judging.run_id} is being judged: {far}.")
            self._next.setText("It is opened here when it ends.")
        elif self._workspace.run is None:
            self._first.setText("No run is open.")
            self._next.setText("Judge a dataset, choose a run above, or open a submission file.")
        else:
            self._first.setText("The open run has judged nothing yet.")
            self._next.setText("Its judgments appear here as it goes on.")

    @property
    def _judging(self) -> UnderWay | None:
        """The run that is being judged, where no other one is open."""
        run, judging = self._workspace.run, self._workspace.judging
        other = run is not None and judging is not None and run.id != judging.run_id
        return None if other else judging

    @Slot()
    def _go(self) -> None:
        judging = self._judging
        if judging is not None and judging.judged:
            self._workspace.open_run(judging.run_id)
        else:
            self._workspace.page_wanted.emit(PageName.JUDGE)


class PartOfRun(QFrame):
    """Says that the open run was read before its end, and reads it again."""

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "note")
        self._workspace = workspace
        self.text = plain_label()
        self.again = QPushButton("Read again")
        name(self.again, "Read the run again, with what is judged by now")
        self.again.clicked.connect(workspace.read_run_again)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 6, 12, 6)
        layout.addWidget(self.text, 1)
        layout.addWidget(self.again)
        self.follow()

    def follow(self) -> None:
        """Show or hide, as the open run needs it."""
        run, judging = self._workspace.run, self._workspace.judging
        shown = len(run.results.judged) if run else 0
        goes_on = run is not None and judging is not None and judging.run_id == run.id
        listed = next((stored for stored in self._workspace.runs if run and stored.id == run.id), None)
        judged = judging.judged if goes_on and judging else listed.judged if listed else 0
        self.setVisible(bool(shown) and (goes_on or judged > shown))
        if run is not None:
            end = "the run goes on" if goes_on else f"{judged:,} are judged by now"
            self.text.setText(f"{shown:,} of {run.results.run.identity.items:,} items; {end}.")
        self.again.setEnabled(judged > shown)


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
        self._reading = workspace.reader(self)
        self._reading.finished.connect(workspace.take_dataset)
        self._reading.failed.connect(self._forget)
        self._reading.failed.connect(workspace.problem)
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
        again = "The file that you chose holds other items. " if self._looked_for else ""
        if again and self._workspace.dataset is not None and self._workspace.dataset.columns is not None:
            again = "Read by these columns, the file that you chose holds other items. "
        self.text.setText(
            visible(
                f"{again}The dataset of {run.results.run.called} ({identity.dataset_path}) is gone or has"
                " changed."
                " The judgments are shown without the texts."
            )
        )
        self._looked_for = None

    def look_in(self, path: Path) -> None:
        """Try a file."""
        run = self._workspace.run
        if run is not None:
            self._looked_for = run.id
            self._reading.read(path, judged=[run.results.run], moved=True)

    @Slot()
    def _ask(self) -> None:
        run = self._workspace.run
        folder = run.results.run.identity.dataset_path.parent if run else Path()
        chosen, _ = QFileDialog.getOpenFileName(self, "Find the dataset", str(folder))
        if chosen:
            self.look_in(Path(chosen))

    @Slot()
    def _reopen(self) -> None:
        run, dataset = self._workspace.run, self._workspace.dataset
        if self._looked_for is not None:
            self._workspace.open_run(self._looked_for)
        elif run and run.dataset is None and dataset and len(dataset) >= run.results.run.identity.items:
            # Opened elsewhere, it may be the right one; whether it is, the job that reads the run finds out.
            self._workspace.read_run_again()

    @Slot(object)
    def _forget(self, _error: object) -> None:
        self._looked_for = None
