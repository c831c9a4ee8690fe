"""The items on which systems differ: filters, the table, and the way to Review.

Knows: which differences are wanted. Does not know: how they are found, pages.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QSignalBlocker, QTimer, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QHeaderView, QLineEdit, QPushButton, QWidget

from engine.core.formatting import counted, words
from engine.core.review_filters import Filters
from gui.compare.compare_jobs import DifferenceFilter, filter_differences
from gui.compare.difference_table import DifferenceTableModel
from gui.kit.actions import add_key
from gui.kit.fields import ComboBox
from gui.kit.foreign_text import one_line
from gui.kit.labels import hint, label, name
from gui.kit.layouts import STRETCH, in_column, in_row
from gui.kit.views import FillingView, dressed
from gui.work.lanes import EngineThreads, LatestTask, ThreadName

if TYPE_CHECKING:
    from gui.compare.compare_jobs import Compared

_TYPING_MS = 200
_LEAST_WIDTH, _MOST_WIDTH = 16, 32  # of a column, in characters


class DifferenceList(QWidget):
    """The differences of a comparison.

    `opened`: a JudgmentKey, and which of the systems or None. `listed`: Filters of the items that are
    shown, and what these have in common in words.
    """

    opened = Signal(object, object)
    listed = Signal(object, str)
    failed = Signal(object)

    def __init__(self, threads: EngineThreads) -> None:
        super().__init__()
        self._compared: Compared | None = None
        self._asked_for = self._shown_for = DifferenceFilter()
        self._filtering = LatestTask(threads, ThreadName.FILES, self)
        self._filtering.finished.connect(self._show_rows)
        self._filtering.failed.connect(self.failed)
        self._typing = QTimer(self, singleShot=True, interval=_TYPING_MS)
        self._typing.timeout.connect(self._filter)
        self.table = DifferenceTableModel(self)
        self.criterion = ComboBox()
        self.one_is_right = QCheckBox("E&xactly one correct")
        self.search = QLineEdit()
        self.view = dressed(FillingView(), self.table, "Items on which the systems differ")
        self.open_button = QPushButton("O&pen in Review")
        self.list_button = QPushButton("List all in Review")
        self._can_open = False
        self._count = label("", wrap=False)
        self._why_not = hint("Only a run can be opened in Review, and none of these systems is one.")
        self._build()

    def show_comparison(self, compared: "Compared") -> None:
        """List the differences of another comparison, as the filters say."""
        self._compared = compared
        self.table.show_differences(compared, ())
        self._fit_columns()
        chosen = self.criterion.currentData()
        with QSignalBlocker(self.criterion):
            self.criterion.clear()
            self.criterion.addItem("All criteria", None)
            for criterion in dict.fromkeys(measure.criterion for measure in compared.comparison.measures):
                self.criterion.addItem(words(criterion).capitalize(), criterion)
            self.criterion.setCurrentIndex(max(0, self.criterion.findData(chosen)))
        self._can_open = any(run is not None for run in compared.runs)
        self._why_not.setVisible(not self._can_open)
        self._filter()

    def restyle(self) -> None:
        """Fit the columns to another size of text."""
        self._fit_columns()

    def _build(self) -> None:
        name(self.criterion, "Criterion of the differences")
        name(self.one_is_right, "Only where exactly one system gives the human label")
        self.search.setPlaceholderText("Search the items")
        self.search.setClearButtonEnabled(True)
        self.search.setAcceptDrops(False)  # a dropped file is a submission to add
        name(self.search, "Search the items that differ", "Words in the id, the instruction or the responses")
        self.view.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        name(self.open_button, "Open the chosen item in Review")
        name(self.list_button, "List all items shown here in Review")
        filters = in_row(self.criterion, self.one_is_right, (self.search, STRETCH))
        below = in_row(self._count, (self._why_not, STRETCH), 0, self.list_button, self.open_button)
        in_column(filters, (self.view, STRETCH), below, on=self, margins=(0, 8, 0, 0))
        self._connect()

    def _connect(self) -> None:
        self.criterion.currentIndexChanged.connect(self._filter)
        self.one_is_right.toggled.connect(self._filter)
        self.search.textChanged.connect(self._typing.start)
        self.view.doubleClicked.connect(self._open)
        self.view.selectionModel().currentChanged.connect(self._follow_current)
        self.table.modelReset.connect(self._follow_current)
        self.open_button.clicked.connect(self._open_current)
        self.list_button.clicked.connect(self._list_all)
        for key in ("Return", "Enter"):
            add_key(self.view, key, self._open_current)
        add_key(self, "/", self.search.setFocus, inside=True)

    def _fit_columns(self) -> None:
        """Make each column as wide as its name and a label, but none so wide that it hides the others."""
        letter, last = self.view.fontMetrics().averageCharWidth(), self.table.columnCount() - 1
        for column in range(last):
            title = self.view.horizontalHeader().sectionSizeHint(column)
            self.view.setColumnWidth(column, min(max(title, _LEAST_WIDTH * letter), _MOST_WIDTH * letter))
        self.view.fill({last: _LEAST_WIDTH * letter})

    @Slot()
    def _filter(self) -> None:
        self._typing.stop()
        if self._compared is None:
            return
        wanted = DifferenceFilter(
            self.criterion.currentData(), self.one_is_right.isChecked(), self.search.text()
        )
        self._asked_for = wanted
        self._filtering.start(filter_differences(self._compared, wanted))

    @Slot(object)
    def _show_rows(self, places: Sequence[int]) -> None:
        if self._compared is None:
            return
        self._shown_for = self._asked_for
        self.table.show_differences(self._compared, places)
        total = len(self._compared.differences)
        if len(places) == total:
            said = counted(total, "label differs", "labels differ") if total else "No label differs"
        else:
            said = f"{len(places):,} of {counted(total, 'label that differs', 'labels that differ')}"
        self._count.setText(said)
        if places:
            self.view.setCurrentIndex(self.table.index(0, 0))

    @Slot()
    def _follow_current(self) -> None:
        self.open_button.setEnabled(self._can_open and self.view.currentIndex().isValid())
        self.list_button.setEnabled(self._can_open and self.table.rowCount() > 0)

    @Slot()
    def _list_all(self) -> None:
        """Want the items that are shown, as the filters were when they were found."""
        ids = frozenset(self.table.difference(row).item_id for row in range(self.table.rowCount()))
        self.listed.emit(Filters(criterion=self._shown_for.criterion, ids=ids), self._in_words())

    def _in_words(self) -> str:
        wanted = self._shown_for
        systems = self._compared.comparison.systems if self._compared else ()
        parts = [f"{' and '.join(one_line(system) for system in systems)} differ"]
        parts += [f"on {words(wanted.criterion)}"] if wanted.criterion else []
        parts += ["exactly one is correct"] if wanted.one_is_right else []
        parts += [f"with “{one_line(wanted.text)}”"] if wanted.text.strip() else []
        return ", ".join(parts)

    @Slot()
    def _open_current(self) -> None:
        self._open(self.view.currentIndex())

    @Slot(QModelIndex)
    def _open(self, index: QModelIndex) -> None:
        if index.isValid() and self._can_open:
            difference = self.table.difference(index.row())
            self.opened.emit(difference.key, self.table.system_at(index.column()))
