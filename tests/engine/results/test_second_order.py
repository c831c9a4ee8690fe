"""Where one order leaves a decision open, and what that rule keeps, on readings written out."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from engine.core.errors import SetupError
from engine.core.items import Order
from engine.core.judgments import CriterionCalibration, JudgedItem, RawPrediction
from engine.results.run_results import RunResults
from engine.results.second_order import MARGINS, both_orders, learned_from, leaves_open, margin, read_in_words
from tests.judged import SURE_A, SURE_B, Probabilities, dataset, judged_run

RATHER_A = (0.5, 0.3, 0.1, 0.1)  # a margin of 0.2


def reading(order: Order, probabilities: Probabilities) -> RawPrediction:
    """As the model saw it: in BA, A is the item's B."""
    a, b, good, bad = (math.log(share) if share else -math.inf for share in probabilities)
    return RawPrediction(order, (a, b, good, bad) if order is Order.AB else (b, a, good, bad))


def item(number: int, raw_predictions: Mapping[str, tuple[Probabilities, ...]]) -> JudgedItem:
    read = {
        name: tuple(reading(order, each) for order, each in zip(Order, own, strict=False))
        for name, own in raw_predictions.items()
    }
    return JudgedItem(number, str(number), "c" * 64, read)


def results(folder: Path, **settings: object) -> RunResults:
    made = {"mode": "labels", "orders": ["AB", "BA"], "examples": "", **settings}
    return judged_run(folder, dataset({"safety": [None] * 30}), {"safety": [SURE_A] * 30}, settings=made)


def test_an_item_is_open_where_any_criterion_is_below_the_margin() -> None:
    assert margin((0.1, 0.6, 0.25, 0.05)) == pytest.approx(0.35)
    sure, rather = [reading(Order.AB, SURE_A)], [reading(Order.AB, RATHER_A)]
    assert not leaves_open({"safety": sure, "relevance": sure}, 0.5, {})
    assert leaves_open({"safety": sure, "relevance": rather}, 0.5, {})
    assert not leaves_open({"safety": sure, "relevance": rather}, 0.19, {})


def test_an_item_is_open_where_its_calibrated_label_is_in_doubt() -> None:
    """A is far ahead as it is read, and hardly so calibrated."""
    sure = {"safety": [reading(Order.AB, SURE_A)]}
    first = CriterionCalibration(1.0, (-3.3, 0.0, 0.0, 0.0), 1.0, 60)
    of_both = CriterionCalibration(1.0, (0.0, 0.0, 0.0, 0.0), 1.0, 60, first)
    assert leaves_open(sure, 0.2, {"safety": of_both})
    assert not leaves_open(sure, 0.2, {"relevance": of_both})
    assert not leaves_open(sure, 0.2, {"safety": replace(of_both, first_order=None)})  # of an older file
    trusts_nothing = replace(first, scale=0.0, strength=None)
    assert not leaves_open(sure, 0.2, {"safety": replace(of_both, first_order=trusts_nothing)})


def test_the_margin_is_that_among_the_four_labels() -> None:
    """A model that hardly writes labels is as sure among them as one that writes nothing else."""
    thin = RawPrediction(Order.AB, tuple(value - 5 for value in reading(Order.AB, RATHER_A).log_probs))  # type: ignore[arg-type]
    assert leaves_open({"safety": [thin]}, 0.21, {})
    assert not leaves_open({"safety": [thin]}, 0.19, {})


def test_a_reading_without_finite_probabilities_leaves_nothing_open() -> None:
    assert not leaves_open({"safety": [RawPrediction(Order.AB, (math.nan, 0.0, 0.0, 0.0))]}, 1.0, {})


def test_what_the_rule_keeps_is_counted_by_item_and_criterion() -> None:
    found = both_orders(
        [
            item(0, {"safety": (RATHER_A, SURE_B), "relevance": (SURE_A, SURE_A)}),
            item(1, {"safety": (SURE_A, SURE_A), "relevance": (SURE_A, SURE_A)}),
            item(2, {"safety": (SURE_A,), "relevance": (SURE_A,)}),  # in one order: it cannot tell
            item(3, {"safety": (SURE_A, (math.nan,) * 4), "relevance": (SURE_A, SURE_A)}),
        ],
        ("safety", "relevance"),
        {},
    )
    assert found.ids == ("0", "1")
    assert found.margins[:, 0].tolist() == pytest.approx([0.2, 0.88])
    assert found.equal.tolist() == [[False, True], [True, True]]
    assert found.read(0.15).tolist() == [False, False]
    assert found.kept(0.15).tolist() == [[False, True], [True, True]]
    assert found.read(0.3).tolist() == [True, False]
    assert found.kept(0.3).all()
    assert found.least_margin(1.0) == 0.21
    assert found.least_margin(0.5) == MARGINS[0]  # half of the labels of safety stay anyway
    assert found.least_margin(1.0, [1]) == MARGINS[0]
    assert found.calibrated is None


def test_what_the_rule_keeps_is_counted_of_calibrated_labels_too() -> None:
    """As it is read both orders say A; calibrated, the first alone says B, and is in no doubt."""
    judged = [item(place, {"safety": (SURE_A, SURE_A)}) for place in range(2)]
    first = CriterionCalibration(1.0, (-9.0, 0.5, 0.0, 0.0), 1.0, 60)
    of_both = CriterionCalibration(1.0, (0.0, 0.0, 0.0, 0.0), 1.0, 60, first)
    found = both_orders(judged, ("safety",), {"safety": of_both})
    assert found.kept(0.01).all()
    kept = found.kept_calibrated(0.01)
    assert kept is not None
    assert not kept.any()
    assert found.margins[0, 0] < 0.3  # B is ahead by less than A was
    assert found.least_margin(0.99) == pytest.approx(found.margins[0, 0], abs=0.011)


def test_a_margin_is_learned_from_a_run_in_both_orders_alone(tmp_path: Path) -> None:
    whole = results(tmp_path)
    assert len(learned_from(whole.run, whole.judged).ids) == 30
    with pytest.raises(SetupError, match="too few to choose"):
        learned_from(whole.run, whole.judged[:19])
    with pytest.raises(SetupError, match="was not asked for relevance"):
        learned_from(whole.run, whole.judged, ("relevance",))


@pytest.mark.parametrize("settings", [{"orders": ["AB"]}, {"second_order_below": 0.5}])
def test_a_run_with_some_in_one_order_teaches_nothing(tmp_path: Path, settings: dict[str, object]) -> None:
    partly = results(tmp_path, **settings)
    with pytest.raises(SetupError, match="did not read all items in both orders"):
        learned_from(partly.run, partly.judged)


def test_how_a_run_was_read_is_said_in_words(tmp_path: Path) -> None:
    for folder, settings, expected in (
        ("both", {}, "both orders"),
        ("one", {"orders": ["AB"]}, "one order"),
        ("doubt", {"second_order_below": 0.5}, "30 of 30 items in both orders"),
    ):
        (tmp_path / folder).mkdir()
        assert read_in_words(results(tmp_path / folder, **settings)) == expected
