"""Accuracy beside the most frequent label; unscored items count as wrong, never as a label."""

from pathlib import Path

import pytest

from engine.core.items import Preference
from engine.measure.accuracy import Accuracy, accuracy, most_frequent_label, run_accuracy
from engine.measure.label_measures import measure_labels
from tests.judged import (
    BAD,
    GOOD,
    SURE_A,
    SURE_GOOD,
    A,
    B,
    Columns,
    dataset,
    matched,
    stored_run,
    with_texts,
)


def test_accuracy_is_the_share_of_items_that_agree() -> None:
    found = accuracy([A, B, GOOD], [A, A, GOOD])
    assert found.items == 3
    assert found.share == pytest.approx(2 / 3)


def test_an_unscored_item_counts_as_wrong() -> None:
    assert accuracy([A, None], [A, A]).share == 0.5


def test_the_baseline_is_the_most_frequent_label_on_the_same_items() -> None:
    assert accuracy([A] * 4, [GOOD, GOOD, GOOD, B]) == Accuracy(4, 0.0, GOOD, 0.75)


@pytest.mark.parametrize(
    ("labels", "expected"), [([], None), ([B, A, B], B), ([BAD, A], A), ([GOOD, BAD, BAD], BAD)]
)
def test_the_most_frequent_label(labels: list[Preference], expected: Preference | None) -> None:
    assert most_frequent_label(labels) is expected
    if expected is not None:
        assert accuracy(labels, labels).most_frequent is expected


def test_a_run_is_held_against_the_labels_of_the_very_items_that_it_judged(tmp_path: Path) -> None:
    gold = dataset({"safety": [A, A, None, GOOD], "relevance": [None] * 4})
    columns: Columns = {
        "safety": [SURE_A, SURE_GOOD, SURE_A, None],
        "relevance": [SURE_A] * 4,
    }
    results = stored_run(tmp_path, gold, columns, overrides=[("4", "safety", GOOD, None)]).results
    assert results is not None
    assert run_accuracy(results, gold) == {"safety": Accuracy(3, 2 / 3, A, 2 / 3)}
    assert run_accuracy(results.model_alone(), gold)["safety"].share == 1 / 3
    other = with_texts(gold, output_a=["other", "a", "a", "a"])
    assert run_accuracy(results, other) == {"safety": Accuracy(2, 0.5, A, 0.5)}
    assert run_accuracy(results, gold.only({"3"})) == {}


def test_there_is_one_accuracy() -> None:
    predicted, human = [A, None, B, GOOD, A], [A, A, B, BAD, B]
    measured = measure_labels("safety", matched(predicted, human).pairs["safety"])
    assert measured.accuracy == accuracy(predicted, human).share
