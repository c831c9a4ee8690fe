"""`runs export --as-dataset`: the labels of people as the human labels of a dataset, and what is said."""

from pathlib import Path

import pytest

from engine.core.errors import SetupError
from engine.data.dataset import load_dataset
from tests.engine.cli.in_process import Streams


def test_the_labels_of_people_become_a_dataset_that_is_read(
    streams: Streams, demo_gold: Path, tmp_path: Path
) -> None:
    path = tmp_path / "labelled.tsv"
    out, err = streams("runs", "export", 1, "--as-dataset", path)
    assert out.splitlines()[:2] == [f"Dataset: {path}", out.splitlines()[1]]
    assert out.splitlines()[1].endswith("labels are human ones, by Ada.")
    assert err == ""
    assert load_dataset(path).hash == load_dataset(demo_gold).hash


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ((), "no output file is named"),
        (("--with-judge", "--csv", "x.csv"), "--with-judge has no effect here"),
        (("--as-dataset", "x.xlsx"), "a dataset is written as TSV, JSON or Parquet"),
    ],
)
def test_what_cannot_be_meant_is_refused(streams: Streams, words: tuple[str, ...], problem: str) -> None:
    with pytest.raises(SetupError, match=problem):
        streams("runs", "export", 1, *words)


def test_the_dataset_of_a_run_may_lie_elsewhere_by_now(
    streams: Streams, demo_gold: Path, tmp_path: Path
) -> None:
    moved = tmp_path / "moved.tsv"
    moved.write_bytes(demo_gold.read_bytes())
    out, _ = streams("runs", "export", 1, "--as-dataset", tmp_path / "x.json", "--dataset", moved)
    assert "labels are human ones" in out
    with pytest.raises(SetupError, match="would be overwritten"):
        streams("runs", "export", 1, "--as-dataset", moved, "--dataset", moved)


def test_all_data_of_a_run_are_taken_as_labels_and_it_is_said(streams: Streams, tmp_path: Path) -> None:
    path = tmp_path / "all.csv"
    streams("runs", "export", 1, "--csv", path)
    out, err = streams("evaluate", 1, "--gold", path)
    assert (
        "All data of run 1: its human labels are those that annotators gave or accepted (1 of 150, by Ada)"
        in err
    )
    assert "safety" in out
