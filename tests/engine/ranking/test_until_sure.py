"""Until it is sure: which items are wanted, when questions are answered, and the same after a restart."""

import pickle
from collections.abc import Iterable

import numpy as np
import pytest

from bench.coverage.stopping import settled_by_holm, wins
from engine.core.items import Preference
from engine.ranking.comparisons import PairComparisons
from engine.ranking.stopping import UntilSignificant
from tests.engine.ranking.worlds import GOOD, A, B, comparisons


def pair(count: int) -> PairComparisons:
    """Two candidates, each as A in turn, an instruction each."""
    return comparisons(
        [("one", "two", None) if place % 2 else ("two", "one", None) for place in range(count)]
    )


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


def judged(until: UntilSignificant, order: Iterable[str], labels: dict[str, Preference | None]) -> list[str]:
    """Judge item after item, those alone that are wanted; their ids."""
    done = []
    for item_id in order:
        if until.is_answered:
            break
        if until.wants(item_id):
            until.add({item_id: labels[item_id]})
            done.append(item_id)
    return done


def test_who_wins_all_is_sure_after_ten() -> None:
    of = pair(40)
    until = UntilSignificant(of)
    done = judged(until, of.ids, {item_id: for_one(of, row) for row, item_id in enumerate(of.ids)})
    assert len(done) == 10
    (question,) = until.questions
    assert (question.candidate, question.opponent, question.answered) == ("two", "one", -1)


def test_ties_are_never_sure() -> None:
    of = pair(200)
    until = UntilSignificant(of)
    assert len(judged(until, of.ids, dict.fromkeys(of.ids, GOOD))) == 200
    assert not until.is_answered
    assert until.left(until.questions[0]) == 0
    assert until.more(until.questions[0]) == np.inf


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
    labels = drawn_labels(of, 1, {"a": 0.45, "b": 0.0, "c": 0.0})
    until = UntilSignificant(of)
    done = judged(until, of.ids, labels)
    found = {(each.candidate, each.opponent): each for each in until.questions}
    assert found["a", "b"].answered == 1
    assert found["a", "c"].answered == 1
    assert found["b", "c"].answered is None
    assert len(done) < 400
    assert not until.wants(of.ids[-3])
    assert until.wants(of.ids[-1])


def test_a_restart_says_the_same() -> None:
    """What is stored is added at once, and each question was answered or is open as before."""
    of = all_against_all(200)
    labels = drawn_labels(of, 2, {"a": 0.3, "b": 0.1, "c": 0.0})
    first = UntilSignificant(of)
    done = judged(first, of.ids[:150], labels)
    again = UntilSignificant(of)
    again.add({item_id: labels[item_id] for item_id in done})
    assert [(each.answered, each.won) for each in first.questions] == [
        (each.answered, each.won) for each in again.questions
    ]
    assert judged(first, of.ids[150:], labels) == judged(again, of.ids[150:], labels)


def test_it_can_be_sent_to_another_process() -> None:
    of = pair(40)
    until = UntilSignificant(of)
    until.add({item_id: for_one(of, row) for row, item_id in enumerate(of.ids[:8])})
    sent = pickle.loads(pickle.dumps(until))
    assert sent.questions[0].won == until.questions[0].won
    assert (
        len(judged(sent, of.ids[8:], {item_id: for_one(of, row) for row, item_id in enumerate(of.ids)})) == 2
    )


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


def test_two_candidates_have_one_interval() -> None:
    until = UntilSignificant(pair(20), 0.2)
    assert [(each.candidate, each.opponent) for each in until.questions] == [("two", "one")]
