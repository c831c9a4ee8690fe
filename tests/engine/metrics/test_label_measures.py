"""Labels held against human ones: scikit-learn's measures on small tables, trivial judges beside them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from engine.core.items import PREFERENCES, Item, Preference
from engine.metrics.accuracy import (
    Baselines,
    LabelMeasures,
    baselines,
    kappa,
    longer_response,
    measure_labels,
)
from engine.metrics.evaluation import evaluate
from engine.report.accuracy import accuracy_table
from tests.judged import BAD, GOOD, TIE, A, B, HumanLabels, Labels, matched


def measured(predicted: Labels, human: HumanLabels, **more: Any) -> LabelMeasures:
    return measure_labels("safety", matched(predicted, human, **more).pairs["safety"])


def baseline(human: HumanLabels, **more: Any) -> Baselines:
    return baselines(matched([None] * len(human), human, **more).pairs["safety"])


def test_confusion_has_a_row_for_each_human_label_and_a_column_for_unscored() -> None:
    score = measured([A, None, GOOD, B], [A, A, GOOD, GOOD])
    rows = ((1, 0, 0, 0, 1), (0, 0, 0, 0, 0), (0, 1, 1, 0, 0), (0, 0, 0, 0, 0))
    assert score.confusion == dict(zip(PREFERENCES, rows, strict=True))
    assert (score.accuracy, score.unscored, score.items) == (0.5, 1, 4)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([A, B, A, B], [A, B, A, B], 1.0),
        ([A, A, B, B], [A, B, A, B], 0.0),
        ([A, B], [B, A], -1.0),
        ([A, A, A, None], [A, A, A, B], 3 / 7),
        ([A, A], [A, A], None),
    ],
)
def test_kappa_is_agreement_beyond_chance(one: Labels, other: Labels, expected: float | None) -> None:
    found = kappa(one, other)
    assert found == (expected if expected is None else pytest.approx(expected))


def test_macro_f1_is_over_the_labels_that_occur() -> None:
    # F1 of A: 2/3, of B: 0 (predicted only); both_good and both_bad occur nowhere.
    assert measured([A, B], [A, A]).macro_f1 == pytest.approx(1 / 3)


@given(st.lists(st.tuples(st.sampled_from([*PREFERENCES, None]), st.sampled_from(PREFERENCES)), min_size=1))
def test_macro_f1_is_that_of_scikit_learn(both: list[tuple[Preference | None, Preference]]) -> None:
    predicted, human = zip(*both, strict=True)
    occurring = {*predicted, *human} - {None}
    names = [[str(label) for label in labels] for labels in (human, predicted)]
    expected = f1_score(*names, labels=sorted(occurring), average="macro", zero_division=0.0)
    assert measured(predicted, human).macro_f1 == pytest.approx(expected)


def test_the_most_frequent_label_is_that_of_these_very_items() -> None:
    """Of the other folds it would be none of them: “yes (most frequent)” would stand beside 0.0 %."""
    questions = ["one", "one", "two", "two"]
    assert baseline([A, A, B, B], instructions=questions).most_frequent == 0.5
    assert baseline([A, A, A, B], instructions=questions).most_frequent == 0.75
    assert baseline([A, A], instructions=["one", "one"]).most_frequent == 1.0


def test_the_longer_response_and_always_a() -> None:
    found = baseline([A, B, GOOD], outputs=[("long", "no"), ("no", "long"), ("as", "is")])
    assert (found.always_a, found.longer, found.random) == (1 / 3, 2 / 3, 0.25)


@pytest.mark.parametrize(("a", "b", "expected"), [("xx", "x", A), ("x", "xx", B), ("x", "y", None)])
def test_longer_is_more_characters(a: str, b: str, expected: Preference | None) -> None:
    assert longer_response(Item("1", "", a, b)) is expected


@pytest.mark.parametrize(
    ("predicted", "expected"),
    [([A] * 40, "no"), ([A, B] * 20, "yes"), ([A, B] * 2 + [A] * 36, "not significant"), ([None] * 40, "no")],
)
def test_better_is_held_against_the_label_most_frequent_on_these_very_items(
    predicted: Labels, expected: str
) -> None:
    score = measured(predicted, [A, B] * 20)
    assert score.baselines.most_frequent == score.rival_accuracy == 0.5
    assert (score.better, score.rival) == (expected, "most_frequent")


def wrong_at(places: range) -> list[Preference]:
    """Of 40 items, of which 24 are B, labels that are the human ones but for those at some places."""
    human = [A, B, A, B, B] * 8
    return [(A if label is B else B) if place in places else label for place, label in enumerate(human)]


@pytest.mark.parametrize(
    ("wrong", "expected"), [(range(0, 40, 3), "no"), (range(0, 40, 7), "not significant"), (range(0), "yes")]
)
def test_better_is_held_against_the_longer_response_where_that_is_right_more_often(
    wrong: range, expected: str
) -> None:
    # The longer response is right on 80 %, the most frequent label on 60 %: 65 % is nothing.
    outputs = [("long", "no") if label is A else ("no", "long") for label in wrong_at(range(4, 40, 5))]
    score = measured(wrong_at(wrong), wrong_at(range(0)), outputs=outputs)
    assert (score.rival, score.better) == ("longer", expected)
    assert score.rival_accuracy == pytest.approx(0.8)
    shown = accuracy_table(evaluate(matched(wrong_at(wrong), wrong_at(range(0)), outputs=outputs)))
    assert shown.texts()[0][-1] == f"{expected} (longer)"


def test_a_single_instruction_gives_no_verdict() -> None:
    score = measured([A, A], [A, B], instructions=["one", "one"])
    assert (score.interval, score.better) == (None, "-")


def test_the_share_for_the_longer_is_among_a_and_b_of_unequal_length() -> None:
    outputs = [("xx", "x"), ("x", "xx"), ("xx", "x"), ("x", "y")]
    score = measured([A, A, GOOD, A], [BAD, B, A, B], outputs=outputs)
    assert (score.longer, score.longer_human) == (0.5, 1.0)


def test_either_tie_is_right_where_people_said_no_more() -> None:
    score = measured([GOOD, BAD, A, None, GOOD], [TIE, TIE, TIE, TIE, A])
    assert score.accuracy == 0.4
    assert score.confusion[TIE] == (1, 0, 1, 1, 1)
    assert [*score.confusion] == [A, B, GOOD, BAD, TIE]
    assert dict(score.human) == {TIE: 4, A: 1}


def test_trivial_judges_are_right_of_a_tie_as_any_judge_is() -> None:
    found = baseline([TIE, TIE, GOOD, A], instructions=["one", "one", "two", "two"])
    assert found.random == (2 / 4 + 2 / 4 + 1 / 4 + 1 / 4) / 4
    assert found.most_frequent == 0.75  # both good is right of both ties, too
    assert found.always_a == 0.25


def test_the_lead_is_held_against_the_label_that_is_right_most_often() -> None:
    # Both good is right of three of four, though no one label occurs more than twice.
    lead, _ = measured([A, A, GOOD, A], [TIE, TIE, GOOD, A]).lead
    assert lead == 0.5 - 0.75


def test_kappa_with_ties_is_the_weighted_one() -> None:
    # By chance ties (3 of 4) meet A (2 of 4), and A (1 of 4) meets ties (2 of 4).
    found = kappa([GOOD, BAD, A, GOOD], [TIE, TIE, A, A])
    assert found == pytest.approx(1 - (1 / 4) / (3 / 4 * 2 / 4 + 1 / 4 * 2 / 4))
    assert kappa([GOOD, BAD], [TIE, TIE]) is None


def test_macro_f1_takes_all_ties_as_one_where_people_said_no_more() -> None:
    ties, one_kind = (
        measured([GOOD, BAD, A, B], [TIE, TIE, A, A]),
        measured([GOOD, GOOD, A, B], [GOOD, GOOD, A, A]),
    )
    assert ties.macro_f1 == one_kind.macro_f1 == pytest.approx((1 + 2 / 3 + 0) / 3)
