"""The raw predictions of many items as arrays: un-swapped, averaged, and by the parts that a calibration
looks at.

Each judge of a jury counts alike; of a judge each order counts alike, and within an order each method. A
judge of a jury that said nothing of an item counts too, as one to which all labels are equally likely: what
is left of the jury is less confident than all of it would be, and no label changes by that. Knows: raw
predictions, the two orders, parts. Does not know: labels, decisions, where raw predictions come from.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np

from engine.core.head_parts import LENGTHS, Feature, FeatureKind
from engine.core.items import PREFERENCES, Method, Order
from engine.core.judgments import JudgedItem, RawPrediction
from engine.core.log_probs import FloatArray, log_softmax

SWAPPED = [PREFERENCES.index(preference.swapped) for preference in PREFERENCES]
"""Where each label's column is once the responses have changed places."""

_LABELS = len(PREFERENCES)


class PredictionSource(NamedTuple):
    """By which judge, by which method and order a raw prediction was made."""

    judge: int
    method: Method
    order: Order


IsIn = Callable[[PredictionSource], bool]


def of_order(order: Order) -> IsIn:
    """Readings in one order."""
    return lambda asked: asked.order is order


def of_part(part: Feature) -> IsIn:
    """Readings that a part is made of."""
    return lambda asked: (
        asked.judge == part.judge
        and (part.method is None or asked.method is part.method)
        and (part.order is None or asked.order is part.order)
    )


class PredictionFacts(NamedTuple):
    """What the raw predictions of an item say of themselves: whether its two orders alone disagree, None
    where there is one only, and of a jury; the mean of what the four labels held of all probability, None
    where nothing was read but labels alone; how many judges of a jury said anything, None in a run of one
    judge, and how many nothing; whether the former alone disagree, None for fewer than two.
    """

    flipped: bool | None
    answer_mass: float | None
    judges: int | None
    judges_missing: int
    judges_differ: bool | None


