"""Bootstrap intervals: they hold the truth as often as they should, and instructions stay together."""

import numpy as np
import pytest

from engine.measure.bootstrap import bootstrap_interval, least_interval
from engine.measure.folds import grouped_folds


def test_the_same_values_give_the_same_interval() -> None:
    values = [0.0, 1.0, 1.0, 0.0, 1.0]
    assert bootstrap_interval(values, range(5)) == bootstrap_interval(values, range(5))


def test_equal_values_give_an_interval_without_width() -> None:
    assert bootstrap_interval([1.0] * 9, range(9)) == (1.0, 1.0)


def test_it_is_near_the_normal_interval_for_many_items() -> None:
    values = np.random.default_rng(1).random(1000) < 0.7
    found = bootstrap_interval([float(value) for value in values], range(1000))
    half = 1.96 * float(values.std()) / 1000**0.5
    assert found == pytest.approx((values.mean() - half, values.mean() + half), abs=0.004)


def test_it_holds_the_truth_in_about_95_of_100_samples() -> None:
    random = np.random.default_rng(2)
    held = 0
    for _ in range(200):
        found = bootstrap_interval([float(value) for value in random.random(100) < 0.7], range(100))
        assert found is not None
        held += found.low <= 0.7 <= found.high
    assert 180 <= held <= 198


def test_a_single_instruction_gives_no_interval() -> None:
    assert bootstrap_interval([0.0, 1.0], ["one", "one"]) is None


def test_the_least_of_several_means_is_above_0_only_where_all_are() -> None:
    small_and_sure, larger_and_not = [0.05] * 40, [1.0, -0.8] * 20
    alone = [bootstrap_interval(values, range(40)) for values in (small_and_sure, larger_and_not)]
    found = least_interval([small_and_sure, larger_and_not], range(40))
    assert alone[0] == pytest.approx((0.05, 0.05))
    assert found == pytest.approx((alone[1].low, 0.05), abs=1e-9)  # type: ignore[union-attr]
    assert found is not None
    assert found.low < 0


def test_items_of_one_instruction_count_as_one_observation() -> None:
    values = [float(value) for value in np.random.default_rng(3).random(50) < 0.5]
    alone = bootstrap_interval(values, range(50))
    repeated = bootstrap_interval(values * 4, list(range(50)) * 4)
    assert repeated == pytest.approx(alone, abs=1e-9)


def test_folds_keep_a_group_together_and_test_each_item_once() -> None:
    groups = ["a", "b", "a", "c", "d", "b", "e"]
    folds = grouped_folds(groups, folds=3)
    assert sorted(index for _, test in folds for index in test.tolist()) == list(range(7))
    for train, test in folds:
        assert not {groups[index] for index in train} & {groups[index] for index in test}


def test_few_groups_make_few_folds_and_one_makes_none() -> None:
    assert len(grouped_folds(["a", "b", "a"])) == 2
    with pytest.raises(ValueError, match="1 different instructions"):
        grouped_folds(["a", "a"])
