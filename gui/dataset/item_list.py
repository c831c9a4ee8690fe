"""The list of a dataset's items: a table, a search field, the choice of columns.

What can be done with the selected items of the table: a menu, a key, a button for more than one.

Searching and sorting are jobs; while they work, the table shows what it showed before.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPoint, QSignalBlocker, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QMenu, QPushButton, QStackedWidget, QTableView, QWidget

from engine.core.errors import EngineError
from engine.core.formatting import counted
from gui.dataset import dataset_jobs
from gui.dataset.dataset_jobs import ItemQuery
from gui.dataset.item_columns import ColumnChooser, ItemColumns, ItemTableModel, column_named
from gui.widgets.action_table import of_page
from gui.widgets.actions import add_key
from gui.widgets.fields import SearchField
from gui.widgets.foreign_text import plain_label
from gui.widgets.labels import STRETCH, as_column, hint, in_column, in_row, name
from gui.widgets.theme import colours
from gui.widgets.views import table_view
from gui.workspace.slices_panel import SliceChoice
from gui.workspace.threads import LatestTask, ThreadName
from gui.workspace.workspace import Workspace

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.data.dataset_views import Rows

_JUDGE, _PROMPT = of_page("Dataset", "judge_selected"), of_page("Dataset", "prompt")


class SelectedItems(QPushButton):
    """The button, hidden while less than two items are selected. Of one, the menu and the key are enough."""

    judge_wanted = Signal(object)  # the rows of the items in the dataset, in its order
    prompt_wanted = Signal()  # for the item of the current row

    def __init__(self, view: QTableView, table: ItemTableModel) -> None:
        super().__init__()
        self._view = view
        self._table = table
        self._judge = QAction("", self)
        self._judge.triggered.connect(self._tell)
        self._judge.setShortcuts(_JUDGE.sequences)
        self._judge.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self.context_menu = QMenu(self)
        self.context_menu.addAction(self._judge)
        self._prompt = QAction(f"Prompt… ({_PROMPT.keys})", self)
        self._prompt.triggered.connect(self.prompt_wanted)
        self.context_menu.addAction(self._prompt)
        self.clicked.connect(self._tell)
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        view.customContextMenuRequested.connect(self._open_menu)
        view.selectionModel().selectionChanged.connect(self._follow)
        table.modelReset.connect(self._follow)
        self._follow()

    def add_key_to(self, page: QWidget) -> None:
        """Let the key work on a page."""
        page.addAction(self._judge)

    @property
    def rows(self) -> list[int]:
        """The rows of the selected items in the dataset, in its order."""
        return sorted(map(self._table.item_at, self._places()))

    def _places(self) -> set[int]:
        """The selected rows of the table: by ranges, for all of 100,000 items may be selected."""
        selection = self._view.selectionModel().selection()
        parts = [selection.at(number) for number in range(selection.count())]
        return {place for part in parts for place in range(part.top(), part.bottom() + 1)}

    @Slot()
    def _follow(self) -> None:
        count = len(self._places())
        text = f"{judge_words(count)}…"
        self._judge.setText(text)
        self._judge.setEnabled(count > 0)
        self._prompt.setEnabled(count > 0)
        self.setText(text)
        name(self, text, f"Choose a model for only the selected items ({_JUDGE.keys})")
        if self.isHidden() and count > 1:
            # It takes its room from the table, whose last row may be the one that was just selected.
            QTimer.singleShot(0, self._keep_in_sight)
        self.setVisible(count > 1)

    @Slot()
    def _keep_in_sight(self) -> None:
        self._view.scrollTo(self._view.currentIndex())

    @Slot()
    def _tell(self) -> None:
        self.judge_wanted.emit(self.rows)

    @Slot(QPoint)
    def _open_menu(self, place: QPoint) -> None:
        self.context_menu.popup(self._view.viewport().mapToGlobal(place))


def judge_words(count: int) -> str:
    """What a button says that lets this many items be judged."""
    return "Judge this item" if count == 1 else f"Judge these {counted(count, 'item', 'items')}"


_PAUSE_MS = 200  # after the last letter, before the search begins
_SEARCHED = 12  # characters of a search that are seen at least
_COLUMNS = "dataset/columns"


class ItemList(QWidget):
    """Shows the items of one dataset; tells which is chosen."""

    item_chosen = Signal(object)  # its row in the dataset, from 0; None where nothing is shown
    listed = Signal(object)  # the rows in the dataset of the listed items, in its order; None for all

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self._dataset: Dataset | None = None
        self._item: int | None = None
        self._wanted = self._shown = ItemQuery()
        self.table = ItemTableModel(self)
        self.view = table_view(self.table, "Items of the dataset")
        self._columns = ItemColumns(self.view, self.table, workspace.state.record(_COLUMNS))
        self.chooser = ColumnChooser(self.view, self.table, self._columns)
        self.selected = SelectedItems(self.view, self.table)
        self.search = SearchField("Search id, texts and shown columns")
        self.count = hint("", wrap=False)
        self.slices = SliceChoice(workspace)
        self._build()
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self._ask)
        self._ordering = LatestTask(workspace.threads, ThreadName.FILES, self)
        self._ordering.finished.connect(self._take_rows)
        self._ordering.failed.connect(self._tell_failure)
        self._connect()
        self.restyle()

    @property
    def words(self) -> tuple[str, ...]:
        """What the shown items were searched for."""
        return self._shown.words

    def show_dataset(self, dataset: "Dataset") -> None:
        """Show all items of another dataset, in its order, and choose the first."""
        self._ordering.drop()
        self._pause.stop()
        self._dataset, self._item = dataset, None
        self._wanted = self._shown = ItemQuery()
        with QSignalBlocker(self.search):
            self.search.clear()
        self.slices.clear()
        self.slices.show_dataset(dataset)
        self.table.show_dataset(dataset)
        self._mark_sorted()
        self._columns.apply()
        self.view.scrollToTop()
        self._show_found()

    def start_search(self) -> None:
        """Put the cursor into the search field."""
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def keep_layout(self) -> None:
        """Remember the columns."""
        self._workspace.state.set_record(_COLUMNS, self._columns.record())

    # Making

    def _build(self) -> None:
        self.search.setAcceptDrops(False)  # a dropped file is a dataset to open
        name(self.search, "Search the items", "Items in which all these words occur (/)")
        self.view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        header = self.view.horizontalHeader()
        header.setSectionsClickable(True)
        header.setSortIndicatorShown(True)
        header.setSortIndicatorClearable(True)
        header.setMinimumSectionSize(24)
        self._nothing = plain_label()
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        clear = QPushButton("Clear the search")
        clear.clicked.connect(self.search.clear)
        none = as_column(STRETCH, self._nothing, (clear, Qt.AlignmentFlag.AlignHCenter), 2, margins=None)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.view)
        self._stack.addWidget(none)
        above = in_row((self.search, 2), (self.slices, STRETCH), self.count, self.chooser)
        # Below the table, so that the rows stay under the mouse when it appears.
        in_column(above, (self._stack, STRETCH), (self.selected, Qt.AlignmentFlag.AlignLeft), on=self)

    def _connect(self) -> None:
        self.search.textChanged.connect(self._wait)
        self.search.left.connect(self._leave_search)
        self.view.horizontalHeader().sortIndicatorChanged.connect(self._sort_by_header)
        self.view.selectionModel().currentRowChanged.connect(self._choose)
        self.chooser.sort_wanted.connect(self._sort)
        self.chooser.shown_changed.connect(self._wait)
        self.slices.changed.connect(self._ask)
        add_key(self.view, QKeySequence.StandardKey.Copy, self._copy_cell)

    def restyle(self) -> None:
        """Follow colours and text size."""
        metrics = self.fontMetrics()
        self.table.set_colours(colours(self.palette()))
        self.view.setIconSize(QSize(metrics.ascent() // 2 + 2, metrics.ascent() // 2 + 2))
        self.search.setMinimumWidth(metrics.averageCharWidth() * _SEARCHED)
        self._columns.apply()

    # Searching and sorting

    @Slot()
    def _wait(self) -> None:
        self._pause.start()

    @Slot()
    def _leave_search(self) -> None:
        if self._pause.isActive():
            self._ask()
        self.view.setFocus()

    @Slot(int, Qt.SortOrder)
    def _sort_by_header(self, place: int, order: Qt.SortOrder) -> None:
        columns = self.table.columns
        source = columns[place].source if 0 <= place < len(columns) else ""
        self._sort(source, bool(source) and order is Qt.SortOrder.DescendingOrder)

    @Slot(str, bool)
    def _sort(self, source: str, descending: bool) -> None:
        self._wanted = replace(self._wanted, column=source, descending=descending)
        self._mark_sorted()
        self._ask()

    def _mark_sorted(self) -> None:
        wanted, header = self._wanted, self.view.horizontalHeader()
        place = column_named(self.table.columns, wanted.column)
        with QSignalBlocker(header):
            order = Qt.SortOrder.DescendingOrder if wanted.descending else Qt.SortOrder.AscendingOrder
            header.setSortIndicator(-1 if place is None else place, order)
        header.viewport().update()
        self.chooser.show_sorted(wanted.column, wanted.descending)

    @Slot()
    def _ask(self) -> None:
        self._pause.stop()
        others = tuple(
            column.source
            for column in self.table.columns
            if column.is_other and self._columns.is_shown(column)
        )
        self._wanted = replace(self._wanted, text=self.search.text(), others=others, part=self.slices.ids)
        if self._dataset is None:
            return
        if self._wanted.all_in_file_order:
            self._ordering.drop()
            self._take_rows(None)
            return
        self.count.setText("Searching …" if self._wanted.narrows else "Sorting …")
        self._ordering.start(dataset_jobs.order(self._dataset, self._wanted))

    @Slot(object)
    def _take_rows(self, rows: "Rows | None") -> None:
        self._workspace.failures.end(self)
        self._shown = self._wanted
        self.table.show_rows(rows)
        self._show_found()
        self.listed.emit(None if rows is None or not self._shown.narrows else sorted(rows.tolist()))

    @Slot(object)
    def _tell_failure(self, error: EngineError) -> None:
        self._workspace.failures.fail(self, error)
        self._show_found()

    def _show_found(self) -> None:
        """Say how many items are shown, and choose the one that was chosen, else the first."""
        found, total = self.table.rowCount(), len(self._dataset) if self._dataset is not None else 0
        items = counted(total, "item", "items")
        text = f"{found:,} of {items}" if self._shown.narrows else items
        self.count.setText(text)
        self.view.setAccessibleDescription(text)
        among = f" among those with {self.slices.words}" if self.slices.words else ""
        self._nothing.setText(f"No item{among} holds all words of “{self._shown.text.strip()[:80]}”.")
        self._stack.setCurrentIndex(0 if found or not self._shown.words else 1)
        if not found:
            self.item_chosen.emit(None)
            return
        place = self.table.place_of(self._item) if self._item is not None else None
        column = max(self.view.columnAt(0), 0)
        self.view.setCurrentIndex(self.table.index(place or 0, column))
        self.item_chosen.emit(self.table.item_at(place or 0))

    # The chosen item

    @Slot(QModelIndex, QModelIndex)
    def _choose(self, now: QModelIndex, _before: QModelIndex) -> None:
        if now.isValid():
            self._item = self.table.item_at(now.row())
            self.item_chosen.emit(self._item)

    @Slot()
    def _copy_cell(self) -> None:
        index = self.view.currentIndex()
        if index.isValid():
            QGuiApplication.clipboard().setText(self.table.text(index))
