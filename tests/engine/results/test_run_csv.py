"""All data of a run as CSV: what is in it, and that pandas reads it back exactly."""

import math
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from engine.annotations.records import new_override
from engine.core.errors import SetupError
from engine.core.items import PREFERENCES, Order
from engine.core.judgments import JudgedItem, Judgment, RawPrediction, Shortening
from engine.data.dataset import Dataset
from engine.results.exports import DATASET_COLUMNS, RUN_COLUMNS, write_results_csv
from engine.results.run_results import RunResults, load_results
from engine.store.run_store import RunStore
from tests.judged import GOOD, RATHER_A, SURE_A, SURE_GOOD, A, B, dataset, stored_run, with_texts

AWKWARD = (
    'a "quoted, text"',
    "two\nlines\r\nand\rmore",
    " spaces ",
    "",
    "nan",
    "007",
    "=1+1",
    "\ufeffé汉😀\u2028\t",
    "NA",
    '"',
    ",",
    "\n",
)
"""Texts that a careless reader or writer of CSV would change."""


def read(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def run_of(
    folder: Path, gold: Dataset, **columns: list[tuple[float, float, float, float] | None]
) -> RunResults:
    results = stored_run(folder, gold, columns, explanations={"safety": "A is better."}).results
    assert results is not None
    return results


def written(folder: Path, results: RunResults, gold: Dataset | None = None) -> pd.DataFrame:
    write_results_csv(folder / "x.csv", results, gold)
    return read(folder / "x.csv")


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
            store.annotate(
                1, new_override(item_id, "safety", preference=label, explanation=text, author="Ada, B.")
            )
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
    count = len(AWKWARD)
    gold = dataset(
        {"safety": [A, None] * (count // 2)},
        explanations={"safety": AWKWARD[::-1]},
        instructions=AWKWARD,
        outputs=[(text, text * 2) for text in AWKWARD],
    )
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
        write_results_csv(tmp_path / "x.csv", results, items, other)
        found = read(tmp_path / "x.csv")
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
