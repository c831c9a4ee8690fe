"""`trust`, as a user gives it."""

import json
from pathlib import Path

import pytest

from engine.core.items import Preference
from engine.results.run_results import load_results
from engine.results.trust import kept_trust
from engine.store.run_store import RunStore
from tests.commands import printed, refusal, run_here
from tests.judged import A, B, Probabilities, dataset, stored_run

SURE: Probabilities = (0.9, 0.04, 0.03, 0.03)
UNSURE: Probabilities = (0.4, 0.3, 0.2, 0.1)
ITEMS = 80
LABELS: list[Preference] = [A] * 40 + [A, B] * 20


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    """The items of run 1, with labels; its judge is sure of the first half, and right there."""
    made = dataset({"safety": LABELS})
    path = tmp_path / "gold.tsv"
    rows = [
        "\t".join((item.id, item.instruction, "a", "b", label))
        for item, label in zip(made, LABELS, strict=True)
    ]
    head = "id\tinstruction\toutput_a\toutput_b\tsafety_preference"
    path.write_text("\n".join([head, *rows, ""]), encoding="utf-8")
    stored_run(tmp_path, made, {"safety": [SURE] * 40 + [UNSURE] * 40})
    return path


def options(gold: Path, *more: object) -> tuple[object, ...]:
    return ("trust", 1, "--gold", gold, "--store", gold.with_name("runs.sqlite"), "--target", 0.8, *more)


def test_it_says_what_may_stand_writes_it_and_keeps_it(gold: Path, tmp_path: Path) -> None:
    done = run_here(*options(gold, "--json", tmp_path / "trust.json", "--keep"))
    assert done.returncode == 0, done.stderr
    said = (
        "On safety, 50.0 % of the labels may stand: at least 80.0 % of them agree with people, at a risk of"
    )
    assert f"{said} 10.0 %, by 80 labels." in done.stdout
    assert "Kept with run 1." in done.stderr
    made = json.loads((tmp_path / "trust.json").read_text("utf-8"))
    safety = made["criteria"]["safety"]
    assert (safety["accepted"], safety["trust"]["labels"], made["target"]) == (0.5, 80, 0.8)
    assert [each["p"] <= each["level"] for each in safety["trust"]["thresholds"]] == [True, False]
    with RunStore(tmp_path / "runs.sqlite") as store:
        assert kept_trust(load_results(store, 1)).criteria["safety"].accepted == 0.5


def test_what_a_second_judge_would_decide_is_replayed(gold: Path, tmp_path: Path) -> None:
    right = {A: SURE, B: (0.02, 0.95, 0.02, 0.01)}
    sure = [UNSURE] * 40 + [right[label] for label in LABELS[40:]]
    stored_run(tmp_path, dataset({"safety": LABELS}), {"safety": sure}, key="second")
    out = printed(*options(gold, "--then", 2))
    assert "On safety, 100.0 % of the labels may stand" in out
    assert "Decided: 50.0 % by judge 1 and 50.0 % by judge 2; 50.0 % reach judge 2." in out
    assert "--keep is for one run" in refusal(*options(gold, "--then", 2, "--keep"))


def test_what_more_labels_would_bring_is_forecast(gold: Path) -> None:
    out = printed(*options(gold, "--forecast", "--anytime", "--jointly", "--confidence", "both"))
    assert "With more labels:" in out
    assert "whenever it is looked at" in out
    assert "The risk is of all criteria together." in out


def test_labels_are_needed_and_a_file_its_items(gold: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.tsv"
    lines = [line.rsplit("\t", 1)[0] for line in gold.read_text("utf-8").splitlines()]
    bare.write_text("\n".join([*lines, ""]), encoding="utf-8")
    message = refusal("trust", 1, "--gold", bare, "--store", tmp_path / "runs.sqlite")
    assert "no human label" in message
    second = tmp_path / "second.tsv"
    second.write_text("id\tsafety_preference\n1\tA\n", encoding="utf-8")
    assert "Name them with --gold" in refusal("trust", second, "--store", tmp_path / "runs.sqlite")
    assert "It is between 0 and 1" in refusal(*options(gold), "--risk", 2)
