"""Which human labels the run is compared with, and buttons to choose others.

Knows: the workspace's labels. Does not know: what is measured.
"""

from pathlib import Path

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from engine.core.formatting import short_name, visible
from gui.kit.file_dialogs import DATASETS, ask_source
from gui.kit.foreign_text import OneLine, set_tip
from gui.kit.labels import name
from gui.kit.layouts import in_row
from gui.work.workspace import Workspace


class GoldPicker(QWidget):
    """Follows the workspace; choosing a dataset opens it there."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self.status = OneLine()
        self.status.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.other = QPushButton("Ch&oose labels…")
        name(self.other, "Choose labels", "Score the run against the human labels of another dataset")
        self.other.clicked.connect(self._ask)
        self.own = QPushButton("Run's own")
        name(self.own, "Run's own labels", "Score the run against the labels of its own dataset again")
        self.own.clicked.connect(workspace.use_own_labels)
        in_row(self.status, self.other, self.own, on=self)
        workspace.gold_changed.connect(self.follow)
        workspace.problem.connect(self.follow)  # the reading may have failed
        workspace.run_changed.connect(self.follow)
        self.follow()

    def open(self, path: Path) -> None:
        """Read a dataset with human labels."""
        self.status.setText(visible(f"Reading {path.name} …"))
        self._workspace.open_gold(path)

    @Slot()
    def follow(self) -> None:
        """Say what is effective now."""
        gold = self._workspace.gold
        run = self._workspace.run
        text = "Without human labels"
        if gold is not None:
            text = f"Against the human labels of {short_name(gold.name)}, {self._workspace.gold_from}"
        elif run is not None:
            judged = run.results.run.identity.dataset_path.name
            why = "has none" if run.dataset is not None else "is missing or has changed"
            text = f"{text}: {judged} {why}"
        self.status.setText(visible(text))
        set_tip(self.status, str(gold.path) if gold is not None else "")
        self.own.setVisible(self._workspace.has_chosen_gold)

    def _ask(self) -> None:
        gold, run = self._workspace.gold, self._workspace.run
        folder = Path.home()
        if gold is not None:
            folder = gold.path.parent
        elif run is not None:
            folder = run.results.run.identity.dataset_path.parent
        path = ask_source(self, "Choose a dataset with human labels", folder, DATASETS)
        if path is not None:
            self.open(path)
