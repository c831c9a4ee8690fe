"""How far a share or a difference over items can be trusted, where items of one instruction belong together.
Light, for judging prints intervals: SciPy is loaded once the first is computed.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple, Self

import numpy as np

from engine.core.numeric import FloatArray, IntArray, chance_of_share, clopper_pearson
from engine.core.tables import Estimate

Fold = tuple[IntArray, IntArray]
Values = Sequence[float] | FloatArray

FOLDS = 10
LEAST_GROUPS = 2
_SEED = 0  # the same items make the same folds


def group_numbers(groups: Sequence[Hashable] | IntArray) -> IntArray:
    """A number for each group, in order of first appearance, shape (items,)."""
    if isinstance(groups, np.ndarray):
        _, first, places = np.unique(groups, return_index=True, return_inverse=True)
        return np.argsort(np.argsort(first))[places]
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(group, len(numbers)) for group in groups], dtype=np.int64)


def grouped_folds(groups: Sequence[Hashable], folds: int = FOLDS) -> list[Fold]:
    """Train and test indices of at most `folds` folds; no group is on both sides. Each item is tested once.
    Fewer groups than `folds` make as many folds as groups. ValueError for fewer than LEAST_GROUPS groups.
    """
    numbers = group_numbers(groups)
    different = len(set(numbers.tolist()))
    if different < LEAST_GROUPS:
        raise ValueError(f"{different} different instructions: cross-validation needs {LEAST_GROUPS} or more")
    # Those of scikit-learn's GroupKFold(shuffle=True), which takes a second to load; a test compares them.
    order = np.random.RandomState(_SEED).permutation(different)
    tested = [np.isin(numbers, part) for part in np.array_split(order, min(folds, different))]
    return [(np.flatnonzero(~each), np.flatnonzero(each)) for each in tested]


FEW = 10
"""With fewer instructions than this, nothing is called better than anything else."""

SIGNIFICANT = 0.05  # of a p-value, below this
_TAIL = 0.025
_FOUND = 0.8
_ONE = "all"


class Interval(NamedTuple):
    """A 95 % confidence interval, in the unit of what was measured."""

    low: float
    high: float


@dataclass(frozen=True)
class OverInstructions:
    """A mean over one or several means, such as the accuracies of the criteria, and what each instruction is
    to it: `weights`: what part of it, (instructions,), sum 1; `pulls`: by how much it moves the mean from
    where that would stand if all were alike, (instructions,), sum 0. `sides`: instructions that hold a value
    below the largest possible, and above the least. `values`: of how many equally weighty values the mean is
    one. `freedom`: degrees of freedom, None for the effective number of instructions less 1; `most_freedom`:
    of a variance that is estimated, at most, where one of the means is of fewer instructions than others.
    """

    mean: float
    weights: FloatArray
    pulls: FloatArray
    values: float
    sides: int
    groups: tuple[Hashable, ...]
    freedom: float | None = None
    most_freedom: float = math.inf

    @classmethod
    def of(
        cls,
        values: Mapping[str, Values],
        groups: Mapping[str, Sequence[Hashable] | IntArray],
        shares: Mapping[str, float] | None = None,
    ) -> Self | None:
        """Of the mean over names of the means of their values; None for fewer than two instructions.
        `shares`: what part of it each is, sum 1, where names are strata, which need two instructions each
        (Cochran, Sampling Techniques, 1977, 5.4).
        """
        only = next(iter(groups.values())) if len(groups) == 1 else None
        named = [group for of_one in groups.values() for group in of_one] if only is None else only
        numbers = group_numbers(named)
        count = int(numbers.max(initial=-1)) + 1
        if count < LEAST_GROUPS:
            return None
        places = np.split(numbers, np.cumsum([len(of_one) for of_one in groups.values()])[:-1])
        rows = [np.asarray(of_one, np.float64) for of_one in values.values()]
        means, every = [float(row.mean()) for row in rows], np.concatenate(rows)
        weights, pulls, parts = np.zeros(count), np.zeros(count), list[float]()
        many = [len(rows) if shares is None else 1 / shares[name] for name in values]
        for place, row, mean, times in zip(places, rows, means, many, strict=True):
            sizes, share = np.bincount(place, minlength=count), 1 / (len(row) * times)
            own = np.count_nonzero(sizes)
            weights += sizes * share
            parts.append(float(np.sum(sizes**2)) / len(row) ** 2)
            if shares is not None:  # the mean of each stratum is estimated by its own instructions
                if own < LEAST_GROUPS:
                    return None
                share *= np.sqrt(own / (own - 1) * (count - 1) / count)
            pulls += np.bincount(place, row - mean, minlength=count) * share
        most = math.inf
        if len(rows) > 1:  # Satterthwaite's (1946), of means whose values vary alike
            most = sum(parts) ** 2 / sum(part**2 / max(1 / part - 1, 1.0) for part in parts)
        return cls(
            mean=float(np.mean(means) if shares is None else np.sum(np.divide(means, many))),
            weights=weights,
            pulls=pulls,
            values=len(rows) ** 2 / sum(1 / len(row) for row in rows)
            if shares is None
            else 1 / sum(1 / (len(row) * times**2) for row, times in zip(rows, many, strict=True)),
            # In how many groups, of the rarer kind, there is a value below 1, and one above 0.
            sides=min(len(np.unique(numbers[every < 1])), len(np.unique(numbers[every > 0]))),
            groups=tuple(dict.fromkeys(named.tolist() if isinstance(named, np.ndarray) else named)),
            most_freedom=most,
        )

    @classmethod
    def of_enough(
        cls, values: Mapping[str, Values], groups: Mapping[str, Sequence[Hashable] | IntArray]
    ) -> Self:
        """The same of what is known to be of two instructions or more."""
        found = cls.of(values, groups)
        assert found is not None
        return found

    @classmethod
    def of_one(cls, values: Values, groups: Sequence[Hashable] | IntArray) -> Self | None:
        return cls.of({_ONE: values}, {_ONE: groups})

    @classmethod
    def of_pulls(
        cls, mean: float, pulls: Sequence[float], weights: Sequence[float], groups: Sequence[Hashable]
    ) -> Self | None:
        """Of an estimate that is no mean, such as a difference of two: by how much each value moves it, sum
        0, and what part of it each is, sum 1; `groups`: the instruction of each. None for fewer than two.
        """
        numbers = group_numbers(groups)
        count = int(numbers.max(initial=-1)) + 1
        if count < LEAST_GROUPS:
            return None
        shares = np.asarray(weights, np.float64)
        return cls(
            mean=mean,
            weights=np.zeros(count) + np.bincount(numbers, shares, minlength=count),
            pulls=np.zeros(count) + np.bincount(numbers, np.asarray(pulls), minlength=count),
            values=1 / float(np.sum(shares**2)),
            sides=count,
            groups=tuple(dict.fromkeys(groups)),
        )

    @classmethod
    def of_slope(
        cls, values: FloatArray, columns: FloatArray, place: int, groups: Sequence[Hashable], least: float
    ) -> Self | None:
        """By how much values, (items,), rise with one of some columns, (items, columns), all others alike: a
        regression, its error clustered by instruction (Liang & Zeger 1986). None where the others tell all of
        the column but `least` of its squares, and for fewer than two instructions.
        """
        column, others = columns[:, place], np.delete(columns, place, axis=1)
        own = column - others @ np.linalg.lstsq(others, column)[0]
        spread = float(own @ own)
        if spread <= least * float(column @ column):
            return None
        rest = values - columns @ np.linalg.lstsq(columns, values)[0]
        pulls, weights = (own * rest / spread).tolist(), (own**2 / spread).tolist()
        return cls.of_pulls(float(own @ values) / spread, pulls, weights, groups)

    def mirrored(self) -> Self:
        return replace(self, mean=-self.mean, pulls=-self.pulls)

    def repeated(self, times: int) -> Self:
        """Of so many times the values, if more come that are like these."""
        weights, pulls = (np.tile(each, times) / times for each in (self.weights, self.pulls))
        return replace(
            self,
            weights=weights,
            pulls=pulls,
            values=self.values * times,
            sides=self.sides * times,
            most_freedom=self.most_freedom * times,
            groups=self.groups * times,
        )

    @property
    def instructions(self) -> int:
        return len(self.weights)

    @property
    def _variance(self) -> float:
        """Of the mean, where values of one instruction may vary together (Liang & Zeger 1986)."""
        count = self.instructions
        return count / (count - 1) * float(np.sum(self.pulls**2))

    @property
    def standard_error(self) -> float:
        return float(np.sqrt(self._variance))

    @property
    def _whole(self) -> float:
        """How many instructions of equal weight say as much as these: Kish's effective number."""
        return 1 / float(np.sum(self.weights**2))

    @property
    def _freedom_of_shares(self) -> float:
        return max(self._whole - 1 if self.freedom is None else self.freedom, 1.0)

    @property
    def _freedom(self) -> float:
        # Else the mean difference of two equal systems, over a criterion with 2 labels and one with 200, has
        # a p below .05 in 11 %. Of a share the variance is bounded: `share_interval` holds without.
        return max(min(self._freedom_of_shares, self.most_freedom), 1.0)

    def share_interval(self, tests: int = 1) -> Interval:
        """Of a mean of values from 0 to 1: Clopper and Pearson's interval of as many independent values as
        these are worth, with Student's t over instructions (Korn and Graubard, Confidence Intervals for
        Proportions with Small Expected Number of Positive Counts Estimated From Survey Data, 1998). Simulated
        coverage: `bench/coverage/intervals.py`. Wider for one of so many `tests` (Bonferroni).
        """
        return Interval(*clopper_pearson(self.mean, self.worth_of_share, _TAIL / tests))

    @property
    def worth_of_share(self) -> float:
        """How many independent values of 0 or 1 a share is as sure as, with Student's t over instructions."""
        if self.values <= 1:
            return 1.0
        freedom = self._freedom_of_shares
        return self._worth() * (float(quantile_of_t(self.values - 1) / quantile_of_t(freedom))) ** 2

    def _worth(self) -> float:
        """Of how many independent values of 0 or 1 a mean is as sure as this one."""
        most = self.values / self._whole  # values of an instruction
        if most <= 1:
            return self.values
        alike = 1.0
        spread = self.mean * (1 - self.mean)
        if spread > 0:
            alike = min(max((self._variance * self.values / spread - 1) / (most - 1), 0.0), 1.0)
        # As by one instruction more in which all are: else a handful of errors, or none, would seem
        # independent.
        alike = (self.sides * alike + 1) / (self.sides + 1)
        return self.values / (1 + alike * (most - 1))

    def difference_interval(self) -> Interval:
        """Of a mean of differences from -1 to 1: Student's t over instructions."""
        half = self._error * float(quantile_of_t(self._freedom))
        return Interval(max(self.mean - half, -1.0), min(self.mean + half, 1.0))

    def score_interval(self) -> Interval:
        """Of a mean of scores that may be anything from 0 to 1."""
        return self.interval_within(0.0, 1.0)

    def interval_within(self, least: float, most: float, floor: float | None = None) -> Interval:
        """Of a mean of values that may be anything from `least` to `most`, by Student's t over instructions:
        each end as if one instruction more lay at that end of the range. `floor`: how far values reach below
        that, where it is known otherwise that one instruction more does not.
        """
        # What is rare and large may be in none of these instructions, and by what was seen nothing would
        # vary. Where values are of two kinds, however rare one is, with 10 to 400 instructions each end
        # misses the mean in 5 % at most, both together in 5.4 %. Intervals by betting (Waudby-Smith and
        # Ramdas 2024) hold in any world, and are wider by a third to one half. Simulated:
        # `bench/coverage/intervals.py`.
        t = float(quantile_of_t(self._freedom))
        (low, below), (high, above) = self._with_one_more(least), self._with_one_more(most)
        lowest = min(least if floor is None else floor, self.mean)
        return Interval(max(low - t * below, lowest), min(high + t * above, max(most, self.mean)))

    def chance_interval(self) -> Interval:
        """Of a mean of chances, which vary less the nearer they are to 0 or 1: the same two ends, by Wilson's
        formula (Dean and Pagano, Evaluating Confidence Interval Methods for Binomial Proportions in Clustered
        Surveys, 2015). Simulated: `bench/coverage/rankings.py`.
        """
        return Interval(self._wilson_end(0.0), self._wilson_end(1.0))

    def _wilson_end(self, value: float) -> float:
        mean, error = self._with_one_more(value)
        spread = mean * (1 - mean)
        if spread <= 0:
            return mean
        of_mean = float(quantile_of_t(self._freedom) * error) ** 2 / spread  # t^2 / effective number
        half = float(np.sqrt(of_mean * (spread + of_mean / 4)))
        return (mean + of_mean / 2 + (half if value else -half)) / (1 + of_mean)

    def _with_one_more(self, value: float) -> tuple[float, float]:
        """The mean and its standard error with one instruction more, of such a value and usual weight."""
        whole, away = self._whole, value - self.mean
        error = self._variance * (whole - 1) / (whole + 1) + (away / (whole + 1)) ** 2
        return self.mean + away / (whole + 1), float(np.sqrt(error))

    def mean_interval(self) -> Interval | None:
        """Of a mean of other values, by Student's t over instructions; None where these do not vary."""
        return self._around(self._variance)

    def skewed_interval(self) -> Interval | None:
        """The same where a few values may be far off, as with one instruction more, like the furthest."""
        # A few skewed values would seem too alike.
        count = self.instructions
        return self._around(self._variance + count / (count - 1) * float(np.max(self.pulls**2)))

    def _around(self, variance: float) -> Interval | None:
        half = float(quantile_of_t(self._freedom) * np.sqrt(variance))
        return Interval(self.mean - half, self.mean + half) if half > 0 else None

    @property
    def p_value(self) -> float:
        """Two-sided, that a mean of differences is 0: below .05 just where its interval leaves 0 out."""
        return 2 * self._p_above(0.0, self._error, abs(self.mean))

    def findable_difference(self, tests: int = 1) -> float:
        """How large a true difference of shares must be (0 to 1) to be found in 80 % of cases or more, where
        p is corrected for so many tests.
        """
        # So many items more that went one way vary by themselves, as shares do: the error of a difference
        # that is near 0 would promise too much. Simulated: `bench/coverage/drift.py`.
        times = float(quantile_of_t(self._freedom, 1 - _TAIL / tests) + quantile_of_t(self._freedom, _FOUND))
        # The positive root of x^2 = times^2 (error^2 + x (1 - x) / whole).
        own = times**2 / self._whole
        root = np.sqrt(own**2 + 4 * (1 + own) * (times * self._error) ** 2)
        return min(float((own + root) / (2 * (1 + own))), 1.0)

    def p_below(self, bound: float) -> float:
        """One-sided, that a mean of differences is `bound` (0 to 1) or more."""
        # The error is not below that of the least varied differences of such a mean, all 0 or 1 and alike
        # within an instruction: by their own, few that are 1 would reliably be fewer than the bound.
        error = max(self._error, float(np.sqrt(bound * (1 - bound) / self._whole)))
        return self._p_above(self.mean, error, bound)

    def p_share_above(self, bound: float) -> float:
        """One-sided, that a share is `bound` or less: below .025 just where its interval lies above it."""
        return chance_of_share(self.mean, self.worth_of_share, bound)

    def p_above_within(self, bound: float, least: float) -> float:
        """The same of a mean of values that may be anything from `least` on, by `interval_within`."""
        mean, error = self._with_one_more(least)
        return self._p_above(bound, error, mean) if error > 0 else float(mean <= bound)

    def p_difference_above(self, bound: float) -> float:
        """The same of a mean of differences, by the difference's interval."""
        return self._p_above(bound, self._error, self.mean)

    def _p_above(self, bound: float, error: float, mean: float) -> float:
        from scipy.special import stdtr  # noqa: PLC0415

        return float(stdtr(self._freedom, (bound - mean) / error))

    @property
    def _error(self) -> float:
        """The standard error of a mean of differences, as if there were two instructions more, each wholly
        for one side: few that differ, or none, would seem to be certainly alike else (Agresti and Min, Simple
        Improved Confidence Intervals for Comparing Matched Proportions, 2005).
        """
        count = self.instructions
        return float(np.sqrt(self._variance + 2 * count / (count - 1) / self._whole**2))


