"""`panel`: a run and a submission decided together, scored and exported as any run; what is refused."""

import shutil
from pathlib import Path

import pytest

from engine.core.errors import SetupError
from engine.decisions.run_results import load_results
from engine.store.run_store import RunStore
from tests.conftest import DEMO_ITEMS as ITEMS
from tests.engine.commands.in_process import Command, row, safety_alone


@pytest.fixture
def store(demo_store: Path, tmp_path: Path) -> Path:
    """A copy, to which panels are added."""
    return Path(shutil.copy(demo_store, tmp_path / "runs.sqlite"))


@pytest.fixture
def other(demo_store: Path, tmp_path: Path) -> Path:
    """A submission that differs from the run."""
    data = demo_store.with_name("submission.tsv").read_bytes()
    (tmp_path / "other.tsv").write_bytes(data.replace(b"\tboth_good\t", b"\tA\t"))
    return tmp_path / "other.tsv"


def test_a_panel_is_made_by_the_mean_and_used_as_a_run(
    command: Command, store: Path, other: Path, demo_gold: Path, tmp_path: Path
) -> None:
    printed = command("panel", 1, other, "--name", "night", "--store", store)
    assert "Panel 2 “night” is run 2" in printed
    assert "other.tsv: submission" in printed
    assert row(command("evaluate", 2, "--gold", demo_gold, "--store", store), "safety")[1] == str(ITEMS)
    exported = tmp_path / "together.tsv"
    command("runs", "export", 2, "--out", exported, "--store", store)
    assert len(exported.read_bytes().splitlines()) == ITEMS + 1
    assert "by judge of the panel" in command("evaluate", 2, "--gold", demo_gold, "--store", store).casefold()
    command("runs", "export", 2, "--csv", tmp_path / "all.csv", "--store", store)
    command("report", 2, "--gold", demo_gold, "--out", tmp_path / "report.html", "--store", store)
    assert "panel of run 1, other.tsv" in (tmp_path / "report.html").read_text("utf-8")


def test_labels_say_what_each_judge_is_worth_and_the_fit_decides_the_same_judges_elsewhere(
    command: Command, store: Path, other: Path, demo_gold: Path, tmp_path: Path
) -> None:
    gold = safety_alone(demo_gold, tmp_path)
    printed = command("panel", 1, other, "--gold", gold, "--lengths", "--store", store)
    assert "What each source adds" in printed
    assert {"judge 1", "judge 2", "the lengths of the responses"} <= {
        line.split("  ")[0] for line in printed.splitlines()
    }
    with RunStore(store) as opened:
        results = load_results(opened, 2)
    assert results.calibration is not None
    assert tuple(results.calibration.criteria) == ("safety",)
    saved = tmp_path / "panel.json"
    command("calibrate", 2, "--gold", gold, "--out", saved, "--store", store)
    again = command("panel", 1, other, "--calibration", saved, "--store", store)
    assert "fitted on safety.tsv" in again
    with pytest.raises(SetupError, match="This calibration was made for the model panel of"):
        command("panel", 1, other, "--certainty", 0.8, "--calibration", saved, "--store", store)


def test_what_does_not_fit_together_is_refused_and_nothing_is_kept(
    command: Command, store: Path, other: Path, demo_gold: Path
) -> None:
    for words, problem in (
        ([1], "two judges or more"),
        ([1, other, "--lengths"], "--lengths is for what --gold fits"),
        ([1, other, "--gold", demo_gold, "--calibration", other], "Leave one of them out"),
        ([1, other, "--certainty", 1], "The certainty of a label is 1"),
        ([1, other, "--name", "x" * 300], "has 300 letters"),
    ):
        with pytest.raises(SetupError, match=problem):
            command("panel", *words, "--store", store)
    with RunStore(store) as opened:
        assert len(opened.runs()) == 1


def test_what_asks_a_model_refuses_a_panel(command: Command, store: Path, other: Path) -> None:
    command("panel", 1, other, "--store", store)
    with pytest.raises(SetupError, match="Run 2 is a panel of 2 judges, so it cannot have explanations"):
        command("runs", "rewrite", 2, "--store", store)
    with pytest.raises(SetupError, match="is a panel itself"):
        command("panel", 2, other, "--store", store)
