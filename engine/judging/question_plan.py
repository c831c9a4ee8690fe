"""Judging until something is clear: instructions one after another as a seed draws them, and no item that no
open question needs.

Knows: in which order groups are judged, when the question is looked at. Does not know: what is asked, how it
is answered (engine/ranking/stopping.py).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from engine.core.errors import SetupError
from engine.core.events import ItemJudged, Resolved
from engine.core.items import Preference
from engine.core.judgments import label_of
from engine.data.dataset import Dataset
from engine.data.label_origins import drawn_instructions
from engine.settings.identity import RANDOM_ORDER, TUNING, StoredRun


class QuestionPlan(Protocol):
    """What a run is to answer. It can be sent to another process, and what it was told is not lost there."""

    @property
    def seed(self) -> int:
        """By which instructions are drawn, one after another."""

    @property
    def criterion(self) -> str:
        """By whose labels it is answered."""

    @property
    def width(self) -> float | None:
        """Of the intervals that it asks for, 0 to 1; None where it asks for none."""

    @property
    def leaves_out(self) -> bool:
        """Whether it has several parts, so that the items of a part that is clear are omitted."""

    @property
    def is_tuning(self) -> bool:
        """Whether it is about the best settings: then nothing of its own is reported of the run."""

    @property
    def is_answered(self) -> bool:
        """Whether nothing of it is open."""

    def wants(self, item_id: str) -> bool:
        """Whether an item could answer what is open."""

    def add(self, labels: Mapping[str, Preference | None]) -> Sequence[str]:
        """What was said of items, None where nothing could be; what is clear now, in words."""


class Asking:
    """An inquiry, or none, alongside the groups of a run."""

    def __init__(self, question_plan: QuestionPlan | None, criteria: Sequence[str]) -> None:
        self._question_plan = question_plan
        self._column = criteria.index(question_plan.criterion) if question_plan is not None else 0
        self._labels: dict[str, Preference | None] = {}

    @property
    def is_there(self) -> bool:
        """Whether anything is asked."""
        return self._question_plan is not None

    @property
    def is_answered(self) -> bool:
        """Whether there is no need to continue."""
        return self._question_plan is not None and self._question_plan.is_answered

    def wants(self, item_ids: Iterable[str]) -> bool:
        """Whether a group of items is to be judged."""
        return self._question_plan is None or any(map(self._question_plan.wants, item_ids))

    def hear(self, event: object) -> None:
        """Note what an event says of an item."""
        if self._question_plan is not None and isinstance(event, ItemJudged):
            self._labels[event.judged.item_id] = label_of(event.judgments[self._column])

    def look(self) -> Iterator[Resolved]:
        """Look at what is open, with all that was heard."""
        labels, self._labels = self._labels, {}
        if self._question_plan is not None and labels:
            yield from map(Resolved, self._question_plan.add(labels))


def order_of(run: StoredRun, question_plan: QuestionPlan | None, judged: int) -> Mapping[str, Any] | None:
    """In which random order a run is judged, for its manifest: as it was before, else as an inquiry begins it
    after this many items were `judged`; None for the order of its file. SetupError for another seed.
    """
    if run.order_seed is None:
        if question_plan is None:
            return None
        return {"seed": question_plan.seed, "after": judged, **_asked_by(question_plan)}
    known: Mapping[str, Any] = run.manifest[RANDOM_ORDER]
    if question_plan is None:
        return known
    if question_plan.seed != run.order_seed:
        raise SetupError(
            f"Run {run.id} samples its instructions with seed {run.order_seed}, not {question_plan.seed}.",
            f"Use the seed {run.order_seed}, or start a new run.",
        )
    leaves_out = question_plan.leaves_out or known.get("leaves_out", False)
    beside = {name: value for name, value in known.items() if name != TUNING}
    return {**beside, **_asked_by(question_plan), "leaves_out": leaves_out}


def _asked_by(question_plan: QuestionPlan) -> dict[str, Any]:
    tuning = {TUNING: True} if question_plan.is_tuning else {}
    return {"leaves_out": question_plan.leaves_out, "width": question_plan.width, **tuning}


def in_random_order(groups: Sequence[range], dataset: Dataset, seed: int) -> list[range]:
    """Groups of positions, each in the place of that of its instructions which a seed draws first."""
    places = drawn_instructions(dataset.group_column, seed)
    return sorted(groups, key=lambda group: min(places[position] for position in group))
