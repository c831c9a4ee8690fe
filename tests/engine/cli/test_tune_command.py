"""`tune` with the demo model, and `judge --recipe`: chosen, written, judged by, gone on with, refused."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from engine.analysis import tuning
from engine.analysis.recipe import load_recipe
from engine.core.errors import SetupError
from engine.results.run_results import load_results
from engine.settings.identity import TUNING
from engine.store.run_store import RunStore
from engine.system.paths import demo_dataset
from tests.commands import give as given
from tests.commands import refusal

COLUMNS = ("id", "instruction", "output_a", "output_b", "safety_preference")
QUICK = ("--method", "label-tokens", "--context", "2048", "--threads", "1")


def labelled(path: Path, count: int) -> Path:
    """The first items of the demo with their labels of safety."""
    with demo_dataset().open(encoding="utf-8", newline="") as file:
        rows = [row for row, _ in zip(csv.DictReader(file, delimiter="\t"), range(count), strict=False)]
    lines = ["\t".join(COLUMNS), *("\t".join(row[name] for name in COLUMNS) for row in rows)]
    path.write_text("\n".join(lines) + "\n", "utf-8", newline="\n")
    return path


def give(command: str, store: Path, *words: object) -> int:
    return given(command, *words, "--store", store)


@pytest.mark.slow
def test_the_best_settings_are_written_as_a_recipe_that_judges(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold, store = labelled(tmp_path / "gold.tsv", 40), tmp_path / "runs.sqlite"
    recipe = tmp_path / "best.json"
    assert give("tune", store, "demo", gold, "--out", recipe, *QUICK) == 0
    first = capsys.readouterr().out
    assert "are significantly better than always giving the most frequent label." in first
    assert "12 items" in first  # are held out: of 40 instructions 8 are examples
    found = load_recipe(recipe)
    assert found.judge.criteria == ("safety",)
    assert found.measured is not None
    assert found.measured["accuracy"] > found.measured["most_frequent_label"]
    assert any("are significantly better than " in said for said in found.says)
    with RunStore(store) as opened:
        runs = opened.runs()
        tried = [f"Settings tried: {what}" for what in ("no examples", "short wording")]
        assert [run.name for run in runs[:2]] == tried
        assert runs[0].manifest["random_order"][TUNING] is True
        assert (runs[0].until, runs[0].judged) == (None, 32)
        assert runs[3].judged < 32 or found.judge.examples_path  # what was given up judges no more
        judged = [run.judged for run in runs]
    # The same again judges nothing, and finds the same.
    assert give("tune", store, "demo", gold, "--out", recipe, *QUICK) == 0
    again = capsys.readouterr().out
    chosen = [text.split("settings", 1)[1].splitlines()[0] for text in (first, again)]
    assert chosen[0] == chosen[1]
    with RunStore(store) as opened:
        assert [run.judged for run in opened.runs()] == judged
    out = tmp_path / "submission.tsv"
    words = (gold, "--recipe", recipe, "--items", "3", "--mode", "labels", "--out", out, "--context", "2048")
    assert give("judge", store, *words) == 0
    with RunStore(store) as opened:
        results = load_results(opened, opened.runs()[-1].id)
    assert results.calibration is not None
    assert results.calibration.hash == found.calibration.hash
    assert results.run.identity.asked == found.judge.rubric.only(("safety",))
    assert len(out.read_text("utf-8").splitlines()) == 4


def test_a_recipe_decides_its_settings_alone(tmp_path: Path) -> None:
    asked = ("judge", "data.tsv", "--out", tmp_path / "s.tsv", "--store", tmp_path / "runs.sqlite")
    for option in ("--method pointwise-grade", "--orders one", "--criteria safety", "--few-shot 2"):
        name, value = option.split()
        refused = refusal(*asked, "--recipe", tmp_path / "no.json", name, value)
        assert f"--recipe sets what {name} would" in refused
    assert "--model is missing" in refusal(*asked)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--minutes", "0"], "--minutes is 0"),
        (["--items", "0"], "--items is 0"),
        (["--items", "20"], "20 instructions would be judged"),
        (["--method", "telepathy"], "telepathy"),
        (["--wording", "helpful-harmless"], "--wording helpful-harmless: its criteria are"),
    ],
)
def test_what_cannot_be_is_refused_before_judging(words: Sequence[str], said: str, tmp_path: Path) -> None:
    gold = labelled(tmp_path / "gold.tsv", 40)
    with pytest.raises(SetupError, match=said):
        give("tune", tmp_path / "runs.sqlite", "demo", gold, "--out", tmp_path / "best.json", *QUICK, *words)
    assert not (tmp_path / "best.json").exists()
    assert not (tmp_path / "runs.sqlite").exists()


def test_few_labels_and_other_files_are_refused(tmp_path: Path) -> None:
    few = labelled(tmp_path / "few.tsv", 20)
    with pytest.raises(SetupError, match=r"few\.tsv has human labels for 20 instructions"):
        give("tune", tmp_path / "runs.sqlite", "demo", few, "--out", tmp_path / "best.json", *QUICK)
    with pytest.raises(SetupError, match="JSON"):
        give("tune", tmp_path / "runs.sqlite", "demo", few, "--out", tmp_path / "best.toml", *QUICK)


@pytest.mark.slow
def test_too_little_time_is_said_and_what_was_judged_is_kept(tmp_path: Path) -> None:
    gold, store = labelled(tmp_path / "gold.tsv", 32), tmp_path / "runs.sqlite"
    with pytest.raises(SetupError, match="too few of them") as caught:
        give("tune", store, "demo", gold, "--out", tmp_path / "best.json", *QUICK, "--minutes", "0.0001")
    assert "more time" in str(caught.value.hint)
    assert not (tmp_path / "best.json").exists()


@pytest.mark.slow
def test_comparing_ends_with_its_time_too_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gold, recipe = labelled(tmp_path / "gold.tsv", 32), tmp_path / "best.json"
    monkeypatch.setattr(tuning, "_COMPARED_BY", (0.0, 0.0))
    assert give("tune", tmp_path / "runs.sqlite", "demo", gold, "--out", recipe, *QUICK) == 0
    printed = capsys.readouterr().out
    assert "1 setting was not compared: the time limit was reached." in printed
    assert "no time was left for it" in printed
    assert load_recipe(recipe).judge.both_orders is False  # the one that was
    values = json.loads(recipe.read_text("utf-8"))
    assert list(values)[:4] == ["tiebreak_recipe", "says", "settings", "measured_held_out"]
    assert values["settings"]["ways"] == ["letters"]
    assert not (tmp_path / "best-examples.tsv").exists()  # 32 instructions are too few to put any aside
