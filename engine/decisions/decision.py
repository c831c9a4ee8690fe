"""Readings put together into a judgment: un-swap, average, calibrate, decide.

Knows: the four labels and the two orders. Does not know: where readings come from, models, files.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from engine.core.items import PREFERENCES, Order
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
from engine.decisions.read_items import SWAPPED, ReadItems, of_order, part_values

NOT_FINITE = "the model gave no finite probabilities"
NO_LABEL = "the submission gives no label"


def decide(
    judged: JudgedItem, criterion: str, calibration: CriterionCalibration | None = None
) -> AnyJudgment:
    """The judgment of one item on one criterion, from its stored readings."""
    return decide_all([judged], criterion, calibration)[0]


def decide_all(
    judged: Sequence[JudgedItem], criterion: str, calibration: CriterionCalibration | None = None
) -> tuple[AnyJudgment, ...]:
    """The judgments of items on one criterion, from their stored readings, in the order of the items.

    The labels of an opened submission stand as they are, whatever the calibration. An item that took part in
    the fit of the calibration is decided by what was fitted without it.
    What is decided of an item does not depend on the others, not even by rounding.
    """
    read = ReadItems(judged, criterion)
    mean = read.average()
    scored = np.isfinite(mean).all(axis=1)
    in_both, flips = _flips(judged, criterion, read)
    # Together by what decides them, so that numpy decides thousands at once.
    alike: dict[tuple[bool, int | None], list[int]] = {}
    for place in np.flatnonzero(scored).tolist():
        fold = calibration.fold(judged[place].content_hash) if calibration else None
        alike.setdefault((in_both[place], fold), []).append(place)
    decided: dict[int, AnyJudgment] = {}
    for (both, fold), places in alike.items():
        items = [judged[place] for place in places]
        deciding = _Deciding(criterion, calibration and calibration.by_fold(fold), both)
        own = zip(items, deciding.facts(items, mean[places]), strict=True)
        made = [
            _judgment(item, criterion, facts, flips[place])
            for place, (item, facts) in zip(places, own, strict=True)
        ]
        decided.update(zip(places, made, strict=True))
    return tuple(
        _submitted(item, criterion)
        if criterion in item.given
        else decided.get(place) or _unscored(item, criterion)
        for place, item in enumerate(judged)
    )


class _Facts(NamedTuple):
    """What is decided of an item."""

    label: int
    probabilities: Sequence[float]
    place_decides: bool | None


@dataclass(frozen=True)
class _Deciding:
    """By which calibration, if any, items are decided that were read in one order or `in_both`."""

    criterion: str
    calibration: CriterionCalibration | None
    in_both: bool

    def facts(self, items: Sequence[JudgedItem], read: FloatArray) -> Iterator[_Facts]:
        """Of items that were `read` so in the mean, shape (items, 4)."""
        log_probs = self._log_probs(items, read)
        labels = likeliest(log_probs, read)
        moved: list[bool | None] = [None] * len(items)
        used = self.calibration
        if used is not None and self.in_both:
            other = read[:, SWAPPED]  # what both orders would say, had the responses changed places
            there = likeliest(self._log_probs(items, other, exchanged=True), other)
            a, b, *_ = used.biases
            unlike = a != b or any(part.order for part in used.parts)
            moved = [bool(each) and unlike for each in np.asarray(SWAPPED)[there] != labels]
        return map(_Facts, labels.tolist(), np.exp(log_probs).tolist(), moved)

    def _log_probs(
        self, items: Sequence[JudgedItem], read: FloatArray, exchanged: bool = False
    ) -> FloatArray:
        used = self.calibration
        if used is not None and not self.in_both:
            used = used.first_order or used
        if used is None:
            return read
        return calibrated(read, used, part_values(items, self.criterion, tuple(used.parts), exchanged))


def _flips(
    judged: Sequence[JudgedItem], criterion: str, read: ReadItems
) -> tuple[list[bool], list[bool | None]]:
    """Whether each item is decided by both orders, and whether these disagree; of a panel's judges each may
    have read in other orders, so that it is decided as in both, and nothing is said of flips.
    """
    in_panel = [any(each.judge for each in item.readings.get(criterion, ())) for item in judged]
    alone = np.stack([read.average(of_order(order)) for order in Order])
    twice = np.asarray(np.isfinite(alone).all(axis=(0, 2))).tolist()
    first, second = np.nan_to_num(alone, nan=-np.inf).argmax(axis=2).tolist()
    flips = [
        one != other if both and not panel else None
        for one, other, both, panel in zip(first, second, twice, in_panel, strict=True)
    ]
    return [both or panel for both, panel in zip(twice, in_panel, strict=True)], flips


def _unscored(item: JudgedItem, criterion: str) -> Unscored:
    read = criterion not in item.unscored and item.readings.get(criterion)
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
    beside them, shape (..., parts, 4), nothing for None.
    """
    values = calibration.scale * log_probs + np.asarray(calibration.biases)
    if parts is not None and calibration.parts:
        factors = np.array(list(calibration.parts.values()))
        values = values + (factors[:, None] * parts).sum(axis=-2)
    return log_softmax(values)


def likeliest(log_probs: FloatArray, read: FloatArray) -> IntArray:
    """Places of the labels of the highest log-probability, shape (...): of equal ones that which is likelier
    as it was `read`, else the first. Both shapes (..., 4).

    A calibration that treats A and B alike and trusts no reading makes both equally likely: were it always A,
    the place alone would decide.
    """
    highest = log_probs == log_probs.max(axis=-1, keepdims=True)
    places: IntArray = np.where(highest, read, -np.inf).argmax(axis=-1)
    return places


def _judgment(item: JudgedItem, criterion: str, facts: _Facts, flipped: bool | None) -> Judgment:
    a, b, both_good, both_bad = facts.probabilities
    readings = item.readings[criterion]
    return Judgment(
        item_id=item.item_id,
        criterion=criterion,
        preference=PREFERENCES[facts.label],
        probabilities=(a, b, both_good, both_bad),
        flipped=flipped,
        format_mass=sum(reading.format_mass for reading in readings) / len(readings),
        readings=readings,
        explanations=_explanations(item, criterion),
        place_decides=facts.place_decides,
    )


def _explanations(item: JudgedItem, criterion: str) -> tuple[Explanation, ...]:
    """The model's first text and those for other labels."""
    first = item.explanations.get(criterion)
    if first is None:
        return ()
    return first, *(
        explanation for (name, _label), explanation in item.rewritten.items() if name == criterion
    )
