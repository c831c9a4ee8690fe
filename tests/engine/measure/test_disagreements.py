"""Largest disagreements: their order, and what is none. With runs written out in a test, for others too."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from engine.core.items import Order, Preference
from engine.core.judgments import Explanation, JudgedItem, NewOverride, Reading
from engine.core.run_records import RunIdentity
from engine.data.dataset import Dataset
from engine.decisions.run_results import load_results
from engine.measure.disagreements import largest_disagreements
from engine.measure.evaluation import Evaluation, evaluate
from engine.measure.matching import match
from engine.measure.systems import System, system_of_run
from engine.store.run_store import RunStore
from tests.judged import BAD, GOOD, A, B, dataset, system

Probabilities = tuple[float, float, float, float]


def stored_run(
    folder: Path,
    gold: Dataset,
    said: Mapping[str, Sequence[Probabilities | None]],
    explanations: Mapping[str, str] | None = None,
    overrides: Sequence[tuple[str, str, Preference | None, str | None]] = (),
    **changes: Any,
) -> System:
    """A run in a store whose probabilities are these, the same in both orders; None is unscored.

    `overrides`: by Ada, of item, criterion, label and explanation. `changes`: of the run's identity, or
    `manifest`.
    """
    manifest = changes.pop("manifest", {"llama_cpp": "llama.cpp b1", "chat_template_hash": "c" * 64})
    facts: dict[str, Any] = {
        "key": "key",
        "dataset_path": Path("/data/gold.tsv"),
        "dataset_hash": gold.hash,
        "items": len(gold),
        "model_path": folder / "model.gguf",
        "model_name": "a model",
        "model_hash": "f" * 64,
        "prompt_version": "7",
        "criteria": tuple(said),
        "settings": {"mode": "explain", "orders": ["AB", "BA"], "context": 4096, "examples": ""},
    }
    with RunStore(folder / "runs.sqlite") as store:
        with store.begin(RunIdentity(**(facts | changes))) as run:
            store.describe(run.id, manifest)
            for position, item in enumerate(gold):
                column = {name: values[position] for name, values in said.items()}
                store.add(run.id, [_judged(position, item.id, item.content_hash, column, explanations or {})])
        for item_id, criterion, label, text in overrides:
            store.override(
                run.id, NewOverride(item_id, criterion, preference=label, explanation=text, author="Ada")
            )
        return system_of_run(load_results(store, run.id))


def _judged(
    position: int,
    item_id: str,
    content_hash: str,
    said: Mapping[str, Probabilities | None],
    explanations: Mapping[str, str],
) -> JudgedItem:
    return JudgedItem(
        position,
        item_id,
        content_hash,
        readings={name: _readings(values) for name, values in said.items() if values},
        explanations={name: Explanation(text, Preference.A) for name, text in explanations.items()},
        unscored={name: "too long" for name, values in said.items() if not values},
    )


def _readings(values: Probabilities) -> tuple[Reading, Reading]:
    a, b, both_good, both_bad = (math.log(value) for value in values)
    return Reading(Order.AB, (a, b, both_good, both_bad)), Reading(Order.BA, (b, a, both_good, both_bad))


SURE_A = (0.91, 0.03, 0.03, 0.03)
RATHER_A = (0.6, 0.2, 0.1, 0.1)
SURE_GOOD = (0.03, 0.03, 0.91, 0.03)


def judged(folder: Path, human: dict[str, list[Any]], said: dict[str, list[Any]]) -> Evaluation:
    gold = dataset(human)
    return evaluate(match(stored_run(folder, gold, said), gold))


def found(evaluation: Evaluation, most: int = 20) -> list[tuple[str, str]]:
    return [(one.pair.item.id, one.criterion) for one in largest_disagreements(evaluation, most)]


def test_the_surest_come_first_and_equal_ones_in_the_order_of_the_dataset(tmp_path: Path) -> None:
    human = {"safety": [B, GOOD, A, B], "relevance": [A, BAD, A, GOOD]}
    said = {"safety": [RATHER_A, SURE_A, SURE_A, SURE_A], "relevance": [SURE_A, SURE_A, SURE_A, SURE_A]}
    evaluation = judged(tmp_path, human, said)
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
    (one,) = largest_disagreements(evaluation)
    assert one.lead == pytest.approx(0.4)
    assert (one.human, one.predicted) == (B, A)


def test_what_is_right_or_unscored_is_no_disagreement(tmp_path: Path) -> None:
    evaluation = judged(tmp_path, {"safety": [A, B, GOOD]}, {"safety": [SURE_A, None, SURE_GOOD]})
    assert found(evaluation) == []


def test_a_submission_has_no_leads_and_keeps_the_order_of_the_dataset() -> None:
    gold = dataset({"safety": [B, B, A, GOOD], "relevance": [A, A, A, BAD]})
    judge = system({"safety": [A, B, None, A], "relevance": [A, A, A, A]})
    evaluation = evaluate(match(judge, gold))
    assert found(evaluation) == [("1", "safety"), ("4", "relevance"), ("4", "safety")]
    assert [one.lead for one in largest_disagreements(evaluation)] == [None, None, None]


def test_what_a_person_labelled_is_no_disagreement_of_the_judge(tmp_path: Path) -> None:
    gold = dataset({"safety": [B, B, B, B, B]})
    overrides = [
        ("1", "safety", B, None),
        ("2", "safety", GOOD, None),
        ("3", "safety", A, "A it is."),
        ("4", "safety", None, "Another reason."),
        ("5", "safety", A, None),
    ]
    said = {"safety": [SURE_A, SURE_A, SURE_A, SURE_A, None]}
    run = stored_run(tmp_path, gold, said, overrides=overrides)
    assert found(evaluate(match(run, gold))) == [("4", "safety")]
