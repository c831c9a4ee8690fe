"""Two runs side by side: settings, model, dataset, times; what differs is marked and comes first. Below it
what changed in what they say, once it is known.

The question before runs are deleted: what goes with them, what that frees, what annotators decided.
"""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSortFilterProxyModel, Qt, Signal, Slot
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QCheckBox, QDialog, QDialogButtonBox, QPlainTextEdit, QPushButton, QWidget

from engine.core.errors import EngineError
from engine.core.formatting import counted, visible
from engine.core.tables import Sheet, Table
from engine.settings.run_lists import RunContents, amount_of_file
from gui.widgets.foreign_text import plain_label
from gui.widgets.labels import STRETCH, heading, hint, in_column, make_room, name, scrolling
from gui.widgets.notice import problem_of
from gui.widgets.text_views import SheetView
from gui.widgets.value_table import SORT_ROLE, TableModel
from gui.widgets.views import FillingView, dressed


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


_FACT, _DIFFERS, _FIRST, _OTHER = range(4)
Index = QModelIndex | QPersistentModelIndex


class DifferencesModel(TableModel):
    """What differs is bold."""

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """As any table, with a heavier font for what differs."""
        if role == Qt.ItemDataRole.FontRole and index.isValid() and self.differs(index.row()):
            font = QFont()
            font.setWeight(QFont.Weight.DemiBold)
            return font
        return super().data(index, role)

    def differs(self, row: int) -> bool:
        """Whether the two runs differ in the fact of a row."""
        return self._table.rows[row][_DIFFERS] is True


class _Only(QSortFilterProxyModel):
    """All rows, or those that differ."""

    def __init__(self, source: DifferencesModel) -> None:
        super().__init__(source)
        self._model = source
        self._only = False
        self.setSourceModel(source)
        self.setSortRole(SORT_ROLE)

    def show_only(self, only: bool) -> None:
        """Leave out what is alike."""
        self.beginFilterChange()
        self._only = only
        self.endFilterChange()

    def filterAcceptsRow(self, row: int, _parent: Index) -> bool:
        """Whether a row is shown."""
        return not self._only or self._model.differs(row)


class DifferencesDialog(QDialog):
    """Shows a table of `engine.report.run`, and the sheet of `engine.report.drift` once
    it is given.
    """

    def __init__(self, table: Table, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Compare settings")
        self.table = DifferencesModel(self)
        self.table.show_table(table)
        self._order = _Only(self.table)
        number = sum(self.table.differs(row) for row in range(self.table.rowCount()))
        said = counted(number, "difference", "differences") if number else "No differences"
        titles = (visible(table.titles[column]) for column in (_FIRST, _OTHER))
        self.summary = hint(f"{' and '.join(titles)}: {said}. Names, notes and times are not compared.")
        self.only = QCheckBox("Only what differs")
        self.only.setEnabled(number > 0)
        self.only.toggled.connect(self._order.show_only)
        self.view = dressed(FillingView(), self._order, "Facts of two runs")
        letter = self.view.fontMetrics().averageCharWidth()
        self.view.setColumnWidth(_FACT, 32 * letter)
        self.view.setColumnWidth(_DIFFERS, self.view.title_width(_DIFFERS))
        self.view.fill({_FIRST: 20 * letter, _OTHER: 20 * letter})
        name(self.only, self.only.text())
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        self._make_changes()
        layout = in_column(self.summary, self.only, on=self, margins=None)
        for part, stretch in ((self.view, 2), (self.said, 0), (self._room, 3), (buttons, 0)):
            layout.addWidget(part, stretch)
        make_room(self, 150, 46)

    def _make_changes(self) -> None:
        self.said = hint("Regression check: reading both runs …")
        self.changes = SheetView()
        self._room = scrolling(self.changes, "Regression check")
        self._room.hide()

    @Slot(object)
    def show_changes(self, sheet: Sheet) -> None:
        """Show what changed."""
        self.said.hide()
        self.changes.show_sheet(sheet)
        self._room.show()

    @Slot(object)
    def tell_problem(self, error: EngineError) -> None:
        """Say why that cannot be told."""
        problem, _hint = problem_of(error)
        self.said.setText(visible(f"No regression check. {problem}"))
