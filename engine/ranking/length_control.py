"""Win rates as they would be if both responses of each comparison were equally long. A logistic regression of
what was won on the candidates and the difference of lengths, after Dubois and others, Length-Controlled
AlpacaEval (2024). It has a score of each candidate, one effect of tanh(difference of characters / its
spread), and, where all candidates meet one baseline, how hard that is to beat on each instruction, shrunk
towards the mean. AlpacaEval fits an effect of length for each candidate, held near by two artificial
candidates; one effect for all of them needs no such help. Style is controlled in the same way: length, and
how many more items of lists, headings and bold parts one response has.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg, sparse
from scipy.special import expit, stdtrit

from engine.core.events import CancelToken
from engine.core.numeric import FloatArray, IntArray
from engine.core.tables import Estimate
from engine.metrics.intervals import FEW, OverInstructions, share
from engine.ranking.comparisons import PairComparisons
from engine.ranking.features import LENGTH, standardised

_RIDGE = 1e-8
_SPREAD_OF_INSTRUCTIONS = 1.0
"""The prior standard deviation, in log odds, of how hard a baseline is to beat."""
_TAIL = 0.025
_HARDLY_ANY = 0.01
# Of AlpacaEval 2's 30 candidates one is so: it is longer in 8 of 805, and has 33.6 % at equal length alone,
# 17.9 with all others and 15.8 as published.
_LARGEST_EFFECT = 10.0  # log odds: beyond, lengths and candidates are confounded
_MOST_STEPS = 100
_LARGEST_STEP = 4.0
_EXACT = 1e-9


@dataclass(frozen=True)
class LengthControl:
    """`rates`: what each candidate would win at equal length, 0 to 1, none where lengths and candidates are
    confounded. `effect`: log odds by which a much longer response wins, with `effect_ends`; `shrunk`: against
    one baseline it is about a tenth too small, and its ends say alone whether there is any. `longer_won`: how
    often it did, half a tie, where lengths differ. `beyond_seen`: the candidates that are the longer one, or
    the shorter one, in hardly any comparison, so that a rate at equal length is extrapolated.
    """

    rates: Mapping[str, Estimate]
    effect: float
    effect_ends: tuple[float, float]
    longer_won: Estimate
    beyond_seen: tuple[str, ...] = ()
    shrunk: bool = False


def length_control(comparisons: PairComparisons, cancel: CancelToken | None = None) -> LengthControl | None:
    """Of labelled comparisons; None for fewer than FEW instructions, and where all lengths are the same.
    Cancelled.
    """
    known = comparisons.at(comparisons.known)
    differences = known.lengths[:, 0] - known.lengths[:, 1]
    groups = len(np.unique(known.instructions))
    if groups < FEW or not differences.any():
        return None
    (effect,), rates, shrunk = _controlled(known, [standardised(differences)], cancel)
    places = np.flatnonzero(differences)
    won = np.where(differences > 0, known.scores, 1 - known.scores)[places]
    longer_won = share(won.tolist(), known.instructions[places].tolist())
    beyond = _beyond_seen(known, differences) if rates else ()
    return LengthControl(rates, effect.value, effect.ends or (0.0, 0.0), longer_won, beyond, shrunk)


@dataclass(frozen=True)
class StyleControl:
    """`rates`: what each candidate would win if both responses were alike in length and style, as above;
    `effects`: by feature the log odds by which a response with much more of it wins, the others alike,
    without an interval where it is shrunk.
    """

    rates: Mapping[str, Estimate]
    effects: Mapping[str, Estimate]


def style_control(
    comparisons: PairComparisons, style: Mapping[str, FloatArray], cancel: CancelToken | None = None
) -> StyleControl | None:
    """`style`: by feature how much more of it A has, of all comparisons; None where none but length differs
    on FEW instructions. Cancelled.
    """
    known = comparisons.known
    differences = {LENGTH: comparisons.lengths[:, 0] - comparisons.lengths[:, 1], **style}
    differing = {
        name: standardised(values[known])
        for name, values in differences.items()
        if len(np.unique(comparisons.instructions[known & (values != 0)])) >= FEW
    }
    if not differing.keys() - {LENGTH}:
        return None
    effects, rates, shrunk = _controlled(comparisons.at(known), [*differing.values()], cancel)
    if shrunk:
        effects = [Estimate(effect.value) for effect in effects]
    return StyleControl(rates, dict(zip(differing, effects, strict=True)))


def _controlled(
    known: PairComparisons, controls: Sequence[FloatArray], cancel: CancelToken | None
) -> tuple[list[Estimate], dict[str, Estimate], bool]:
    """The effect of each control; the rates where all are 0, none where one is confounded with candidates;
    whether all meet one baseline.
    """
    model, cancel = _Model(known, controls), cancel or CancelToken()
    at = model.fitted(cancel)
    half = float(stdtrit(len(np.unique(known.instructions)) - 1, 1 - _TAIL))
    errors, rates = model.measured(at, cancel)
    values = at.shared[-len(controls) :].tolist()
    effects = [
        Estimate(value, (value - half * error, value + half * error))
        for value, error in zip(values, errors, strict=True)
    ]
    return effects, rates if max(map(abs, values)) < _LARGEST_EFFECT else {}, bool(model.sides.any())


def _beyond_seen(known: PairComparisons, differences: FloatArray) -> tuple[str, ...]:
    """The candidates that are longer, or shorter, in at most _HARDLY_ANY of their comparisons, FEW or more,
    and as long as the other in no more.
    """
    found = []
    for candidate, places in enumerate(known.of):
        longer = np.where(known.first[places] == candidate, 1, -1) * differences[places]
        rarer = min(np.count_nonzero(longer > 0), np.count_nonzero(longer < 0))
        hardly_any = _HARDLY_ANY * len(places)
        if len(places) >= FEW and rarer <= hardly_any and np.count_nonzero(longer == 0) <= hardly_any:
            found.append(known.names[candidate])
    return tuple(found)


@dataclass(frozen=True, eq=False)
class _Parameters:
    """`shared`: of the candidates, then of the controls; `own`: of each instruction."""

    shared: FloatArray
    own: FloatArray


class _Model:
    """Log odds that A wins: shared columns, and one number for each instruction where there is a baseline."""

    def __init__(self, known: PairComparisons, controls: Sequence[FloatArray]) -> None:
        self._known, self._controls = known, controls
        _, groups = np.unique(known.instructions, return_inverse=True)
        self._groups: IntArray = groups
        self._count = int(groups.max()) + 1
        self._numbers = tuple(range(self._count))
        # A's side of what an instruction does: for the candidate, against the baseline, which stands in every
        # comparison. Of two candidates either would do, and one comparison an instruction says nothing of it.
        self.sides = np.zeros(len(known))
        for place in {int(known.first[0]), int(known.second[0])} if len(known.names) > 2 else ():
            if bool(np.all((known.first == place) | (known.second == place))):
                self.sides = np.where(known.second == place, 1.0, -1.0)
                break

    def _columns(self, weights: FloatArray, *, controlled: bool = True) -> sparse.csr_array:
        """The shared columns, each row times its weight: of A 1, of B -1, of controls, (items, shared)."""
        rows, size = len(self._known), len(self._known.names)
        controls = [each if controlled else np.zeros(rows) for each in self._controls]
        width = 2 + len(controls)
        values = np.stack([np.ones(rows), -np.ones(rows), *controls], 1)
        own = [np.full(rows, size + place) for place in range(len(controls))]
        places = np.stack([self._known.first, self._known.second, *own], 1)
        parts = (values * weights[:, None]).ravel(), places.ravel(), np.arange(0, width * rows + 1, width)
        return sparse.csr_array(parts, shape=(rows, size + len(controls)))

    def _of_shared(self, rows: FloatArray) -> FloatArray:
        """The sum of the shared columns, each row times its number: shape (shared,)."""
        known, size = self._known, len(self._known.names)
        sides = np.bincount(known.first, rows, size) - np.bincount(known.second, rows, size)
        return np.append(sides, [rows @ each for each in self._controls])

    def _odds(self, at: _Parameters) -> FloatArray:
        shared = at.shared[self._known.first] - at.shared[self._known.second]
        for each, effect in zip(self._controls, at.shared[-len(self._controls) :], strict=True):
            shared = shared + each * effect
        return np.asarray(shared + self.sides * at.own[self._groups])

    def _sums(self, rows: FloatArray) -> FloatArray:
        """Over the comparisons of each instruction: shape (instructions,)."""
        return np.bincount(self._groups, rows, self._count).astype(np.float64, copy=False)

    def _sums_of_columns(self, weights: FloatArray) -> sparse.csr_array:
        """The same of the shared columns, each row times its weight: shape (instructions, shared)."""
        of_each = np.ones(len(weights)), (self._groups, np.arange(len(weights)))
        return sparse.coo_array(of_each, shape=(self._count, len(weights))).tocsr() @ self._columns(weights)

    def fitted(self, cancel: CancelToken) -> _Parameters:
        """The largest penalised likelihood, by Newton's method."""
        at = _Parameters(np.zeros(len(self._known.names) + len(self._controls)), np.zeros(self._count))
        for _ in range(_MOST_STEPS):
            cancel.raise_if_requested()
            miss = self._known.scores - expit(self._odds(at))
            bend, mixed, own = self._bends(at)
            slope = self._of_shared(miss) - _RIDGE * len(miss) * at.shared
            own_slope = self._sums(self.sides * miss) - at.own / _SPREAD_OF_INSTRUCTIONS**2
            step = linalg.solve(bend, slope - mixed.T @ (own_slope / own), assume_a="pos")
            own_step = (own_slope - mixed @ step) / own
            largest = max(float(np.abs(step).max()), float(np.abs(own_step).max()))
            scale = min(1.0, _LARGEST_STEP / largest) if largest > 0 else 1.0
            at = _Parameters(at.shared + scale * step, at.own + scale * own_step)
            if largest < _EXACT:
                break
        return at

    def _bends(self, at: _Parameters) -> tuple[FloatArray, sparse.csr_array, FloatArray]:
        """The Hessian's negative: shared by shared, once the instructions' own numbers follow; instruction by
        shared; the instructions' diagonal.
        """
        chance = expit(self._odds(at))
        weights = chance * (1 - chance)
        known, size = self._known, len(self._known.names)
        met = np.bincount(known.first * size + known.second, weights, size**2).reshape(size, size)
        bend = _RIDGE * len(weights) * np.eye(size + len(self._controls))
        bend[:size, :size] += np.diag((met + met.T).sum(axis=0)) - met - met.T
        for row, each in enumerate(self._controls, size):
            bend[row] += self._of_shared(weights * each)
        bend[:size, size:] = bend[size:, :size].T
        own = self._sums(weights * self.sides**2) + 1 / _SPREAD_OF_INSTRUCTIONS**2
        if not self.sides.any():
            return bend, sparse.csr_array((self._count, len(bend))), own
        mixed = self._sums_of_columns(weights * self.sides)
        return bend - (mixed.T @ (mixed / own[:, None])).toarray(), mixed, own

    def measured(self, at: _Parameters, cancel: CancelToken) -> tuple[FloatArray, dict[str, Estimate]]:
        """The standard errors of the effects of the controls; by name what each candidate of these
        comparisons would win in its own where all controls are 0.
        """
        bend, mixed, own = self._bends(at)
        known, count = self._known, self._count
        # By how much each instruction moves the shared parameters: its slopes, by the inverse. Its own slope
        # is 0 at the largest likelihood: the shared ones alone move anything.
        slopes = self._sums_of_columns(known.scores - expit(self._odds(at)))
        inverse = np.linalg.inv(bend) * np.sqrt(count / (count - 1))
        effects = slice(len(known.names), None)
        without = np.append(at.shared[: len(known.names)], np.zeros(len(self._controls)))
        even = self._odds(replace(at, shared=without))
        columns = self._columns(np.ones(len(known)), controlled=False)
        rates: dict[str, Estimate] = {}
        for candidate, name in enumerate(known.names):
            cancel.raise_if_requested()
            places = known.of[candidate]
            if not len(places):
                continue
            sign = np.where(known.first[places] == candidate, 1.0, -1.0)
            chance = expit(sign * even[places])
            rate, groups = float(chance.mean()), self._groups[places]
            moves = sign * chance * (1 - chance) / len(places)
            follow = np.bincount(groups, moves * self.sides[places], count) / own
            slope = columns[places].T @ moves - mixed.T @ follow
            around = np.bincount(groups, chance - rate, count) / len(places)
            weights = np.bincount(groups, minlength=count) / len(places)
            used = np.flatnonzero(slope)  # of whom it met
            pulls = around + slopes @ (slope[used] @ inverse[used])
            values = 1 / float(np.sum(weights**2))
            found = OverInstructions(rate, weights, pulls, values, count, self._numbers)
            rates[name] = Estimate(rate, found.chance_interval())
        return np.sqrt(np.sum((slopes @ inverse[:, effects]) ** 2, axis=0)), rates
