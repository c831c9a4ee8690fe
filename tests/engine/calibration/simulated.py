"""Simulated judges: with and without knowledge, biased, sure of themselves."""

from collections.abc import Sequence

import numpy as np

from bench.coverage.fits import calibrate_criterion
from engine.calibration.fitting import CalibrationReport
from engine.core.items import HUMAN_LABELS, Tie
from engine.core.numeric import FloatArray, IntArray, log_softmax

# A, B, both_good, both_bad: as on the development set of ELOQUENT 2025, and balanced.
SKEWS = {
    "relevance": (0.21, 0.09, 0.68, 0.02),
    "naturalness": (0.52, 0.21, 0.20, 0.07),
    "truthfulness": (0.06, 0.06, 0.86, 0.02),
    "safety": (0.01, 0.02, 0.97, 0.0),
    "overall_quality": (0.57, 0.26, 0.13, 0.04),
    "balanced": (0.25, 0.25, 0.25, 0.25),
}

TRUE_SCALE = 0.4
FONDNESS = 2.0


def some_groups(rng: np.random.Generator, items: int) -> list[str]:
    """Instructions of which, as on the development set, a sixth occurs twice."""
    once = items - items // 6
    numbers = np.concatenate([np.arange(once), rng.choice(once, items - once, replace=False)])
    return [f"instruction {number}" for number in rng.permutation(numbers)]


def uninformed(skew: Sequence[float], items: int, seed: int) -> CalibrationReport:
    """The report of a judge with a taste in letters and no knowledge."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(4, items, p=np.array(skew) / sum(skew))
    log_probs = log_softmax(rng.normal(0, 2, (items, 4)) + rng.normal(0, 2, 4))
    return calibrate_criterion("noise", log_probs, labels, some_groups(rng, items))


def biased_judge(
    items: int, seed: int, skew: Sequence[float] = SKEWS["relevance"]
) -> tuple[FloatArray, IntArray, list[str]]:
    """A judge that knows much, ignores how often labels occur, is too sure of itself and fond of A: true
    log-probabilities are log_softmax(TRUE_SCALE x + log skew - FONDNESS for A).
    """
    rng = np.random.default_rng(seed)
    signal = rng.normal(0, 3, (items, 4))
    labels = np.argmax(signal + np.log(skew) + rng.gumbel(size=(items, 4)), axis=1)
    log_probs = log_softmax((signal + np.array([FONDNESS, 0, 0, 0])) / TRUE_SCALE)
    return log_probs, labels, some_groups(rng, items)


def good_judge(items: int, seed: int) -> CalibrationReport:
    """The report of a judge without bias whose probabilities can be believed, labels equally frequent."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(4, size=items)
    raw_predictions = rng.normal(0, 1, (items, 4))
    raw_predictions[np.arange(items), labels] += 3
    return calibrate_criterion("good", log_softmax(1.5 * raw_predictions), labels, range(items))


def without_polarity(labels: IntArray, seed: int, share: float) -> IntArray:
    """The same labels where of a share of all ties it is not known which they are."""
    ties = (labels >= 2) & (np.random.default_rng(seed).random(len(labels)) < share)
    return np.where(ties, HUMAN_LABELS.index(Tie.TIE), labels)
