"""Which items and instructions a fit learned from, known again by their content.

Parts of a head: what a judgment may be decided by besides the mean of its raw predictions.

An item is known by its texts, not by its file, its place or its id: a score on it looks better than it is
wherever it turns up again. Knows: short hashes. Does not know: what was fitted, datasets, files.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import msgspec

from engine.core.formatting import words
from engine.core.items import Item, Method, Order, digest
from engine.core.tables import Estimate


class FeatureKind(StrEnum):
    """What a part is made of."""

    RAW_PREDICTIONS = "readings"  # of one judge and method, in both orders or in one
    CRITERION = "criterion"  # the mean of the raw predictions on another criterion
    LENGTHS = "lengths"  # of the two responses


class Feature(msgspec.Struct, frozen=True, omit_defaults=True):
    """One of these; the fields that its kind does not need are empty.

    `judge`: its number in a jury, 0 in a run of one judge. `order`: None for both together.
    """

    kind: FeatureKind
    judge: Annotated[int, msgspec.Meta(ge=0)] = 0
    method: Method | None = msgspec.field(name="way", default=None)
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


LENGTHS = Feature(FeatureKind.LENGTHS)


def parts_in_words(parts: Sequence[Feature]) -> str:
    """What is looked at: `each of letters; graded; and the readings on safety`; empty for nothing."""
    read = [part for part in parts if part.kind is FeatureKind.RAW_PREDICTIONS]
    beside = [part.in_words for part in parts if part.kind is not FeatureKind.RAW_PREDICTIONS]
    own = [f"each of {'; '.join(part.in_words for part in read)}"] if read else []
    *others, last = [*own, *beside] or [""]
    return f"{'; '.join(others)}; and {last}" if others else last


_DIGITS = 12  # 48 bits: among 10,000 items two share one in 1 of 5 million cases
ShortHash = Annotated[str, msgspec.Meta(pattern=f"^[0-9a-f]{{{_DIGITS}}}$")]


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

    items: tuple[ShortHash, ...]
    instructions: tuple[ShortHash, ...]

    def __post_init__(self) -> None:
        if len(set(self.items)) < len(self.items):
            raise ValueError("an item took part twice")

    @classmethod
    def of(cls, items: Iterable[Item]) -> "FittedOn":
        """What a fit to these items learned from."""
        learned = {short_hash(item.content_hash): item.group for item in items}
        return cls(tuple(learned), tuple(sorted({short_hash(digest(group)) for group in learned.values()})))

    def overlap(self, items: Iterable[Item]) -> Overlap:
        """How many of some items took part; each is counted as often as it occurs."""
        own, instructions = frozenset(self.items), frozenset(self.instructions)
        count, took_part, others = 0, 0, 0
        for item in items:
            count += 1
            if short_hash(item.content_hash) in own:
                took_part += 1
            elif short_hash(digest(item.group)) in instructions:
                others += 1
        return Overlap(took_part, others, count)

    def overlap_of_hashes(self, content_hashes: Collection[str]) -> Overlap:
        """How many items with these hashes of their content took part; of instructions nothing is said."""
        own = frozenset(self.items)
        return Overlap(sum(short_hash(each) in own for each in content_hashes), 0, len(content_hashes))


Share = Annotated[float, msgspec.Meta(ge=-1, le=1)]
"""A share, or a difference of shares."""


class KeptFit(msgspec.Struct, frozen=True, kw_only=True):
    """What weights and a tie threshold keep of the fit to human overall labels that they come from.

    `dataset`: the name of the labels' file, for users; `agreement`: the share of its items that had the
    human winner, each by what was fitted without it, with its 95 % interval.
    """

    dataset: str
    agreement: Share
    agreement_interval: tuple[Share, Share] | None = None  # which older files lack
    fitted_on: FittedOn = msgspec.field(name="took_part")

    def in_words(self, overlap: Overlap, weights: str = "the weights") -> str:
        """How much of what is scored took part in the fit, and what that means; empty where nothing did."""
        said = overlap.in_words(weights)
        if not said:
            return ""
        agreement = Estimate(self.agreement, self.agreement_interval)
        return (
            f"{said} On these the weights look better than they are; cross-validated on"
            f" {self.dataset}, {agreement} % of the winners agree with the human ones."
        )
