"""Bradley-Terry scores of candidates with ties, the uncertainty of their order, two rankings side by side.

Davidson's form of the model: with d the difference of the Bradley-Terry scores of two candidates,
P(first wins) : P(tie) : P(second wins) = exp(d / 2) : nu : exp(-d / 2). Sources: Bradley and Terry, Rank
Analysis of Incomplete Block Designs (1952); Davidson, On Extending the Bradley-Terry Model to Accommodate
Ties (1970).

What the likelihood needs of the comparisons of two candidates is how many there were, what was won, and how
many were tied: so a draw of the bootstrap is a sum of rows, and all draws of a chunk are fitted at once.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from engine.core.errors import SetupError
from engine.core.events import CancelToken, MeasureProgress
from engine.core.formatting import counted, quoted
from engine.core.numeric import BoolArray, FloatArray, IntArray
from engine.core.tables import Estimate
from engine.metrics.intervals import FEW, share
from engine.ranking.comparisons import PairComparisons
from engine.settings.sampling import DEFAULT_SEED

DRAWS = 1000
_AT_ONCE = 100
_RIDGE = 1e-8
"""L2 penalty: this times half the squared scores is subtracted from the log-likelihood, so scores stay finite
if a candidate won all."""
_MOST_STEPS = 100
_LARGEST_STEP = 4.0
_MOST_LOG_TIE = 700.0  # of nu, which has no end where nothing but ties was said; e^709 is no number any more
_EXACT = 1e-9
_LEVEL = 0.05


@dataclass(frozen=True, eq=False)
class Tallies:
    """By draw and pair of candidates that met. `first`, `second`: their places, (pairs,), first < second.
    `comparisons`, `won`, `tied`: how many, what `first` won (half a tie), and ties: (draws, pairs).
    """

    candidates: int
    first: IntArray
    second: IntArray
    comparisons: FloatArray
    won: FloatArray
    tied: FloatArray


@dataclass(frozen=True, eq=False)
class BradleyTerryFit:
    """`bradley_terry`: natural-log odds, mean 0, (draws, candidates); `tie`: nu, 0 without ties, (draws,)."""

    bradley_terry: FloatArray
    tie: FloatArray

    @property
    def against_mean(self) -> FloatArray:
        """What each would win (0 to 1, half a tie) against a candidate of the mean score: shape as those."""
        return expected_score(self.bradley_terry, self.tie[:, None])


@dataclass(frozen=True, eq=False)
class BradleyTerryScores:
    """`fit`: to all comparisons; `draws`: to resamples of the instructions, with two comparisons more of each
    candidate; `plain`: without these. `instructions`: how many of equal size would say as much (Kish).
    """

    names: tuple[str, ...]
    fit: BradleyTerryFit
    draws: BradleyTerryFit
    plain: BradleyTerryFit
    instructions: float

    @cached_property
    def scores(self) -> dict[str, Estimate]:
        """What each candidate would win against one of the mean score, 0 to 1, with its 95 % interval.
        Expanded percentiles: as far out as Student's t asks for. Source: Hesterberg, What Teachers Should
        Know About the Bootstrap (2015).
        """
        from scipy.special import ndtr, stdtrit  # noqa: PLC0415

        tail = float(ndtr(self._wider * stdtrit(self._freedom, _LEVEL / 2)))
        (low, high), (plain_low, plain_high) = (
            np.quantile(each.against_mean, (tail, 1 - tail), axis=0) for each in (self.draws, self.plain)
        )
        middle = self.fit.against_mean[0]
        # The two comparisons more pull whoever wins or loses nearly all towards one half.
        low = np.minimum.reduce([low, middle, np.where(middle < 0.5, plain_low, low)])
        high = np.maximum.reduce([high, middle, np.where(middle > 0.5, plain_high, high)])
        return {
            name: Estimate(float(middle[place]), (float(low[place]), float(high[place])))
            for place, name in enumerate(self.names)
        }

    @property
    def equals_tie(self) -> float:
        """How often two equal candidates tie by the model, 0 to 1. Near 1 there is hardly a largest
        likelihood: where somebody never loses and often ties, nu and its score grow without end.
        """
        tie = float(self.fit.tie[0])
        return tie / (tie + 2)

    @cached_property
    def better(self) -> BoolArray:
        """Which row is significantly stronger than which column: 5 % at most that any is wrong."""
        return self.told_apart(_LEVEL)

    def told_apart(self, level: float) -> BoolArray:
        """The same with another chance (0 to 1) that any of all comparisons is wrong (Holm 1979)."""
        count = len(self.names)
        above = self.fit.bradley_terry[0][:, None] > self.fit.bradley_terry[0][None, :]
        drawn = self.draws.bradley_terry
        told: BoolArray = np.zeros((count, count), dtype=np.bool_)
        pairs = [(i, j) for i in range(count) for j in range(count) if above[i, j]]
        chances = {(i, j): self._chance(drawn[:, i] - drawn[:, j]) for i, j in pairs}
        for rank, (pair, chance) in enumerate(sorted(chances.items(), key=lambda found: found[1])):
            if chance > level / (len(pairs) - rank):
                break
            told[pair] = True
        return told

    def _chance(self, differences: FloatArray) -> float:
        """Two-sided, that a difference is none, from its draws."""
        from scipy.special import stdtr  # noqa: PLC0415

        middle = float(np.median(differences))
        # On the side of 0: the other one has no end where somebody won nearly all.
        inner = differences[(differences < middle) if middle > 0 else (differences > middle)]
        if not len(inner):
            return 1.0
        spread = self._wider * float(np.sqrt(np.mean((inner - middle) ** 2)))
        # By Student's t: a thousand draws cannot show what is rarer than one in a thousand.
        return 2 * float(stdtr(self._freedom, -abs(middle) / spread))

    @property
    def _freedom(self) -> float:
        return max(self.instructions - 1, 1.0)

    @property
    def _wider(self) -> float:
        """By how much the spread of draws is too small: a draw repeats instructions."""
        return float(np.sqrt(self.instructions / self._freedom))

    @cached_property
    def ranks(self) -> dict[str, tuple[int, int]]:
        """The best and worst rank (1 the best): after all significantly stronger ones, before all weaker."""
        return self.ranks_by(self.better)

    def ranks_by(self, better: BoolArray) -> dict[str, tuple[int, int]]:
        """The same by what `told_apart` gave at another level."""
        ends = zip(1 + better.sum(axis=0), len(self.names) - better.sum(axis=1), strict=True)
        return {name: (int(best), int(worst)) for name, (best, worst) in zip(self.names, ends, strict=True)}

    @cached_property
    def order(self) -> list[str]:
        return [self.names[place] for place in np.argsort(-self.fit.bradley_terry[0], kind="stable")]

    @cached_property
    def groups(self) -> list[list[str]]:
        """Candidates of which no two differ significantly, each group as large as can be, in the order of
        score: two stand together in one or several exactly where they do not differ significantly. They need
        not be neighbours: one that met few others may be told from nobody. Groups are added until each two
        have one, not all that there are, which may be very many (Piepho, An Algorithm for a Letter-Based
        Representation of All-Pairwise Comparisons, 2004, has the letters).
        """
        places = [self.names.index(name) for name in self.order]
        alike = ~(self.better | self.better.T)[np.ix_(places, places)]
        together = np.zeros_like(alike)
        found: list[list[str]] = []
        for one, other in np.argwhere(np.triu(alike)).tolist():
            if not together[one, other]:
                group = {one, other}
                for more in range(len(places)):
                    if all(alike[more, member] for member in group):
                        group.add(more)
                rows = sorted(group)
                together[np.ix_(rows, rows)] = True
                found.append([self.order[row] for row in rows])
        return found

    @property
    def are_equal(self) -> bool:
        """Whether all are equally strong, but for rounding."""
        return float(np.ptp(self.fit.bradley_terry[0])) < 10 * _EXACT

    @cached_property
    def rivals(self) -> list[str]:
        best, *others = self.order
        beaten = self.better[self.names.index(best)]
        return [name for name in others if not beaten[self.names.index(name)]]


def rank_in_words(ranks: tuple[int, int]) -> str:
    """The best and the worst rank that a candidate may have: `2`, `2 to 4`."""
    best, worst = ranks
    return str(best) if best == worst else f"{best} to {worst}"


def expected_score(difference: FloatArray, tie: FloatArray) -> FloatArray:
    """What a candidate wins (0 to 1, half a tie) against one that is weaker by `difference`."""
    win, loss = np.exp(difference / 2), np.exp(-difference / 2)
    return np.asarray((win + tie / 2) / (win + tie + loss))


def bradley_terry(
    comparisons: PairComparisons,
    seed: int = DEFAULT_SEED,
    draws: int = DRAWS,
    cancel: CancelToken | None = None,
) -> Generator[MeasureProgress, None, BradleyTerryScores]:
    """Of candidates that labelled comparisons all hold together; tells how many draws are done. Cancelled."""
    tallied, sizes = _tallying(comparisons)
    worth = float(sizes.sum() ** 2 / (sizes**2).sum())
    return bootstrapped(comparisons.names, tallied, len(sizes), worth, seed=seed, draws=draws, cancel=cancel)


def bootstrapped(
    names: tuple[str, ...],
    tallied: Callable[[FloatArray], Tallies],
    count: int,
    instructions: float,
    *,
    seed: int = DEFAULT_SEED,
    draws: int = DRAWS,
    cancel: CancelToken | None = None,
) -> Generator[MeasureProgress, None, BradleyTerryScores]:
    """Of what is `tallied` by how often each of `count` instructions counts, (draws, count). `instructions`:
    what they are worth. Of a candidate as many are tallied as labels say: each draw has two more.
    """
    fit = fitted(tallied(np.ones((1, count))))
    random = np.random.default_rng(seed)
    parts: list[tuple[BradleyTerryFit, BradleyTerryFit]] = []
    for done in range(0, draws, _AT_ONCE):
        if cancel is not None:
            cancel.raise_if_requested()
        weights = random.multinomial(count, np.full(count, 1 / count), min(_AT_ONCE, draws - done))
        drawn = tallied(weights.astype(np.float64))
        parts.append((fitted(_with_unseen(drawn, random), fit), fitted(drawn, fit)))
        yield MeasureProgress(min(done + _AT_ONCE, draws), draws)
    with_unseen, plain = (
        BradleyTerryFit(
            np.concatenate([one.bradley_terry for one in of]), np.concatenate([one.tie for one in of])
        )
        for of in zip(*parts, strict=True)
    )
    return BradleyTerryScores(names, fit, with_unseen, plain, instructions)


def tallies_of(comparisons: PairComparisons) -> Tallies:
    """Of all comparisons of which something was said, as one draw."""
    tallied, sizes = _tallying(comparisons)
    return tallied(np.ones((1, len(sizes))))


def _tallying(comparisons: PairComparisons) -> tuple[Callable[[FloatArray], Tallies], FloatArray]:
    """How comparisons of which something was said are tallied by how often each instruction was drawn,
    (draws, instructions); and how many each instruction has, (instructions,).
    """
    known = comparisons.at(comparisons.known)
    sums = sums_by_instruction(known, [np.ones(len(known)), won_by_lower(known), known.ties])
    first, second = pairs_met(known)

    def tallied(weights: FloatArray) -> Tallies:
        return Tallies(len(known.names), first, second, *(np.asarray(weights @ each) for each in sums))

    return tallied, np.asarray(sums[0].sum(axis=1))


Sums = list[sparse.csr_array]
"""Summed numbers of items, each of shape (instructions, compared pairs of candidates)."""


def sums_by_instruction(comparisons: PairComparisons, columns: Sequence[FloatArray]) -> Sums:
    """Of some numbers of each item, columns of shape (items,); the pairs are those of `pairs_met`."""
    _, rows = np.unique(comparisons.instructions, return_inverse=True)
    _, places = np.unique(_pair_keys(comparisons), return_inverse=True)
    shape = (int(rows.max(initial=-1)) + 1, int(places.max(initial=-1)) + 1)
    return [sparse.coo_array((column, (rows, places)), shape=shape).tocsr() for column in columns]


def pairs_met(comparisons: PairComparisons) -> tuple[IntArray, IntArray]:
    """The places of the candidates of each pair that met, the lower one first: each of shape (pairs,)."""
    low, high = np.divmod(np.unique(_pair_keys(comparisons)), len(comparisons.names))
    return low, high


def won_by_lower(comparisons: PairComparisons) -> FloatArray:
    """What the candidate whose place is the lower one won, 0 to 1: shape (items,)."""
    won: FloatArray = np.where(
        comparisons.first > comparisons.second, 1 - comparisons.scores, comparisons.scores
    )
    return won


def _pair_keys(comparisons: PairComparisons) -> IntArray:
    """A number for each pair of candidates, whichever stood first: shape (items,)."""
    sides = np.sort(np.stack([comparisons.first, comparisons.second]), axis=0)
    return np.asarray(sides[0] * len(comparisons.names) + sides[1])


def _with_unseen(drawn: Tallies, random: np.random.Generator) -> Tallies:
    """The same with two comparisons more of each candidate, spread over whom it met: one won by half, one by
    whom a coin says. Else of few comparisons that all end alike each draw would say the same, and be sure.
    """
    met = np.bincount(np.concatenate([drawn.first, drawn.second]), minlength=drawn.candidates)
    for_coin = np.broadcast_to(0.5 / met[drawn.first] + 0.5 / met[drawn.second], drawn.comparisons.shape)
    coins = random.integers(0, 2, drawn.comparisons.shape)
    return replace(
        drawn, comparisons=drawn.comparisons + 2 * for_coin, won=drawn.won + for_coin * (coins + 0.5)
    )


def fitted(tallies: Tallies, start: BradleyTerryFit | None = None) -> BradleyTerryFit:
    """The largest likelihood of each draw, by Newton's method; `start`: from where, a single fit."""
    model = _Davidson(tallies)
    draws, size = model.draws, tallies.candidates + 1
    at = np.zeros((draws, size))
    if start is not None:
        at[:, :-1] = start.bradley_terry[0]
        at[:, -1] = np.log(max(float(start.tie[0]), 1e-3))
    for _ in range(_MOST_STEPS):
        slope, bend = model.slope_and_bend(at)
        step = np.linalg.solve(bend, slope[..., None])[..., 0]
        step[:, :-1] -= step[:, :-1].mean(axis=1, keepdims=True)  # in which direction nothing is known
        largest = np.abs(step).max(axis=1, keepdims=True)
        at = model.climbed(at, step * np.minimum(1.0, _LARGEST_STEP / np.maximum(largest, _EXACT)))
        if float(largest.max()) < _EXACT:
            break
    free = at[:, :-1] - at[:, :-1].mean(axis=1, keepdims=True)
    ties = np.exp(np.minimum(at[:, -1], _MOST_LOG_TIE))
    return BradleyTerryFit(free, np.where(model.has_ties, ties, 0.0))


