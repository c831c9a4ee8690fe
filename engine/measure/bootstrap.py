"""How far a mean over items can be trusted: a bootstrap over instructions.

Knows: numbers and groups. Does not know: what was measured.
"""

from collections.abc import Hashable, Mapping, Sequence
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
    return least_interval([values], groups)


def least_interval(rows: Sequence[Sequence[float]], groups: Sequence[Hashable]) -> Interval | None:
    """The interval of the least of several means over the same items, as above.

    Which mean is the least is found anew in each draw: the whole interval is above 0 only where all are.
    """
    numbers = group_numbers(groups)
    if len(set(numbers.tolist())) < LEAST_GROUPS:
        return None
    sums = [np.bincount(numbers, weights=np.asarray(row, dtype=np.float64)) for row in rows]
    sizes = np.bincount(numbers)
    random = np.random.default_rng(_SEED)
    means = []
    for start in range(0, RESAMPLES, _RESAMPLES_AT_ONCE):
        count = min(_RESAMPLES_AT_ONCE, RESAMPLES - start)
        drawn = random.integers(len(sizes), size=(count, len(sizes)))
        least = np.min([row[drawn].sum(axis=1) for row in sums], axis=0)
        means.append(least / sizes[drawn].sum(axis=1))
    low, high = np.quantile(np.concatenate(means), [_TAIL, 1 - _TAIL])
    return Interval(float(low), float(high))


def mean_interval(
    values: Mapping[str, Sequence[float]], groups: Mapping[str, Sequence[Hashable]]
) -> Interval | None:
    """The interval of the mean over several means, such as the accuracies of the criteria; as above.

    By name the values of some items and the instruction of each: what is drawn are instructions, and with
    each of them all its items under all names, since they are not independent. A name without items in a
    draw takes no part in its mean.
    """
    numbers = group_numbers([group for of_one in groups.values() for group in of_one])
    count = int(numbers.max()) + 1 if len(numbers) else 0
    if count < LEAST_GROUPS:
        return None
    ends = np.cumsum([len(of_one) for of_one in groups.values()])[:-1]
    places = np.split(numbers, ends)
    weights = [np.asarray(of_one, np.float64) for of_one in values.values()]
    pairs = list(zip(places, weights, strict=True))
    sums = np.array([np.bincount(place, weight, minlength=count) for place, weight in pairs])
    sizes = np.array([np.bincount(place, minlength=count) for place, _ in pairs])
    random = np.random.default_rng(_SEED)
    means = []
    for start in range(0, RESAMPLES, _RESAMPLES_AT_ONCE):
        at_once = min(_RESAMPLES_AT_ONCE, RESAMPLES - start)
        drawn = random.integers(count, size=(at_once, count)) + count * np.arange(at_once)[:, None]
        times = np.bincount(drawn.ravel(), minlength=at_once * count).reshape(at_once, count)
        items = times @ sizes.T
        known = items > 0
        of_names = np.divide(times @ sums.T, items, out=np.zeros(items.shape), where=known)
        means.append(of_names.sum(axis=1) / known.sum(axis=1))
    low, high = np.quantile(np.concatenate(means), [_TAIL, 1 - _TAIL])
    return Interval(float(low), float(high))
