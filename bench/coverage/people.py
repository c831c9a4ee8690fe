"""Whether the intervals of a person, and of the judge in his place, against the majority of others hold.

Knows: `engine/metrics/annotator_agreement.py`. Does not know: people of a run, tables.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np

from bench.coverage.claims import Claim, Promise
from bench.coverage.intervals import LEAST, MOST_FALSE_DIFFERENCE, NOMINAL
from engine.core.items import PREFERENCES
from engine.core.judgments import JudgmentKey
from engine.core.tables import Estimate
from engine.metrics.annotator_agreement import AgainstOthers, LabelsByKey, against_others

_TRUTH = 30_000  # labels by which the truth of a world is known


@dataclass(frozen=True)
class AnnotatorWorld:
    """`annotators` and a judge label all items of `instructions`, `each` of which has as many.

    `knows`, `judge_knows`: how often a person and the judge see what an item is; else they guess. `hard`: the
    share of instructions on which they do so a third as often.
    """

    annotators: int
    instructions: int
    each: int
    knows: float
    judge_knows: float
    hard: float

    def __str__(self) -> str:
        items = f"{self.instructions} instructions of {self.each}"
        return (
            f"{self.annotators} people, {self.knows:g} and {self.judge_knows:g}, {items}, hard {self.hard:g}"
        )

    def drawn(self, random: np.random.Generator, instructions: int) -> AgainstOthers | None:
        """What is found of each person in turn."""
        items = instructions * self.each
        part = np.repeat(np.where(random.random(instructions) < self.hard, 1 / 3, 1.0), self.each)
        truth = random.integers(2, size=items)  # A or B: ties agree with each other, which is tried elsewhere
        keys = [JudgmentKey(str(number), "safety") for number in range(items)]

        def labels(knows: float) -> LabelsByKey:
            guessed = random.integers(2, size=items)
            said = np.where(random.random(items) < knows * part, truth, guessed)
            return dict(zip(keys, (PREFERENCES[place] for place in said), strict=True))

        annotators = {str(number): labels(self.knows) for number in range(self.annotators)}
        of = {str(number): str(number // self.each) for number in range(items)}
        found = against_others(annotators, labels(self.judge_knows), of, ["safety"])
        return found[0] if found else None

    @property
    def truth(self) -> Mapping[str, float]:
        """Each share and the difference, from very many items."""
        return _truth(self)


@cache
def _truth(world: AnnotatorWorld) -> Mapping[str, float]:
    found = world.drawn(np.random.default_rng(0), _TRUTH // (world.each * world.annotators))
    assert found is not None
    return {name: measured.value for name, measured in _shown(found).items()}


def annotators_held(times: int) -> Iterator[Claim]:
    """Two to five people who are as good as the judge, better or worse."""
    sizes, skills = ((10, 1), (30, 1), (100, 1), (20, 5)), ((0.7, 0.7), (0.95, 0.6), (0.98, 0.98))
    for seed, (annotators, size, knows, hard) in enumerate(product((2, 3, 5), sizes, skills, (0.0, 0.4))):
        world = AnnotatorWorld(annotators, *size, *knows, hard)
        random = np.random.default_rng(seed)
        drawn = [world.drawn(random, world.instructions) for _ in range(times)]
        for name, promise in _SAID.items():
            held = sum(is_held(found, name, world.truth[name]) for found in drawn)
            yield Claim(promise, str(world), held, times)
        if knows[0] == knows[1]:
            differs = times - sum(is_held(found, "lead", 0.0) for found in drawn)
            yield Claim(_DIFFERS, str(world), differs, times)


_SAID = {
    "own": Promise("a person beside the others", NOMINAL, LEAST),
    "judge": Promise("the judge beside them", NOMINAL, LEAST),
    "lead": Promise("their difference", NOMINAL, LEAST),
}
_DIFFERS = Promise("an equal judge differs from people", 1 - NOMINAL, MOST_FALSE_DIFFERENCE, at_most=True)


def is_held(found: AgainstOthers | None, name: str, truth: float) -> bool:
    """Whether an interval, of `own`, `judge` or `lead`, holds the truth."""
    ends = _shown(found)[name].ends if found else None
    return ends is not None and ends[0] <= truth <= ends[1]


def _shown(found: AgainstOthers) -> Mapping[str, Estimate]:
    assert found.judge is not None
    assert found.lead is not None
    return {"own": found.own, "judge": found.judge, "lead": found.lead}
