"""Readings put together into a judgment: un-swap, average, calibrate, decide.

Knows: the four labels and the two orders. Does not know: where raw predictions come from, models, files.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from engine.core.head_parts import Feature
from engine.core.items import PREFERENCES
from engine.core.judgments import (
    AnyJudgment,
    CriterionCalibration,
    Explanation,
    JudgedItem,
    Judgment,
    SubmittedLabel,
    Unscored,
)
from engine.core.log_probs import FloatArray, IntArray, log_softmax
from engine.decisions.read_items import SWAPPED, PredictionFacts, RunPredictions, exchanged

NOT_FINITE = "the model gave no finite probabilities"
NO_LABEL = "the submission gives no label"


def decide(
    judged: JudgedItem, criterion: str, calibration: CriterionCalibration | None = None
) -> AnyJudgment:
    """The judgment of one item on one criterion, from its stored raw predictions."""
    return decide_all([judged], criterion, calibration)[0]


def decide_all(
    judged: Sequence[JudgedItem],
    criterion: str,
    calibration: CriterionCalibration | None = None,
    read: RunPredictions | None = None,
) -> tuple[AnyJudgment, ...]:
    """The judgments of items on one criterion, from their stored raw predictions, in the order of the items.

    The labels of an opened submission stand as they are, whatever the calibration. An item that took part in
    the fit of the calibration is decided by what was fitted without it. `read`: these items as arrays, where
    they are known from before.
    What is decided of an item does not depend on the others, not even by rounding.
    """
    run = read or RunPredictions(judged)
    own = run.of(criterion)
    # Together by what decides them, so that numpy decides thousands at once.
    alike: dict[tuple[bool, int | None], list[int]] = {}
    for place in np.flatnonzero(np.isfinite(own.mean).all(axis=1)).tolist():
        fold = calibration.fold(judged[place].content_hash) if calibration else None
        alike.setdefault((own.in_both[place], fold), []).append(place)
    deciding = {
        (both, fold): _Deciding.by(calibration.by_fold(fold) if calibration else None, both)
        for both, fold in alike
    }
    parts = tuple(dict.fromkeys(part for each in deciding.values() for part in each.parts))
    beside = dict(zip(parts, run.part_values(criterion, parts).swapaxes(0, 1), strict=True))
    decided: dict[int, _Facts] = {}
    for key, places in alike.items():
        values = {part: own_values[places] for part, own_values in beside.items()}
        facts = deciding[key].facts(own.mean[places], own.first[places], values)
        decided.update(zip(places, facts, strict=True))
    return tuple(
        _submitted(item, criterion)
        if criterion in item.given
        else _judgment(item, criterion, decided[place], own.facts_of(place))
        if place in decided
        else _unscored(item, criterion)
        for place, item in enumerate(judged)
    )


class _Facts(NamedTuple):
    """What is decided of an item."""

    label: int
    probabilities: Sequence[float]
    place_decides: bool | None


_Beside = Mapping[Feature, FloatArray]  # what each part says of some items, shape (items, 4)


@dataclass(frozen=True)
class _Deciding:
    """By which calibration, if any, items are decided that were read in one order or `in_both`."""

    used: CriterionCalibration | None
    in_both: bool

    @classmethod
    def by(cls, calibration: CriterionCalibration | None, in_both: bool) -> "_Deciding":
        """By a calibration, or its own for one order."""
        first = calibration.first_order if calibration and not in_both else None
        return cls(first or calibration, in_both)

    @property
    def parts(self) -> Sequence[Feature]:
        """What it looks at, also as if the responses had changed places."""
        own = tuple(self.used.parts) if self.used else ()
        return (*own, *exchanged(own))

    def facts(self, read: FloatArray, first: FloatArray, beside: _Beside) -> Iterator[_Facts]:
        """Of items that were `read` so on average, shape (items, 4); between equals `first` decides."""
        used = self.used
        moved: Sequence[bool | None] = [None] * len(read)
        log_probs = read
        if used is not None:
            log_probs = _by_parts(used, read, [beside[part] for part in used.parts])
        labels = likeliest(log_probs, first)
        if used is not None and self.in_both:
            other = read[:, SWAPPED]  # what both orders would say, had the responses changed places
            values = [beside[part][:, SWAPPED] for part in exchanged(tuple(used.parts))]
            there = np.asarray(SWAPPED)[likeliest(_by_parts(used, other, values), first[:, SWAPPED])]
            a, b, *_ = used.biases
            unlike = a != b or any(part.order for part in used.parts)
            moved = [
                unlike and one != other for one, other in zip(labels.tolist(), there.tolist(), strict=True)
            ]
        return map(_Facts, labels.tolist(), np.exp(log_probs).tolist(), moved)


def _by_parts(used: CriterionCalibration, read: FloatArray, values: Sequence[FloatArray]) -> FloatArray:
    return calibrated(read, used, np.stack(values, axis=1) if values else None)


def _unscored(item: JudgedItem, criterion: str) -> Unscored:
    read = criterion not in item.unscored and item.raw_predictions.get(criterion)
    reason = NOT_FINITE if read else item.unscored.get(criterion, "not judged")
    return Unscored(item.item_id, criterion, reason)


def _submitted(item: JudgedItem, criterion: str) -> SubmittedLabel | Unscored:
    given = item.given[criterion]
    if given.preference is None:
        return Unscored(item.item_id, criterion, NO_LABEL, given.explanation)
    return SubmittedLabel(item.item_id, criterion, given.preference, given.explanation)


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

    A calibration that treats A and B alike and trusts no raw prediction makes both equally likely: were it
    always A, the place alone would decide.
    """
    highest = log_probs == log_probs.max(axis=-1, keepdims=True)
    places: IntArray = np.where(highest, read, -np.inf).argmax(axis=-1)
    return places


def _judgment(item: JudgedItem, criterion: str, facts: _Facts, read: PredictionFacts) -> Judgment:
    a, b, both_good, both_bad = facts.probabilities
    return Judgment(
        item_id=item.item_id,
        criterion=criterion,
        preference=PREFERENCES[facts.label],
        probabilities=(a, b, both_good, both_bad),
        flipped=read.flipped,
        answer_mass=read.answer_mass,
        raw_predictions=item.raw_predictions[criterion],
        explanations=_explanations(item, criterion),
        place_decides=facts.place_decides,
        judges=read.judges,
        judges_missing=read.judges_missing,
        judges_differ=read.judges_differ,
    )


def _explanations(item: JudgedItem, criterion: str) -> tuple[Explanation, ...]:
    """The model's first text and those for other labels."""
    first = item.explanations.get(criterion)
    if first is None:
        return ()
    return first, *(
        explanation for (name, _label), explanation in item.rewritten.items() if name == criterion
    )
