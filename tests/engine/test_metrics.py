"""Accuracy beside the most frequent label; unscored judgments count as wrong, never as a label."""

import pytest

from engine.metrics import most_frequent_label, score_criterion
from engine.records import Judgment, Preference, Unscored

A, B, GOOD, BAD = Preference


def judgment(item_id: str, preference: Preference, flipped: bool | None = False) -> Judgment:
    return Judgment(item_id, "safety", preference, (0.25, 0.25, 0.25, 0.25), flipped, 0.8, ())


def test_accuracy_is_the_share_of_labelled_items_that_agree() -> None:
    judgments = [judgment("1", A), judgment("2", B), judgment("3", GOOD), judgment("4", A)]
    score = score_criterion("safety", judgments, {"1": A, "2": A, "3": GOOD})
    assert score.labelled == 3
    assert score.accuracy == pytest.approx(2 / 3)


def test_an_unscored_item_counts_as_wrong() -> None:
    judgments: list[Judgment | Unscored] = [judgment("1", A), Unscored("2", "safety", "too long")]
    score = score_criterion("safety", judgments, {"1": A, "2": A})
    assert (score.accuracy, score.unscored) == (0.5, 1)
    assert sum(score.predicted.values()) == 1


def test_the_baseline_is_the_most_frequent_label_on_the_same_items() -> None:
    judgments = [judgment(str(number), A) for number in range(4)]
    gold = {"0": GOOD, "1": GOOD, "2": GOOD, "3": B, "not judged": B}
    score = score_criterion("safety", judgments, gold)
    assert (score.most_frequent, score.baseline, score.accuracy) == (GOOD, 0.75, 0.0)


def test_without_labels_there_is_no_accuracy() -> None:
    score = score_criterion("safety", [judgment("1", A)], {})
    assert (score.accuracy, score.baseline, score.most_frequent) == (None, None, None)


def test_flips_are_counted_where_there_were_two_orders() -> None:
    judgments = [judgment("1", A, True), judgment("2", A, False), judgment("3", A, None)]
    assert score_criterion("safety", judgments, {}).flipped == 0.5


@pytest.mark.parametrize(
    ("labels", "expected"), [([], None), ([B, A, B], B), ([BAD, A], A), ([GOOD, BAD, BAD], BAD)]
)
def test_the_most_frequent_label(labels: list[Preference], expected: Preference | None) -> None:
    assert most_frequent_label(labels) is expected
