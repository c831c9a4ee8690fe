"""Intervals of shares and differences over instructions, and what choosing the best costs."""

from collections.abc import Hashable, Sequence
from functools import partial

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold

from engine.core.numeric import FloatArray
from engine.metrics.intervals import (
    OverInstructions,
    cost_of_choosing,
    group_numbers,
    grouped_folds,
    least_interval,
    share_interval,
)
from tests.steps import there

# Intervals over instructions hold the truth as often as they say, few items or equal ones notwithstanding.
# `python -m bench.coverage` tries many more worlds.


WORLDS = 400
LEAST_HELD = 0.92  # of 400 worlds .95 are held: fewer than .92 come in one of 300 tests


def over(values: Sequence[float], groups: Sequence[Hashable]) -> OverInstructions:
    return there(OverInstructions.of_one(values, groups))


def drawn(
    random: np.random.Generator, instructions: int, each: int, share: float, alike: float
) -> tuple[FloatArray, list[int]]:
    """Right (1) or wrong (0) for `each` items of every instruction, and these. `alike`: how far an
    instruction decides, 0 to 1.
    """
    whole = np.repeat(random.random(instructions) < share, each)
    alone = random.random(instructions * each) < share
    by_instruction = np.repeat(random.random(instructions) < alike, each)
    values = np.where(by_instruction, whole, alone).astype(np.float64)
    return values, np.repeat(np.arange(instructions), each).tolist()


@pytest.mark.parametrize(
    ("instructions", "each", "share", "alike"),
    [
        *((10, 1, 0.9, 0.0), (20, 1, 0.95, 0.0), (24, 1, 0.97, 0.0), (99, 1, 0.97, 0.0)),
        *((4, 8, 0.7, 0.6), (33, 15, 0.97, 0.6), (60, 5, 0.5, 1.0)),
    ],
)
def test_a_share_is_held(instructions: int, each: int, share: float, alike: float) -> None:
    random = np.random.default_rng(1)
    held = 0
    for _ in range(WORLDS):
        values, groups = drawn(random, instructions, each, share, alike)
        found = there(share_interval(values.tolist(), groups))
        held += found.low <= share <= found.high
    assert held / WORLDS >= LEAST_HELD


def test_one_item_for_each_instruction_gives_clopper_and_pearsons_interval() -> None:
    """81 of 263 and 15 of 148: as in Newcombe, Two-sided confidence intervals (1998), table I, method 5."""
    known = {(81, 263): (0.2527, 0.3676), (15, 148): (0.0578, 0.1617), (0, 20): (0.0, 0.1684)}
    for (right, items), ends in known.items():
        values = [1.0] * right + [0.0] * (items - right)
        assert share_interval(values, range(items)) == pytest.approx(ends, abs=1e-4)


def test_all_right_is_not_surely_always_right() -> None:
    few, more = (share_interval([1.0] * items, range(items)) for items in (10, 100))
    assert few == pytest.approx((0.692, 1.0), abs=1e-3)
    assert more == pytest.approx((0.964, 1.0), abs=1e-3)


def test_items_of_one_instruction_that_are_one_and_the_same_count_once() -> None:
    values = [float(value) for value in np.random.default_rng(3).random(50) < 0.5]
    alone = share_interval(values, range(50))
    repeated = share_interval(values * 4, list(range(50)) * 4)
    assert repeated == pytest.approx(alone, abs=0.005)


def test_criteria_that_are_right_on_the_same_items_count_once_and_on_others_add_up() -> None:
    right, groups = [1.0] * 10 + [0.0] * 10, list(range(20))
    alone = there(share_interval(right, groups))
    same, against = (
        OverInstructions.of({"a": right, "b": other}, {"a": groups, "b": groups})
        for other in (right, right[::-1])
    )
    assert there(same).share_interval() == pytest.approx(alone, abs=0.02)
    one, other = there(against).share_interval(), alone
    assert one.high - one.low < 0.8 * (other.high - other.low)
    # A single instruction gives none.
    assert share_interval([0.0, 1.0], ["one", "one"]) is None
    assert least_interval([[0.0, 1.0]], ["one", "one"]) is None


@pytest.mark.parametrize(("instructions", "each"), [(10, 1), (60, 5), (20, 15)])
def test_a_difference_is_held_and_equal_systems_seldom_differ(instructions: int, each: int) -> None:
    random = np.random.default_rng(2)
    held = different = 0
    for _ in range(WORLDS):
        one, groups = drawn(random, instructions, each, 0.8, 0.7)
        other, _ = drawn(random, instructions, each, 0.8, 0.7)
        found = over((one - other).tolist(), groups)
        ends = found.difference_interval()
        held += ends.low <= 0 <= ends.high
        different += found.p_value < 0.05
        assert (found.p_value < 0.05) == (not ends.low <= 0 <= ends.high)
    assert held / WORLDS >= LEAST_HELD
    assert different == WORLDS - held


