"""Which items and instructions a fit learned from, known again by their content.

Parts of a head: what a judgment may be decided by besides the mean of its raw predictions.

An item is known by its texts, not by its file, its place or its id: a score on it looks better than it is
wherever it turns up again. Knows: short hashes. Does not know: what was fitted, datasets, files.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from engine.core.formatting import quoted, words
from engine.core.items import Item, Method, Order, digest
from engine.core.tables import Estimate


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


_DIGITS = 12  # 48 bits: among 10,000 items two share one in 1 of 5 million cases
_SHORT = re.compile(f"[0-9a-f]{{{_DIGITS}}}")


def short_hash(of: str) -> str:
    """The first digits of a hash (hex), by which content is known again."""
    return of[:_DIGITS]


@dataclass(frozen=True)
class Overlap:
    """Of how many items (`of`) some took part in a fit: `items`; and of the others this many have an
    instruction that took part: `instructions`.
    """

    items: int
    instructions: int
    of: int

    def in_words(self, fitted: str) -> str:
        """`59 of these 60 items took part in the fit of FITTED.`; empty where nothing is in common."""
        have = f"{'has' if self.instructions == 1 else 'have'} an instruction that"
        of = f"of these {self.of:,} items"
        if not self.items:
            some = f"{self.instructions:,} {of} {have} took part in the fit of {fitted}."
            return some if self.instructions else ""
        more = f" {self.instructions:,} more {have} did." if self.instructions else ""
        return f"{self.items:,} {of} took part in the fit of {fitted}.{more}"


@dataclass(frozen=True)
class FittedOn:
    """Short hashes of the items that a fit learned from, in their order, and of their instructions."""

    items: tuple[str, ...]
    instructions: frozenset[str]

    @classmethod
    def of(cls, items: Iterable[Item]) -> "FittedOn":
        """What a fit to these items learned from."""
        learned = {short_hash(item.content_hash): item.group for item in items}
        return cls(tuple(learned), _instructions(learned.values()))

    def overlap(self, items: Iterable[Item]) -> Overlap:
        """How many of some items took part; each is counted as often as it occurs."""
        own, count, took_part, others = frozenset(self.items), 0, 0, 0
        for item in items:
            count += 1
            if short_hash(item.content_hash) in own:
                took_part += 1
            elif _of_instruction(item.group) in self.instructions:
                others += 1
        return Overlap(took_part, others, count)

    def overlap_of_hashes(self, content_hashes: Collection[str]) -> Overlap:
        """How many items with these hashes of their content took part; of instructions nothing is said."""
        own = frozenset(self.items)
        return Overlap(sum(short_hash(each) in own for each in content_hashes), 0, len(content_hashes))

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        return {"items": list(self.items), "instructions": sorted(self.instructions)}


def fitted_on_of(value: Mapping[str, Any]) -> FittedOn:
    """What `as_json` gave. KeyError, TypeError or ValueError for anything else."""
    items, instructions = ([_known(each) for each in value[key]] for key in ("items", "instructions"))
    if len(set(items)) < len(items):
        raise ValueError("an item took part twice")
    return FittedOn(tuple(items), frozenset(instructions))


def _known(value: object) -> str:
    if not isinstance(value, str) or not _SHORT.fullmatch(value):
        raise TypeError(f"a hash of what took part is no {_DIGITS} hexadecimal digits")
    return value


def _instructions(instructions: Iterable[str]) -> frozenset[str]:
    return frozenset(map(_of_instruction, instructions))


def _of_instruction(instruction: str) -> str:
    return short_hash(digest(instruction))


@dataclass(frozen=True)
class KeptFit:
    """What weights and a tie threshold keep of the fit to human overall labels that they come from.

    `dataset`: the name of the labels' file, for users; `agreement`: the share of its items that had the
    human winner, each by what was fitted without it.
    """

    dataset: str
    agreement: Estimate
    fitted_on: FittedOn

    def in_words(self, overlap: Overlap, weights: str = "the weights") -> str:
        """How much of what is scored took part in the fit, and what that means; empty where nothing did."""
        said = overlap.in_words(weights)
        if not said:
            return ""
        return (
            f"{said} On these the weights look better than they are; cross-validated on"
            f" {self.dataset}, {self.agreement} % of the winners agree with the human ones."
        )

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "dataset": self.dataset,
            "agreement": self.agreement.value,
            "agreement_interval": self.agreement.ends,
            "took_part": self.fitted_on.as_json(),
        }


def kept_fit_of(value: Mapping[str, Any]) -> KeptFit:
    """What `as_json` gave, besides other keys. KeyError, TypeError or ValueError for anything else."""
    agreement = estimate_of(value["agreement"], value.get("agreement_interval"))
    return KeptFit(str(value["dataset"]), agreement, fitted_on_of(value["took_part"]))


def estimate_of(share: object, ends: object) -> Estimate:
    """A share (-1 to 1) as it was kept, with its interval or None. ValueError for anything else."""
    if ends is None:
        return Estimate(_share(share))
    if not isinstance(ends, list | tuple) or len(ends) != len(("low", "high")):
        raise ValueError(f"{quoted(str(ends))} is no interval")
    return Estimate(_share(share), (_share(ends[0]), _share(ends[1])))


def _share(value: object) -> float:
    if not isinstance(value, float | int) or not -1 <= value <= 1:
        raise ValueError(f"{quoted(str(value))} is no share")
    return float(value)
