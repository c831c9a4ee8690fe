"""Raw predictions put together into a judgment: un-swap, average, calibrate, decide."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
from msgspec import structs

from engine.core.items import PREFERENCES, Method, Order
from engine.core.judgments import (
    LENGTHS,
    AnyJudgment,
    CriterionCalibration,
    Feature,
    FeatureKind,
    JudgedItem,
    Judgment,
    RawPrediction,
    SubmittedLabel,
    Unscored,
)
from engine.core.numeric import FloatArray, IntArray, log_softmax

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
    return lambda asked: asked.order is order


def of_part(part: Feature) -> IsIn:
    return lambda asked: (
        asked.judge == part.judge
        and (part.method is None or asked.method is part.method)
        and (part.order is None or asked.order is part.order)
    )


class PredictionFacts(NamedTuple):
    """As a Judgment has them; `judges`: None in a run of one judge, `judges_differ` for fewer than two."""

    flipped: bool | None
    answer_mass: float | None
    judges: int | None
    judges_missing: int
    judges_differ: bool | None


class CriterionPredictions:
    """What was read of items on one criterion; `panel`: how many judges a jury has, 0 for a single judge."""

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
        return self.average()

    @cached_property
    def first(self) -> FloatArray:
        """What decides between equals: what a jury's first judge with an answer said, else the mean."""
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

    @cached_property
    def facts(self) -> list[PredictionFacts]:
        by_order = np.stack([self.average(of_order(order)) for order in Order])
        one, other = np.nan_to_num(by_order, nan=-np.inf).argmax(axis=2)
        flips = (one != other).tolist()
        known = zip(flips, self.twice, self._raw_predictions, self._judges, strict=True)
        found = []
        for flip, both, raw_predictions, judges in known:
            masses = [each.answer_mass for each in raw_predictions if not each.label_alone]
            mass = sum(masses) / len(masses) if masses else None
            found.append(PredictionFacts(flip if both else None, mass, *judges))
        return found

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

    @property
    def read_by(self) -> set[PredictionSource]:
        return {each for asked, _, _ in self._groups for each in asked}

    @property
    def twice(self) -> list[bool]:
        """Which items a run's only judge read in both orders."""
        in_panel = (any(each.judge for each in own) for own in self._raw_predictions)
        return [each and not panel for each, panel in zip(self.in_both, in_panel, strict=True)]

    def average(self, is_in: IsIn | None = None) -> FloatArray:
        """Mean of the un-swapped log-probabilities, normalised again, shape (items, 4), of all raw
        predictions or of some. NaN where there is none of these, or where one is not finite.
        """
        # What is found of an item must not depend on the others, not even by rounding.
        found = np.full((len(self._raw_predictions), _LABELS), np.nan)
        for asked, places, log_probs in self._groups:
            shares = _shares(asked, is_in, self._asked(is_in))
            chosen = np.flatnonzero(shares)
            if len(chosen):
                mean = (shares[chosen, None] * log_probs[:, chosen]).sum(axis=1)
                found[places] = log_softmax(mean)
        return found

    def _asked(self, is_in: IsIn | None) -> int:
        """How many judges of the jury were asked for such raw predictions, whether they answered or not."""
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
    """What was read of the same items on all criteria, each made into arrays once."""

    def __init__(self, judged: Sequence[JudgedItem], panel: int = 0) -> None:
        self.judged = judged
        self._panel = panel
        self._of: dict[str, CriterionPredictions] = {}

    def of(self, criterion: str) -> CriterionPredictions:
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
                continue
            if part.kind is FeatureKind.CRITERION:
                found = self.of(part.criterion).average(is_in)
            else:
                found = self.of(criterion).average(_both(of_part(part), is_in))
            values[:, place] = found - found.mean(axis=-1, keepdims=True)
        return values


def exchanged(parts: Iterable[Feature]) -> list[Feature]:
    """The parts that these are of items whose responses changed places: what AB was is BA then."""
    other = {Order.AB: Order.BA, Order.BA: Order.AB}
    return [part if part.order is None else structs.replace(part, order=other[part.order]) for part in parts]


def parts_of(
    read: RunPredictions, criterion: str, others: Sequence[str], *, by_order: bool, lengths: bool
) -> tuple[Feature, ...]:
    """The parts that items have: judges and methods, orders where asked, `others` of criteria, lengths."""
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


def _unswapped(
    raw_predictions: Sequence[Sequence[RawPrediction]], asked: Sequence[PredictionSource]
) -> FloatArray:
    """Log-probabilities of the items' own A and B, shape (items, raw predictions, 4)."""
    values = np.array([[each.log_probs for each in own] for own in raw_predictions], dtype=np.float64)
    # Among the four alone: what else the model might have said takes no part in the label.
    values[~np.isfinite(values).all(axis=2)] = np.nan
    values = log_softmax(values)
    swapped = [place for place, each in enumerate(asked) if each.order is Order.BA]
    values[:, swapped] = values[:, swapped][..., SWAPPED]
    return values


# Each judge of a jury counts alike; of a judge each order counts alike, and within an order each method. A
# judge of a jury that said nothing of an item counts too, as one to which all labels are equally likely: what
# is left of the jury is less confident than all of it would be, and no label changes by that.
def _shares(asked: Sequence[PredictionSource], is_in: IsIn | None, panel: int) -> FloatArray:
    """How much of the mean each raw prediction is, shape (raw predictions,); 0 for those not in it."""
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


NOT_FINITE = "the model gave no finite probabilities"
NO_LABEL = "the submission gives no label"


def decide(
    judged: JudgedItem, criterion: str, calibration: CriterionCalibration | None = None
) -> AnyJudgment:
    return decide_all([judged], criterion, calibration)[0]