def share_interval(values: Sequence[float], groups: Sequence[Hashable]) -> Interval | None:
    """The interval of a share (0 to 1) over items; None for fewer than two instructions."""
    found = OverInstructions.of_one(values, groups)
    return found.share_interval() if found else None


Named = Mapping[str, Values]
"""By name, such as that of a criterion, its values: at least one."""


def mean_share(values: Named, groups: Mapping[str, Sequence[Hashable]]) -> Estimate:
    """The mean over names of the means of their values, from 0 to 1; no interval for a single instruction."""
    # Also of distances: a narrower interval, by how much these vary, would not see that a few items in a
    # hundred are wholly others (`bench/coverage/drift.py`).
    found = OverInstructions.of(values, groups)
    return Estimate(_mean_of_means(values), found.share_interval() if found else None)


def mean_difference(values: Named, groups: Mapping[str, Sequence[Hashable]]) -> Estimate:
    """The same of differences of shares: of values from -1 to 1."""
    found = OverInstructions.of(values, groups)
    return Estimate(_mean_of_means(values), found.difference_interval() if found else None)


def mean_by_group(values: Mapping[str, Values], groups: Mapping[str, Sequence[Hashable]]) -> Estimate:
    """The mean over names of the mean over groups of each one's mean: of values from 0 to 1, a group of six
    counts as one of a single value.
    """
    means, named = {}, {}
    for name, of_one in values.items():
        numbers = group_numbers(groups[name])
        means[name] = (np.bincount(numbers, of_one) / np.bincount(numbers)).tolist()
        named[name] = [*dict.fromkeys(groups[name])]
    # As of differences: means vary less than shares do, whose interval would be too wide.
    found = mean_difference(means, named)
    ends = None if found.ends is None else (max(0.0, found.ends[0]), min(1.0, found.ends[1]))
    return Estimate(found.value, ends)


