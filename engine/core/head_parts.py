"""Parts of a head: what a judgment may be decided by besides the mean of its raw predictions.

Knows: how a part is named, stored and worded. Does not know: how raw predictions become numbers, what a part
is worth.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from engine.core.formatting import words
from engine.core.items import Method, Order


class FeatureKind(StrEnum):
    """What a part is made of."""

    RAW_PREDICTIONS = "readings"  # of one judge and method, in both orders or in one
    CRITERION = "criterion"  # the mean of the raw predictions on another criterion
    LENGTHS = "lengths"  # of the two responses


@dataclass(frozen=True)
class Feature:
    """One of these; the fields that its kind does not need are empty.

    `judge`: its number in a jury, 0 in a run of one judge. `order`: None for both together.
    """

    kind: FeatureKind
    judge: int = 0
    method: Method | None = None
    order: Order | None = None
    criterion: str = ""

    @property
    def in_words(self) -> str:
        """For users: `judge 2, graded`, `the readings on safety`, `the lengths of the responses`."""
        if self.kind is FeatureKind.LENGTHS:
            return "the lengths of the responses"
        if self.kind is FeatureKind.CRITERION:
            return f"the raw predictions on {words(self.criterion)}"
        judge = f"judge {self.judge}" if self.judge else ""
        return ", ".join(filter(None, (judge, self.method and self.method.title, self.order)))

    def as_json(self) -> dict[str, Any]:
        """As plain values, without what is empty."""
        named = {"judge": self.judge, "way": self.method, "order": self.order, "criterion": self.criterion}
        return {"kind": self.kind.value} | {name: value for name, value in named.items() if value}


def part_of(value: Mapping[str, Any]) -> Feature:
    """What `as_json` gave. KeyError, TypeError or ValueError for anything else."""
    judge = value.get("judge", 0)
    if type(judge) is not int or judge < 0:
        raise ValueError(f"{judge!r} is no number of a judge")
    return Feature(
        kind=FeatureKind(value["kind"]),
        judge=judge,
        method=Method(value["way"]) if "way" in value else None,
        order=Order(value["order"]) if "order" in value else None,
        criterion=str(value.get("criterion", "")),
    )


LENGTHS = Feature(FeatureKind.LENGTHS)


def parts_in_words(parts: Sequence[Feature]) -> str:
    """What is looked at: `each of letters; graded; and the readings on safety`; empty for nothing."""
    read = [part for part in parts if part.kind is FeatureKind.RAW_PREDICTIONS]
    beside = [part.in_words for part in parts if part.kind is not FeatureKind.RAW_PREDICTIONS]
    own = [f"each of {'; '.join(part.in_words for part in read)}"] if read else []
    *others, last = [*own, *beside] or [""]
    return f"{'; '.join(others)}; and {last}" if others else last
