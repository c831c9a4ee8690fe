"""What is under way in the editor: the rubric as it stands, its problems, the current criterion.

Knows: one edited rubric, and that its parts follow each other. Does not know: widgets, files.
"""

from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from engine.core.rubric import MOST_CRITERIA
from gui.judge.rubric.edited import EditedCriterion, EditedRubric, FieldPlace


class RubricDraft(QObject):
    """`problems`: what is wrong with it now, by field. `place`: the number of the current criterion."""

    changed = Signal()  # the rubric; its problems are those of it
    place_changed = Signal()

    def __init__(self, rubric: EditedRubric, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rubric = rubric
        self.place = 0 if rubric.criteria else -1
        self.problems: dict[FieldPlace, str] = rubric.problems

    @property
    def criterion(self) -> EditedCriterion | None:
        """The current criterion, None where there are none."""
        criteria = self.rubric.criteria
        return criteria[self.place] if 0 <= self.place < len(criteria) else None

    @property
    def can_add(self) -> bool:
        """Whether one criterion more is allowed."""
        return len(self.rubric.criteria) < MOST_CRITERIA

    def write(self, rubric: EditedRubric) -> None:
        """Let this be the rubric from now on."""
        if rubric != self.rubric:
            self.rubric, self.problems = rubric, rubric.problems
            self.changed.emit()
            self.choose(self.place)

    def choose(self, place: int) -> None:
        """Turn to another criterion, or to the nearest that there is."""
        place = max(min(place, len(self.rubric.criteria) - 1), 0 if self.rubric.criteria else -1)
        if place != self.place:
            self.place = place
            self.place_changed.emit()

    def add(self) -> None:
        """One criterion more, below the current one."""
        if self.can_add:
            self._put(self.place + 1, EditedCriterion())

    def remove(self) -> None:
        """Take the current criterion out."""
        if self.criterion is not None:
            here = self.place
            others = (*self.rubric.criteria[:here], *self.rubric.criteria[here + 1 :])
            self._write_criteria(others, min(here, len(others) - 1))

    def move(self, step: int) -> None:
        """Let the current criterion change places with its neighbour, and stay current."""
        criteria, here, there = list(self.rubric.criteria), self.place, self.place + step
        if 0 <= here < len(criteria) and 0 <= there < len(criteria):
            criteria[here], criteria[there] = criteria[there], criteria[here]
            self._write_criteria(tuple(criteria), there)

    def _put(self, place: int, criterion: EditedCriterion) -> None:
        criteria = self.rubric.criteria
        self._write_criteria((*criteria[:place], criterion, *criteria[place:]), place)

    def _write_criteria(self, criteria: tuple[EditedCriterion, ...], place: int) -> None:
        self.rubric = replace(self.rubric, criteria=criteria)
        self.problems = self.rubric.problems
        self.place = place
        self.changed.emit()
        self.place_changed.emit()