def _mean_of_means(values: Named) -> float:
    return float(sum(sum(of_one) / len(of_one) for of_one in values.values()) / len(values))


def share(values: Sequence[float], groups: Sequence[Hashable]) -> Estimate:
    """A share over items: of values from 0 to 1, at least one; no interval for a single instruction."""
    return mean_share({_ONE: values}, {_ONE: groups})


def difference(values: Sequence[float], groups: Sequence[Hashable]) -> Estimate:
    """A difference of two shares: of values from -1 to 1, as above."""
    return mean_difference({_ONE: values}, {_ONE: groups})


def gap(
    one: OverInstructions | None,
    other: OverInstructions | None,
    ends: Callable[[OverInstructions], Interval | None] = OverInstructions.share_interval,
) -> Estimate | None:
    """By how much one share is above another, of other items or of some of the same; None without both. Its
    interval is made of theirs, as if they did not vary together, which is wider where they do (Zou and
    Donner, Construction of Confidence Limits About Effect Measures, 2008). Simulated:
    `bench/coverage/annotators.py`. `ends`: how the intervals of other means than shares are made.
    """
    if one is None or other is None:
        return None
    value, own, others = one.mean - other.mean, ends(one), ends(other)
    if own is None or others is None:
        return None
    below = float(np.hypot(one.mean - own.low, others.high - other.mean))
    above = float(np.hypot(own.high - one.mean, other.mean - others.low))
    return Estimate(value, Interval(value - below, value + above))


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values of several tests, in their order, so that all of them together hold: below .05 are wrongly
    so, be it one, in 5 % of cases at most (Holm, A Simple Sequentially Rejective Multiple Test Procedure,
    1979).
    """
    corrected, least = dict[int, float](), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = max(least, min(1.0, p_values[place] * (len(p_values) - rank)))
        corrected[place] = least
    return [corrected[place] for place in range(len(p_values))]


def least_interval(rows: Iterable[Values], groups: Sequence[Hashable]) -> Interval | None:
    """The interval of the least of several mean differences over the same items; None for fewer than two
    instructions. It is above 0 only where each of them is, so its lower end is the least of theirs (the
    intersection-union test; Berger 1982); the upper is that of the least one.
    """
    found = [OverInstructions.of_one(values, groups) for values in rows]
    known = [(one.mean, one.difference_interval()) for one in found if one is not None]
    if not known:
        return None
    return Interval(min(ends.low for _, ends in known), min(known)[1].high)


def quantile_of_t(freedom: float, chance: float = 1 - _TAIL) -> FloatArray:
    from scipy.special import stdtrit  # noqa: PLC0415

    return np.asarray(stdtrit(freedom, chance))


_DRAWS = 4000  # the error of the mean is about a hundredth of it


class Choice(NamedTuple):
    """Of how many; by how much the best of equally good ones is expected to look better, in their unit."""

    candidates: int
    excess: float


def cost_of_choosing(candidates: Iterable[OverInstructions | None]) -> Choice | None:
    """What choosing the one with the highest mean costs; None where fewer than two of them have FEW
    instructions: others take no part. The excess is the mean of the largest of as many normal numbers with
    mean 0, whose covariances are those of the means, clustered by instruction, for candidates may share
    instructions, and so their luck: the Gaussian multiplier bootstrap of the centred values (Chernozhukov,
    Chetverikov and Kato 2013). Against simulations: `bench/coverage/intervals.py`.
    """
    known = [one for one in candidates if one is not None and one.instructions >= FEW]
    if len(known) < 2:
        return None
    named = dict.fromkeys(chain.from_iterable(one.groups for one in known))
    places = {group: place for place, group in enumerate(named)}
    pulls = np.zeros((len(places), len(known)))
    for column, one in enumerate(known):
        rows = [places[group] for group in one.groups]
        pulls[rows, column] = one.pulls * np.sqrt(one.instructions / (one.instructions - 1))
    variances, directions = np.linalg.eigh(pulls.T @ pulls)
    drawn = np.random.default_rng(_SEED).standard_normal((_DRAWS, len(known)))
    luck = drawn @ (directions * np.sqrt(np.maximum(variances, 0))).T
    # Of each draw its mirror image too: the mean of one candidate alone is 0 then, as it must be.
    return Choice(len(known), float(np.mean((luck.max(axis=1) - luck.min(axis=1)) / 2)))
