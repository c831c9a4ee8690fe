"""Readings put together into a judgment: un-swap, average, calibrate, decide.

Knows: the four labels and the two orders. Does not know: where readings come from, models, files.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from engine.records import (
    PREFERENCES,
    CriterionCalibration,
    JudgedItem,
    Judgment,
    Order,
    Preference,
    Reading,
    Unscored,
)

FloatArray = npt.NDArray[np.float64]

_SWAPPED_COLUMNS = [PREFERENCES.index(preference.swapped) for preference in PREFERENCES]
NOT_FINITE = "the model gave no finite probabilities"


def log_softmax(values: FloatArray) -> FloatArray:
    """Natural-log probabilities along the last axis; shape kept."""
    shifted = values - values.max(axis=-1, keepdims=True)
    normalised: FloatArray = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return normalised


def unswapped(reading: Reading) -> FloatArray:
    """Log-probabilities among the four labels alone, shape (4,), of the item's own A and B."""
    values = log_softmax(np.asarray(reading.log_probs, dtype=np.float64))
    return values if reading.order is Order.AB else values[_SWAPPED_COLUMNS]


def average(readings: Sequence[Reading]) -> FloatArray:
    """Mean of the un-swapped log-probabilities over the orders, shape (4,), normalised again."""
    return log_softmax(np.mean([unswapped(reading) for reading in readings], axis=0))


def most_likely(log_probs: FloatArray) -> Preference:
    """The label with the highest log-probability; of exactly equal ones the first in `PREFERENCES`."""
    return PREFERENCES[int(np.argmax(log_probs))]


def calibrated(log_probs: FloatArray, calibration: CriterionCalibration) -> FloatArray:
    """Log-probabilities, shape (..., 4), after a calibration, normalised again."""
    return log_softmax(calibration.scale * log_probs + np.asarray(calibration.biases))


def decide(
    judged: JudgedItem, criterion: str, calibration: CriterionCalibration | None = None
) -> Judgment | Unscored:
    """The judgment of one item on one criterion, from its stored readings."""
    readings = judged.readings.get(criterion, ())
    if criterion in judged.unscored or not readings:
        return Unscored(judged.item_id, criterion, judged.unscored.get(criterion, "not judged"))
    if not np.isfinite([reading.log_probs for reading in readings]).all():
        return Unscored(judged.item_id, criterion, NOT_FINITE)
    log_probs = average(readings)
    if calibration is not None:
        log_probs = calibrated(log_probs, calibration)
    alone = {most_likely(unswapped(reading)) for reading in readings}
    a, b, both_good, both_bad = (float(p) for p in np.exp(log_probs))
    return Judgment(
        item_id=judged.item_id,
        criterion=criterion,
        preference=most_likely(log_probs),
        probabilities=(a, b, both_good, both_bad),
        flipped=len(alone) > 1 if len(readings) > 1 else None,
        format_mass=float(np.mean([reading.format_mass for reading in readings])),
        readings=tuple(readings),
        explanation=judged.explanations.get(criterion),
    )
