"""Until it is sure: which items are wanted, when questions are answered, and the same after a restart."""

import pickle
from collections.abc import Iterable, Mapping
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
from engine.core.items import Preference
from engine.ranking.comparisons import PairComparisons
from engine.ranking.stopping import UntilSignificant, ValueCounts, growth, log_wealth, needed
from tests.engine.ranking.worlds import GOOD, A, B, comparisons


def pair(count: int) -> PairComparisons:
    """Two candidates, each as A in turn, an instruction each."""
    return comparisons([("one", "two", None) if at % 2 else ("two", "one", None) for at in range(count)])


def for_one(of: PairComparisons, row: int) -> Preference:
    """The label by which candidate `one` wins."""
    return A if of.names[of.first[row]] == "one" else B


def all_against_all(instructions: int) -> PairComparisons:
    """Three candidates, all pairs on each instruction."""
    return comparisons(
        [("a", "b", None), ("c", "a", None), ("b", "c", None)] * instructions,
        np.repeat(np.arange(instructions), 3).tolist(),
    )


def drawn_labels(of: PairComparisons, seed: int, strength: dict[str, float]) -> dict[str, Preference | None]:
    """Labels of all items: who is stronger wins more often; some could not be scored."""
    random = np.random.default_rng(seed)
    labels: dict[str, Preference | None] = {}
    for row, item_id in enumerate(of.ids):
        ahead = strength[of.names[of.first[row]]] - strength[of.names[of.second[row]]]
        labels[item_id] = (A if random.random() < 0.5 + ahead else B) if random.random() > 0.05 else None
    return labels


def judged(
    until: UntilSignificant, order: Iterable[str], labels: Mapping[str, Preference | None]
) -> list[str]:
    """Judge item after item, those alone that are wanted; their ids."""
    done = []
    for item_id in order:
        if until.is_answered:
            break
        if until.wants(item_id):
            until.add({item_id: labels[item_id]})
            done.append(item_id)
    return done


def all_for_one(of: PairComparisons) -> dict[str, Preference]:
    return {item_id: for_one(of, row) for row, item_id in enumerate(of.ids)}


def test_who_wins_all_is_sure_after_ten_and_ties_never() -> None:
    of = pair(200)
    until = UntilSignificant(of)
    assert len(judged(until, of.ids, all_for_one(of))) == 10
    (question,) = until.questions
    assert (question.candidate, question.opponent, question.answered) == ("two", "one", -1)
    until = UntilSignificant(of)
    assert len(judged(until, of.ids, dict.fromkeys(of.ids, GOOD))) == 200
    (question,) = until.questions
    assert (until.is_answered, until.left(question), until.more(question)) == (False, 0, np.inf)
    intervals = UntilSignificant(of, 0.2).questions  # of two candidates there is one
    assert [(each.candidate, each.opponent) for each in intervals] == [("two", "one")]


def test_it_can_be_sent_to_another_process() -> None:
    of = pair(40)
    until, labels = UntilSignificant(of), all_for_one(of)
    until.add({item_id: labels[item_id] for item_id in of.ids[:8]})
    sent = pickle.loads(pickle.dumps(until))
    assert sent.questions[0].won == until.questions[0].won
    assert len(judged(sent, of.ids[8:], labels)) == 2


def test_the_contests_of_one_instruction_are_one_bet() -> None:
    """Twelve contests that are alike are twelve times the same."""
    of = comparisons([("one", "two", None)] * 120, np.repeat(np.arange(10), 12).tolist())
    until = UntilSignificant(of)
    done = judged(until, of.ids, dict.fromkeys(of.ids, A))
    assert len(done) == 120
    assert until.is_answered


def test_what_is_judged_out_of_turn_waits_for_its_turn() -> None:
    of = pair(20)
    until = UntilSignificant(of)
    until.add({item_id: for_one(of, row) for row, item_id in enumerate(of.ids) if row})
    assert len(until.questions[0].won) == 0
    until.add({of.ids[0]: None})
    assert until.is_answered
    assert len(until.questions[0].won) >= 10


def test_pairs_that_are_settled_get_no_more_items() -> None:
    of = all_against_all(300)
    until = UntilSignificant(of)
    assert len(judged(until, of.ids, drawn_labels(of, 1, {"a": 0.45, "b": 0.0, "c": 0.0}))) < 400
    found = {(each.candidate, each.opponent): each.answered for each in until.questions}
    assert found == {("a", "b"): 1, ("a", "c"): 1, ("b", "c"): None}
    assert (until.wants(of.ids[-3]), until.wants(of.ids[-1])) == (False, True)


def test_a_restart_says_the_same() -> None:
    """What is stored is added at once, and each question was answered or is open as before."""
    of = all_against_all(200)
    labels = drawn_labels(of, 2, {"a": 0.3, "b": 0.1, "c": 0.0})
    first, again = UntilSignificant(of), UntilSignificant(of)
    done = judged(first, of.ids[:150], labels)
    again.add({item_id: labels[item_id] for item_id in done})
    one, other = ([(each.answered, each.won) for each in until.questions] for until in (first, again))
    assert one == other
    assert judged(first, of.ids[150:], labels) == judged(again, of.ids[150:], labels)


def test_it_is_sure_when_the_bench_says_so() -> None:
    """The bench, whose error rates are counted, has nothing in common with it but the bets."""
    of = comparisons([(name, "base", None) for _ in range(150) for name in ("a", "b", "c")])
    of = PairComparisons(**{**vars(of), "instructions": np.repeat(np.arange(150), 3)})
    random = np.random.default_rng(5)
    scores = [wins(random, (150,), rate) for rate in (0.7, 0.35, 0.5)]
    until = UntilSignificant(of)
    for row, item_id in enumerate(of.ids):
        until.add({item_id: A if scores[row % 3][row // 3] else B})
    at, side = settled_by_holm([each[None, :] for each in scores])
    for question in until.questions:
        is_base = question.candidate == "base"
        place = "abc".index(str(question.opponent if is_base else question.candidate))
        assert (question.answered or 0) == (-1 if is_base else 1) * side[place, 0]
        if question.answered:
            assert len(question.won) == at[place, 0]


@pytest.mark.parametrize("width", [0.5, 0.3])
def test_an_interval_is_no_wider_than_asked_and_not_much_narrower(width: float) -> None:
    of = all_against_all(400)
    labels = drawn_labels(of, 3, {"a": 0.1, "b": 0.05, "c": 0.0})
    until = UntilSignificant(of, width)
    judged(until, of.ids, labels)
    assert until.is_answered
    for question in until.questions:
        low, high = question.won.interval()
        assert question.opponent is None
        assert 0.9 * width < high - low <= width


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
    """Looked at after each of 300; and of a dataset of 100 that is used up."""
    drawn = np.random.default_rng(1).choice(values, (300, 300))
    assert np.mean(decisions(drawn).side != 0) <= 0.05
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
    asked = [*alpaca_preferences(shared_data).values()]
    asked += pandalm_pairs(shared_data, "annotator_1", "annotator_2", "annotator_3").values()
    assert len(asked) == 40
    for seed, won in enumerate(asked):
        truth = float(won.mean())
        found = decisions(in_orders(won, 60, seed)[:, :110])
        assert np.mean(found.wrong(truth)) <= 0.05
        if abs(truth - 0.5) >= 0.2:
            assert np.median(found.at) <= 40
