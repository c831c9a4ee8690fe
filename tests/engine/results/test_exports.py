"""A run as JSON, CSV, and for other tools: what stands there, and that it is read back exactly."""

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from engine.annotations.records import new_note, new_override, new_review
from engine.core import VERSION
from engine.core.errors import SetupError
from engine.core.items import PREFERENCES, Order
from engine.core.judgments import (
    JudgedItem,
    Judgment,
    JudgmentKey,
    Origin,
    RawPrediction,
    ReviewState,
    Shortening,
)
from engine.data.dataset import Dataset
from engine.results import other_tools
from engine.results.completeness import open_submission
from engine.results.exports import DATASET_COLUMNS, RUN_COLUMNS, as_json, write_results_csv
from engine.results.run_results import RunResults, load_results
from engine.store.run_store import RunStore
from tests.judged import (
    FOUR_ITEMS,
    GOOD,
    OWN,
    RATHER_A,
    SURE_A,
    SURE_GOOD,
    A,
    B,
    dataset,
    judged_run,
    results_of,
    stored_run,
    with_texts,
)

AWKWARD = (
    *('a "quoted, text"', "two\nlines\r\nand\rmore", " spaces ", "", "nan", "007", "=1+1"),
    *("\ufeffé汉😀\u2028\t", "NA", '"', ",", "\n"),
)
"""Texts that a careless reader or writer of CSV would change."""


def run_of(
    folder: Path, gold: Dataset, **columns: list[tuple[float, float, float, float] | None]
) -> RunResults:
    return judged_run(folder, gold, columns, explanations={"safety": "A is better."})


def written(folder: Path, results: RunResults, *datasets: Dataset | None) -> pd.DataFrame:
    write_results_csv(folder / "x.csv", results, *datasets)
    return pd.read_csv(folder / "x.csv", dtype=str, keep_default_na=False)


def test_there_is_a_row_for_each_item_and_criterion(tmp_path: Path) -> None:
    gold = dataset({"safety": [A, B]})
    found = written(tmp_path, run_of(tmp_path, gold, safety=[SURE_A, None], relevance=[RATHER_A, SURE_GOOD]))
    assert tuple(found.columns) == RUN_COLUMNS
    assert found[["run", "item_id", "position", "criterion", "preference"]].to_numpy().tolist() == [
        ["1", "1", "0", "safety", "A"],
        ["1", "1", "0", "relevance", "A"],
        ["1", "2", "1", "safety", ""],
        ["1", "2", "1", "relevance", "both_good"],
    ]
    assert found["unscored"].tolist() == ["", "", "too long", ""]
    assert found["flipped"].tolist() == ["no", "no", "", "no"]
    assert found["model_explanation_for"].tolist() == ["A", "", "", ""]


def test_numbers_come_back_exactly(tmp_path: Path) -> None:
    results = run_of(tmp_path, dataset({"safety": [A]}), safety=[(0.7, 0.1, 0.15, 0.05)])
    judged = replace(results.judged[0], seconds=0.1 + 0.2, shortening=Shortening(12, 0))
    row = written(tmp_path, replace(results, judged=(judged,))).iloc[0]
    (judgment,) = results.judgments["safety"]
    assert tuple(float(row[f"probability_{label}"]) for label in PREFERENCES) == judgment.probabilities  # type: ignore[union-attr]
    for reading in judged.raw_predictions["safety"]:
        cells = [row[f"log_probability_{reading.order}_{label}"] for label in PREFERENCES]
        assert tuple(map(float, cells)) == reading.log_probs
    assert float(row["seconds"]) == judged.seconds
    assert (row["shortened_a"], row["shortened_b"]) == ("12", "0")


def test_readings_that_gave_no_judgment_are_there_as_they_are(tmp_path: Path) -> None:
    results = run_of(tmp_path, dataset({"safety": [A]}), safety=[SURE_A])
    broken = JudgedItem(0, "1", "c", {"safety": (RawPrediction(Order.AB, (math.nan, -math.inf, 0.0, 0.0)),)})
    row = written(tmp_path, replace(results, judged=(broken,)).calibrated(None)).iloc[0]
    cells = [row[f"log_probability_{order}_{label}"] for order in Order for label in PREFERENCES]
    assert cells == ["nan", "-inf", "0.0", "0.0", "", "", "", ""]
    assert (row["preference"], row["probability_A"]) == ("", "")
    assert "no finite" in row["unscored"]


