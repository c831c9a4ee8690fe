"""Two judges in turn: whose label it is, how confident, why; what is unscored; how it is kept and told."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from engine.calibration.cascade import make_cascade
from engine.calibration.jury import Jury
from engine.core.codec import plain, record_of
from engine.core.items import HumanLabel
from engine.core.judgments import CriterionCalibration, FittedOn, Judgment, Unscored
from engine.metrics.matching import system_of_run
from engine.report.methods import labels_of_system
from engine.report.run import method_sections, run_facts
from engine.results.calibration import Calibration, judge_of_run
from engine.results.exports import as_json, write_results_csv
from engine.results.run_results import RunResults, load_results
from engine.results.trust import ConfidenceMeasure, KeptThreshold, KeptTrust
from engine.settings.identity import EXAMPLES_SHOWN
from engine.store.run_store import RunStore
from tests.judged import GOOD, SURE_A, SURE_B, SURE_GOOD, A, B, Columns, Probabilities, dataset, judged_run

FOUR = dataset({"safety": [A, B, GOOD, A], "relevance": [A, B, GOOD, A]})
UNSURE: Probabilities = (0.2, 0.5, 0.2, 0.1)
FIRST: Columns = {"safety": [SURE_A, UNSURE, None, UNSURE], "relevance": [SURE_GOOD] * 4}
SECOND: Columns = {"safety": [SURE_B, SURE_GOOD, SURE_GOOD, None], "relevance": [SURE_B] * 4}
HALF_HALF = CriterionCalibration(0.0, (1.0, 1.0, -1.0, -1.0), 1.0, 9)
"""It trusts nothing, and to it A and B are equally likely: what the judge said decides between them."""


def kept(**confidence: float | None) -> KeptTrust:
    criteria = {name: KeptThreshold(confidence=each) for name, each in confidence.items()}
    return KeptTrust(target=0.8, risk=0.1, dataset="gold.tsv", calibration=None, criteria=criteria)


def replaced(before: KeptTrust, **criteria: KeptThreshold) -> KeptTrust:
    return structs.replace(before, criteria={**before.criteria, **criteria})


def calibration_of(results: RunResults, fitted: CriterionCalibration, **more: Any) -> Calibration:
    return Calibration(
        judge_of_run(results.run.identity), "gold.tsv", "h" * 64, {"safety": fitted}, {}, **more
    )


EIGHT_TENTHS = kept(safety=0.8, relevance=0.8)


def two_runs(
    folder: Path, first: Columns = FIRST, second: Columns = SECOND, shown: FittedOn | None = None
) -> tuple[RunResults, RunResults]:
    """Runs 1 and 2 of a store; the first model explains as 1, the other as 2. `shown`: to the second."""
    one = judged_run(folder, FOUR, first, explanations={"safety": "Of 1."}, key="one", model_name="small")
    more = {}
    if shown is not None:
        settings = {"mode": "explain", "orders": ["AB", "BA"], "context": 4096, "examples": "e" * 64}
        more = {"settings": settings, "manifest": {EXAMPLES_SHOWN: plain(shown)}}
    other = judged_run(
        folder, FOUR, second, explanations={"safety": "Of 2."}, key="two", model_name="large", **more
    )
    return one, other


def labels(made: Jury, criterion: str = "safety") -> list[HumanLabel | None]:
    return [made.results.label(judgment) for judgment in made.results.judgments[criterion]]


def kept_run(made: Jury, folder: Path) -> RunResults:
    with RunStore(folder / "runs.sqlite") as store:
        return load_results(store, made.keep(store).id)


def test_a_label_is_the_first_ones_where_it_may_stand_else_the_second_ones(tmp_path: Path) -> None:
    results = kept_run(make_cascade(*two_runs(tmp_path), EIGHT_TENTHS, FOUR), tmp_path)
    safety, relevance = results.judgments["safety"], results.judgments["relevance"]
    assert [results.label(each) for each in safety] == [A, GOOD, GOOD, None]
    assert [results.label(each) for each in relevance] == [GOOD] * 4
    # Not those of a panel of two, of which one has no answer.
    assert [results.probabilities(each) for each in safety[:3]] == [
        pytest.approx(each) for each in (SURE_A, SURE_GOOD, SURE_GOOD)
    ]
    assert [each.raw_predictions[0].judge for each in safety if isinstance(each, Judgment)] == [1, 2, 2]
    assert [results.explanation(each) for each in safety] == ["Of 1.", "Of 2.", "Of 2.", None]


def test_without_an_answer_of_the_second_it_is_unscored_though_the_first_has_one(tmp_path: Path) -> None:
    one, other = two_runs(tmp_path)
    for second, reasons in ((other, ["too long"]), (other.only({"1", "2"}), ["not judged"] * 2)):
        column = make_cascade(one, second, EIGHT_TENTHS, FOUR).results.judgments["safety"]
        found = [each.reason for each in column if isinstance(each, Unscored)]
        assert found == [f"run 2: {reason}" for reason in reasons]


def test_a_criterion_of_which_nothing_may_stand_is_all_the_second_ones(tmp_path: Path) -> None:
    judges = two_runs(tmp_path)
    made = make_cascade(*judges, kept(safety=0.0, relevance=None), FOUR)
    assert labels(made) == [A, B, GOOD, B]  # 0: whatever the first has a label for
    assert labels(made, "relevance") == [B] * 4
    assert made.results.run.cascade_in_words == "run 1, else run 2 below 0 on safety, for all on relevance"
    by_agreement = KeptThreshold(confidence=0.8, measure=ConfidenceMeasure.AGREEMENT)
    made = make_cascade(*judges, replaced(EIGHT_TENTHS, relevance=by_agreement), FOUR)
    said = "below 0.8 on safety, below 0.8 of agreement on relevance"
    assert made.results.run.cascade_in_words == f"run 1, else run 2 {said}"


def test_the_label_of_a_tie_stays_what_its_judge_chose(tmp_path: Path) -> None:
    one, other = two_runs(tmp_path, {"safety": [SURE_A, SURE_B] * 2}, {"safety": [SURE_GOOD] * 4})
    one = one.calibrated(calibration_of(one, HALF_HALF))
    made = make_cascade(one, other, kept(safety=0.4), FOUR)
    assert labels(made) == [A, B, A, B]
    first = made.results.judgments["safety"][0]
    assert made.results.probabilities(first) == pytest.approx(one.probabilities(one.judgments["safety"][0]))


def test_probabilities_are_those_that_calibrations_give_and_another_calibration_is_another_cascade(
    tmp_path: Path,
) -> None:
    one, other = two_runs(tmp_path)
    sharp = CriterionCalibration(2.0, (0.0,) * 4, 1.0, 9)
    by = calibration_of(other, sharp)
    as_read, sharper = (make_cascade(one, each, EIGHT_TENTHS, FOUR) for each in (other, other.calibrated(by)))
    judgment = sharper.results.judgments["safety"][1]
    expected = other.calibrated(by).judgments["safety"][1]
    assert isinstance(judgment, Judgment)
    assert isinstance(expected, Judgment)
    assert judgment.probabilities == pytest.approx(expected.probabilities)
    assert sharper.identity.key != as_read.identity.key


def test_what_is_kept_says_that_it_is_a_cascade(tmp_path: Path) -> None:
    results = kept_run(make_cascade(*two_runs(tmp_path), EIGHT_TENTHS, FOUR), tmp_path)
    run = results.run
    assert (run.title, run.complete) == ("Cascade 3", True)
    assert run.stem == "cascade-3-gold-small,-else-large"
    facts = dict(run_facts(results).pairs)
    assert facts["decided by"] == "run 1, else run 2 below 0.8"
    assert method_sections(results, FOUR) == []
    said = " ".join(each.text for each in labels_of_system(system_of_run(results), None))
    assert "Two judges decide in turn" in said
    assert "run 1, else run 2 below 0.8" in said
    assert not results.judges_missing_sentence
    manifest = json.loads(json.dumps(as_json(results, FOUR)))
    assert '"cascade"' in json.dumps(manifest["run"])
    write_results_csv(tmp_path / "all.csv", results, FOUR)
    assert (tmp_path / "all.csv").stat().st_size


def test_it_knows_which_labels_its_judges_saw(tmp_path: Path) -> None:
    shown = FittedOn.of([FOUR[1]])
    one, other = two_runs(tmp_path, shown=shown)
    made = make_cascade(one, other, EIGHT_TENTHS, FOUR)
    assert made.identity.examples
    assert made.manifest[EXAMPLES_SHOWN] == plain(shown)
    # Without folds a calibration saw the labels that it was fitted to, too.
    one = one.calibrated(calibration_of(one, HALF_HALF, fitted_on=FittedOn.of([FOUR[2]])))
    both = record_of(make_cascade(one, other, EIGHT_TENTHS, FOUR).manifest[EXAMPLES_SHOWN], FittedOn)
    assert both.overlap(FOUR).items == 2
    # An earlier version did not keep what was shown: see `trust`.
    unknown = replace(other, run=replace(other.run, manifest={}))
    made = make_cascade(one, unknown, EIGHT_TENTHS, FOUR)
    assert made.identity.examples
    assert EXAMPLES_SHOWN not in made.manifest
