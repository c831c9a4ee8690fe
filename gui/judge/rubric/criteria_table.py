"""The criteria of a rubric that is edited, as a table: one row for each.

Knows: columns. Does not know: how a criterion is written.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QObject, Qt

from engine.core.formatting import words
from gui.judge.rubric.edited import At, EditedCriterion
from gui.kit.foreign_text import one_line, tip
from gui.kit.value_table import Head, HeadedModel, Index

NAME, QUESTION, GOOD, BAD, WEIGHT = range(5)
WRONG = "⚠"
_HEADS = (
    Head("Name", "Its columns in datasets and submissions begin with this name."),
    Head("Question", "What the model is asked."),
    Head("Good", "What makes a response good on it."),
    Head("Bad", "What makes a response bad on it."),
    Head("Weight", "Its share in the weighted judge.", is_number=True),
)


class CriteriaTable(HeadedModel):
    """Shows an edited rubric's criteria; those with a problem are marked."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(_HEADS, parent)
        self._criteria: Sequence[EditedCriterion] = ()
        self._problems: Mapping[int, str] = {}

    def show_criteria(self, criteria: Sequence[EditedCriterion], problems: Mapping[At, str]) -> None:
        """Show these criteria; views keep their place where there are as many as before."""
        wrong: dict[int, str] = {}
        for at, problem in problems.items():
            if at.place >= 0:
                wrong.setdefault(at.place, problem)
        same = len(criteria) == len(self._criteria)
        if not same:
            self.beginResetModel()
        self._criteria, self._problems = tuple(criteria), wrong
        if same:
            self._tell_changed(0, len(criteria) - 1)
        else:
            self.endResetModel()

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The text of a cell; the whole of it, or what is wrong, as its tool tip."""
        if not index.isValid():
            return None
        row, column = index.row(), index.column()
        text = self._text(self._criteria[row], column)
        if role == Qt.ItemDataRole.DisplayRole:
            marked = column == NAME and row in self._problems
            return f"{WRONG} {one_line(text)}" if marked else one_line(text)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(self._problems.get(row, text) if column == NAME else text)
        if role == Qt.ItemDataRole.AccessibleTextRole and column == NAME and row in self._problems:
            return f"{one_line(text)}: {self._problems[row]}"
        return super().data(index, role)

    def _count_rows(self) -> int:
        return len(self._criteria)

    def _text(self, criterion: EditedCriterion, column: int) -> str:
        if column == NAME:
            return words(criterion.name) if criterion.name.strip() else "(no name)"
        if column == WEIGHT:
            return f"{criterion.weight:g}"
        return {QUESTION: criterion.question, GOOD: criterion.good, BAD: criterion.bad}[column]
