"""Two rankings of the same candidates by the same items: how alike they are, which candidates swap places.

Knows: comparisons of which two said something. Does not know: who they are, how results are shown.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import combinations

import numpy as np

from engine.core.errors import SetupError
from engine.core.events import CancelToken, MeasureProgress
from engine.core.formatting import counted, quoted
from engine.core.numeric import BoolArray, FloatArray
from engine.core.tables import Estimate
from engine.metrics.intervals import FEW, share
from engine.ranking.bradley_terry import DRAWS, BradleyTerryScores, bradley_terry
from engine.ranking.comparisons import PairComparisons
from engine.settings.sampling import DEFAULT_SEED

_LEVEL = 0.05
_DIGITS = 9
"""Bradley-Terry scores are equal if they are equal to this many decimals."""


class PairTold(StrEnum):
    """What is known of two candidates that the rankings order alike, or not."""

    ALIKE = "alike"  # significantly in the same order in both
    SWAPPED = "swapped"  # significantly the other way round
    OPEN = "open"  # at least one of the rankings cannot tell them apart


@dataclass(frozen=True)
class PairPlaces:
    """`above` stands above `below` in the first ranking; `swapped`: and below it in the second."""

    above: str
    below: str
    swapped: bool
    told: PairTold


@dataclass(frozen=True, eq=False)
class TwoRankings:
    """`one`, `other`: the Bradley-Terry scores by each, of the same `comparisons` and the same draws of
    instructions. `same_side`: on what share of the comparisons both favour the same candidate, or neither
    any, 0 to 1.
    """

    comparisons: PairComparisons
    one: BradleyTerryScores
    other: BradleyTerryScores
    same_side: Estimate

    @cached_property
    def tau(self) -> float | None:
        """Kendall's tau-b of the Bradley-Terry scores, -1 to 1; None where all are equal in one of them.

        Source: Kendall, The Treatment of Ties in Ranking Problems (1945).
        """
        from scipy.stats import kendalltau  # noqa: PLC0415

        found = float(kendalltau(*self._strengths).statistic)
        return None if np.isnan(found) else found

    @cached_property
    def tau_ends(self) -> tuple[float, float]:
        """Its interval, 95 % or more: all pairs that are open may be alike, or may all be swapped.

        The percentiles of a bootstrap would be narrower, and wrong: noise swaps close candidates, so that
        draws of two equal rankings are less alike than these. They held a tau of 1 of ten candidates in 0 to
        73 % of simulations.
        """
        told = [pair.told for pair in self.pairs]
        sure = told.count(PairTold.ALIKE) - told.count(PairTold.SWAPPED)
        unsure = told.count(PairTold.OPEN)
        return (sure - unsure) / len(told), (sure + unsure) / len(told)

    @cached_property
    def pairs(self) -> list[PairPlaces]:
        """All pairs of candidates, the swapped ones first, the significant ones of these before the
        others.
        """
        one, other = self._strengths
        sure, also = self._told_apart
        names = self.one.names
        found = []
        for pair in combinations(range(len(names)), 2):
            above, below = pair if one[pair[0]] >= one[pair[1]] else pair[::-1]
            told = PairTold.OPEN
            if sure[above, below] and also[above, below]:
                told = PairTold.ALIKE
            elif sure[above, below] and also[below, above]:
                told = PairTold.SWAPPED
            found.append(PairPlaces(names[above], names[below], bool(other[above] < other[below]), told))
        return sorted(found, key=lambda each: (not each.swapped, each.told is PairTold.OPEN))

    @property
    def ranks(self) -> list[dict[str, tuple[int, int]]]:
        """The best and the worst rank that each candidate may have in each ranking, as sure as of pairs."""
        both = zip((self.one, self.other), self._told_apart, strict=True)
        return [each.ranks_by(better) for each, better in both]

    @cached_property
    def _told_apart(self) -> list[BoolArray]:
        """By each ranking, at half the level: all that is said of both together is wrong with 5 % at most."""
        return [each.told_apart(_LEVEL / 2) for each in (self.one, self.other)]

    @property
    def _strengths(self) -> list[FloatArray]:
        """By each ranking, those that are equal but for rounding as equal: each of shape (candidates,)."""
        return [np.round(each.fit.bradley_terry[0], _DIGITS) for each in (self.one, self.other)]

    @property
    def swaps(self) -> list[PairPlaces]:
        """The pairs of candidates that stand the other way round, the significant ones first."""
        return [pair for pair in self.pairs if pair.swapped]


def side_by_side(
    one: PairComparisons,
    other: PairComparisons,
    seed: int = DEFAULT_SEED,
    cancel: CancelToken | None = None,
    draws: int = DRAWS,
) -> Generator[MeasureProgress, None, TwoRankings]:
    """Of the comparisons, told by their ids, of which both said something.

    Tells how many draws are done. SetupError where these are too few, do not hold the candidates together, or
    are of other candidates under the same ids. Raises Cancelled.
    """
    both = _shared(one, other)
    known = both[0]
    instructions = len(np.unique(known.instructions))
    if instructions < FEW or len(known.names) < 2 or len(known.components) > 1:
        items = counted(len(known), "item", "items")
        raise SetupError(
            f"The two have {items} of {counted(instructions, 'instruction', 'instructions')} in common: too"
            " few to rank the same candidates by both.",
            f"Both need labels of the same items, of {FEW} instructions or more, that connect all"
            " candidates directly or through others.",
        )
    parts = []
    for comparisons in both:  # by one seed, so that both have the same draws
        parts.append((yield from bradley_terry(comparisons, seed, draws, cancel)))
    favoured = [np.sign(comparisons.scores - 0.5) for comparisons in both]
    same = (favoured[0] == favoured[1]).astype(np.float64)
    return TwoRankings(known, parts[0], parts[1], share(same.tolist(), known.instructions.tolist()))


def _shared(one: PairComparisons, other: PairComparisons) -> tuple[PairComparisons, PairComparisons]:
    """The comparisons of the first of which both said something, with what each said."""
    places: Mapping[str, int] = {item_id: place for place, item_id in enumerate(other.ids)}
    rows = [
        (place, places[item_id])
        for place, item_id in enumerate(one.ids)
        if item_id in places and one.known[place] and other.known[places[item_id]]
    ]
    for mine, theirs in rows:
        met = [
            (of.names[of.first[place]], of.names[of.second[place]])
            for of, place in ((one, mine), (other, theirs))
        ]
        if met[0] != met[1]:
            raise SetupError(
                f"Item {quoted(one.ids[mine])} is of {' and '.join(met[0])} in the one, and of"
                f" {' and '.join(met[1])} in the other.",
                "Compare rankings of one dataset.",
            )
    kept = np.array([mine for mine, _ in rows], dtype=np.int64)
    said = other.said[np.array([theirs for _, theirs in rows], dtype=np.int64)]
    shared = one.at(kept)
    return shared.without_absent(), shared.with_said(said).without_absent()
