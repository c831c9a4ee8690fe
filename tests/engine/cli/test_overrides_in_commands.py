"""What people overrode in a run: said, exported, measured, or left out by --judge-only."""

import json
from pathlib import Path

import pytest

from engine.core.items import Preference
from engine.core.judgments import AnyJudgment, Judgment
from tests.engine.cli.in_process import Streams, row, safety_alone
from tests.steps import results_of

MEASURES = [
    ("evaluate", 1),
    ("compare", 1, "file"),
    ("weighted-score", 1),
    ("report", 1, "--out", "page.html"),
]


@pytest.mark.slow
@pytest.mark.parametrize("words", MEASURES, ids=lambda words: words[0])
def test_what_is_measured_can_be_the_model_alone(
    streams: Streams,
    demo_gold: Path,
    demo_store: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[object, ...],
) -> None:
    monkeypatch.chdir(tmp_path)
    given = [demo_store.with_name("submission.tsv") if word == "file" else word for word in words]
    given += ["--gold", safety_alone(demo_gold, tmp_path)]
    assert (
        "1 label and 1 explanation of these items are human overrides; the scores include them."
        in streams(*given)[1]
    )
    assert "person's" not in streams(*given, "--judge-only")[1]


def label_of(judgment: AnyJudgment) -> Preference | None:
    return judgment.preference if isinstance(judgment, Judgment) else None


def test_recalibrate_keeps_overrides_and_counts_the_models_labels(
    streams: Streams, demo_gold: Path, demo_store: Path, overridden: Path, tmp_path: Path
) -> None:
    path = tmp_path / "calibration.json"
    gold = safety_alone(demo_gold, tmp_path)
    assert "human override" not in streams("calibrate", 1, "--gold", gold, "--partial", "--out", path)[1]
    value = json.loads(path.read_text("utf-8"))
    for criterion in value["criteria"].values():
        for fitted in (criterion, *criterion["folds"]):
            fitted["biases"] = {"A": 0, "B": 0, "both_good": 0, "both_bad": 99}
    path.write_text(json.dumps(value), "utf-8")
    printed, err = streams("runs", "recalibrate", 1, "--calibration", path)
    results = results_of(overridden)
    (own,) = {label_of(judgment) for judgment in results.judgments["safety"]}
    assert own is Preference.BOTH_BAD
    before = [label_of(judgment) for judgment in results_of(demo_store).judgments["safety"]]
    assert row(printed, "safety")[3] == str(sum(label is not Preference.BOTH_BAD for label in before))
    assert "1 label and 1 explanation, by Ada" in err
    assert results.overridden.labels == 1
