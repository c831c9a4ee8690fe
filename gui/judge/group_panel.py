"""The latest judgments of a run for a view: those that are not kept yet, then the newest; old ones dropped.

The items that are judged now: how far they are, an explanation as it grows, what a stop would lose.
"""

import math
from collections import deque
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QFont, QPalette
from PySide6.QtWidgets import QProgressBar, QPushButton, QWidget

from engine.core.events import Drafted, GroupUnderWay, ItemJudged, LabelsRead
from engine.core.formatting import number, percent, visible, words
from engine.core.judgments import Judgment
from gui.widgets.foreign_text import OneLine, one_line, tip
from gui.widgets.label_mark import LABEL_WORDS, label_icon
from gui.widgets.labels import STRETCH, hint, in_column, in_row, name, shown_text
from gui.widgets.value_table import SORT_ROLE, Head, HeadedModel, Index

_WORTH_TELLING = 1.5  # seconds that a group takes: faster ones would only flicker
_LONGEST_ID = 40  # characters
_TAIL = 60  # characters of an explanation: its end is what is new


class GroupPanel(QWidget):
    """Hidden until a group takes longer than a moment; from then on until the run ends."""

    soon_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._what = OneLine()
        self._bar = QProgressBar(textVisible=False)
        self._bar.setMaximumHeight(6)
        name(self._bar, "Tokens of the item that is read")
        self._draft = OneLine()
        self._loss = hint("")
        self._soon = QPushButton("Stop after these items")
        name(self._soon, "Stop after the items being judged", "No work is lost.")
        self._soon.clicked.connect(self.soon_wanted)
        end = in_row((self._loss, STRETCH), self._soon)
        in_column(self._what, self._bar, self._draft, end, on=self, spacing=4)
        self.hide()

    @property
    def text(self) -> str:
        """All that it says, for screen readers and tests."""
        return shown_text(self)

    def end(self) -> None:
        """No group is judged any more."""
        self._draft.setText("")
        self.hide()

    def show_group(self, group: GroupUnderWay, ending: bool) -> None:
        """Show how far a group is; `ending`: the run is to stop after it."""
        item = one_line(group.item_id)
        item = f"{item[:_LONGEST_ID]}…" if len(item) > _LONGEST_ID else item
        self._bar.setRange(0, max(group.total, 1))
        self._bar.setValue(group.done)
        if group.writing:
            what = f"Writing explanations: {group.done:,} of about {group.total:,} tokens"
        else:
            what = f"Reading item {item}: {group.done:,} of {group.total:,} tokens"
            self._draft.setText("")
        self._what.setText(what)
        self._bar.setAccessibleDescription(what)
        self._soon.setEnabled(not ending)
        self._loss.setText(visible(group.ending_in_words if ending else group.loss_in_words))
        if group.seconds >= _WORTH_TELLING:
            self.show()

    def show_draft(self, draft: Drafted) -> None:
        """Show an explanation as far as it is written."""
        text = draft.text if len(draft.text) <= _TAIL else f"…{draft.text[-_TAIL:]}"
        label = LABEL_WORDS[draft.preference]
        self._draft.setText(f"{words(draft.criterion).capitalize()}, {label}: {one_line(text)}")


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
