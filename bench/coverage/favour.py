"""Whether a judge's favour to candidates, their families and features of responses lies where its interval
says, and how often a fair judge is accused.

Annotators and judge like what a candidate makes of an instruction partly alike, partly each for themselves;
what either says follows Davidson's model. A fair judge is exchangeable with the annotators.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np

from bench.coverage.claims import Kind, Promise, at_most, simulated
from bench.coverage.intervals import holds
from bench.coverage.rankings import contests, davidson_said, met
from engine.core.numeric import FloatArray
from engine.ranking.comparisons import PairComparisons
from engine.ranking.favour import favour, favoured_features

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
        names = ("llama-0", "llama-1", *map(str, range(2, self.candidates)))
        return replace(annotators, names=names), replace(judge, names=names)

    @cached_property
    def truth(self) -> dict[str, float]:
        """Of each candidate and of the two that are one family, -1 to 1; 0 for a fair judge."""
        if not self.by:
            return defaultdict(float)
        found = favour(*self.drawn(np.random.default_rng(0), _EXACT, _EXACT))
        return {name: one.difference.value for name, one in found.items()}


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
    accused = any(one.is_significant for one in found.values())
    most = max((one.at_most for one in found.values()), default=1.0)
    held = [holds(one.difference.ends, world.truth[name]) for name, one in found.items()]
    return [held, None if world.by else accused, not accused and most < max(map(abs, world.truth.values()))]


@dataclass(frozen=True)
class FeatureWorld(Kind):
    """Both like length and lists, which go together, and dislike refusals, which are rare; some candidates
    write more of either. `by`: what the judge gives beyond that, in log odds for much more.
    """

    items: int
    instructions: int
    by: float = 0.0

    def drawn(
        self, random: np.random.Generator, items: int, instructions: int
    ) -> tuple[PairComparisons, PairComparisons, Mapping[str, FloatArray]]:
        size = (instructions, 4)
        length = random.normal(0, 0.5, size) + 0.3 * np.arange(4)
        length += random.normal(0, 0.5, instructions)[:, None]
        made = {
            "length": np.exp(length),
            "lists": random.poisson(np.exp(length) / 2).astype(np.float64),
            "refusals": (random.random(size) < 0.05).astype(np.float64),
            **{name: random.poisson(0.5, size).astype(np.float64) for name in ("bold", "code", "hedging")},
        }
        first, second = met(random, 4, items)
        groups = random.integers(0, instructions, items)
        features = {name: each[groups, first] - each[groups, second] for name, each in made.items()}
        liked = np.tanh(length) + 0.2 * made["lists"] - made["refusals"] + random.normal(0, 1, size)
        unfair = np.tanh(made["length"] - 1) - made["refusals"] + 0.5 * made["bold"]
        annotators, judge = (
            contests(
                first, second, groups, davidson_said(random, seen[groups, first], seen[groups, second]), 4
            )
            for seen in (
                liked + random.normal(0, 1, size),
                liked + random.normal(0, 1, size) + self.by * unfair,
            )
        )
        return annotators, judge, features

    @cached_property
    def truth(self) -> dict[str, float]:
        if not self.by:
            return defaultdict(float)
        found = favoured_features(*self.drawn(np.random.default_rng(0), _EXACT, _EXACT))
        return {name: one.difference.value for name, one in found.items()}


@simulated(
    "features",
    [Promise("favour to a feature"), at_most("a fair judge favours a feature", 0.05)],
    [
        FeatureWorld(*design, by)
        for design, by in product(((40, 12), (100, 100), (200, 30), (1000, 150)), (0.0, 1.0))
    ],
)
def _features_held(random: np.random.Generator, world: FeatureWorld) -> list[object]:
    found = favoured_features(*world.drawn(random, world.items, world.instructions))
    held = [holds(one.difference.ends, world.truth[name]) for name, one in found.items()]
    return [held, None if world.by else any(one.is_significant for one in found.values())]
