"""Calibrate a judge on human labels: a scale and four biases per criterion.

Knows: log-probabilities over the four labels, human labels, folds.
Does not know: models, runs, files, where readings come from.
"""

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, field
from statistics import fmean

import numpy as np

from engine.calibrate.scaling import is_right, log_frequencies, log_likelihood, solve
from engine.core.errors import SetupError
from engine.core.items import HUMAN_LABELS, PREFERENCES, TIES, Tie
from engine.core.judgments import CriterionCalibration
from engine.core.log_probs import FloatArray, IntArray, log_softmax
from engine.core.value_tables import Estimate
from engine.decisions.decision import SWAPPED, calibrated, likeliest
from engine.measure.folds import LEAST_GROUPS, grouped_folds
from engine.measure.intervals import FEW, Interval, OverInstructions

OUTER_FOLDS = 10
INNER_FOLDS = 5
BINS = 10
# From hardly any shrinkage to almost all; beside them stands the infinite one, class frequencies alone.
STRENGTHS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
# With fewer instructions nothing can be fitted: readings are taken as they are, or not at all.
LEAST_FOR_FITTING = 10
# With fewer still nothing can be compared: class frequencies are all there is.
LEAST_FOR_READINGS = 5
# The strength that stands for readings as they are: scale 1, no biases, nothing fitted.
AS_READ = 0.0

