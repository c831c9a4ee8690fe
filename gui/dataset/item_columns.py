"""How wide the columns of the item table are and which are hidden, by name: for any dataset, any text size.

Knows: the header of a view. Does not know: what remembers it.
"""

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QEvent, QObject, Slot
from PySide6.QtWidgets import QTableView

from gui.dataset.item_table import DatasetColumn, ItemTableModel

NEVER_HIDDEN = "id"
_WIDTHS = {"id": 7.0, "instruction": 30.0, "output_a": 26.0, "output_b": 26.0}  # in mean letters
_ROOM_FOR_MARKS = 6  # letters beside the title of a label's column: its coloured mark, the sort arrow
_LONGEST_LABEL = len("both good")
_NARROWEST, _WIDEST = 3.0, 400.0
_TEXTS = ("instruction", "output_a", "output_b")


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
        """True unless the user hid it; of the file's further columns those that he asked for."""
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
        usual = _WIDTHS.get(column.source, max(len(column.title), _LONGEST_LABEL) + _ROOM_FOR_MARKS)
        return self._widths.get(column.source, usual)

    def _letter(self) -> int:
        return max(1, self._view.fontMetrics().averageCharWidth())

    @Slot(int, int, int)
    def _take_width(self, place: int, _old: int, width: int) -> None:
        # Qt gives a hidden column the width 0.
        if width and not self._applying and place < len(self._table.columns):
            self._widths[self._table.columns[place].source] = round(width / self._letter(), 1)
