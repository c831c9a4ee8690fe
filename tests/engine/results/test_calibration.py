"""A calibration comes back as it was written, fits one judge only, and is applied to stored readings."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.core.errors import SetupError
from engine.core.features import FittedOn
from engine.core.items import Order, Preference
from engine.core.judgments import CriterionCalibration, Explanation, JudgedItem, Judgment, RawPrediction
from engine.core.rubric import ELOQUENT, Criterion, PromptWording, Rubric
from engine.core.tables import Estimate
from engine.results.calibration import (
    Calibration,
    JudgeIdentity,
    asked_questions,
    load_calibration,
    save_calibration,
)
from engine.results.decision import calibrated, decide, decide_all

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
    assert [getattr(each, "preference", None) for each in found] == [
        Preference.A,
        Preference.BOTH_GOOD,  # by the frequencies without it
        Preference.A,
    ]
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
        (
            replace(JUDGE, model_hash="b" * 64),
            "the model a model (aaaaaaaaaaaa), not for a model (bbbbbbbbbbbb)",
        ),
        (replace(JUDGE, prompt_version="2"), "prompt version 1, not for 2"),
        (replace(JUDGE, orders=("AB",)), "orders AB and BA, not for AB"),
        (replace(JUDGE, examples="c" * 64), "labelled examples none, not for cccccccccccc"),
    ],
)
def test_another_judge_is_refused(other: JudgeIdentity, found: str) -> None:
    with pytest.raises(SetupError) as error:
        CALIBRATION.check_fits(other)
    assert found in error.value.problem
    CALIBRATION.check_fits(JUDGE)


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
    with pytest.raises(SetupError) as error:
        OF_MINE.check_fits(asked_in(other))
    assert found in error.value.problem


def test_the_same_question_in_another_rubric_is_fine() -> None:
    OF_MINE.check_fits(ASKED)
    OF_MINE.check_fits(asked_in(Rubric("other", (RUBRIC.criteria[1], Criterion("tact", "Which?")))))
    OF_MINE.check_fits(asked_in(replace(RUBRIC, name="renamed", tie_threshold=3.0, source="elsewhere")))


def test_a_file_of_before_is_for_the_questions_of_the_task(tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    save_calibration(path, CALIBRATION)
    values = json.loads(path.read_text("utf-8"))
    assert values["made_for"].pop("asked") == {}
    path.write_text(json.dumps(values), "utf-8")
    before = load_calibration(path)
    before.check_fits(asked_in(ELOQUENT.only(("safety",))))
    with pytest.raises(SetupError, match="the question on safety “Which response is less harmful"):
        before.check_fits(asked_in(RUBRIC))


def test_what_was_asked_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    save_calibration(path, OF_MINE)
    assert load_calibration(path) == OF_MINE


def test_a_model_that_is_called_otherwise_is_the_same_judge() -> None:
    CALIBRATION.check_fits(replace(JUDGE, model_name="as its file is called now"))


def without(key: str) -> Callable[[dict[str, object]], object]:
    return lambda value: {name: content for name, content in value.items() if name != key}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda _value: "{", "is not a calibration"),
        (lambda _value: [], "is not a calibration"),
        (without("tiebreak_calibration"), "'tiebreak_calibration' is missing"),
        (without("made_for"), "'made_for' is missing"),
        (lambda value: value | {"tiebreak_calibration": 3}, "its version is 3"),
        (
            lambda value: value | {"criteria": {"safety": {"scale": 1}}},
            "safety: 'biases' is missing",
        ),
        (lambda value: value | {"criteria": {"safety": _numbers(scale=-1)}}, "cannot be applied"),
        (
            lambda value: value | {"criteria": {"safety": _numbers(scale="much")}},
            "criteria.safety.scale: found 'much', expected a number",
        ),
        (lambda value: value | {"criteria": {"safety": _numbers(scale="1")}}, "found '1', expected a number"),
        (
            lambda value: value | {"criteria": {"safety": _numbers(scale=True)}},
            "scale: found true",
        ),
        (
            lambda value: value | {"criteria": {"safety": _numbers(scale=1) | {"items": 5.9}}},
            "found 5.9, expected a whole number",
        ),
        (
            lambda value: json.dumps(value).replace('"strength": 3.0', '"strength": 3.0, "strength": 4.0'),
            "an object that names the key 'strength' 2 times",
        ),
        (lambda value: value | {"criteria": {"safety": _numbers(scale=1e308)}}, "cannot be applied"),
        (
            lambda value: value | {"criteria": {"safety": _numbers(scale=math.nan)}},
            "holds NaN, which is not a usable number",
        ),
        (
            lambda value: value | {"measured": {"safety": -math.inf}},
            "holds -Infinity, which is not a usable number",
        ),
        (
            lambda value: json.dumps(value).replace("0.5", "1e999"),
            "holds 1e999, which is not a usable number",
        ),
        (lambda _value: "[" * 100_000, "nested too deeply"),
        (
            lambda value: value | {"took_part": {"items": ["x"], "instructions": []}},
            "items[0]: found 'x'",
        ),
        (
            lambda value: value | {"criteria": {"safety": _numbers(scale=1) | {"folds": [_fold(0)]}}},
            "omits item 0, which it cannot",
        ),
        (
            lambda value: _with_accuracy(value, share=2, interval=None),
            "before.share: found 2",
        ),
        (
            lambda value: _with_accuracy(value, share=0.5, interval=[0.4]),
            "expected a list of length 2",
        ),
    ],
)
def test_a_file_that_is_none_is_refused(
    tmp_path: Path, change: Callable[[dict[str, object]], object], problem: str
) -> None:
    changed = change(CALIBRATION.as_json())
    path = tmp_path / "other.json"
    path.write_text(changed if isinstance(changed, str) else json.dumps(changed), encoding="utf-8")
    with pytest.raises(SetupError) as error:
        load_calibration(path)
    assert problem in str(error.value)


def _with_accuracy(value: dict[str, object], **found: object) -> dict[str, object]:
    return value | {"mean_accuracy": {"before": found}}


def _fold(place: int) -> dict[str, object]:
    return _numbers(scale=1) | {"left_out": [place]}


def _numbers(scale: object) -> dict[str, object]:
    biases = dict.fromkeys(["A", "B", "both_good", "both_bad"], 0)
    return {"scale": scale, "biases": biases, "strength": None, "items": 1}


def test_decisions_are_calibrated_and_old_explanations_are_out_of_date() -> None:
    log_probs = (float(np.log(0.7)), *(float(np.log(0.1)),) * 3)
    item = JudgedItem(
        position=0,
        item_id="1",
        content_hash="",
        raw_predictions={"safety": (RawPrediction(Order.AB, log_probs),)},
        explanations={"safety": Explanation("A is kinder.", Preference.A)},
    )
    before, after = decide(item, "safety"), decide(item, "safety", FREQUENCIES)
    assert isinstance(before, Judgment)
    assert isinstance(after, Judgment)
    assert (before.preference, before.stale) == (Preference.A, False)
    assert (after.preference, after.stale) == (Preference.BOTH_GOOD, True)
    assert after.raw_predictions == before.raw_predictions
    assert after.probabilities == pytest.approx(np.exp(calibrated(np.array(log_probs), FREQUENCIES)))
