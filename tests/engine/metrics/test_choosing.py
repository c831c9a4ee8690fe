"""How much better the best of several looks than it is is what happens in drawn worlds of equal ones.

`python -m bench.coverage --only choosing` tries many more worlds.
"""

from functools import partial

import numpy as np
import pytest

from engine.metrics.intervals import OverInstructions, cost_of_choosing

WORLDS = 120
SHARE = 0.7


def luck_and_cost(
    random: np.random.Generator, instructions: int, each: int, of: int, common: float
) -> tuple[float, float]:
    """By how much the best of equally good judges looks too good in one world, and what is said there.

    Items of one instruction are right or wrong together; `common`: on which share of instructions all
    judges are, too.
    """
    groups = np.repeat(np.arange(instructions), each)
    shared = random.random(instructions) < SHARE
    together = random.random((of, instructions)) < common
    rights = np.where(together, shared, random.random((of, instructions)) < SHARE)[:, groups]
    judges = [OverInstructions.of_one(right.astype(float).tolist(), groups.tolist()) for right in rights]
    choice = cost_of_choosing(judges)
    assert choice is not None
    assert choice.candidates == of
    return float(rights.mean(axis=1).max()) - SHARE, choice.excess


@pytest.mark.parametrize(
    ("instructions", "each", "of", "common"), [(99, 1, 5, 0.0), (99, 1, 5, 0.8), (40, 5, 3, 0.0)]
)
def test_it_is_what_happens_to_equal_ones(instructions: int, each: int, of: int, common: float) -> None:
    draw = partial(luck_and_cost, np.random.default_rng(4), instructions, each, of, common)
    lucks, costs = zip(*(draw() for _ in range(WORLDS)), strict=True)
    error = float(np.std(lucks)) / WORLDS**0.5
    assert np.mean(costs) == pytest.approx(np.mean(lucks), abs=3 * error + 0.03 * np.mean(lucks))


def test_two_that_are_never_both_right_have_the_known_cost() -> None:
    """Of two opposite normal numbers the larger one is in the mean their deviation times (2 / pi) ** .5."""
    right, groups = [1.0, 0.0] * 50, list(range(100))
    choice = cost_of_choosing(
        [OverInstructions.of_one(right, groups), OverInstructions.of_one(right[::-1], groups)]
    )
    assert choice is not None
    assert choice.excess == pytest.approx((2 / np.pi / (4 * 99)) ** 0.5, rel=0.03)


def test_the_same_judge_twice_costs_nothing_and_few_instructions_take_no_part() -> None:
    enough = OverInstructions.of_one([1.0, 0.0] * 10, range(20))
    few = OverInstructions.of_one([1.0, 0.0] * 4, range(8))
    choice = cost_of_choosing([enough, few, None, enough])
    assert choice is not None
    assert choice.candidates == 2
    assert choice.excess == pytest.approx(0, abs=1e-9)
    assert cost_of_choosing([enough, few]) is None
