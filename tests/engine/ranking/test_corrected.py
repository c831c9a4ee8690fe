"""Shares corrected by labels: against the formulas of PPI++, in drawn worlds, on real judges."""

from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from bench.coverage.correction import JUDGES, Match, PartWorld
from bench.coverage.intervals import World
from engine.core.events import Cancelled, CancelToken, followed
from engine.core.items import Preference
from engine.core.numeric import FloatArray, IntArray
from engine.core.tables import Estimate
from engine.ranking.bradley_terry import bradley_terry
from engine.ranking.comparisons import PairComparisons, labels_said
from engine.ranking.correction import Corrected, Correction, correct, corrected, moved
from engine.ranking.labelled_part import Design, SampleSize, sample_size
from engine.ranking.ranking import win_rates
from engine.report.correction import pairs
from tests.engine.ranking.worlds import A, B, comparisons, davidson_comparisons, pandalm_said
from tests.steps import there


def found(annotators: PairComparisons, judge: PairComparisons, draws: int = 100) -> Correction:
    """The correction of a judge by people's labels of a part."""
    return followed(correct(annotators, judge, draws=draws), id)


def known(annotators: FloatArray, judge: FloatArray, instructions: IntArray, count: int) -> Corrected:
    """A share that can be corrected."""
    return there(corrected(annotators, judge, instructions, count))


def labelled_part(comparisons: PairComparisons, labels: int, seed: int) -> PairComparisons:
    """The same, of which all but a random part is not said."""
    left_out = np.random.default_rng(seed).permutation(len(comparisons)) >= labels
    return comparisons.with_said(np.where(left_out[:, None], np.nan, comparisons.said))


@pytest.mark.parametrize("seed", range(5))
def test_it_is_ppi_of_plus_plus_where_each_item_has_an_instruction_of_its_own(seed: int) -> None:
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate  # which takes seconds to import

    random = np.random.default_rng(seed)
    n, others = 60, 300
    annotators = random.choice([0.0, 0.5, 1.0], n + others)
    judge = 0.2 * annotators + 0.8 * random.random(n + others)
    one = known(np.append(annotators[:n], [np.nan] * others), judge, np.arange(n + others), n + others)
    judged = (annotators[:n], judge[:n], judge[n:])
    low, high = (float(end[0]) for end in ppi_mean_ci(*judged, alpha=0.05))
    theirs = (high - low) / (2 * norm.ppf(0.975))  # of variances divided by n, where ours are by n - 1
    assert 0.1 < one.weight < 0.9
    assert one.rate.value == pytest.approx(float(ppi_mean_pointestimate(*judged)[0]), abs=1e-12)
    assert theirs * (others / (others - 1)) ** 0.5 < one.error < theirs * (n / (n - 1)) ** 0.5
    assert one.labels.value == pytest.approx(annotators[:n].mean())
    assert one.worth > 1


def ends_of(rate: Estimate) -> tuple[float, float]:
    return there(rate.ends)


def test_a_judge_that_says_one_thing_of_all_adds_nothing() -> None:
    annotators = np.array([1.0, 0.0] * 10 + [np.nan] * 40)
    one = known(annotators, np.full(60, 0.7), np.arange(60), 60)
    assert (one.weight, one.worth, one.is_helped) == (0.0, 1.0, False)
    assert one.rate == one.labels
    # Where all items are labelled the labels stand.
    one = known(np.array([1.0, 0.0, 0.5, 1.0] * 5), np.full(20, 0.7), np.arange(20), 20)
    assert (one.rate, one.weight, one.worth) == (one.labels, 0.0, 1.0)
    assert one.of_these == (0.625, 0.625)  # nothing is left to be said
    # Without a second labelled instruction there is nothing to correct.
    assert corrected(np.array([1.0, np.nan, np.nan]), np.array([0.2, 0.8, 0.5]), np.arange(3), 3) is None


