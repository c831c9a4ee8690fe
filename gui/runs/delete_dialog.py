"""The question before runs are deleted: what goes with them, what that frees, what annotators decided.

Knows: how that is asked. Does not know: how runs are deleted.
"""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QDialog, QDialogButtonBox, QPlainTextEdit, QPushButton, QWidget

from engine.core.formatting import counted, visible
from engine.core.run_deletion import RunContents, amount_of_file
from gui.kit.foreign_text import plain_label
from gui.kit.labels import heading, hint, name
from gui.kit.layouts import STRETCH, in_column, make_room


class DeleteDialog(QDialog):
    """Where annotators decided something, the runs are deleted only once it is ticked that this goes, too."""

    wanted = Signal(bool)  # delete; with what annotators decided
    export_wanted = Signal()

    def __init__(self, held: Sequence[RunContents], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Delete runs")
        number = counted(len(held), "run", "runs")
        frees = amount_of_file(sum(each.n_bytes for each in held))
        self._decided = any(each.decided for each in held)
        self.list = QPlainTextEdit(visible("\n".join(each.in_words for each in held)))
        self.list.setReadOnly(True)
        self.list.setTabChangesFocus(True)
        name(self.list, "What would be deleted")
        self.tick = QCheckBox("Delete the annotations in them, too")
        self.tick.setVisible(self._decided)
        self.tick.toggled.connect(self._follow_tick)
        in_column(
            heading(f"Delete {number}? That frees about {frees}."),
            (self.list, STRETCH),
            plain_label("This cannot be undone. Export first what you may still need."),
            hint("Datasets, models, exports and the notes and tags of items stay."),
            self.tick,
            self._buttons(number),
            on=self,
            margins=None,
            spacing=10,
        )
        make_room(self, 84, 19)
        self._follow_tick()

    def _buttons(self, number: str) -> QDialogButtonBox:
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.delete = QPushButton(f"&Delete {number}", autoDefault=False)
        self.delete.clicked.connect(self._agree)
        self.export = QPushButton("&Export first…", autoDefault=False)
        name(self.export, "Export first", "Opens the first of the runs on the Results page")
        self.export.clicked.connect(self._export)
        buttons.addButton(self.export, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.addButton(self.delete, QDialogButtonBox.ButtonRole.DestructiveRole)
        buttons.rejected.connect(self.reject)
        cancel = buttons.button(QDialogButtonBox.StandardButton.Cancel)
        cancel.setDefault(True)
        cancel.setFocus()
        return buttons

    def _follow_tick(self) -> None:
        self.delete.setEnabled(self.tick.isChecked() or not self._decided)

    def _agree(self) -> None:
        self.accept()
        self.wanted.emit(self.tick.isChecked())

    def _export(self) -> None:
        self.reject()
        self.export_wanted.emit()
