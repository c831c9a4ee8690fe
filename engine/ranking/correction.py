"""Shares and a ranking as annotators would have them: the judge's on all items, corrected by labels of some.
Prediction-powered inference: the mean of human labels of a random part, moved by a weight times what the
judge says of the other items less what it says of these. Whatever the judge is worth, that stays right; a
good one makes the interval narrower. Sources: Angelopoulos and others, Prediction-Powered Inference (2023);
Angelopoulos, Duchi and Zrnic, PPI++ (2023), whose tuned weight this is.
"""

from collections.abc import Container, Generator, Iterable
from dataclasses import dataclass, replace

import numpy as np

from engine.core.events import CancelToken, MeasureProgress
from engine.core.items import HUMAN_LABELS, Tie
from engine.core.numeric import BoolArray, FloatArray, IntArray
from engine.core.tables import Estimate
from engine.metrics.intervals import FEW, LEAST_GROUPS
from engine.ranking.bradley_terry import (
    DRAWS,
    BradleyTerryScores,
    Meetings,
    bootstrapped,
    expected_score,
    fitted,
    sums_by_instruction,
    tallies_of,
    won_by_lower,
)
from engine.ranking.comparisons import PairComparisons
from engine.settings.sampling import DEFAULT_SEED

Ends = tuple[float, float]
_TAIL = 0.025
_SEEN = 2.0
"""The minimum number of labelled instructions assumed to differ completely from the others. An error that the
judge makes on one of twenty may not show on a dozen, and the interval would then have no width."""


