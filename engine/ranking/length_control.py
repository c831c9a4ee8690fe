"""Win rates as they would be if both responses of each comparison were equally long. A logistic regression of
what was won on the candidates and the difference of lengths, after Dubois and others, Length-Controlled
AlpacaEval (2024). It has a score of each candidate, one effect of tanh(difference of characters / its
spread), and, where all candidates meet one baseline, how hard that is to beat on each instruction, shrunk
towards the mean. AlpacaEval fits an effect of length for each candidate, held near by two artificial
candidates; one effect for all of them needs no such help.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, stdtrit

from engine.core.numeric import FloatArray, IntArray
from engine.core.tables import Estimate
from engine.metrics.intervals import FEW, OverInstructions, share
from engine.ranking.comparisons import PairComparisons

_RIDGE = 1e-8
_SPREAD_OF_INSTRUCTIONS = 1.0
"""The prior standard deviation, in log odds, of how hard a baseline is to beat."""
_TAIL = 0.025
_LARGEST_EFFECT = 10.0  # log odds: beyond, lengths and candidates are confounded
_MOST_STEPS = 100
_LARGEST_STEP = 4.0
_EXACT = 1e-9


@dataclass(frozen=True)
class LengthControl:
    """`rates`: what each candidate would win at equal length, 0 to 1, none where lengths and candidates are
    confounded. `effect`: log odds by which a much longer response wins, with `effect_ends`. `longer_won`: how
    often it did, half a tie, where lengths differ.
    """

    rates: Mapping[str, Estimate]
    effect: float
    effect_ends: tuple[float, float]
    longer_won: Estimate


def length_control(comparisons: PairComparisons) -> LengthControl | None:
    """Of labelled comparisons; None for fewer than FEW instructions, and where all lengths are the same."""
    known = comparisons.at(comparisons.known)
    differences = known.lengths[:, 0] - known.lengths[:, 1]
    groups = len(np.unique(known.instructions))
    if groups < FEW or not differences.any():
        return None
    model = _Model(known, np.tanh(differences / np.sqrt(np.mean(differences**2))))
    at = model.fitted()
    pulls = model.pulls(at)
    half = float(stdtrit(groups - 1, 1 - _TAIL))
    effect, error = float(at.shared[-1]), float(np.sqrt(np.sum(pulls.shared[:, -1] ** 2)))
    rates: dict[str, Estimate] = {}
    for place, name in enumerate(known.names if abs(effect) < _LARGEST_EFFECT else ()):
        if (found := model.rate(at, pulls, place)) is not None:
            rates[name] = Estimate(found.mean, found.score_interval())
    places = np.flatnonzero(differences)
    won = np.where(differences > 0, known.scores, 1 - known.scores)[places]
    longer_won = share(won.tolist(), known.instructions[places].tolist())
    return LengthControl(rates, effect, (effect - half * error, effect + half * error), longer_won)


@dataclass(frozen=True, eq=False)
class _Parameters:
    """`shared`: of the candidates and of length, the last axis; `own`: of each instruction."""

    shared: FloatArray
    own: FloatArray


class _Model:
    """Log odds that A wins: shared columns, and one number for each instruction where there is a baseline."""

    def __init__(self, known: PairComparisons, lengths: FloatArray) -> None:
        self._known = known
        _, groups = np.unique(known.instructions, return_inverse=True)
        self._groups: IntArray = groups
        self._count = int(groups.max()) + 1
        rows = np.arange(len(known))
        self._columns = np.zeros((len(known), len(known.names) + 1))
        self._columns[rows, known.first] += 1.0
        self._columns[rows, known.second] -= 1.0
        self._columns[:, -1] = lengths
        # A's side of what an instruction does: for the candidate, against the baseline, which stands in every
        # comparison. Of two candidates either would do, and one comparison an instruction says nothing of it.
        self._sides = np.zeros(len(known))
        for place in {int(known.first[0]), int(known.second[0])} if len(known.names) > 2 else ():
            if bool(np.all((known.first == place) | (known.second == place))):
                self._sides = np.where(known.second == place, 1.0, -1.0)
                break

    def _odds(self, at: _Parameters) -> FloatArray:
        return np.asarray(self._columns @ at.shared + self._sides * at.own[self._groups])

    def _by_instruction(self, rows: FloatArray) -> FloatArray:
        """Sums over the comparisons of each instruction: shape (instructions, ...)."""
        sums = np.zeros((self._count, *rows.shape[1:]))
        np.add.at(sums, self._groups, rows)
        return sums

    def fitted(self) -> _Parameters:
        """The largest penalised likelihood, by Newton's method."""
        at = _Parameters(np.zeros(self._columns.shape[1]), np.zeros(self._count))
        for _ in range(_MOST_STEPS):
            miss = self._known.scores - expit(self._odds(at))
            bend, mixed, own = self._bends(at)
            slope = self._columns.T @ miss - _RIDGE * len(miss) * at.shared
            own_slope = self._by_instruction(self._sides * miss) - at.own / _SPREAD_OF_INSTRUCTIONS**2
            step = np.linalg.solve(
                bend - (mixed / own[:, None]).T @ mixed, slope - mixed.T @ (own_slope / own)
            )
            own_step = (own_slope - mixed @ step) / own
            largest = max(float(np.abs(step).max()), float(np.abs(own_step).max()))
            scale = min(1.0, _LARGEST_STEP / largest) if largest > 0 else 1.0
            at = _Parameters(at.shared + scale * step, at.own + scale * own_step)
            if largest < _EXACT:
                break
        return at

    def _bends(self, at: _Parameters) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The Hessian's negative: shared by shared, instruction by shared, the instructions' diagonal."""
        chance = expit(self._odds(at))
        weights = chance * (1 - chance)
        weighed = self._columns * weights[:, None]
        ridge = _RIDGE * len(weights) * np.eye(self._columns.shape[1])
        own = self._by_instruction(weights * self._sides**2) + 1 / _SPREAD_OF_INSTRUCTIONS**2
        mixed = self._by_instruction(weighed * self._sides[:, None])
        return weighed.T @ self._columns + ridge, mixed, own

    def pulls(self, at: _Parameters) -> _Parameters:
        """By how much each instruction moves the shared parameters, and how its own number (`own`) follows
        these: (instructions, parameters). Its own slope is 0 at the largest likelihood.
        """
        bend, mixed, own = self._bends(at)
        follow = -mixed / own[:, None]
        # An instruction's own slope is 0 at the largest likelihood: the shared ones alone move anything.
        slopes = self._by_instruction(self._columns * (self._known.scores - expit(self._odds(at)))[:, None])
        count = self._count
        moved = np.linalg.solve(bend + mixed.T @ follow, slopes.T).T * np.sqrt(count / (count - 1))
        return _Parameters(moved, follow)

    def rate(self, at: _Parameters, pulls: _Parameters, candidate: int) -> OverInstructions | None:
        """What a candidate would win at equal length in its own comparisons; None without any."""
        known = self._known
        sign = (known.first == candidate) * 1.0 - (known.second == candidate)
        places = np.flatnonzero(sign)
        if not len(places):
            return None
        even = _Parameters(np.append(at.shared[:-1], 0.0), at.own)
        chance = expit(sign * self._odds(even))[places]
        rate = float(chance.mean())
        moves = self._columns + self._sides[:, None] * pulls.own[self._groups]
        moves[:, -1] -= self._columns[:, -1]
        slope = (sign[places] * chance * (1 - chance)) @ moves[places] / len(places)
        groups = self._groups[places]
        around = np.bincount(groups, chance - rate, self._count) / len(places)
        return OverInstructions.of_pulls(
            rate,
            (around + pulls.shared @ slope).tolist(),
            (np.bincount(groups, minlength=self._count) / len(places)).tolist(),
            range(self._count),
        )
