"""A run's dataset with the labels of people: whose they are, what is left out, that it is read back."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from engine.annotations.records import new_override, new_review
from engine.core.column_map import ColumnMap
from engine.core.errors import SetupError
from engine.core.judgments import Origin
from engine.data.arrow_arrays import text_array
from engine.data.dataset import Dataset, load_dataset
from engine.data.label_origins import label_origins, skipped_items
from engine.data.recognition import remember
from engine.data.submission import check_suffix, write_dataset
from engine.results.run_dataset import labelled_dataset, written_otherwise
from engine.results.run_results import RunResults, load_results
from engine.store.run_store import RunStore
from tests.judged import BAD, GOOD, SURE_A, A, B, dataset, judged_run, stored_run, with_texts

AWKWARD = (
    *('a "quoted\ttext"', "two\nlines\r\nand\rmore", "=HYPERLINK(1)", "", "NA", '"', "a\0b"),
    "\ufeffé汉😀\u2028",
    "Assistant: a dialogue only where columns are chosen",
    "Human: so\n\nAssistant: is this",
)
"""Texts that a careless reader or writer would change."""

FORMATS = pytest.mark.parametrize("suffix", ["tsv", "json", "parquet"])


def reviewed(folder: Path, gold: Dataset) -> RunResults:
    """A run that says A of everything, on safety and relevance; Ada and Ben on the first three items."""
    columns = {"safety": [SURE_A] * len(gold), "relevance": [SURE_A] * len(gold)}
    stored_run(folder, gold, columns, {"safety": "A is safe."})
    with RunStore(folder / "runs.sqlite") as store:
        first, second, third = gold.ids[:3]
        store.annotate(1, new_review(first, "Ada", confirmed={"safety": A}, origin=Origin.RANDOM))
        store.annotate(1, new_override(first, "safety", B, "B, for me.", "Ben", origin=Origin.UNCERTAINTY))
        store.annotate(1, new_override(second, "safety", GOOD, None, "Ada", origin=Origin.UNCERTAINTY))
        store.annotate(1, new_override(second, "relevance", None, "So it is.", "Ada"))
        store.annotate(1, new_review(third, "Ben", confirmed={"safety": A}))
        return load_results(store, 1)


def written(folder: Path, results: RunResults, gold: Dataset, name: str = "x.tsv", **how: bool) -> Dataset:
    write_dataset(folder / name, labelled_dataset(results, gold, **how).columns)
    return load_dataset(folder / name)


def test_the_labels_of_people_are_its_human_labels_and_none_of_the_judge(tmp_path: Path) -> None:
    gold = dataset({"truthfulness": [B, None, None, None]})
    made = labelled_dataset(reviewed(tmp_path, gold), gold)
    assert made.columns["safety_preference"] == [B, GOOD, A, None]
    assert made.columns["safety_explanation"] == ["B, for me.", None, None, None]
    assert made.columns["relevance_preference"] == [None] * 4
    assert made.columns["relevance_explanation"] == [None, "So it is.", None, None]
    assert made.columns["safety_label_by"] == ["Ben", "Ada", "Ben", None]
    assert made.columns["safety_preference|Ada"] == [A, GOOD, None, None]
    assert made.columns["safety_preference|Ben"] == [B, None, A, None]
    assert made.columns["safety_share_A"] == [0.5, 0.0, 1.0, None]
    assert made.columns["safety_share_both_bad"] == [0.0, 0.0, 0.0, None]
    assert "relevance_share_A" not in made.columns
    assert made.columns["truthfulness_preference"] == ["B", "", "", ""]
    assert made.sentences == [
        "3 of 8 labels are human ones, by Ada, Ben.",
        "5 cells are empty: no annotator gave or accepted a label there.",
    ]


def test_the_judge_speaks_where_nobody_did_if_it_is_asked_for(tmp_path: Path) -> None:
    gold = dataset({"safety": [None] * 4})
    results = reviewed(tmp_path, gold)
    made = labelled_dataset(results, gold, with_judge=True)
    assert made.columns["safety_preference"] == [B, GOOD, A, A]
    assert made.columns["safety_label_by"] == ["Ben", "Ada", "Ben", "a model (the judge)"]
    # Of the second item the judge's text is for A, and Ada said both_good.
    assert made.columns["safety_explanation"] == ["B, for me.", None, "A is safe.", "A is safe."]
    assert made.columns["safety_explanation_by"] == ["Ben", None, *["a model (the judge)"] * 2]
    assert made.sentences[1:] == [
        "5 labels are of a model, the judge, as requested: the columns _label_by show which.",
        "1 explanation was omitted as stale: written for another label than the effective one.",
    ]


def test_a_run_that_nobody_labelled_has_no_human_labels(tmp_path: Path) -> None:
    gold = dataset({"safety": [A, B]})
    results = judged_run(tmp_path, gold, {"safety": [SURE_A, SURE_A]})
    with pytest.raises(SetupError, match="no human labels in run 1 to write"):
        labelled_dataset(results, gold)
    assert labelled_dataset(results, gold, with_judge=True).columns["safety_preference"] == [A, A]


def test_whose_labels_is_chosen_before(tmp_path: Path) -> None:
    gold = dataset({"truthfulness": [None] * 4})
    results = reviewed(tmp_path, gold)
    of_ada = {key: said for key, said in results.overrides.items() if said.author == "Ada"}
    made = labelled_dataset(replace(results, overrides=of_ada), gold)
    assert made.columns["safety_preference"] == [A, GOOD, A, None]
    assert made.columns["safety_label_by"] == ["Ada", "Ada", "Ben", None]


@FORMATS
def test_what_is_written_is_read_back_cell_for_cell(tmp_path: Path, suffix: str) -> None:
    count = len(AWKWARD)
    gold = with_texts(
        dataset(
            {"safety": [A, None] * (count // 2), "fluency": [None] * count},
            instructions=AWKWARD,
            outputs=[(text, text * 2) for text in AWKWARD],
        ),
        id=[f"{'ß' * 250}{number}" for number in range(count)],
    )
    beside = {"source": AWKWARD[::-1], "safety_label_by": ["me"] * count, "": ["x"] * count}
    beside["relevance_origin"] = ["random"] * count  # of labels that the dataset had before
    gold = replace(gold, others=pa.table({name: text_array(texts) for name, texts in beside.items()}))
    results = reviewed(tmp_path, gold)
    found = written(tmp_path, results, gold, f"x.{suffix}")
    assert (found.hash, found.ids) == (gold.hash, gold.ids)
    assert found.labels("safety") == dict(zip(gold.ids, [B, GOOD, A], strict=False))
    assert found[0].gold["safety"].annotators == {"Ada": A, "Ben": B}
    assert found[0].gold["safety"].explanation == "B, for me."
    assert found.texts("source").to_pylist() == list(AWKWARD[::-1])
    assert found.texts("safety_share_A").to_pylist()[:4] == ["0.5", "0.0", "1.0", ""]
    assert found.texts("dataset_safety_label_by").to_pylist() == ["me"] * count
    assert found.texts("dataset_").to_pylist() == ["x"] * count
    assert found.texts("dataset_relevance_origin").to_pylist() == ["random"] * count
    assert found.texts("safety_preference_before").to_pylist() == ["A", ""] * (count // 2)


@FORMATS
def test_such_a_dataset_can_be_judged_and_labelled_again(tmp_path: Path, suffix: str) -> None:
    gold = dataset({"safety": [BAD] * 4})
    (tmp_path / "again").mkdir()
    first = written(tmp_path, reviewed(tmp_path, gold), gold, f"x.{suffix}")
    again = written(tmp_path, reviewed(tmp_path / "again", first), first, f"y.{suffix}")
    assert again.hash == gold.hash
    assert [item.gold for item in again] == [item.gold for item in first]
    assert "safety_preference_before|Ada" in again.other_columns


def test_columns_that_are_remembered_and_read_it_otherwise_are_named(tmp_path: Path) -> None:
    gold = dataset({"truthfulness": [None] * 4})
    made = labelled_dataset(reviewed(tmp_path, gold), gold)
    write_dataset(tmp_path / "x.tsv", made.columns)
    assert written_otherwise(tmp_path / "x.tsv", made, gold) == []
    remember(tuple(made.columns), ColumnMap.of({"output_a": "output_b", "output_b": "output_a"}))
    assert written_otherwise(tmp_path / "x.tsv", made, gold) == [
        "It is read differently from how it was written: by the remembered columns,"
        " output_a=output_b,output_b=output_a."
    ]


def test_it_says_how_people_came_to_the_items_and_what_was_skipped(tmp_path: Path) -> None:
    gold = dataset({"safety": [None] * 4})
    found = written(tmp_path, reviewed(tmp_path, gold), gold)
    assert label_origins(found, "safety") == {"1": Origin.RANDOM, "2": Origin.UNCERTAINTY, "3": None}
    assert found.texts("random_sample").to_pylist() == ["labelled", "", "", ""]
    assert skipped_items(found) == frozenset()


def test_items_that_the_run_lacks_or_has_otherwise_have_empty_cells(tmp_path: Path) -> None:
    gold = dataset({"safety": [None] * 4})
    results = reviewed(tmp_path, gold)
    other = with_texts(gold, output_a=["x", "a", "a", "a"])
    assert labelled_dataset(results, other).columns["safety_preference"] == [None, GOOD, A, None]


@FORMATS
def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x.{suffix}"
    path.write_text("old")
    with pytest.raises(ValueError):  # noqa: PT011
        write_dataset(path, {"id": ["1", "2"], "instruction": ["one"]})
    assert (path.read_text(), list(tmp_path.glob(".*"))) == ("old", [])


def test_other_suffixes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="written as TSV, JSON or Parquet"):
        check_suffix(tmp_path / "x.xlsx")
