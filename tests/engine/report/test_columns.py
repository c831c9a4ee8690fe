"""What holds of every table: its columns have meanings, and the values fit their kinds."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from inspect import get_annotations, getmembers, isfunction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.calibrate.cross_validation import CalibrationReport
from engine.calibrate.fitting import AS_READ
from engine.calibrate.quality import Quality
from engine.core.judgments import Confirmation, CriterionCalibration, JudgmentKey
from engine.core.people import Reviews
from engine.core.value_tables import Kind, Table
from engine.measure.accuracy import run_accuracy
from engine.measure.alt_test import AltTest, alt_tests
from engine.measure.comparison import compare, match_all
from engine.measure.evaluation import evaluate
from engine.measure.intervals import Interval
from engine.measure.label_counts import count_run
from engine.measure.matching import match
from engine.measure.people_agreement import agreement_of_annotators
from engine.report import (
    calibration_tables,
    comparison_tables,
    measure_tables,
    people_tables,
    run_tables,
    weighing_tables,
)
from engine.weigh.system_weighing import scored_pairs_of, weigh
from engine.weigh.weight_fit import WeightFit
from tests.judged import BAD, GOOD, RATHER_A, SURE_A, SURE_GOOD, A, B, dataset, stored_run, system

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
MODULES = (calibration_tables, comparison_tables, measure_tables, people_tables, run_tables, weighing_tables)
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
    results = stored_run(
        folder, GOLD, {"safety": [SURE_A, None], "overall_quality": [RATHER_A, SURE_GOOD]}
    ).results
    assert results is not None
    evaluation = evaluate(match(ONE, GOLD))
    comparison = compare([evaluate(each) for each in match_all([ONE, OTHER], GOLD)])
    weighted_scoring = weigh(scored_pairs_of(OTHER, ["safety"]), {"safety": 1.0}, 0.5, GOLD, OTHER)
    reports = {"safety": report(None), "overall_quality": report(AS_READ), "relevance": report(0.3)}
    yield measure_tables.accuracy_table, evaluation
    yield measure_tables.label_table, evaluation
    yield measure_tables.explanation_table, evaluation
    yield measure_tables.confusion_table, evaluation.labels["safety"]
    agreement = agreement_of_annotators(replace(results, reviews=reviews()), GOLD)
    yield people_tables.against_others_table, agreement
    yield people_tables.among_annotators_table, agreement
    yield people_tables.annotator_pairs_table, agreement
    yield people_tables.stands_in_table, stand_ins()
    yield comparison_tables.measure_table, comparison
    yield comparison_tables.borda_table, comparison
    yield comparison_tables.agreement_table, comparison
    yield (comparison_tables.published_table,)
    yield run_tables.distribution_table, count_run(results)
    yield run_tables.run_accuracy_table, run_accuracy(results, GOLD)
    yield run_tables.changes_table, results, results
    yield run_tables.unscored_table, results
    yield calibration_tables.quality_table, reports
    yield calibration_tables.gain_table, reports
    yield calibration_tables.parameter_table, reports
    yield weighing_tables.weighted_scoring_table, weighted_scoring
    yield weighing_tables.overall_agreement_table, weighted_scoring.agreement
    yield weighing_tables.winner_table, weighted_scoring.agreement
    yield weighing_tables.fit_table, FIT
    yield weighing_tables.fitted_weight_table, FIT


def reviews() -> Reviews:
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    given = (("1", A, "Ada"), ("1", B, "Ben"), ("2", B, "Ada"), ("2", B, "Ben"))
    return Reviews(
        confirmations=tuple(Confirmation(item, "safety", label, who, noon) for item, label, who in given)
    )


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
    assert columns[0].kind in WORDS


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
