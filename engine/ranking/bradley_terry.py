"""Bradley-Terry scores of candidates with ties, the uncertainty of their order, two rankings side by side.

Davidson's form of the model: with d the difference of the Bradley-Terry scores of two candidates,
P(first wins) : P(tie) : P(second wins) = exp(d / 2) : nu : exp(-d / 2). Sources: Bradley and Terry, Rank
Analysis of Incomplete Block Designs (1952); Davidson, On Extending the Bradley-Terry Model to Accommodate
Ties (1970).

What the likelihood needs of the comparisons of two candidates is how many there were, what was won, and how
many were tied: so a draw of the bootstrap is a sum of rows, and all draws of a chunk are fitted at once.

Long because the fit, its draws and what two rankings share are one idea, and no part is used alone.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import combinations

import numpy as np
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
_LONG_STEP = 0.5
_MOST_LOG_TIE = 700.0  # of nu, which has no end where nothing but ties was said; e^709 is no number any more
_EXACT = 1e-9
_LAST_STEP = 1e-6  # Newton's next step would be about its square
_NARROW = 32  # a band that LAPACK does in one piece, without threads
_MOST_NUMBERS = 2_000_000  # in memory at once, of each kind
_LEVEL = 0.05
_MEAN_ELO = 1500


@dataclass(frozen=True, eq=False)
class Meetings:
    """Which of how many candidates met: the places of those of each pair, (pairs,), `first` < `second`."""

    candidates: int
    first: IntArray
    second: IntArray

    @classmethod
    def of(cls, comparisons: PairComparisons) -> "Meetings":
        keys = np.unique(comparisons.pair_keys)
        return cls(len(comparisons.names), *np.divmod(keys, len(comparisons.names)))

    @cached_property
    def signs(self) -> sparse.csr_array:
        """1 for the first candidate of each pair, -1 for the second: shape (candidates, pairs)."""
        pairs = len(self.first)
        values = np.concatenate([np.ones(pairs), -np.ones(pairs)])
        at = np.concatenate([self.first, self.second]), np.tile(np.arange(pairs), 2)
        return sparse.coo_array((values, at), shape=(self.candidates, pairs)).tocsr()

    @cached_property
    def order(self) -> IntArray:
        """The candidates in an order in which those that met are near each other (Cuthill and McKee 1969)."""
        graph = abs(self.signs) @ abs(self.signs).T
        found = sparse.csgraph.reverse_cuthill_mckee(sparse.csr_array(graph), symmetric_mode=True)
        return np.asarray(found, np.int64)

    @cached_property
    def ends(self) -> tuple[IntArray, IntArray]:
        """The places of both candidates of each pair in `order`, the earlier one first: each (pairs,)."""
        places = np.argsort(self.order)
        low, high = np.sort(np.stack([places[self.first], places[self.second]]), axis=0)
        return low, high

    @cached_property
    def band(self) -> int | None:
        """How far apart in `order` two that met are at most, if near; None where that is of no use."""
        low, high = self.ends
        band = int((high - low).max(initial=0))
        return band if band < min(_NARROW, self.candidates / 2) else None


@dataclass(frozen=True, eq=False)
class Tallies:
    """By draw and pair of candidates that met: how many comparisons, what the first one won (half a tie), and
    how many were tied: `sums`, (3, draws, pairs).
    """

    met: Meetings
    sums: FloatArray

    def of_draws(self, draws: slice | BoolArray) -> "Tallies":
        return replace(self, sums=self.sums[:, draws])

    def parts(self) -> "Iterator[Tallies]":
        """Some draws at a time, as many as a few ten megabytes hold."""
        width = self.met.candidates if self.met.band is None else self.met.band + 1
        of_one = self.met.candidates * width + 8 * self.sums.shape[2]
        size = max(1, _MOST_NUMBERS // of_one)
        for start in range(0, self.sums.shape[1], size):
            yield self.of_draws(slice(start, start + size))


@dataclass(frozen=True, eq=False)
class BradleyTerryFit:
    """`bradley_terry`: natural-log odds, mean 0, (draws, candidates); `tie`: nu, 0 without ties, (draws,)."""

    bradley_terry: FloatArray
    tie: FloatArray

    @property
    def against_mean(self) -> FloatArray:
        """What each would win (0 to 1, half a tie) against a candidate of the mean score: shape as those."""
        return expected_score(self.bradley_terry, self.tie[:, None])

    @property
    def elo(self) -> FloatArray:
        """The scores as Elo ratings: 400 points are odds of 10 to 1 that the first wins rather than loses,
        the mean candidate has 1500. Shape as those.
        """
        return np.asarray(_MEAN_ELO + 400 / np.log(10) * self.bradley_terry)


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
        return self._estimates([each.against_mean for each in (self.fit, self.draws, self.plain)], 0.5)

    @cached_property
    def elo(self) -> dict[str, Estimate]:
        """The Elo rating of each candidate, with its 95 % interval by the same draws."""
        return self._estimates([each.elo for each in (self.fit, self.draws, self.plain)], _MEAN_ELO)

    def _estimates(self, values: Sequence[FloatArray], mean: float) -> dict[str, Estimate]:
        """Of values by `fit`, `draws` and `plain`; `mean`: of a candidate of the mean score."""
        from scipy.special import ndtr, stdtrit  # noqa: PLC0415

        tail = float(ndtr(self._wider * stdtrit(self._freedom, _LEVEL / 2)))
        (low, high), (plain_low, plain_high) = (
            np.quantile(each, (tail, 1 - tail), axis=0) for each in values[1:]
        )
        middle = values[0][0]
        # The two comparisons more pull whoever wins or loses nearly all towards one half.
        low = np.minimum.reduce([low, middle, np.where(middle < mean, plain_low, low)])
        high = np.maximum.reduce([high, middle, np.where(middle > mean, plain_high, high)])
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
        """The same with another chance (5 % at most) that any of all comparisons is wrong (Holm 1979)."""
        rows, columns, chances, pairs = self._chances
        order = np.argsort(chances, kind="stable")
        refused = chances[order] > level / (pairs - np.arange(len(order)))
        certain = order[: int(np.argmax(refused)) if refused.any() else len(order)]
        told: BoolArray = np.zeros((len(self.names), len(self.names)), dtype=np.bool_)
        told[rows[certain], columns[certain]] = True
        return told

    @cached_property
    def _chances(self) -> tuple[IntArray, IntArray, FloatArray, int]:
        """The places of pairs, the stronger one first; two-sided, the chance that their difference is none,
        from its draws, each (pairs,): of those that may differ significantly. Of how many pairs in all.
        """
        from scipy.special import stdtr, stdtrit  # noqa: PLC0415

        fit = self.fit.bradley_terry[0]
        drawn = np.ascontiguousarray(self.draws.bradley_terry.T)
        # With this many draws on the other side of 0, each as far from the median as it or further, nothing
        # is significant: of a thousand candidates nearly all pairs are seen to be open at once.
        most = len(drawn[0]) / 2 / (self._wider * float(stdtrit(self._freedom, _LEVEL / 2))) ** 2
        pairs, places, found = 0, [np.zeros((2, 0), np.int64)], [np.zeros((2, 0))]
        for row, score in enumerate(fit):
            weaker = np.flatnonzero(score > fit)
            pairs += len(weaker)
            losses = np.count_nonzero(drawn[weaker] >= drawn[row], axis=1)
            wins = np.count_nonzero(drawn[weaker] <= drawn[row], axis=1)
            weaker = weaker[np.minimum(losses, wins) <= most]
            places.append(np.stack([np.full(len(weaker), row), weaker]))
            found.append(_median_and_spread(drawn[row] - drawn[weaker]))
        (rows, columns), (middle, spread) = np.concatenate(places, axis=1), np.concatenate(found, axis=1)
        varies = spread > 0
        distance = np.divide(-np.abs(middle), self._wider * spread, where=varies, out=np.zeros_like(middle))
        # By Student's t: a thousand draws cannot show what is rarer than one in a thousand.
        chances = np.where(varies, 2 * stdtr(self._freedom, distance), 1.0)
        return rows, columns, chances, pairs

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
                allowed, group = alike[one] & alike[other], {one, other}
                for more in np.flatnonzero(allowed).tolist():
                    if allowed[more]:
                        group.add(more)
                        allowed &= alike[more]
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


def _median_and_spread(values: FloatArray) -> FloatArray:
    """Of each row the median, and the root mean square distance from it of the values on the side of 0, for
    the other one has no end where somebody won nearly all; 0 where none differs: shape (2, rows).
    """
    half = values.shape[1] // 2
    values = np.partition(values, (values.shape[1] - 1 - half, half), axis=1)
    middle = (values[:, values.shape[1] - 1 - half] + values[:, half]) / 2
    low, high = values[:, :half], values[:, values.shape[1] - half :]
    inner = np.where(middle[:, None] > 0, low, high) - middle[:, None]
    differing = np.maximum(np.count_nonzero(inner, axis=1), 1)
    return np.stack([middle, np.sqrt(np.sum(inner**2, axis=1) / differing)])


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
    known = comparisons.at(comparisons.known)
    _, sizes = np.unique(known.instructions, return_counts=True)
    worth = float(sizes.sum() ** 2 / (sizes**2).sum())
    met, sums = Meetings.of(known), sums_by_instruction(known, _columns(known))
    return bootstrapped(known.names, met, sums, len(sizes), worth, seed=seed, draws=draws, cancel=cancel)


def bootstrapped(
    names: tuple[str, ...],
    met: Meetings,
    sums: Callable[[FloatArray], FloatArray],
    count: int,
    instructions: float,
    *,
    seed: int = DEFAULT_SEED,
    draws: int = DRAWS,
    cancel: CancelToken | None = None,
) -> Generator[MeasureProgress, None, BradleyTerryScores]:
    """Of the `sums` of Tallies by how often each of `count` instructions counts, (draws, count).
    `instructions`: what they are worth. Of a candidate as many are tallied as labels say: each draw has two
    more.
    """
    fit = fitted(Tallies(met, sums(np.ones((1, count)))))
    random = np.random.default_rng(seed)
    of_draws, plain = [], []
    at_once = max(1, min(_AT_ONCE, 2 * _MOST_NUMBERS // len(met.first)))
    for done in range(0, draws, at_once):
        weights = _weights(random, count, min(at_once, draws - done))
        drawn = Tallies(met, np.concatenate([sums(some) for some in weights], axis=1))
        for with_unseen, part in zip(_with_unseen(drawn, random).parts(), drawn.parts(), strict=True):
            if cancel is not None:
                cancel.raise_if_requested()
            of_draws.append(fitted(with_unseen, fit))
            plain.append(fitted(part, of_draws[-1]))
            yield MeasureProgress(sum(len(each.tie) for each in plain), draws)
    return BradleyTerryScores(names, fit, _joined(of_draws), _joined(plain), instructions)


def _weights(random: np.random.Generator, count: int, draws: int) -> Iterator[FloatArray]:
    """How often each instruction is drawn, some draws at a time, which fit into memory: (draws, count)."""
    size = max(1, _MOST_NUMBERS // count)
    for start in range(0, draws, size):
        several = min(size, draws - start)
        yield random.multinomial(count, np.full(count, 1 / count), several).astype(np.float64)


def _joined(parts: Sequence[BradleyTerryFit]) -> BradleyTerryFit:
    return BradleyTerryFit(
        np.concatenate([part.bradley_terry for part in parts]), np.concatenate([part.tie for part in parts])
    )


def tallies_of(comparisons: PairComparisons) -> Tallies:
    """Of all comparisons of which something was said, as one draw."""
    known = comparisons.at(comparisons.known)
    sums = sums_by_instruction(known, _columns(known))
    return Tallies(Meetings.of(known), sums(np.ones((1, len(np.unique(known.instructions))))))


def _columns(known: PairComparisons) -> list[FloatArray]:
    """Of each comparison what Tallies sums."""
    return [np.ones(len(known)), won_by_lower(known), known.ties]


def sums_by_instruction(
    comparisons: PairComparisons, columns: Sequence[FloatArray]
) -> Callable[[FloatArray], FloatArray]:
    """Sums over the comparisons of each pair of `Meetings.of`, of some numbers of each, columns of shape
    (items,), by how often each instruction counts, (draws, instructions): (columns, draws, pairs).
    """
    _, rows = np.unique(comparisons.instructions, return_inverse=True)
    _, places = np.unique(comparisons.pair_keys, return_inverse=True)
    shape = (int(rows.max(initial=-1)) + 1, int(places.max(initial=-1)) + 1)
    of_each = [sparse.coo_array((column, (rows, places)), shape=shape).tocsr() for column in columns]
    together = sparse.hstack(of_each, format="csr")
    together.eliminate_zeros()

    def sums(weights: FloatArray) -> FloatArray:
        found = np.asarray(weights @ together).reshape(len(weights), len(columns), shape[1])
        return found.transpose(1, 0, 2)

    return sums


def won_by_lower(comparisons: PairComparisons) -> FloatArray:
    """What the candidate whose place is the lower one won, 0 to 1: shape (items,)."""
    won: FloatArray = np.where(
        comparisons.first > comparisons.second, 1 - comparisons.scores, comparisons.scores
    )
    return won


def _with_unseen(drawn: Tallies, random: np.random.Generator) -> Tallies:
    """The same with two comparisons more of each candidate, spread over whom it met: one won by half, one by
    whom a coin says. Else of few comparisons that all end alike each draw would say the same, and be sure.
    """
    first, second = drawn.met.first, drawn.met.second
    met = np.bincount(np.concatenate([first, second]), minlength=drawn.met.candidates)
    for_coin = np.broadcast_to(0.5 / met[first] + 0.5 / met[second], drawn.sums[0].shape)
    coins = random.integers(0, 2, drawn.sums[0].shape)
    more = np.stack([2 * for_coin, for_coin * (coins + 0.5), np.zeros_like(for_coin)])
    return replace(drawn, sums=drawn.sums + more)


def fitted(tallies: Tallies, start: BradleyTerryFit | None = None) -> BradleyTerryFit:
    """The largest likelihood of each draw, by Newton's method; `start`: from where, one of all or of each."""
    model = _Davidson(tallies)
    here = model.look(np.zeros((tallies.met.candidates + 1, tallies.sums.shape[1])))
    if start is not None:
        near = np.concatenate([start.bradley_terry.T, np.log(np.maximum(start.tie, 1e-3))[None]])
        # Of a few comparisons with no largest likelihood, the whole is far off from its parts.
        here = model.look(np.where(model.look(near + here.at).value > here.value, near, here.at))
    for _ in range(_MOST_STEPS):
        step = model.step(here)
        here = model.climbed(here, step)
        moving = np.abs(step).max(axis=0) >= _LAST_STEP
        if 2 * np.count_nonzero(moving) <= len(moving):
            break
    else:
        moving = np.zeros(0, np.bool_)
    free = here.at[:-1] - here.at[:-1].mean(axis=0)
    ties = np.exp(np.minimum(here.at[-1], _MOST_LOG_TIE))
    found = BradleyTerryFit(np.ascontiguousarray(free.T), np.where(model.has_ties, ties, 0.0))
    if moving.any():  # a few go far: the others are not asked with each step
        rest = fitted(tallies.of_draws(moving), BradleyTerryFit(free.T[moving], found.tie[moving]))
        found.bradley_terry[moving], found.tie[moving] = rest.bradley_terry, rest.tie
    return found


