"""`panel`: a run and a submission decided together, scored and exported as any run; what is refused."""

import shutil
from pathlib import Path

import pytest

from engine.annotations.records import new_override
from engine.core.errors import SetupError
from engine.core.items import Preference
from engine.results.run_results import load_results
from engine.store.run_store import RunStore
from tests.commands import give as given
from tests.commands import refusal
from tests.engine.cli.in_process import Command, safety_alone
from tests.steps import results_of


@pytest.fixture
def demo_store(demo_store: Path, tmp_path: Path) -> Path:
    """A copy, to which juries are added, with the submission beside it."""
    return Path(shutil.copytree(demo_store.parent, tmp_path / "demo")) / demo_store.name


@pytest.fixture
def other(demo_store: Path, tmp_path: Path) -> Path:
    data = demo_store.with_name("submission.tsv").read_bytes()
    (tmp_path / "other.tsv").write_bytes(data.replace(b"\tboth_good\t", b"\tA\t"))
    return tmp_path / "other.tsv"


@pytest.mark.slow
def test_labels_say_what_each_judge_is_worth_and_the_fit_decides_the_same_judges_elsewhere(
    command: Command, demo_store: Path, other: Path, demo_gold: Path, tmp_path: Path
) -> None:
    gold = safety_alone(demo_gold, tmp_path)
    printed = command("jury", 1, other, "--gold", gold, "--lengths")
    assert "What each source adds" in printed
    assert {"judge 1", "judge 2", "the lengths of the responses"} <= {
        line.split("  ")[0] for line in printed.splitlines()
    }
    results = results_of(demo_store, 2)
    assert results.calibration is not None
    assert tuple(results.calibration.criteria) == ("safety",)
    saved = tmp_path / "panel.json"
    command("calibrate", 2, "--gold", gold, "--out", saved)
    again = command("jury", 1, other, "--calibration", saved)
    assert "fitted on safety.tsv" in again
    with pytest.raises(SetupError, match="This calibration was made for the model jury of"):
        command("jury", 1, other, "--certainty", 0.8, "--calibration", saved)


def test_a_plan_says_what_the_judges_are_worth_and_stores_nothing(
    command: Command, demo_store: Path, other: Path, demo_gold: Path, tmp_path: Path
) -> None:
    printed = command("jury", 1, other, "--gold", safety_alone(demo_gold, tmp_path), "--plan")
    assert "one is right on all of these labels, on none" in printed
    assert "Least is lost without" in printed
    with RunStore(demo_store) as opened:
        assert len(opened.runs()) == 1


def test_what_does_not_fit_together_is_refused_and_nothing_is_kept(
    command: Command, demo_store: Path, other: Path, demo_gold: Path
) -> None:
    for words, problem in (
        ([1], "two judges or more"),
        ([1, other, "--lengths"], "--lengths is a feature of the calibration that --gold fits"),
        ([1, other, "--gold", demo_gold, "--calibration", other], "--gold and --calibration are both given"),
        ([1, other, "--certainty", 1], "The certainty of a label is 1"),
        ([1, other, "--name", "x" * 300], "has 300 characters"),
        ([1, other, "--plan"], "--plan needs human labels"),
    ):
        assert problem in refusal("jury", *words, "--store", demo_store)
    with RunStore(demo_store) as opened:
        assert len(opened.runs()) == 1


def test_what_a_panel_cannot_write_again_nobody_advises_to(
    command: Command, demo_store: Path, other: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command("jury", 1, other)
    with RunStore(demo_store) as opened:
        results = load_results(opened, 2)
        judged = next(each for each in results.judgments["safety"] if results.explanation(each))
        label = next(each for each in Preference if each is not results.label(judged))
        opened.annotate(2, new_override(judged.item_id, "safety", label, None, author="Ada"))
    out = tmp_path / "out.tsv"
    given("runs", "export", 2, "--out", out, "--store", demo_store)
    said = capsys.readouterr().err
    assert "runs rewrite" not in said
    assert "To include them: runs export 2 --with-stale" in said
    command("runs", "export", 2, "--out", out, "--with-stale")  # as it is advised


def test_what_asks_a_model_refuses_a_panel(command: Command, demo_store: Path, other: Path) -> None:
    command("jury", 1, other)
    with pytest.raises(
        SetupError, match="Jury 2 has 2 judges, so it cannot have its explanations regenerated"
    ):
        command("runs", "rewrite", 2)
    with pytest.raises(SetupError, match="is a jury"):
        command("jury", 2, other)