class CriterionPredictions:
    """What was read of items on one criterion; nothing of those that were not judged on it. `panel`: how many
    judges a jury has, 0 in a run of one judge.
    """

    def __init__(self, judged: Sequence[JudgedItem], criterion: str, panel: int = 0) -> None:
        self._panel = panel
        self._raw_predictions = [
            item.raw_predictions.get(criterion, ()) if criterion not in item.unscored else ()
            for item in judged
        ]
        alike: dict[tuple[PredictionSource, ...], list[int]] = {}
        for place, own in enumerate(self._raw_predictions):
            if own:
                asked = tuple(PredictionSource(each.judge, each.method, each.order) for each in own)
                alike.setdefault(asked, []).append(place)
        # Together by what was asked, so that numpy has thousands at once.
        self._groups = [
            (asked, np.array(places), _unswapped([self._raw_predictions[place] for place in places], asked))
            for asked, places in alike.items()
        ]

    @cached_property
    def mean(self) -> FloatArray:
        """The average of all raw predictions."""
        return self.average()

    @cached_property
    def first(self) -> FloatArray:
        """What decides between equals: of a jury what the first judge said that said anything, else the
        mean; shape (items, 4).
        """
        found = self.mean
        for own in reversed(self._by_judge):
            found = np.where(np.isfinite(own), own, found)
        return found

    @cached_property
    def _by_judge(self) -> Sequence[FloatArray]:
        """What each judge of a jury says alone, shape (items, 4) each; none of a run's only judge."""
        judges = sorted({each.judge for each in self.read_by} - {0})
        return [self.average(of_part(Feature(FeatureKind.RAW_PREDICTIONS, judge))) for judge in judges]

    @cached_property
    def in_both(self) -> list[bool]:
        """Which items each judge that spoke of them read in both orders."""
        found = np.zeros(len(self._raw_predictions), dtype=np.bool_)
        for asked, places, _ in self._groups:
            judges = {each.judge for each in asked}
            read = {(each.judge, each.order) for each in asked}
            found[places] = len(read) == len(judges) * len(Order)
        return [bool(each) for each in found]

    def facts_of(self, place: int) -> PredictionFacts:
        """What the raw predictions of an item say of themselves."""
        return self._facts[place]

    @cached_property
    def _facts(self) -> list[PredictionFacts]:
        alone = np.nan_to_num(self._by_order, nan=-np.inf).argmax(axis=2)
        flips = (alone[0] != alone[1]).tolist()
        known = zip(flips, self.twice, self._raw_predictions, self._judges, strict=True)
        return [
            PredictionFacts(flip if both else None, _mean_mass(raw_predictions), *judges)
            for flip, both, raw_predictions, judges in known
        ]

    @property
    def _judges(self) -> list[tuple[int | None, int, bool | None]]:
        """How many judges have a label for each item, how many have none, and whether the former disagree."""
        if not self._by_judge:
            return [(None, 0, None)] * len(self._raw_predictions)
        alone = np.stack(self._by_judge)
        said = np.isfinite(alone).all(axis=2)
        labels = np.nan_to_num(alone, nan=-np.inf).argmax(axis=2)
        lowest, highest = np.where(said, labels, _LABELS).min(axis=0), np.where(said, labels, -1).max(axis=0)
        counts = said.sum(axis=0).tolist()
        differ = (lowest < highest).tolist()
        return [
            (count, max(self._panel - count, 0), own if count > 1 else None)
            for count, own in zip(counts, differ, strict=True)
        ]

    @cached_property
    def _by_order(self) -> FloatArray:
        return np.stack([self.average(of_order(order)) for order in Order])

    @property
    def read_by(self) -> set[PredictionSource]:
        """By whom and how any of the raw predictions was made."""
        return {each for asked, _, _ in self._groups for each in asked}

    @property
    def twice(self) -> list[bool]:
        """Which items a run's only judge read in both orders."""
        return [each and not panel for each, panel in zip(self.in_both, self._in_panel, strict=True)]

    @cached_property
    def _in_panel(self) -> list[bool]:
        return [any(each.judge for each in own) for own in self._raw_predictions]

    def average(self, is_in: IsIn | None = None) -> FloatArray:
        """Mean of the un-swapped log-probabilities, normalised again, shape (items, 4), of all raw
        predictions or of some. NaN where there is none of these, or where one is not finite.

        What is found of an item does not depend on the others, not even by rounding.
        """
        found = np.full((len(self._raw_predictions), _LABELS), np.nan)
        for asked, places, log_probs in self._groups:
            shares = _shares(asked, is_in, self._asked(is_in))
            chosen = np.flatnonzero(shares)
            if len(chosen):
                mean = (shares[chosen, None] * log_probs[:, chosen]).sum(axis=1)
                found[places] = log_softmax(mean)
        return found

    def _asked(self, is_in: IsIn | None) -> int:
        """How many judges of the jury were asked for raw predictions of this kind, whether they answered or
        not.
        """
        judges = range(1, self._panel + 1)
        if is_in is None:
            return len(judges)
        kinds = list(product(Method, Order))
        return sum(any(is_in(PredictionSource(judge, *kind)) for kind in kinds) for judge in judges)


def average(raw_predictions: Sequence[RawPrediction]) -> FloatArray:
    """The same mean of the raw predictions of one item, shape (4,)."""
    (found,) = CriterionPredictions([JudgedItem(0, "", "", {"": tuple(raw_predictions)})], "").average()
    return np.asarray(found)


class RunPredictions:
    """What was read of the same items on all criteria, each made into arrays once; `panel`: as of
    ReadItems.
    """

    def __init__(self, judged: Sequence[JudgedItem], panel: int = 0) -> None:
        self.judged = judged
        self._panel = panel
        self._of: dict[str, CriterionPredictions] = {}

    def of(self, criterion: str) -> CriterionPredictions:
        """On one criterion."""
        if criterion not in self._of:
            self._of[criterion] = CriterionPredictions(self.judged, criterion, self._panel)
        return self._of[criterion]

    def part_values(self, criterion: str, parts: Sequence[Feature], is_in: IsIn | None = None) -> FloatArray:
        """What each part says next to the mean of all raw predictions, shape (items, parts, 4); each row sums
        to 0.

        Of raw predictions, and of those on another criterion: their own mean, as log-probabilities less their
        mean over the labels; of lengths: log((characters of A + 1) / (of B + 1)) for A, its negative for B.
        NaN where it is missing. `is_in`: with some of the raw predictions alone.
        """
        values = np.zeros((len(self.judged), len(parts), _LABELS))
        for place, part in enumerate(parts):
            if part.kind is FeatureKind.LENGTHS:
                values[:, place] = _lengths(self.judged)
            elif part.kind is FeatureKind.CRITERION:
                values[:, place] = _centred(self.of(part.criterion).average(is_in))
            else:
                values[:, place] = _centred(self.of(criterion).average(_both(of_part(part), is_in)))
        return values


