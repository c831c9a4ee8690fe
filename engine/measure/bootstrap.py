"""How far a mean over items can be trusted: a bootstrap over instructions.

Knows: numbers and groups. Does not know: what was measured.
"""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from engine.measure.folds import LEAST_GROUPS, group_numbers

RESAMPLES = 2000
_TAIL = 0.025
_SEED = 0  # the same values give the same interval
_RESAMPLES_AT_ONCE = 250  # keeps the drawn indices of thousands of items within some megabytes


class Interval(NamedTuple):
    """A 95 % confidence interval, in the unit of what was measured."""

    low: float
    high: float


def bootstrap_interval(values: Sequence[float], groups: Sequence[Hashable]) -> Interval | None:
    """The percentile bootstrap interval of the mean of `values`; None for fewer than two groups.

    Whole groups (items with the same instruction) are drawn with replacement, since their values are
    not independent; the mean is over the items drawn. The same values give the same interval. Where all
    values are equal it has no width: so small a sample says nothing of what it has not seen. Source:
    Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 13; groups as in Davison and
    Hinkley, Bootstrap Methods and their Application (1997), 3.8.
    """
    numbers = group_numbers(groups)
    if len(set(numbers.tolist())) < LEAST_GROUPS:
        return None
    sums = np.bincount(numbers, weights=np.asarray(values, dtype=np.float64))
    sizes = np.bincount(numbers)
    random = np.random.default_rng(_SEED)
    means = []
    for start in range(0, RESAMPLES, _RESAMPLES_AT_ONCE):
        count = min(_RESAMPLES_AT_ONCE, RESAMPLES - start)
        drawn = random.integers(len(sums), size=(count, len(sums)))
        means.append(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1))
    low, high = np.quantile(np.concatenate(means), [_TAIL, 1 - _TAIL])
    return Interval(float(low), float(high))
