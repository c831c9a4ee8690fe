"""Whether the best of several equally good judges looks as much better than it is as is said.

Knows: `engine/metrics/intervals.py`. Does not know: judges, datasets.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from bench.coverage.claims import Claim, Promise
from bench.coverage.intervals import World
from engine.metrics.intervals import OverInstructions, cost_of_choosing

LEAST, MOST = 0.85, 1.2
_CRITERIA = 2
_NO_LESS = Promise("excess of the best, no less", 1.0, LEAST)
_NO_MORE = Promise("excess of the best, no more", 1.0, MOST, at_most=True)


@dataclass(frozen=True)
class ExcessClaim(Claim):
    """Here the rate is what is said as a `part` of what is so, both in the mean of the worlds; `wrong`: its
    standard error.
    """

    part: float = 1.0
    wrong: float = 0.0

    @property
    def rate(self) -> float:
        """What is said / what is so."""
        return self.part

    @property
    def error(self) -> float:
        """The standard error of the rate, of so many drawn worlds."""
        return self.wrong


def excess_held(times: int) -> Iterator[Claim]:
    """Two or five judges, equally good on each of two criteria, whose luck is the same on a part of the
    instructions.
    """
    single = [World(instructions, 1) for instructions in (10, 30, 99, 300)]
    several = [World(20, 5, 0.5), World(60, 5, 0.3, uneven=True)]
    kinds = product((*single, *several), (0.6, 0.9), (2, 5), (0.0, 0.7))
    for seed, (world, share, judges, common) in enumerate(kinds):
        part, wrong = _said_and_so(world, share, judges, common, times, seed)
        where = f"{judges} at {share:g}, together {common:g}, {world}"
        for promise in (_NO_LESS, _NO_MORE):
            yield ExcessClaim(promise, where, 0, times, part=part, wrong=wrong)


def _said_and_so(
    world: World, share: float, judges: int, common: float, times: int, seed: int
) -> tuple[float, float]:
    """Excess said / excess, and its standard error."""
    random = np.random.default_rng(seed)
    said, real = np.zeros(times), np.zeros(times)
    for number in range(times):
        groups = world.groups(random)
        shared = world.right(random, groups, share)
        found = []
        for _ in range(judges):
            together = (random.random(world.instructions) < common)[groups]
            values = {
                str(criterion): np.where(together, shared, world.right(random, groups, share)).tolist()
                for criterion in range(_CRITERIA)
            }
            over = OverInstructions.of(values, dict.fromkeys(values, groups))
            assert over is not None
            found.append(over)
        choice = cost_of_choosing(found)
        assert choice is not None
        said[number] = choice.excess
        # What all have in common is nobody's merit, and makes the mean over worlds uncertain.
        real[number] = max(one.mean for one in found) - float(np.mean([one.mean for one in found]))
    part = float(said.mean() / real.mean())
    return part, part * float(np.hypot(said.std() / said.mean(), real.std() / real.mean())) / times**0.5
