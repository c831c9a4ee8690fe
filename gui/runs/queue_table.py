"""The Qt model of the queue: a row for each run, in the order in which they are judged.

Knows: what stands in a cell. Does not know: the queue, views.
"""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QObject, Qt

from engine.core.formatting import short_name
from gui.kit.foreign_text import one_line, tip
from gui.kit.value_table import Head, HeadedModel, Index
from gui.runs.queued import Queued

_HEADS = (Head("Run"), Head("Model"), Head("State"))
RUN, MODEL, STATE = range(len(_HEADS))
LINES = 2
"""Of text in a row."""


class QueueTableModel(HeadedModel):
    """Shows what it is given."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(_HEADS, parent)
        self._entries: Sequence[Queued] = ()

    def show_entries(self, entries: Sequence[Queued]) -> None:
        """Show these; rows stay chosen where there are as many as before."""
        if len(entries) == len(self._entries):
            self._entries = entries
            self._tell_changed(0, len(entries) - 1)
            return
        self.beginResetModel()
        self._entries = entries
        self.endResetModel()

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The text of a cell, and all of the run as tool tip."""
        if not index.isValid():
            return None
        entry = self._entries[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return "\n".join(one_line(line) for line in _lines(entry)[index.column()])
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return tip(_about(entry)) if role == Qt.ItemDataRole.ToolTipRole else one_line(entry.in_words)
        return super().data(index, role)

    def _count_rows(self) -> int:
        return len(self._entries)


def _about(entry: Queued) -> str:
    """All of a run, each part on a line of its own."""
    parts = (entry.name, entry.what, str(entry.setup.model_path), entry.how, entry.outcome, entry.note)
    return "\n".join(part for part in parts if part)


def _lines(entry: Queued) -> tuple[tuple[str, ...], ...]:
    """The lines of each cell."""
    return (
        (entry.title, entry.how),
        (short_name(entry.setup.model_path.stem),),
        entry.outcome_lines,
    )
