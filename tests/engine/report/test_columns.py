"""What holds of every table: its columns have meanings, and the values fit their kinds."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from inspect import get_annotations, getmembers, isfunction
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.annotations.effective import Reviews
from engine.annotations.records import new_review
from engine.calibration.fitting import AS_READ, CalibrationReport
from engine.calibration.learning import margin_report
from engine.calibration.scaling import Quality
from engine.core.judgments import CriterionCalibration, JudgmentKey
from engine.core.tables import Kind, Table
from engine.metrics.accuracy import count_run, run_accuracy
from engine.metrics.annotator_agreement import AltTest, agreement_of_annotators, alt_tests
from engine.metrics.comparison import compare, match_all
from engine.metrics.evaluation import evaluate
from engine.metrics.intervals import Interval
from engine.metrics.matching import match
from engine.ranking.weight_fit import WeightFit
from engine.ranking.weighted_scoring import scored_pairs_of, weigh
from engine.report import (
    accuracy,
    annotators,
    calibration,
    comparison,
    evaluation,
    orders,
    run,
    weighted_scoring,
)
from engine.results.annotation_import import AnnotatorJoined
from engine.settings.identity import Effort
from tests.engine.report.test_figures import CURVE
from tests.engine.report.test_orders import read
from tests.judged import BAD, GOOD, RATHER_A, SURE_A, SURE_GOOD, A, B, Columns, dataset, judged_run, system

FIT = WeightFit(
    weights={"safety": 1.0},
    tie_threshold=0.5,
    ranges={"safety": Interval(0.0, 1.0)},
    threshold_range=Interval(0.0, 2.0),
    items=2,
    instructions=2,
    agreement=0.5,
    equal=0.5,
    most_frequent=0.5,
    intervals=dict.fromkeys(("agreement", "equal", "most_frequent")),
)
MODULES = (accuracy, annotators, calibration, comparison, evaluation, orders, run, weighted_scoring)
GOLD = dataset({"safety": [A, B], "overall_quality": [GOOD, BAD]}, {"safety": ["fine", "b is rude"]})
ONE = system({"safety": [A, None], "overall_quality": [A, B]}, {"safety": ["fine", ""]}, name="one.tsv")
OTHER = system({"safety": [B, B], "overall_quality": [A, B]}, {"safety": ["fine", "no"]}, name="other.tsv")
WORDS = (Kind.NAME, Kind.TEXT)


def table_functions() -> dict[str, Callable[..., Table]]:
    """Everything in the report that makes a table, by name."""
    return {
        name: made
        for module in MODULES
        for name, made in getmembers(module, isfunction)
        if isinstance(kind := get_annotations(made, eval_str=True).get("return"), type)
        and issubclass(kind, Table)
    }


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Table]:
    made = made_of(tmp_path_factory.mktemp("run"))
    return {make.__name__: make(*values) for make, *values in made}


def made_of(folder: Path) -> Iterator[tuple[Any, ...]]:
    """Each function with what it makes a table of."""
    probabilities: Columns = {"safety": [SURE_A, None], "overall_quality": [RATHER_A, SURE_GOOD]}
    results = judged_run(folder, GOLD, probabilities)
    evaluated = evaluate(match(ONE, GOLD))
    compared = compare([evaluate(each) for each in match_all([ONE, OTHER], GOLD)])
    weighed = weigh(scored_pairs_of(OTHER, ["safety"]), {"safety": 1.0}, 0.5, GOLD, OTHER)
    reports = {"safety": report(None), "overall_quality": report(AS_READ), "relevance": report(0.3)}
    for name in ("accuracy", "label", "beyond_chance", "by_label", "given"):
        yield getattr(accuracy, f"{name}_table"), evaluated
    yield evaluation.explanation_table, evaluated
    yield accuracy.confusion_table, evaluated.labels["safety"]
    agreement = agreement_of_annotators(replace(results, reviews=reviews()), GOLD)
    for name in ("against_others", "among_annotators", "annotator_pairs"):
        yield getattr(annotators, f"{name}_table"), agreement
    yield annotators.stands_in_table, stand_ins()
    joined = [AnnotatorJoined("Ada", "Ada", 1), AnnotatorJoined("Ben", "B", 2)]
    yield annotators.imported_table, joined, {"Ben"}
    for name in ("measure", "borda", "agreement"):
        yield getattr(comparison, f"{name}_table"), compared
    yield (comparison.published_table,)
    yield run.distribution_table, count_run(results)
    yield run.by_hand_table, replace(results, reviews=reviews())
    yield run.run_accuracy_table, run_accuracy(results, GOLD)
    yield run.changes_table, results, results
    yield run.unscored_table, results
    yield run.differences_table, results.run, results.run, {results.run.id: [Effort(2.0, 100, 0)]}
    margins = margin_report(read([0.4] + [0.9] * 19, [False] + [True] * 19), range(20), 0.99)
    yield orders.margin_table, margins
    yield orders.chosen_table, margins
    for name in ("quality", "gain", "parameter"):
        yield getattr(calibration, f"{name}_table"), reports
    yield calibration.point_table, CURVE
    yield calibration.doubling_table, CURVE
    yield weighted_scoring.weighted_scoring_table, weighed
    yield weighted_scoring.overall_agreement_table, weighed.agreement
    yield weighted_scoring.winner_table, weighed.agreement
    yield weighted_scoring.fit_table, FIT
    yield weighted_scoring.fitted_weight_table, FIT


def reviews() -> Reviews:
    given = (("1", A, "Ada"), ("1", B, "Ben"), ("2", B, "Ada"), ("2", B, "Ben"))
    steps = (new_review(item, who, confirmed={"safety": label}) for item, label, who in given)
    return Reviews(tuple(chain.from_iterable(steps)))


def stand_ins() -> list[AltTest]:
    """Of a judge that agrees with two people on most of thirty items."""
    said = {
        who: {JudgmentKey(str(item), "safety"): A if item % each else B for item in range(30)}
        for who, each in (("Ada", 7), ("Ben", 5))
    }
    judge = {JudgmentKey(str(item), "safety"): A for item in range(30)}
    instructions = {str(item): str(item) for item in range(30)}
    return list(alt_tests(said, judge, instructions, ["safety"]))


def report(strength: float | None) -> CalibrationReport:
    calibration = CriterionCalibration(1.5, (0.1, 0.2, -0.1, -0.2), strength, 1234)
    quality = Quality(0.5, 1.25, 0.125)
    return CalibrationReport(
        "safety", 1234, 99, quality, quality, quality, 0.1, None, calibration, False, np.empty((0, 4))
    )


def test_the_test_knows_every_table(tables: dict[str, Table]) -> None:
    assert set(tables) == set(table_functions())


@pytest.mark.parametrize("name", sorted(table_functions()))
def test_every_column_says_what_it_means(name: str, tables: dict[str, Table]) -> None:
    columns = tables[name].columns
    assert all(column.key and column.meaning for column in columns)
    # The rows of these are thresholds, and numbers of labels.
    assert columns[0].kind in WORDS or name in {"margin_table", "point_table"}


@pytest.mark.parametrize("name", sorted(table_functions()))
def test_values_are_of_the_kind_of_their_column(name: str, tables: dict[str, Table]) -> None:
    table = tables[name]
    assert table.rows
    assert all(len(texts) == len(table.columns) for texts in table.texts())
    for column, *values in zip(table.columns, *table.rows, strict=True):
        texts = [value for value in values if isinstance(value, str) and value]
        assert not texts or column.kind in WORDS


def test_a_strength_without_a_number_is_shown_in_words(tables: dict[str, Table]) -> None:
    shown = [row[-1] for row in tables["parameter_table"].texts()]
    assert shown == ["class prior only", "uncalibrated", "0.3"]
    assert tables["quality_table"].texts()[0][1] == "1,234"
