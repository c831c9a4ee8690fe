"""The latest judgments of a run for a view: the newest at the top, the old ones dropped.

Knows: judged items, Qt's item models. Does not know: runs, how anything is decided.
"""

from collections import deque
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt
from PySide6.QtGui import QPalette

from engine.core.events import ItemJudged
from engine.core.formatting import number, percent, words
from engine.core.judgments import Judgment
from gui.kit.foreign_text import one_line, tip
from gui.kit.label_mark import label_icon
from gui.kit.label_words import LABEL_WORDS
from gui.kit.value_table import SORT_ROLE, Index

MOST_ROWS = 200
_BEFORE, _AFTER = ("Item",), ("Flips",)


class LatestTableModel(QAbstractTableModel):
    """One row for each item: its label on each criterion, how many of them the order flipped."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._criteria: tuple[str, ...] = ()
        self._rows: deque[ItemJudged] = deque(maxlen=MOST_ROWS)
        self._icons = {label: label_icon(label, QPalette()) for label in LABEL_WORDS}

    def begin(self, criteria: Sequence[str]) -> None:
        """Show nothing, with a column for each of these criteria."""
        self.beginResetModel()
        self._criteria = tuple(criteria)
        self._rows.clear()
        self.endResetModel()

    def use_palette(self, palette: QPalette) -> None:
        """Draw with other colours from now on."""
        self._icons = {label: label_icon(label, palette) for label in LABEL_WORDS}

    def add(self, events: Sequence[ItemJudged]) -> None:
        """Put items on top, the last of them first."""
        newest = events[-MOST_ROWS:]
        if not newest:
            return
        surplus = len(self._rows) + len(newest) - MOST_ROWS
        if surplus > 0:
            self.beginRemoveRows(QModelIndex(), len(self._rows) - surplus, len(self._rows) - 1)
            for _ in range(surplus):
                self._rows.pop()
            self.endRemoveRows()
        self.beginInsertRows(QModelIndex(), 0, len(newest) - 1)
        self._rows.extendleft(newest)
        self.endInsertRows()

    def item_id(self, row: int) -> str:
        """The id of the item of a row."""
        return self._rows[row].judged.item_id

    def is_label(self, column: int) -> bool:
        """True for the columns of the criteria."""
        return 0 <= column - len(_BEFORE) < len(self._criteria)

    def criterion(self, column: int) -> str:
        """The criterion of a column, the first one for the others."""
        return self._criteria[column - len(_BEFORE) if self.is_label(column) else 0]

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        """How many items are shown."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        """How many columns there are."""
        return 0 if parent.isValid() else len(_BEFORE) + len(self._criteria) + len(_AFTER)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """The names of the columns."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return (*_BEFORE, *map(words, self._criteria), *_AFTER)[section].capitalize()
        if role == Qt.ItemDataRole.TextAlignmentRole:
            left = section < len(_BEFORE) + len(self._criteria)
            side = Qt.AlignmentFlag.AlignLeft if left else Qt.AlignmentFlag.AlignRight
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a cell shows, its value, the colour of a label."""
        if not index.isValid():
            return None
        event, place = self._rows[index.row()], index.column() - len(_BEFORE)
        if 0 <= place < len(self._criteria):
            return self._label(event, place, role)
        answer: Any = None
        if role == Qt.ItemDataRole.DisplayRole:
            answer = self._text(event, place)
        elif role == Qt.ItemDataRole.ToolTipRole and place < 0:
            answer = tip(f"{event.judged.item_id}\njudged in {number(event.judged.seconds, 1)} s")
        elif role == Qt.ItemDataRole.TextAlignmentRole and place >= 0:
            answer = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        elif role == SORT_ROLE:
            answer = self._text(event, place)
        return answer

    def _text(self, event: ItemJudged, place: int) -> str:
        if place < 0:
            return one_line(event.judged.item_id)
        known = [judgment.flipped for judgment in event.judgments if isinstance(judgment, Judgment)]
        both_orders = [flipped for flipped in known if flipped is not None]
        return f"{sum(both_orders)} of {len(both_orders)}" if both_orders else "-"

    def _label(self, event: ItemJudged, place: int, role: int) -> Any:
        judgment = event.judgments[place]
        preference = judgment.preference if isinstance(judgment, Judgment) else None
        if role in (Qt.ItemDataRole.DisplayRole, SORT_ROLE):
            return LABEL_WORDS[preference]
        if role == Qt.ItemDataRole.DecorationRole:
            return self._icons[preference]
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(_why(event, place))
        return None


def _why(event: ItemJudged, place: int) -> str:
    judgment = event.judgments[place]
    if not isinstance(judgment, Judgment):
        return f"{words(judgment.criterion)}: unscored, {judgment.reason}"
    likely = ", ".join(
        f"{LABEL_WORDS[label]} {percent(share)}"
        for label, share in zip(
            (p for p in LABEL_WORDS if p is not None), judgment.probabilities, strict=True
        )
    )
    flipped = "\nThe order of the responses flipped it." if judgment.flipped else ""
    explanation = f"\n{judgment.explanation.text}" if judgment.explanation else ""
    return f"{words(judgment.criterion)}: {likely}{flipped}{explanation}"
