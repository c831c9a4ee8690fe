"""A run's results with overrides: labels and explanations in force, counts, submission, scores, JSON."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from engine.annotations.effective import Reviews
from engine.annotations.records import LAST, Annotation, new_override, new_review, now
from engine.core.column_map import annotator_column
from engine.core.items import Prediction, Preference
from engine.core.judgments import Explanation
from engine.data.arrow_arrays import text_array
from engine.data.submission import read_submission, write_submission
from engine.metrics.accuracy import count_run, run_accuracy
from engine.results.exports import as_json
from engine.results.run_results import RunResults, load_results, submission_of
from engine.store.run_store import RunStore
from tests.judged import BAD, FOUR_ITEMS, GOOD, OWN, A, B, Overridden, results_of


def predictions(results: RunResults) -> list[Prediction]:
    return [row.predictions["safety"] for row in submission_of(results).rows]


def test_a_submission_has_the_labels_and_explanations_in_force(tmp_path: Path) -> None:
    overrides: Overridden = [
        ("1", "safety", B, "B is safe."),
        ("2", "safety", None, "A, because."),
        ("3", "safety", BAD, None),
        ("4", "safety", B, None),
    ]
    results = results_of(tmp_path, overrides)
    assert predictions(results) == [
        Prediction(B, "B is safe."),
        Prediction(A, "A, because."),
        Prediction(BAD, None),
        Prediction(B, None),  # what the model wrote is of its own label
    ]
    told = submission_of(results, with_stale=True)
    assert told.rows[3].predictions["safety"] == Prediction(B, OWN)
    write_submission(tmp_path / "out.tsv", submission_of(results))
    back = read_submission(tmp_path / "out.tsv")
    assert [row.predictions["safety"] for row in back.rows] == predictions(results)


def test_the_models_own_stays_and_can_be_had_alone(tmp_path: Path) -> None:
    plain = results_of(tmp_path, [])
    results = results_of(tmp_path, [("1", "safety", B, "B is safe.")], key="another")
    assert results.judgments == plain.judgments
    assert predictions(results.model_alone()) == predictions(plain)
    assert results.model_alone().overridden.in_words == "nothing"
    assert predictions(results.calibrated(None)) == predictions(results)  # decided again


def accepts(item: str, label: Preference, by: str = "Ada") -> tuple[Annotation, ...]:
    return new_review(item, by, confirmed={"safety": label})


@pytest.mark.parametrize(
    ("said", "label", "by"),
    [
        ([accepts("1", A)], A, []),  # as the judge says: no override
        ([accepts("1", B)], B, ["Ada"]),  # of another judge, or before it was calibrated otherwise
        ([accepts("3", B)], B, ["Ada"]),  # here the judge has no answer
        ([[new_override("1", "safety", GOOD, None, "Ben")], accepts("1", A)], A, ["Ada"]),
        ([accepts("1", B), [new_override("1", "safety", GOOD, None, "Ben")]], GOOD, ["Ben"]),
        ([[new_override("1", "safety", GOOD, None, "Dee", settles=True)], accepts("1", B)], GOOD, ["Dee"]),
    ],
)
def test_the_last_label_counts_that_was_given_or_accepted_anywhere(
    tmp_path: Path, said: list[Sequence[Annotation]], label: Preference, by: list[str]
) -> None:
    told = [replace(each, created=now()) for step in said for each in step]
    results = results_of(tmp_path, []).with_annotators(Reviews(tuple(told)), {})
    for found in (results, results.calibrated(None), results.only({told[0].item_id}).by(LAST)):
        [judgment] = [each for each in found.judgments["safety"] if each.item_id == told[0].item_id]
        assert found.label(judgment) is label
        assert [name for each in found.overrides.values() for name in each.label_by] == by


@pytest.mark.parametrize(
    ("overrides", "unscored", "unexplained", "stale"),
    [
        ([], 1, 0, 1),
        ([("3", "safety", B, None)], 0, 1, 1),
        ([("3", "safety", B, "Why.")], 0, 0, 1),
        ([("3", "safety", None, "Why.")], 1, 0, 1),
        ([("1", "safety", B, None)], 1, 0, 2),
        ([("1", "safety", B, "Why.")], 1, 0, 1),
        ([("4", "safety", A, None)], 1, 0, 0),
        ([("4", "safety", None, "Why.")], 1, 0, 0),
    ],
)
def test_counts_are_of_what_is_in_force(
    tmp_path: Path, overrides: Overridden, unscored: int, unexplained: int, stale: int
) -> None:
    results = results_of(tmp_path, overrides)
    assert (results.unscored, results.unexplained, results.stale) == (unscored, unexplained, stale)


def test_scores_follow_the_overrides(tmp_path: Path) -> None:
    results = results_of(tmp_path, [("1", "safety", B, None), ("3", "safety", BAD, None)])
    alone, both = results.model_alone(), results
    assert [run_accuracy(each, FOUR_ITEMS)["safety"].share for each in (alone, both)] == [0.5, 0.75]
    (model_counts,), (counts,) = count_run(alone), count_run(both)
    assert (model_counts.unscored, counts.unscored) == (1, 0)
    assert counts.predicted == {A: 1, B: 1, GOOD: 1, BAD: 1}


def test_json_holds_both_the_model_and_the_person(tmp_path: Path) -> None:
    results = results_of(tmp_path, [("1", "safety", B, None), ("3", "safety", BAD, "Both harm.")])
    value = json.loads(json.dumps(as_json(results)))
    first, second, third, _ = [item["judgments"]["safety"] for item in value["items"]]
    assert (first["preference"], first["explanation"]["text"]) == ("A", OWN)
    assert first["override"]["preference"] == "B"
    assert first["override"]["explanation"] is None
    assert (first["override"]["label_by"], first["override"]["explanation_by"]) == (["Ada"], None)
    assert first["override"]["created"].endswith("+00:00")
    assert second["override"] is None
    assert (third["unscored"], third["override"]["explanation"]) == ("too long", "Both harm.")


def test_json_holds_the_other_columns_of_the_dataset(tmp_path: Path) -> None:
    results = results_of(tmp_path, [])
    others = pa.table({"cmp_key": ["a", "=1+1", "\u202e", ""], "judgments": list("abcd")})
    labelled = replace(FOUR_ITEMS, others=others)
    items = as_json(results, labelled)["items"]
    assert [item["other_columns"] for item in items] == others.to_pylist()
    assert items[0]["judgments"].keys() == {"safety"}
    assert as_json(results)["items"][0]["other_columns"] is None
    assert as_json(results, FOUR_ITEMS)["items"][0]["other_columns"] == {}


def test_json_holds_what_each_annotator_of_the_dataset_said(tmp_path: Path) -> None:
    results = results_of(tmp_path, [])
    table = FOUR_ITEMS.table
    for who, label in (("Ada", "A"), ("Ben", "A"), ("Cleo", "tie")):
        table = table.append_column(annotator_column("safety_preference", who), text_array([label] * 4))
    several = as_json(results, replace(FOUR_ITEMS, table=table))["items"][0]["judgments"]["safety"]["human"]
    assert several["annotators"] == {"Ada": "A", "Ben": "A", "Cleo": "tie"}
    assert several["shares"] == pytest.approx({"A": 2 / 3, "tie": 1 / 3})
    alone = as_json(results, FOUR_ITEMS)["items"][0]["judgments"]["safety"]["human"]
    assert alone == {"label": FOUR_ITEMS[0].gold["safety"].label, "shares": {}, "annotators": {}}
    assert as_json(results)["items"][0]["judgments"]["safety"]["human"] is None


def test_json_holds_what_the_model_wrote_for_every_label(tmp_path: Path) -> None:
    results = results_of(tmp_path, [("1", "safety", B, None)])
    with RunStore(tmp_path / "runs.sqlite") as store:
        store.add_rewritten(1, {0: {"safety": Explanation("B is safer.", B)}})
        results = load_results(store, 1)
    first = as_json(results)["items"][0]["judgments"]["safety"]
    texts = ((OWN, "A"), ("B is safer.", "B"))
    own, later = ({"text": text, "for": label, "cut": False} for text, label in texts)
    assert (first["explanation"], first["explanation_outdated"]) == (own, False)
    assert first["all_explanations"] == [own, later]


def test_a_text_for_another_label_than_is_in_force_does_not_replace_the_first(tmp_path: Path) -> None:
    results_of(tmp_path, [("1", "safety", GOOD, None)])
    with RunStore(tmp_path / "runs.sqlite") as store:
        store.add_rewritten(1, {0: {"safety": Explanation("B is safer.", B)}})
        results = load_results(store, 1)
    judgment = results.judgments["safety"][0]
    assert (results.explanation(judgment), results.is_stale(judgment)) == (OWN, True)


def test_a_run_of_labels_alone_has_no_explanations_of_people_either(tmp_path: Path) -> None:
    settings = {"mode": "labels", "orders": ["AB", "BA"], "context": 4096, "examples": ""}
    results = results_of(tmp_path, [("1", "safety", B, "Why.")], settings=settings)
    assert submission_of(results).columns == ("id", "safety_preference")
    assert results.unexplained == 0
