"""Whether a judge that is worse than people wins the alternative annotator test, and whether the interval of
its advantage holds.

Knows: `engine/metrics/alt_test.py`. Does not know: people of a run, tables.
"""

from collections.abc import Iterator
from functools import cache, partial
from itertools import product

import numpy as np

from bench.coverage.claims import Claim, Promise
from bench.coverage.intervals import LEAST, NOMINAL
from engine.core.items import PREFERENCES, HumanLabel
from engine.core.judgments import JudgmentKey
from engine.metrics.alt_test import AltTest, Annotators, alt_tests
from engine.metrics.intervals import OverInstructions

_WINS = Promise("a judge worse by epsilon wins", 0.05, 0.075, at_most=True)
_ADVANTAGE = Promise("advantage of a judge", NOMINAL, LEAST)
_TRUTH = 30_000  # labels by which the truth of a world is known


def false_wins(times: int) -> Iterator[Claim]:
    """Against one person, before the correction for several: the judge is better on none of the items or on
    some, and worse on as many more as epsilon says; items of an instruction are alike, or not.
    """
    sizes = ((30, 1), (50, 1), (100, 1), (300, 1), (15, 4), (40, 5))
    worlds = product(sizes, Annotators, (0.0, 0.05, 0.3), (False, True))
    for seed, ((instructions, each), kind, better, alike) in enumerate(worlds):
        if alike and each == 1:
            continue
        where = (
            f"{instructions} of {each}{' alike' if alike else ''}, epsilon {kind.value:g}, better {better:g}"
        )
        draw = partial(_wins, instructions, each, kind.value, better, alike)
        yield Claim.drawn(_WINS, where, draw, times, seed)


def advantages_held(times: int) -> Iterator[Claim]:
    """Two to five people; some instructions are hard for all."""
    sizes, skills = ((30, 1), (100, 1), (20, 5)), ((0.7, 0.7), (0.95, 0.6), (0.8, 0.3))
    for seed, (annotators, size, knows, hard) in enumerate(product((2, 3, 5), sizes, skills, (0.0, 0.4))):
        world = (annotators, *size, *knows, hard)
        where = f"{annotators} people, {knows[0]:g} and {knows[1]:g}, {size[0]} of {size[1]}, hard {hard:g}"
        yield Claim.drawn(_ADVANTAGE, where, partial(_holds, world), max(times // 3, 20), seed)


_World = tuple[int, int, int, float, float, float]


def _wins(
    instructions: int, each: int, epsilon: float, better: float, alike: bool, random: np.random.Generator
) -> bool:
    drawn = random.random(instructions if alike else instructions * each)
    leads = np.where(drawn < better, -1.0, np.where(drawn < 2 * better + epsilon, 1.0, 0.0))
    values = np.repeat(leads, each) if alike else leads
    found = OverInstructions.of_one(values.tolist(), np.repeat(np.arange(instructions), each).tolist())
    return found is not None and found.p_below(epsilon) < 0.05


def _holds(world: _World, random: np.random.Generator) -> bool:
    ends = _drawn(world, world[1], random).advantage.ends
    return ends is not None and ends[0] <= _truth(world) <= ends[1]


@cache
def _truth(world: _World) -> float:
    annotators, _, each, *_ = world
    return _drawn(world, _TRUTH // (each * annotators), np.random.default_rng(0)).advantage.value


def _drawn(world: _World, instructions: int, random: np.random.Generator) -> AltTest:
    annotators, _, each, knows, judge_knows, hard = world
    items = instructions * each
    part = np.repeat(np.where(random.random(instructions) < hard, 1 / 3, 1.0), each)
    truth = random.integers(len(PREFERENCES), size=items)
    keys = [JudgmentKey(str(number), "safety") for number in range(items)]

    def labels(skill: float) -> dict[JudgmentKey, HumanLabel]:
        guessed = random.integers(len(PREFERENCES), size=items)
        said = np.where(random.random(items) < skill * part, truth, guessed)
        return dict(zip(keys, (PREFERENCES[place] for place in said), strict=True))

    by_name = {str(number): labels(knows) for number in range(annotators)}
    of = {str(number): str(number // each) for number in range(items)}
    [found] = alt_tests(by_name, labels(judge_knows), of, ["safety"])
    return found
