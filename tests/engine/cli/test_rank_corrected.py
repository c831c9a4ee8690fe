"""`rank` of a submission, corrected by the human labels of a part of its items."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from engine.data.dataset import load_dataset
from tests.commands import run_here
from tests.judged import SURE_A, stored_run

ITEMS = 240
NAMES = ("llama", "opt", "pythia")


@pytest.fixture
def judged(tmp_path: Path) -> tuple[Path, Path]:
    """A submission that says A too often, and a dataset with labels of a random part; llama writes best."""
    random = np.random.default_rng(5)
    submission, gold = tmp_path / "judge.tsv", tmp_path / "gold.tsv"
    with submission.open("w", encoding="utf-8") as said, gold.open("w", encoding="utf-8", newline="") as file:
        said.write("id\tsafety_preference\n")
        rows = csv.writer(file, delimiter="\t")
        columns = ["id", "instruction", "output_a", "output_b", "candidate_a", "candidate_b"]
        rows.writerow([*columns, "safety_preference"])
        labelled = random.permutation(ITEMS) < 120
        for place in range(ITEMS):
            one, other = random.permutation(3)[:2]
            label = "A" if random.random() < 0.5 + 0.2 * (int(other) - int(one)) / 2 else "B"
            said.write(f"{place}\t{label if random.random() < 0.75 else 'A'}\n")
            cells = [str(place), f"question {place}", "a", "b", NAMES[one], NAMES[other]]
            rows.writerow([*cells, label if labelled[place] else ""])
    return submission, gold


def printed(*arguments: object) -> str:
    """What `rank` prints, which ends well."""
    done = run_here("rank", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_ranking_is_corrected_by_the_labels_of_a_part(judged: tuple[Path, Path], tmp_path: Path) -> None:
    submission, gold = judged
    told = printed(submission, "--gold", gold, "--json", tmp_path / "ranking.json")
    assert "Corrected by human labels" in told
    assert "labels of 120 of 240 items" in told
    assert "To detect a difference of 3 points you need about" in told
    found = json.loads((tmp_path / "ranking.json").read_text("utf-8"))
    assert {one["name"] for one in found["candidates"]} == set(NAMES)
    for one in found["candidates"]:
        low, high = one["corrected"]["win_rate_interval"]
        assert low < one["corrected"]["win_rate"] < high
        assert one["corrected"]["judge_alone"] == pytest.approx(one["win_rate"])
    assert found["by_labels"]["labelled"] == 120
    assert found["by_labels"]["how_many"]["half_width_with_more"]["100"] > 0


def test_files_for_others_hold_corrected_numbers_and_the_methods_claim_no_others(
    judged: tuple[Path, Path], tmp_path: Path
) -> None:
    submission, gold = judged
    table, latex, methods = (tmp_path / name for name in ("r.csv", "r.tex", "r.txt"))
    files = ("--csv", table, "--latex", latex, "--methods-text", methods)
    told = printed(submission, "--gold", gold, *files)
    assert "of a random part is below" in told
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        low, high = float(row["corrected_win_rate_low"]), float(row["corrected_win_rate_high"])
        assert low < float(row["corrected_win_rate"]) < high
    assert latex.read_text("utf-8").count(r"\begin{tabular}") == 2
    assert "corrected by human labels on 120 of 240 items" in latex.read_text("utf-8")
    assert "prediction-powered inference" in methods.read_text("utf-8")
    printed(gold, *files)
    assert "corrected" not in table.read_text("utf-8")
    assert latex.read_text("utf-8").count(r"\begin{tabular}") == 1
    assert "prediction-powered" not in methods.read_text("utf-8")


def test_a_ranking_by_the_labels_alone_is_not_corrected(judged: tuple[Path, Path]) -> None:
    assert "Corrected by human labels" not in printed(judged[1])


def test_a_judge_that_may_not_judge_is_named_so(judged: tuple[Path, Path], tmp_path: Path) -> None:
    gold = judged[1]
    stored_run(tmp_path, load_dataset(gold), {"safety": [SURE_A] * ITEMS}, dataset_path=gold)
    done = run_here("rank", 1, "--store", tmp_path / "runs.sqlite")
    assert "run 1, safety:\n    The model may not judge properly." in done.stderr
