"""How often each candidate won, against all others together and against each of them: ties count half.

Knows: comparisons. Does not know: Bradley-Terry scores, human labels next to those of a judge.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from engine.core.items import HUMAN_LABELS, Preference, Tie
from engine.core.log_probs import FloatArray, IntArray
from engine.core.value_tables import Estimate
from engine.measure.intervals import FEW, OverInstructions
from engine.rank.contests import PairComparisons


@dataclass(frozen=True)
class WinRate:
    """What a candidate won of its comparisons, against all others or one opponent.

    `rate`: the mean of what it won (0 to 1, half a tie), with its 95 % interval over instructions.
    `standard_error`: in the same unit; None for a single instruction. `good_ties`, `bad_ties`, `other_ties`:
    the shares of comparisons that ended in both_good, both_bad, and in an unspecified tie.
    """

    comparisons: int
    instructions: int
    rate: Estimate
    standard_error: float | None
    good_ties: float
    bad_ties: float
    other_ties: float

    @property
    def few(self) -> bool:
        """True where it rests on too few instructions to be called better or worse than another."""
        return self.instructions < FEW

    @property
    def is_significantly(self) -> int:
        """1 where the whole interval is above one half, -1 where it is below, else 0."""
        if self.few or self.rate.ends is None:
            return 0
        low, high = self.rate.ends
        return (low > 0.5) - (high < 0.5)

    def turned(self) -> "WinRate":
        """What the other side of each comparison won."""
        return replace(self, rate=self.rate.turned())


@dataclass(frozen=True)
class WinRates:
    """`candidates`: by name, against all others. `pairs`: of two candidates that met, in both directions."""

    candidates: dict[str, WinRate]
    pairs: dict[tuple[str, str], WinRate]

    @cached_property
    def cycles(self) -> list[tuple[str, str, str]]:
        """Three candidates each of which won more than half against the next one, and the last against the
        first; those in which each of the three is sure stand first.
        """
        beats = {pair for pair, met in self.pairs.items() if met.rate.value > 0.5}
        found = [
            (one, two, three)
            for trio in combinations(self.candidates, 3)
            for one, two, three in (trio, (trio[0], trio[2], trio[1]))
            if {(one, two), (two, three), (three, one)} <= beats
        ]
        return sorted(found, key=lambda cycle: not self.is_sure(cycle))

    def is_sure(self, cycle: Sequence[str]) -> bool:
        """Whether no comparison of a cycle can be chance alone."""
        after = [*cycle[1:], cycle[0]]
        return all(self.pairs[pair].is_significantly > 0 for pair in zip(cycle, after, strict=True))


def win_rates(comparisons: PairComparisons) -> WinRates:
    """Of all candidates of which something was said."""
    candidates: dict[str, WinRate] = {}
    met: dict[tuple[int, int], WinRate] = {}
    for number, name in enumerate(comparisons.names):
        places, won = comparisons.of(number)
        if len(places):
            candidates[name] = _rate(comparisons, places, won)
        for other in range(number + 1, len(comparisons.names)):
            against = (comparisons.first[places] == other) | (comparisons.second[places] == other)
            if against.any():
                found = _rate(comparisons, places[against], won[against])
                met[number, other], met[other, number] = found, found.turned()
    names = comparisons.names
    return WinRates(candidates, {(names[one], names[other]): met[one, other] for one, other in sorted(met)})


def place_rate(comparisons: PairComparisons) -> Estimate:
    """How often the response that stood as A won, 0 to 1, half a tie: one half where places decide nothing.

    At least one comparison must be known.
    """
    known = np.flatnonzero(comparisons.known)
    return _estimate(comparisons, known, comparisons.scores[known])[0]


def _rate(comparisons: PairComparisons, places: IntArray, won: FloatArray) -> WinRate:
    rate, error = _estimate(comparisons, places, won)
    shares = dict(zip(HUMAN_LABELS, comparisons.said[places].mean(axis=0).tolist(), strict=True))
    return WinRate(
        comparisons=len(places),
        instructions=len(np.unique(comparisons.instructions[places])),
        rate=rate,
        standard_error=error,
        good_ties=shares[Preference.BOTH_GOOD],
        bad_ties=shares[Preference.BOTH_BAD],
        other_ties=shares[Tie.TIE],
    )


def _estimate(
    comparisons: PairComparisons, places: IntArray, won: FloatArray
) -> tuple[Estimate, float | None]:
    """The mean with its interval, and its standard error."""
    found = OverInstructions.of_one(won.tolist(), comparisons.instructions[places].tolist())
    if found is None:
        return Estimate(float(won.mean())), None
    return Estimate(found.mean, found.share_interval()), found.standard_error
