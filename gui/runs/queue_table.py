"""The Qt model of the queue: a row for each run, in the order in which they are judged.

Knows: what stands in a cell. Does not know: the queue, views.
"""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from engine.core.formatting import short_name
from gui.kit.foreign_text import one_line, tip
from gui.runs.queued import Queued

COLUMNS = ("Run", "Model", "State")
RUN, MODEL, STATE = range(len(COLUMNS))
LINES = 2
"""Of text in a row."""
Index = QModelIndex | QPersistentModelIndex


class QueueTableModel(QAbstractTableModel):
    """Shows what it is given."""

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self._entries: Sequence[Queued] = ()

    def show_entries(self, entries: Sequence[Queued]) -> None:
        """Show these; rows stay chosen where there are as many as before."""
        if len(entries) == len(self._entries):
            self._entries = entries
            self.dataChanged.emit(self.index(0, 0), self.index(len(entries) - 1, len(COLUMNS) - 1))
            return
        self.beginResetModel()
        self._entries = entries
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        """How many runs there are."""
        return 0 if parent.isValid() else len(self._entries)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        """How many columns there are."""
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """The names of the columns."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        return COLUMNS[section] if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The text of a cell, and all of the run as tool tip."""
        if not index.isValid():
            return None
        entry = self._entries[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return "\n".join(one_line(line) for line in _lines(entry)[index.column()])
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            whole = f"{entry.what}\n{entry.setup.model_path}\n{entry.how}\n{entry.outcome}"
            return tip(whole) if role == Qt.ItemDataRole.ToolTipRole else one_line(entry.in_words)
        return None


def _lines(entry: Queued) -> tuple[tuple[str, ...], ...]:
    """The lines of each cell."""
    return (
        (short_name(entry.what), entry.how),
        (short_name(entry.setup.model_path.stem),),
        entry.outcome_lines,
    )
