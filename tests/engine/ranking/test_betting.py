"""Betting: seldom wrong however often one looks, and soon sure on real data."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.coverage.stopping import (
    alpaca_preferences,
    decisions,
    in_orders,
    pandalm_pairs,
    settled_by_holm,
    wins,
)
from engine.core.numeric import FloatArray
from engine.ranking.stopping import ValueCounts, growth, log_wealth, needed

SHARES = st.lists(st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 1.0]), min_size=1, max_size=40)


@given(SHARES)
def test_an_interval_holds_the_mean_and_turns_with_its_numbers(values: list[float]) -> None:
    tally = ValueCounts.of(values)
    low, high = tally.interval()
    assert 0 <= low <= tally.mean <= high <= 1
    turned = ValueCounts.of(1 - value for value in values).interval()
    assert turned == pytest.approx((1 - high, 1 - low), abs=1e-9)


@given(SHARES)
def test_the_interval_is_what_no_bet_refutes(values: list[float]) -> None:
    tally = ValueCounts.of(values)
    low, high = tally.interval()
    for mean in np.linspace(0.02, 0.98, 25).tolist():
        refuted = max(tally.wealth_above(mean), tally.turned.wealth_above(1 - mean)) >= needed()
        assert refuted == (not low - 1e-9 <= mean <= high + 1e-9)


@given(SHARES)
def test_numbers_one_by_one_in_another_order_say_what_all_at_once_say(values: list[float]) -> None:
    one_by_one = ValueCounts()
    for value in sorted(values):
        one_by_one.add(value)
    assert one_by_one == ValueCounts.of(values)
    path = log_wealth(np.cumsum(growth(np.array(values), 0.5), axis=0))
    assert path[-1] == pytest.approx(one_by_one.wealth_above(0.5), abs=1e-9)


@pytest.mark.parametrize("values", [[0.0, 1.0], [0.0, 0.5, 0.5, 1.0], [0.0, 0.55, *[0.55] * 9]])
def test_equals_are_called_different_in_one_of_twenty_worlds_at_most(values: list[float]) -> None:
    """Looked at after each of 300."""
    drawn = np.random.default_rng(1).choice(values, (300, 300))
    assert np.mean(decisions(drawn).side != 0) <= 0.05


def test_a_dataset_without_a_winner_is_called_one_seldom_when_it_is_used_up() -> None:
    drawn = in_orders(np.repeat([0.0, 1.0], 50), 300, seed=2)
    assert np.mean(decisions(drawn).side != 0) <= 0.05


def test_of_many_pairs_none_is_called_wrong_in_nineteen_of_twenty_worlds() -> None:
    random = np.random.default_rng(3)
    clear = [wins(random, (200, 150), 0.85) for _ in range(3)]
    equal = [wins(random, (200, 150), 0.5) for _ in range(3)]
    at, side = settled_by_holm([*clear, *equal])
    assert (side[:3] == 1).all()
    assert np.mean((side[3:] != 0).any(axis=0)) <= 0.05
    assert np.median(at[:3]) < 30


def test_an_interval_is_as_wide_as_is_said() -> None:
    """The price of looking always: less than twice as wide as one that is looked at once."""
    tally = ValueCounts.of([0.0, 1.0] * 50)
    low, high = tally.interval()
    assert high - low == pytest.approx(0.31, abs=0.02)
    assert ValueCounts().interval() == (0.0, 1.0)


def test_what_it_would_take_is_about_right() -> None:
    """Of candidates at 65 %, told after 30, in the median over worlds."""
    random = np.random.default_rng(4)
    found = []
    for _ in range(150):
        drawn = wins(random, (600,), 0.65)
        tally = ValueCounts.of(drawn[:30].tolist())
        at = int(decisions(drawn[None, :]).at[0])
        if at > 30 and tally.mean > 0.5:
            found.append((tally.more_for_half(needed()) + 30) / min(at, 600))
    assert 0.5 < np.median(found) < 2
    assert ValueCounts.of([0.0, 1.0]).more_for_half(needed()) == np.inf


def test_real_candidates_are_sure_soon_and_seldom_wrong(shared_data: Path) -> None:
    """`python -m bench.coverage.stopping` tries 200 random orders; here are fewer, of the first 110."""
    questions: list[tuple[float, FloatArray]] = [
        (float(won.mean()), in_orders(won, 60, seed)[:, :110])
        for seed, won in enumerate(
            [
                *alpaca_preferences(shared_data).values(),
                *pandalm_pairs(shared_data, "annotator_1", "annotator_2", "annotator_3").values(),
            ]
        )
    ]
    assert len(questions) == 40
    for truth, drawn in questions:
        found = decisions(drawn)
        assert np.mean(found.wrong(truth)) <= 0.05
        if abs(truth - 0.5) >= 0.2:
            assert np.median(found.at) <= 40
