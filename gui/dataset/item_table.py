"""The items of a dataset for a view: 100,000 of them without a pause.

A cell is read when it is shown, out of the column that holds it. Which items are shown, and in which order,
is an array of rows that a job of the engine made; None is all of them as in the file.

Knows: a dataset's columns, Qt's item models. Does not know: who searches and sorts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QModelIndex, QObject, Qt
from PySide6.QtGui import QColor

from engine.core.formatting import clipped, words
from engine.core.items import HUMAN_LABELS, written_label
from gui.kit.foreign_text import one_line, tip
from gui.kit.label_mark import LABEL_WORDS
from gui.kit.theme import LIGHT, Colours
from gui.kit.value_table import SORT_ROLE, Head, HeadedModel, Index

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.data.item_search import Rows


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
