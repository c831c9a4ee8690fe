"""The list of all runs of the store, to choose the one that is looked at.

Knows: the workspace's runs. Does not know: what is shown of a run.
"""

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QComboBox, QWidget

from gui.text import one_line, tip
from gui.workspace import Workspace

_WIDEST = 46  # characters of an entry that the closed box shows


class RunPicker(QComboBox):
    """Follows the workspace; choosing a run opens it there."""

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self.setAccessibleName("Run that is looked at")
        self.setMinimumContentsLength(_WIDEST // 2)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.activated.connect(self._choose)
        workspace.runs_changed.connect(self._fill)
        workspace.run_changed.connect(self._fill)
        self._fill()

    @Slot()
    def _fill(self) -> None:
        run = self._workspace.run
        self.blockSignals(True)
        self.clear()
        for one in self._workspace.runs:
            identity = one.identity
            text = (
                f"Run {one.id}: {identity.dataset_path.name}, {identity.model_name},"
                f" {one.judged:,}/{identity.items:,} items, {one.created:%Y-%m-%d %H:%M}"
            )
            self.addItem(one_line(text), one.id)
            self.setItemData(self.count() - 1, tip(text), Qt.ItemDataRole.ToolTipRole)
        self.setCurrentIndex(self.findData(run.id) if run else -1)
        self.setPlaceholderText("Choose a run" if self.count() else "No runs yet")
        self.setEnabled(self.count() > 0)
        self.setToolTip(tip(self.currentText()))
        self.blockSignals(False)

    @Slot(int)
    def _choose(self, index: int) -> None:
        self._workspace.open_run(self.itemData(index))
