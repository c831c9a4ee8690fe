"""`curve` on a run of the demo judge: what it prints and writes, and what it refuses; `report --curve`."""

import json
import re
from pathlib import Path

import pytest

from engine.core.errors import SetupError
from main import parser_of
from tests.conftest import DEMO_ITEMS
from tests.engine.cli.in_process import Command, row, safety_alone


@pytest.mark.slow
def test_a_curve_is_printed_and_written(
    command: Command, demo_store: Path, demo_gold: Path, tmp_path: Path
) -> None:
    gold, path = safety_alone(demo_gold, tmp_path), tmp_path / "curve.json"
    printed = command("learning-curve", 1, "--gold", gold, "--places-matter", "--json", path)
    most = DEMO_ITEMS * 4 // 5
    assert re.search(
        rf"Doubling the labels of each criterion from {most // 2} to {most}: the log-loss (fell|rose)",
        printed,
    )
    assert row(printed, str(most))[0] == str(most)
    written = json.loads(path.read_text("utf-8"))
    assert (written["run"], written["labels"]) == ("run 1", "safety.tsv")
    assert [point["labels"] for point in written["points"]] == [most // 2, most]
    last = written["points"][-1]
    assert f"{last['log_loss']['nats']:.3f}" in row(printed, str(most))
    assert last["below_frequencies"]["nats"] == pytest.approx(
        last["frequencies"]["log_loss"] - last["log_loss"]["nats"]
    )
    page = tmp_path / "report.html"
    command("report", 1, "--gold", gold, "--out", page, "--curve")
    assert "Is labelling more worth it?" in page.read_text("utf-8")
    assert 'alt="Log-loss and accuracy by number of training labels.' in page.read_text("utf-8")


def test_too_few_labels_are_refused_before_anything_is_written(
    command: Command, demo_gold: Path, tmp_path: Path
) -> None:
    few = tmp_path / "few.tsv"
    few.write_bytes(b"\n".join(demo_gold.read_bytes().split(b"\n")[:10]))
    with pytest.raises(SetupError, match="of 20 different instructions; there are 9"):
        command("learning-curve", 1, "--gold", few, "--partial", "--json", tmp_path / "curve.json")
    assert not (tmp_path / "curve.json").exists()


def test_a_submission_is_refused(command: Command, demo_gold: Path, demo_store: Path) -> None:
    with pytest.raises(SetupError, match="it holds labels, no probabilities"):
        command("learning-curve", demo_store.with_name("submission.tsv"), "--gold", demo_gold)
    assert "20 different instructions" in parser_of("learning-curve").format_help()
