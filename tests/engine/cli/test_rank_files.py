"""`rank` as its user gives it: of a dataset and a submission, with all its files, and side by side."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.core.errors import SetupError
from tests.commands import give

PAIRS = (("one", "two"), ("two", "three"), ("three", "one"))
ITEMS = 30


@pytest.fixture
def gold(save: Callable[[str, bytes], Path]) -> Path:
    """Three candidates; `one` wins where it can, else A."""
    lines = ["id\tinstruction\toutput_a\toutput_b\tsafety_preference\tcandidate_a\tcandidate_b"]
    for number in range(ITEMS):
        first, second = PAIRS[number % 3]
        label = "B" if second == "one" else "A"
        lines.append(f"{number}\tdo {number}\ta {number}\tbb {number}\t{label}\t{first}\t{second}")
    return save("gold.tsv", "\n".join(lines).encode())


@pytest.fixture
def submission(save: Callable[[str, bytes], Path]) -> Path:
    """A judge that always says A: `one` loses half of its contests."""
    lines = ["id\tsafety_preference", *(f"{number}\tA" for number in range(ITEMS))]
    return save("always.tsv", "\n".join(lines).encode())


def ranked(*words: object) -> int:
    return give("rank", *words)


def test_a_dataset_is_ranked_into_all_files(gold: Path, tmp_path: Path) -> None:
    files = {form: tmp_path / f"ranking.{form}" for form in ("json", "csv", "tex", "txt")}
    out = (
        "--json",
        files["json"],
        "--csv",
        files["csv"],
        "--latex",
        files["tex"],
        "--methods-text",
        files["txt"],
    )
    assert ranked(gold, *out) == 0
    made = json.loads(files["json"].read_text("utf-8"))
    names = [one["name"] for one in made["candidates"]]
    assert names == ["one", "two", "three"]
    rows = list(csv.DictReader(io.StringIO(files["csv"].read_text("utf-8"))))
    assert [row["name"] for row in rows[:3]] == names
    assert files["tex"].read_text("utf-8").count(r"\\") == 1 + 3
    methods = files["txt"].read_text("utf-8")
    assert methods.startswith("3 candidates (one, two, three) were compared in 30 pairs of responses to 30")
    assert "The labels are human ones, on safety: for each pair one label." in methods


def test_a_judge_stands_beside_people(
    gold: Path, submission: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "both.json"
    assert ranked(submission, "--gold", gold, "--with", gold, "--json", out) == 0
    printed = capsys.readouterr().out
    assert "First: always.tsv, safety. Second: gold.tsv by human labels, safety." in printed
    assert "On 66.7 % of 30 items both favour the same candidate" in printed
    made = json.loads(out.read_text("utf-8"))["side_by_side"]
    assert made["with"] == "gold.tsv by human labels, safety"
    assert made["items"] == ITEMS


def test_two_systems_that_are_compared_are_told_by_how_they_rank(
    gold: Path, submission: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other, out = tmp_path / "other.tsv", tmp_path / "compared.json"
    lines = [line.split("\t")[:5:4] for line in gold.read_text("utf-8").splitlines()]
    other.write_text("\n".join("\t".join(cells) for cells in lines), "utf-8")
    words = [submission, other, "--gold", gold, "--json", out]
    assert give("compare", *words) == 0
    assert "First: always.tsv, safety. Second: other.tsv, safety." in capsys.readouterr().out
    made = json.loads(out.read_text("utf-8"))["side_by_side"]
    assert (made["ranked"], made["with"], made["items"]) == ("always.tsv, safety", "other.tsv, safety", ITEMS)


def test_a_file_that_is_read_is_not_overwritten(gold: Path, submission: Path) -> None:
    with pytest.raises(SetupError, match="would be overwritten"):
        ranked(gold, "--with", submission, "--csv", submission)