@dataclass(frozen=True, eq=False)
class Corrected:
    """`rate`: corrected, 95 % interval on other items of this kind; `of_these`: the interval on these very
    items. `labels`, `labels_of_these`: by human labels alone; `judge`: by the judge alone. `weight`: how much
    of the judge counts, 0 to 1. `error`, `labels_error`: standard errors. `pulls`, `labels_pulls`: what each
    instruction is to these, (instructions,), whose sum of squares is the variance. `labelled`, `items`,
    `instructions`: labels, of how many items, on how many instructions.
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
    items that belong to the random part and have no label, such as skipped ones, shape (items,). Intervals
    hold whatever annotators would say of what is missing: they reach from where they lie with 0 for all of it
    to where they lie with 1 (the worst cases of Manski, Nonparametric Bounds on Treatment Effects, 1990).
    None where fewer than two instructions are labelled. Where all items are, nothing is left for the judge:
    the weight is 0.
    """
    found = _corrected(annotators, judge, instructions, count)
    if found is None or missing is None or not missing.any():
        return found
    worst = (np.where(missing, each, annotators) for each in (0.0, 1.0))
    every = [found, *filter(None, (_corrected(each, judge, instructions, count) for each in worst))]
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
    the judge says of the same items, and of the others. 0 where there are no others.
    """
    if not len(elsewhere):
        return 0.0
    everywhere = np.concatenate([judge, elsewhere])
    # As if items were independent: else that costs some width, but intervals hold with any weight.
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
        """What each instruction is to the rate, with all of its items, which may vary together."""
        return np.asarray(self._of_labels + weight * (self._of_others - self._of_judge))

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
        # No less spread than of one instruction: the error has a least one, and of a rate of .1 % by 100
        # labels, Wilson's interval would reach to 47 %.
        spread = rate * (1 - rate)
        pull = (t * error) ** 2 / max(spread, (1 - 1 / self._whole) / self._whole)
        middle = (rate + pull / 2) / (1 + pull)
        half = np.sqrt(pull * spread + pull**2 / 4) / (1 + pull)
        return float(middle - half), float(middle + half)


def _summed(groups: IntArray, values: FloatArray, count: int) -> FloatArray:
    """The values of each group added up, as parts of the mean of all: shape (count,)."""
    return np.asarray(np.bincount(groups, values / len(values), minlength=count).astype(np.float64))


def _small_sample(groups: int) -> float:
    return float(np.sqrt(groups / (groups - 1))) if groups > 1 else 1.0


def _turned(ends: Ends) -> Ends:
    return 1 - ends[1], 1 - ends[0]


ANY_TIE = "tie of any kind"
MOST_MISSING = 0.02
"""Bradley-Terry scores, which have no worst-case bounds, are corrected if at most this share of the random
part has no label. With this share missing, mostly losses, the intervals without worst cases covered in .94 of
simulations.
"""


@dataclass(frozen=True, eq=False)
class Correction:
    """`candidates`, `pairs` (both directions), `shares` (of labels, by name): those with labels on FEW or
    more instructions, `unlabelled`: the other candidates. `bradley_terry`: None where corrected comparisons
    do not hold all together. `correlation`: of judge and annotators in what A wins, None where either never
    varies. `missing`: how many of the random part have no label; above MOST_MISSING there are no scores.
    """

    candidates: dict[str, Corrected]
    pairs: dict[tuple[str, str], Corrected]
    shares: dict[str, Corrected]
    bradley_terry: BradleyTerryScores | None
    labelled: int
    items: int
    correlation: float | None
    unlabelled: tuple[str, ...]
    missing: int = 0

    @property
    def too_many_missing(self) -> bool:
        """Whether too much of the random part has no label for Bradley-Terry scores to be corrected."""
        return self.missing > MOST_MISSING * (self.labelled + self.missing)

    @property
    def worth(self) -> float:
        """How many times the labels it takes to know the rates without a judge: the median of candidates."""
        return float(np.median([one.worth for one in self.candidates.values()])) if self.candidates else 1.0

    @property
    def are_held(self) -> bool:
        """Whether half of the candidates or more have an interval that is kept wide, for labels are few."""
        held = [one.is_held for one in self.candidates.values()]
        return 2 * sum(held) >= len(held) > 0

    @property
    def is_helped(self) -> bool:
        return any(one.is_helped for one in self.candidates.values())


def correct(
    annotators: PairComparisons,
    judge: PairComparisons,
    seed: int = DEFAULT_SEED,
    draws: int = DRAWS,
    cancel: CancelToken | None = None,
    *,
    missing: Container[str] = (),
) -> Generator[MeasureProgress, None, Correction]:
    """The same comparisons; those labelled and the `missing`, by ids, are a random part. What the judge could
    not say is put as its average, neither side before the other: predictions may be anything. `draws`: of the
    Bradley-Terry scores, none at 0; tells how many are done. Raises Cancelled.
    """
    judge = judge.with_said(filled(judge.said))
    _, numbers = np.unique(judge.instructions, return_inverse=True)
    annotators, judge = (replace(each, instructions=numbers) for each in (annotators, judge))
    known = annotators.known
    lacking = np.array([item_id in missing for item_id in annotators.ids], np.bool_) & ~known
    candidates = {
        name: _of(annotators, judge, lacking, place, judge.of[place])
        for place, name in enumerate(judge.names)
    }
    pairs: dict[tuple[str, str], Corrected] = {}
    for (one, other), places in judge.between.items():
        if cancel is not None:
            cancel.raise_if_requested()
        found = _of(annotators, judge, lacking, one, places)
        if found is not None:
            names = judge.names[one], judge.names[other]
            pairs[names], pairs[names[::-1]] = found, found.turned()
    said, expected = annotators.scores[known], judge.scores[known]
    varies = len(said) > 1 and said.std() > 0 and expected.std() > 0
    made = Correction(
        candidates={name: found for name, found in candidates.items() if found is not None},
        pairs=pairs,
        shares=label_shares(annotators.said, judge.said, judge.instructions, lacking),
        bradley_terry=None,
        labelled=int(known.sum()),
        items=len(annotators),
        correlation=float(np.corrcoef(said, expected)[0, 1]) if varies else None,
        unlabelled=tuple(name for name, found in candidates.items() if found is None),
        missing=int(lacking.sum()),
    )
    enough = draws > 0 and len(np.unique(numbers[known])) >= FEW and not known.all()
    if not enough or len(annotators.components) > 1 or made.too_many_missing:
        return made
    bradley_terry = yield from _strengths(annotators, judge, seed, draws, cancel)
    return replace(made, bradley_terry=bradley_terry)


def _of(
    annotators: PairComparisons,
    judge: PairComparisons,
    lacking: BoolArray,
    candidate: int,
    places: IntArray,
) -> Corrected | None:
    """What a candidate won at these places; None with labels on fewer than FEW instructions."""
    by_annotators, by_judge = annotators.won(candidate, places), judge.won(candidate, places)
    count = int(judge.instructions.max(initial=-1)) + 1  # of pulls, which are subtracted from one another
    return _enough(by_annotators, by_judge, judge.instructions[places], lacking[places], count)


def _enough(
    by_annotators: FloatArray, by_judge: FloatArray, instructions: IntArray, lacking: BoolArray, count: int
) -> Corrected | None:
    found = corrected(by_annotators, by_judge, instructions, count, lacking)
    return None if found is None or found.instructions < FEW else found


def filled(said: FloatArray) -> FloatArray:
    """What a judge says, (items, 5), with its average where it says nothing, neither side before the other:
    whatever its predictions are, the correction holds.
    """
    known = ~np.isnan(said[:, 0])
    default = said[known].mean(axis=0) if known.any() else np.eye(len(HUMAN_LABELS))[-1]
    default[:2] = default[:2].mean()
    return np.where(known[:, None], said, default)


def label_shares(
    annotators: FloatArray, judge: FloatArray, instructions: IntArray, lacking: BoolArray
) -> dict[str, Corrected]:
    """Of each label, by what annotators say of a part and the judge of all, (items, 5); of all ties together
    if annotators give plain ones. Those with labels on fewer than FEW instructions are left out.
    """
    plain = bool(np.nansum(annotators[:, -1]))
    columns = {label.value: place for place, label in enumerate(HUMAN_LABELS) if label is not Tie.TIE}
    both = {
        name: (annotators[:, place], judge[:, place])
        for name, place in list(columns.items())[: 2 if plain else None]
    }
    both |= {ANY_TIE: (annotators[:, 2:].sum(axis=1), judge[:, 2:].sum(axis=1))} if plain else {}
    count = int(instructions.max(initial=-1)) + 1
    found = {name: _enough(*each, instructions, lacking, count) for name, each in both.items()}
    return {name: one for name, one in found.items() if one is not None}


def _strengths(
    annotators: PairComparisons, judge: PairComparisons, seed: int, draws: int, cancel: CancelToken | None
) -> Generator[MeasureProgress, None, BradleyTerryScores]:
    """Davidson's model fitted to what PPI++ makes of its likelihood. That is the mean over labelled items by
    human labels, and `weight` times the mean over the others less that over the labelled, both by the
    judge's: with what Davidson's model needs, numbers of comparisons and what was won and tied, linear in
    each, again such numbers. A draw of the bootstrap draws instructions with all of their items; the weight
    stays that of the whole. Intervals are as wide as Student's t asks of as few labelled instructions as a
    candidate has.
    """
    known = annotators.known
    # Tuned for what was won beyond what the Bradley-Terry scores by the judge alone let expect.
    by_judge = fitted(tallies_of(judge))
    difference = by_judge.bradley_terry[0][judge.first] - by_judge.bradley_terry[0][judge.second]
    expected = expected_score(difference, by_judge.tie[0])
    beyond = judge.scores - expected
    weight = tuned_weight(annotators.scores[known] - expected[known], beyond[known], beyond[~known])
    columns = [known.astype(np.float64), (~known).astype(np.float64)]
    of_both = (won_by_lower(annotators), won_by_lower(judge)), (annotators.ties, judge.ties)
    for said, judged in of_both:
        columns += [np.where(known, said - weight * judged, 0.0), np.where(known, 0.0, weight * judged)]
    by_instruction = sums_by_instruction(judge, columns)
    size = float(known.sum())  # as many comparisons as there are labels

    def sums(weights: FloatArray) -> FloatArray:
        here, there, *drawn = by_instruction(weights)
        inside, outside = (np.maximum(each.sum(axis=1, keepdims=True), 1.0) / size for each in (here, there))
        comparisons = (1 - weight) * here / inside + weight * there / outside
        won, tied = (drawn[part] / inside + drawn[part + 1] / outside for part in (0, 2))
        return np.stack([comparisons, won, tied])

    count = int(judge.instructions.max()) + 1
    # On how many instructions labels say anything of a candidate, on average.
    labelled = annotators.at(known)
    worth = float(np.mean([len(np.unique(labelled.instructions[places])) for places in labelled.of]))
    met = Meetings.of(judge)
    return bootstrapped(annotators.names, met, sums, count, worth, seed=seed, draws=draws, cancel=cancel)