def decide_all(
    judged: Sequence[JudgedItem],
    criterion: str,
    calibration: CriterionCalibration | None = None,
    read: RunPredictions | None = None,
) -> tuple[AnyJudgment, ...]:
    """The judgments of items on one criterion, from their stored raw predictions, in the order of the items.

    The labels of an opened submission stand as they are, whatever the calibration. An item that took part in
    the fit of the calibration is decided by what was fitted without it. `read`: these items as arrays.
    """
    run = read or RunPredictions(judged)
    own = run.of(criterion)
    # Together by what decides them, so that numpy decides thousands at once.
    alike: dict[tuple[bool, int | None], list[int]] = {}
    for place in np.flatnonzero(np.isfinite(own.mean).all(axis=1)).tolist():
        fold = calibration.fold(judged[place].content_hash) if calibration else None
        alike.setdefault((own.in_both[place], fold), []).append(place)
    deciding = {(both, fold): _deciding(calibration, both, fold) for both, fold in alike}
    known = [tuple(used.parts) for used in deciding.values() if used]
    parts = tuple(dict.fromkeys(part for each in known for part in (*each, *exchanged(each))))
    beside = dict(zip(parts, run.part_values(criterion, parts).swapaxes(0, 1), strict=True))
    decided: dict[int, _Facts] = {}
    for (both, fold), places in alike.items():
        values = {part: own_values[places] for part, own_values in beside.items()}
        used = deciding[both, fold]
        facts = _decided(used, both, own.mean[places], own.first[places], values)
        decided.update(zip(places, facts, strict=True))
    return tuple(
        _judgment(item, criterion, decided.get(place), own.facts[place]) for place, item in enumerate(judged)
    )


class _Facts(NamedTuple):
    label: int
    probabilities: Sequence[float]
    place_decides: bool | None


def _deciding(
    calibration: CriterionCalibration | None, in_both: bool, fold: int | None
) -> CriterionCalibration | None:
    """What decides items that were read in one order or in both; of a fold, what was fitted without it."""
    used = calibration.by_fold(fold) if calibration else None
    return (None if in_both or used is None else used.first_order) or used


def _decided(
    used: CriterionCalibration | None,
    in_both: bool,
    read: FloatArray,
    first: FloatArray,
    beside: Mapping[Feature, FloatArray],
) -> Iterator[_Facts]:
    """Of items `read` so on average; between equals `first` decides; `beside`: of each part. (items, 4)."""
    moved: Sequence[bool | None] = [None] * len(read)
    log_probs = read if used is None else _by_parts(used, read, [beside[part] for part in used.parts])
    labels = likeliest(log_probs, first)
    if used is not None and in_both:
        other = read[:, SWAPPED]  # what both orders would say, had the responses changed places
        values = [beside[part][:, SWAPPED] for part in exchanged(used.parts)]
        there = np.asarray(SWAPPED)[likeliest(_by_parts(used, other, values), first[:, SWAPPED])]
        a, b, *_ = used.biases
        unlike = a != b or any(part.order for part in used.parts)
        moved = [unlike and each for each in (labels != there).tolist()]
    return map(_Facts, labels.tolist(), np.exp(log_probs).tolist(), moved)


def _by_parts(used: CriterionCalibration, read: FloatArray, values: Sequence[FloatArray]) -> FloatArray:
    return calibrated(read, used, np.stack(values, axis=1) if values else None)


def calibrated(
    log_probs: FloatArray, calibration: CriterionCalibration, parts: FloatArray | None = None
) -> FloatArray:
    """Log-probabilities, shape (..., 4), after a calibration, normalised again; `parts`: what its parts say
    next to them, shape (..., parts, 4), NaN where that is not known, nothing for None.
    """
    values = calibration.scale * log_probs + np.asarray(calibration.biases)
    if parts is not None and calibration.parts:
        factors = np.array(list(calibration.parts.values()))
        means = np.array([calibration.part_means.get(part, (0.0,) * 4) for part in calibration.parts])
        parts = np.where(np.isnan(parts), means, parts)
        values = values + (factors[:, None] * parts).sum(axis=-2)
    return log_softmax(values)


def likeliest(log_probs: FloatArray, read: FloatArray) -> IntArray:
    """Places of the labels of the highest log-probability, shape (...): of equal ones that which is likelier
    as it was `read`, else the first. Both shapes (..., 4).
    """
    # A calibration that treats A and B alike and trusts no raw prediction makes both equally likely: were it
    # always A, the place alone would decide.
    highest = log_probs == log_probs.max(axis=-1, keepdims=True)
    places: IntArray = np.where(highest, read, -np.inf).argmax(axis=-1)
    return places


def _judgment(item: JudgedItem, criterion: str, facts: _Facts | None, read: PredictionFacts) -> AnyJudgment:
    if (given := item.given.get(criterion)) is not None:
        if given.preference is None:
            return Unscored(item.item_id, criterion, NO_LABEL, given.explanation)
        return SubmittedLabel(item.item_id, criterion, given.preference, given.explanation)
    if facts is None:
        was_read = criterion not in item.unscored and item.raw_predictions.get(criterion)
        reason = NOT_FINITE if was_read else item.unscored.get(criterion, "not judged")
        return Unscored(item.item_id, criterion, reason)
    a, b, both_good, both_bad = facts.probabilities
    first = item.explanations.get(criterion)
    rewritten = (text for (name, _label), text in item.rewritten.items() if name == criterion)
    return Judgment(
        item_id=item.item_id,
        criterion=criterion,
        preference=PREFERENCES[facts.label],
        probabilities=(a, b, both_good, both_bad),
        raw_predictions=item.raw_predictions[criterion],
        explanations=() if first is None else (first, *rewritten),
        place_decides=facts.place_decides,
        **read._asdict(),
    )