@dataclass(frozen=True, eq=False)
class _Outlook:
    """The likelihood where parameters are `at`. `value`: its logarithm, with what is taken off it, (draws,).
    `lead`, `tie`, `own`: half the chance of a win less that of a loss, the chance of a tie, and by how much
    `lead` rises with the difference of scores, (pairs, draws).
    """

    at: FloatArray
    value: FloatArray
    lead: FloatArray
    tie: FloatArray
    own: FloatArray


class _Davidson:
    """The likelihood of some draws. Parameters: shape (candidates + 1, draws), the last one log nu."""

    def __init__(self, tallies: Tallies) -> None:
        self._met = tallies.met
        # Draws last: sums over pairs run along whole rows of memory, three times as fast as the other way.
        self._count, won, tied = np.ascontiguousarray(tallies.sums.transpose(0, 2, 1))
        self._sums = self._met.signs @ (won - self._count / 2)
        self._tied = tied.sum(axis=0)
        self.has_ties: BoolArray = self._tied > 0
        self._ridge = _RIDGE * np.maximum(self._count.sum(axis=0), 1.0)

    def look(self, at: FloatArray) -> _Outlook:
        difference = at[self._met.first] - at[self._met.second]
        far = np.abs(difference)
        near = np.exp(-far / 2)
        tie = np.where(self.has_ties, np.exp(np.minimum(at[-1], _MOST_LOG_TIE)), 0.0) * near
        loss = near**2
        # A win of the stronger one: a tie : a loss = 1 : tie : loss, of which this is the sum.
        whole = 1 + tie + loss
        gained = (self._sums * at[:-1]).sum(axis=0) + np.where(self.has_ties, self._tied * at[-1], 0.0)
        lost = (self._count * (far / 2 + np.log(whole))).sum(axis=0) + self._ridge / 2 * (at**2).sum(axis=0)
        tie /= whole
        lead = np.copysign((1 - loss) / whole / 2, difference)
        own = (1 + loss) / whole * tie / 4 + loss / whole / whole
        return _Outlook(at, gained - lost, lead, tie, own)

    def step(self, here: _Outlook) -> FloatArray:
        """Newton's step: by the gradient, and the Hessian with its sign turned, positive definite."""
        met, count = self._met, self._count
        slope = self._sums - met.signs @ (count * here.lead) - self._ridge * here.at[:-1]
        tied = count * here.tie
        mixed = met.signs @ (tied * -here.lead)
        own = count * here.own
        bend = abs(met.signs) @ own + self._ridge
        moved = np.stack([slope, mixed], axis=-1)
        moved[met.order] = _solved(met, bend[met.order], own, moved[met.order])
        tie_slope = self._tied - tied.sum(axis=0) - self._ridge * here.at[-1]
        tie_bend = (tied * (1 - here.tie)).sum(axis=0) + self._ridge
        along, across = moved[..., 0], moved[..., 1]
        more = (tie_slope - (mixed * along).sum(axis=0)) / (tie_bend - (mixed * across).sum(axis=0))
        more = np.where(self.has_ties, more, 0.0)  # where nobody tied, log nu stays
        free = along - more * across
        return np.vstack([free - free.mean(axis=0), more])  # nothing is known of the mean

    def climbed(self, here: _Outlook, step: FloatArray) -> _Outlook:
        """A step further, halved where it would lead down, or else doubled while that leads further up: of
        somebody who won all, whose score is far off, Newton's steps are about 1.
        """
        # Of two that met: in a long chain scores move far together.
        apart = np.abs(step[self._met.first] - step[self._met.second]).max(axis=0, initial=_EXACT)
        size = np.maximum(apart, np.abs(step[-1]))
        scale = np.minimum(1.0, _LARGEST_STEP / size)
        found, least = self.look(here.at + scale * step), here.value - 1e-9 * np.abs(here.value) - 1e-12
        for _ in range(30):
            lower = found.value < least
            if not lower.any():
                break
            scale[lower] /= 2
            found = self.look(here.at + scale * step)
        while (far := (scale * size > _LONG_STEP) & (scale * size < _LARGEST_STEP)).any():
            further = self.look(here.at + np.where(far, 2 * scale, scale) * step)
            far &= further.value > found.value
            if not far.any():
                break
            scale[far] *= 2
            found = self.look(here.at + scale * step)
        return found


def _solved(met: Meetings, diagonal: FloatArray, pairs: FloatArray, sides: FloatArray) -> FloatArray:
    """The solutions, shape of `sides`, (candidates, draws, 2), of as many systems of equations as draws, with
    a symmetric matrix each: its `diagonal`, (candidates, draws), and less `pairs`, (pairs, draws), where two
    candidates met, all in `met.order`.
    """
    from scipy.linalg.lapack import dpbsv, dposv  # noqa: PLC0415

    # One draw after another: LAPACK starts threads for larger matrices, which cost more than they bring.
    low, high = met.ends
    places = np.arange(met.candidates)
    whole = met.band is None
    lower = np.zeros((len(diagonal[0]), met.candidates, met.candidates if met.band is None else met.band + 1))
    lower[:, low, high if whole else high - low] = -pairs.T
    lower[:, places, places if whole else 0] = diagonal.T
    solve = dposv if whole else dpbsv
    found = np.empty_like(sides)
    for draw, of_draw in enumerate(lower):
        _, found[:, draw], failed = solve(of_draw.T, sides[:, draw], lower=1)
        if failed:
            raise np.linalg.LinAlgError(f"Hessian not positive definite: {failed}")
    return found


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
