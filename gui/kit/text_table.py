"""A table of texts as the engine makes them (accuracy, labels, explanations) for a view.

Cells and the clipboard have the engine's words; headers and the names of rows begin with a capital letter.

Knows: cells as texts and how numbers in them sort. Does not know: what is measured.
"""

import re
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from engine.core.formatting import visible
from engine.core.items import PREFERENCES
from gui.kit.column_words import MEANINGS
from gui.kit.foreign_text import one_line, tip
from gui.kit.label_words import LABEL_WORDS

if TYPE_CHECKING:
    from engine.core.formatting import Table

SORT_ROLE = int(Qt.ItemDataRole.UserRole) + 1
Index = QModelIndex | QPersistentModelIndex
_DIGIT = re.compile(r"[-+<]?\s?\d")  # how a number begins; prose may hold one
_NUMBER = re.compile(r"-?[\d,]+(\.\d+)?")
# Columns whose cells are words of ours, not names of systems or files.
_OF_WORDS = {
    *("criterion", "explanations", "measure", "fitted on all", "against the human overall label"),
    *("Borda count", "weighted judge", "labels of"),
}


class TableModel(QAbstractTableModel):
    """Header and rows of text; all columns but the first are aligned right where they hold numbers."""

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self._header: list[str] = []
        self._rows: list[list[str]] = []
        self._numbers: frozenset[int] = frozenset()

    def show_table(self, table: "Table") -> None:
        """Show another table."""
        self.beginResetModel()
        self._header = list(table.header)
        self._rows = [list(row) for row in table.rows]
        self._numbers = frozenset(
            column
            for row in self._rows
            for column, text in enumerate(row)
            if column and (text == "-" or _DIGIT.match(text))
        )
        self.endResetModel()

    def clear(self) -> None:
        """Show nothing."""
        self.beginResetModel()
        self._header, self._rows = [], []
        self.endResetModel()

    def as_text(self) -> str:
        """All cells with tabs between them, for the clipboard."""
        return "\n".join("\t".join(row) for row in (self._header, *self._rows))

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        """How many rows there are."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        """How many columns there are."""
        return 0 if parent.isValid() else len(self._header)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """The names of the columns, and what they mean as tool tips."""
        if orientation is not Qt.Orientation.Horizontal or section >= len(self._header):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return visible(self._title(section))
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._alignment(section)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(self._meaning(section))
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The text of a cell, its alignment, and its value for sorting."""
        if not index.isValid():
            return None
        text = self._rows[index.row()][index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            in_words = self._header[index.column()] in _OF_WORDS
            return one_line(sentence_case(text) if in_words else text)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(text)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._alignment(index.column())
        if role == SORT_ROLE:
            return sort_value(text)
        return None

    def _title(self, section: int) -> str:
        """The name of a column in the window's words: `both good` for the label `both_good`."""
        text = self._header[section]
        for label in PREFERENCES:
            if text.endswith(label):
                text = text.removesuffix(label) + LABEL_WORDS[label]
        return sentence_case(text)

    def _meaning(self, section: int) -> str:
        """What a column holds, in a sentence; empty where its name says it."""
        return MEANINGS.get(self._header[section], "")

    def _alignment(self, column: int) -> int:
        side = Qt.AlignmentFlag.AlignRight if column in self._numbers else Qt.AlignmentFlag.AlignLeft
        return int(side | Qt.AlignmentFlag.AlignVCenter)


def sentence_case(text: str) -> str:
    """The same with a capital first letter."""
    return text[:1].upper() + text[1:]


def sort_value(text: str) -> float | str:
    """A cell's number where it begins with one, else its text; a dash comes before all."""
    found = _NUMBER.match(text)
    if text in {"-", ""}:
        return float("-inf")
    return float(found[0].replace(",", "")) if found else text
