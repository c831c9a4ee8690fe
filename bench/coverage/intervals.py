"""Whether intervals hold the truth, and equal systems are called different as seldom as is said; whether the
best of several equally good judges looks as much better than it is as is said."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from bench.coverage.claims import NOMINAL, Claim, Kind, Promise, at_most, part, simulated
from engine.core.numeric import FloatArray, IntArray
from engine.metrics import intervals

MOST_FALSE_YES = 0.03
MOST_FALSE_DIFFERENCE = 0.06
_FEWEST, _MOST = 10, 1000  # labels
_SHARES = (0.95, 0.9, 0.8, 0.7, 0.6)  # of five criteria
_LEAST_EXCESS, _MOST_EXCESS = 0.85, 1.2


@dataclass(frozen=True)
class World(Kind):
    """`instructions` with `each` item, or as many in the mean (`uneven`). `alike`: 0, where items of one are
    independent, to 1, where they are all right or wrong.
    """

    instructions: int
    each: int
    alike: float = 0.0
    uneven: bool = False

    def groups(self, random: np.random.Generator) -> list[int]:
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


def holds(ends: tuple[float, float] | None, truth: float) -> bool:
    """Whether the truth lies in an interval; not in one that could not be made."""
    return ends is not None and ends[0] <= truth <= ends[1]


def worlds() -> Iterator[World]:
    for instructions, each in product((2, 4, 7, 10, 20, 33, 99, 300, 1000), (1, 2, 5, 15)):
        if not _FEWEST <= instructions * each <= _MOST:
            continue
        yield World(instructions, each)
        if each > 1:
            yield from (
                World(instructions, each, alike, uneven)
                for alike, uneven in product((0.1, 0.3, 0.6, 1.0), (False, True))
            )


@simulated(
    "shares",
    Promise("a share's interval"),
    product(worlds(), (0.5, 0.8, 0.9, 0.95, 0.97, 0.99)),
    "{1:g}, {0}",
)
def _share_held(random: np.random.Generator, world: World, share: float) -> bool:
    groups = world.groups(random)
    return holds(intervals.share_interval(world.right(random, groups, share).tolist(), groups), share)


@simulated(
    "instructions",
    Promise("a mean's interval, each instruction counted once"),
    product([world for world in worlds() if world.uneven], (0.5, 0.8, 0.95)),
    "{1:g}, {0}",
)
def _mean_by_instruction_held(random: np.random.Generator, world: World, share: float) -> bool:
    groups = world.groups(random)
    right = world.right(random, groups, share).tolist()
    return holds(intervals.mean_by_group({"": right}, {"": groups}).ends, share)


_SKEWED = {"like ROUGE-L": (1.2, 6.0), "like BERTScore": (120.0, 20.0)}
"""Beta distributions: as skewed as ROUGE-L, as much alike as BERTScore."""


@simulated(
    "scores",
    Promise("a score's interval"),
    product([world for world in worlds() if not world.uneven], _SKEWED, (0.0, 0.05, 0.2)),
    "{1}, {2:g} missing, {0}",
)
def _score_held(random: np.random.Generator, world: World, kind: str, missing: float) -> bool:
    """Scores of explanations; some items have none."""
    beta, groups = _SKEWED[kind], world.groups(random)
    own, shared = (random.beta(*beta, count) for count in (len(groups), world.instructions))
    scores = np.where(random.random(len(groups)) < world.alike, shared[groups], own)
    left_out = random.random(len(groups)) < missing
    found = intervals.OverInstructions.of_one(np.where(left_out, 0.0, scores).tolist(), groups)
    # Where nothing is left out, nothing is said of systems that leave something out.
    truth = beta[0] / sum(beta) * (1 - missing * bool(left_out.any()))
    ends = found.skewed_interval() if "BERT" in kind else found.score_interval()
    return holds(ends, truth)


@dataclass(frozen=True)
class RareScores(Kind):
    """Scores near 0 but for those near 1 of a `share` of the instructions, or the other way round."""

    instructions: int
    each: int
    criteria: int
    share: float
    mirrored: bool = False


@simulated(
    "rare scores",
    Promise("a score, large values rare"),
    [
        RareScores(instructions, each, criteria, share, mirrored)
        for instructions, (each, criteria), share, mirrored in product(
            (10, 20, 40, 100, 200), ((1, 1), (5, 1), (1, 5)), (0.02, 0.05), (False, True)
        )
    ],
)
def _rare_held(random: np.random.Generator, world: RareScores) -> bool:
    groups = np.repeat(np.arange(world.instructions), world.each)
    rare = (random.random(world.instructions) < world.share)[groups]
    near = random.beta(1, 60, (world.criteria, len(groups)))  # to its end
    rows = np.where(rare ^ world.mirrored, 1 - near, near)
    values = {f"{place}": row.tolist() for place, row in enumerate(rows)}
    found = intervals.OverInstructions.of(values, dict.fromkeys(values, groups.tolist()))
    mean = world.share * 60 / 61 + (1 - world.share) / 61
    return found is not None and holds(found.score_interval(), 1 - mean if world.mirrored else mean)


@simulated("means", Promise("the mean's interval"), product(worlds(), (0.0, 0.5, 1.0)), "together {1:g}, {0}")
def _mean_held(random: np.random.Generator, world: World, common: float) -> bool:
    """The mean accuracy over five criteria whose luck is the same on a part of the items."""
    groups = world.groups(random)
    shared = random.random(len(groups))
    values = {}
    for share in _SHARES:
        luck = np.where(random.random(len(groups)) < common, shared, random.random(len(groups)))
        # Instructions that decide bring all criteria of an item together already.
        right = world.right(random, groups, share) if world.alike else 1.0 * (luck < share)
        values[f"{share:g}"] = right.tolist()
    found = intervals.OverInstructions.of(values, dict.fromkeys(values, groups))
    return found is not None and holds(found.share_interval(), sum(_SHARES) / len(_SHARES))


_SIDES = ((0.25, 0.25), (0.05, 0.05), (0.02, 0.02), (0.3, 0.2), (0.05, 0.01), (0.1, 0.0))
"""Two systems of which the one alone is right on a share of items, and the other on another share."""


@simulated(
    "differences",
    (
        Promise("a difference's interval"),
        at_most("equal systems: p < .05", 1 - NOMINAL, MOST_FALSE_DIFFERENCE),
    ),
    [(world, *sides) for world, sides in product(worlds(), _SIDES)],
    "{1:g} to {2:g}, {0}",
)
def _difference_held(
    random: np.random.Generator, world: World, one: float, other: float
) -> tuple[bool, bool | None]:
    groups = world.groups(random)
    kinds = world.drawn(random, groups, [one, other, 1 - one - other])
    found = intervals.OverInstructions.of_one((1.0 * (kinds == 0) - 1.0 * (kinds == 1)).tolist(), groups)
    differs = found.p_value < 1 - NOMINAL if one == other else None
    return holds(found.difference_interval(), one - other), differs


@simulated(
    "few labels",
    at_most("equal systems: p < .05", 1 - NOMINAL, MOST_FALSE_DIFFERENCE),
    product((1, 2, 3, 5, 10, 20), (60, 200), (0.6, 0.8)),
    "{0} and {1} labels, {2:g}",
)
def _differ_by_few(random: np.random.Generator, few: int, many: int, share: float) -> bool:
    """Equal systems, called different as the mean over two criteria, of which one has few labels."""
    leads = {size: np.subtract(*(random.random((2, size)) < share).astype(float)) for size in (few, many)}
    found = intervals.OverInstructions.of_enough(
        {str(size): lead for size, lead in leads.items()}, {str(size): range(size) for size in leads}
    )
    return found.p_value < 1 - NOMINAL


@simulated(
    "better",
    at_most("better? yes", 0.025, MOST_FALSE_YES),
    product([each for each in worlds() if each.instructions >= intervals.FEW], (0.5, 0.7, 0.9)),
    "{1:g}, {0}",
)
def _says_better(random: np.random.Generator, world: World, share: float) -> bool:
    """A judge no better than the better one of two trivial judges, called better than it."""
    groups = world.groups(random)
    own, equal, worse = (world.right(random, groups, known) for known in (share, share, share / 2))
    found = intervals.least_interval([(own - equal).tolist(), (own - worse).tolist()], groups)
    return found is not None and found.low > 0


@part("choosing")
def excess_held(times: int) -> Iterator[Claim]:
    """Equally good judges with some luck in common: what is said by what is so, in the worlds' mean."""
    single = [World(instructions, 1) for instructions in (10, 30, 99, 300)]
    several = [World(20, 5, 0.5), World(60, 5, 0.3, uneven=True)]
    kinds = product((*single, *several), (0.6, 0.9), (2, 5), (0.0, 0.7))
    for seed, (world, share, judges, common) in enumerate(kinds):
        random = np.random.default_rng(seed)
        found = np.array([_said_and_so(world, share, judges, common, random) for _ in range(times)])
        (said, real), (said_std, real_std) = found.mean(axis=0), found.std(axis=0)
        spread = said / real * float(np.hypot(said_std / said, real_std / real))
        where = f"{judges} at {share:g}, together {common:g}, {world}"
        for promise in (
            Promise("excess of the best, no less", 1.0, _LEAST_EXCESS),
            at_most("excess of the best, no more", 1.0, _MOST_EXCESS),
        ):
            yield Claim(promise, where, float(said / real), spread / float(np.sqrt(times)), times)


def _said_and_so(
    world: World, share: float, judges: int, common: float, random: np.random.Generator
) -> tuple[float, float]:
    groups = world.groups(random)
    shared = world.right(random, groups, share)
    found = []
    for _ in range(judges):
        together = (random.random(world.instructions) < common)[groups]
        values = {
            criterion: np.where(together, shared, world.right(random, groups, share)).tolist()
            for criterion in ("0", "1")
        }
        over = intervals.OverInstructions.of(values, dict.fromkeys(values, groups))
        found.append(over)
    choice = intervals.cost_of_choosing(found)
    # What all have in common is nobody's merit, and makes the mean over worlds uncertain.
    return choice.excess, max(one.mean for one in found) - float(np.mean([one.mean for one in found]))