def test_a_pair_and_a_candidate_that_are_wholly_labelled_are_shown_and_an_even_pair_once() -> None:
    said = [("x", "y", A), ("y", "x", A)] * 12 + [("x", "z", A), ("z", "x", B)] * 20
    judge = comparisons(said)
    annotators = judge.with_said(np.where((np.arange(len(said)) < 44)[:, None], judge.said, np.nan))
    made = found(annotators, judge)
    assert made.unlabelled == ()
    assert (made.candidates["y"].labelled, made.candidates["y"].items) == (24, 24)
    names = [(row[0], row[1]) for row in pairs(made).rows]
    assert names == [("x", "y"), ("x", "z")]


def test_labels_that_say_nothing_of_the_judge_are_counted_all_the_same() -> None:
    judge = davidson_comparisons([0.5, -0.5], 80, seed=2)
    ties = labels_said([Preference.BOTH_GOOD] * 40 + [None] * 40)
    many = there(sample_size(judge, found(judge.with_said(ties), judge)))
    assert (many.labels, many.is_own) == (40, False)


def test_a_good_judge_counts_where_intervals_are_kept_wide_and_rates_add_up() -> None:
    """Twenty labels of a candidate, all but two of which it won, and a judge who says nearly the same."""
    random = np.random.default_rng(4)
    everything = np.append(np.repeat([1.0, 0.0], [18, 2]), random.random(100) < 0.8)
    judge = np.clip(0.85 * everything + 0.1 + 0.05 * random.standard_normal(120), 0, 1)
    one = known(np.where(np.arange(120) < 20, everything, np.nan), judge, np.arange(120), 120)
    assert one.is_held
    assert one.weight > 0.5
    assert one.worth > 1.5
    assert abs(one.rate.value - everything.mean()) < abs(one.labels.value - everything.mean())
    assert one.error == one.labels_error  # no surer than two labels that differ wholly


def test_a_perfect_judge_on_few_labels_leaves_room_for_what_does_not_show() -> None:
    everything = np.tile([1.0, 0.0], 500)
    annotators = np.where(np.arange(1000) < 20, everything, np.nan)
    one = known(annotators, everything, np.arange(1000), 1000)
    # One wrong of twenty is missed by twenty labels in a third of all samples.
    assert ends_of(one.rate)[1] - 0.5 > 0.05


def test_a_rate_near_0_is_as_sure_as_its_labels() -> None:
    """One of a hundred labels, which the judge moves to .1 %: Wilson's interval would reach to 47 %."""
    annotators, judge = np.full(500, np.nan), np.full(500, 0.03)
    annotators[:100], annotators[0], judge[0] = 0, 1, 0.93
    found = there(corrected(annotators, judge, np.arange(500), 500))
    assert 0 < found.rate.value < 0.002
    low, high = there(found.rate.ends)
    assert low <= found.rate.value < high < 0.09 < there(found.labels.ends)[1]


def test_items_of_one_instruction_count_as_one_as_far_as_they_are_alike() -> None:
    random = np.random.default_rng(1)
    answers = np.repeat(random.integers(0, 2, 40), 5).astype(float)
    annotators, judge = np.where(np.arange(200) < 100, answers, np.nan), np.repeat(random.random(40), 5)
    alone = known(annotators, judge, np.arange(200), 200)
    together = known(annotators, judge, np.repeat(np.arange(40), 5), 200)
    assert together.labels_error == pytest.approx(alone.labels_error * 5**0.5, rel=0.05)


def test_what_is_missing_may_be_anything() -> None:
    """Annotators skip half of what is not won: without the worst cases 7 of 10 intervals held."""
    world, held, without = PartWorld(World(600, 1), "usual", 100, 0.8, skips=0.5), 0, 0
    random = np.random.default_rng(3)
    for _ in range(60):
        one, _ = world.drawn(random)
        low, high = ends_of(one.rate)
        held += low <= world.share <= high
        without += abs(one.rate.value - world.share) <= 2 * one.error
    assert held >= 57
    assert without <= 48


