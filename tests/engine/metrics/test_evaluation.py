"""The official numbers on the development set, and the JSON under the task's keys."""

import json
from dataclasses import fields
from pathlib import Path

import pytest

from engine.data.dataset import load_dataset
from engine.metrics.accuracy import LabelMeasures
from engine.metrics.evaluation import Evaluation, evaluate, mean_of, official_json
from engine.metrics.matching import match, system_of_file
from tests.judged import A, B, dataset, system

CRITERIA = ("relevance", "naturalness", "truthfulness", "safety", "overall_quality")


@pytest.fixture(scope="module")
def baseline(shared_data: Path) -> Evaluation:
    """The official baseline's submission on the development set."""
    folder = shared_data / "eloquent"
    gold = load_dataset(folder / "validation.tsv")
    return evaluate(match(system_of_file(folder / "second_subtask_sample_submission.tsv"), gold))


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("accuracy", (23.23, 40.4, 9.09, 9.09, 43.43)),
        ("rougeL", (9.905, 8.683, 8.493, 5.889, 9.137)),
    ],
)
def test_the_official_numbers_of_the_baseline(
    baseline: Evaluation, key: str, expected: tuple[float, ...]
) -> None:
    scores = official_json(baseline)
    assert tuple(scores[f"{name}_{key}"] for name in CRITERIA) == expected


def test_the_trivial_judges_are_better_than_the_official_baseline(baseline: Evaluation) -> None:
    assert baseline.accuracy == pytest.approx(0.2505, abs=1e-4)
    assert baseline.baseline == pytest.approx(0.7172, abs=1e-4)
    typical = baseline.explanation_mean("typical")
    rouge = baseline.explanation_mean("rouge_l")
    assert typical is not None
    assert rouge is not None
    assert 27 < typical < 31
    assert typical > 3 * rouge


def test_the_details_are_plain_values(baseline: Evaluation) -> None:
    details = json.loads(json.dumps(official_json(baseline), allow_nan=False))["details"]
    assert details["labels"]["safety"]["confusion"]["both_good"]["A"] == 67
    assert len(details["explanations"]["safety"]["by_item"]["rouge_l"]) == 99


def test_the_details_of_labels_hold_all_measures_in_the_order_of_the_file(baseline: Evaluation) -> None:
    found = official_json(baseline)["details"]["labels"]["safety"]
    names = {field.name for field in fields(LabelMeasures)}
    assert found.keys() == names - {"answer_mass"} | {"format_mass"}  # the file keeps its key
    assert list(found)[:3] == ["criterion", "items", "accuracy"]
    assert list(found)[-3:] == ["longer", "longer_human", "baselines"]


def test_a_system_without_explanations_has_accuracies_alone() -> None:
    found = evaluate(match(system({"safety": [A, B]}), dataset({"safety": [A, A]}, {"safety": ["x", "y"]})))
    scores = official_json(found)
    assert found.explanations == {}
    assert [key for key in scores if key != "details"] == ["safety_accuracy"]
    assert found.explanation_mean("rouge_l") is None


@pytest.mark.parametrize(("values", "expected"), [([1.0, 3.0], 2.0), ([1.0, None], None), ([], None)])
def test_a_mean_of_something_unknown_is_unknown(values: list[float | None], expected: float | None) -> None:
    assert mean_of(values) == expected


@pytest.mark.parametrize("blank", ["", " \n\t"])
def test_items_without_an_instruction_are_no_cluster(blank: str) -> None:
    """60 items of which 30 lack it: from 39.6 to 98.3 % where they were one cluster."""
    human = {"safety": [A, B] * 30, "relevance": [A] * 60}
    judge = system({"safety": [A] * 60, "relevance": [A, A, B] * 20})
    full = evaluate(match(judge, dataset(human)))
    asked = [blank if place % 2 else f"question {place + 1}" for place in range(60)]
    lacking = evaluate(match(judge, dataset(human, instructions=asked)))
    assert lacking.interval == full.interval
    assert lacking.labels["safety"].instructions == 60
    assert official_json(lacking)["details"]["labels"] == official_json(full)["details"]["labels"]
