"""What can be said of the mean of numbers from 0 to 1, at any moment: tests and intervals by betting.

Whoever bets against "the mean is m", and cannot win on average if it is so, has made a fortune of 1 / error
with a chance of `error` at most, however often one looks (Ville). Several bets of a fixed part of what one
has stand side by side, and their mean is the fortune, so that no bet must be chosen beforehand (Waudby-Smith
& Ramdas, Estimating means of bounded random variables by betting, JRSS-B 2024, sections 4 and 5: a mixture of
constant bets, on both sides). A fixed part makes the fortune fall as m rises, so what is not refuted is one
interval; and it depends on how often each number came, not on their order: counts are all there is to keep.

The numbers are taken as drawn from a population, not out of the dataset without replacement: what is said
holds of instructions like these, as the intervals of a ranking do. Without replacement, 50.1 % would be a
significant win once the dataset is used up, and the ranking of the same labels would say that it is none.

Knows: numbers. Does not know: comparisons, candidates, several questions at once.
"""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from engine.core.log_probs import FloatArray

ERROR = 0.05
_BETS = ((np.arange(12) + 0.5) / 12) ** 1.5
_LOG_STAKES = np.log((0.02 + (_BETS * (1 - _BETS)) ** 1.5) / np.sum(0.02 + (_BETS * (1 - _BETS)) ** 1.5))
"""Bets as shares of the wealth, and the initial wealth of each, of 1 in total. Most is on the bets that
become significant first for candidates 15 to 35 points from one half; a little is on small bets, for narrow
intervals with many numbers.
"""
_STEPS = 40  # halvings of an interval between 0 and 1: to a thousandth of a billionth


def growth(values: FloatArray, mean: float) -> FloatArray:
    """By what each bet that the mean is higher multiplies what one has, as logarithms.

    `values`: 0 to 1, shape (...). `mean`: more than 0. Shape (..., bets).
    """
    return np.asarray(np.log1p(_BETS * (values[..., None] / mean - 1)))


def log_wealth(grown: FloatArray) -> FloatArray:
    """The logarithm of what one has of 1, by the sums of `growth`, shape (..., bets): shape (...)."""
    return np.asarray(np.logaddexp.reduce(grown + _LOG_STAKES, axis=-1))


def needed(error: float = ERROR, questions: int = 1) -> float:
    """The logarithm of the fortune on one side that refutes a mean, or shows that it is not on that side.

    An e-value is compared with the number of questions over `error` (Holm, for the largest of them), and half
    of what one has is bet on either side.
    """
    return math.log(2 * questions / error)


@dataclass
class ValueCounts:
    """How often each number came: a plain record, to which numbers are added."""

    counts: Counter[float] = field(default_factory=Counter)

    @classmethod
    def of(cls, values: Iterable[float]) -> "ValueCounts":
        """Of some numbers, 0 to 1."""
        return cls(Counter(values))

    def add(self, value: float) -> None:
        """One number more, 0 to 1."""
        self.counts[value] += 1

    def __len__(self) -> int:
        return self.counts.total()

    @property
    def mean(self) -> float:
        """Of at least one number, 0 to 1."""
        return sum(value * count for value, count in self.counts.items()) / len(self)

    @property
    def turned(self) -> "ValueCounts":
        """What the other side has of it: 1 less each number."""
        turned = ValueCounts()
        for value, count in self.counts.items():
            turned.counts[1 - value] += count  # of two values near 0 it may be the same
        return turned

    def wealth_above(self, mean: float) -> float:
        """The logarithm of what betting that the mean is above this one, more than 0, has made of 1."""
        return float(log_wealth(self._grown(mean)))

    def lead(self) -> tuple[int, float]:
        """The side that is ahead of one half, 1 above and -1 below, and the logarithm of its fortune."""
        above, below = self.wealth_above(0.5), self.turned.wealth_above(0.5)
        return (1, above) if above >= below else (-1, below)

    def interval(self, error: float = ERROR) -> tuple[float, float]:
        """The means that are not refuted, 0 to 1: they hold the true one at all moments together but for a
        chance of `error`. All of them where there is no number.
        """
        return self._low(error), 1 - self.turned._low(error)

    def more_for_half(self, log_wealth_needed: float) -> float:
        """About how many numbers more, like these, until the side that is ahead has such a fortune; infinite
        where neither is ahead.
        """
        side, has = self.lead()
        grown = (self if side > 0 else self.turned)._grown(0.5)
        each = float(grown.max()) / max(len(self), 1)
        return max(0.0, log_wealth_needed - has) / each if each > 0 else math.inf

    def _grown(self, mean: float) -> FloatArray:
        values = np.array(list(self.counts), np.float64)
        times = np.array(list(self.counts.values()), np.float64)
        return np.asarray(times @ growth(values, mean))

    def _low(self, error: float) -> float:
        """The least mean that is not refuted from below."""
        if not self.counts:
            return 0.0
        low, high = 0.0, self.mean
        for _ in range(_STEPS):
            middle = (low + high) / 2
            if middle > 0 and self.wealth_above(middle) >= needed(error):
                low = middle
            else:
                high = middle
        return low