def test_equal_systems_seldom_differ_where_a_criterion_has_few_labels() -> None:
    """Two labels of one criterion, 200 of another: with the freedom of both together, in 11 % of worlds."""
    random, sizes = np.random.default_rng(0), {"few": 2, "many": 200}
    groups = {name: range(size) for name, size in sizes.items()}
    found = []
    for _ in range(600):
        leads = {
            name: np.subtract(*(random.random((2, size)) < 0.6).astype(float)) for name, size in sizes.items()
        }
        found.append(OverInstructions.of_enough(leads, groups).p_value < 0.05)
    assert np.mean(found) < 0.05


def test_systems_that_never_differed_are_not_surely_alike() -> None:
    found = over([0.0] * 30, range(30))
    assert found.difference_interval() == pytest.approx((-0.098, 0.098), abs=1e-3)
    assert found.p_value == pytest.approx(1.0)


def test_the_least_of_several_leads_is_above_0_only_where_all_are() -> None:
    small_and_significant, larger_and_not = [0.5] * 40, [1.0, -0.8] * 20
    found = there(least_interval([small_and_significant, larger_and_not], range(40)))
    one, other = (over(row, range(40)) for row in (small_and_significant, larger_and_not))
    assert one.difference_interval().low > 0 > found.low == other.difference_interval().low
    assert found.high == other.difference_interval().high


def test_values_that_do_not_vary_have_no_interval_of_their_mean() -> None:
    equal, other = (over([3.0, 3.0, last], range(3)) for last in (3.0, 5.0))
    assert equal.skewed_interval() is None
    assert equal.mean_interval() is None
    assert other.mean_interval() == pytest.approx((11 / 3 - 2.868, 11 / 3 + 2.868), abs=1e-3)


def test_folds_keep_a_group_together_and_test_each_item_once() -> None:
    groups = ["a", "b", "a", "c", "d", "b", "e"]
    folds = grouped_folds(groups, folds=3)
    assert sorted(index for _, test in folds for index in test.tolist()) == list(range(7))
    for train, test in folds:
        assert not {groups[index] for index in train} & {groups[index] for index in test}
    assert len(grouped_folds(["a", "b", "a"])) == 2
    with pytest.raises(ValueError, match="1 different instructions"):
        grouped_folds(["a", "a"])


@pytest.mark.parametrize("groups", ["abacdbe", "ab" * 20, "aqbwcedrftgyhujikolp" * 3])
def test_folds_are_those_of_scikit_learn(groups: str) -> None:
    folds = grouped_folds(list(groups), folds=5)
    splitter = GroupKFold(min(5, len(set(groups))), shuffle=True, random_state=0)
    theirs = splitter.split(groups, groups=group_numbers(groups))
    for (train, test), (their_train, their_test) in zip(folds, theirs, strict=True):
        assert train.tolist() == their_train.tolist()
        assert test.tolist() == their_test.tolist()


