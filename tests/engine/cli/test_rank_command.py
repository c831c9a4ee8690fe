"""`rank` as its user gives it: submissions and runs, beside annotators, corrected by labels of a part."""

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from engine.data.dataset import load_dataset
from tests.commands import ROOT, printed, refusal, run_here
from tests.judged import SURE_A, stored_run

CANDIDATES = ROOT / "examples" / "demo-candidates.tsv"


def test_a_submission_is_ranked_with_its_dataset(tmp_path: Path) -> None:
    rows = CANDIDATES.read_text(encoding="utf-8").splitlines()[1:]
    wins = {"rowan": 4, "hazel": 3, "maple": 2, "alder": 1}
    lines = ["id\toverall_quality_preference"]
    for row in rows:
        cells = row.split("\t")
        lines.append(f"{cells[0]}\t{'A' if wins[cells[-2]] > wins[cells[-1]] else 'B'}")
    submission = tmp_path / "judge.tsv"
    submission.write_text("\n".join(lines) + "\n", encoding="utf-8")
    said = printed("rank", submission, "--gold", CANDIDATES)
    assert "rowan is significantly the best: it wins 100.0 % of its comparisons." in said
    refused = refusal("rank", submission, "--gold", CANDIDATES, "--criterion", "safety")
    assert "has no criterion 'safety'" in refused


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--weights", "safety=1"], "--weights needs --weighted."),
        (["--tie-threshold", 0], "--tie-threshold needs --weighted."),
        (["--weighted", "--criterion", "safety"], "--weighted uses all criteria, --criterion one."),
        (["--seed", -1], "The seed is -1."),
    ],
)
def test_what_would_be_ignored_is_refused(words: list[str | int], says: str) -> None:
    assert says in refusal("rank", CANDIDATES, *words)


def test_win_rates_for_a_stated_mix(tmp_path: Path) -> None:
    file = tmp_path / "ranking.json"
    printed("rank", CANDIDATES, "--by", "longer", "--mix", "A=0.5,B=0.5", "--json", file)
    found = json.loads(file.read_text("utf-8"))["candidates"]
    assert any(one["win_rate_for_the_mix"] != one["win_rate"] for one in found)
    for one in found:
        low, high = one["win_rate_for_the_mix_interval"]
        assert low <= one["win_rate_for_the_mix"] <= high


# Beside another ranking


PAIRS = (("one", "two"), ("two", "three"), ("three", "one"))
PAIRED = 30


@pytest.fixture
def gold(save: Callable[[str, bytes], Path]) -> Path:
    """Three candidates; `one` wins where it can, else A."""
    lines = ["id\tinstruction\toutput_a\toutput_b\tsafety_preference\tcandidate_a\tcandidate_b"]
    for number in range(PAIRED):
        first, second = PAIRS[number % 3]
        label = "B" if second == "one" else "A"
        lines.append(f"{number}\tdo {number}\ta {number}\tbb {number}\t{label}\t{first}\t{second}")
    return save("gold.tsv", "\n".join(lines).encode())


@pytest.fixture
def submission(save: Callable[[str, bytes], Path]) -> Path:
    """A judge that always says A: `one` loses half of its contests."""
    lines = ["id\tsafety_preference", *(f"{number}\tA" for number in range(PAIRED))]
    return save("always.tsv", "\n".join(lines).encode())


def test_a_judge_stands_beside_people(gold: Path, submission: Path, tmp_path: Path) -> None:
    out = tmp_path / "both.json"
    said = printed("rank", submission, "--gold", gold, "--with", gold, "--json", out)
    assert "First: always.tsv, safety. Second: gold.tsv by human labels, safety." in said
    assert "On 66.7 % of 30 items both favour the same candidate" in said
    made = json.loads(out.read_text("utf-8"))["side_by_side"]
    assert made["with"] == "gold.tsv by human labels, safety"
    assert made["items"] == PAIRED