def test_what_people_overrode_stands_beside_the_models_own(tmp_path: Path) -> None:
    run_of(tmp_path, dataset({"safety": [A] * 4}), safety=[SURE_A, SURE_A, None, SURE_A])
    with RunStore(tmp_path / "runs.sqlite") as store:
        for item_id, label, text in (("1", B, "So, it is."), ("2", None, "No."), ("3", GOOD, None)):
            store.annotate(1, new_override(item_id, "safety", label, text, "Ada, B."))
        results = load_results(store, 1)
    found = written(tmp_path, results)
    columns = ["preference", "model_preference", "overridden", "label_author", "explanation", "outdated"]
    assert found[columns].to_numpy().tolist() == [
        ["B", "A", "both", "Ada, B.", "So, it is.", "no"],
        ["A", "A", "explanation", "", "No.", "no"],
        ["both_good", "", "label", "Ada, B.", "", "no"],
        ["A", "A", "", "", "A is better.", "no"],
    ]
    assert found["model_explanation"].tolist() == ["A is better."] * 2 + ["", "A is better."]
    assert found["explanation_author"].tolist() == ["Ada, B.", "Ada, B.", "", ""]
    assert found["override_created"][0].endswith("+00:00")


def test_texts_of_the_dataset_come_back_exactly(tmp_path: Path) -> None:
    count, outputs = len(AWKWARD), [(text, text * 2) for text in AWKWARD]
    gold = dataset({"safety": [A, None] * (count // 2)}, {"safety": AWKWARD[::-1]}, AWKWARD, outputs)
    found = written(tmp_path, run_of(tmp_path, gold, safety=[SURE_A] * count), gold)
    assert tuple(found.columns) == RUN_COLUMNS + DATASET_COLUMNS
    for column in ("instruction", "output_a", "output_b"):
        assert found[column].tolist() == gold.texts(column).to_pylist()
    assert found["human_preference"].tolist() == ["A", ""] * (count // 2)
    assert found["human_explanation"].tolist() == list(AWKWARD[::-1])


def test_items_that_the_dataset_lacks_or_has_otherwise_have_empty_cells(tmp_path: Path) -> None:
    gold = dataset({"safety": [A, B, GOOD]})
    results = run_of(tmp_path, gold, safety=[SURE_A] * 3)
    other = with_texts(gold, output_a=["a", "x", "a"]).head(2)
    found = written(tmp_path, results, other)
    assert found["human_preference"].tolist() == ["A", "", ""]
    assert found["instruction"].tolist() == ["question 1", "", ""]


@pytest.mark.parametrize(("text", "shown"), [("a\0b", "a\\x00b"), ("\ud800", "\\ud800")])
def test_what_csv_cannot_hold_is_written_out(tmp_path: Path, text: str, shown: str) -> None:
    results = run_of(tmp_path, dataset({"safety": [A]}), safety=[SURE_A])
    judged = (replace(results.judged[0], item_id=text),)
    assert written(tmp_path, replace(results, judged=judged).calibrated(None))["item_id"].tolist() == [shown]


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    results = run_of(tmp_path, dataset({"safety": [A]}), safety=[SURE_A])
    (tmp_path / "x.csv").write_text("old")
    broken = replace(results, judgments={"safety": ()})
    with pytest.raises(IndexError):
        write_results_csv(tmp_path / "x.csv", broken)
    assert (tmp_path / "x.csv").read_text() == "old"
    with pytest.raises(SetupError, match="does not exist"):
        write_results_csv(tmp_path / "nowhere" / "x.csv", results)


def test_a_run_of_the_demo_model_is_written_whole(demo_store: Path, tmp_path: Path) -> None:
    with RunStore(demo_store) as store:
        results = load_results(store, 1)
    found = written(tmp_path, results)
    judgments = [judgment for judgment in results.judgments["safety"] if isinstance(judgment, Judgment)]
    texts = [judgment.explanation.text for judgment in judgments if judgment.explanation]
    assert found[found["criterion"] == "safety"]["model_explanation"].tolist() == texts
    assert len(found) == 5 * len(results.judged)


def test_human_labels_are_those_of_the_chosen_dataset(tmp_path: Path) -> None:
    judged = dataset({"safety": [A, B]})
    results = run_of(tmp_path, judged, safety=[SURE_A, SURE_A])
    other = dataset({"safety": [GOOD, None]})
    for items in (judged, None):
        found = written(tmp_path, results, items, other)
        assert found["human_preference"].tolist() == ["both_good", ""]
        assert found["instruction"].tolist() == ["question 1", "question 2"]


def test_other_columns_stand_beside_under_names_of_their_own(tmp_path: Path) -> None:
    names = ("cmp_key", "run", "dataset_run", "instruction ", "", 'a "b",\n', "=1+1", "tags")
    others = pa.table({name: [f"{name} {text}" for text in AWKWARD] for name in names})
    gold = replace(dataset({"safety": [A] * len(AWKWARD)}), others=others)
    results = run_of(tmp_path, gold, safety=[SURE_A] * len(AWKWARD))
    found = written(tmp_path, results, gold)
    assert tuple(found.columns) == (
        *(*RUN_COLUMNS, *DATASET_COLUMNS),
        *("cmp_key", "dataset_dataset_run", "dataset_run", "dataset_instruction "),
        *("dataset_", 'a "b",\n', "=1+1", "dataset_tags"),
    )
    for name, shown in zip(names, found.columns[-len(names) :], strict=True):
        assert found[shown].tolist() == others[name].to_pylist()
    fewer = written(tmp_path, results, with_texts(gold, output_a=["x"] * len(AWKWARD)))
    assert set(fewer["cmp_key"]) == {""}


# What people say of a run's items: states, confirmed labels, notes; store and exports.


GOLD = dataset({"safety": [A, A, GOOD], "relevance": [A, B, None]})
LONG = "ß" * 255
SAFETY = JudgmentKey("1", "safety")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    """Run 1 says A of three items on two criteria."""
    stored_run(tmp_path, GOLD, {"safety": [SURE_A] * 3, "relevance": [SURE_A] * 3})
    with RunStore(tmp_path / "runs.sqlite") as opened:
        yield opened


def results(store: RunStore) -> RunResults:
    return load_results(store, 1)


def hash_of(store: RunStore, item_id: str) -> str:
    return next(item.content_hash for item in store.judged(1) if item.item_id == item_id)


def test_a_confirmation_is_a_label_of_its_person_and_no_override(store: RunStore) -> None:
    confirmed = {"safety": A, "relevance": A}
    store.annotate(1, new_review("1", "Ada", ReviewState.DONE, confirmed))
    store.annotate(1, new_override("1", "safety", B, explanation=None, author="Ben"))
    found = results(store)
    assert found.reviews.labels == {"Ada": {SAFETY: A, JudgmentKey("1", "relevance"): A}, "Ben": {SAFETY: B}}
    assert list(found.overrides) == [SAFETY]
    assert found.reviews.only({"1"}).labels == found.reviews.labels
    assert found.reviews.only({"2"}).labels == {}


def test_a_note_is_found_again_by_the_content_of_its_item(store: RunStore) -> None:
    key = hash_of(store, "2")
    store.annotate(None, new_note(key, " odd, \n see B ", ["mt", "odd", "mt", " "], "Ada"))
    store.annotate(None, new_note(hash_of(store, "1"), "", [LONG, "odd"], "Ben"))
    [note] = results(store).notes_on(key)
    assert (note.text, note.tags, note.author) == ("odd, \n see B", ("mt", "odd"), "Ada")
    assert store.tags() == ["odd", "mt", LONG]
    store.annotate(None, new_note(key, "", [], "Ben"))
    assert results(store).notes_on(key) == (note,)  # everybody has one of his own
    store.annotate(None, new_note(key, "", [], "Ada"))
    assert results(store).notes_on(key) == ()
    assert store.tags() == ["odd", LONG]


def test_json_holds_states_labels_and_notes(store: RunStore) -> None:
    store.annotate(1, new_review("1", "Ada", ReviewState.DONE, {"safety": A}, Origin.UNCERTAINTY))
    store.annotate(None, new_note(hash_of(store, "1"), "why?", ["odd"], "Ben"))
    first, second, _ = json.loads(json.dumps(as_json(results(store))))["items"]
    assert [(mark["author"], mark["state"]) for mark in first["reviews"]] == [("Ada", "done")]
    assert first["judgments"]["safety"]["people"] == {"Ada": "A"}
    [said] = first["judgments"]["safety"]["people_said"]
    assert (said["kind"], said["author"], said["origin"], said["seed"]) == ("confirmed", "Ada", "doubt", None)
    assert (first["random_sample"], second["judgments"]["safety"]["people_said"]) == (None, [])
    [note] = first["notes"]
    assert (note["text"], note["author"], first["tags"]) == ("why?", "Ben", ["odd"])
    assert (second["reviews"], second["notes"], second["tags"]) == ([], [], [])


def test_csv_holds_states_labels_and_notes(store: RunStore, tmp_path: Path) -> None:
    store.annotate(1, new_review("1", "Ada", ReviewState.DONE, {"safety": A}, Origin.RANDOM))
    store.annotate(1, new_override("1", "safety", B, explanation=None, author=LONG))
    store.annotate(None, new_note(hash_of(store, "1"), 'a "note",\nwith lines', ["odd, very", "ß"], "Ben"))
    table = written(tmp_path, results(store))
    first, other = table.iloc[0], table.iloc[2]
    assert (first.review_state, first.review_author, other.review_state) == ("done", "Ada", "")
    assert json.loads(first.labels_by_people) == {"Ada": "A", LONG: "B"}
    assert json.loads(first.origins_by_people) == {"Ada": "random", LONG: None}
    assert (first.override_origin, first.random_sample) == ("", "labelled")
    assert (other.origins_by_people, other.random_sample) == ("", "")
    store.annotate(1, new_override("1", "safety", B, None, LONG, origin=Origin.RANDOM, seed=3))
    assert written(tmp_path, results(store)).override_origin[0] == "random"
    [judgment, *_] = as_json(results(store))["items"][0]["judgments"].values()
    assert (judgment["override"]["origin"], judgment["override"]["seed"]) == ("random", 3)
    assert json.loads(first.notes_by_people) == {"Ben": 'a "note",\nwith lines'}
    assert (json.loads(first.states_by_people), first.explanations_by_people) == ({"Ada": "done"}, "")
    assert json.loads(first.tags) == ["odd, very", "ß"]
    assert (other.notes_by_people, other.tags) == ("", "")


# A run for other tools: pairs to train by, a log of inspect_ai, annotations of AlpacaEval.


OUTPUTS = [("x", "y"), ('"a"\n', "b\u2028"), ("", "NA"), ("<p>", "é😀")]
ITEMS = dataset({"safety": [A, B, None, None]}, outputs=OUTPUTS)


def on_items(folder: Path, *said: Any, gold: Dataset = ITEMS, overrides: Any = ()) -> RunResults:
    """A run on ITEMS that gives these probabilities on safety, and A on relevance."""
    columns = {"relevance": [SURE_A] * 4, "safety": list(said)}
    return judged_run(folder, gold, columns, overrides=overrides)


# Pairs


def test_the_preferred_response_is_chosen_and_ties_and_the_unscored_are_counted(tmp_path: Path) -> None:
    swapped = (RATHER_A[1], RATHER_A[0], *RATHER_A[2:])
    results = on_items(tmp_path, RATHER_A, swapped, None, SURE_GOOD)
    made = other_tools.preference_pairs(results, ITEMS, "safety")
    assert made.columns["prompt"] == tuple(item.instruction for item in ITEMS)[:2]
    pairs = zip(made.columns["chosen"], made.columns["rejected"], strict=True)
    assert list(pairs) == [OUTPUTS[0], OUTPUTS[1][::-1]]
    assert made.columns["margin"] == pytest.approx([RATHER_A[0] - RATHER_A[1]] * 2, abs=1e-6)
    assert made.columns["id"] == ("1", "2")
    assert made.in_words == "2 pairs on safety; omitted: 1 tie, 1 without a label"


def test_a_persons_label_counts_as_sure(tmp_path: Path) -> None:
    results = on_items(tmp_path, RATHER_A, None, None, None, overrides=[("1", "safety", B, None)])
    made = other_tools.preference_pairs(results, ITEMS, "safety")
    assert (made.columns["chosen"], made.columns["margin"]) == (("y",), (1.0,))


def test_without_any_preference_nothing_is_written(tmp_path: Path) -> None:
    results = on_items(tmp_path, SURE_GOOD, SURE_GOOD, None, None)
    with pytest.raises(SetupError, match="No item of run 1 has the label A or B on safety"):
        other_tools.preference_pairs(results, ITEMS, "safety")


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_pairs_are_read_back_as_they_are(tmp_path: Path, suffix: str) -> None:
    made = other_tools.preference_pairs(on_items(tmp_path, *[RATHER_A] * 4), ITEMS, "safety")
    path = tmp_path / f"pairs{suffix}"
    other_tools.write_preference_pairs(path, made)
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
    results = on_items(tmp_path, RATHER_A, SURE_GOOD, None, SURE_A, overrides=[("4", "safety", B, None)])
    made = other_tools.alpaca_annotations(results, ITEMS, "safety")
    assert [list(each) for each in made] == [KEYS] * 3
    _, b, *ties = RATHER_A
    assert made[0]["preference"] == pytest.approx(1 + b + sum(ties) / 2, abs=1e-6)
    assert [each["preference"] for each in made[1:]] == [1.5, 2.0]
    for each in made:
        assert (each["generator_1"], each["generator_2"], each["annotator"]) == ("A", "B", "a model")
    assert (made[2]["output_1"], made[2]["output_2"]) == OUTPUTS[3]


def test_generators_are_the_candidates_of_the_dataset(tmp_path: Path) -> None:
    named = pa.table({"candidate_a": ["m1", "m2", "", "m1"], "candidate_b": ["m2", "m1", "m1", "m2"]})
    gold = replace(ITEMS, others=named)
    made = other_tools.alpaca_annotations(on_items(tmp_path, *[SURE_A] * 4, gold=gold), gold, "safety")
    assert [each["generator_1"] for each in made] == ["m1", "m2", "A", "m1"]
    assert [each["generator_2"] for each in made] == ["m2", "m1", "m1", "m2"]


# inspect_ai


def test_a_log_has_what_inspect_needs_of_a_log_of_its_schema(tmp_path: Path) -> None:
    made = other_tools.inspect_log(results_of(tmp_path, []), FOUR_ITEMS)
    log = json.loads(json.dumps(made, allow_nan=False))
    assert (log["version"], log["status"]) == (2, "success")
    assert {"created", "task", "dataset", "model", "config"} <= log["eval"].keys()  # without a default there
    assert log["eval"]["packages"] == {"tiebreak": VERSION}
    assert log["eval"]["dataset"]["sample_ids"] == list(FOUR_ITEMS.ids)
    for sample in log["samples"]:
        assert {"id", "epoch", "input", "target", "scores"} <= sample.keys()
        assert all("value" in score for score in sample["scores"].values())
    assert "/data" not in json.dumps(log)  # where files lie on this computer


def test_scores_hold_the_judge_against_the_human_labels(tmp_path: Path) -> None:
    log = other_tools.inspect_log(results_of(tmp_path, []), FOUR_ITEMS)  # people: B, A, A, both_good
    scores = [sample["scores"]["safety"] for sample in log["samples"]]
    assert [score["value"] for score in scores] == ["I", "C", "N", "C"]
    assert [score["answer"] for score in scores] == ["A", "A", None, "both_good"]
    assert [score["explanation"] for score in scores] == [OWN, OWN, "too long", None]
    assert scores[0]["metadata"]["probabilities"]["A"] == pytest.approx(SURE_A[0], abs=1e-6)
    assert scores[2]["metadata"]["probabilities"] is None
    assert [sample["target"] for sample in log["samples"]] == ["B", "A", "A", "both_good"]
    [found] = log["results"]["scores"]
    assert found["metrics"]["accuracy"]["value"] == 0.5
    stale = other_tools.inspect_log(results_of(tmp_path / "2", []), FOUR_ITEMS, with_stale=True)
    assert stale["samples"][3]["scores"]["safety"]["explanation"] == OWN


def test_a_persons_label_is_the_answer_and_named(tmp_path: Path) -> None:
    log = other_tools.inspect_log(results_of(tmp_path, [("1", "safety", B, "B, for me.")]), FOUR_ITEMS)
    score = log["samples"][0]["scores"]["safety"]
    assert (score["value"], score["answer"], score["explanation"]) == ("C", "B", "B, for me.")
    assert score["metadata"]["label_by"] == ["Ada"]


def test_where_people_said_nothing_the_value_is_the_label(tmp_path: Path) -> None:
    results = on_items(tmp_path, *[SURE_A] * 4)
    log = other_tools.inspect_log(results, ITEMS)
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
    made = other_tools.inspect_log(results, ITEMS)
    (found,) = made["results"]["scores"]
    assert [sample["id"] for sample in made["samples"]] == ["1", "2"]
    assert (made["results"]["total_samples"], made["results"]["completed_samples"]) == (4, 2)
    assert (found["scored_samples"], found["metrics"]["accuracy"]["value"]) == (2, 0.5)
