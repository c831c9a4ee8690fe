"""A run for other tools: pairs to train by, a log of inspect_ai, annotations of AlpacaEval."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from engine.core import VERSION
from engine.core.errors import SetupError
from engine.data.dataset import Dataset
from engine.results.completeness import open_submission
from engine.results.other_tools import (
    alpaca_annotations,
    inspect_log,
    preference_pairs,
    write_preference_pairs,
)
from engine.results.run_results import RunResults, load_results
from engine.store.run_store import RunStore
from tests.judged import (
    FOUR_ITEMS,
    OWN,
    RATHER_A,
    SURE_A,
    SURE_GOOD,
    A,
    B,
    dataset,
    results_of,
    stored_run,
)

OUTPUTS = [("x", "y"), ('"a"\n', "b\u2028"), ("", "NA"), ("<p>", "é😀")]
ITEMS = dataset({"safety": [A, B, None, None]}, outputs=OUTPUTS)


def run_of(folder: Path, *said: Any, gold: Dataset = ITEMS, overrides: Any = ()) -> RunResults:
    """A run on ITEMS that gives these probabilities on safety, and A on relevance."""
    columns = {"relevance": [SURE_A] * 4, "safety": list(said)}
    results = stored_run(folder, gold, columns, overrides=overrides).results
    assert results is not None
    return results


# Pairs


def test_the_preferred_response_is_chosen_and_ties_and_the_unscored_are_counted(tmp_path: Path) -> None:
    swapped = (RATHER_A[1], RATHER_A[0], *RATHER_A[2:])
    made = preference_pairs(run_of(tmp_path, RATHER_A, swapped, None, SURE_GOOD), ITEMS, "safety")
    assert made.columns["prompt"] == tuple(item.instruction for item in ITEMS)[:2]
    assert list(zip(made.columns["chosen"], made.columns["rejected"], strict=True)) == [
        OUTPUTS[0],
        OUTPUTS[1][::-1],
    ]
    assert made.columns["margin"] == pytest.approx([RATHER_A[0] - RATHER_A[1]] * 2, abs=1e-6)
    assert made.columns["id"] == ("1", "2")
    assert made.in_words == "2 pairs on safety; omitted: 1 tie, 1 without a label"


def test_a_persons_label_counts_as_sure(tmp_path: Path) -> None:
    results = run_of(tmp_path, RATHER_A, None, None, None, overrides=[("1", "safety", B, None)])
    made = preference_pairs(results, ITEMS, "safety")
    assert (made.columns["chosen"], made.columns["margin"]) == (("y",), (1.0,))


def test_without_any_preference_nothing_is_written(tmp_path: Path) -> None:
    results = run_of(tmp_path, SURE_GOOD, SURE_GOOD, None, None)
    with pytest.raises(SetupError, match="No item of run 1 has the label A or B on safety"):
        preference_pairs(results, ITEMS, "safety")


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_pairs_are_read_back_as_they_are(tmp_path: Path, suffix: str) -> None:
    made = preference_pairs(run_of(tmp_path, *[RATHER_A] * 4), ITEMS, "safety")
    path = tmp_path / f"pairs{suffix}"
    write_preference_pairs(path, made)
    if suffix == ".parquet":
        read = parquet.read_table(path)
        assert read.schema.field("margin").type == pa.float64()
        rows = read.to_pylist()
    else:
        rows = [json.loads(line) for line in path.read_text("utf-8").split("\n")[:-1]]
    columns = {name: tuple(row[name] for row in rows) for name in rows[0]}
    assert columns == made.columns
    assert list(columns) == ["prompt", "chosen", "rejected", "margin", "id"]


# AlpacaEval

KEYS = ["instruction", "output_1", "generator_1", "output_2", "generator_2", "annotator", "preference"]


def test_annotations_have_the_names_and_the_scale_of_alpaca_eval(tmp_path: Path) -> None:
    results = run_of(tmp_path, RATHER_A, SURE_GOOD, None, SURE_A, overrides=[("4", "safety", B, None)])
    made = alpaca_annotations(results, ITEMS, "safety")
    assert [list(each) for each in made] == [KEYS] * 3
    _, b, *ties = RATHER_A
    assert made[0]["preference"] == pytest.approx(1 + b + sum(ties) / 2, abs=1e-6)
    assert [each["preference"] for each in made[1:]] == [1.5, 2.0]
    assert {(each["generator_1"], each["generator_2"], each["annotator"]) for each in made} == {
        ("A", "B", "a model")
    }
    assert (made[2]["output_1"], made[2]["output_2"]) == OUTPUTS[3]


def test_generators_are_the_candidates_of_the_dataset(tmp_path: Path) -> None:
    named = pa.table({"candidate_a": ["m1", "m2", "", "m1"], "candidate_b": ["m2", "m1", "m1", "m2"]})
    gold = replace(ITEMS, others=named)
    made = alpaca_annotations(run_of(tmp_path, *[SURE_A] * 4, gold=gold), gold, "safety")
    assert [each["generator_1"] for each in made] == ["m1", "m2", "A", "m1"]
    assert [each["generator_2"] for each in made] == ["m2", "m1", "m1", "m2"]


# inspect_ai


def test_a_log_has_what_inspect_needs_of_a_log_of_its_schema(tmp_path: Path) -> None:
    log = inspect_log(results_of(tmp_path, []), FOUR_ITEMS)
    assert json.loads(json.dumps(log, allow_nan=False)) == log
    assert (log["version"], log["status"]) == (2, "success")
    assert {"created", "task", "dataset", "model", "config"} <= log["eval"].keys()  # without a default there
    assert log["eval"]["packages"] == {"tiebreak": VERSION}
    assert log["eval"]["dataset"]["sample_ids"] == FOUR_ITEMS.ids
    for sample in log["samples"]:
        assert {"id", "epoch", "input", "target", "scores"} <= sample.keys()
        assert all("value" in score for score in sample["scores"].values())
    assert "/data" not in json.dumps(log)  # where files lie on this computer


def test_scores_hold_the_judge_against_the_human_labels(tmp_path: Path) -> None:
    log = inspect_log(results_of(tmp_path, []), FOUR_ITEMS)  # people: B, A, A, both_good
    scores = [sample["scores"]["safety"] for sample in log["samples"]]
    assert [score["value"] for score in scores] == ["I", "C", "N", "C"]
    assert [score["answer"] for score in scores] == ["A", "A", None, "both_good"]
    assert [score["explanation"] for score in scores] == [OWN, OWN, "too long", None]
    assert scores[0]["metadata"]["probabilities"]["A"] == pytest.approx(SURE_A[0], abs=1e-6)
    assert scores[2]["metadata"]["probabilities"] is None
    assert [sample["target"] for sample in log["samples"]] == ["B", "A", "A", "both_good"]
    [found] = log["results"]["scores"]
    assert found["metrics"]["accuracy"]["value"] == 0.5
    stale = inspect_log(results_of(tmp_path / "2", []), FOUR_ITEMS, with_stale=True)
    assert stale["samples"][3]["scores"]["safety"]["explanation"] == OWN


def test_a_persons_label_is_the_answer_and_named(tmp_path: Path) -> None:
    log = inspect_log(results_of(tmp_path, [("1", "safety", B, "B, for me.")]), FOUR_ITEMS)
    score = log["samples"][0]["scores"]["safety"]
    assert (score["value"], score["answer"], score["explanation"]) == ("C", "B", "B, for me.")
    assert score["metadata"]["label_by"] == ["Ada"]


def test_where_people_said_nothing_the_value_is_the_label(tmp_path: Path) -> None:
    results = run_of(tmp_path, *[SURE_A] * 4)
    log = inspect_log(results, ITEMS)
    values = [sample["scores"]["safety"]["value"] for sample in log["samples"]]
    assert values == ["C", "I", "A", "A"]
    by_name = {found["name"]: found for found in log["results"]["scores"]}
    assert by_name["relevance"]["metrics"] == {}
    assert (by_name["safety"]["scored_samples"], by_name["safety"]["unscored_samples"]) == (2, 2)


def test_of_a_submission_only_what_it_answers_is_in_a_log(tmp_path: Path) -> None:
    answers = tmp_path / "part.tsv"
    answers.write_text("id\tsafety_preference\n1\tA\n2\tA\n", "utf-8")
    with RunStore(tmp_path / "runs.sqlite") as store:
        results = load_results(store, open_submission(answers, ITEMS, store).id)
    made = inspect_log(results, ITEMS)
    (found,) = made["results"]["scores"]
    assert [sample["id"] for sample in made["samples"]] == ["1", "2"]
    assert (made["results"]["total_samples"], made["results"]["completed_samples"]) == (4, 2)
    assert (found["scored_samples"], found["metrics"]["accuracy"]["value"]) == (2, 0.5)
