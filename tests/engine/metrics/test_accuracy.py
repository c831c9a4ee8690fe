"""Accuracy beside the most frequent label; unscored items count as wrong, never as a label."""

from pathlib import Path

import pytest

from engine.core.items import Preference
from engine.metrics.accuracy import (
    Accuracy,
    accuracy,
    mean_accuracy,
    measure_labels,
    most_frequent_label,
    run_accuracy,
)
from engine.metrics.evaluation import evaluate_labels
from engine.metrics.matching import match
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
    system,
    with_texts,
)


def test_accuracy_is_the_share_of_items_that_agree() -> None:
    found = accuracy([A, B, GOOD], [A, A, GOOD], "xyz")
    assert found.items == 3
    assert found.share == pytest.approx(2 / 3)


def test_an_unscored_item_counts_as_wrong() -> None:
    assert accuracy([A, None], [A, A], "xy").share == 0.5


def test_the_baseline_is_the_most_frequent_label_on_the_same_items() -> None:
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
    columns: Columns = {
        "safety": [SURE_A, SURE_GOOD, SURE_A, None],
        "relevance": [SURE_A] * 4,
    }
    results = stored_run(tmp_path, gold, columns, overrides=[("4", "safety", GOOD, None)]).results
    assert results is not None
    first, second, _, last = (item.instruction for item in gold)
    of_all = Accuracy((1.0, 0.0, 1.0), (first, second, last), A, 2 / 3)
    assert run_accuracy(results, gold) == {"safety": of_all}
    assert run_accuracy(results.model_alone(), gold)["safety"].share == 1 / 3
    other = with_texts(gold, output_a=["other", "a", "a", "a"])
    assert run_accuracy(results, other) == {"safety": Accuracy((0.0, 1.0), (second, last), A, 0.5)}
    assert run_accuracy(results, gold.only({"3"})) == {}


def test_there_is_one_accuracy() -> None:
    predicted, human = [A, None, B, GOOD, A], [A, A, B, BAD, B]
    measured = measure_labels("safety", matched(predicted, human).pairs["safety"])
    alone = accuracy(predicted, human, ["x", "y", "x", "z", "z"])
    assert measured.accuracy == alone.share


def test_there_is_one_interval_also_of_the_mean() -> None:
    predicted: dict[str, list[Preference | None]] = {
        "safety": [A, A, B, GOOD, A],
        "relevance": [B, A, B, B, None],
    }
    human = {"safety": [A, A, B, BAD, B], "relevance": [A, A, B, BAD, B]}
    instructions = ["x", "y", "x", "z", "z"]
    evaluation = evaluate_labels(match(system(predicted), dataset(human, instructions=instructions)))
    found = {name: accuracy(predicted[name], human[name], instructions) for name in human}
    mean = mean_accuracy(found)
    assert mean is not None
    assert mean.share_interval() == evaluation.interval
    assert all(found[name].interval == measured.interval for name, measured in evaluation.labels.items())
    assert accuracy([A, B], [A, A], ["x", "x"]).interval is None
