"""Calibrate a judge on human labels: a scale and four biases per criterion.

Knows: log-probabilities over the four labels, human labels, folds.
Does not know: models, runs, files, where readings come from.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.stats import t as student_t
from sklearn.metrics import log_loss

from engine.calibrate.scaling import is_right, log_frequencies, log_likelihood, solve
from engine.core.errors import SetupError
from engine.core.items import HUMAN_LABELS, PREFERENCES, TIES, Tie
from engine.core.judgments import CriterionCalibration
from engine.core.log_probs import FloatArray, IntArray, log_softmax
from engine.decisions.decision import calibrated
from engine.measure.folds import LEAST_GROUPS, group_numbers, grouped_folds

OUTER_FOLDS = 10
INNER_FOLDS = 5
BINS = 10
# From hardly any shrinkage to almost all; beside them stands the infinite one, class frequencies alone.
STRENGTHS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
# How sure it must be that readings help before they are used at all: one-sided, about two standard errors.
CONFIDENCE = 0.975
# With fewer instructions nothing can be fitted: readings are taken as they are, or not at all.
LEAST_FOR_FITTING = 10
# With fewer still no standard error can be trusted: class frequencies are all there is.
LEAST_FOR_READINGS = 5
# The strength that stands for readings as they are: scale 1, no biases, nothing fitted.
AS_READ = 0.0

_LABELS = len(PREFERENCES)
_AS_GOOD = 1e-12  # nats


@dataclass(frozen=True)
class Quality:
    """How good probabilities are against human labels.

    `accuracy`: 0 to 1, of the most likely label. `log_loss`: mean of -ln p(human label), nats; the
    probability of a `tie` is that of both_good and both_bad together.
    `calibration_error`: 0 to 1, expected calibration error of the most likely label (see `quality`).
    """

    accuracy: float
    log_loss: float
    calibration_error: float


@dataclass(frozen=True)
class ReliabilityBin:
    """The items whose most likely label has a probability above `low`, at most `high`.

    `count` >= 1 items; `confidence`: the mean of those probabilities; `accuracy`: the share that is right.
    """

    low: float
    high: float
    count: int
    confidence: float
    accuracy: float


@dataclass(frozen=True)
class CalibrationReport:
    """What calibration does for one criterion.

    `before`: the readings as they are. `after` and `baseline`: cross-validated on the same folds; the
    baseline gives the smoothed label frequencies of the training folds, and so their most frequent label.
    `calibration`: fitted on all `items`, which have `instructions` different instructions.
    `probabilities_after`: shape (items, 4), each row by the calibration that was fitted without its fold.
    `right_before`, `right_after`: which labels (0 or 1) the accuracies are the shares of, shape (items,), and
    `groups` the instruction of each item.
    `folds`: the places of the items of each fold, with what was fitted without them.
    """

    criterion: str
    items: int
    instructions: int
    before: Quality
    after: Quality
    baseline: Quality
    calibration: CriterionCalibration
    probabilities_after: FloatArray = field(compare=False, repr=False)
    right_before: Sequence[float] = field(default=(), compare=False, repr=False)
    right_after: Sequence[float] = field(default=(), compare=False, repr=False)
    groups: Sequence[Hashable] = field(default=(), compare=False, repr=False)
    folds: Sequence[tuple[Sequence[int], CriterionCalibration]] = field(default=(), repr=False)

    @property
    def one_label_out_of_fold(self) -> bool:
        """Whether all items, each calibrated by what was fitted without it, get the same label."""
        return len(np.unique(self.probabilities_after.argmax(axis=1))) == 1


def calibrate_criterion(
    criterion: str, log_probs: FloatArray, labels: IntArray, groups: Sequence[Hashable]
) -> CalibrationReport:
    """Fit one criterion's calibration and measure it by nested cross-validation.

    `log_probs`: natural-log probabilities, shape (items, 4); `labels`: the human ones, shape (items,), as
    places in `HUMAN_LABELS`; `groups`: the instruction of each item: all items of one are on the same side
    of every split. SetupError for fewer than two instructions; ValueError for arrays that do not fit.
    """
    instructions = len(set(groups))
    if instructions < LEAST_GROUPS:
        raise SetupError(
            f"Criterion {criterion}: {len(labels)} human labels, {instructions} different instructions. That "
            "is too few to calibrate.",
            f"Use a dataset with human labels for {LEAST_FOR_FITTING} different instructions or more.",
        )
    log_probs, labels = _checked(log_probs, labels, groups)
    after, baseline = np.empty_like(log_probs), np.empty_like(log_probs)
    folds = []
    for train, test in grouped_folds(groups, OUTER_FOLDS):
        fitted = fit_calibration(log_probs[train], labels[train], [groups[index] for index in train])
        folds.append((test.tolist(), fitted))
        after[test] = calibrated(log_probs[test], fitted)
        baseline[test] = log_frequencies(labels[train])
    return CalibrationReport(
        criterion=criterion,
        items=len(labels),
        instructions=instructions,
        before=quality(log_probs, labels),
        after=quality(after, labels),
        baseline=quality(baseline, labels),
        calibration=fit_calibration(log_probs, labels, groups),
        probabilities_after=np.exp(after),
        right_before=is_right(log_probs.argmax(axis=1), labels).astype(np.float64).tolist(),
        right_after=is_right(after.argmax(axis=1), labels).astype(np.float64).tolist(),
        groups=groups,
        folds=folds,
    )


def fit_calibration(
    log_probs: FloatArray, labels: IntArray, groups: Sequence[Hashable]
) -> CriterionCalibration:
    """The calibration of one criterion; its strength is chosen by cross-validation within these items.

    Arguments as for `calibrate_criterion`; fewer than LEAST_FOR_READINGS instructions give the class
    frequencies. Strength AS_READ leaves the readings as they are. ValueError for arrays that do not fit, and
    without items.
    """
    log_probs, labels = _checked(log_probs, labels, groups)
    strength = _chosen_strength(log_probs, labels, groups)
    if strength is None:
        scale, biases = 0.0, log_frequencies(labels)
    elif strength == AS_READ:
        scale, biases = 1.0, np.zeros(_LABELS)
    else:
        scales, offsets = solve(log_probs, labels, [strength])
        scale, biases = float(scales[0]), offsets[0]
    a, b, both_good, both_bad = (float(bias) for bias in biases - biases.mean())
    return CriterionCalibration(scale, (a, b, both_good, both_bad), strength, len(labels))


def quality(log_probs: FloatArray, labels: IntArray) -> Quality:
    """The quality of natural-log probabilities, shape (items, 4), normalised, against labels, shape (items,).

    Of equally likely labels the first is predicted. The log-loss is scikit-learn's; it takes a probability
    below 2.2e-16 as that. The expected calibration error is the mean of |accuracy - confidence| over the
    bins of `reliability`, weighted by their counts (Guo et al. 2017, equation 3).
    """
    probabilities = np.exp(log_probs)
    bins = reliability(probabilities, labels)
    error = sum(bin_.count * abs(bin_.accuracy - bin_.confidence) for bin_ in bins) / len(labels)
    return Quality(
        accuracy=float(np.mean(is_right(log_probs.argmax(axis=1), labels))),
        log_loss=_log_loss(probabilities, labels),
        calibration_error=error,
    )


def _log_loss(probabilities: FloatArray, labels: IntArray) -> float:
    """The log-loss, where a tie takes the probability of both its labels together, as that of the first."""
    ties = labels == HUMAN_LABELS.index(Tie.TIE)
    good, bad = (PREFERENCES.index(label) for label in TIES)
    together = probabilities.copy()
    together[ties, good] += together[ties, bad]
    together[ties, bad] = 0
    return float(log_loss(np.where(ties, good, labels), together, labels=range(_LABELS)))


def reliability(probabilities: FloatArray, labels: IntArray, bins: int = BINS) -> tuple[ReliabilityBin, ...]:
    """The items sorted by the probability of their most likely label into bins of equal width over 0 to 1.

    `probabilities`: shape (items, 4); `labels`: shape (items,). A bin holds its upper edge, not its
    lower one (Guo et al. 2017, section 2). Empty bins are left out.
    """
    edges = np.linspace(0, 1, bins + 1)
    confidences = probabilities.max(axis=1)
    right = is_right(probabilities.argmax(axis=1), labels)
    # Rounding may lift a probability a little above 1.
    places = np.minimum(np.searchsorted(edges, confidences, side="left"), bins) - 1
    found = []
    for place in np.unique(places):
        inside = places == place
        found.append(
            ReliabilityBin(
                low=float(edges[place]),
                high=float(edges[place + 1]),
                count=int(inside.sum()),
                confidence=float(confidences[inside].mean()),
                accuracy=float(right[inside].mean()),
            )
        )
    return tuple(found)


def _checked(
    log_probs: FloatArray, labels: IntArray, groups: Sequence[Hashable]
) -> tuple[FloatArray, IntArray]:
    """The log-probabilities normalised, and the labels; ValueError where they do not fit together."""
    rows, places = np.asarray(log_probs, dtype=np.float64), np.asarray(labels, dtype=np.int64)
    if not len(groups) or rows.shape != (len(groups), _LABELS) or places.shape != (len(groups),):
        raise ValueError(f"log-probabilities {rows.shape}, labels {places.shape}, {len(groups)} groups")
    if not np.isfinite(rows).all():
        raise ValueError("log-probabilities that are not finite")
    if places.min() < 0 or places.max() >= len(HUMAN_LABELS):
        raise ValueError(f"labels from {places.min()} to {places.max()}: they are places in HUMAN_LABELS")
    return log_softmax(rows), places


def _chosen_strength(log_probs: FloatArray, labels: IntArray, groups: Sequence[Hashable]) -> float | None:
    """The strength by questions to the losses of inner cross-validation; None: infinitely strong.

    Is fitting better than the readings as they are? Only if its best strength has the lower loss; so a judge
    that is good already loses nothing to a few labels. Do readings help at all? Only if the better of the
    two beats the class frequencies with CONFIDENCE, by Student's t over instructions (and readings as they
    are, equal odds too). How much are fitted ones trusted? As little as is within one standard error of the
    best (the one-standard-error rule, Breiman et al. 1984; Hastie et al. 2009, section 7.10). Both of these
    look at differences between the losses of the same items, which vary far less than the losses.
    """
    numbers = group_numbers(groups)
    instructions = int(numbers.max()) + 1
    if instructions < LEAST_FOR_READINGS:
        return None
    losses, frequency_losses = _inner_losses(log_probs, labels, groups)
    best = losses[losses.mean(axis=1).argmin()]
    own = -log_likelihood(log_probs, labels)
    as_read = instructions < LEAST_FOR_FITTING or own.mean() <= best.mean()
    rivals = [frequency_losses]
    if as_read:
        # Readings that say next to nothing come near equal odds, which can beat frequencies of few labels.
        best = own
        rivals.append(-log_likelihood(np.full(log_probs.shape, -math.log(_LABELS)), labels))
    for rival in rivals:
        gain, error = _mean_and_error(rival - best, numbers)
        if gain <= _AS_GOOD + error * student_t.ppf(CONFIDENCE, instructions - 1):
            return None
    if as_read:
        return AS_READ
    excesses = [_mean_and_error(of_strength - best, numbers) for of_strength in losses]
    return max(
        strength
        for strength, (excess, error) in zip(STRENGTHS, excesses, strict=True)
        if excess <= error + _AS_GOOD
    )


def _inner_losses(
    log_probs: FloatArray, labels: IntArray, groups: Sequence[Hashable]
) -> tuple[FloatArray, FloatArray]:
    """Cross-validated -ln p(human label), nats: (strengths, items), and of class frequencies, (items,)."""
    losses, frequency_losses = np.empty((len(STRENGTHS), len(labels))), np.empty(len(labels))
    for train, test in grouped_folds(groups, INNER_FOLDS):
        scales, biases = solve(log_probs[train], labels[train], STRENGTHS)
        predicted = log_softmax(scales[:, None, None] * log_probs[test] + biases[:, None])
        losses[:, test] = -log_likelihood(predicted, labels[test])
        frequencies = np.tile(log_frequencies(labels[train]), (len(test), 1))
        frequency_losses[test] = -log_likelihood(frequencies, labels[test])
    return losses, frequency_losses


def _mean_and_error(differences: FloatArray, numbers: IntArray) -> tuple[float, float]:
    """The mean over items and its standard error, where items of one instruction may vary together.

    error^2 = g / (g - 1) sum over the g groups of (sum of d - mean in the group)^2 / items^2
    (Liang & Zeger 1986). `numbers`: the group of each item, 0 to g - 1.
    """
    mean = float(differences.mean())
    sums = np.bincount(numbers, differences - mean)
    error = math.sqrt(len(sums) / (len(sums) - 1) * float(np.sum(sums**2))) / len(differences)
    return mean, error
