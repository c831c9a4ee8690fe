"""How wide the columns of the item table are and which are hidden, by name: for any dataset, any text size.

Knows: the header of a view. Does not know: what remembers it.
"""

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QTableView

from gui.tables.items_table import Column, ItemsTable

NEVER_HIDDEN = "id"
_WIDTHS = {"id": 7.0, "instruction": 30.0, "output_a": 26.0, "output_b": 26.0}  # in mean letters
_ROOM_FOR_MARKS = 6  # letters beside the title of a label's column: its coloured mark, the sort arrow
_NARROWEST, _WIDEST = 3.0, 400.0


class ItemsColumns(QObject):
    """Keeps the columns of one view as the user wants them."""

    def __init__(self, view: QTableView, table: ItemsTable, remembered: Mapping[str, Any]) -> None:
        super().__init__(view)
        self._view = view
        self._table = table
        widths, hidden = remembered.get("widths"), remembered.get("hidden")
        self._widths: dict[str, float] = dict(_WIDTHS)
        if isinstance(widths, dict):
            self._widths |= {
                str(name): min(max(float(width), _NARROWEST), _WIDEST)
                for name, width in widths.items()
                if isinstance(width, int | float)
            }
        self._hidden = {str(one) for one in hidden} if isinstance(hidden, list) else set()
        self._hidden.discard(NEVER_HIDDEN)
        self._applying = False
        view.horizontalHeader().sectionResized.connect(self._take_width)

    def apply(self) -> None:
        """Give the columns of the table their widths, and hide those that are not wanted."""
        self._applying = True
        header = self._view.horizontalHeader()
        for place, column in enumerate(self._table.columns):
            header.resizeSection(place, round(self._letters(column) * self._letter()))
            header.setSectionHidden(place, column.source in self._hidden)
        self._applying = False

    def is_shown(self, column: Column) -> bool:
        """True unless the user hid it."""
        return column.source not in self._hidden

    def set_shown(self, column: Column, shown: bool) -> None:
        """Show or hide a column; the id stays."""
        if shown:
            self._hidden.discard(column.source)
        elif column.source != NEVER_HIDDEN:
            self._hidden.add(column.source)
        self.apply()

    def record(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {"widths": self._widths, "hidden": sorted(self._hidden)}

    def _letters(self, column: Column) -> float:
        return self._widths.get(column.source, len(column.title) + _ROOM_FOR_MARKS)

    def _letter(self) -> int:
        return max(1, self._view.fontMetrics().averageCharWidth())

    @Slot(int, int, int)
    def _take_width(self, place: int, _old: int, width: int) -> None:
        # A hidden column is told as 0 wide.
        if width and not self._applying and place < len(self._table.columns):
            self._widths[self._table.columns[place].source] = round(width / self._letter(), 1)
