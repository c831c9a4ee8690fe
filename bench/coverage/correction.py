"""Whether shares and strengths that labels of a part correct hold the truth, whatever the judge is."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import numpy as np

from bench.coverage.claims import Kind, Promise, simulated
from bench.coverage.fits import fit_with_penalty
from bench.coverage.intervals import World, holds
from bench.coverage.rankings import contests, met
from engine.core.events import followed
from engine.core.items import HUMAN_LABELS, PREFERENCES
from engine.core.numeric import BoolArray, FloatArray, log_softmax
from engine.metrics.intervals import grouped_folds
from engine.ranking.bradley_terry import expected_score
from engine.ranking.comparisons import PairComparisons
from engine.ranking.correction import Corrected, Correction, correct, corrected
from engine.results.decision import calibrated

_STRENGTH_OF_FIT = 1.0
_FREQUENT = (0.5, 0.3, 0.15, 0.05)
_HARDER = 5  # times as often people skip what is not won
_COSTLY = 10  # a correction with its draws takes a twentieth of a second: so many times fewer worlds
_DRAWS = 200
_TIES = 0.1
_BY_CHANCE = {"usual": 0.45, "good": 0.15, "useless": 1.0, "perfect": 0.0}
JUDGES = (*_BY_CHANCE, "lenient", "rarely wrong", "reversed", "one answer")


@dataclass(frozen=True)
class PartWorld(Kind):
    """`labelled` items at random, or as whole instructions (`whole`). `share`: of what is won; a tenth are
    ties. `skips`: the share of lost items and ties skipped, and a fifth of it of those won.
    """

    world: World
    judge: str
    labelled: int
    share: float
    whole: bool = False
    skips: float = 0.0
    inside: float = 1.0  # the share of instructions of a slice, which alone is looked at

    def drawn(self, random: np.random.Generator) -> tuple[Corrected, float]:
        """What is found, and the share that people would say of these very items."""
        groups = np.array(self.world.groups(random))
        lost = 1 - self.share - _TIES / 2
        annotators = np.array([1.0, 0.5, 0.0])[
            self.world.drawn(random, groups.tolist(), [self.share - _TIES / 2, _TIES, lost])
        ]
        part = self._part(random, groups)
        rate = np.where(annotators < 1, self.skips, self.skips / _HARDER)
        skipped = part & (random.random(len(annotators)) < rate) if self.skips else np.zeros_like(part)
        said = np.where(part & ~skipped, annotators, np.nan)
        by_judge = judged(self.judge, annotators, random)
        rows = (random.random(self.world.instructions) < self.inside)[groups]
        each = said[rows], by_judge[rows], groups[rows]
        found = corrected(*each, self.world.instructions, skipped[rows])
        return found, float(annotators[rows].mean())

    def _part(self, random: np.random.Generator, groups: np.ndarray) -> BoolArray:
        if self.whole:
            chosen = random.permutation(self.world.instructions)[: self.labelled // self.world.each]
            return np.isin(groups, chosen)
        part: BoolArray = random.permutation(len(groups)) < self.labelled
        return part


def judged(judge: str, annotators: FloatArray, random: np.random.Generator) -> FloatArray:
    """What a judge of such a kind says where people say so: 0 to 1, shape as theirs."""
    chance, anything = random.random(len(annotators)), random.random(len(annotators))
    if judge in _BY_CHANCE:
        return np.where(chance < _BY_CHANCE[judge], anything, annotators)
    if judge == "lenient":
        return np.where(chance < 0.3, anything, 0.3 + 0.7 * annotators)
    if judge == "rarely wrong":
        return np.where(chance < 0.05, 1.0, annotators)
    if judge == "reversed":
        return 1 - np.where(chance < 0.45, anything, annotators)
    return np.full(len(annotators), 0.5)


def _part_worlds() -> Iterator[PartWorld]:
    """From 20 to 100 labels; instructions of one item, of several, of many."""
    many = (World(600, 1), World(150, 4, 0.3), World(60, 10, 0.3), World(100, 5, 0.6, uneven=True))
    for judge, labelled, share, world in product(JUDGES, (20, 50, 100), (0.5, 0.8, 0.15), many):
        yield PartWorld(world, judge, labelled, share)
        if world.each > 1 and not world.uneven and labelled >= 10 * world.each:
            yield PartWorld(world, judge, labelled, share, whole=True)


_PARTS = tuple(_part_worlds())
_WITH_SKIPPED = [
    PartWorld(world, judge, labelled, share, skips=skips)
    for judge, labelled, share, skips, world in product(
        ("usual", "good", "useless"), (50, 100), (0.5, 0.8), (0.1, 0.5), (World(600, 1), World(150, 4, 0.3))
    )
]
"""Annotators skip what is hard for them: a tenth, or half, of what is not won."""


_OF_SLICES = [
    PartWorld(world, judge, labelled, share, inside=0.4)
    for judge, labelled, share, world in product(
        JUDGES, (50, 100), (0.5, 0.8), (World(600, 1), World(150, 4, 0.3))
    )
]
_SHARES = ("a corrected share", "a corrected share of these items", "a share by labels alone")


@simulated("corrected shares", [Promise(says) for says in _SHARES], _PARTS)
@simulated("slices of shares", [Promise(f"{says}, of a slice") for says in _SHARES[:2]], _OF_SLICES)
@simulated("skipped items", [Promise(f"{says}, items skipped") for says in _SHARES[:2]], _WITH_SKIPPED)
def _shares_held(random: np.random.Generator, world: PartWorld) -> list[bool]:
    found, of_these = world.drawn(random)
    ends = ((found.rate.ends, world.share), (found.of_these, of_these), (found.labels.ends, world.share))
    return [holds(*each) for each in ends]


@dataclass(frozen=True)
class CalibratedWorld(Kind):
    """Readings `signal` x (1 for the label) + noise, calibrated by folds on the labels that correct them."""

    signal: float
    labelled: int
    items: int = 400

    def is_held(self, random: np.random.Generator) -> bool:
        labels = random.choice(len(PREFERENCES), self.items, p=_FREQUENT)
        position_bias = random.normal(0, 1, (self.items, len(PREFERENCES))) + np.array([1, 0, 0, 0])
        read = log_softmax(self.signal * np.eye(len(PREFERENCES))[labels] + position_bias)
        part = np.sort(random.permutation(self.items)[: self.labelled])
        groups = [str(place) for place in part]
        fit = partial(fit_with_penalty, _STRENGTH_OF_FIT)
        decided = calibrated(read, fit(read[part], labels[part], groups))
        for train, test in grouped_folds(groups, 5):
            without = fit(read[part[train]], labels[part[train]], [groups[place] for place in train])
            decided[part[test]] = calibrated(read[part[test]], without)
        won = np.array([1.0, 0.0, 0.5, 0.5])
        said = np.full(self.items, np.nan)
        said[part] = won[labels[part]]
        found = corrected(said, np.exp(decided) @ won, np.arange(self.items), self.items)
        return holds(found.rate.ends, float(won @ _FREQUENT))


@simulated(
    "labels of the calibration",
    Promise("a share corrected, calibrated by it"),
    [CalibratedWorld(signal, labelled) for signal, labelled in product((0.0, 2.5), (50, 100))],
    costs=_COSTLY,
)
def _calibrated_held(random: np.random.Generator, world: CalibratedWorld) -> bool:
    return world.is_held(random)


@dataclass(frozen=True)
class Match(Kind):
    """Candidates of known strengths, `items` contests on `instructions`, of which `labelled` are labelled."""

    judge: str
    labelled: int
    instructions: int
    items: int = 600
    bradley_terry: tuple[float, ...] = (1.0, 0.4, 0.0, -0.4, -1.0)
    tie: float = 0.4

    def drawn(self, random: np.random.Generator) -> tuple[PairComparisons, PairComparisons]:
        """What people said of a part, and the judge of all."""
        truth, count = np.array(self.bradley_terry), len(self.bradley_terry)
        first, second = met(random, count, self.items)
        half = (truth[first] - truth[second]) / 2
        odds = np.stack([np.exp(half), np.full(self.items, self.tie), np.exp(-half)], axis=1)
        edges = np.cumsum(odds / odds.sum(axis=1)[:, None], axis=1)
        won = np.array([1.0, 0.5, 0.0])[
            np.minimum((random.random(self.items)[:, None] > edges).sum(axis=1), 2)
        ]
        instructions = random.integers(0, self.instructions, self.items)
        everything = contests(first, second, instructions, _said(won), count)
        part = random.permutation(self.items) < self.labelled
        annotators = replace(everything, said=np.where(part[:, None], everything.said, np.nan))
        return annotators, everything.with_said(_said(judged(self.judge, won, random)))

    def corrected(self, random: np.random.Generator, draws: int = _DRAWS) -> Correction:
        return followed(correct(*self.drawn(random), draws=draws), id)

    @property
    def scores(self) -> FloatArray:
        return expected_score(np.array(self.bradley_terry), np.array(self.tie))


def _said(won: FloatArray) -> FloatArray:
    """What was won as labels: all the rest of both sides is ties of which nobody says more."""
    said = np.zeros((len(won), len(HUMAN_LABELS)))
    decided = np.abs(2 * won - 1)
    said[:, 0], said[:, 1], said[:, -1] = decided * (won > 0.5), decided * (won < 0.5), 1 - decided
    return said


@simulated(
    "corrected strengths",
    Promise("a corrected strength"),
    [
        Match(*kind)
        for kind in product(("usual", "good", "useless", "lenient", "reversed"), (50, 100, 200), (600, 100))
    ],
    costs=_COSTLY,
)
def _strengths_held(random: np.random.Generator, match: Match) -> list[bool]:
    """Of each of five candidates."""
    found = match.corrected(random).bradley_terry
    ends = [found.scores[name].ends for name in found.names]
    return [holds(each, truth) for each, truth in zip(ends, match.scores, strict=True) if each]
