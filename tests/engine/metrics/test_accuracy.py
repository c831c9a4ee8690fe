"""Labels beside human ones: accuracy, kappa, baselines, counts, the largest disagreements."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from engine.core.items import PREFERENCES, HumanLabel, Item, Preference
from engine.core.judgments import Judgment, Unscored
from engine.metrics.accuracy import (
    Accuracy,
    Baselines,
    LabelCounts,
    LabelMeasures,
    accuracy,
    count_labels,
    count_run,
    longer_response,
    mean_accuracy,
    measure_labels,
    most_frequent_label,
    run_accuracy,
)
from engine.metrics.beyond_chance import MetLabels, kappa_of
from engine.metrics.evaluation import evaluate, evaluate_labels
from engine.metrics.matching import match
from engine.report.accuracy import accuracy_table
from tests.judged import (
    BAD,
    GOOD,
    SURE_A,
    SURE_GOOD,
    TIE,
    A,
    B,
    Columns,
    Labels,
    dataset,
    judged_run,
    matched,
    stored_run,
    system,
    with_texts,
)
from tests.steps import there

# Accuracy beside the most frequent label; unscored items count as wrong, never as a label.


def test_accuracy_is_the_share_of_items_that_agree_beside_the_most_frequent_label_of_the_same() -> None:
    found = accuracy([A, B, GOOD, None], [A, A, GOOD, A], "xyzw")  # unscored counts as wrong
    assert (found.items, found.share) == (4, 0.5)
    found = accuracy([A] * 4, [GOOD, GOOD, GOOD, B], "wxyz")
    assert (found.items, found.share, found.most_frequent, found.baseline) == (4, 0.0, GOOD, 0.75)


@pytest.mark.parametrize(
    ("labels", "expected"), [([], None), ([B, A, B], B), ([BAD, A], A), ([GOOD, BAD, BAD], BAD)]
)
def test_the_most_frequent_label(labels: list[Preference], expected: Preference | None) -> None:
    assert most_frequent_label(labels) is expected
    if expected is not None:
        assert accuracy(labels, labels, "xyz").most_frequent is expected


def test_a_run_is_held_against_the_labels_of_the_very_items_that_it_judged(tmp_path: Path) -> None:
    gold = dataset({"safety": [A, A, None, GOOD], "relevance": [None] * 4})
    columns: Columns = {"safety": [SURE_A, SURE_GOOD, SURE_A, None], "relevance": [SURE_A] * 4}
    results = judged_run(tmp_path, gold, columns, overrides=[("4", "safety", GOOD, None)])
    first, second, _, last = (item.instruction for item in gold)
    of_all = Accuracy((1.0, 0.0, 1.0), (first, second, last), A, 2 / 3)
    assert run_accuracy(results, gold) == {"safety": of_all}
    assert run_accuracy(results.model_alone(), gold)["safety"].share == 1 / 3
    other = with_texts(gold, output_a=["other", "a", "a", "a"])
    assert run_accuracy(results, other) == {"safety": Accuracy((0.0, 1.0), (second, last), A, 0.5)}
    assert run_accuracy(results, gold.only({"3"})) == {}


def test_there_is_one_accuracy_and_one_interval_also_of_the_mean() -> None:
    predicted: dict[str, Labels] = {"safety": [A, A, B, GOOD, A], "relevance": [B, A, B, B, None]}
    human = {"safety": [A, A, B, BAD, B], "relevance": [A, A, B, BAD, B]}
    instructions = ["x", "y", "x", "z", "z"]
    evaluation = evaluate_labels(match(system(predicted), dataset(human, instructions=instructions)))
    found = {name: accuracy(predicted[name], human[name], instructions) for name in human}
    mean = there(mean_accuracy(found))
    assert mean.share_interval() == evaluation.interval
    for name, measured in evaluation.labels.items():
        assert (found[name].interval, found[name].share) == (measured.interval, measured.accuracy)
    assert accuracy([A, B], [A, A], ["x", "x"]).interval is None


# Labels compared with human ones: scikit-learn's measures on small tables, trivial judges beside them.


def measured(predicted: Labels, human: Labels, **more: Any) -> LabelMeasures:
    return measure_labels("safety", matched(predicted, human, **more).pairs["safety"])


def baseline(human: Labels, **more: Any) -> Baselines:
    return measure_labels("safety", matched([None] * len(human), human, **more).pairs["safety"]).baselines


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
    found = MetLabels.of(one, other, [0] * len(one)).value(kappa_of)
    assert found == (expected if expected is None else pytest.approx(expected))


@given(st.lists(st.tuples(st.sampled_from([*PREFERENCES, None]), st.sampled_from(PREFERENCES)), min_size=1))
def test_macro_f1_is_that_of_scikit_learn(both: list[tuple[Preference | None, Preference]]) -> None:
    predicted, human = zip(*both, strict=True)
    occurring = {*predicted, *human} - {None}
    names = [[str(label) for label in labels] for labels in (human, predicted)]
    expected = f1_score(*names, labels=sorted(occurring), average="macro", zero_division=0.0)
    assert measured(predicted, human).macro_f1.value == pytest.approx(expected)


def test_the_most_frequent_label_is_that_of_these_very_items() -> None:
    """Of the other folds it would be none of them: “yes (most frequent)” would stand beside 0.0 %."""
    questions = ["one", "one", "two", "two"]
    assert baseline([A, A, B, B], instructions=questions).most_frequent == 0.5
    assert baseline([A, A, A, B], instructions=questions).most_frequent == 0.75
    assert baseline([A, A], instructions=["one", "one"]).most_frequent == 1.0


def test_the_longer_response_and_always_a() -> None:
    found = baseline([A, B, GOOD], outputs=[("long", "no"), ("no", "long"), ("as", "is")])
    assert (found.always_a, found.longer, found.random) == (1 / 3, 2 / 3, 0.25)
    of_each = [longer_response(Item("1", "", a, b)) for a, b in (("xx", "x"), ("x", "xx"), ("x", "y"))]
    assert of_each == [A, B, None]


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


def test_another_judges_mere_tie_is_right_of_any_tie_and_has_a_column_of_its_own() -> None:
    score = measured([TIE, TIE, TIE, TIE, A], [GOOD, BAD, TIE, A, A])
    assert score.accuracy == 0.8
    assert score.confusion[GOOD] == (0, 0, 0, 0, 1, 0)
    assert score.confusion[A] == (1, 0, 0, 0, 1, 0)
    assert dict(score.predicted) == {TIE: 4, A: 1}
    assert score.macro_f1.value == pytest.approx((6 / 7 + 2 / 3) / 2)  # all ties are one
    # By chance ties (4 of 5) meet ties (3 of 5), A (1 of 5) meets A (2 of 5): .56; 1 - .2 / .44.
    assert score.kappa.value == pytest.approx(1 - 0.2 / 0.44)


def test_trivial_judges_are_right_of_a_tie_as_any_judge_is() -> None:
    found = baseline([TIE, TIE, GOOD, A], instructions=["one", "one", "two", "two"])
    assert found.random == (2 / 4 + 2 / 4 + 1 / 4 + 1 / 4) / 4
    assert found.most_frequent == 0.75  # both good is right of both ties, too
    assert found.always_a == 0.25
    # Both good is right of three of four, though no one label occurs more than twice.
    assert measured([A, A, GOOD, A], [TIE, TIE, GOOD, A]).lead[0] == 0.5 - 0.75


def test_kappa_with_ties_is_the_weighted_one() -> None:
    # By chance ties (3 of 4) meet A (2 of 4), and A (1 of 4) meets ties (2 of 4).
    found = MetLabels.of([GOOD, BAD, A, GOOD], [TIE, TIE, A, A], [0] * 4).value(kappa_of)
    assert found == pytest.approx(1 - (1 / 4) / (3 / 4 * 2 / 4 + 1 / 4 * 2 / 4))
    assert MetLabels.of([GOOD, BAD], [TIE, TIE], [0, 0]).value(kappa_of) is None


def test_macro_f1_takes_all_ties_as_one_where_people_said_no_more() -> None:
    ties = measured([GOOD, BAD, A, B], [TIE, TIE, A, A])
    one_kind = measured([GOOD, GOOD, A, B], [GOOD, GOOD, A, A])
    assert ties.macro_f1.value == one_kind.macro_f1.value == pytest.approx((1 + 2 / 3 + 0) / 3)


@pytest.mark.parametrize("human", [[A, B], [A, B, GOOD], [A, B, GOOD, TIE]])
def test_macro_f1s_interval_knows_of_no_label_that_never_occurs(human: list[HumanLabel]) -> None:
    labels = [human[place % len(human)] for place in range(60)]
    predicted = [GOOD if label is TIE else label for label in [A, None, *labels[2:]]]
    interval = measured(predicted, labels).macro_f1.interval
    assert interval is not None
    assert interval.low > 0.8  # 0 with one instruction more that has a new label


# What labels say by themselves: how often each is given, flips, format mass.


def judgment(item_id: str, preference: Preference, flipped: bool | None = False) -> Judgment:
    return Judgment(item_id, "safety", preference, (0.25, 0.25, 0.25, 0.25), flipped, 0.8, ())


def test_an_unscored_item_is_no_label() -> None:
    found = count_labels("safety", [A, None], [judgment("1", A), Unscored("2", "safety", "too long")])
    assert (found.items, found.unscored, found.predicted) == (2, 1, {A: 1})
    found = count_labels("safety", [A, B], [None, None])  # without a model
    assert (found.flipped, found.answer_mass) == (None, None)


def test_flips_are_counted_where_there_were_two_orders() -> None:
    judgments = [judgment("1", A, True), judgment("2", A, False), judgment("3", A, None)]
    found = count_labels("safety", [A, A, A], judgments)
    assert (found.flipped, found.in_both_orders, found.partly_in_both_orders) == (0.5, (2, 3), True)
    for alike in (judgments[:2], judgments[2:]):  # all in both orders, all in one
        assert not count_labels("safety", [A] * len(alike), alike).partly_in_both_orders


def test_a_label_in_force_is_counted_in_the_place_of_the_judgment() -> None:
    judgments: list[Judgment | Unscored] = [judgment("1", A, True), Unscored("2", "safety", "too long")]
    expected = LabelCounts("safety", 2, 0, {B: 1, GOOD: 1}, 1, (1, 1), 0.8)
    assert count_labels("safety", [B, GOOD], judgments) == expected


def test_a_run_is_counted_by_criterion(tmp_path: Path) -> None:
    columns: Columns = {"safety": [SURE_A, None], "relevance": [SURE_GOOD, SURE_GOOD]}
    gold, overrides = dataset({"safety": [None, None]}), [("2", "safety", B, None)]
    run = stored_run(tmp_path, gold, columns, overrides=overrides)
    counts = count_run(there(run.results))
    assert [(count.criterion, count.items, count.unscored, count.predicted) for count in counts] == [
        ("safety", 2, 0, {A: 1, B: 1}),
        ("relevance", 2, 0, {GOOD: 2}),
    ]
