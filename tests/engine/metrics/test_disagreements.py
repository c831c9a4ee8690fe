"""Largest disagreements: their order, and what is none."""

from pathlib import Path
from typing import Any

import pytest

from engine.metrics.evaluation import Evaluation, evaluate, largest_disagreements
from engine.metrics.matching import match
from tests.judged import BAD, GOOD, RATHER_A, SURE_A, SURE_GOOD, TIE, A, B, dataset, stored_run, system


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
    assert found(evaluation) == [
        ("2", "relevance"),
        ("2", "safety"),
        ("4", "relevance"),
        ("4", "safety"),
        ("1", "safety"),
    ]
    assert found(evaluation, 1) == [("2", "relevance")]
    assert found(evaluation, 0) == found(evaluation, -1) == []


def test_a_lead_is_the_probability_of_the_wrong_label_less_that_of_the_human_one(tmp_path: Path) -> None:
    evaluation = judged(tmp_path, {"safety": [B]}, {"safety": [RATHER_A]})
    (disagreement,) = largest_disagreements(evaluation)
    assert disagreement.lead == pytest.approx(0.4)
    assert (disagreement.human, disagreement.predicted) == (B, A)


def test_what_is_right_or_unscored_is_no_disagreement(tmp_path: Path) -> None:
    evaluation = judged(tmp_path, {"safety": [A, B, GOOD]}, {"safety": [SURE_A, None, SURE_GOOD]})
    assert found(evaluation) == []


def test_a_submission_has_no_leads_and_keeps_the_order_of_the_dataset() -> None:
    gold = dataset({"safety": [B, B, A, GOOD], "relevance": [A, A, A, BAD]})
    judge = system({"safety": [A, B, None, A], "relevance": [A, A, A, A]})
    evaluation = evaluate(match(judge, gold))
    assert found(evaluation) == [("1", "safety"), ("4", "relevance"), ("4", "safety")]
    assert [disagreement.lead for disagreement in largest_disagreements(evaluation)] == [None, None, None]


def test_what_a_person_labelled_is_no_disagreement_of_the_judge(tmp_path: Path) -> None:
    gold = dataset({"safety": [B, B, B, B, B]})
    overrides = [
        ("1", "safety", B, None),
        ("2", "safety", GOOD, None),
        ("3", "safety", A, "A it is."),
        ("4", "safety", None, "Another reason."),
        ("5", "safety", A, None),
    ]
    columns = {"safety": [SURE_A, SURE_A, SURE_A, SURE_A, None]}
    run = stored_run(tmp_path, gold, columns, overrides=overrides)
    assert found(evaluate(match(run, gold))) == [("4", "safety")]


def test_a_tie_of_which_people_said_no_more_is_as_likely_as_both_of_its_labels(tmp_path: Path) -> None:
    evaluation = judged(tmp_path, {"safety": [TIE, TIE]}, {"safety": [SURE_GOOD, RATHER_A]})
    (disagreement,) = largest_disagreements(evaluation)
    assert (disagreement.pair.item.id, disagreement.human) == ("2", TIE)
    assert disagreement.lead == pytest.approx(0.6 - 0.2)