class _Davidson:
    """The likelihood of some draws. Parameters: shape (draws, candidates + 1), the last one log nu."""

    def __init__(self, tallies: Tallies) -> None:
        self._tallies = tallies
        self.draws, self._pairs = tallies.comparisons.shape
        self.has_ties: BoolArray = tallies.tied.sum(axis=1) > 0
        signs = np.zeros((self._pairs, tallies.candidates))
        at = np.arange(self._pairs)
        signs[at, tallies.first], signs[at, tallies.second] = 1.0, -1.0
        self._signs = signs
        self._sums = (tallies.won - tallies.comparisons / 2) @ signs
        self._tied = tallies.tied.sum(axis=1)
        self._ridge = _RIDGE * np.maximum(tallies.comparisons.sum(axis=1), 1.0)

    def _odds(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        half = at[:, :-1] @ self._signs.T / 2
        return half, np.broadcast_to(np.where(self.has_ties, at[:, -1], -np.inf)[:, None], half.shape)

    def _chances(self, at: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Of a win, a tie, a loss: each of shape (draws, pairs)."""
        half, tie = self._odds(at)
        logs = np.stack([half, tie, -half])
        shares = np.exp(logs - logs.max(axis=0))
        shares /= shares.sum(axis=0)
        return shares[0], shares[1], shares[2]

    def value(self, at: FloatArray) -> FloatArray:
        """The logarithm of the likelihood, with what is taken off it: shape (draws,)."""
        half, tie = self._odds(at)
        logs = np.logaddexp(np.logaddexp(half, -half), tie)
        gained = (self._sums * at[:, :-1]).sum(axis=1) + np.where(self.has_ties, self._tied * at[:, -1], 0.0)
        lost = (self._tallies.comparisons * logs).sum(axis=1) + self._ridge / 2 * (at**2).sum(axis=1)
        return np.asarray(gained - lost)

    def slope_and_bend(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The gradient, and the Hessian with its sign turned, positive definite."""
        win, tie, loss = self._chances(at)
        count = self._tallies.comparisons
        lead = (win - loss) / 2
        slope = np.empty_like(at)
        slope[:, :-1] = self._sums - (count * lead) @ self._signs
        slope[:, -1] = self._tied - (count * tie).sum(axis=1)
        own = count * ((win + loss) / 4 - lead**2)
        mixed = -(count * lead * tie) @ self._signs
        size = at.shape[1]
        bend = np.zeros((self.draws, size, size))
        bend[:, :-1, :-1] = np.einsum("dp,pi,pj->dij", own, self._signs, self._signs, optimize=True)
        bend[:, :-1, -1] = bend[:, -1, :-1] = mixed
        bend[:, -1, -1] = (count * tie * (1 - tie)).sum(axis=1)
        slope -= self._ridge[:, None] * at
        bend[:, np.arange(size), np.arange(size)] += self._ridge[:, None]
        slope[~self.has_ties, -1] = 0.0  # where nobody tied, log nu stays
        bend[~self.has_ties, -1, :] = bend[~self.has_ties, :, -1] = 0.0
        bend[~self.has_ties, -1, -1] = 1.0
        return slope, bend

    def climbed(self, at: FloatArray, step: npt.NDArray[np.floating[Any]]) -> FloatArray:
        """A step further, halved where it would lead down."""
        before, scale = self.value(at), np.ones(self.draws)
        for _ in range(30):
            lower = self.value(at + scale[:, None] * step) < before - 1e-9 * np.abs(before) - 1e-12
            if not lower.any():
                break
            scale[lower] /= 2
        return at + scale[:, None] * step


_DIGITS = 9
"""Bradley-Terry scores are equal if they are equal to this many decimals."""


class PairTold(StrEnum):
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
    """By each, of the same `comparisons` and draws of instructions; `same_side`: on what share (0 to 1) both
    favour the same candidate, or neither any.
    """

    comparisons: PairComparisons
    one: BradleyTerryScores
    other: BradleyTerryScores
    same_side: Estimate

    @cached_property
    def tau(self) -> float | None:
        """Kendall's tau-b (1945) of the Bradley-Terry scores, -1 to 1; None where all of one are equal."""
        from scipy.stats import kendalltau  # noqa: PLC0415

        found = float(kendalltau(*self._strengths).statistic)
        return None if np.isnan(found) else found

    @cached_property
    def tau_ends(self) -> tuple[float, float]:
        """Its interval, 95 % or more: all open pairs may be alike, or swapped. The percentiles of a
        bootstrap, whose noise swaps close candidates, held a tau of 1 of ten candidates in 0 to 73 % of
        simulations.
        """
        told = [pair.told for pair in self.pairs]
        sure = told.count(PairTold.ALIKE) - told.count(PairTold.SWAPPED)
        unsure = told.count(PairTold.OPEN)
        return (sure - unsure) / len(told), (sure + unsure) / len(told)

    @cached_property
    def pairs(self) -> list[PairPlaces]:
        """All pairs of candidates, the swapped ones first, of these the significant ones."""
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
        return [pair for pair in self.pairs if pair.swapped]


def side_by_side(
    one: PairComparisons,
    other: PairComparisons,
    seed: int = DEFAULT_SEED,
    cancel: CancelToken | None = None,
    draws: int = DRAWS,
) -> Generator[MeasureProgress, None, TwoRankings]:
    """Of comparisons, by ids, of which both said something; tells its draws. SetupError where these are too
    few, not connected, or of other candidates under the same ids; Cancelled.
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
    one, other = one.at(one.known), other.at(other.known)
    places = {item_id: place for place, item_id in enumerate(other.ids)}
    shared = one.at(np.array([item_id in places for item_id in one.ids], np.bool_))
    also = other.at(np.array([places[item_id] for item_id in shared.ids], np.int64))
    for row, item_id in enumerate(shared.ids):
        met, there = (f"{of.names[of.first[row]]} and {of.names[of.second[row]]}" for of in (shared, also))
        if met != there:
            raise SetupError(
                f"Item {quoted(item_id)} is of {met} in the one, and of {there} in the other.",
                "Compare rankings of one dataset.",
            )
    return shared.without_absent(), shared.with_said(also.said).without_absent()
