"""Shares as annotators would say them: out of the judge's predictions on all items and annotators' on a
random part.

Prediction-powered inference: the mean of human labels, moved by a weight times what the judge says of the
other items less what it says of these. Whatever the judge is worth, that stays right; a good one makes the
interval narrower. Sources: Angelopoulos and others, Prediction-Powered Inference (2023); Angelopoulos, Duchi
and Zrnic, PPI++: Efficient Prediction-Powered Inference (2023), whose tuned weight this is.

Knows: numbers, instructions. Does not know: candidates, how the labelled items were picked.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from engine.core.log_probs import BoolArray, FloatArray, IntArray
from engine.core.value_tables import Estimate
from engine.measure.folds import LEAST_GROUPS

Ends = tuple[float, float]
_TAIL = 0.025
_SEEN = 2.0
"""The minimum number of labelled instructions assumed to differ completely from the others. An error that the
judge makes on one of twenty may not show on a dozen, and the interval would then have no width."""


@dataclass(frozen=True, eq=False)
class Corrected:
    """A share (0 to 1) on some items, of which annotators labelled a random part.

    `rate`: corrected, with its 95 % interval on other items of this kind; `of_these`: the interval of what
    annotators would say of these very items. `labels`, `labels_of_these`: the same by human labels alone.
    `judge`: by the judge alone, on all. `weight`: how much of the judge's predictions counts, 0 to 1.
    `error`, `labels_error`: standard errors on other items. `pulls`, `labels_pulls`: what each instruction is
    to these, shape (instructions of all items,): the sum of their squares is the variance. `labelled`,
    `items`, `instructions`: how many items are labelled, of how many, on how many instructions.
    """

    rate: Estimate
    of_these: Ends
    labels: Estimate
    labels_of_these: Ends
    judge: float
    weight: float
    error: float
    labels_error: float
    pulls: FloatArray
    labels_pulls: FloatArray
    labelled: int
    items: int
    instructions: int

    @property
    def worth(self) -> float:
        """How many times the labels it would take to know as much by labels alone: the ratio of the variances
        as they are estimated, of which intervals trust the smaller one only so far (`is_held`).
        """
        with_judge, alone = (float(np.sum(each**2)) for each in (self.pulls, self.labels_pulls))
        return alone / with_judge if with_judge > 0 else 1.0

    @property
    def is_held(self) -> bool:
        """Whether its interval is kept wider than it was estimated, for labels are few."""
        return self.error**2 > float(np.sum(self.pulls**2)) * (1 + 1e-9)

    @property
    def is_helped(self) -> bool:
        """Whether the judge makes it any more precise."""
        return self.weight > 0

    def turned(self) -> "Corrected":
        """Of what the other side of each comparison won."""
        return replace(
            self,
            rate=self.rate.turned(),
            of_these=_turned(self.of_these),
            labels=self.labels.turned(),
            labels_of_these=_turned(self.labels_of_these),
            judge=1 - self.judge,
            pulls=-self.pulls,
            labels_pulls=-self.labels_pulls,
        )


def corrected(
    annotators: FloatArray,
    judge: FloatArray,
    instructions: IntArray,
    count: int,
    missing: BoolArray | None = None,
) -> Corrected | None:
    """A share of which `annotators` say what it is on a part of the items, NaN elsewhere, and the `judge` on
    all: 0 to 1, shape (items,). `instructions`: the number of each item's, below `count`. `missing`: the
    items that belong to the random part and have no label, such as skipped ones, shape (items,).

    Intervals hold whatever annotators would say of what is missing: they reach from where they lie with 0 for
    all of it to where they lie with 1 (the worst cases of Manski, Nonparametric Bounds on Treatment Effects,
    1990). None where fewer than two instructions are labelled. Where all items are, nothing is left for the
    judge: the weight is 0.
    """
    found = _corrected(annotators, judge, instructions, count)
    if found is None or missing is None or not missing.any():
        return found
    worst = [
        _corrected(np.where(missing, each, annotators), judge, instructions, count) for each in (0.0, 1.0)
    ]
    every = [found, *(each for each in worst if each is not None)]
    return replace(
        found,
        rate=Estimate(found.rate.value, _hull(each.rate.ends for each in every)),
        of_these=_hull(each.of_these for each in every),
        labels=Estimate(found.labels.value, _hull(each.labels.ends for each in every)),
        labels_of_these=_hull(each.labels_of_these for each in every),
    )


def _hull(intervals: Iterable[Ends | None]) -> Ends:
    lows, highs = zip(*filter(None, intervals), strict=True)
    return min(lows), max(highs)


def _corrected(
    annotators: FloatArray, judge: FloatArray, instructions: IntArray, count: int
) -> Corrected | None:
    labelled = ~np.isnan(annotators)
    if len(np.unique(instructions[labelled])) < LEAST_GROUPS:
        return None
    parts = _Parts(annotators, judge, instructions, labelled, count)
    weight = tuned_weight(annotators[labelled], judge[labelled], judge[~labelled])
    pulls, alone = parts.pulls(weight), parts.pulls(0.0)
    if np.sum(pulls**2) >= np.sum(alone**2):
        weight, pulls = 0.0, alone
    error, labels_error = parts.error(pulls), parts.error(alone)
    rate = parts.rate(weight)
    return Corrected(
        rate=Estimate(rate, parts.interval(rate, error)),
        of_these=parts.interval(rate, parts.error_of_these(weight)),
        labels=Estimate(parts.mean, parts.interval(parts.mean, labels_error)),
        labels_of_these=parts.interval(parts.mean, parts.error_of_these(0.0)),
        judge=float(judge.mean()),
        weight=weight,
        error=error,
        labels_error=labels_error,
        pulls=pulls,
        labels_pulls=alone,
        labelled=int(labelled.sum()),
        items=len(annotators),
        instructions=parts.groups,
    )


def tuned_weight(annotators: FloatArray, judge: FloatArray, elsewhere: FloatArray) -> float:
    """The weight, 0 to 1, by which the interval is narrowest, as far as the labels tell: of labels, of what
    the judge says of the same items, and of the others.

    It is tuned as if items were independent. Where they are not, that costs some width; the intervals hold
    with whatever weight. 0 where there are no others.
    """
    if not len(elsewhere):
        return 0.0
    everywhere = np.concatenate([judge, elsewhere])
    spread = float(everywhere.var(ddof=1)) * (1 + len(judge) / len(elsewhere))
    if spread <= 0:
        return 0.0
    together = float(np.mean((annotators - annotators.mean()) * (judge - judge.mean())))
    return min(max(together / spread, 0.0), 1.0)


def moved(values: FloatArray, labelled: BoolArray, instructions: IntArray) -> tuple[float, float] | None:
    """By how much the mean of something that is known of all items is larger for the others than for those
    that are `labelled`, and the standard error of that; None where either are of fewer than two instructions.
    """
    if any(len(np.unique(instructions[part])) < LEAST_GROUPS for part in (labelled, ~labelled)):
        return None
    parts = _Parts(values, values, instructions, labelled, int(instructions.max()) + 1)
    return parts.judge_moved, float(np.sqrt(np.sum((parts.pulls(1.0) - parts.pulls(0.0)) ** 2)))


class _Parts:
    """The labelled items and the others: their means, and what each instruction is to them."""

    def __init__(
        self,
        annotators: FloatArray,
        judge: FloatArray,
        instructions: IntArray,
        labelled: BoolArray,
        count: int,
    ) -> None:
        here, there = judge[labelled], judge[~labelled]
        self._labelled, self._others = len(here), len(there)
        self.mean = float(annotators[labelled].mean())
        of_others = there.mean() if len(there) else here.mean()
        self.judge_moved = float(of_others - here.mean())
        inside, outside = instructions[labelled], instructions[~labelled]
        weights = np.bincount(inside, minlength=count) / self._labelled
        self.groups = int(np.count_nonzero(weights))
        self._whole = 1 / float(np.sum(weights**2))  # Kish's effective number of labelled instructions
        few, many = _small_sample(self.groups), _small_sample(len(np.unique(outside)))
        self._of_labels = few * _summed(inside, annotators[labelled] - self.mean, count)
        self._of_judge = few * _summed(inside, here - here.mean(), count)
        self._of_others = many * _summed(outside, there - of_others, count)

    def rate(self, weight: float) -> float:
        return min(max(self.mean + weight * self.judge_moved, 0.0), 1.0)

    def pulls(self, weight: float) -> FloatArray:
        """What each instruction is to the rate, all of its items together, labelled or not: these may vary
        together. Shape (instructions,).
        """
        pulls: FloatArray = self._of_labels + weight * (self._of_others - self._of_judge)
        return pulls

    def error(self, pulls: FloatArray) -> float:
        """The standard error on other items of this kind."""
        return float(np.sqrt(max(np.sum(pulls**2), self._least)))

    def error_of_these(self, weight: float) -> float:
        """The standard error of what annotators would say of all these items, as of a regression estimator of
        survey sampling (Cochran, Sampling Techniques, 1977): what is not labelled differs from the judge as
        much as what is.
        """
        if not self._others:
            return 0.0
        left = self._others / (self._others + self._labelled)
        differing = float(np.sum((self._of_labels - weight / left * self._of_judge) ** 2))
        return float(np.sqrt(left * max(differing, self._least)))

    @property
    def _least(self) -> float:
        return _SEEN / self._whole**2

    def interval(self, rate: float, error: float) -> Ends:
        """Wilson's interval (1927) of as many independent values as vary as much, with Student's t over
        labelled instructions (Dean and Pagano, Evaluating Confidence Interval Methods for Binomial
        Proportions in Clustered Surveys, 2015). Simulated coverage: `bench/coverage/correction.py`.
        """
        from scipy.special import stdtrit  # noqa: PLC0415

        t = float(stdtrit(max(self._whole - 1, 1.0), 1 - _TAIL))
        if not 0 < rate < 1:
            return max(rate - t * error, 0.0), min(rate + t * error, 1.0)
        pull = (t * error) ** 2 / (rate * (1 - rate))
        middle = (rate + pull / 2) / (1 + pull)
        half = np.sqrt((t * error) ** 2 + pull**2 / 4) / (1 + pull)
        return float(middle - half), float(middle + half)


def _summed(groups: IntArray, values: FloatArray, count: int) -> FloatArray:
    """The values of each group added up, as parts of the mean of all: shape (count,)."""
    sums: FloatArray = np.bincount(groups, values / len(values), minlength=count).astype(np.float64)
    return sums


def _small_sample(groups: int) -> float:
    return float(np.sqrt(groups / (groups - 1))) if groups > 1 else 1.0


def _turned(ends: Ends) -> Ends:
    return 1 - ends[1], 1 - ends[0]
