"""Accuracy beside the most frequent label; unscored judgments count as wrong, never as a label."""

from collections.abc import Mapping, Sequence

import pytest

from engine.core.items import Preference
from engine.core.judgments import Judgment, Unscored
from engine.measure.metrics import CriterionScore, most_frequent_label, score_criterion

A, B, GOOD, BAD = Preference


def judgment(item_id: str, preference: Preference, flipped: bool | None = False) -> Judgment:
    return Judgment(item_id, "safety", preference, (0.25, 0.25, 0.25, 0.25), flipped, 0.8, ())


def score(judgments: Sequence[Judgment | Unscored], gold: Mapping[str, Preference]) -> CriterionScore:
    labels = [one.preference if isinstance(one, Judgment) else None for one in judgments]
    return score_criterion("safety", judgments, gold, labels)


def test_accuracy_is_the_share_of_labelled_items_that_agree() -> None:
    judgments = [judgment("1", A), judgment("2", B), judgment("3", GOOD), judgment("4", A)]
    found = score(judgments, {"1": A, "2": A, "3": GOOD})
    assert found.labelled == 3
    assert found.accuracy == pytest.approx(2 / 3)


def test_an_unscored_item_counts_as_wrong() -> None:
    judgments: list[Judgment | Unscored] = [judgment("1", A), Unscored("2", "safety", "too long")]
    found = score(judgments, {"1": A, "2": A})
    assert (found.accuracy, found.unscored) == (0.5, 1)
    assert sum(found.predicted.values()) == 1


def test_the_baseline_is_the_most_frequent_label_on_the_same_items() -> None:
    judgments = [judgment(str(number), A) for number in range(4)]
    gold = {"0": GOOD, "1": GOOD, "2": GOOD, "3": B, "not judged": B}
    found = score(judgments, gold)
    assert (found.most_frequent, found.baseline, found.accuracy) == (GOOD, 0.75, 0.0)


def test_without_labels_there_is_no_accuracy() -> None:
    found = score([judgment("1", A)], {})
    assert (found.accuracy, found.baseline, found.most_frequent) == (None, None, None)


def test_flips_are_counted_where_there_were_two_orders() -> None:
    judgments = [judgment("1", A, True), judgment("2", A, False), judgment("3", A, None)]
    assert score(judgments, {}).flipped == 0.5


@pytest.mark.parametrize(
    ("labels", "expected"), [([], None), ([B, A, B], B), ([BAD, A], A), ([GOOD, BAD, BAD], BAD)]
)
def test_the_most_frequent_label(labels: list[Preference], expected: Preference | None) -> None:
    assert most_frequent_label(labels) is expected


def test_a_label_in_force_is_scored_in_the_place_of_the_judgment() -> None:
    judgments: list[Judgment | Unscored] = [judgment("1", A, True), Unscored("2", "safety", "too long")]
    found = score_criterion("safety", judgments, {"1": B, "2": A}, [B, GOOD])
    assert (found.accuracy, found.unscored) == (0.5, 0)
    assert found.predicted == {B: 1, GOOD: 1}
    assert (found.flipped, found.format_mass) == (1, 0.8)
