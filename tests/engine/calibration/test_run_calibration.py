"""A run's own readings are calibrated, also where it is calibrated already; what cannot be is left out."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.calibration.run_calibration import CalibratedRun, Wishes
from engine.core.errors import SetupError
from engine.core.judgments import Judgment
from engine.core.tables import Estimate
from engine.data.dataset import Dataset, load_dataset
from engine.metrics.evaluation import evaluate
from engine.metrics.intervals import share_interval
from engine.metrics.matching import System, match, system_of_run
from engine.report.calibration import calibration_warnings, quality_table
from engine.report.evaluation import in_short
from engine.report.run import changes_table
from engine.results.calibration import calibration_of
from engine.results.decision import decide_all
from tests.conftest import DEMO_ITEMS
from tests.judged import (
    GOOD,
    RATHER_A,
    SURE_A,
    SURE_B,
    SURE_GOOD,
    A,
    B,
    calibrate_run,
    dataset,
    stored_run,
    with_texts,
)
from tests.steps import results_of, there


@pytest.fixture(scope="module")
def system(demo_store: Path) -> System:
    return system_of_run(results_of(demo_store))


@pytest.fixture(scope="module")
def gold(demo_gold: Path) -> Dataset:
    """The labels of two criteria: each is fitted by itself, and the fits take most of the time."""
    read = load_dataset(demo_gold)
    others = [name for name in read.criteria if name not in ("relevance", "safety")]
    gone = [f"{name}_{part}" for name in others for part in ("preference", "explanation")]
    return replace(read, table=read.table.drop_columns(gone))


@pytest.fixture(scope="module")
def made(system: System, gold: Dataset) -> CalibratedRun:
    return calibrate_run(match(system, gold))


def test_each_labelled_criterion_is_calibrated(made: CalibratedRun, gold: Dataset) -> None:
    assert tuple(made.calibration.criteria) == gold.criteria
    assert made.calibration.criteria["safety"].items == DEMO_ITEMS
    assert made.calibration.measured["safety"]["items"] == DEMO_ITEMS
    assert not made.left_out
    for fitted in made.calibration.criteria.values():  # of a run in both orders of its first too
        assert all(each.first_order is not None for each in (fitted, *fitted.folds))
    assert calibration_of(made.calibration.as_json()).hash == made.calibration.hash


def test_a_calibrated_run_is_calibrated_from_its_own_readings(
    system: System, gold: Dataset, made: CalibratedRun
) -> None:
    again = system_of_run(there(system.results).calibrated(made.calibration))
    assert calibrate_run(match(again, gold)).calibration == made.calibration


def test_a_calibration_is_fitted_to_the_model_whatever_people_overrode(tmp_path: Path) -> None:
    count = 24
    labels = [A, B] * (count // 2)
    column = [SURE_A, RATHER_A] * (count // 2 - 1) + [None, SURE_A]
    judged = dataset({"safety": labels})
    plain = stored_run(tmp_path, judged, {"safety": column})
    overrides = [(str(number), "safety", GOOD, None) for number in range(1, count + 1)]
    overridden = stored_run(tmp_path, judged, {"safety": column}, overrides=overrides, key="another")
    made = calibrate_run(match(overridden, judged))
    assert made.calibration == calibrate_run(match(plain, judged)).calibration
    assert made.unscored == {"safety": 1}


@pytest.mark.slow
def test_a_calibration_that_gives_one_label_to_everything_is_called_so(tmp_path: Path) -> None:
    human = [A, B, B] * 8
    relevant = [A, GOOD] * 12  # which says nothing of safety
    gold = dataset({"safety": human, "relevance": relevant}, outputs=[("no", "long")] * 24)
    useful = [SURE_A if label is A else SURE_GOOD for label in relevant]
    judged = stored_run(tmp_path, gold, {"safety": [SURE_A] * 24, "relevance": useful})
    made = calibrate_run(match(judged, gold), wishes=Wishes(places_matter=True))
    assert judged.results is not None
    said = "This calibration gives one label to everything on safety (“B” for all 24 items"
    assert made.one_label_sentence(judged.results).startswith(
        f"{said}, cross-validated too). Its accuracy there is that of always"
    )
    assert made.best_baselines["safety"] == ("most_frequent", 2 / 3)
    _, safety, mean = quality_table(made.reports).rows
    every = [item.instruction for item in gold]
    assert safety[2:4] == [
        Estimate(1 / 3, share_interval([1.0, 0.0, 0.0] * 8, every)),
        Estimate(2 / 3, share_interval([0.0, 1.0, 1.0] * 8, every)),
    ]
    assert str(safety[4]).startswith("33.3 (-")  # on few items not surely more
    assert all(isinstance(value, Estimate) and value.ends for value in mean[2:5])
    *_, warned = calibration_warnings(made)
    assert warned.endswith("on these items: safety 66.7 % (most frequent 66.7 %).")
    assert not judged.results.one_label_sentence  # before it is applied
    results = judged.results.calibrated(made.calibration)
    after = system_of_run(results)
    assert [row[-1] for row in changes_table(judged.results, results).texts()] == ["B", ""]
    assert "calibrated on gold.tsv, to one label on safety (B)" in after.description
    in_words = " ".join(in_short(evaluate(match(after, gold))))
    assert f"{said}). Its accuracy there is that of always giving this label" in in_words


@pytest.mark.parametrize("method", ["as it was", "backwards", "one is missing"])
def test_items_of_the_fit_are_known_and_decided_without_it_in_any_file(
    system: System, gold: Dataset, made: CalibratedRun, method: str
) -> None:
    scored = {
        "as it was": gold,
        "backwards": replace(gold, table=gold.table[::-1], path=Path("other.tsv")),
        "one is missing": gold.only(gold.ids[1:]),
    }[method]
    matched = match(system_of_run(there(system.results).calibrated(made.calibration)), scored, partial=True)
    took_part = f"{len(scored)} of these {len(scored)} items took part in the fit of the calibration. "
    out_of_fold = "Items that took part in the fit are predicted out of fold, by a fit without them."
    (said,) = (caveat for caveat in matched.caveats if "took part" in caveat)
    assert said == f"{took_part}{out_of_fold}"
    for name, report in made.reports.items():
        by_id = dict(zip(gold.ids, np.exp(report.log_probs_after[0]), strict=True))
        for pair in matched.pairs[name]:
            assert there(pair.judgment).probabilities == pytest.approx(tuple(by_id[pair.item.id]))


def test_other_items_are_decided_by_all_labels_and_the_same_instruction_is_said(
    system: System, gold: Dataset
) -> None:
    some = calibrate_run(match(system, gold.only(gold.ids[: DEMO_ITEMS - 5]), partial=True)).calibration
    calibrated = there(system.results).calibrated(some)
    whole = replace(some.criteria["safety"], folds=(), fold_of={})
    rest = calibrated.judged[DEMO_ITEMS - 5 :]
    assert calibrated.judgments["safety"][DEMO_ITEMS - 5 :] == decide_all(rest, "safety", whole)
    caveats = " ".join(match(system_of_run(calibrated), gold).caveats)
    assert f"{DEMO_ITEMS - 5} of these {DEMO_ITEMS} items took part in the fit" in caveats


def test_of_a_calibration_of_before_it_is_said_by_its_dataset_or_that_nobody_knows(
    system: System, gold: Dataset, made: CalibratedRun
) -> None:
    whole = {name: replace(each, folds=(), fold_of={}) for name, each in made.calibration.criteria.items()}
    before = replace(made.calibration, criteria=whole, fitted_on=None)
    judged = system_of_run(there(system.results).calibrated(before))
    assert "The run is calibrated on these labels" in " ".join(match(judged, gold).caveats)
    part = match(judged, gold.only(gold.ids[1:]), partial=True)
    assert "which items took part in its fit is not known" in " ".join(part.caveats)


def test_without_information_neither_place_is_preferred_and_that_is_said(tmp_path: Path) -> None:
    """People prefer A twice as often; the judge says now A, now B, whatever is right."""
    human, read = [A, A, B] * 12, [SURE_A, SURE_B] * 18
    gold = dataset({"safety": human})
    judged = stored_run(tmp_path, gold, {"safety": read})
    assert judged.results is not None
    made = calibrate_run(match(judged, gold))
    assert made.calibration.alike
    assert made.calibration.criteria["safety"].strength is None
    assert made.best_baselines["safety"] == ("most_frequent", 1 / 2)
    results = judged.results.calibrated(made.calibration)
    said = [each for each in results.judgments["safety"] if isinstance(each, Judgment)]
    assert [(each.preference, each.place_decides) for each in said] == [(A, False), (B, False)] * 18
    assert "safety (“A or B” for all 36 items" in made.one_label_sentence(judged.results)
    made = calibrate_run(match(judged, gold), wishes=Wishes(places_matter=True))
    free = judged.results.calibrated(made.calibration)
    assert {each.place_decides for each in free.judgments["safety"] if isinstance(each, Judgment)} == {True}
    in_words = " ".join(in_short(evaluate(match(system_of_run(free), gold))))
    assert "the label depends on which response is A: 36 of 36" in in_words


def test_a_criterion_with_one_label_is_left_out_with_the_reason_and_one_label_of_each_refused(
    system: System, gold: Dataset
) -> None:
    first, *others = gold.texts("safety_preference").to_pylist()
    made = calibrate_run(match(system, with_texts(gold, safety_preference=[first, *("" for _ in others)])))
    assert "safety" not in made.calibration.criteria
    assert "1 human label of 1 instruction." in made.left_out["safety"]
    with pytest.raises(SetupError, match="No criterion can be calibrated"):
        calibrate_run(match(system, gold.head(1), partial=True))
