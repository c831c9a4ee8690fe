"""Whether the intervals of an annotator, and of the judge in his place, against the majority of others hold;
whether a judge that is worse than people wins the alternative annotator test; the interval of its edge."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from bench.coverage.claims import NOMINAL, Kind, Promise, at_most, simulated
from bench.coverage.intervals import MOST_FALSE_DIFFERENCE, holds
from engine.core.items import PREFERENCES
from engine.core.judgments import JudgmentKey
from engine.core.tables import Estimate
from engine.metrics.annotator_agreement import (
    AgainstOthers,
    AltTest,
    Annotators,
    LabelsByKey,
    against_others,
    alt_tests,
)
from engine.metrics.intervals import OverInstructions

_TRUTH = 30_000  # labels by which the truth of a world is known


@dataclass(frozen=True)
class AnnotatorWorld(Kind):
    """`each`: items of an instruction. `knows`, `judge_knows`: how often an annotator and the judge see what
    an item is, a third as often on a share of `hard` instructions; else they guess.
    """

    annotators: int
    instructions: int
    each: int
    knows: float
    judge_knows: float
    hard: float

    def labels(
        self, random: np.random.Generator, instructions: int, kinds: int
    ) -> tuple[Mapping[str, LabelsByKey], LabelsByKey, Mapping[str, str]]:
        """What each annotator and the judge say, of so many labels, and the instruction of each item."""
        items = instructions * self.each
        part = np.repeat(np.where(random.random(instructions) < self.hard, 1 / 3, 1.0), self.each)
        truth = random.integers(kinds, size=items)
        keys = [JudgmentKey(str(number), "safety") for number in range(items)]

        def labels(knows: float) -> LabelsByKey:
            guessed = random.integers(kinds, size=items)
            said = np.where(random.random(items) < knows * part, truth, guessed)
            return dict(zip(keys, (PREFERENCES[place] for place in said), strict=True))

        annotators = {str(number): labels(self.knows) for number in range(self.annotators)}
        of = {str(number): str(number // self.each) for number in range(items)}
        return annotators, labels(self.judge_knows), of

    def drawn(self, random: np.random.Generator, instructions: int) -> AgainstOthers | None:
        """What is found of each person in turn. A or B: ties agree with each other, as is tried elsewhere."""
        found = against_others(*self.labels(random, instructions, 2), ["safety"])
        return found[0] if found else None

    def tested(self, random: np.random.Generator, instructions: int) -> AltTest:
        [found] = alt_tests(*self.labels(random, instructions, len(PREFERENCES)), ["safety"])
        return found

    @property
    def many(self) -> int:
        return _TRUTH // (self.each * self.annotators)

    @cached_property
    def advantage(self) -> float:
        return self.tested(np.random.default_rng(0), self.many).advantage.value

    @cached_property
    def truth(self) -> Mapping[str, float]:
        """Each share and the difference, from very many items."""
        found = self.drawn(np.random.default_rng(0), self.many)
        assert found is not None
        return {name: measured.value for name, measured in _shown(found).items()}


_SIZES, _SKILLS = ((10, 1), (30, 1), (100, 1), (20, 5)), ((0.7, 0.7), (0.95, 0.6), (0.98, 0.98))


@simulated(
    "people",
    (
        *map(Promise, ("a person beside the others", "the judge beside them", "their difference")),
        at_most("an equal judge differs from people", 1 - NOMINAL, MOST_FALSE_DIFFERENCE),
    ),
    [
        AnnotatorWorld(annotators, *size, *knows, hard)
        for annotators, size, knows, hard in product((2, 3, 5), _SIZES, _SKILLS, (0.0, 0.4))
    ],
)
def _annotators_held(random: np.random.Generator, world: AnnotatorWorld) -> list[bool | None]:
    """Two to five people who are as good as the judge, better or worse."""
    found, is_equal = world.drawn(random, world.instructions), world.knows == world.judge_knows
    held = [is_held(found, name, world.truth[name]) for name in ("own", "judge", "lead")]
    return [*held, not is_held(found, "lead", 0.0) if is_equal else None]


def is_held(found: AgainstOthers | None, name: str, truth: float) -> bool:
    """Whether an interval, of `own`, `judge` or `lead`, holds the truth."""
    return holds(_shown(found)[name].ends if found else None, truth)


def _shown(found: AgainstOthers) -> Mapping[str, Estimate]:
    assert found.judge is not None
    assert found.lead is not None
    return {"own": found.own, "judge": found.judge, "lead": found.lead}


@simulated(
    "false wins",
    at_most("a judge worse by epsilon wins", 0.05, 0.075),
    [
        (*size, kind.value, better, alike)
        for size, kind, better, alike in product(
            ((30, 1), (50, 1), (100, 1), (300, 1), (15, 4), (40, 5)),
            Annotators,
            (0.0, 0.05, 0.3),
            (False, True),
        )
        if not (alike and size[1] == 1)
    ],
    "{0} of {1}, alike: {4}, epsilon {2:g}, better {3:g}",
)
def _wins(
    random: np.random.Generator, instructions: int, each: int, epsilon: float, better: float, alike: bool
) -> bool:
    """Against one person, before correction: as often better as `better`, worse by epsilon more."""
    drawn = random.random(instructions if alike else instructions * each)
    leads = np.where(drawn < better, -1.0, np.where(drawn < 2 * better + epsilon, 1.0, 0.0))
    values = np.repeat(leads, each) if alike else leads
    found = OverInstructions.of_one(values.tolist(), np.repeat(np.arange(instructions), each).tolist())
    return found is not None and found.p_below(epsilon) < 0.05


@simulated(
    "advantage",
    Promise("advantage of a judge"),
    [
        AnnotatorWorld(annotators, *size, *knows, hard)
        for annotators, size, knows, hard in product(
            (2, 3, 5), ((30, 1), (100, 1), (20, 5)), ((0.7, 0.7), (0.95, 0.6), (0.8, 0.3)), (0.0, 0.4)
        )
    ],
    costs=3,
    least=20,
)
def _advantage_held(random: np.random.Generator, world: AnnotatorWorld) -> bool:
    return holds(world.tested(random, world.instructions).advantage.ends, world.advantage)