def exchanged(parts: Sequence[Feature]) -> list[Feature]:
    """What says of items whose responses changed places what these say of the items as they are, but for A
    and B, which are exchanged: what AB was is BA then.
    """
    other = {Order.AB: Order.BA, Order.BA: Order.AB}
    return [part if part.order is None else replace(part, order=other[part.order]) for part in parts]


def parts_of(
    read: RunPredictions, criterion: str, others: Sequence[str], *, by_order: bool, lengths: bool
) -> tuple[Feature, ...]:
    """The parts that items have: each judge and method, each order too where asked, where there are several;
    the `others` of their criteria; the lengths of the responses if wanted.
    """
    known = {
        (each.judge, each.method, each.order if by_order else None) for each in read.of(criterion).read_by
    }
    places = sorted(known, key=lambda each: (each[0], list(Method).index(each[1]), each[2] or ""))
    raw_predictions = (
        [Feature(FeatureKind.RAW_PREDICTIONS, *place) for place in places] if len(places) > 1 else []
    )
    beside = [Feature(FeatureKind.CRITERION, criterion=name) for name in others]
    return (*raw_predictions, *beside, *((LENGTHS,) if lengths else ()))


def _both(one: IsIn, other: IsIn | None) -> IsIn:
    return one if other is None else lambda read_by: one(read_by) and other(read_by)


def _lengths(judged: Sequence[JudgedItem]) -> FloatArray:
    unknown = (np.nan, np.nan)
    known = np.array([item.lengths or unknown for item in judged], dtype=np.float64).reshape(-1, 2)
    longer = np.log1p(known[:, 0]) - np.log1p(known[:, 1])
    nothing = 0 * longer
    return np.column_stack([longer, -longer, nothing, nothing])


def _mean_mass(raw_predictions: Sequence[RawPrediction]) -> float | None:
    masses = [each.answer_mass for each in raw_predictions if not each.label_alone]
    return sum(masses) / len(masses) if masses else None


def _centred(log_probs: FloatArray) -> FloatArray:
    return np.asarray(log_probs - log_probs.mean(axis=-1, keepdims=True))


def _unswapped(
    raw_predictions: Sequence[Sequence[RawPrediction]], asked: Sequence[PredictionSource]
) -> FloatArray:
    """Log-probabilities among the four labels alone, of the items' own A and B: (items, raw predictions,
    4).
    """
    values = np.array([[each.log_probs for each in own] for own in raw_predictions], dtype=np.float64)
    # Among the four alone: what else the model might have said takes no part in the label.
    values[~np.isfinite(values).all(axis=2)] = np.nan
    values = log_softmax(values)
    swapped = [place for place, each in enumerate(asked) if each.order is Order.BA]
    values[:, swapped] = values[:, swapped][..., SWAPPED]
    return values


def _shares(asked: Sequence[PredictionSource], is_in: IsIn | None, panel: int) -> FloatArray:
    """How much of the mean each raw prediction is, shape (raw predictions,); 0 for those that are not in it.
    The judges of a jury that said nothing have the rest: equally likely labels, which change no difference
    between others.
    """
    chosen = [each for each in asked if is_in is None or is_in(each)]
    judges = max(panel, len({each.judge for each in chosen}))
    shares = []
    for each in asked:
        if each not in chosen:
            shares.append(0.0)
            continue
        own = [other for other in chosen if other.judge == each.judge]
        orders = len({other.order for other in own})
        methods = sum(other.order is each.order for other in own)
        shares.append(1 / (judges * orders * methods))
    return np.array(shares)
