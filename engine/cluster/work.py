"""What a worker must know to judge: of the run, once; of the items, with each task.

Knows: which parts of a plan travel. Does not know: Dask, sessions, stores.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from engine.core.items import Item, digest
from engine.core.rubric import Rubric
from engine.core.settings import JudgeSettings
from engine.decisions.calibration import Calibration
from engine.judge.plan import RunPlan
from engine.prompt.examples import ExamplePool

ITEMS_OF_A_TASK = 8
"""Items that a worker is given at a time, where nobody says otherwise."""


@dataclass(frozen=True)
class JudgeWork:
    """What all items of a run are judged with. No path: each worker finds the model by its content.

    `model_hash`: SHA-256 of its files, `model_bytes` of them; `model_name`: for messages.
    """

    model_name: str
    model_hash: str
    model_bytes: int
    rubric: Rubric
    settings: JudgeSettings
    examples: ExamplePool
    calibration: Calibration | None

    @cached_property
    def key(self) -> str:
        """What a worker knows it by: all that can change what it judges."""
        calibrated = self.calibration.hash if self.calibration is not None else ""
        return digest(
            [self.model_hash, self.rubric.asked, self.settings.as_json(), self.examples.hash, calibrated]
        )


def work_of(plan: RunPlan) -> JudgeWork:
    """What workers need of a plan."""
    model = plan.model
    return JudgeWork(
        model.name, model.hash, model.size_bytes, plan.rubric, plan.settings, plan.examples, plan.calibration
    )


@dataclass(frozen=True)
class PlacedItem:
    """An item to judge. `in_series`: a neighbour in the dataset has its instruction."""

    position: int
    item: Item
    in_series: bool


@dataclass(frozen=True)
class ItemTask:
    """Groups of positions that one worker judges one after the other; each is stored by itself."""

    number: int
    groups: tuple[range, ...]

    @property
    def items(self) -> int:
        """All of its items."""
        return sum(map(len, self.groups))

    @property
    def in_words(self) -> str:
        """`items 17 to 24`, counted from 1 as users do."""
        first, last = self.groups[0].start + 1, self.groups[-1].stop
        return f"item {first:,}" if first == last else f"items {first:,} to {last:,}"


def tasks_of(groups: Sequence[range], items: int = ITEMS_OF_A_TASK) -> list[ItemTask]:
    """Groups in their order, as many together as have about this many items, at least one."""
    tasks: list[ItemTask] = []
    own: list[range] = []
    for group in groups:
        if own and sum(map(len, own)) + len(group) > items:
            tasks.append(ItemTask(len(tasks), tuple(own)))
            own = []
        own.append(group)
    return [*tasks, ItemTask(len(tasks), tuple(own))] if own else tasks


def placed_items(plan: RunPlan, task: ItemTask) -> list[list[PlacedItem]]:
    """What travels with a task: the items' ids and texts, without human labels."""
    return [
        [
            PlacedItem(position, replace(plan.dataset[position], gold={}), position in plan.dataset.series)
            for position in group
        ]
        for group in task.groups
    ]
