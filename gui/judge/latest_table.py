"""The latest judgments of a run for a view: those that are not kept yet, then the newest; old ones dropped.

Knows: judged items, Qt's item models. Does not know: runs, how anything is decided.
"""

import math
from collections import deque
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, Qt
from PySide6.QtGui import QFont, QPalette

from engine.core.events import ItemJudged, LabelsRead
from engine.core.formatting import number, percent, words
from engine.core.judgments import Judgment
from gui.kit.foreign_text import one_line, tip
from gui.kit.label_mark import LABEL_WORDS, label_icon
from gui.kit.value_table import SORT_ROLE, Head, HeadedModel, Index

MOST_ROWS = 200
_Row = ItemJudged | LabelsRead
_BEFORE, _AFTER = (Head("Item"),), (Head("Flips", is_number=True),)


class LatestTableModel(HeadedModel):
    """One row for each item: its label on each criterion, how many of them the order flipped.

    Items that are read and not kept yet are at the top, in italics.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__((*_BEFORE, *_AFTER), parent)
        self._criteria: tuple[str, ...] = ()
        self._rows: deque[ItemJudged] = deque(maxlen=MOST_ROWS)
        self._previews: list[LabelsRead] = []
        self._icons = {label: label_icon(label, QPalette()) for label in LABEL_WORDS}
        self._not_kept = QFont()
        self._not_kept.setItalic(True)

    def begin(self, criteria: Sequence[str]) -> None:
        """Show nothing, with a column for each of these criteria."""
        self.beginResetModel()
        self._criteria = tuple(criteria)
        self._heads = (*_BEFORE, *(Head(words(name).capitalize()) for name in criteria), *_AFTER)
        self._rows.clear()
        self._previews.clear()
        self.endResetModel()

    def use_palette(self, palette: QPalette) -> None:
        """Draw with other colours from now on."""
        self._icons = {label: label_icon(label, palette) for label in LABEL_WORDS}

    def preview(self, events: Sequence[LabelsRead]) -> None:
        """Put items on top that are not kept yet, or show anew what is read of them."""
        for event in events:
            places = [place for place, each in enumerate(self._previews) if each.position == event.position]
            if places:
                self._previews[places[0]] = event
                self._tell_changed(places[0], places[0])
            else:
                self.beginInsertRows(QModelIndex(), 0, 0)
                self._previews.insert(0, event)
                self.endInsertRows()

    def drop_previews(self, last: float = math.inf) -> None:
        """Show no items that are not kept, up to this place in the dataset."""
        for row in reversed(range(len(self._previews))):
            if self._previews[row].position <= last:
                self.beginRemoveRows(QModelIndex(), row, row)
                del self._previews[row]
                self.endRemoveRows()

    def is_preview(self, row: int) -> bool:
        """True for an item that is not kept yet."""
        return row < len(self._previews)

    def add(self, events: Sequence[ItemJudged]) -> None:
        """Put items on top that are kept, the last first; of their group there are no previews then."""
        newest = events[-MOST_ROWS:]
        if not newest:
            return
        self.drop_previews(newest[-1].judged.position)
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
        return self._item_id(self._event(row))

    def is_label(self, column: int) -> bool:
        """True for the columns of the criteria."""
        return 0 <= column - len(_BEFORE) < len(self._criteria)

    def criterion(self, column: int) -> str:
        """The criterion of a column, the first one for the others."""
        return self._criteria[column - len(_BEFORE) if self.is_label(column) else 0]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a cell shows, its value, the colour of a label."""
        if not index.isValid():
            return None
        event, place = self._event(index.row()), index.column() - len(_BEFORE)
        if role == Qt.ItemDataRole.FontRole:
            return self._not_kept if isinstance(event, LabelsRead) else None
        if 0 <= place < len(self._criteria):
            return self._label(event, place, role)
        if role in (Qt.ItemDataRole.DisplayRole, SORT_ROLE):
            return self._text(event, place)
        if role == Qt.ItemDataRole.ToolTipRole and place < 0:
            return tip(f"{self._item_id(event)}\n{_how(event)}")
        return super().data(index, role)

    def _count_rows(self) -> int:
        return len(self._previews) + len(self._rows)

    def _event(self, row: int) -> _Row:
        kept = row - len(self._previews)
        return self._previews[row] if kept < 0 else self._rows[kept]

    def _item_id(self, event: _Row) -> str:
        return event.item_id if isinstance(event, LabelsRead) else event.judged.item_id

    def _text(self, event: _Row, place: int) -> str:
        if place < 0:
            return one_line(self._item_id(event))
        if isinstance(event, LabelsRead):
            return "…"
        known = [judgment.flipped for judgment in event.judgments if isinstance(judgment, Judgment)]
        both_orders = [flipped for flipped in known if flipped is not None]
        return f"{sum(both_orders)} of {len(both_orders)}" if both_orders else "-"

    def _label(self, event: _Row, place: int, role: int) -> Any:
        judgment = event.judgments[place]
        preference = judgment.preference if isinstance(judgment, Judgment) else None
        if role in (Qt.ItemDataRole.DisplayRole, SORT_ROLE):
            return LABEL_WORDS[preference]
        if role == Qt.ItemDataRole.DecorationRole:
            return self._icons[preference]
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(_why(event, place))
        return None


def _how(event: _Row) -> str:
    """How far an item is, or how long it took."""
    if isinstance(event, ItemJudged):
        return f"judged in {number(event.judged.seconds, 1)} s"
    if event.whole:
        return "judged; stored once the explanations of its group are written"
    return "judged in one order of the responses; the other may change a label"


def _why(event: _Row, place: int) -> str:
    judgment = event.judgments[place]
    if not isinstance(judgment, Judgment):
        return f"{words(judgment.criterion)}: unscored, {judgment.reason}"
    likely = ", ".join(
        f"{LABEL_WORDS[label]} {percent(share)}"
        for label, share in zip(
            (p for p in LABEL_WORDS if p is not None), judgment.probabilities, strict=True
        )
    )
    flipped = "\nPosition-inconsistent: the two orders give different labels." if judgment.flipped else ""
    explanation = f"\n{judgment.explanation.text}" if judgment.explanation else ""
    return f"{words(judgment.criterion)}: {likely}{flipped}{explanation}"
