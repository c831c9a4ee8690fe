"""Judges that lean to the first place: what their panel makes of it, and what the second order adds.

The labels are drawn, and each judge says log(p) = 1.5 for the label + noise + a lean to what it sees first.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.calibration.jury import make_jury
from engine.calibration.run_calibration import SECOND_ORDER, CalibratedRun, calibrate_run
from engine.core.errors import SetupError
from engine.core.items import PREFERENCES, Order
from engine.core.judgments import CriterionCalibration, Feature, FeatureKind, Judgment, RawPrediction
from engine.core.numeric import FloatArray, log_softmax
from engine.data.dataset import Dataset
from engine.metrics.matching import System, match, system_of_run
from engine.results.calibration import judge_of_run
from engine.results.decision import SWAPPED, decide
from tests.judged import dataset, stored_run

ITEMS = 160
TOKEN_BIAS = np.array([3.0, 0, 0, 0])


@pytest.fixture(scope="module")
def gold() -> Dataset:
    places = np.random.default_rng(0).choice(4, ITEMS, p=[0.4, 0.4, 0.1, 0.1]).tolist()
    return dataset({"safety": [PREFERENCES[place] for place in places]})


def position_bias(folder: Path, gold: Dataset, name: str, orders: Sequence[Order]) -> System:
    """A run that read these orders."""
    (folder / name).mkdir()
    settings = {"mode": "labels", "orders": list(orders), "examples": ""}
    made = stored_run(folder / name, gold, {"safety": [(0.25,) * 4] * ITEMS}, key=name, settings=settings)
    assert made.results is not None
    random = np.random.default_rng(len(name))
    known = np.array([PREFERENCES.index(item.gold["safety"].label) for item in gold])
    said = random.normal(size=(ITEMS, 4))
    said[np.arange(ITEMS), known] += 1.5
    judged = tuple(
        replace(item, raw_predictions={"safety": tuple(_reading(row, order) for order in orders)})
        for item, row in zip(made.results.judged, said, strict=True)
    )
    return replace(made, name=name, results=replace(made.results, judged=judged).calibrated(None))


def _reading(own: FloatArray, order: Order) -> RawPrediction:
    seen = own if order is Order.AB else own[SWAPPED]
    a, b, both_good, both_bad = log_softmax(seen + TOKEN_BIAS).tolist()
    return RawPrediction(order, (a, b, both_good, both_bad))


def fitted(system: System, gold: Dataset) -> CalibratedRun:
    return calibrate_run(match(system, gold))


@pytest.mark.slow
def test_a_panel_of_runs_in_one_order_mends_what_they_lean_to(tmp_path: Path, gold: Dataset) -> None:
    judges = [position_bias(tmp_path, gold, name, [Order.AB]) for name in ("one", "other")]
    alone = max(fitted(judge, gold).reports["safety"].after.accuracy for judge in judges)
    panel = make_jury(judges, gold)
    made = fitted(system_of_run(panel.results), gold)
    assert not made.calibration.alike
    assert made.reports["safety"].after.accuracy > alone
    after = panel.results.calibrated(made.calibration).judgments["safety"]
    assert {each.place_decides for each in after if isinstance(each, Judgment)} == {None}


@pytest.mark.slow
def test_a_panel_of_runs_in_both_orders_treats_a_and_b_alike(tmp_path: Path, gold: Dataset) -> None:
    judges = [position_bias(tmp_path, gold, name, tuple(Order)) for name in ("one", "other")]
    made = fitted(system_of_run(make_jury(judges, gold).results), gold)
    assert made.calibration.alike


def test_the_second_order_adds_what_a_run_without_it_lacks(tmp_path: Path, gold: Dataset) -> None:
    both = fitted(position_bias(tmp_path, gold, "judge", tuple(Order)), gold)
    first = fitted(position_bias(tmp_path, gold, "first", [Order.AB]), gold)
    lost = float(np.mean(both.without[SECOND_ORDER]["safety"].right))
    assert lost == pytest.approx(
        both.reports["safety"].after.accuracy - first.reports["safety"].after.accuracy, abs=0.08
    )
    assert abs(lost) < 0.1


def test_what_is_not_said_of_an_item_stands_as_in_the_mean_of_the_fit(tmp_path: Path, gold: Dataset) -> None:
    part = Feature(FeatureKind.CRITERION, criterion="relevance")
    mean = (1.0, -1.0, 0.5, -0.5)
    made = CriterionCalibration(0.0, (0.0,) * 4, 1.0, 9, parts={part: 2.0}, part_means={part: mean})
    item = position_bias(tmp_path, gold, "judge", [Order.AB]).results
    assert item is not None
    found = decide(item.judged[0], "safety", made)
    assert isinstance(found, Judgment)
    assert found.probabilities == pytest.approx(np.exp(log_softmax(2 * np.array(mean))))


def test_a_calibration_that_looks_at_a_criterion_fits_no_run_without_it(tmp_path: Path) -> None:
    labels = [PREFERENCES[place % 4] for place in range(48)]
    of_both = dataset({"safety": labels, "relevance": labels})
    near = [tuple(0.55 if place == at % 4 else 0.15 for place in range(4)) for at in range(48)]
    unsure = [(0.25,) * 4] * 48
    run = stored_run(tmp_path, of_both, {"safety": unsure, "relevance": near})  # type: ignore[dict-item]
    made = calibrate_run(match(run, of_both)).calibration
    assert Feature(FeatureKind.CRITERION, criterion="relevance") in made.criteria["safety"].parts
    (tmp_path / "alone").mkdir()
    alone = stored_run(tmp_path / "alone", of_both, {"safety": unsure}, key="alone")
    assert alone.results is not None
    with pytest.raises(SetupError, match="also uses the raw predictions on relevance"):
        made.check_fits(judge_of_run(alone.results.run.identity))
