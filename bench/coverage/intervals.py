"""Whether intervals hold the truth, and equal systems are called different as seldom as is said.

Knows: `engine/metrics/intervals.py`, shares and differences. Does not know: judges, datasets.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from bench.coverage.claims import Claim, Promise
from engine.core.numeric import FloatArray, IntArray
from engine.metrics.intervals import FEW, Interval, OverInstructions, least_interval, share_interval

NOMINAL = 0.95
LEAST = 0.94
MOST_FALSE_YES = 0.03
MOST_FALSE_DIFFERENCE = 0.06
_FEWEST, _MOST = 10, 1000  # labels
_SHARES = (0.95, 0.9, 0.8, 0.7, 0.6)  # of five criteria
_SHARE = Promise("a share's interval", NOMINAL, LEAST)
_SCORE = Promise("a score's interval", NOMINAL, LEAST)
_MEAN = Promise("the mean's interval", NOMINAL, LEAST)
_DIFFERENCE = Promise("a difference's interval", NOMINAL, LEAST)
_EQUAL = Promise("equal systems: p < .05", 1 - NOMINAL, MOST_FALSE_DIFFERENCE, at_most=True)
_BETTER = Promise("better? yes", 0.025, MOST_FALSE_YES, at_most=True)


@dataclass(frozen=True)
class World:
    """`instructions` with `each` item, or as many in the mean (`uneven`).

    `alike`: from 0, where items of one instruction are independent, to 1, where they are all right or all
    wrong.
    """

    instructions: int
    each: int
    alike: float = 0.0
    uneven: bool = False

    def __str__(self) -> str:
        items = f"1 to {2 * self.each - 1}" if self.uneven else str(self.each)
        return f"{self.instructions} instructions of {items}, alike {self.alike:g}"

    def groups(self, random: np.random.Generator) -> list[int]:
        """The instruction of each item."""
        sizes = random.integers(1, 2 * self.each, self.instructions) if self.uneven else self.each
        numbers: list[int] = np.repeat(np.arange(self.instructions), sizes).tolist()
        return numbers

    def right(self, random: np.random.Generator, groups: list[int], share: float) -> FloatArray:
        """1 for about such a share of the items, else 0: shape (items,)."""
        return np.asarray(self.drawn(random, groups, [share, 1 - share]) == 0, np.float64)

    def drawn(self, random: np.random.Generator, groups: list[int], shares: list[float]) -> IntArray:
        """Which of several kinds each item is, by their shares: places, shape (items,).

        An instruction has shares of its own (Dirichlet), with `alike` as their intraclass correlation.
        """
        if self.alike in {0.0, 1.0}:
            of_each = random.choice(len(shares), self.instructions, p=shares)
            alone = random.choice(len(shares), len(groups), p=shares)
            return np.asarray(of_each[groups] if self.alike else alone)
        spread = np.maximum(np.array(shares) * (1 - self.alike) / self.alike, 1e-9)
        own = random.gamma(spread, size=(self.instructions, len(shares)))
        own /= np.maximum(own.sum(axis=1, keepdims=True), 1e-300)
        places = (random.random(len(groups))[:, None] > np.cumsum(own, axis=1)[groups]).sum(axis=1)
        return np.asarray(np.minimum(places, len(shares) - 1))


def worlds() -> Iterator[World]:
    """From 10 to 1,000 labels, 1 to 15 items for each instruction."""
    for instructions, each in product((2, 4, 7, 10, 20, 33, 99, 300, 1000), (1, 2, 5, 15)):
        if not _FEWEST <= instructions * each <= _MOST:
            continue
        yield World(instructions, each)
        if each > 1:
            yield from (
                World(instructions, each, alike, uneven)
                for alike, uneven in product((0.1, 0.3, 0.6, 1.0), (False, True))
            )


def shares_held(times: int) -> Iterator[Claim]:
    """Accuracies from .5 to .99."""
    for seed, (world, share) in enumerate(product(worlds(), (0.5, 0.8, 0.9, 0.95, 0.97, 0.99))):
        yield Claim.drawn(_SHARE, f"{share:g}, {world}", partial(_holds_share, world, share), times, seed)


def _holds_share(world: World, share: float, random: np.random.Generator) -> bool:
    groups = world.groups(random)
    return holds(share_interval(world.right(random, groups, share).tolist(), groups), share)


def scores_held(times: int) -> Iterator[Claim]:
    """Scores of explanations: as skewed as ROUGE-L, as much alike as BERTScore; some items have none."""
    kinds = {"like ROUGE-L": (1.2, 6.0), "like BERTScore": (120.0, 20.0)}
    drawn = [world for world in worlds() if not world.uneven]
    for seed, (world, kind, missing) in enumerate(product(drawn, kinds, (0.0, 0.05, 0.2))):
        where = f"{kind}, {missing:g} missing, {world}"
        holds_it = partial(_holds_score, world, kinds[kind], missing, "BERT" in kind)
        yield Claim.drawn(_SCORE, where, holds_it, times, seed)


def _holds_score(
    world: World, beta: tuple[float, float], missing: float, close: bool, random: np.random.Generator
) -> bool:
    groups = world.groups(random)
    own, shared = (random.beta(*beta, count) for count in (len(groups), world.instructions))
    scores = np.where(random.random(len(groups)) < world.alike, shared[groups], own)
    left_out = random.random(len(groups)) < missing
    found = OverInstructions.of_one(np.where(left_out, 0.0, scores).tolist(), groups)
    assert found is not None
    # Where nothing is left out, nothing is said of systems that leave something out.
    truth = beta[0] / sum(beta) * (1 - missing * bool(left_out.any()))
    ends = found.skewed_interval() if close else found.score_interval()
    return ends is not None and holds(ends, truth)


def means_held(times: int) -> Iterator[Claim]:
    """The mean accuracy over five criteria whose luck is the same on a part of the items."""
    for seed, (world, common) in enumerate(product(worlds(), (0.0, 0.5, 1.0))):
        yield Claim.drawn(
            _MEAN, f"together {common:g}, {world}", partial(_holds_mean, world, common), times, seed
        )


def _holds_mean(world: World, common: float, random: np.random.Generator) -> bool:
    groups = world.groups(random)
    shared = random.random(len(groups))
    values = {}
    for share in _SHARES:
        luck = np.where(random.random(len(groups)) < common, shared, random.random(len(groups)))
        # Instructions that decide bring all criteria of an item together already.
        right = world.right(random, groups, share) if world.alike else 1.0 * (luck < share)
        values[f"{share:g}"] = right.tolist()
    found = OverInstructions.of(values, dict.fromkeys(values, groups))
    return found is not None and holds(found.share_interval(), sum(_SHARES) / len(_SHARES))


def differences_held(times: int) -> Iterator[Claim]:
    """Two systems of which the one alone is right on a share of items, and the other on another share."""
    sides = ((0.25, 0.25), (0.05, 0.05), (0.02, 0.02), (0.3, 0.2), (0.05, 0.01), (0.1, 0.0))
    for seed, (world, (one, other)) in enumerate(product(worlds(), sides)):
        where = f"{one:g} to {other:g}, {world}"
        yield Claim.drawn(_DIFFERENCE, where, partial(_holds_difference, world, one, other), times, seed)
        if one == other:
            yield Claim.drawn(_EQUAL, where, partial(_differs, world, one), times, seed)


def _holds_difference(world: World, one: float, other: float, random: np.random.Generator) -> bool:
    return holds(_lead(world, one, other, random).difference_interval(), one - other)


def _differs(world: World, one: float, random: np.random.Generator) -> bool:
    return _lead(world, one, one, random).p_value < 1 - NOMINAL


def _lead(world: World, one: float, other: float, random: np.random.Generator) -> OverInstructions:
    groups = world.groups(random)
    kinds = world.drawn(random, groups, [one, other, 1 - one - other])
    found = OverInstructions.of_one((1.0 * (kinds == 0) - 1.0 * (kinds == 1)).tolist(), groups)
    assert found is not None
    return found


def false_better(times: int) -> Iterator[Claim]:
    """A judge no better than the better one of two trivial judges, called better than it."""
    for seed, (world, share) in enumerate(product(worlds(), (0.5, 0.7, 0.9))):
        if world.instructions >= FEW:  # with fewer nothing is called better
            where = f"{share:g}, {world}"
            yield Claim.drawn(_BETTER, where, partial(_says_better, world, share), times, seed)


def _says_better(world: World, share: float, random: np.random.Generator) -> bool:
    groups = world.groups(random)
    own, equal, worse = (world.right(random, groups, known) for known in (share, share, share / 2))
    found = least_interval([(own - equal).tolist(), (own - worse).tolist()], groups)
    return found is not None and found.low > 0


def holds(found: Interval | None, truth: float) -> bool:
    """Whether the truth lies in an interval; not in one that could not be made."""
    return found is not None and found.low <= truth <= found.high
