"""The list of all runs of the store, to choose the one that is looked at.

Knows: the workspace's runs. Does not know: what is shown of a run.
"""

from PySide6.QtCore import QEvent, Qt, Slot
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QComboBox, QStyle, QStyleOptionComboBox, QStylePainter, QWidget

from gui.kit.foreign_text import one_line, tip
from gui.work.workspace import Workspace

_NARROWEST, _WIDEST = 23, 96  # characters that the closed box shows


class RunPicker(QComboBox):
    """Follows the workspace; choosing a run opens it there."""

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self.setAccessibleName("Run that is looked at")
        self.setMinimumContentsLength(_NARROWEST)
        self._limit()
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.activated.connect(self._choose)
        workspace.runs_changed.connect(self._fill)
        workspace.run_changed.connect(self._fill)
        self._fill()

    def changeEvent(self, event: QEvent) -> None:
        """Follow the size of the text."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._limit()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Show that the end of a long entry is left out."""
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        whole, part = QStyle.ComplexControl.CC_ComboBox, QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(whole, option, part, self).width() - 4
        text = option.currentText or self.placeholderText()
        option.currentText = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room)
        painter.drawComplexControl(whole, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.end()

    def _limit(self) -> None:
        self.setMaximumWidth(self.fontMetrics().averageCharWidth() * _WIDEST)

    @Slot()
    def _fill(self) -> None:
        self.blockSignals(True)
        self.clear()
        for run in self._workspace.runs:
            identity = run.identity
            items = "chosen items" if identity.chosen else "items"
            text = (
                f"Run {run.id}: {identity.dataset_path.name}, {identity.model_name},"
                f" {run.judged:,}/{identity.items:,} {items}, {run.created.astimezone():%Y-%m-%d %H:%M}"
            )
            self.addItem(one_line(text), run.id)
            self.setItemData(self.count() - 1, tip(text), Qt.ItemDataRole.ToolTipRole)
        self._show_open()
        self.setPlaceholderText("Choose a run" if self.count() else "No runs yet")
        self.setEnabled(self.count() > 0)
        self.setToolTip(tip(self.currentText()))
        self.blockSignals(False)

    @Slot(int)
    def _choose(self, index: int) -> None:
        self._workspace.open_run(self.itemData(index))
        # Named once it is there: until then, and where it cannot be opened, the other one is looked at.
        self._show_open()

    def _show_open(self) -> None:
        run = self._workspace.run
        self.setCurrentIndex(self.findData(run.id) if run else -1)
