"""The list of a dataset's items: 100,000 of them without a pause, searched, sorted, by columns to choose.

A cell is read when it is shown, out of the column that holds it. Which items are shown, in which order, is an
array of rows that a job made; None is all as in the file. While a job works, the table shows what it showed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QModelIndex, QObject, QSignalBlocker, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QActionGroup, QColor, QGuiApplication
from PySide6.QtWidgets import QAbstractItemView, QMenu, QPushButton, QTableView, QWidget

from engine.core.errors import EngineError
from engine.core.formatting import clipped, counted, words
from engine.core.items import HUMAN_LABELS, written_label
from gui.dataset import dataset_jobs
from gui.dataset.dataset_jobs import ItemQuery
from gui.widgets.action_table import of_page
from gui.widgets.actions import MenuButton, add_entry, timer
from gui.widgets.fields import SearchField
from gui.widgets.foreign_text import one_line, plain_label, tip
from gui.widgets.label_mark import LABEL_WORDS
from gui.widgets.labels import STRETCH, as_column, button, hint, in_column, in_row, name, stack
from gui.widgets.theme import LIGHT, Colours, colours
from gui.widgets.views import SORT_ROLE, Head, HeadedModel, Index, table_view
from gui.workspace.slices_panel import SliceChoice
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.data.dataset_views import Rows


@dataclass(frozen=True)
class DatasetColumn:
    """One column of the table: its name in the dataset, and its title; `is_other`: no dataset needs it."""

    source: str
    title: str
    is_label: bool = False
    is_other: bool = False

    @property
    def head(self) -> Head:
        """The title, which may lack the end of a long name, and what the column is."""
        whole = self.source if self.is_other else self.title
        return Head(self.title, f"{self.title}: human label" if self.is_label else whole)


TEXT_COLUMNS = (
    DatasetColumn("id", "Id"),
    DatasetColumn("instruction", "Instruction"),
    DatasetColumn("output_a", "Response A"),
    DatasetColumn("output_b", "Response B"),
)

_ROLES = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.DecorationRole, Qt.ItemDataRole.ToolTipRole, SORT_ROLE)


class ItemTableModel(HeadedModel):
    """One row for each item that is shown; a column for each text, for each criterion with labels, and
    for each further column of the file.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__([column.head for column in TEXT_COLUMNS], parent)
        self.columns: tuple[DatasetColumn, ...] = TEXT_COLUMNS
        self.longest_id = 0  # characters
        self._cells: list[Any] = []
        self._rows: Rows | None = None
        self._count = 0
        self._colours = LIGHT

    def show_dataset(self, dataset: "Dataset") -> None:
        labels = (
            DatasetColumn(f"{criterion}_preference", words(criterion).capitalize(), True)
            for criterion in dataset.criteria
        )
        others = (
            DatasetColumn(name, one_line(clipped(name)) or "(no name)", is_other=True)
            for name in dataset.other_columns
        )
        with self._changing():
            self.columns = (*TEXT_COLUMNS, *labels, *others)
            self._heads = [column.head for column in self.columns]
            self._cells = [dataset.texts(column.source) for column in self.columns]
            self._rows, self._count = None, len(dataset)
            self.longest_id = int(dataset.lengths("id").max(initial=0))

    def show_rows(self, rows: "Rows | None") -> None:
        """Show these items of the same dataset, in this order; None: all, as in the file."""
        with self._changing():
            self._rows = rows

    def set_colours(self, used: Colours) -> None:
        self._colours = used

    def item_at(self, place: int) -> int:
        """The row in the dataset of the item at a place in the table, both from 0."""
        return place if self._rows is None else int(self._rows[place])

    def place_of(self, item: int) -> int | None:
        """The place in the table of the item in a row of the dataset; None where it is not shown."""
        if self._rows is None:
            return item if item < self._count else None
        places = (self._rows == item).nonzero()[0]
        return int(places[0]) if len(places) else None

    def text(self, index: Index) -> str:
        """The whole text of a cell, as the file has it."""
        return str(self._cells[index.column()][self.item_at(index.row())].as_py())

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role not in _ROLES or not index.isValid():
            return super().data(index, role)
        text = self.text(index)
        if role == SORT_ROLE:
            return text
        if self.columns[index.column()].is_label:
            label = written_label(text) if text in HUMAN_LABELS else None
            if role == Qt.ItemDataRole.DisplayRole:
                return LABEL_WORDS[label] if label else ""
            is_mark = role == Qt.ItemDataRole.DecorationRole and label
            return QColor(self._colours.of_label(label)) if is_mark else None
        if role == Qt.ItemDataRole.DisplayRole:
            return one_line(text)
        return tip(text) if role == Qt.ItemDataRole.ToolTipRole else None

    def match(
        self,
        start: Index,  # noqa: ARG002 - Qt's name
        role: int,  # noqa: ARG002
        value: Any,  # noqa: ARG002
        hits: int = 1,  # noqa: ARG002
        flags: Qt.MatchFlag = Qt.MatchFlag.MatchStartsWith,  # noqa: ARG002
    ) -> list[QModelIndex]:
        """Nothing: a letter typed into the view would ask every cell of a column, for seconds."""
        return []

    def _count_rows(self) -> int:
        return self._count if self._rows is None else len(self._rows)