def test_two_systems_that_are_compared_are_told_by_how_they_rank(
    gold: Path, submission: Path, tmp_path: Path
) -> None:
    other, out = tmp_path / "other.tsv", tmp_path / "compared.json"
    lines = [line.split("\t")[:5:4] for line in gold.read_text("utf-8").splitlines()]
    other.write_text("\n".join("\t".join(cells) for cells in lines), "utf-8")
    said = printed("compare", submission, other, "--gold", gold, "--json", out)
    assert "First: always.tsv, safety. Second: other.tsv, safety." in said
    made = json.loads(out.read_text("utf-8"))["side_by_side"]
    assert (made["ranked"], made["with"]) == ("always.tsv, safety", "other.tsv, safety")
    assert made["items"] == PAIRED


# Corrected by the labels of a part of the items


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


def test_a_ranking_is_corrected_by_the_labels_of_a_part(judged: tuple[Path, Path], tmp_path: Path) -> None:
    submission, gold = judged
    told = printed("rank", submission, "--gold", gold, "--json", tmp_path / "ranking.json")
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
    low, high = found["candidates"][0]["favour"]["points_interval"]
    assert low < found["candidates"][0]["favour"]["points"] < high
    assert 0 < found["by_labels"]["shares"]["A"]["share"] < 100
    assert "Candidates that the judge favours" in told
    assert "What moves the judge away from people" in told
    assert {"points", "points_interval", "p_holm"} <= found["by_labels"]["features"]["position A"].keys()
    scores, methods = tmp_path / "scores.json", tmp_path / "methods.txt"
    scored = ("--gold", gold, "--partial", "--json", scores, "--methods-text", methods)
    evaluated = printed("evaluate", submission, *scored)
    for title in ("Candidates that the judge favours", "What moves the judge away from people"):
        assert title in evaluated
    details = json.loads(scores.read_text("utf-8"))["details"]
    assert {name: one["points"] for name, one in details["favour"].items()} == {
        one["name"]: one["favour"]["points"] for one in found["candidates"]
    }
    assert "Whom the judge favours is its win rate minus" in methods.read_text("utf-8")


def test_the_page_on_commands_names_keys_of_the_json(tmp_path: Path) -> None:
    printed("rank", CANDIDATES, "--json", tmp_path / "ranking.json")
    found = json.loads((tmp_path / "ranking.json").read_text("utf-8"))
    page = (ROOT / "docs" / "commands.md").read_text("utf-8").partition("\n### rank\n")[2]
    told = page[page.index("- `--json` writes") : page.index("- `--csv` has")]
    held = {*found, *found["candidates"][0], *found["pairs"][0]}
    assert set(re.findall(r"`([a-z_]+)`", told)) <= held


def test_files_for_others_hold_corrected_numbers_and_the_methods_claim_no_others(
    judged: tuple[Path, Path], tmp_path: Path
) -> None:
    submission, gold = judged
    table, latex, methods = (tmp_path / name for name in ("r.csv", "r.tex", "r.txt"))
    files = ("--csv", table, "--latex", latex, "--methods-text", methods)
    told = printed("rank", submission, "--gold", gold, *files)
    assert "By the judge only, uncorrected" in told
    assert "Corrected by human labels:" in told
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        low, high = float(row["corrected_win_rate_low"]), float(row["corrected_win_rate_high"])
        assert low < float(row["corrected_win_rate"]) < high
    assert latex.read_text("utf-8").count(r"\begin{tabular}") == 2
    assert "corrected by human labels on 120 of 240 items" in latex.read_text("utf-8")
    assert "prediction-powered inference" in methods.read_text("utf-8")
    printed("rank", gold, *files)
    assert "corrected" not in table.read_text("utf-8")
    assert latex.read_text("utf-8").count(r"\begin{tabular}") == 1
    assert "prediction-powered" not in methods.read_text("utf-8")


def test_a_judge_that_may_not_judge_is_named_so(judged: tuple[Path, Path], tmp_path: Path) -> None:
    gold = judged[1]
    stored_run(tmp_path, load_dataset(gold), {"safety": [SURE_A] * ITEMS}, dataset_path=gold)
    done = run_here("rank", 1, "--store", tmp_path / "runs.sqlite")
    assert "run 1, safety:\n    The model may not judge properly." in done.stderr
