"""`calibrate`, `runs recalibrate`, and `judge --calibration`, on a run of the demo judge."""

import json
from pathlib import Path

import pytest

from engine.core.errors import SetupError
from engine.results.run_results import load_results, submission_of
from engine.store.run_store import RunStore
from tests.commands import ended, give, printed
from tests.conftest import DEMO_ITEMS as ITEMS
from tests.engine.cli.in_process import Command, row, safety_alone


@pytest.mark.slow
def test_calibrate_then_recalibrate_and_back(command: Command, demo_gold: Path, demo_store: Path) -> None:
    path = demo_store.with_name("calibration.json")
    printed = command("calibrate", 1, "--gold", demo_gold, "--out", path)
    assert "frequencies" in printed
    assert row(printed, "safety")[1] == str(ITEMS)
    before = command("runs", "export", 1, "--out", demo_store.with_name("before.tsv"))
    recalibrated = command("runs", "recalibrate", 1, "--calibration", path)
    assert row(recalibrated, "safety")[1:3] == ["yes", str(ITEMS)]
    assert "on gold.tsv" in command("runs", "show", 1)
    give_one_label(path)
    assert row(command("runs", "recalibrate", 1, "--calibration", path), "safety")[-2:] == ["both", "bad"]
    assert "safety (both bad)" in command("runs", "show", 1)
    assert "not calibrated" in command("runs", "recalibrate", 1, "--none")
    after = command("runs", "export", 1, "--out", demo_store.with_name("after.tsv"))
    assert before.replace("before", "after") == after
    assert demo_store.with_name("before.tsv").read_bytes() == demo_store.with_name("after.tsv").read_bytes()


def give_one_label(calibration: Path) -> None:
    value = json.loads(calibration.read_text("utf-8"))
    for criterion in value["criteria"].values():
        del criterion["folds"]  # by which the items that took part would be decided
        criterion["biases"] = {"A": 0, "B": 0, "both_good": 0, "both_bad": 99}
    calibration.write_text(json.dumps(value), "utf-8")


@pytest.mark.usefixtures("demo_tried")
def test_judge_refuses_the_calibration_of_another_model(
    command: Command, demo_gold: Path, demo_store: Path, tmp_path: Path
) -> None:
    path = demo_store.with_name("foreign.json")
    command("calibrate", 1, "--gold", safety_alone(demo_gold, tmp_path), "--partial", "--out", path)
    # The run of this test names its model by a hash of its own.
    words = [demo_gold, "--model", "demo", "--out", demo_store.with_name("out.tsv"), "--calibration", path]
    with pytest.raises(SetupError, match=r"made for the model demo-judge \(d{12}\), not for"):
        command("judge", *words)


@pytest.mark.slow
@pytest.mark.usefixtures("demo_tried")
def test_judge_with_a_calibration_writes_explanations_for_the_calibrated_label(
    demo_gold: Path, tmp_path: Path
) -> None:
    store, path = tmp_path / "runs.sqlite", tmp_path / "calibration.json"
    words = [demo_gold, "--model", "demo", "--items", 10, "--threads", 1, "--max-explanation-tokens", 4]
    judged = ["judge", *words, "--criteria", "safety", "--out", tmp_path / "out.tsv", "--store", store]
    ended(*judged)
    gold = safety_alone(demo_gold, tmp_path)
    printed("calibrate", 1, "--gold", gold, "--partial", "--out", path, "--store", store)
    give_one_label(path)
    done = printed(*judged, "--calibration", path)
    assert "both orders, calibrated" in done
    with RunStore(store) as opened:
        results = load_results(opened, 2)
        assert load_results(opened, 1).calibration is None
    labels = {row.predictions["safety"].preference for row in submission_of(results).rows}
    assert labels == {"both_bad"}
    assert results.stale == 0
    assert results.unexplained == 0


def test_a_calibrated_run_is_not_scored_on_its_own_labels_without_a_word(
    command: Command, demo_gold: Path, demo_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = demo_store.with_name("own.json")
    command("calibrate", 1, "--gold", safety_alone(demo_gold, tmp_path), "--partial", "--out", path)
    command("runs", "recalibrate", 1, "--calibration", path)
    try:
        assert give("evaluate", 1, "--gold", demo_gold, "--store", demo_store) == 0
        said = f"{ITEMS} of these {ITEMS} items took part in the fit of the calibration."
        assert said in capsys.readouterr().err
    finally:
        command("runs", "recalibrate", 1, "--none")
