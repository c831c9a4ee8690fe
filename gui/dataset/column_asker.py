"""The one place that asks which columns of a file are which, whatever the file is for.

Knows: when the dialog opens, and who is told what was chosen. Does not know: what is chosen there.
"""

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QWidget

from gui.dataset.columns_dialog import ColumnsDialog
from gui.work.dataset_reader import ColumnsWish
from gui.work.workspace import Workspace


class ColumnAsker(QObject):
    """Follows the workspace's wishes. `dialog`: the one that was opened last."""

    def __init__(self, workspace: Workspace, widget: QWidget) -> None:
        """`widget`: in the window that a dialog stands before."""
        super().__init__(widget)
        self._workspace = workspace
        self._widget = widget
        self.dialog: ColumnsDialog | None = None
        workspace.columns_wanted.connect(self.ask)

    @Slot(object)
    def ask(self, wish: ColumnsWish) -> None:
        """Open the dialog."""
        dialog = ColumnsDialog(self._workspace, wish, self._widget.window())
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.chosen.connect(wish.read)
        dialog.rejected.connect(wish.left)
        self.dialog = dialog
        dialog.open()
