"""Readings put together into a judgment: un-swap, average, calibrate, decide.

Knows: the four labels and the two orders. Does not know: where readings come from, models, files.
"""

from collections.abc import Sequence

import numpy as np

from engine.core.items import PREFERENCES, Order
from engine.core.judgments import (
    AnyJudgment,
    CriterionCalibration,
    Explanation,
    JudgedItem,
    Judgment,
    Reading,
    SubmittedLabel,
    Unscored,
)
from engine.core.log_probs import FloatArray, IntArray, log_softmax
from engine.core.ways.all_ways import together

SWAPPED = [PREFERENCES.index(preference.swapped) for preference in PREFERENCES]
"""Where each label's column is once the responses have changed places."""
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
    decided: dict[int, AnyJudgment] = {}
    # Together by their orders and by what decides them, so that numpy decides thousands at once.
    alike: dict[tuple[tuple[Order, ...], int | None], dict[int, Sequence[Reading]]] = {}
    for place, item in enumerate(judged):
        readings = together(item.readings.get(criterion, ()))
        if criterion in item.given:
            decided[place] = _submitted(item, criterion)
        elif criterion in item.unscored or not readings:
            reason = item.unscored.get(criterion, "not judged")
            decided[place] = Unscored(item.item_id, criterion, reason)
        else:
            fold = calibration.fold(item.content_hash) if calibration else None
            alike.setdefault((tuple(reading.order for reading in readings), fold), {})[place] = readings
    for (orders, fold), by_place in alike.items():
        items = [judged[place] for place in by_place]
        used = calibration if calibration is None or fold is None else calibration.folds[fold]
        made = _decide_alike(items, criterion, orders, list(by_place.values()), used)
        decided.update(zip(by_place, made, strict=True))
    return tuple(decided[place] for place in range(len(judged)))


def _submitted(item: JudgedItem, criterion: str) -> SubmittedLabel | Unscored:
    given = item.given[criterion]
    if given.preference is None:
        return Unscored(item.item_id, criterion, NO_LABEL, given.explanation)
    return SubmittedLabel(item.item_id, criterion, given.preference, given.explanation)


def average(readings: Sequence[Reading]) -> FloatArray:
    """Mean of the un-swapped log-probabilities over orders and ways, shape (4,), normalised again."""
    alone = _unswapped(_log_probs([readings]), [reading.order for reading in readings])
    (mean,) = _averaged(alone)
    return np.asarray(mean)


def calibrated(log_probs: FloatArray, calibration: CriterionCalibration) -> FloatArray:
    """Log-probabilities, shape (..., 4), after a calibration, normalised again."""
    return log_softmax(calibration.scale * log_probs + np.asarray(calibration.biases))


def likeliest(log_probs: FloatArray, read: FloatArray) -> IntArray:
    """Places of the labels of the highest log-probability, shape (...): of equal ones that which is likelier
    as it was `read`, else the first. Both shapes (..., 4).

    A calibration that treats A and B alike and trusts no reading makes both equally likely: were it always A,
    the place alone would decide.
    """
    highest = log_probs == log_probs.max(axis=-1, keepdims=True)
    places: IntArray = np.where(highest, read, -np.inf).argmax(axis=-1)
    return places


def _log_probs(readings: Sequence[Sequence[Reading]]) -> FloatArray:
    """As they were read, shape (items, orders, 4)."""
    return np.array([[reading.log_probs for reading in own] for own in readings], dtype=np.float64)


def _unswapped(log_probs: FloatArray, orders: Sequence[Order]) -> FloatArray:
    """Log-probabilities among the four labels alone, of the items' own A and B; shape (items, orders, 4)."""
    # Among the four alone: what else the model might have said takes no part in the label.
    values = log_softmax(log_probs)
    for place, order in enumerate(orders):
        if order is Order.BA:
            values[:, place] = values[:, place, SWAPPED]
    return values


def _averaged(unswapped: FloatArray) -> FloatArray:
    """Their mean over the orders, normalised again; shape (items, 4)."""
    return log_softmax(unswapped.mean(axis=1))


def _decide_alike(
    items: Sequence[JudgedItem],
    criterion: str,
    orders: Sequence[Order],
    by_order: Sequence[Sequence[Reading]],
    calibration: CriterionCalibration | None,
) -> list[Judgment | Unscored]:
    """Decide items that all have a reading in each of these orders, of all ways together."""
    read = _log_probs(by_order)
    finite = np.all(np.isfinite(read), axis=(1, 2))
    alone = _unswapped(read[finite], orders)
    together = _averaged(alone)
    in_both = len(orders) > 1
    log_probs, labels, moved = _calibrated_labels(together, calibration, in_both)
    # Before the calibration: whether the order decides is asked of the model, not of its correction.
    best = alone.argmax(axis=2)
    flips = (best != best[:, :1]).any(axis=1).tolist()
    facts = zip(labels.tolist(), np.exp(log_probs).tolist(), flips, moved, strict=True)
    decided: list[Judgment | Unscored] = []
    for item, is_finite in zip(items, finite.tolist(), strict=True):
        if not is_finite:
            decided.append(Unscored(item.item_id, criterion, NOT_FINITE))
            continue
        label, (a, b, both_good, both_bad), flipped, place_decides = next(facts)
        readings = item.readings[criterion]
        decided.append(
            Judgment(
                item_id=item.item_id,
                criterion=criterion,
                preference=PREFERENCES[label],
                probabilities=(a, b, both_good, both_bad),
                flipped=flipped if in_both else None,
                format_mass=sum(reading.format_mass for reading in readings) / len(readings),
                readings=readings,
                explanations=_explanations(item, criterion),
                place_decides=place_decides,
            )
        )
    return decided


def _calibrated_labels(
    read: FloatArray, calibration: CriterionCalibration | None, in_both: bool
) -> tuple[FloatArray, IntArray, Sequence[bool | None]]:
    """Log-probabilities and labels of items that were read in one order or `in_both`, and of each whether its
    label depends on the place, where that is known. `read`: shape (items, 4).
    """
    if calibration is None:
        return read, read.argmax(axis=1), [None] * len(read)
    if not in_both:
        log_probs = calibrated(read, calibration.first_order or calibration)
        return log_probs, likeliest(log_probs, read), [None] * len(read)
    log_probs = calibrated(read, calibration)
    labels = likeliest(log_probs, read)
    other = read[:, SWAPPED]  # what both orders would say, had the responses changed places
    moved = np.asarray(SWAPPED)[likeliest(calibrated(other, calibration), other)] != labels
    a, b, *_ = calibration.biases
    return log_probs, labels, (moved & (a != b)).tolist()


def _explanations(item: JudgedItem, criterion: str) -> tuple[Explanation, ...]:
    """The model's first text and those for other labels."""
    first = item.explanations.get(criterion)
    if first is None:
        return ()
    return first, *(
        explanation for (name, _label), explanation in item.rewritten.items() if name == criterion
    )