@pytest.mark.parametrize("judge", JUDGES)
def test_intervals_hold_the_truth_whatever_the_judge_is(judge: str) -> None:
    random, held, of_these, times = np.random.default_rng(3), 0, 0, 60
    parts = product((World(300, 1), World(60, 5, 0.3)), (20, 50, 100), range(times // 6))
    for world, labelled, _ in parts:
        one, here = PartWorld(world, judge, labelled, 0.6).drawn(random)
        low, high = ends_of(one.rate)
        held += low <= 0.6 <= high
        of_these += one.of_these[0] <= here <= one.of_these[1]
    assert min(held, of_these) / times >= 0.88


def test_what_moved_between_labelled_items_and_others_is_found() -> None:
    random = np.random.default_rng(2)
    uncertainty = random.random(400)
    apart = there(moved(uncertainty, uncertainty > 0.7, np.arange(400)))
    drawn = there(moved(uncertainty, random.permutation(400) < 120, np.arange(400)))
    assert abs(apart[0]) > 10 * apart[1]
    assert abs(drawn[0]) < 3 * drawn[1]


def test_corrected_strengths_hold_the_truth_where_the_judge_is_lenient() -> None:
    random, match = np.random.default_rng(4), Match("lenient", 100, 600)
    inside = []
    for _ in range(12):
        of = there(match.corrected(random, draws=100).bradley_terry)
        for name, truth in zip(of.names, match.scores, strict=True):
            ends = of.scores[name].ends
            inside.append(ends is not None and ends[0] <= truth <= ends[1])
    assert np.mean(inside) >= 0.85


def test_strengths_of_a_useless_judge_are_those_of_the_labels() -> None:
    everything = davidson_comparisons([0.8, 0.0, -0.8], 300, seed=5)
    annotators = labelled_part(everything, 120, 1)
    same = np.zeros_like(everything.said)
    same[:, :2] = 0.5
    by_labels = followed(bradley_terry(annotators, draws=100), id)
    by_both = there(found(annotators, everything.with_said(same)).bradley_terry)
    assert by_both.fit.bradley_terry == pytest.approx(by_labels.fit.bradley_terry, abs=0.25)


def test_a_pair_is_corrected_in_both_directions() -> None:
    everything = davidson_comparisons([0.8, -0.8], 300, seed=5)
    of = found(labelled_part(everything, 100, 1), everything)
    one, other = of.pairs["c0", "c1"].rate, of.pairs["c1", "c0"].rate
    assert one.value == pytest.approx(1 - other.value)
    assert ends_of(one) == pytest.approx([1 - end for end in reversed(ends_of(other))])
    assert one.value == pytest.approx(of.candidates["c0"].rate.value)


def test_candidates_with_few_labels_are_named_and_left_out() -> None:
    everything = davidson_comparisons([0.5, 0.0, -0.5], 400, seed=7)
    is_third = (everything.first == 2) | (everything.second == 2)
    annotators = labelled_part(everything, 150, 1)
    of = found(annotators.with_said(np.where(is_third[:, None], np.nan, annotators.said)), everything)
    assert of.unlabelled == ("c2",)
    assert of.bradley_terry is None
    # What the judge does not say does not count against anybody.
    silent = everything.with_said(np.where(np.arange(400)[:, None] % 7 == 0, np.nan, everything.said))
    of = found(annotators, silent)
    assert all(0 < one.weight <= 1 for one in of.candidates.values())
    assert of.items == 400


def test_it_can_be_stopped() -> None:
    everything = davidson_comparisons([0.5, -0.5], 100, seed=2)
    cancel = CancelToken()
    work = correct(labelled_part(everything, 50, 1), everything, cancel=cancel)
    assert next(work).done == 100
    cancel.cancel()
    with pytest.raises(Cancelled):
        next(work)


# Real judges, compared with three annotators.


@pytest.fixture(scope="module")
def pandalm(shared_data: Path) -> dict[str, PairComparisons]:
    return pandalm_said(shared_data, "judge_gpt_3_5", "judge_pandalm_7b")


def test_a_hundred_labels_of_pandalm_hold_the_rates_of_all_and_are_narrower_with_a_judge(
    pandalm: dict[str, PairComparisons],
) -> None:
    annotators, judge = pandalm["people"], pandalm["judge_gpt_3_5"]
    truth = {name: rate.rate.value for name, rate in followed(win_rates(annotators), id).candidates.items()}
    held, narrower, surer = [], [], []
    for seed in range(40):
        of = found(labelled_part(annotators, 100, seed), judge, draws=0)
        for name, one in of.candidates.items():
            held.append(one.of_these[0] <= truth[name] <= one.of_these[1])
            narrower.append(np.diff(one.of_these)[0] / np.diff(one.labels_of_these)[0])
            surer.append(np.diff(ends_of(one.rate))[0] / np.diff(ends_of(one.labels))[0])
    assert 0.92 <= np.mean(held) <= 0.99  # 96.1 % of 200 draws
    assert np.mean(narrower) < 0.85
    assert np.mean(surer) < 0.88


def test_a_judge_that_misses_by_eight_points_is_corrected(pandalm: dict[str, PairComparisons]) -> None:
    annotators, judge = pandalm["people"], pandalm["judge_pandalm_7b"]
    truth = followed(win_rates(annotators), id).candidates["llama-7b"].rate.value
    drawn = [found(labelled_part(annotators, 100, seed), judge, draws=0) for seed in range(40)]
    of = [one.candidates["llama-7b"] for one in drawn]
    assert of[0].judge == pytest.approx(truth - 0.08, abs=0.005)
    assert np.mean([one.rate.value for one in of]) == pytest.approx(truth, abs=0.02)


# How many labels are needed.


def many(annotators: PairComparisons, judge: PairComparisons) -> SampleSize:
    return there(sample_size(judge, found(annotators, judge, draws=0)))


@cache
def everything_drawn() -> tuple[PairComparisons, PairComparisons]:
    """What people would say of 2,000 items, and a judge that says the same of two thirds."""
    annotators = davidson_comparisons([0.6, 0.0, -0.6], 2000, seed=1)
    judge = davidson_comparisons([0.0, 0.0, 0.0], 2000, seed=2).said
    same = np.random.default_rng(3).random(2000) < 2 / 3
    return annotators, annotators.with_said(np.where(same[:, None], annotators.said, judge))


def test_the_width_that_is_foretold_is_that_with_more_labels() -> None:
    annotators, judge = everything_drawn()
    now, later = (
        [many(labelled_part(annotators, labels, seed), judge) for seed in range(20)] for labels in (100, 200)
    )
    foretold = np.mean([one.with_more[100] for one in now])
    assert foretold == pytest.approx(np.mean([one.half for one in later]), rel=0.08)
    assert foretold < np.mean([one.half for one in now])
    assert all((one.smallest or 1) < (one.smallest_alone or 0) for one in now)


@pytest.mark.slow
def test_as_many_labels_as_are_said_find_the_difference_in_four_of_five_samples() -> None:
    annotators, judge = everything_drawn()
    by_all = followed(win_rates(annotators), id).candidates
    gap = by_all["c0"].rate.value - by_all["c1"].rate.value
    of = many(labelled_part(annotators, 400, 0), judge)
    design = Design(spread_of(of), next(iter(of.needed)) ** 2)
    labels = design.needed(gap, 2000).labels
    seen = 0
    for seed in range(60):
        one, other = (
            found(labelled_part(annotators, labels, seed), judge, draws=0).candidates[name]
            for name in ("c0", "c1")
        )
        error = float(np.sqrt(np.sum((one.pulls - other.pulls) ** 2)))
        seen += one.rate.value - other.rate.value > 1.96 * error
    assert 0.65 <= seen / 60 <= 0.98


def spread_of(of: SampleSize) -> float:
    return (there(of.smallest_alone) / 2.802) ** 2 * of.labels


def test_before_there_are_labels_it_is_told_for_typical_judges() -> None:
    _, judge = everything_drawn()
    told = there(sample_size(judge, None))
    assert (told.labels, told.smallest, told.is_own) == (0, None, False)
    for needed in told.needed.values():
        assert [each.labels for each in needed] == sorted((each.labels for each in needed), reverse=True)
        assert all(each.labels <= min(each.items, each.alone) for each in needed)
    assert told.needed[0.6][0].labels < told.needed[0.3][0].labels
    useless = Design(spread=1.0, likeness=0.0).needed(0.05, 100)  # it spares no label
    assert useless.labels == useless.alone == useless.items
