"""Parts of a head: what a judgment may be decided by beside the mean of its readings.

Knows: how a part is named, kept and said. Does not know: how readings become numbers, what a part is worth.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from engine.core.formatting import words
from engine.core.items import Order, Way


class PartKind(StrEnum):
    """What a part is made of."""

    READINGS = "readings"  # of one judge and way, in both orders or in one
    CRITERION = "criterion"  # the mean of the readings on another criterion
    LENGTHS = "lengths"  # of the two responses


@dataclass(frozen=True)
class HeadPart:
    """One of these; the fields that its kind does not need are empty.

    `judge`: its number in a panel, 0 in a run of one judge. `order`: None for both together.
    """

    kind: PartKind
    judge: int = 0
    way: Way | None = None
    order: Order | None = None
    criterion: str = ""

    @property
    def in_words(self) -> str:
        """For people: `judge 2, graded`, `the readings on safety`, `the lengths of the responses`."""
        if self.kind is PartKind.LENGTHS:
            return "the lengths of the responses"
        if self.kind is PartKind.CRITERION:
            return f"the readings on {words(self.criterion)}"
        judge = f"judge {self.judge}" if self.judge else ""
        return ", ".join(filter(None, (judge, self.way, self.order)))

    def as_json(self) -> dict[str, Any]:
        """As plain values, without what is empty."""
        named = {"judge": self.judge, "way": self.way, "order": self.order, "criterion": self.criterion}
        return {"kind": self.kind.value} | {name: value for name, value in named.items() if value}


def part_of(value: Mapping[str, Any]) -> HeadPart:
    """What `as_json` gave. KeyError, TypeError or ValueError for anything else."""
    judge = value.get("judge", 0)
    if type(judge) is not int or judge < 0:
        raise ValueError(f"{judge!r} is no number of a judge")
    return HeadPart(
        kind=PartKind(value["kind"]),
        judge=judge,
        way=Way(value["way"]) if "way" in value else None,
        order=Order(value["order"]) if "order" in value else None,
        criterion=str(value.get("criterion", "")),
    )


LENGTHS = HeadPart(PartKind.LENGTHS)


def parts_in_words(parts: Sequence[HeadPart]) -> str:
    """What is looked at: `each of letters; graded; and the readings on safety`; empty for nothing."""
    read = [part for part in parts if part.kind is PartKind.READINGS]
    beside = [part.in_words for part in parts if part.kind is not PartKind.READINGS]
    own = [f"each of {'; '.join(part.in_words for part in read)}"] if read else []
    *others, last = [*own, *beside] or [""]
    return f"{'; '.join(others)}; and {last}" if others else last
