"""A calibration with parts comes back as it was written, as a file that versions without parts refuse."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from engine.calibration.jury import make_jury
from engine.core.errors import SetupError
from engine.core.features import LENGTHS, Feature, FeatureKind, FittedOn
from engine.core.items import Method, Order
from engine.core.judgments import CriterionCalibration
from engine.results.calibration import (
    Calibration,
    JudgeIdentity,
    judge_of_run,
    lengths_unknown,
    load_calibration,
    save_calibration,
)
from engine.results.run_results import RunResults
from engine.results.second_order import learned_from
from tests.judged import SURE_A, A, B, dataset, stored_run, system

ALONE = CriterionCalibration(0.5, (1.0, -1.0, 0.5, -0.5), 3.0, 99)
POINTWISE_GRADE = Feature(FeatureKind.RAW_PREDICTIONS, 2, Method.POINTWISE_GRADE)
FACTORS = {
    Feature(FeatureKind.RAW_PREDICTIONS, 1, Method.LABEL_TOKENS, Order.BA): 0.25,
    POINTWISE_GRADE: -0.125,
    Feature(FeatureKind.RAW_PREDICTIONS, method=Method.PERMUTED_LABELS): 0.75,
    Feature(FeatureKind.CRITERION, criterion="overall_quality"): 1 / 3,
    LENGTHS: 2.0,
}
HEAD = replace(ALONE, parts=FACTORS, penalty_of_features=30.0)
TOOK_PART = FittedOn(("1" * 12, "2" * 12), ("a" * 12,))
FOLDS = {"1" * 12: 1, "2" * 12: 0}


def calibration(**criteria: CriterionCalibration) -> Calibration:
    judge = JudgeIdentity("a model", "a" * 64, "1", ("AB", "BA"), "")
    return Calibration(judge, "gold.tsv", "e" * 64, criteria, {}, fitted_on=TOOK_PART)


def file_of(folder: Path, values: object) -> Path:
    path = folder / "calibration.json"
    path.write_text(json.dumps(values), "utf-8")
    return path


@pytest.mark.parametrize(
    "safety",
    [
        HEAD,
        replace(HEAD, parts={LENGTHS: 0.0}),
        replace(ALONE, first_order=HEAD),
        replace(
            HEAD, first_order=replace(HEAD, parts={POINTWISE_GRADE: 0.5}), folds=(ALONE, HEAD), fold_of=FOLDS
        ),
    ],
    ids=["all kinds", "a factor of 0", "in the first order", "in folds"],
)
def test_what_was_written_comes_back(tmp_path: Path, safety: CriterionCalibration) -> None:
    path, written = tmp_path / "calibration.json", calibration(safety=safety, relevance=ALONE)
    save_calibration(path, written)
    found = load_calibration(path)
    assert found == written
    assert found.hash == written.hash
    assert list(found.criteria["safety"].parts) == list(safety.parts)


@pytest.mark.parametrize(
    ("safety", "mark"),
    [
        (ALONE, 1),
        (replace(ALONE, folds=(ALONE, ALONE), fold_of=FOLDS), 1),
        (HEAD, 2),
        (replace(ALONE, folds=(ALONE, HEAD), fold_of=FOLDS), 2),
    ],
    ids=["none", "none in folds", "parts", "parts in a fold"],
)
def test_only_a_file_with_parts_is_of_the_new_version(safety: CriterionCalibration, mark: int) -> None:
    values = calibration(safety=safety, relevance=ALONE).as_json()
    assert values["tiebreak_calibration"] == mark
    assert ('"parts"' in json.dumps(values)) == (mark == 2)


def test_the_hash_is_another_with_another_factor_and_with_another_part() -> None:
    first = replace(ALONE, first_order=HEAD)
    found = {
        calibration(safety=each).hash
        for each in (
            ALONE,
            HEAD,
            replace(HEAD, parts=FACTORS | {POINTWISE_GRADE: -0.12500000001}),
            replace(ALONE, parts={POINTWISE_GRADE: 1.0}),
            replace(ALONE, parts={structs.replace(POINTWISE_GRADE, judge=1): 1.0}),
            replace(ALONE, parts={structs.replace(POINTWISE_GRADE, order=Order.AB): 1.0}),
            first,
            replace(first, first_order=replace(HEAD, parts=FACTORS | {LENGTHS: 2.5})),
            replace(ALONE, folds=(ALONE, ALONE), fold_of=FOLDS),
            replace(ALONE, folds=(ALONE, HEAD), fold_of=FOLDS),
        )
    }
    assert len(found) == 10
    assert calibration(safety=replace(HEAD, penalty_of_features=3.0)).hash == calibration(safety=HEAD).hash


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"kind": "mood"}, "parts[1].kind: found 'mood', which is not known"),
        ({"kind": None}, "parts[1].kind: found null"),
        ({"judge": -1}, "found -1, expected a whole number"),
        ({"judge": 1.0}, "found 1.0, expected a whole number"),
        ({"judge": True}, "found true, expected a whole number"),
        ({"way": "guessed"}, "parts[1].way: found 'guessed'"),
        ({"order": "both"}, "parts[1].order: found 'both'"),
        ({"factor": "much"}, "found 'much', expected a number"),
        ({"factor": "0.5"}, "found '0.5', expected a number"),
        ({"factor": True}, "found true, expected a number"),
        ({"factor": None}, "found null, expected a number"),
        ({"factor": 1e7}, "cannot be applied"),
        ({"factor": math.nan}, "holds NaN, which is not a usable number"),
    ],
)
def test_a_file_whose_part_is_none_is_refused(tmp_path: Path, change: dict[str, Any], problem: str) -> None:
    values = calibration(safety=HEAD).as_json()
    values["criteria"]["safety"]["parts"][1].update(change)
    with pytest.raises(SetupError) as error:
        load_calibration(file_of(tmp_path, values))
    assert problem in str(error.value)


def looking_at(*parts: Feature) -> CriterionCalibration:
    return replace(ALONE, parts=dict.fromkeys(parts, 0.5), penalty_of_features=3.0)


def run_and_fit(folder: Path, *parts: Feature, **settings: object) -> tuple[RunResults, Calibration]:
    """A run of letters in both orders, and a calibration for its judge that looks at these."""
    made = {"mode": "labels", "orders": ["AB", "BA"], "examples": "", **settings}
    found = stored_run(folder, dataset({"safety": [None] * 30}), {"safety": [SURE_A] * 30}, settings=made)
    assert found.results
    judge = judge_of_run(found.results.run.identity)
    return found.results, replace(calibration(safety=looking_at(*parts)), judge=judge)


JUDGE_2, LETTERS = (
    Feature(FeatureKind.RAW_PREDICTIONS, 2),
    Feature(FeatureKind.RAW_PREDICTIONS, method=Method.LABEL_TOKENS),
)
PERMUTED_LABELS, IN_BA = (
    Feature(FeatureKind.RAW_PREDICTIONS, method=Method.PERMUTED_LABELS),
    Feature(FeatureKind.RAW_PREDICTIONS, method=Method.LABEL_TOKENS, order=Order.BA),
)


def test_what_a_run_lacks_of_a_calibration_is_said_by_the_names_of_part_and_run(tmp_path: Path) -> None:
    results, fitted = run_and_fit(tmp_path, LETTERS, IN_BA, JUDGE_2, PERMUTED_LABELS)
    said = fitted.check_run(results.run, results.judged)
    assert said.startswith(
        "The calibration also uses judge 2; permuted label tokens, and run 1 has no such raw predictions"
    )
    assert (
        replace(fitted, criteria={"safety": looking_at(LETTERS, IN_BA)}).check_run(
            results.run, results.judged
        )
        == ""
    )


@pytest.mark.parametrize(
    ("part", "settings", "named"),
    [
        (JUDGE_2, {}, "judge 2"),
        (PERMUTED_LABELS, {}, "permuted label tokens"),
        (IN_BA, {"orders": ["AB"]}, "label tokens, BA"),
    ],
    ids=["judge", "way", "order"],
)
def test_a_calibration_of_whose_parts_a_run_has_none_is_refused(
    tmp_path: Path, part: Feature, settings: dict[str, object], named: str
) -> None:
    results, fitted = run_and_fit(tmp_path, part, **settings)
    with pytest.raises(SetupError, match=f"uses {named}: run 1 has no such raw predictions"):
        fitted.check_run(results.run, results.judged)


def test_in_a_panel_it_counts_who_spoke(tmp_path: Path) -> None:
    gold = dataset({"safety": [None] * 3})
    results = make_jury(
        [system({"safety": [A] * 3}), system({"safety": [B] * 3}, name="b.tsv")], gold
    ).results
    fitted = replace(calibration(safety=looking_at(JUDGE_2)), judge=judge_of_run(results.run.identity))
    assert fitted.check_run(results.run, results.judged) == ""
    third = replace(fitted, criteria={"safety": looking_at(JUDGE_2, Feature(FeatureKind.RAW_PREDICTIONS, 3))})
    assert "also uses judge 3, and the jury" in third.check_run(results.run, results.judged)


def test_a_run_without_lengths_is_refused_alike_wherever_they_would_count(tmp_path: Path) -> None:
    results, fitted = run_and_fit(tmp_path, LENGTHS)
    for refused in (
        lambda: fitted.check_run(results.run, results.judged),
        lambda: learned_from(results.run, results.judged, calibration=fitted),
    ):
        with pytest.raises(SetupError) as error:
            refused()
        assert str(error.value) == str(lengths_unknown("Run 1"))


@pytest.mark.parametrize("missing", ["kind", "factor"])
def test_a_file_whose_part_lacks_something_is_refused(tmp_path: Path, missing: str) -> None:
    values = calibration(safety=HEAD).as_json()
    del values["criteria"]["safety"]["parts"][0][missing]
    with pytest.raises(SetupError, match=f"'{missing}' is missing"):
        load_calibration(file_of(tmp_path, values))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"parts": None}, "is not a calibration"),
        ({"parts": ["letters"]}, "is not a calibration"),
        ({"strength_of_parts": "strong"}, "strength_of_parts: found 'strong', expected a number"),
    ],
)
def test_a_file_whose_parts_are_none_is_refused(tmp_path: Path, change: dict[str, Any], problem: str) -> None:
    values = calibration(safety=HEAD).as_json()
    values["criteria"]["safety"].update(change)
    with pytest.raises(SetupError) as error:
        load_calibration(file_of(tmp_path, values))
    assert problem in str(error.value)


def test_a_part_that_stands_there_twice_is_refused(tmp_path: Path) -> None:
    """As a key that is named twice is: nobody knows which factor is meant."""
    values = calibration(safety=HEAD).as_json()
    fitted = values["criteria"]["safety"]
    fitted["parts"] = [*fitted["parts"], fitted["parts"][1] | {"factor": 5.0}]
    with pytest.raises(SetupError):
        load_calibration(file_of(tmp_path, values))


def test_a_factor_that_no_fit_gives_cannot_be_applied() -> None:
    with pytest.raises(SetupError, match="and factors"):
        replace(HEAD, parts={LENGTHS: math.inf})
