"""`runs export --for` and `--as-dataset`: which files, by which criterion, and what cannot be meant."""

import json
from pathlib import Path

import pytest

from engine.core.errors import SetupError
from tests.commands import refusal
from tests.engine.cli.in_process import Command, Streams


def test_other_files_of_the_run_are_written_beside_it(command: Command, tmp_path: Path) -> None:
    log, data = tmp_path / "log.json", tmp_path / "all.json"
    command("runs", "export", 1, "--for", "inspect", "--out", log, "--json", data)
    assert json.loads(data.read_text("utf-8"))["run"]["id"] == 1
    assert json.loads(log.read_text("utf-8"))["eval"]["task"] == "tiebreak"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--for", "dpo"), "--for dpo: no output file is named"),
        (("--for", "dpo", "--out", "x.tsv"), "for dpo a file ends in .jsonl or .parquet"),
        (("--for", "inspect", "--out", "x.eval"), "for inspect a file ends in .json"),
        (("--for", "inspect", "--out", "x.json", "--criterion", "safety"), "--criterion has no effect"),
        (("--out", "x.tsv", "--criterion", "safety"), "--criterion has no effect"),
        (("--for", "dpo", "--out", "x.jsonl", "--criterion", "speed"), "has no criterion 'speed'"),
        (("--out", "x.json"), "a submission is TSV"),
        ((), "no output file is named"),
        (("--with-judge", "--csv", "x.csv"), "--with-judge has no effect here"),
        (("--as-dataset", "x.xlsx"), "a dataset is written as TSV, JSON or Parquet"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    overridden: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], problem: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert problem in refusal("runs", "export", 1, *words, "--store", overridden)
    assert not list(tmp_path.glob("x.*"))


def test_without_the_dataset_nothing_is_written(streams: Streams, demo_gold: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.tsv"
    other.write_bytes(demo_gold.read_bytes().replace(b" the ", b" a "))
    out = tmp_path / "log.json"
    with pytest.raises(SetupError, match="does not have the items"):
        streams("runs", "export", 1, "--for", "inspect", "--out", out, "--dataset", other)
    assert not out.exists()


def test_the_dataset_of_a_run_may_have_moved(streams: Streams, demo_gold: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved.tsv"
    moved.write_bytes(demo_gold.read_bytes())
    out, _ = streams("runs", "export", 1, "--as-dataset", tmp_path / "x.json", "--dataset", moved)
    assert "labels are human ones" in out
