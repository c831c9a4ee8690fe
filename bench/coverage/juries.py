"""Whether the number of judges that a jury is worth lies where it is said, and what each judge adds."""

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from statistics import NormalDist

import numpy as np

from bench.coverage.claims import Kind, Promise, at_most, simulated
from bench.coverage.intervals import holds
from engine.calibration.jury_worth import JuryWorth, worth_of
from engine.core.numeric import BoolArray

_EXACT = 100_000  # labels, each of an instruction of its own: the truth is known to .5 %


@dataclass(frozen=True)
class JuryWorld(Kind):
    """Judges err where what they share, an instruction, and they themselves say so. `alike`: the correlation
    of what makes two judges err; `wrong`: how often each does.
    """

    judges: int
    labels: int
    instructions: int
    alike: float
    wrong: float = 0.3

    def drawn(self, random: np.random.Generator, labels: int, instructions: int) -> JuryWorth:
        groups = random.integers(0, instructions, labels)
        shared = (random.normal(size=instructions)[groups] + random.normal(size=labels)) / np.sqrt(2)
        own = (
            random.normal(size=(self.judges, instructions))[:, groups]
            + random.normal(size=(self.judges, labels))
        ) / np.sqrt(2)
        reason = np.sqrt(self.alike) * shared + np.sqrt(1 - self.alike) * own
        right = reason > NormalDist().inv_cdf(self.wrong)
        every = np.arange(self.judges)
        without = np.array([_majority(right[every != one]) for one in every])
        names, criteria = list(map(str, every)), np.zeros(labels, np.int64)
        return worth_of(names, np.vstack([right, _majority(right), without]), criteria, groups)

    @cached_property
    def truth(self) -> tuple[float, list[float]]:
        found = self.drawn(np.random.default_rng(0), _EXACT, _EXACT)
        assert found.effective is not None
        # Of two judges the first decides a draw, and the second adds nothing.
        adds = [one.adds.value for one in found.judges]
        return found.effective.value, [*adds[:1], 0.0] if self.judges == 2 else adds


def _majority(right: BoolArray) -> BoolArray:
    """Of labels that are right or not; the first judge decides a draw."""
    votes = 2 * right.sum(axis=0) - len(right)
    decided: BoolArray = np.where(votes == 0, right[0], votes > 0)
    return decided


@simulated(
    "juries",
    [
        Promise("how many judges a jury is worth"),
        Promise("what a judge adds"),
        at_most("a judge that adds nothing does", 0.05),
        at_most("independent judges are worth fewer", 0.05),
    ],
    [
        JuryWorld(judges, *design, alike, wrong)
        for judges, design, alike, wrong in product(
            (2, 3, 7), ((60, 60), (200, 200), (1000, 120), (200, 20)), (0.0, 0.6), (0.3, 0.1)
        )
    ],
)
def _juries_held(random: np.random.Generator, world: JuryWorld) -> list[object]:
    found = world.drawn(random, world.labels, world.instructions)
    if found.effective is None:
        return [None] * 4
    effective, adds = world.truth
    held = [holds(one.adds.ends, truth) for one, truth in zip(found.judges, adds, strict=True)]
    accused = found.judges[1].p_holm < 0.05 if world.judges == 2 else None
    fewer = found.effective.ends is not None and found.effective.ends[1] < world.judges
    ends = found.effective.ends
    return [ends is None or holds(ends, effective), held, accused, None if world.alike else fewer]
