"""Whether the intervals of an annotator, and of the judge in his place, against the majority of others hold;
whether a judge that is worse than people wins the alternative annotator test; the interval of its edge; an
annotator against themself, their pace, tiring and anchoring.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import product

import numpy as np

from bench.coverage.claims import NOMINAL, Kind, Promise, at_most, simulated
from bench.coverage.intervals import MOST_FALSE_DIFFERENCE, holds
from engine.annotations.effective import Reviews
from engine.annotations.records import AnnotationKind, new_override
from engine.core.items import PREFERENCES
from engine.core.judgments import JudgmentKey
from engine.core.numeric import FloatArray, IntArray
from engine.core.tables import Estimate
from engine.metrics.annotator_agreement import (
    AgainstOthers,
    AltTest,
    Annotators,
    LabelsByKey,
    against_others,
    alt_tests,
)
from engine.metrics.annotator_quality import BREAK, LabellingQuality, labelling_quality
from engine.metrics.intervals import OverInstructions
from engine.settings.sampling import hidden_place

_TRUTH = 30_000  # labels by which the truth of a world is known
_SEED = 0
_START = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)


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


@dataclass(frozen=True)
class QualityWorld(Kind):
    """An annotator labels `items` of so many instructions, `repeats` of them twice, and sees the judge's
    labels on two thirds of them. Both see what an item is in a share `knows` and `judge_knows`, a third as
    often on `hard` instructions. `moved`: how often the annotator takes a label that they see. `slower`: by
    what the time of the last half is multiplied, `worse`: by what their knowledge there.
    """

    items: int
    instructions: int
    repeats: int
    knows: float
    judge_knows: float
    hard: float
    moved: float = 0.0
    slower: float = 1.0
    worse: float = 1.0

    def drawn(self, random: np.random.Generator, items: int, instructions: int) -> LabellingQuality:
        groups = np.arange(items) % instructions
        hard = np.where(random.random(instructions) < self.hard, 1 / 3, 1.0)[groups]
        truth = random.integers(4, size=items)
        ids = [str(place) for place in range(items)]
        again = round(self.repeats * items / self.items)
        late = 2 * np.arange(items) >= items + again  # of all that is labelled

        def said(knows: float | FloatArray) -> IntArray:
            return np.where(random.random(items) < knows * hard, truth, random.integers(4, size=items))

        judge, knows = said(self.judge_knows), self.knows * np.where(late, self.worse, 1.0)
        hidden = np.array([hidden_place(each, _SEED) for each in ids]) < 1 / 3
        first = np.where(~hidden & (random.random(items) < self.moved), judge, said(knows))
        second = said(knows)
        repeated = random.permutation(items // 2)[:again]
        keys = [JudgmentKey(each, "safety") for each in ids]
        took = random.lognormal(3, 0.6, items) * np.where(late, self.slower, 1.0)
        at, said_of = _START, []
        for place, key in enumerate(keys):
            at += timedelta(seconds=float(min(took[place], BREAK)))
            label = PREFERENCES[first[place]]
            word = new_override(*key, label, None, "Ada", blind=bool(hidden[place]))
            said_of.append(replace(word, created=at))
        for place in repeated:
            at += timedelta(days=1)  # after a break: their times are no matter
            word = replace(said_of[place], kind=AnnotationKind.REPEAT, created=at)
            said_of.append(replace(word, preference=PREFERENCES[second[place]]))
        labels = dict(zip(keys, (PREFERENCES[place] for place in judge), strict=True))
        gold = dict(zip(keys, (PREFERENCES[place] for place in truth), strict=True))
        of = dict(zip(ids, map(str, groups), strict=True))
        reviews = Reviews(tuple(said_of))
        return labelling_quality(reviews, labels, {}, instructions=of, gold=gold, seed=_SEED)

    @cached_property
    def truth(self) -> Mapping[str, float]:
        """Each estimate, from very many items."""
        found = _estimates(self.drawn(np.random.default_rng(0), _TRUTH, _TRUTH))
        part = (1 - self.repeats / self.items) / 2  # of the items, those that are late
        exact = {"slower": self.slower, "seconds": math.exp(3) * self.slower**part}
        exact |= {"later": 0.0} if self.worse == 1 else {}
        exact |= {"anchoring": 0.0} if not self.moved else {}
        is_equal = self.judge_knows == self.knows and not self.moved and self.worse == 1
        exact |= {"lead": 0.0} if is_equal else {}
        return {name: each.value for name, each in found.items()} | exact


def _estimates(found: LabellingQuality) -> dict[str, Estimate]:
    [ada], [seen] = found.annotators, found.anchoring
    return {name: getattr(ada, name) for name in _QUALITY[:-1]} | {"anchoring": seen.difference}


_QUALITY = ("own", "judge", "lead", "gold", "seconds", "slower", "later", "anchoring")


@simulated(
    "themselves",
    [
        *(Promise(f"annotators: {name}") for name in _QUALITY),
        at_most("an equal judge differs from them", 0.05),
        at_most("who does not tire is said to", 0.05),
        at_most("who is not moved is said to be", 0.05),
    ],
    [
        QualityWorld(*size, *knows, hard, *moved)
        for size, knows, hard, moved in product(
            ((60, 60, 20), (60, 20, 20), (200, 200, 40), (200, 25, 30)),
            ((0.7, 0.7), (0.95, 0.6), (0.98, 0.98)),
            (0.0, 0.4),
            ((0.0, 1.0, 1.0), (0.3, 1.5, 0.8)),
        )
    ],
)
def _quality_held(random: np.random.Generator, world: QualityWorld) -> list[bool | None]:
    """Repeats, times, halves, and what is seen of the judge's labels."""
    found = world.drawn(random, world.items, world.instructions)
    estimates, truth = _estimates(found), world.truth
    held = [holds(estimates[name].ends, truth[name]) for name in _QUALITY]
    equal = found.annotators[0].differs if truth["lead"] == 0 else None
    false = [
        not holds(estimates[name].ends, 0.0) if truth[name] == 0 else None for name in ("later", "anchoring")
    ]
    tires = false[0] if world.slower == 1 else None
    return [*held, equal, tires, false[1]]
