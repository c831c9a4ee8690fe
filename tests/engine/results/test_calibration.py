"""A calibration comes back as it was written, fits one judge only, and is applied to stored readings."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from engine.calibration.jury import make_jury
from engine.core.errors import SetupError
from engine.core.items import Method, Order
from engine.core.judgments import (
    LENGTHS,
    CriterionCalibration,
    Explanation,
    Feature,
    FeatureKind,
    FittedOn,
    JudgedItem,
    Judgment,
    RawPrediction,
)
from engine.core.rubric import ELOQUENT, Criterion, PromptWording, Rubric
from engine.core.tables import Estimate
from engine.results.calibration import (
    Calibration,
    JudgeIdentity,
    asked_questions,
    judge_of_run,
    lengths_unknown,
    load_calibration,
    save_calibration,
)
from engine.results.decision import calibrated, decide, decide_all
from engine.results.run_results import RunResults
from engine.results.second_order import learned_from
from tests.judged import GOOD, SURE_A, A, B, dataset, judged_run, system
from tests.steps import refused

JUDGE = JudgeIdentity("a model", "a" * 64, "1", ("AB", "BA"), "")
ONE = CriterionCalibration(0.5, (1.0, -1.0, 0.5, -0.5), 3.0, 99)
FREQUENCIES = CriterionCalibration(0.0, (0.0, 0.0, 3.0, -3.0), None, 99)
CALIBRATION = Calibration(
    JUDGE, "gold.tsv", "e" * 64, {"safety": ONE, "relevance": FREQUENCIES}, {"safety": {}}
)


IN_FIT, LEFT_OUT, UNKNOWN = "1" * 64, "2" * 64, "3" * 64
OUT_OF_FOLD = replace(
    CALIBRATION,
    criteria={"safety": replace(ONE, folds=(FREQUENCIES, ONE), fold_of={IN_FIT[:12]: 1, LEFT_OUT[:12]: 0})},
    fitted_on=FittedOn((IN_FIT[:12], LEFT_OUT[:12]), ("a" * 12,)),
    accuracies={"before": Estimate(0.5, (0.4, 0.6)), "after": Estimate(0.45), "more": Estimate(-0.05)},
)


@pytest.mark.parametrize("written", [CALIBRATION, OUT_OF_FOLD])
def test_what_was_written_comes_back(tmp_path: Path, written: Calibration) -> None:
    path = tmp_path / "calibration.json"
    save_calibration(path, written)
    assert load_calibration(path) == written


def test_the_hash_of_a_calibration_of_before_stays_and_folds_are_part_of_another() -> None:
    whole = replace(OUT_OF_FOLD, criteria={"safety": ONE})
    assert whole.hash == "50a6baf5ab22901c23c040c7dbe07dbae0867dad25e46ab6c7728fb7583a0d5e"
    assert OUT_OF_FOLD.hash != whole.hash


def test_an_item_that_took_part_is_decided_by_what_was_fitted_without_it() -> None:
    safety = OUT_OF_FOLD.criteria["safety"]
    log_probs = (float(np.log(0.7)), *(float(np.log(0.1)),) * 3)
    items = [
        JudgedItem(place, "same id", content_hash, {"safety": (RawPrediction(Order.AB, log_probs),)})
        for place, content_hash in enumerate((UNKNOWN, LEFT_OUT, IN_FIT))
    ]
    found = decide_all(items, "safety", safety)
    # Of the second by the frequencies without it.
    assert [getattr(each, "preference", None) for each in found] == [A, GOOD, A]
    assert found[1] == decide(items[1], "safety", FREQUENCIES)


def test_what_decides_one_order_alone_comes_back_and_older_files_are_free_ones(tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    both = replace(ONE, first_order=FREQUENCIES)
    save_calibration(path, replace(CALIBRATION, criteria={"safety": both}, alike=True))
    found = load_calibration(path)
    assert found.alike
    assert found.in_words == "A and B are treated alike."
    assert found.criteria == {"safety": both}
    assert found.hash != replace(found, criteria={"safety": ONE}).hash
    values = json.loads(path.read_text("utf-8"))
    del values["a_and_b_alike"], values["criteria"]["safety"]["first_order"]
    path.write_text(json.dumps(values), "utf-8")
    before = load_calibration(path)
    assert not before.alike
    assert before.in_words.startswith("A and B are not treated alike. It was not fitted for items")
    assert before.criteria == {"safety": ONE}


def test_an_item_of_one_order_is_decided_by_what_was_fitted_for_it() -> None:
    reading = RawPrediction(Order.AB, (-0.5, -2.0, -2.0, -3.0))
    of_one, of_both = (
        JudgedItem(0, "1", "", {"safety": raw_predictions})
        for raw_predictions in ((reading,), (reading, replace(reading, order=Order.BA)))
    )
    made = replace(ONE, first_order=FREQUENCIES)
    assert decide(of_one, "safety", made) == decide(of_one, "safety", FREQUENCIES)
    assert decide(of_both, "safety", made) == decide(of_both, "safety", ONE)


@pytest.mark.parametrize(
    ("other", "found"),
    [
        (replace(JUDGE, model_hash="b" * 64), "the model a model (aaaaaaaaaaaa), not for a model (bbbbb"),
        (replace(JUDGE, prompt_version="2"), "prompt version 1, not for 2"),
        (replace(JUDGE, orders=("AB",)), "orders AB and BA, not for AB"),
        (replace(JUDGE, examples="c" * 64), "labelled examples none, not for cccccccccccc"),
    ],
)
def test_another_judge_is_refused(other: JudgeIdentity, found: str) -> None:
    assert found in refused(lambda: CALIBRATION.check_fits(other)).problem
    CALIBRATION.check_fits(replace(JUDGE, model_name="as its file is called now"))


RUBRIC = Rubric("mine", (Criterion("safety", "Which does less harm?"), Criterion("wit", "Which is funnier?")))
ASKED = replace(JUDGE, asked=asked_questions(RUBRIC))
OF_MINE = replace(CALIBRATION, judge=ASKED, criteria={"safety": ONE, "wit": ONE})


def asked_in(rubric: Rubric) -> JudgeIdentity:
    return replace(JUDGE, asked=asked_questions(rubric))


def changed(**values: Any) -> Rubric:
    """RUBRIC with another first criterion."""
    first, second = RUBRIC.criteria
    return replace(RUBRIC, criteria=(replace(first, **values), second))


@pytest.mark.parametrize(
    ("other", "found"),
    [
        (changed(question="Which is safer?"), "safety “Which does less harm?”, not for “Which is safer?”"),
        (changed(good="It warns."), "the same question on safety in another prompt: with other meanings"),
        (replace(RUBRIC, wording=PromptWording(verdict="Urteil:")), "in another prompt: with other meanings"),
        (Rubric("other", (Criterion("tact", "Which?"),)), "the criteria safety, wit, not for tact"),
        (ELOQUENT, "the question on safety “Which does less harm?”"),
    ],
)
def test_another_question_is_refused(other: Rubric, found: str) -> None:
    assert found in refused(lambda: OF_MINE.check_fits(asked_in(other))).problem


def test_the_same_question_in_another_rubric_is_fine(tmp_path: Path) -> None:
    save_calibration(tmp_path / "mine.json", OF_MINE)
    assert load_calibration(tmp_path / "mine.json") == OF_MINE
    OF_MINE.check_fits(ASKED)
    OF_MINE.check_fits(asked_in(Rubric("other", (RUBRIC.criteria[1], Criterion("tact", "Which?")))))
    OF_MINE.check_fits(asked_in(replace(RUBRIC, name="renamed", tie_threshold=3.0, source="elsewhere")))


def test_a_file_of_before_is_for_the_questions_of_the_task(tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    values = CALIBRATION.as_json()
    assert values["made_for"].pop("asked") == {}
    path.write_text(json.dumps(values), "utf-8")
    before = load_calibration(path)
    before.check_fits(asked_in(ELOQUENT.only(("safety",))))
    with pytest.raises(SetupError, match="the question on safety “Which response is less harmful"):
        before.check_fits(asked_in(RUBRIC))


def without(key: str) -> Callable[[dict[str, object]], object]:
    return lambda value: {name: content for name, content in value.items() if name != key}


def _numbers(scale: object) -> dict[str, object]:
    biases = dict.fromkeys(["A", "B", "both_good", "both_bad"], 0)
    return {"scale": scale, "biases": biases, "strength": None, "items": 1}


def _with(**more: object) -> Callable[[dict[str, object]], object]:
    return lambda value: value | more


def _with_scale(scale: object, **more: object) -> Callable[[dict[str, object]], object]:
    return _with(criteria={"safety": _numbers(scale) | more})


def _with_accuracy(**found: object) -> Callable[[dict[str, object]], object]:
    return _with(mean_accuracy={"before": found})


def _written(old: str, new: str) -> Callable[[dict[str, object]], object]:
    return lambda value: json.dumps(value).replace(old, new)


def refusal(folder: Path, values: object) -> str:
    """What is said of a file of these values, or of this text."""
    path = folder / "calibration.json"
    path.write_text(values if isinstance(values, str) else json.dumps(values), "utf-8")
    return str(refused(lambda: load_calibration(path)))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda _value: "{", "is not a calibration"),
        (lambda _value: [], "is not a calibration"),
        (without("tiebreak_calibration"), "'tiebreak_calibration' is missing"),
        (without("made_for"), "'made_for' is missing"),
        (_with(tiebreak_calibration=3), "its version is 3"),
        (_with(criteria={"safety": {"scale": 1}}), "safety: 'biases' is missing"),
        (_with_scale(-1), "cannot be applied"),
        (_with_scale(1e308), "cannot be applied"),
        (_with_scale(math.nan), "holds NaN, which is not a usable number"),
        (_with_scale("much"), "criteria.safety.scale: found 'much', expected a number"),
        (_with_scale("1"), "found '1', expected a number"),
        (_with_scale(True), "scale: found true"),
        (_with_scale(1, items=5.9), "found 5.9, expected a whole number"),
        (_written('"strength": 3.0', '"strength": 3.0, "strength": 4.0'), "names the key 'strength' 2 times"),
        (_with(measured={"safety": -math.inf}), "holds -Infinity, which is not a usable number"),
        (_written("0.5", "1e999"), "holds 1e999, which is not a usable number"),
        (lambda _value: "[" * 100_000, "nested too deeply"),
        (_with(took_part={"items": ["x"], "instructions": []}), "items[0]: found 'x'"),
        (_with_scale(1, folds=[_numbers(1) | {"left_out": [0]}]), "omits item 0, which it cannot"),
        (_with_accuracy(share=2, interval=None), "before.share: found 2"),
        (_with_accuracy(share=0.5, interval=[0.4]), "expected a list of length 2"),
    ],
)
def test_a_file_that_is_none_is_refused(
    tmp_path: Path, change: Callable[[dict[str, object]], object], problem: str
) -> None:
    assert problem in refusal(tmp_path, change(CALIBRATION.as_json()))


def test_decisions_are_calibrated_and_old_explanations_are_out_of_date() -> None:
    log_probs = (float(np.log(0.7)), *(float(np.log(0.1)),) * 3)
    raw_predictions = {"safety": (RawPrediction(Order.AB, log_probs),)}
    item = JudgedItem(0, "1", "", raw_predictions, {"safety": Explanation("A is kinder.", A)})
    before, after = decide(item, "safety"), decide(item, "safety", FREQUENCIES)
    assert isinstance(before, Judgment)
    assert isinstance(after, Judgment)
    assert (before.preference, before.stale) == (A, False)
    assert (after.preference, after.stale) == (GOOD, True)
    assert after.raw_predictions == before.raw_predictions
    assert after.probabilities == pytest.approx(np.exp(calibrated(np.array(log_probs), FREQUENCIES)))


# A calibration with parts comes back as it was written, as a file that versions without parts refuse.


POINTWISE_GRADE = Feature(FeatureKind.RAW_PREDICTIONS, 2, Method.POINTWISE_GRADE)
FACTORS = {
    Feature(FeatureKind.RAW_PREDICTIONS, 1, Method.LABEL_TOKENS, Order.BA): 0.25,
    POINTWISE_GRADE: -0.125,
    Feature(FeatureKind.RAW_PREDICTIONS, method=Method.PERMUTED_LABELS): 0.75,
    Feature(FeatureKind.CRITERION, criterion="overall_quality"): 1 / 3,
    LENGTHS: 2.0,
}
HEAD = replace(ONE, parts=FACTORS, penalty_of_features=30.0)
TOOK_PART = FittedOn(("1" * 12, "2" * 12), ("a" * 12,))
FOLDS = {"1" * 12: 1, "2" * 12: 0}


def calibration(**criteria: CriterionCalibration) -> Calibration:
    return replace(CALIBRATION, criteria=criteria, measured={}, fitted_on=TOOK_PART)


PARTS = calibration(safety=HEAD).as_json()["criteria"]["safety"]["parts"]


@pytest.mark.parametrize(
    "safety",
    [
        HEAD,
        replace(HEAD, parts={LENGTHS: 0.0}),
        replace(ONE, first_order=HEAD),
        replace(
            HEAD, first_order=replace(HEAD, parts={POINTWISE_GRADE: 0.5}), folds=(ONE, HEAD), fold_of=FOLDS
        ),
    ],
    ids=["all kinds", "a factor of 0", "in the first order", "in folds"],
)
def test_what_was_written_with_parts_comes_back(tmp_path: Path, safety: CriterionCalibration) -> None:
    path, written = tmp_path / "calibration.json", calibration(safety=safety, relevance=ONE)
    save_calibration(path, written)
    found = load_calibration(path)
    assert found == written
    assert found.hash == written.hash
    assert list(found.criteria["safety"].parts) == list(safety.parts)


@pytest.mark.parametrize(
    ("safety", "mark"),
    [
        (ONE, 1),
        (replace(ONE, folds=(ONE, ONE), fold_of=FOLDS), 1),
        (HEAD, 2),
        (replace(ONE, folds=(ONE, HEAD), fold_of=FOLDS), 2),
    ],
    ids=["none", "none in folds", "parts", "parts in a fold"],
)
def test_only_a_file_with_parts_is_of_the_new_version(safety: CriterionCalibration, mark: int) -> None:
    values = calibration(safety=safety, relevance=ONE).as_json()
    assert values["tiebreak_calibration"] == mark
    assert ('"parts"' in json.dumps(values)) == (mark == 2)


def test_the_hash_is_another_with_another_factor_and_with_another_part() -> None:
    first = replace(ONE, first_order=HEAD)
    found = {
        calibration(safety=each).hash
        for each in (
            ONE,
            HEAD,
            replace(HEAD, parts=FACTORS | {POINTWISE_GRADE: -0.12500000001}),
            replace(ONE, parts={POINTWISE_GRADE: 1.0}),
            replace(ONE, parts={structs.replace(POINTWISE_GRADE, judge=1): 1.0}),
            replace(ONE, parts={structs.replace(POINTWISE_GRADE, order=Order.AB): 1.0}),
            first,
            replace(first, first_order=replace(HEAD, parts=FACTORS | {LENGTHS: 2.5})),
            replace(ONE, folds=(ONE, ONE), fold_of=FOLDS),
            replace(ONE, folds=(ONE, HEAD), fold_of=FOLDS),
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
    assert problem in refusal(tmp_path, values)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"parts": None}, "is not a calibration"),
        ({"parts": ["letters"]}, "is not a calibration"),
        ({"strength_of_parts": "strong"}, "strength_of_parts: found 'strong', expected a number"),
        # As a key that is named twice is: nobody knows which factor is meant.
        ({"parts": [PARTS[0], PARTS[1], PARTS[1] | {"factor": 5.0}]}, ""),
        *(({"parts": [without(name)(PARTS[0])]}, f"'{name}' is missing") for name in ("kind", "factor")),
    ],
)
def test_a_file_whose_parts_are_none_is_refused(tmp_path: Path, change: dict[str, Any], problem: str) -> None:
    values = calibration(safety=HEAD).as_json()
    values["criteria"]["safety"].update(change)
    assert problem in refusal(tmp_path, values)


def looking_at(*parts: Feature) -> CriterionCalibration:
    return replace(ONE, parts=dict.fromkeys(parts, 0.5), penalty_of_features=3.0)


def run_and_fit(folder: Path, *parts: Feature, **settings: object) -> tuple[RunResults, Calibration]:
    """A run of letters in both orders, and a calibration for its judge that looks at these."""
    made = {"mode": "labels", "orders": ["AB", "BA"], "examples": "", **settings}
    found = judged_run(folder, dataset({"safety": [None] * 30}), {"safety": [SURE_A] * 30}, settings=made)
    judge = judge_of_run(found.run.identity)
    return found, replace(calibration(safety=looking_at(*parts)), judge=judge)


JUDGE_2, LETTERS, PERMUTED_LABELS, IN_BA = (
    Feature(FeatureKind.RAW_PREDICTIONS, *asked)
    for method in (Method.LABEL_TOKENS,)
    for asked in ((2,), (0, method), (0, Method.PERMUTED_LABELS), (0, method, Order.BA))
)


def test_what_a_run_lacks_of_a_calibration_is_said_by_the_names_of_part_and_run(tmp_path: Path) -> None:
    results, fitted = run_and_fit(tmp_path, LETTERS, IN_BA, JUDGE_2, PERMUTED_LABELS)
    said = "The calibration also uses judge 2; permuted label tokens, and run 1 has no such raw predictions"
    assert fitted.check_run(results.run, results.judged).startswith(said)
    known = replace(fitted, criteria={"safety": looking_at(LETTERS, IN_BA)})
    assert known.check_run(results.run, results.judged) == ""


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
    judges = [system({"safety": [A] * 3}), system({"safety": [B] * 3}, name="b.tsv")]
    results = make_jury(judges, gold).results
    fitted = replace(calibration(safety=looking_at(JUDGE_2)), judge=judge_of_run(results.run.identity))
    assert fitted.check_run(results.run, results.judged) == ""
    third = replace(fitted, criteria={"safety": looking_at(JUDGE_2, Feature(FeatureKind.RAW_PREDICTIONS, 3))})
    assert "also uses judge 3, and the jury" in third.check_run(results.run, results.judged)


def test_a_run_without_lengths_is_refused_alike_wherever_they_would_count(tmp_path: Path) -> None:
    results, fitted = run_and_fit(tmp_path, LENGTHS)
    for use in (
        lambda: fitted.check_run(results.run, results.judged),
        lambda: learned_from(results.run, results.judged, calibration=fitted),
    ):
        assert str(refused(use)) == str(lengths_unknown("Run 1"))


def test_a_factor_that_no_fit_gives_cannot_be_applied() -> None:
    with pytest.raises(SetupError, match="and factors"):
        replace(HEAD, parts={LENGTHS: math.inf})
