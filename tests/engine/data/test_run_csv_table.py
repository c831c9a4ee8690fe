"""All data of a run, as CSV, opened as a dataset: the labels of people, and a sentence that says so."""

import csv
from collections.abc import Mapping
from pathlib import Path

import pytest

from engine.annotations.records import new_override, new_review
from engine.core.column_map import ColumnMap
from engine.core.errors import InputError
from engine.core.judgments import Origin
from engine.data.dataset import Dataset, load_dataset
from engine.data.file_kinds import LABELS_BY_ANNOTATORS, ORIGINS_BY_ANNOTATORS
from engine.data.label_origins import label_origins
from engine.results.exports import write_results_csv
from engine.results.run_dataset import labelled_dataset
from engine.results.run_results import RunResults, load_results
from engine.store.run_store import RunStore
from tests.judged import BAD, GOOD, SURE_A, A, B, dataset, stored_run, with_texts

GOLD = with_texts(dataset({"safety": [BAD, None, A], "truthfulness": [B, B, B]}), id=["7", "id,\n2", "ß"])


@pytest.fixture
def reviewed(tmp_path: Path) -> RunResults:
    """A run that says A; Ada and Ben labelled two of its three items."""
    stored_run(tmp_path, GOLD, {"safety": [SURE_A] * 3, "relevance": [SURE_A] * 3}, {"safety": "A is safe."})
    with RunStore(tmp_path / "runs.sqlite") as store:
        store.annotate(1, new_override("7", "safety", B, "B, for me.", "Ada", origin=Origin.UNCERTAINTY))
        store.annotate(1, new_review("7", "Ben", confirmed={"safety": A}))
        store.annotate(1, new_review("id,\n2", "Ben", confirmed={"safety": A, "relevance": A}))
        store.annotate(1, new_override("ß", "relevance", None, "Only words.", "Ada"))
        return load_results(store, 1)


def exported(folder: Path, results: RunResults, gold: Dataset | None = GOLD) -> Path:
    path = folder / "all.csv"
    write_results_csv(path, results, gold)
    return path


def changed(path: Path, *left_out: str, **cells: str) -> Path:
    """The same file without some columns, and with other cells in its first row."""
    with path.open(encoding="utf-8", newline="") as file:
        rows: list[Mapping[str, str]] = list(csv.DictReader(file))
    rows = [{name: text for name, text in row.items() if name not in left_out} for row in rows]
    rows[0] = {**rows[0], **cells}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_it_is_the_dataset_that_the_labels_make(reviewed: RunResults, tmp_path: Path) -> None:
    found = load_dataset(exported(tmp_path, reviewed))
    made = labelled_dataset(reviewed, GOLD).columns
    assert found.hash == GOLD.hash
    for name in ("safety", "relevance"):
        for part in ("preference", "explanation", "preference|Ada", "preference|Ben", "origin"):
            column = f"{name}_{part}"
            cells = [cell or "" for cell in made.get(column, [""] * 3)]
            assert found.texts(column).to_pylist() == cells, column
    assert found.texts("safety_preference_before").to_pylist() == ["both_bad", "", "A"]
    assert label_origins(found, "safety") == {"7": Origin.UNCERTAINTY, "id,\n2": None}
    assert found.read_as == (
        "All data of run 1: its human labels are those that annotators gave or accepted (3 of 6, by Ada,"
        " Ben),"
        " not the judge's own."
    )
    assert found.notices[0] == found.read_as
    assert found.columns is None
    assert not {"model_preference", "human_preference"} & {*found.file_columns, *found.other_columns}


def test_a_run_that_nobody_labelled_has_no_human_labels(tmp_path: Path) -> None:
    results = stored_run(tmp_path, GOLD, {"safety": [SURE_A] * 3}).results
    assert results
    found = load_dataset(exported(tmp_path, results))
    assert found.criteria == ()
    assert found.read_as == (
        "All data of run 1: it has no human labels, and the judge's own labels are not human ones."
    )


def test_one_of_an_earlier_version_has_the_labels_of_overrides(reviewed: RunResults, tmp_path: Path) -> None:
    path = changed(exported(tmp_path, reviewed), LABELS_BY_ANNOTATORS, ORIGINS_BY_ANNOTATORS, "random_sample")
    found = load_dataset(path)
    assert found.labels("safety") == {"7": B}
    assert found[0].gold["safety"].annotators == {"Ada": B}
    assert label_origins(found, "safety") == {"7": None}


def test_a_file_without_texts_is_named_for_what_it_is(reviewed: RunResults, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="all data of a run, but no texts"):
        load_dataset(exported(tmp_path, reviewed, gold=None))
    other = with_texts(GOLD, output_a=["x", "a", "a"])
    found = load_dataset(exported(tmp_path, reviewed, other))
    assert found.ids == ["id,\n2", "ß"]
    assert found.notices[1].startswith("2 rows have no texts, and are omitted")


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        ({"preference": "perhaps"}, "unknown label 'perhaps'"),
        ({"criterion": "relevance"}, "'relevance' of item '7' occurs twice"),
    ],
)
def test_what_was_changed_wrongly_is_named_by_its_line(
    reviewed: RunResults, tmp_path: Path, cells: dict[str, str], problem: str
) -> None:
    path = changed(exported(tmp_path, reviewed), **cells)
    with pytest.raises(InputError, match=f"line [23], .*{problem}"):
        load_dataset(path)


def test_columns_that_a_person_names_come_first(tmp_path: Path) -> None:
    results = stored_run(tmp_path, GOLD, {"safety": [SURE_A] * 3}).results
    assert results
    columns = ColumnMap.of({"id": "item_id", "safety_preference": "preference"})
    found = load_dataset(exported(tmp_path, results), columns=columns)
    assert (found.read_as, found.labels("safety")) == ("", dict.fromkeys(GOLD.ids, A))
    assert GOOD not in found.label_counts("safety")