_LABELS = len(PREFERENCES)
_OTHER_PLACES = np.array([HUMAN_LABELS.index(label.swapped) for label in HUMAN_LABELS])
_AS_GOOD = 1e-12  # nats
_LEAST = np.finfo(np.float64).eps  # probabilities nearer to 0 or 1 are taken for this, as scikit-learn does


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
    All three treat A and B as the calibration does. `gain`: by how many nats the log-loss after is below that
    of the baseline, and `gain_interval` over instructions; None where there is nothing to vary.
    `calibration`: fitted on all `items`, which have `instructions` different instructions.
    `probabilities_after`: shape (items, 4), each row by the calibration that was fitted without its fold.
    `one_label_out_of_fold`: whether all items, each calibrated by what was fitted without it, get one label.
    `right_before`, `right_after`: which labels (0 to 1) the accuracies are the shares of, shape (items,), and
    `groups` the instruction of each item.
    `folds`: the places of the items of each fold, with what was fitted without them.
    """

    criterion: str
    items: int
    instructions: int
    before: Quality
    after: Quality
    baseline: Quality
    gain: float
    gain_interval: Interval | None
    calibration: CriterionCalibration
    one_label_out_of_fold: bool
    probabilities_after: FloatArray = field(compare=False, repr=False)
    right_before: Sequence[float] = field(default=(), compare=False, repr=False)
    right_after: Sequence[float] = field(default=(), compare=False, repr=False)
    groups: Sequence[Hashable] = field(default=(), compare=False, repr=False)
    folds: Sequence[tuple[Sequence[int], CriterionCalibration]] = field(default=(), repr=False)

    @property
    def surely_helps(self) -> bool:
        """Whether readings surely say more than the frequencies of the labels."""
        known = self.gain_interval
        return self.instructions >= FEW and known is not None and known.low > 0


def mean_accuracies(reports: Collection[CalibrationReport]) -> dict[str, Estimate]:
    """The shares of labels that are right `before` and `after`, and how many `more`: means over criteria."""
    before = {report.criterion: report.right_before for report in reports}
    after = {report.criterion: report.right_after for report in reports}
    groups = {report.criterion: report.groups for report in reports}
    more = {name: np.subtract(after[name], before[name]).tolist() for name in groups}
    was, is_now, gained = (OverInstructions.of(values, groups) for values in (before, after, more))
    shares = [fmean(getattr(report, when).accuracy for report in reports) for when in ("before", "after")]
    return {
        "before": Estimate(shares[0], was.share_interval() if was else None),
        "after": Estimate(shares[1], is_now.share_interval() if is_now else None),
        "more": Estimate(shares[1] - shares[0], gained.difference_interval() if gained else None),
    }


@dataclass(frozen=True)
class _Views:
    """Readings with human labels: each item seen once, or also with its responses in the other places.

    `log_probs`: shape (views, items, 4), normalised; `labels`: shape (views, items), of each view its own.
    `mirrored`: the second view is the first with A and B exchanged, so that what is fitted is the same for
    both, but for rounding.
    """

    log_probs: FloatArray
    labels: IntArray
    mirrored: bool = False

    def only(self, places: IntArray) -> "_Views":
        """Some of the items."""
        return _Views(self.log_probs[:, places], self.labels[:, places], self.mirrored)

    @property
    def frequencies(self) -> FloatArray:
        """Natural logs of those of the labels, shape (4,)."""
        return log_frequencies(self.labels.ravel(), len(self.labels))

    def solved(self, strengths: Sequence[float]) -> tuple[FloatArray, FloatArray]:
        """Scales and biases as `solve` gives them, shapes (strengths,), (strengths, 4)."""
        rows = self.log_probs.reshape(-1, _LABELS)
        scales, biases = solve(rows, self.labels.ravel(), strengths, len(self.labels))
        return scales, (biases + biases[:, SWAPPED]) / 2 if self.mirrored else biases

    def losses(self, log_probs: FloatArray) -> FloatArray:
        """-ln p(human label), nats, of what is said of each view: (..., views, items, 4) to (..., items)."""
        flat = log_probs.reshape(*log_probs.shape[:-3], -1, _LABELS)
        likely = log_likelihood(flat, self.labels.ravel())
        losses: FloatArray = -likely.reshape(log_probs.shape[:-1]).mean(axis=-2)
        return losses

    def gain(self, baseline: FloatArray, after: FloatArray, groups: Sequence[Hashable]) -> OverInstructions:
        """By how much the loss of what is said of each view after is less than that of the baseline, nats."""
        gains = np.round(self.losses(baseline) - self.losses(after), 12)  # both may be the frequencies
        found = OverInstructions.of_one(gains.tolist(), groups)
        assert found is not None  # there are two instructions
        return found

    def right(self, log_probs: FloatArray, read: FloatArray) -> list[float]:
        """In what share of its views each item has the human label, shape (items,); as `quality` takes it."""
        chosen = likeliest(log_probs.reshape(-1, _LABELS), read.reshape(-1, _LABELS))
        right = is_right(chosen, self.labels.ravel()).reshape(self.labels.shape)
        shares: list[float] = right.mean(axis=0).tolist()
        return shares

    def quality(self, log_probs: FloatArray, read: FloatArray | None = None) -> Quality:
        """Of what is said of each view, shape (views, items, 4); of equals what is `read` decides."""
        known = None if read is None else read.reshape(-1, _LABELS)
        return quality(log_probs.reshape(-1, _LABELS), self.labels.ravel(), known)


def calibrate_criterion(
    criterion: str,
    log_probs: FloatArray,
    labels: IntArray,
    groups: Sequence[Hashable],
    others: FloatArray | None = None,
) -> CalibrationReport:
    """Fit one criterion's calibration and measure it by nested cross-validation.

    `log_probs`: natural-log probabilities, shape (items, 4); `labels`: the human ones, shape (items,), as
    places in `HUMAN_LABELS`; `groups`: the instruction of each item: all items of one are on the same side
    of every split. `others`: what would be read were the responses in the other places, shape (items, 4);
    with it, A and B are treated alike, and without they are free. SetupError for fewer than two instructions;
    ValueError for arrays that do not fit.
    """
    instructions = len(set(groups))
    if instructions < LEAST_GROUPS:
        raise SetupError(
            f"Criterion {criterion}: {len(labels)} human labels, {instructions} different instructions. That "
            "is too few to calibrate.",
            f"Use a dataset with human labels for {LEAST_FOR_FITTING} different instructions or more.",
        )
    seen = _views(log_probs, labels, groups, others)
    after, baseline = np.empty_like(seen.log_probs), np.empty_like(seen.log_probs)
    folds = []
    for train, test in grouped_folds(groups, OUTER_FOLDS):
        known = seen.only(train)
        fitted = _fitted(known, [groups[index] for index in train])
        folds.append((test.tolist(), fitted))
        after[:, test] = calibrated(seen.log_probs[:, test], fitted)
        baseline[:, test] = known.frequencies
    gain = seen.gain(baseline, after, groups)
    return CalibrationReport(
        criterion=criterion,
        items=len(labels),
        instructions=instructions,
        before=seen.quality(seen.log_probs),
        after=seen.quality(after, seen.log_probs),
        baseline=seen.quality(baseline),
        gain=gain.mean,
        gain_interval=gain.mean_interval(),
        calibration=_fitted(seen, groups),
        one_label_out_of_fold=len(np.unique(likeliest(after[0], seen.log_probs[0]))) == 1,
        probabilities_after=np.exp(after[0]),
        right_before=seen.right(seen.log_probs, seen.log_probs),
        right_after=seen.right(after, seen.log_probs),
        groups=groups,
        folds=folds,
    )


def fit_calibration(
    log_probs: FloatArray, labels: IntArray, groups: Sequence[Hashable], others: FloatArray | None = None
) -> CriterionCalibration:
    """The calibration of one criterion; its strength is chosen by cross-validation within these items.

    Arguments as for `calibrate_criterion`; fewer than LEAST_FOR_READINGS instructions give the class
    frequencies. Strength AS_READ leaves the readings as they are. ValueError for arrays that do not fit, and
    without items.
    """
    return _fitted(_views(log_probs, labels, groups, others), groups)


def fit_with_strength(
    strength: float | None,
    log_probs: FloatArray,
    labels: IntArray,
    groups: Sequence[Hashable],
    others: FloatArray | None = None,
) -> CriterionCalibration:
    """The same with a strength that was chosen elsewhere: of other readings of these items."""
    return _with_strength(_views(log_probs, labels, groups, others), strength)


def quality(log_probs: FloatArray, labels: IntArray, read: FloatArray | None = None) -> Quality:
    """The quality of natural-log probabilities, shape (items, 4), normalised, against labels, shape (items,).

    Of equally likely labels that is predicted which is likelier as it was `read`, shape (items, 4), else the
    first. The log-loss is scikit-learn's; it takes a probability below 2.2e-16 as that. The expected
    calibration error is the mean of |accuracy - confidence| over the bins of `reliability`, weighted by their
    counts (Guo et al. 2017, equation 3).
    """
    probabilities = np.exp(log_probs)
    chosen = likeliest(log_probs, log_probs if read is None else read)
    bins = reliability(probabilities, labels, chosen=chosen)
    error = sum(bin_.count * abs(bin_.accuracy - bin_.confidence) for bin_ in bins) / len(labels)
    return Quality(
        accuracy=float(np.mean(is_right(chosen, labels))),
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
    of_labels = together[np.arange(len(labels)), np.where(ties, good, labels)]
    return float(-np.log(np.clip(of_labels, _LEAST, 1 - _LEAST)).mean())


def reliability(
    probabilities: FloatArray, labels: IntArray, bins: int = BINS, chosen: IntArray | None = None
) -> tuple[ReliabilityBin, ...]:
    """The items sorted by the probability of their most likely label into bins of equal width over 0 to 1.

    `probabilities`: shape (items, 4); `labels`: shape (items,); `chosen`: which of equally likely labels was
    given, shape (items,), else the first. A bin holds its upper edge, not its lower one (Guo et al. 2017,
    section 2). Empty bins are left out.
    """
    edges = np.linspace(0, 1, bins + 1)
    confidences = probabilities.max(axis=1)
    right = is_right(probabilities.argmax(axis=1) if chosen is None else chosen, labels)
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


def _views(
    log_probs: FloatArray, labels: IntArray, groups: Sequence[Hashable], others: FloatArray | None
) -> _Views:
    """All of it checked, the log-probabilities normalised; ValueError where it does not fit together."""
    rows, places = np.asarray(log_probs, dtype=np.float64), np.asarray(labels, dtype=np.int64)
    shown = rows if others is None else np.asarray(others, dtype=np.float64)
    if not len(groups) or not rows.shape == shown.shape == (len(groups), _LABELS):
        raise ValueError(f"log-probabilities {rows.shape} and {shown.shape}, {len(groups)} groups")
    if places.shape != (len(groups),):
        raise ValueError(f"labels {places.shape}, {len(groups)} groups")
    if not (np.isfinite(rows).all() and np.isfinite(shown).all()):
        raise ValueError("log-probabilities that are not finite")
    if places.min() < 0 or places.max() >= len(HUMAN_LABELS):
        raise ValueError(f"labels from {places.min()} to {places.max()}: they are places in HUMAN_LABELS")
    rows, shown = log_softmax(rows), log_softmax(shown)
    if others is None:
        return _Views(rows[np.newaxis], places[np.newaxis])
    mirrored = np.allclose(rows[:, SWAPPED], shown, rtol=1e-9, atol=1e-9)
    return _Views(np.stack([rows, shown]), np.stack([places, _OTHER_PLACES[places]]), mirrored)


def _fitted(seen: _Views, groups: Sequence[Hashable]) -> CriterionCalibration:
    return _with_strength(seen, _chosen_strength(seen, groups))


def _with_strength(seen: _Views, strength: float | None) -> CriterionCalibration:
    if strength is None:
        scale, biases = 0.0, seen.frequencies
    elif strength == AS_READ:
        scale, biases = 1.0, np.zeros(_LABELS)
    else:
        scales, offsets = seen.solved([strength])
        scale, biases = float(scales[0]), offsets[0]
    a, b, both_good, both_bad = (float(bias) for bias in biases - biases.mean())
    return CriterionCalibration(scale, (a, b, both_good, both_bad), strength, seen.labels.shape[1])


def _chosen_strength(seen: _Views, groups: Sequence[Hashable]) -> float | None:
    """What has the least loss by inner cross-validation: a strength, AS_READ, or None, the infinite one.

    Of equally good ones that which trusts the readings least. To ask more of readings than that, such as to
    be surely better than the frequencies, costs more than it saves; so does it to let readings as they are
    compete with fitted ones: they win by luck too often (simulated: `bench/coverage/calibrations.py`).
    """
    instructions = len(set(groups))
    if instructions < LEAST_FOR_READINGS:
        return None
    frequencies, fitted = _inner_losses(seen, groups)
    if instructions < LEAST_FOR_FITTING:
        rivals = {AS_READ: seen.losses(seen.log_probs).mean()}
    else:
        rivals = dict(zip(STRENGTHS, fitted.mean(axis=1), strict=True))
    strength = min(rivals, key=lambda each: (rivals[each], -each))
    return strength if rivals[strength] < frequencies.mean() - _AS_GOOD else None


def _inner_losses(seen: _Views, groups: Sequence[Hashable]) -> tuple[FloatArray, FloatArray]:
    """Cross-validated -ln p(human label), nats: of class frequencies, (items,), and (strengths, items)."""
    items = seen.labels.shape[1]
    frequencies, fitted = np.empty(items), np.empty((len(STRENGTHS), items))
    for train, test in grouped_folds(groups, INNER_FOLDS):
        known, asked = seen.only(train), seen.only(test)
        scales, biases = known.solved(STRENGTHS)
        fitted[:, test] = asked.losses(
            log_softmax(scales[:, None, None, None] * asked.log_probs + biases[:, None, None])
        )
        frequencies[test] = asked.losses(np.broadcast_to(known.frequencies, asked.log_probs.shape))
    return frequencies, fitted
