"""Whether win rates and fitted weights hold the truth, and scores that carry nothing are named."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from scipy.optimize import nnls

from bench.coverage.claims import Kind, Promise, at_most, simulated
from bench.coverage.intervals import World, holds
from engine.core.items import Preference
from engine.core.numeric import FloatArray, IntArray
from engine.data.dataset import Dataset
from engine.data.submission import Submission
from engine.metrics.matching import System
from engine.ranking.weight_fit import FOR_EACH, fit_weights
from engine.ranking.weighted_judge import WINNERS
from engine.ranking.weighted_scoring import ScoredPairs, informativeness_of, weigh
from tests.judged import text_table

_ONE = "0"  # criteria are numbered
_MARGINS = (5.0, -5.0, 0.1)  # points: A wins, B wins, a tie
_LABELS = (Preference.A, Preference.B, Preference.BOTH_GOOD)
_RATES = (0.6, 0.3, 0.1)
_SIGNS = (1, -1, 0)
_TIE = 0.3  # people call a tie what they prefer by less, in standard deviations
_COSTLY = 10  # a fit with its draws takes a tenth of a second: so many times fewer worlds
_MANY = 200_000  # items whose fit is the truth
_CLOSE = 0.1  # points: few items have no margins in between


@simulated(
    "win rates",
    Promise("a win rate's interval"),
    [
        (name, world)
        for world in (World(12, 1), World(30, 5, 0.3), World(20, 15, 0.6, uneven=True), World(300, 1))
        for name in WINNERS
    ],
    "{0}, {1}",
)
def _rate_held(random: np.random.Generator, name: Preference, world: World) -> bool:
    groups = world.groups(random)
    kinds = world.drawn(random, groups, list(_RATES))
    pairs = _pairs(np.array(_MARGINS)[kinds][:, None])
    weighted_scoring = weigh(pairs, {_ONE: 1.0}, 0.5, items=_dataset(groups, kinds))
    return holds(weighted_scoring.rates[name][1], _RATES[WINNERS.index(name)])


_UNNAMED = (World(10, 1), World(20, 5, 0.6), World(40, 1), World(100, 5, 0.3), World(300, 1))


@simulated(
    "nothing carried",
    Promise("not shown to carry anything", 0.975, 0.96),
    [(world, 0.0) for world in _UNNAMED],
    "nothing, {0}",
)
@simulated(
    "nothing carried",
    at_most("not shown, though it does", 0.0, 0.03),
    [(world, 1.5) for world in _UNNAMED[2:]],
    "something, {0}",
)
def _names(random: np.random.Generator, world: World, signal: float) -> bool:
    """Scores that have nothing to do with what people say are named; those that follow people are not."""
    groups = world.groups(random)
    preferred, noise = (_alike(world, groups, 1, random)[:, 0] for _ in range(2))
    gold = _dataset(groups, np.select([preferred > _TIE, preferred < -_TIE], [0, 1], 2))
    rows = _pairs(10 * np.tanh(signal * preferred + noise)[:, None]).rows
    judge = System("judge", Submission((), (_ONE,), with_explanations=False))
    return _ONE in informativeness_of(rows, [_ONE], judge, gold).unshown


@dataclass(frozen=True)
class Annotators(Kind):
    """What people weigh, how well the judge reads it, on how many times the fewest instructions."""

    weights: tuple[float, ...]
    signal: float
    times: int = 1
    each: int = 1
    alike: float = 0.0

    @property
    def world(self) -> World:
        return World(self.times * FOR_EACH * (len(self.weights) + 1), self.each, self.alike)

    def drawn(self, world: World, random: np.random.Generator) -> tuple[list[int], FloatArray, IntArray]:
        """The instruction of each item, its differences of scores, (items, criteria), and its winner."""
        groups, criteria = world.groups(random), len(self.weights)
        common, own, noise, of_annotators = (
            _alike(world, groups, wide, random) for wide in (1, criteria, criteria, 1)
        )
        wanted = (common + own) / np.sqrt(2)
        preferred = wanted @ np.array(self.weights) + 0.7 * of_annotators[:, 0]
        winners = np.where(np.abs(preferred) <= _TIE, 0, np.sign(preferred)).astype(np.int64)
        return groups, 10 * np.tanh(self.signal * wanted + 0.7 * noise), winners


ANNOTATORS = (
    Annotators((0.5, 0.5), 1.0),
    Annotators((0.7, 0.3), 0.3, times=3),
    Annotators((0.8, 0.2, 0.0), 1.0, each=10, alike=0.9),
    Annotators((0.9, 0.1, 0.0, 0.0, 0.0), 0.3),
    Annotators((0.4, 0.2, 0.2, 0.1, 0.1), 1.0, times=4),
)


@simulated(
    "fitted weights",
    (Promise("a fitted weight's range"), Promise("a fitted threshold's range")),
    ANNOTATORS,
    costs=_COSTLY,
)
def _holds_fit(random: np.random.Generator, annotators: Annotators) -> tuple[list[bool], bool]:
    weights, threshold = _truth(annotators)
    groups, scores, winners = annotators.drawn(annotators.world, random)
    ids = list(map(str, range(len(groups))))
    human = {item_id: WINNERS[_SIGNS.index(sign)] for item_id, sign in zip(ids, winners, strict=True)}
    instructions = dict(zip(ids, map(str, groups), strict=True))
    found = fit_weights(_pairs(scores).rows, human, instructions, list(map(str, range(len(weights)))))
    ends = found.threshold_range
    held = [holds(found.ranges[str(place)], weight) for place, weight in enumerate(weights)]
    return held, ends.low - _CLOSE <= threshold <= ends.high + _CLOSE


@cache
def _truth(annotators: Annotators) -> tuple[list[float], float]:
    """The weights and the threshold that a fit to very many items gives."""
    _, scores, winners = annotators.drawn(World(_MANY, 1), np.random.default_rng(0))
    found = nnls(scores, 10.0 * winners)[0]
    weights = found / found.sum()
    weighted = scores @ weights
    thresholds = np.arange(0, 10, _CLOSE / 2)
    right = [
        np.mean(np.where(np.abs(weighted) <= each, 0, np.sign(weighted)) == winners) for each in thresholds
    ]
    return [round(weight, 6) for weight in weights.tolist()], float(thresholds[int(np.argmax(right))])


def _alike(world: World, groups: list[int], wide: int, random: np.random.Generator) -> FloatArray:
    """Normal numbers, shape (items, wide), as alike within an instruction as the world has it."""
    of_each = random.standard_normal((world.instructions, wide))[groups]
    alone = random.standard_normal((len(groups), wide))
    return np.asarray(np.sqrt(world.alike) * of_each + np.sqrt(1 - world.alike) * alone)


def _pairs(differences: FloatArray) -> ScoredPairs:
    """Scored pairs with these differences of scores, shape (items, criteria)."""
    none = {str(number): 0.0 for number in range(differences.shape[1])}
    return ScoredPairs(
        [
            {"id": str(place), "scores_a": dict(zip(none, row, strict=True)), "scores_b": none}
            for place, row in enumerate(differences.tolist())
        ]
    )


def _dataset(groups: Sequence[int], labels: IntArray) -> Dataset:
    """The items; what people say of the one criterion, by places in _LABELS."""
    columns: dict[str, Sequence[str]] = {
        "id": list(map(str, range(len(groups)))),
        "output_a": [""] * len(groups),
        "output_b": [""] * len(groups),
        "instruction": list(map(str, groups)),
        f"{_ONE}_preference": [_LABELS[label] for label in labels],
    }
    return Dataset(Path("drawn.tsv"), text_table(columns))