@pytest.mark.parametrize("bound", [0.05, 0.2, 0.5])
@pytest.mark.parametrize("seed", range(12))
def test_a_p_value_is_below_the_tail_where_the_interval_is_above_the_bound(bound: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    right, groups = drawn(random, 12, 3, 0.3, 0.5)
    share = over(right.tolist(), groups)
    score = over(random.beta(1, 3, size=len(groups)).tolist(), groups)
    mean = over(random.normal(0.2, 0.4, size=len(groups)).tolist(), groups)
    known = (
        (share.share_interval(), share.p_share_above(bound)),
        (score.score_interval(), score.p_above_within(bound, 0.0)),
        (mean.interval_within(-2.0, 2.0), mean.p_above_within(bound, -2.0)),
        (mean.difference_interval(), mean.p_difference_above(bound)),
    )
    for ends, p in known:
        assert (p < 0.025) is (ends.low > bound)


def test_where_nothing_varies_a_mean_is_not_sure() -> None:
    found, nothing, all_of_it = (over([value] * 12, range(12)) for value in (0.5, 0.0, 1.0))
    assert found.score_interval() == pytest.approx((0.377, 0.623), abs=1e-3)
    assert found.p_above_within(0.4, 0.0) > 0.01
    assert nothing.score_interval() == pytest.approx((0.0, 0.246), abs=1e-3)
    assert all_of_it.score_interval() == pytest.approx((0.754, 1.0), abs=1e-3)
    assert (nothing.p_above_within(0.0, 0.0), nothing.p_above_within(0.1, 0.0)) == (1.0, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize(("instructions", "each"), [(10, 1), (20, 5), (40, 1), (100, 3)])
def test_a_score_is_held_where_large_values_are_rare(instructions: int, each: int, mirrored: bool) -> None:
    random = np.random.default_rng(3)
    groups = np.repeat(np.arange(instructions), each)
    held = 0
    for _ in range(WORLDS):
        rare = (random.random(instructions) < 0.05)[groups]
        near = random.beta(1, 60, len(groups))  # to its end
        values = np.where(rare ^ mirrored, 1 - near, near)
        share = abs(mirrored - 0.05)
        ends = over(values.tolist(), groups.tolist()).score_interval()
        held += ends.low <= share * 60 / 61 + (1 - share) / 61 <= ends.high
    assert held / WORLDS >= LEAST_HELD


def test_so_many_times_the_values_are_so_much_surer() -> None:
    values, groups = drawn(np.random.default_rng(0), 15, 2, 0.4, 0.5)
    found = over(values.tolist(), groups)
    thrice = over(values.tolist() * 3, [f"{group}" for group in range(45) for _ in "ab"])
    assert found.repeated(3).share_interval() == pytest.approx(thrice.share_interval(), abs=0.02)
    one, other = found.repeated(3).score_interval(), found.score_interval()
    assert one.high - one.low < 0.7 * (other.high - other.low)


def test_a_mean_has_its_interval_by_its_pulls_too() -> None:
    values, groups = drawn(np.random.default_rng(0), 15, 2, 0.4, 0.5)
    found = over(values.tolist(), groups)
    share = 1 / len(values)
    pulls = (values - values.mean()) * share
    same = OverInstructions.of_pulls(float(values.mean()), pulls.tolist(), [share] * len(values), groups)
    assert same is not None
    assert same.mean_interval() == pytest.approx(found.mean_interval())
    assert same.difference_interval() == pytest.approx(found.difference_interval())
    mirrored = same.mirrored().mean_interval()
    assert mirrored == pytest.approx(tuple(-end for end in reversed(same.mean_interval() or ())))
    assert OverInstructions.of_pulls(0.5, [0.0], [1.0], ["one"]) is None


def test_skewed_values_have_the_variance_of_one_instruction_more_as_far_off() -> None:
    found = over([0.0] * 9 + [5.0], range(10))
    plain, skewed = found.mean_interval(), found.skewed_interval()
    assert plain is not None
    assert skewed is not None
    # Of squared pulls of nine of 0.05 and one of 0.45, the last counts twice.
    assert (skewed.high - 0.5) / (plain.high - 0.5) == pytest.approx(((0.0225 + 2 * 0.2025) / 0.225) ** 0.5)


def test_a_difference_that_is_found_is_larger_on_fewer_items_and_in_more_tests() -> None:
    many, few = (over([0.0] * count, range(count)) for count in (200, 20))
    assert many.findable_difference() < many.findable_difference(5) < few.findable_difference(5) < 1
    assert few.findable_difference() > few.difference_interval().high


# How much better the best of several looks than it is is what happens in drawn worlds of equal ones.
# `python -m bench.coverage --only choosing` tries many more worlds.


CHOICES = 120
SHARE = 0.7


def luck_and_cost(
    random: np.random.Generator, instructions: int, each: int, of: int, common: float
) -> tuple[float, float]:
    """By how much the best of equally good judges looks too good in one world, and what is said there. Items
    of one instruction are right or wrong together; `common`: on which share of instructions all judges are,
    too.
    """
    groups = np.repeat(np.arange(instructions), each)
    shared = random.random(instructions) < SHARE
    together = random.random((of, instructions)) < common
    rights = np.where(together, shared, random.random((of, instructions)) < SHARE)[:, groups]
    judges = [over(right.astype(float).tolist(), groups.tolist()) for right in rights]
    choice = there(cost_of_choosing(judges))
    assert choice.candidates == of
    return float(rights.mean(axis=1).max()) - SHARE, choice.excess


@pytest.mark.parametrize(
    ("instructions", "each", "of", "common"), [(99, 1, 5, 0.0), (99, 1, 5, 0.8), (40, 5, 3, 0.0)]
)
def test_it_is_what_happens_to_equal_ones(instructions: int, each: int, of: int, common: float) -> None:
    draw = partial(luck_and_cost, np.random.default_rng(4), instructions, each, of, common)
    lucks, costs = zip(*(draw() for _ in range(CHOICES)), strict=True)
    error = float(np.std(lucks)) / CHOICES**0.5
    assert np.mean(costs) == pytest.approx(np.mean(lucks), abs=3 * error + 0.03 * np.mean(lucks))


def test_two_that_are_never_both_right_have_the_known_cost() -> None:
    """Of two opposite normal numbers the larger one is in the mean their deviation times (2 / pi) ** .5."""
    right, groups = [1.0, 0.0] * 50, list(range(100))
    choice = there(cost_of_choosing([over(right, groups), over(right[::-1], groups)]))
    assert choice.excess == pytest.approx((2 / np.pi / (4 * 99)) ** 0.5, rel=0.03)


def test_the_same_judge_twice_costs_nothing_and_few_instructions_take_no_part() -> None:
    enough, few = over([1.0, 0.0] * 10, range(20)), over([1.0, 0.0] * 4, range(8))
    choice = there(cost_of_choosing([enough, few, None, enough]))
    assert choice.candidates == 2
    assert choice.excess == pytest.approx(0, abs=1e-9)
    assert cost_of_choosing([enough, few]) is None
