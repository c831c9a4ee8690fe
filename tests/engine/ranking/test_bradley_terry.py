"""Strengths: against another implementation, against the truth of drawn worlds, where nothing can be said."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import choix
import numpy as np
import pytest

from engine.core.errors import SetupError
from engine.core.events import Cancelled, CancelToken, followed
from engine.core.tables import Sentences, Table
from engine.ranking.bradley_terry import (
    BradleyTerryFit,
    BradleyTerryScores,
    PairTold,
    TwoRankings,
    bradley_terry,
    expected_score,
    fitted,
    side_by_side,
    tallies_of,
)
from engine.ranking.comparisons import PairComparisons
from engine.report.rankings import BOTH_WAYS, side_by_side_json, side_by_side_section
from tests.engine.ranking.worlds import BAD, GOOD, A, B, comparisons, davidson_comparisons, davidson_said


def found(of: PairComparisons, seed: int = 0, draws: int = 200) -> BradleyTerryScores:
    """The strengths of some contests."""
    return followed(bradley_terry(of, seed, draws), id)


def test_without_ties_they_are_those_of_choix() -> None:
    drawn = davidson_comparisons([1.0, 0.3, -0.2, -1.1, 0.0], 600, seed=3, tie=0.0)
    met = zip(drawn.first.tolist(), drawn.second.tolist(), drawn.scores, strict=True)
    wins = [(one, other) if score == 1 else (other, one) for one, other, score in met]
    theirs = choix.ilsr_pairwise(5, wins, alpha=0, tol=1e-12)
    assert fitted(tallies_of(drawn)).bradley_terry[0] == pytest.approx(theirs - theirs.mean(), abs=1e-6)


def test_the_fit_is_the_largest_likelihood_with_ties() -> None:
    tallies = tallies_of(davidson_comparisons([0.8, 0.0, -0.8], 300, seed=5, tie=0.7))
    fit = fitted(tallies)

    def likelihood(at: np.ndarray) -> float:
        half = (at[tallies.met.first] - at[tallies.met.second]) / 2
        whole = np.log(np.exp(half) + np.exp(-half) + at[-1])
        count, won, tied = tallies.sums[:, 0]
        return float(np.sum((won - count / 2) * 2 * half + tied * np.log(at[-1]) - count * whole))

    best = np.append(fit.bradley_terry[0], fit.tie[0])
    for place in range(len(best)):
        for step in (-0.01, 0.01):
            assert likelihood(best + step * np.eye(len(best))[place]) < likelihood(best)


@pytest.mark.parametrize("across", [0, 300])
def test_where_each_met_few_the_fit_is_level_in_every_direction(across: int) -> None:
    """Of a ring, whose equations are a narrow band, and of a net that is none."""
    random = np.random.default_rng(3)
    ring, nets = np.arange(90), random.integers(0, 90, (across, 2))
    first, second = np.concatenate([ring, nets[:, 0]]), np.concatenate([np.roll(ring, 1), nets[:, 1]])
    met = first != second
    pairs = [(f"c{one}", f"c{other}") for one, other in zip(first[met], second[met], strict=True)]
    labels = [A, B, GOOD, B, A, BAD]
    of = comparisons([(*pair, label) for pair in pairs for label in (*labels, labels[len(pair[0]) % 6])])
    tallies = tallies_of(of)
    assert (tallies.met.band is None) is (across > 0)
    fit = fitted(tallies)
    score, nu = fit.bradley_terry[0], fit.tie[0]
    half = (score[tallies.met.first] - score[tallies.met.second]) / 2
    whole = np.exp(half) + np.exp(-half) + nu
    lead = (np.exp(half) - np.exp(-half)) / whole / 2
    count, won, tied = tallies.sums[:, 0]
    missed = won - count / 2 - count * lead
    assert tallies.met.signs @ missed == pytest.approx(0, abs=1e-4)  # but for the penalty
    assert np.sum(tied - count * nu / whole) == pytest.approx(0, abs=1e-4)


def test_a_candidate_that_won_all_is_finite_and_first() -> None:
    all_won = comparisons([("best", "middle", A), ("last", "best", B), *[("middle", "last", A)] * 2] * 6)
    of = found(all_won)
    assert of.order == ["best", "middle", "last"]
    assert np.isfinite(of.fit.bradley_terry).all()
    assert np.isfinite(of.draws.bradley_terry).all()
    assert of.scores["best"].value > 0.9


@pytest.mark.parametrize("lost", [0, 1])
def test_one_that_wins_nearly_all_may_win_all_and_one_that_loses_may_lose_all(lost: int) -> None:
    others = [(one, other, side) for one, other in combinations("bcde", 2) for side in (A, B)] * 3
    won, beaten = (
        [("a", other, side if number >= lost else against) for number, other in enumerate("bcde" * 6)]
        for side, against in ((A, B), (B, A))
    )
    high, low = (found(comparisons([*of, *others])).scores["a"].ends for of in (won, beaten))
    assert high is not None
    assert low is not None
    # As of 23 or 24 of 24, which 97 % and more may well bring.
    assert (high[0] < 0.92, high[1] > 0.99) == (True, True)
    assert (low[0] < 0.01, low[1] > 0.08) == (True, True)


def test_what_is_won_and_lost_alike_is_one_half() -> None:
    of = found(comparisons([("one", "two", A), ("one", "two", B)] * 10))
    assert of.scores["one"].value == pytest.approx(0.5)
    assert (of.groups, of.ranks) == ([["one", "two"]], {"one": (1, 2), "two": (1, 2)})


@pytest.mark.slow
def test_intervals_hold_the_truth() -> None:
    truth = np.array([1.0, 0.4, 0.0, -0.4, -1.0])
    right = expected_score(truth, np.array(0.5))
    held = []
    for seed in range(60):
        of = found(davidson_comparisons(truth.tolist(), 250, seed), seed)
        held += [of.scores[f"c{place}"].ends for place in range(5)]
    inside = [ends is not None and ends[0] <= right[place % 5] <= ends[1] for place, ends in enumerate(held)]
    assert 0.91 <= np.mean(inside) <= 0.98


@pytest.mark.slow
def test_equal_candidates_are_told_apart_in_one_of_twenty_worlds_at_most() -> None:
    wrong = [bool(found(davidson_comparisons([0.0] * 4, 200, seed), seed).better.any()) for seed in range(80)]
    assert np.mean(wrong) <= 0.1


def test_clear_differences_are_told_apart_and_grouped() -> None:
    of = found(davidson_comparisons([2.0, 0.0, 0.0, -2.0], 600, seed=1))
    assert [set(group) for group in of.groups] == [{"c0"}, {"c1", "c2"}, {"c3"}]
    assert of.rivals == []
    assert of.ranks == {"c0": (1, 1), "c1": (2, 3), "c2": (2, 3), "c3": (4, 4)}


def test_one_that_met_few_others_is_told_from_nobody_whoever_stands_between() -> None:
    sure = [("alpha", "beta", A)] * 100 + [("beta", "alpha", A)] * 50
    of = found(comparisons([*sure, *[("beta", "gamma", A)] * 6, *[("gamma", "beta", A)] * 6]))
    assert of.order[0] == "alpha"
    assert of.rivals == ["gamma"] != of.order[1:]
    assert sorted(sorted(group) for group in of.groups) == [["alpha", "gamma"], ["beta", "gamma"]]


def test_two_share_a_group_exactly_where_they_cannot_be_told_apart() -> None:
    random = np.random.default_rng(5)
    for _ in range(200):
        count = int(random.integers(1, 9))
        better = np.triu(random.random((count, count)) < random.random(), 1)
        names = tuple(f"c{place}" for place in range(count))
        fit = BradleyTerryFit(np.arange(count, 0.0, -1.0)[None], np.zeros(1))
        of = BradleyTerryScores(names, fit, fit, fit, 30.0)
        of.__dict__["better"] = better
        together = {(one, other) for group in of.groups for one in group for other in group}
        alike = {(names[i], names[j]) for i, j in np.argwhere(~(better | better.T)).tolist()}
        assert together == alike


def test_the_same_seed_gives_the_same_intervals_and_another_one_others() -> None:
    of = davidson_comparisons([0.5, 0.0, -0.5], 100, seed=2)
    assert found(of, 1).scores == found(of, 1).scores
    assert found(of, 1).scores != found(of, 2).scores


def test_it_can_be_stopped() -> None:
    cancel = CancelToken()
    work = bradley_terry(davidson_comparisons([0.5, -0.5], 50, seed=2), cancel=cancel)
    assert next(work).done == 100
    cancel.cancel()
    with pytest.raises(Cancelled):
        next(work)


def compared(one: PairComparisons, other: PairComparisons, draws: int = 100) -> TwoRankings:
    return followed(side_by_side(one, other, draws=draws), id)


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
    for scores, ranks in zip((found.one, found.other), found.ranks, strict=True):
        sure = scores.told_apart(0.025)
        assert sure.sum() < scores.better.sum() or (sure == scores.better).all()
        for place, name in enumerate(scores.names):
            best, worst = 1 + int(sure[:, place].sum()), 4 - int(sure[place].sum())
            assert ranks[name] == (best, worst)
    fit = found.one.fit
    near = replace(fit, bradley_terry=fit.bradley_terry + 1e-11 * np.array([[1, 0, 0, 0]]))
    assert not replace(found, other=replace(found.one, fit=near)).swaps


def test_of_too_little_in_common_nothing_is_said() -> None:
    one = comparisons([("one", "two", A), ("two", "one", B)] * 10)
    with pytest.raises(SetupError, match="0 items of 0 instructions in common"):
        compared(one, replace(one, ids=tuple(f"other {name}" for name in one.ids)))
    with pytest.raises(SetupError, match="9 items of 9 instructions"):
        compared(one, one.at(np.arange(9)))
    # Other candidates may not have the same ids.
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
