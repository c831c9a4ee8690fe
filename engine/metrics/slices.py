"""How well a system does on each slice of the items: the measures of the whole, on the items of the slice."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from engine.core.events import CancelToken
from engine.core.items import HumanLabel, Preference, Tie, agree
from engine.data.slices import OfSlices, Slice, Slicing
from engine.metrics.accuracy import (
    LabelCounts,
    LabelMeasures,
    count_run,
    is_right,
    mean,
    mean_accuracy_of,
    measure_labels,
)
from engine.metrics.evaluation import mean_of
from engine.metrics.intervals import FEW, Interval, OverInstructions
from engine.metrics.matching import Matched, Pair
from engine.results.run_results import RunResults


@dataclass(frozen=True)
class SliceMeasures:
    """One slice. `items`: how many of its items the system answers, `labelled`: those with a human label, of
    so many `instructions`. `counts`: what its labels say by themselves, by criterion, and `measures` how they
    agree with annotators', empty without human labels. `over`: what `accuracy` is a mean of; None for one
    instruction.
    """

    part: Slice
    items: int
    labelled: int
    instructions: int
    counts: Mapping[str, LabelCounts]
    measures: Mapping[str, LabelMeasures]
    over: OverInstructions | None = None

    @property
    def accuracy(self) -> float | None:
        """The mean accuracy (0 to 1) over the criteria that have labels here."""
        return mean([found.accuracy for found in self.measures.values()])

    @property
    def interval(self) -> Interval | None:
        """Of `accuracy`, over instructions; None for a single one."""
        return self.over.share_interval() if self.over else None

    @property
    def most_frequent(self) -> float | None:
        """The mean over the criteria of the most-frequent-label baseline; None where one lacks it."""
        return mean_of(found.baselines.most_frequent for found in self.measures.values())

    @property
    def kappa(self) -> float | None:
        """The mean kappa over the criteria where there is one; none where everybody gives one label."""
        return mean([found.kappa for found in self.measures.values() if found.kappa is not None])

    @property
    def ties(self) -> float | None:
        """The share (0 to 1) of the system's labels that prefer neither response."""
        return _share_of_ties(found.predicted for found in self.counts.values())

    @property
    def human_ties(self) -> float | None:
        return _share_of_ties(found.human for found in self.measures.values())

    @property
    def flipped(self) -> float | None:
        """The share of judgments that the order of the responses decides, as the mean over the criteria."""
        return mean([found.flipped for found in self.counts.values() if found.flipped is not None])

    @property
    def in_both_orders(self) -> tuple[int, int]:
        """How many judgments were read in two orders, and how many the model scored."""
        pairs = [found.in_both_orders for found in self.counts.values()]
        return sum(twice for twice, _ in pairs), sum(scored for _, scored in pairs)

    @property
    def few(self) -> bool:
        """True where the labelled items have too few different instructions to say much."""
        return bool(self.measures) and self.instructions < FEW

    def as_json(self) -> dict[str, Any]:
        measured = ("accuracy", "interval", "kappa")
        own = ("items", "labelled", "few", *measured, "ties", "human_ties", "flipped")
        criteria = {
            name: {"labels": found.items, **{each: getattr(found, each) for each in measured}}
            for name, found in self.measures.items()
        }
        more = {"in_both_orders": list(self.in_both_orders), "criteria": criteria}
        return self.part.as_json({**{each: getattr(self, each) for each in own}, **more})


SlicedMeasures = OfSlices[SliceMeasures]
"""The slices of a division in which a system answers any item."""


def measure_slices(matched: Matched, division: Slicing, cancel: CancelToken | None = None) -> SlicedMeasures:
    """The measures of each slice, of items that the system answers. Raises Cancelled."""
    slices_of: dict[str, list[int]] = {}
    for place, part in enumerate(division.slices):
        for item_id in part.ids:
            slices_of.setdefault(item_id, []).append(place)
    pairs: list[dict[str, list[Pair]]] = [{} for _ in division.slices]
    for name, found in matched.pairs.items():
        for pair in found:
            for place in slices_of.get(pair.item.id, ()):
                pairs[place].setdefault(name, []).append(pair)
    answered = {item_id for item_id in matched.dataset.ids if item_id in matched.system.rows}
    measured = []
    for part, of_slice in zip(division.slices, pairs, strict=True):
        if cancel is not None:
            cancel.raise_if_requested()
        if items := sum(item_id in answered for item_id in part.ids):
            measured.append(_measured(part, items, of_slice))
    return SlicedMeasures(division, tuple(measured))


def count_slices(results: RunResults, division: Slicing) -> SlicedMeasures:
    """What the labels of a run say by themselves in each slice, where there are no human ones."""
    counted = []
    for part in division.slices:
        alone = results.only(part.known)
        if alone.judged:
            counts = {count.criterion: count for count in count_run(alone)}
            counted.append(SliceMeasures(part, len(alone.judged), 0, 0, counts, {}))
    return SlicedMeasures(division, tuple(counted))


class AccuracyLead(NamedTuple):
    """How much more accurate one of two systems is, -1 to 1; `over`: None for a single instruction."""

    value: float
    over: OverInstructions | None

    @property
    def interval(self) -> Interval | None:
        return self.over.difference_interval() if self.over else None


def lead(one: Matched, other: Matched, part: Slice) -> AccuracyLead | None:
    """The lead on a slice, as the mean over the criteria of both; None where it has no human label."""
    differences: dict[str, list[float]] = {}
    instructions: dict[str, list[str]] = {}
    for name in one.pairs:
        theirs = {pair.item.id: is_right(pair) for pair in other.pairs.get(name, ())}
        both = [pair for pair in one.pairs[name] if pair.item.id in part.known and pair.item.id in theirs]
        if both:
            differences[name] = [float(is_right(pair)) - theirs[pair.item.id] for pair in both]
            instructions[name] = [pair.item.group for pair in both]
    found = mean([sum(values) / len(values) for values in differences.values()])
    if found is None:
        return None
    return AccuracyLead(found, OverInstructions.of(differences, instructions))


def _measured(part: Slice, items: int, pairs: Mapping[str, Sequence[Pair]]) -> SliceMeasures:
    measures = {name: measure_labels(name, of_one) for name, of_one in pairs.items()}
    labelled = {pair.item.id: pair.item.group for of_one in pairs.values() for pair in of_one}
    return SliceMeasures(
        part=part,
        items=items,
        labelled=len(labelled),
        instructions=len(set(labelled.values())),
        counts=measures,
        measures=measures,
        over=mean_accuracy_of(pairs),
    )


def _share_of_ties(counts: Iterable[Mapping[Preference, int] | Mapping[HumanLabel, int]]) -> float | None:
    """The mean over the criteria, of those with any label."""
    shares = []
    for of_one in counts:
        if total := sum(of_one.values()):
            ties = sum(count for label, count in of_one.items() if agree(label, Tie.TIE))
            shares.append(ties / total)
    return mean(shares)
