"""Whether a judge's favour to candidates lies where its interval says, and how often a fair judge is accused.

Annotators and judge like what a candidate makes of an instruction partly alike, partly each for themselves;
what either says follows Davidson's model. A fair judge is exchangeable with the annotators.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from bench.coverage.claims import Kind, Promise, at_most, simulated
from bench.coverage.intervals import holds
from bench.coverage.rankings import contests, davidson_said, met
from engine.core.numeric import FloatArray
from engine.ranking.comparisons import PairComparisons
from engine.ranking.favour import favour

_EXACT = 200_000  # contests, each on an instruction of its own: the truth is known to .3 points


@dataclass(frozen=True)
class FavourWorld(Kind):
    """`by`: what the first candidate gains with the judge, the last loses, in log odds."""

    candidates: int
    items: int
    instructions: int
    by: float = 0.0

    def drawn(
        self, random: np.random.Generator, items: int, instructions: int
    ) -> tuple[PairComparisons, PairComparisons]:
        first, second = met(random, self.candidates, items)
        groups = random.integers(0, instructions, items)
        size = (instructions, self.candidates)
        truth = np.linspace(1, -1, self.candidates) + random.normal(0, 1, size)
        favoured = np.zeros(self.candidates)
        favoured[0], favoured[-1] = self.by, -self.by
        annotators, judge = (
            contests(
                first,
                second,
                groups,
                davidson_said(random, seen[groups, first], seen[groups, second]),
                self.candidates,
            )
            for seen in (truth + random.normal(0, 1, size), truth + random.normal(0, 1, size) + favoured)
        )
        return annotators, judge

    @cached_property
    def truth(self) -> FloatArray:
        """Of each candidate, -1 to 1; 0 for a fair judge."""
        if not self.by:
            return np.zeros(self.candidates)
        annotators, judge = self.drawn(np.random.default_rng(0), _EXACT, _EXACT)
        rows = enumerate(annotators.of)
        return np.array([np.mean(judge.won(one, at) - annotators.won(one, at)) for one, at in rows])


@simulated(
    "favour",
    [
        Promise("favour to a candidate"),
        at_most("a fair judge favours somebody", 0.05),
        at_most("nobody is favoured beyond, wrongly", 0.05),
    ],
    [
        FavourWorld(candidates, *design, by)
        for candidates, design, by in product(
            (2, 5), ((100, 100), (100, 20), (200, 12), (1000, 150)), (0.0, 0.8)
        )
    ],
)
def _favour_held(random: np.random.Generator, world: FavourWorld) -> list[object]:
    found = favour(*world.drawn(random, world.items, world.instructions))
    right = {name: world.truth[int(name)] for name in found}
    accused = any(one.is_significant for one in found.values())
    most = max((one.at_most for one in found.values()), default=1.0)
    held = [holds(one.difference.ends, right[name]) for name, one in found.items()]
    return [held, None if world.by else accused, not accused and most < np.abs(world.truth).max()]
