"""Exports of labels that may stand alone: what is left out, by name, and what stands beside the rest."""

import csv
import json
from pathlib import Path

import pytest

from engine.core.errors import SetupError
from engine.operations.export import ToolExport
from engine.results.exports import RUN_COLUMNS, TRUST_COLUMNS, as_json, write_results_csv
from engine.results.run_results import RunResults, submission_of
from engine.results.trust import accepted_in_words, accepted_only, valid_trust
from tests.judged import RATHER_A, SURE_A, SURE_GOOD, A, B, Columns, dataset, judged_run
from tests.kept_trust import kept_trust_of, manifest_of

GOLD = dataset({"safety": [A, A, B, A], "relevance": [A, A, A, B]})
SAID: Columns = {
    "safety": [SURE_A, RATHER_A, None, SURE_GOOD],
    "relevance": [SURE_A, RATHER_A, RATHER_A, SURE_A],
}
LEAST = max(RATHER_A) + 0.01
"""RATHER_A is not confident enough, the others are."""


def run_of(
    folder: Path, least: dict[str, float | None] | None = None, calibration: str | None = None
) -> RunResults:
    kept = kept_trust_of(least or {"safety": LEAST, "relevance": None}, calibration=calibration)
    by_ada = (("2", "relevance", B, None),)
    return judged_run(folder, GOLD, SAID, overrides=by_ada, manifest=manifest_of(kept))


def csv_of(folder: Path, results: RunResults) -> list[dict[str, str]]:
    write_results_csv(folder / "x.csv", results)
    with (folder / "x.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_submission_leaves_the_cells_of_other_labels_empty(tmp_path: Path) -> None:
    results = run_of(tmp_path)
    of_all, accepted = (
        {row.id: [said.preference for said in row.predictions.values()] for row in submission_of(each).rows}
        for each in (results, accepted_only(results))
    )
    assert of_all == {"1": ["A", "A"], "2": ["A", "B"], "3": [None, "A"], "4": ["both_good", "A"]}
    # The label of an annotator stands, whatever the threshold.
    assert accepted == {"1": ["A", None], "2": [None, "B"], "3": [None, None], "4": ["both_good", None]}
    said = list(accepted_in_words(accepted_only(results)))
    assert said[0].startswith("Only labels that may stand: at least 85.0 % of these labels agree with people")
    assert said[1].startswith(f"Safety: from {LEAST:.3f} on (60.0 % of all labels; 90.0 % agree in 60 human")
    assert said[1].endswith("; 1 label is left out.")
    assert said[2] == "Relevance: none; 3 labels are left out."


def test_json_and_csv_keep_the_row_and_say_which_may_stand(tmp_path: Path) -> None:
    results = run_of(tmp_path)
    for each, empty in ((results, False), (accepted_only(results), True)):
        made = json.loads(json.dumps(as_json(each)))
        assert made["run"]["trust"]["target"] == 0.85
        assert made["run"]["trust"]["criteria"]["safety"]["labels"] == 60
        assert "trust" not in made["run"]["made_with"]
        stand = [
            (item["id"], name, said["may_stand"], said["preference"])
            for item in made["items"]
            for name, said in item["judgments"].items()
        ]
        assert [may for _, _, may, _ in stand] == [True, False, False, True, False, False, True, False]
        assert (stand[2][3] is None) is empty
        assert made["health"] == as_json(results)["health"]  # of the judge, not of what is left of it
        rows = csv_of(tmp_path, each)
        assert [row["may_stand"] for row in rows] == ["yes" if at else "no" for _, _, at, _ in stand]
        assert [rows[0][name] for name in TRUST_COLUMNS[1:]] == ["0.85", "0.1", repr(LEAST), "60"]
        assert [rows[1][name] for name in TRUST_COLUMNS[3:]] == ["", ""]
        assert (rows[2]["preference"] == "") is empty


def test_a_run_without_thresholds_is_exported_as_before(tmp_path: Path) -> None:
    results = judged_run(tmp_path, GOLD, SAID)
    made = as_json(results)
    assert "trust" not in made["run"]
    assert "may_stand" not in made["items"][0]["judgments"]["safety"]
    assert tuple(csv_of(tmp_path, results)[0]) == RUN_COLUMNS
    with pytest.raises(SetupError, match="is not known"):
        accepted_only(results)


def test_thresholds_of_another_calibration_say_nothing(tmp_path: Path) -> None:
    results = run_of(tmp_path, calibration="c" * 64)
    assert valid_trust(results) is None
    assert tuple(csv_of(tmp_path, results)[0]) == RUN_COLUMNS
    with pytest.raises(SetupError, match="calibrated otherwise"):
        accepted_only(results)


def test_pairs_and_annotations_are_of_accepted_labels_and_count_the_others_by_name(tmp_path: Path) -> None:
    results = run_of(tmp_path)
    pairs = ToolExport("dpo", tmp_path / "x.jsonl", "safety")
    before, after = (pairs.made(each, GOLD) for each in (results, accepted_only(results)))
    assert before.in_words == "2 pairs on safety; omitted: 1 tie, 1 without a label."
    said = "1 pair on safety; omitted: 1 tie, 1 without a label, 1 whose label may not stand."
    assert after.in_words == said
    after.write(tmp_path / "x.jsonl")
    lines = (tmp_path / "x.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["1"]
    made = ToolExport("alpaca-eval", tmp_path / "x.json", "safety").made(accepted_only(results), GOLD)
    assert made.in_words.endswith("; left out: 1 without a label, 1 whose label may not stand.")
    made.write(tmp_path / "x.json")
    assert len(json.loads((tmp_path / "x.json").read_text("utf-8"))) == 2


def test_thresholds_are_in_the_order_of_the_run(tmp_path: Path) -> None:
    kept = valid_trust(run_of(tmp_path, {"relevance": None, "safety": LEAST}))
    assert kept is not None
    assert list(kept.criteria) == ["safety", "relevance"]