def column_named(columns: Sequence[DatasetColumn], source: str) -> int | None:
    return next((place for place, column in enumerate(columns) if column.source == source), None)


NEVER_HIDDEN = "id"
_WIDTHS = {"instruction": 30.0, "output_a": 26.0, "output_b": 26.0}  # in mean characters
_LEAST_ID, _LONGEST_ID, _BESIDE_ID = 7, 36, 3  # that of a UUID; in mean characters
_ROOM_FOR_MARKS = 6  # characters beside the title of a label's column: its coloured mark, the sort arrow
_LONGEST_LABEL = len("both good")
_NARROWEST, _WIDEST = 3.0, 400.0
_TEXTS = ("instruction", "output_a", "output_b")
_LONGEST_TITLE = 28
_MOST_IN_A_MENU = 20  # what does not stand on a screen


class ItemColumns(QObject):
    """Keeps the columns of one view as the user wants them."""

    def __init__(self, view: QTableView, table: ItemTableModel, remembered: Mapping[str, Any]) -> None:
        super().__init__(view)
        self._view = view
        self._table = table
        widths, hidden = remembered.get("widths"), remembered.get("hidden")
        self._widths = {  # those that the user chose
            str(name): min(max(float(width), _NARROWEST), _WIDEST)
            for name, width in (widths.items() if isinstance(widths, dict) else ())
            if isinstance(width, int | float)
        }
        self._hidden = {str(column) for column in hidden} if isinstance(hidden, list) else set()
        self._hidden.discard(NEVER_HIDDEN)
        others = remembered.get("others")
        self._others = {str(column) for column in others} if isinstance(others, list) else set()
        self._applying = False
        view.horizontalHeader().sectionResized.connect(self._take_width)
        view.viewport().installEventFilter(self)

    def apply(self) -> None:
        """Give the columns of the table their widths, and hide those that are not wanted.

        Texts take the room that is left, unless the user chose their widths.
        """
        self._applying = True
        header = self._view.horizontalHeader()
        shown = [column for column in self._table.columns if self.is_shown(column)]
        growing = [
            column for column in shown if column.source in _TEXTS and column.source not in self._widths
        ]
        letter, room = self._letter(), self._view.viewport().width()
        widths = {column: round(self._letters(column) * letter) for column in self._table.columns}
        least = {column: (len(column.title) + _ROOM_FOR_MARKS) * letter for column in growing}
        ids = next(column for column in shown if column.source == NEVER_HIDDEN)
        least_id = min(widths[ids], round(_LEAST_ID * letter))
        if NEVER_HIDDEN not in self._widths:  # as wide as its ids, as far as the others leave room
            free = room - sum(least.get(column, widths[column]) for column in shown if column is not ids)
            widths[ids] = max(min(widths[ids], free), least_id)
        more = (room - sum(map(widths.__getitem__, shown))) // len(growing) if growing else 0
        # Texts give way to long ids alone.
        more = max(more, (least_id - widths[ids]) // max(1, len(growing)))
        for place, column in enumerate(self._table.columns):
            width = max(widths[column] + more, least[column]) if column in growing else widths[column]
            header.resizeSection(place, width)
            header.setSectionHidden(place, not self.is_shown(column))
        self._applying = False

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self.apply()
        return super().eventFilter(watched, event)

    def is_shown(self, column: DatasetColumn) -> bool:
        """True unless the user hid it; of the file's further columns those that they asked for."""
        if column.is_other:
            return column.source in self._others
        return column.source not in self._hidden

    def set_shown(self, column: DatasetColumn, shown: bool) -> None:
        """Show or hide a column; the id stays."""
        if column.is_other:
            (self._others.add if shown else self._others.discard)(column.source)
        elif shown:
            self._hidden.discard(column.source)
        elif column.source != NEVER_HIDDEN:
            self._hidden.add(column.source)
        self.apply()

    def record(self) -> dict[str, Any]:
        return {"widths": self._widths, "hidden": sorted(self._hidden), "others": sorted(self._others)}

    def _letters(self, column: DatasetColumn) -> float:
        default = _WIDTHS.get(column.source, max(len(column.title), _LONGEST_LABEL) + _ROOM_FOR_MARKS)
        if column.source == NEVER_HIDDEN:
            default = max(len(column.title), min(self._table.longest_id, _LONGEST_ID)) + _BESIDE_ID
        return self._widths.get(column.source, default)

    def _letter(self) -> int:
        return max(1, self._view.fontMetrics().averageCharWidth())

    def _take_width(self, place: int, _old: int, width: int) -> None:
        # Qt gives a hidden column the width 0.
        if width and not self._applying and place < len(self._table.columns):
            self._widths[self._table.columns[place].source] = round(width / self._letter(), 1)


class ColumnChooser(MenuButton):
    """A drop-down menu, which the header of the view also opens by the right mouse button."""

    shown_changed = Signal()
    sort_wanted = Signal(str, bool)  # a column's name in the dataset, empty for the file's order; descending

    def __init__(self, view: QTableView, table: ItemTableModel, columns: ItemColumns) -> None:
        super().__init__("Columns")
        self._view = view
        self._table = table
        self._columns = columns
        self._sorted = ("", False)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        name(self, "Columns", "Choose the columns, and by which the items are sorted")
        self._menu.aboutToShow.connect(self._fill)
        header = view.horizontalHeader()
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(lambda at: self._menu.popup(header.mapToGlobal(at)))

    def show_sorted(self, source: str, descending: bool) -> None:
        self._sorted = (source, descending)

    def _fill(self) -> None:
        self._menu.clear()
        others = [column for column in self._table.columns if column.is_other]
        for column in self._table.columns:
            if not column.is_other:
                self._add_shown(self._menu, column)
        self._menu.addSeparator()
        for start in range(0, len(others), _MOST_IN_A_MENU):
            part = others[start : start + _MOST_IN_A_MENU]
            some = f", {start + 1} to {start + len(part)}" if len(others) > len(part) else ""
            menu = self._menu.addMenu(f"Other columns of the file{some}")
            for column in part:
                self._add_shown(menu, column)
        self._add_sorting()

    def _add_shown(self, menu: QMenu, column: DatasetColumn) -> None:
        def show(on: bool) -> None:
            self._columns.set_shown(column, on)
            self.shown_changed.emit()

        shown = menu.addAction(_plain(column.title))
        shown.setCheckable(True)
        shown.setChecked(self._columns.is_shown(column))
        shown.setEnabled(column.source != NEVER_HIDDEN)
        shown.toggled.connect(show)

    def _add_sorting(self) -> None:
        menu = self._menu.addMenu("Sort by")
        source, descending = self._sorted
        orders = QActionGroup(menu)
        shown = (
            column for column in self._table.columns if not column.is_other or self._columns.is_shown(column)
        )
        for column in (DatasetColumn("", "Order of the file"), *shown):
            sort = partial(self.sort_wanted.emit, column.source, descending)
            orders.addAction(add_entry(menu, _plain(column.title), sort, checked=column.source == source))
        menu.addSeparator()
        directions = QActionGroup(menu)
        for text, down in (("Ascending", False), ("Descending", True)):
            sort = partial(self.sort_wanted.emit, source, down)
            action = directions.addAction(add_entry(menu, text, sort, checked=down == descending))
            action.setEnabled(column_named(self._table.columns, source) is not None)


def _plain(title: str) -> str:
    """A title for a menu, where a sign & would mark a key."""
    short = title if len(title) <= _LONGEST_TITLE else f"{title[:_LONGEST_TITLE]}…"
    return short.replace("&", "&&")


_JUDGE, _PROMPT, _COPY = (of_page("Dataset", each) for each in ("judge_selected", "prompt", "copy"))


class SelectedItems(QPushButton):
    """The button, hidden while less than two items are selected. Of one, the menu and the key are enough."""

    judge_wanted = Signal(object)  # the rows of the items in the dataset, in its order
    prompt_wanted = Signal()  # for the item of the current row
    copy_wanted = Signal()

    def __init__(self, view: QTableView, table: ItemTableModel) -> None:
        super().__init__()
        self._view = view
        self._table = table
        self.context_menu = QMenu(self)
        self._judge = add_entry(self.context_menu, "", self.click, _JUDGE.sequences)
        self._judge.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        text = f"Prompt… ({_PROMPT.keys})"
        self._prompt = add_entry(self.context_menu, text, self.prompt_wanted.emit)
        self._copy = add_entry(self.context_menu, "Copy", self.copy_wanted.emit, _COPY.sequences)
        self._copy.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        view.addAction(self._copy)
        self.clicked.connect(lambda: self.judge_wanted.emit(self.rows))
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        opened = self.context_menu.popup
        view.customContextMenuRequested.connect(lambda at: opened(view.viewport().mapToGlobal(at)))
        view.selectionModel().selectionChanged.connect(self._follow)
        table.modelReset.connect(self._follow)
        self._follow()

    def add_key_to(self, page: QWidget) -> None:
        page.addAction(self._judge)

    @property
    def rows(self) -> list[int]:
        """The rows of the selected items in the dataset, in its order."""
        return sorted(map(self._table.item_at, self._places()))

    @property
    def listed_rows(self) -> list[int]:
        """The same, in the order of the table."""
        return list(map(self._table.item_at, sorted(self._places())))

    def _places(self) -> set[int]:
        """The selected rows of the table: by ranges, for all of 100,000 items may be selected."""
        selection = self._view.selectionModel().selection()
        parts = [selection.at(number) for number in range(selection.count())]
        return {place for part in parts for place in range(part.top(), part.bottom() + 1)}

    def _follow(self) -> None:
        count = len(self._places())
        text = f"{judge_words(count)}…"
        self._judge.setText(text)
        self._judge.setEnabled(count > 0)
        self._prompt.setEnabled(count > 0)
        self._copy.setEnabled(count > 0)
        self.setText(text)
        name(self, text, f"Choose a model for only the selected items ({_JUDGE.keys})")
        if self.isHidden() and count > 1:
            # It takes its room from the table, whose last row may be the one that was just selected.
            QTimer.singleShot(0, self, lambda: self._view.scrollTo(self._view.currentIndex()))
        self.setVisible(count > 1)


def judge_words(count: int) -> str:
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
        self._wanted = self.shown = ItemQuery()  # what is asked for, what is listed
        self.table = ItemTableModel(self)
        self.view = table_view(self.table, "Items of the dataset")
        self._columns = ItemColumns(self.view, self.table, workspace.state.record(_COLUMNS))
        self.chooser = ColumnChooser(self.view, self.table, self._columns)
        self.selected = SelectedItems(self.view, self.table)
        self.search = SearchField("Search id, texts and shown columns")
        self.count = hint("", wrap=False)
        self.slices = SliceChoice(workspace)
        self._build()
        self._pause = timer(self, _PAUSE_MS, self._ask)
        self._ordering = TaskPanel(
            workspace.threads, ThreadName.FILES, self, self._take_rows, failed=self._tell_failure
        )
        self.search.textChanged.connect(self._pause.start)
        self.search.left.connect(self._leave_search)
        self.view.horizontalHeader().sortIndicatorChanged.connect(self._sort_by_header)
        self.view.selectionModel().currentRowChanged.connect(self._choose)
        self.chooser.sort_wanted.connect(self._sort)
        self.chooser.shown_changed.connect(self._pause.start)
        self.slices.changed.connect(self._ask)
        self._copying = TaskPanel(workspace.threads, ThreadName.FILES, self, self._take_copy)
        self.selected.copy_wanted.connect(self._copy_rows)
        self.restyle()

    def show_dataset(self, dataset: "Dataset") -> None:
        """Show all items of another dataset, in its order, and choose the first."""
        self._ordering.drop()
        self._pause.stop()
        self._dataset, self._item = dataset, None
        self._wanted = self.shown = ItemQuery()
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
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def keep_layout(self) -> None:
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
        clear = button("Clear the search", self.search.clear)
        none = as_column(STRETCH, self._nothing, (clear, Qt.AlignmentFlag.AlignHCenter), 2, margins=None)
        self._stack = stack(self.view, none)
        above = in_row((self.search, 2), (self.slices, STRETCH), self.count, self.chooser)
        # Below the table, so that the rows stay under the mouse when it appears.
        in_column(above, (self._stack, STRETCH), (self.selected, Qt.AlignmentFlag.AlignLeft), on=self)

    def restyle(self) -> None:
        metrics = self.fontMetrics()
        self.table.set_colours(colours(self.palette()))
        self.view.setIconSize(QSize(metrics.ascent() // 2 + 2, metrics.ascent() // 2 + 2))
        self.search.setMinimumWidth(metrics.averageCharWidth() * _SEARCHED)
        self._columns.apply()

    # Searching and sorting

    def _leave_search(self) -> None:
        if self._pause.isActive():
            self._ask()
        self.view.setFocus()

    def _sort_by_header(self, place: int, order: Qt.SortOrder) -> None:
        columns = self.table.columns
        source = columns[place].source if 0 <= place < len(columns) else ""
        self._sort(source, bool(source) and order is Qt.SortOrder.DescendingOrder)

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
        if not self._wanted.narrows and not self._wanted.column:  # all, as in the file
            self._ordering.drop()
            self._take_rows(None)
            return
        self.count.setText("Searching …" if self._wanted.narrows else "Sorting …")
        self._ordering.start(dataset_jobs.order(self._dataset, self._wanted))

    def _take_rows(self, rows: "Rows | None") -> None:
        self._workspace.failures.end(self)
        self.shown = self._wanted
        self.table.show_rows(rows)
        self._show_found()
        self.listed.emit(None if rows is None or not self.shown.narrows else sorted(rows.tolist()))

    def _tell_failure(self, error: EngineError) -> None:
        self._workspace.failures.fail(self, error)
        self._show_found()

    def _show_found(self) -> None:
        """Say how many items are shown, and choose the one that was chosen, else the first."""
        found, total = self.table.rowCount(), len(self._dataset) if self._dataset is not None else 0
        items = counted(total, "item", "items")
        text = f"{found:,} of {items}" if self.shown.narrows else items
        self.count.setText(text)
        self.view.setAccessibleDescription(text)
        among = f" among those with {self.slices.words}" if self.slices.words else ""
        self._nothing.setText(f"No item{among} holds all words of “{self.shown.text.strip()[:80]}”.")
        self._stack.setCurrentIndex(0 if found or not self.shown.words else 1)
        if not found:
            self.item_chosen.emit(None)
            return
        place = self.table.place_of(self._item) if self._item is not None else None
        column = max(self.view.columnAt(0), 0)
        self.view.setCurrentIndex(self.table.index(place or 0, column))
        self.item_chosen.emit(self.table.item_at(place or 0))

    # The chosen item

    def _choose(self, now: QModelIndex, _before: QModelIndex) -> None:
        if now.isValid():
            self._item = self.table.item_at(now.row())
            self.item_chosen.emit(self._item)

    def _copy_rows(self) -> None:
        if self._dataset is not None:
            shown = [each.source for each in self.table.columns if self._columns.is_shown(each)]
            rows = self.selected.listed_rows
            self._copying.start(dataset_jobs.with_tabs(self._dataset, rows, shown))

    def _take_copy(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
