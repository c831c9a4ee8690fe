"""Two rankings of the same candidates: in worlds whose truth is known, and what cannot be compared."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from engine.core.errors import SetupError
from engine.core.events import Reports
from engine.core.tables import Sentences, Table
from engine.ranking.bradley_terry import PairTold, TwoRankings, side_by_side
from engine.ranking.comparisons import PairComparisons
from engine.report.rankings import BOTH_WAYS, side_by_side_json, side_by_side_section
from tests.engine.ranking.worlds import A, B, comparisons, davidson_comparisons, davidson_said


def compared(one: PairComparisons, other: PairComparisons, draws: int = 100) -> TwoRankings:
    reports = Reports(side_by_side(one, other, draws=draws))
    list(reports)
    return reports.result


def judged_twice(one: Sequence[float], other: Sequence[float], items: int, seed: int) -> TwoRankings:
    """The same contests, won by the one truth and by the other; drawn apart from each other."""
    first = davidson_comparisons(one, items, seed)
    random = np.random.default_rng(1000 + seed)
    return compared(first, first.with_said(davidson_said(other, first.first, first.second, random)))


def test_the_same_said_twice_is_the_same_ranking() -> None:
    one = davidson_comparisons([1.5, 0.0, -1.5], 300, seed=1)
    found = compared(one, one)
    assert (found.tau, found.tau_ends, found.swaps, found.same_side.value) == (1, (1, 1), [], 1)
    assert {pair.told for pair in found.pairs} == {PairTold.ALIKE}


def test_the_opposite_truth_is_surely_swapped_but_for_close_candidates() -> None:
    found = judged_twice([1.5, 0.05, -0.05, -1.5], [-1.5, -0.05, 0.05, 1.5], 400, seed=2)
    assert found.tau is not None
    assert found.tau <= -2 / 3
    swapped = {frozenset((pair.above, pair.below)) for pair in found.pairs if pair.told is PairTold.SWAPPED}
    assert len(swapped) == 5
    assert frozenset(("c1", "c2")) not in swapped
    assert found.tau_ends == pytest.approx((-1, -2 / 3))


def test_the_interval_holds_the_truth_where_close_candidates_swap_by_chance() -> None:
    """The percentiles of the draws hold it in none of such worlds."""
    truth = np.linspace(1, -1, 10).tolist()
    found = [judged_twice(truth, truth, 150, seed) for seed in range(6)]
    taus = [one.tau for one in found if one.tau is not None]
    assert np.mean(taus) < 0.9
    assert all(one.tau_ends[0] <= 1 <= one.tau_ends[1] for one in found)
    assert not any(swap.told is PairTold.SWAPPED for one in found for swap in one.swaps)


def test_only_contests_of_which_both_said_something_are_compared() -> None:
    one = davidson_comparisons([1.0, -1.0], 60, seed=4)
    said = one.said.copy()
    said[:10] = np.nan
    other = one.with_said(said).at(np.arange(50)[::-1])  # in another order, ten lacking, ten of another end
    found = compared(one, other)
    assert len(found.comparisons) == 40
    assert found.same_side.value == 1


def test_ranks_are_as_sure_as_what_is_said_of_pairs_and_rounding_swaps_nobody() -> None:
    found = judged_twice([0.9, 0.3, -0.3, -0.9], [0.9, 0.3, -0.3, -0.9], 150, seed=6)
    for bradley_terry, ranks in zip((found.one, found.other), found.ranks, strict=True):
        sure = bradley_terry.told_apart(0.025)
        assert sure.sum() < bradley_terry.better.sum() or (sure == bradley_terry.better).all()
        for place, name in enumerate(bradley_terry.names):
            best, worst = 1 + int(sure[:, place].sum()), 4 - int(sure[place].sum())
            assert ranks[name] == (best, worst)
    noise = replace(
        found.one,
        fit=replace(
            found.one.fit, bradley_terry=found.one.fit.bradley_terry + 1e-11 * np.array([[1, 0, 0, 0]])
        ),
    )
    assert not replace(found, other=noise, one=found.one).swaps


def test_of_too_little_in_common_nothing_is_said() -> None:
    one = comparisons([("one", "two", A), ("two", "one", B)] * 10)
    with pytest.raises(SetupError, match="0 items of 0 instructions in common"):
        compared(one, replace(one, ids=tuple(f"other {name}" for name in one.ids)))
    with pytest.raises(SetupError, match="9 items of 9 instructions"):
        compared(one, one.at(np.arange(9)))


def test_other_candidates_under_the_same_ids_are_refused() -> None:
    one = comparisons([("one", "two", A)] * 20)
    with pytest.raises(SetupError, match="of one and two in the one, and of one and three in the other"):
        compared(one, replace(one, names=("one", "three")))


def test_what_is_shown_says_what_is_sure() -> None:
    found = judged_twice([1.5, 0.05, -0.05, -1.5], [1.5, -1.5, 0.05, -0.05], 400, seed=2)
    section = side_by_side_section(found, "Run 1, safety", "Run 2, safety")
    texts, places, swaps = section.parts
    assert isinstance(texts, Sentences)
    assert isinstance(places, Table)
    assert isinstance(swaps, Table)
    said = " ".join(texts.texts)
    assert "First: Run 1, safety. Second: Run 2, safety." in said
    assert BOTH_WAYS in said
    assert [row[0] for row in places.rows] == found.one.order
    assert {row[2] for row in swaps.rows} == {"significant", "not significant"}
    made = side_by_side_json(found, "Run 2, safety")
    assert made["kendall_tau_b"] == found.tau
    assert len(made["pairs"]) == 6
