"""The differences between systems as a table: each cell is formatted when it is seen.

Knows: differences and the dataset of their items. Does not know: which of them are wanted, windows.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QFont

from engine.core.formatting import words
from engine.core.items import agree
from gui.kit.foreign_text import one_line, tip
from gui.kit.label_mark import LABEL_WORDS
from gui.kit.value_table import SORT_ROLE, Head, HeadedModel, Index

if TYPE_CHECKING:
    from engine.measure.comparison import Difference
    from gui.compare.compare_jobs import Compared

_BEFORE = ("Item", "Criterion", "Human label")
_AFTER = ("Instruction",)


class DifferenceTableModel(HeadedModel):
    """A row for each wanted difference: item, criterion, human label, each system's label, instruction."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent=parent)
        self._compared: Compared | None = None
        self._places: Sequence[int] = ()
        self._bold = QFont()
        self._bold.setBold(True)

    def show_differences(self, compared: "Compared", places: Sequence[int]) -> None:
        """Show those of the differences of a comparison that stand at these places, from 0."""
        self.beginResetModel()
        self._compared, self._places = compared, places
        titles = (*_BEFORE, *compared.comparison.systems, *_AFTER)
        self._heads = [Head(title, title) for title in titles]  # of long ones, the tool tip has the whole
        self.endResetModel()

    def difference(self, row: int) -> "Difference":
        """The difference in a row."""
        assert self._compared is not None
        return self._compared.differences[self._places[row]]

    def system_at(self, column: int) -> int | None:
        """The place, from 0, of the system that a column shows; None for the other columns."""
        place = column - len(_BEFORE)
        return place if self._compared and 0 <= place < len(self._compared.runs) else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A cell's text; the native value for sorting; bold where a system gives the human label."""
        if not index.isValid():
            return None
        shown = _SHOWN.get(role)
        if shown is not None:
            return shown(self._value(index))
        if role == Qt.ItemDataRole.FontRole and self._is_right(index):
            return self._bold
        return super().data(index, role)

    def _count_rows(self) -> int:
        return len(self._places)

    def _value(self, index: Index) -> str:
        """What a cell says, whole."""
        difference, column = self.difference(index.row()), index.column()
        system = self.system_at(column)
        if system is not None:
            label = LABEL_WORDS[difference.labels[system]]
            return f"{label} ✓" if self._is_right(index) else label
        if column < len(_BEFORE):
            return (
                difference.item_id,
                words(difference.criterion).capitalize(),
                LABEL_WORDS[difference.human],
            )[column]
        return self._instruction(difference.item_id)

    def _instruction(self, item_id: str) -> str:
        assert self._compared is not None
        instructions = self._compared.dataset.texts("instruction")
        return str(instructions[self._compared.rows[item_id]].as_py())

    def _is_right(self, index: Index) -> bool:
        system = self.system_at(index.column())
        if system is None:
            return False
        difference = self.difference(index.row())
        return agree(difference.labels[system], difference.human)


_SHOWN: dict[int, Callable[[str], str]] = {
    Qt.ItemDataRole.DisplayRole: one_line,
    Qt.ItemDataRole.ToolTipRole: tip,
    SORT_ROLE: str,
}
