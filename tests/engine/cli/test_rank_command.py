"""`rank`: runs, submissions and human labels, through main.py."""

import json
from pathlib import Path

import pytest

from models.demo.candidates import true_win_rates
from tests.commands import ROOT, refusal, run_here

CANDIDATES = ROOT / "examples" / "demo-candidates.tsv"


def test_human_labels_rank_the_candidates(tmp_path: Path) -> None:
    done = run_here("rank", CANDIDATES, "--json", tmp_path / "ranking.json")
    made = json.loads((tmp_path / "ranking.json").read_text(encoding="utf-8"))
    assert {one["name"] for one in made["candidates"]} == set(true_win_rates())
    assert made["candidates"][0]["name"] == "rowan"
    assert "180 items have no label here and are omitted." in done.stdout
    assert sum(one["contests"] for one in made["candidates"]) == 2 * 60


def test_a_submission_is_ranked_with_its_dataset(tmp_path: Path) -> None:
    rows = CANDIDATES.read_text(encoding="utf-8").splitlines()[1:]
    wins = {"rowan": 4, "hazel": 3, "maple": 2, "alder": 1}
    lines = ["id\toverall_quality_preference"]
    for row in rows:
        cells = row.split("\t")
        lines.append(f"{cells[0]}\t{'A' if wins[cells[-2]] > wins[cells[-1]] else 'B'}")
    submission = tmp_path / "judge.tsv"
    submission.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = run_here("rank", submission, "--gold", CANDIDATES)
    assert "rowan is significantly the best: it wins 100.0 % of its comparisons." in done.stdout
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


def test_what_cannot_be_ranked_is_refused() -> None:
    refused = refusal("rank", ROOT / "examples" / "demo.tsv")
    assert "does not name the models that wrote its responses" in refused
