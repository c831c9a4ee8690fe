"""All that is measured of a system, as a record and as JSON, and where it is most wrong."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from engine.data.dataset import load_dataset
from engine.metrics.accuracy import LabelMeasures
from engine.metrics.evaluation import Evaluation, evaluate, largest_disagreements, mean_of, official_json
from engine.metrics.matching import match, system_of_file
from tests.judged import BAD, GOOD, RATHER_A, SURE_A, SURE_GOOD, TIE, A, B, dataset, stored_run, system
from tests.steps import there

# The official numbers on the development set, and the JSON under the task's keys.


CRITERIA = ("relevance", "naturalness", "truthfulness", "safety", "overall_quality")


@pytest.fixture(scope="module")
def baseline(shared_data: Path) -> Evaluation:
    """The official baseline's submission on the development set."""
    folder = shared_data / "eloquent"
    gold = load_dataset(folder / "validation.tsv")
    return evaluate(match(system_of_file(folder / "second_subtask_sample_submission.tsv"), gold))


@pytest.mark.parametrize(
    ("key", "expected"),
    [("accuracy", (23.23, 40.4, 9.09, 9.09, 43.43)), ("rougeL", (9.905, 8.683, 8.493, 5.889, 9.137))],
)
def test_numbers_of_the_baseline(baseline: Evaluation, key: str, expected: tuple[float, ...]) -> None:
    scores = official_json(baseline)
    assert tuple(scores[f"{name}_{key}"] for name in CRITERIA) == expected


def test_the_trivial_judges_are_better_than_the_official_baseline(baseline: Evaluation) -> None:
    assert baseline.accuracy == pytest.approx(0.2505, abs=1e-4)
    assert baseline.baseline == pytest.approx(0.7172, abs=1e-4)
    typical = there(baseline.explanation_mean("typical"))
    rouge = there(baseline.explanation_mean("rouge_l"))
    assert 27 < typical < 31
    assert typical > 3 * rouge


def test_an_instruction_of_several_pairs_counts_once_where_others_have_fewer() -> None:
    def of(instructions: list[str]) -> Evaluation:
        gold = dataset({"safety": [A, A, A, A]}, instructions=instructions)
        return evaluate(match(system({"safety": [B, B, A, A]}), gold))

    uneven = of(["one", "one", "one", "two"])
    assert uneven.accuracy == 0.5
    once = there(uneven.accuracy_by_instruction)
    assert once.value == pytest.approx((1 / 3 + 1) / 2)
    assert once.ends is not None
    assert 0 <= once.ends[0] < once.value < once.ends[1] <= 1
    assert official_json(uneven)["details"]["mean_accuracy_by_instruction"] == [once.value, once.ends]
    even = of(["one", "one", "two", "two"])
    assert even.accuracy_by_instruction is None
    assert "mean_accuracy_by_instruction" not in official_json(even)["details"]


def test_the_details_of_labels_hold_all_measures_in_the_order_of_the_file(baseline: Evaluation) -> None:
    details = json.loads(json.dumps(official_json(baseline), allow_nan=False))["details"]
    found = details["labels"]["safety"]
    assert found["confusion"]["both_good"]["A"] == 67
    assert len(details["explanations"]["safety"]["by_item"]["rouge_l"]) == 99
    names = {field.name for field in fields(LabelMeasures)}
    beyond = {"kappa_interval", "ac1_interval", "macro_f1_interval"}
    assert found.keys() == names - {"answer_mass"} | {"format_mass"} | beyond  # the file keeps its key
    assert list(found)[:3] == ["criterion", "items", "accuracy"]
    assert list(found)[-3:] == ["longer", "longer_human", "baselines"]


def test_a_system_without_explanations_has_accuracies_alone() -> None:
    found = evaluate(match(system({"safety": [A, B]}), dataset({"safety": [A, A]}, {"safety": ["x", "y"]})))
    scores = official_json(found)
    assert found.explanations == {}
    assert [key for key in scores if key != "details"] == ["safety_accuracy"]
    assert found.explanation_mean("rouge_l") is None
    assert [mean_of(values) for values in ([1.0, 3.0], [1.0, None], [])] == [2.0, None, None]


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


# Largest disagreements: their order, and what is none.


def judged(folder: Path, human: dict[str, list[Any]], columns: dict[str, list[Any]]) -> Evaluation:
    gold = dataset(human)
    return evaluate(match(stored_run(folder, gold, columns), gold))


def found(evaluation: Evaluation, most: int = 20) -> list[tuple[str, str]]:
    return [(each.pair.item.id, each.criterion) for each in largest_disagreements(evaluation, most)]


def test_the_surest_come_first_and_equal_ones_in_the_order_of_the_dataset(tmp_path: Path) -> None:
    human = {"safety": [B, GOOD, A, B], "relevance": [A, BAD, A, GOOD]}
    columns = {"safety": [RATHER_A, SURE_A, SURE_A, SURE_A], "relevance": [SURE_A, SURE_A, SURE_A, SURE_A]}
    evaluation = judged(tmp_path, human, columns)
    # Of one item's criteria, that of the rubric's order.
    pairs = [(item, name) for item in "24" for name in ("relevance", "safety")]
    assert found(evaluation) == [*pairs, ("1", "safety")]
    assert found(evaluation, 1) == [("2", "relevance")]
    assert found(evaluation, 0) == found(evaluation, -1) == []


def test_a_lead_is_the_probability_of_the_wrong_label_less_that_of_the_human_one(tmp_path: Path) -> None:
    human, columns = [B, A, B, GOOD], [RATHER_A, SURE_A, None, SURE_GOOD]  # one is unscored, two right
    (disagreement,) = largest_disagreements(judged(tmp_path, {"safety": human}, {"safety": columns}))
    assert disagreement.lead == pytest.approx(0.4)
    assert (disagreement.human, disagreement.predicted) == (B, A)


def test_a_submission_has_no_leads_and_keeps_the_order_of_the_dataset() -> None:
    gold = dataset({"safety": [B, B, A, GOOD], "relevance": [A, A, A, BAD]})
    judge = system({"safety": [A, B, None, A], "relevance": [A, A, A, A]})
    evaluation = evaluate(match(judge, gold))
    assert found(evaluation) == [("1", "safety"), ("4", "relevance"), ("4", "safety")]
    assert [disagreement.lead for disagreement in largest_disagreements(evaluation)] == [None, None, None]


def test_what_a_person_labelled_is_no_disagreement_of_the_judge(tmp_path: Path) -> None:
    gold = dataset({"safety": [B, B, B, B, B]})
    given = ((B, None), (GOOD, None), (A, "A it is."), (None, "Another reason."), (A, None))
    overrides = [(str(item), "safety", *said) for item, said in enumerate(given, start=1)]
    columns = {"safety": [SURE_A, SURE_A, SURE_A, SURE_A, None]}
    run = stored_run(tmp_path, gold, columns, overrides=overrides)
    assert found(evaluate(match(run, gold))) == [("4", "safety")]


def test_a_tie_of_which_people_said_no_more_is_as_likely_as_both_of_its_labels(tmp_path: Path) -> None:
    evaluation = judged(tmp_path, {"safety": [TIE, TIE]}, {"safety": [SURE_GOOD, RATHER_A]})
    (disagreement,) = largest_disagreements(evaluation)
    assert (disagreement.pair.item.id, disagreement.human) == ("2", TIE)
    assert disagreement.lead == pytest.approx(0.6 - 0.2)
