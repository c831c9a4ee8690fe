"""The columns of the item table: how wide, which are hidden, and the menu that chooses and sorts by them.

The items of a dataset for a view: 100,000 of them without a pause.

A cell is read when it is shown, out of the column that holds it. Which items are shown, and in which order,
is an array of rows that a job of the engine made; None is all of them as in the file.

They are kept by name, for any dataset, in characters, for any text size.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QAction, QActionGroup, QColor
from PySide6.QtWidgets import QMenu, QTableView

from engine.core.formatting import clipped, words
from engine.core.items import HUMAN_LABELS, written_label
from gui.widgets.actions import MenuButton
from gui.widgets.foreign_text import one_line, tip
from gui.widgets.label_mark import LABEL_WORDS
from gui.widgets.labels import name
from gui.widgets.theme import LIGHT, Colours
from gui.widgets.value_table import SORT_ROLE, Head, HeadedModel, Index

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
        self._columns: tuple[DatasetColumn, ...] = TEXT_COLUMNS
        self._cells: list[Any] = []
        self._rows: Rows | None = None
        self._count = 0
        self._colours = LIGHT

    @property
    def columns(self) -> tuple[DatasetColumn, ...]:
        """What the columns hold."""
        return self._columns

    def show_dataset(self, dataset: "Dataset") -> None:
        """Show all items of a dataset, in its order."""
        self.beginResetModel()
        labels = (
            DatasetColumn(f"{criterion}_preference", words(criterion).capitalize(), True)
            for criterion in dataset.criteria
        )
        others = (
            DatasetColumn(name, one_line(clipped(name)) or "(no name)", is_other=True)
            for name in dataset.other_columns
        )
        self._columns = (*TEXT_COLUMNS, *labels, *others)
        self._heads = [column.head for column in self._columns]
        self._cells = [dataset.texts(column.source) for column in self._columns]
        self._rows, self._count = None, len(dataset)
        self.endResetModel()

    def show_rows(self, rows: "Rows | None") -> None:
        """Show these items of the same dataset, in this order; None: all, as in the file."""
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def set_colours(self, used: Colours) -> None:
        """Mark labels with these colours."""
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
        """A cell: the beginning of its text, more of it as a tool tip, whole for sorting."""
        if role not in _ROLES or not index.isValid():
            return super().data(index, role)
        if self._columns[index.column()].is_label:
            return self._label_data(index, role)
        if role == Qt.ItemDataRole.DisplayRole:
            return one_line(self.text(index))
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(self.text(index))
        return self.text(index) if role == SORT_ROLE else None

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

    def _label_data(self, index: Index, role: int) -> Any:
        text = self.text(index)
        label = written_label(text) if text in HUMAN_LABELS else None
        if role == Qt.ItemDataRole.DisplayRole:
            return LABEL_WORDS[label] if label else ""
        if role == Qt.ItemDataRole.DecorationRole:
            return QColor(self._colours.of_label(label)) if label else None
        return text if role == SORT_ROLE else None


def column_named(columns: Sequence[DatasetColumn], source: str) -> int | None:
    """The place of a column by its name in the dataset."""
    return next((place for place, column in enumerate(columns) if column.source == source), None)


NEVER_HIDDEN = "id"
_WIDTHS = {"id": 7.0, "instruction": 30.0, "output_a": 26.0, "output_b": 26.0}  # in mean characters
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
        self._widths: dict[str, float] = {}  # those that the user chose
        if isinstance(widths, dict):
            self._widths = {
                str(name): min(max(float(width), _NARROWEST), _WIDEST)
                for name, width in widths.items()
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
        used = sum(round(self._letters(column) * self._letter()) for column in shown)
        growing = [
            column for column in shown if column.source in _TEXTS and column.source not in self._widths
        ]
        more = max(0, self._view.viewport().width() - used) // len(growing) if growing else 0
        for place, column in enumerate(self._table.columns):
            width = round(self._letters(column) * self._letter())
            header.resizeSection(place, width + (more if column in growing else 0))
            header.setSectionHidden(place, not self.is_shown(column))
        self._applying = False

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the room that there is."""
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
        """All of it as plain values."""
        return {"widths": self._widths, "hidden": sorted(self._hidden), "others": sorted(self._others)}

    def _letters(self, column: DatasetColumn) -> float:
        default = _WIDTHS.get(column.source, max(len(column.title), _LONGEST_LABEL) + _ROOM_FOR_MARKS)
        return self._widths.get(column.source, default)

    def _letter(self) -> int:
        return max(1, self._view.fontMetrics().averageCharWidth())

    @Slot(int, int, int)
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
        header.customContextMenuRequested.connect(self._open_at)

    def show_sorted(self, source: str, descending: bool) -> None:
        """Mark how the table is sorted now."""
        self._sorted = (source, descending)

    @Slot()
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
        """An entry that shows and hides a column."""
        shown = menu.addAction(_plain(column.title))
        shown.setCheckable(True)
        shown.setChecked(self._columns.is_shown(column))
        shown.setEnabled(column.source != NEVER_HIDDEN)
        shown.toggled.connect(lambda on: self._show(column, on))

    def _show(self, column: DatasetColumn, shown: bool) -> None:
        self._columns.set_shown(column, shown)
        self.shown_changed.emit()

    def _add_sorting(self) -> None:
        menu = self._menu.addMenu("Sort by")
        source, descending = self._sorted
        orders = QActionGroup(menu)
        shown = (
            column for column in self._table.columns if not column.is_other or self._columns.is_shown(column)
        )
        for column in (DatasetColumn("", "Order of the file"), *shown):
            action = self._choice(menu, orders, _plain(column.title), column.source == source)
            action.triggered.connect(lambda _on, to=column.source: self.sort_wanted.emit(to, descending))
        menu.addSeparator()
        directions = QActionGroup(menu)
        for text, down in (("Ascending", False), ("Descending", True)):
            action = self._choice(menu, directions, text, down == descending)
            action.setEnabled(column_named(self._table.columns, source) is not None)
            action.triggered.connect(lambda _on, to=down: self.sort_wanted.emit(source, to))

    @staticmethod
    def _choice(menu: QMenu, group: QActionGroup, text: str, chosen: bool) -> QAction:
        action = menu.addAction(text)
        action.setCheckable(True)
        action.setChecked(chosen)
        group.addAction(action)
        return action

    @Slot(QPoint)
    def _open_at(self, place: QPoint) -> None:
        self._menu.popup(self._view.horizontalHeader().mapToGlobal(place))


def _plain(title: str) -> str:
    """A title for a menu, where a sign & would mark a key."""
    short = title if len(title) <= _LONGEST_TITLE else f"{title[:_LONGEST_TITLE]}…"
    return short.replace("&", "&&")
