"""What is said of margins, and of labels that were read in one order only."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.calibration.order_margin import OrderTokens, margin_report
from engine.core.judgments import Judgment
from engine.metrics.accuracy import count_run
from engine.metrics.evaluation import evaluate_labels
from engine.metrics.matching import Matched, match
from engine.report.accuracy import label_table
from engine.report.evaluation import in_short
from engine.report.orders import chosen_table, margin_sentences, margin_table
from engine.report.run import distribution_table
from engine.results.second_order import BothOrders
from tests.judged import SURE_A, A, dataset, stored_run


def read(margins: Sequence[float], equal: Sequence[bool]) -> BothOrders:
    ids = tuple(map(str, range(len(margins))))
    return BothOrders(("overall_quality",), ids, np.array([margins]).T, np.array([equal]).T)


def matched(folder: Path, twice: int) -> Matched:
    """Twenty items of label A, of which so many were read in both orders; the first is flipped."""
    gold = dataset({"safety": [A] * 20})
    run = stored_run(folder, gold, {"safety": [SURE_A] * 20})
    assert run.results
    column = tuple(
        replace(judgment, flipped=(place == 0) if place < twice else None)
        for place, judgment in enumerate(run.results.judgments["safety"])
        if isinstance(judgment, Judgment)
    )
    return match(replace(run, results=replace(run.results, judgments={"safety": column})), gold)


def test_a_margin_is_told_with_what_it_saves_and_what_that_is_worth_elsewhere() -> None:
    report = margin_report(
        read([0.4] + [0.9] * 19, [False] + [True] * 19), range(20), 0.99, [OrderTokens(60, 40)] * 20
    )
    first, second, third = margin_sentences(report)
    assert first == (
        "The smallest margin threshold that keeps 99.0 % of the labels of every criterion: 0.41. It"
        " reads the second order of 5.0 % of the items and saves 38.0 % of the prompt tokens."
    )
    assert "keeps 95.0 % of the labels" in second
    assert "less than 99.0 % on overall quality: choose a larger threshold" in third
    rows = {row[0]: row for row in margin_table(report).texts()}
    assert rows["0.41"][1:3] == ["5.0 %", "38.0 %"]
    assert rows["0.4"][1:3] == ["0.0 %", "40.0 %"]
    assert [row[0] for row in chosen_table(report).texts()] == ["overall quality", "together"]


def test_where_no_margin_helps_that_is_said() -> None:
    (said,) = margin_sentences(margin_report(read([1.0] * 20, [False] * 20), range(20), 0.99))
    assert said.startswith("No margin threshold keeps 99.0 %")


@pytest.mark.parametrize(
    ("twice", "said", "beside"),
    [
        (20, "Position-inconsistent: 1 of 20 judgments (5.0 %).", None),
        (
            4,
            "Position-inconsistent: 1 of 4 judgments (25.0 %) that were read in both orders. It is not"
            " known for the 16 others, which the first order left certain.",
            "4/20",
        ),
        (0, "Position-inconsistent: not known, because items were read in one order or none.", None),
    ],
)
def test_flips_are_told_of_what_was_read_in_both_orders(
    tmp_path: Path, twice: int, said: str, beside: str | None
) -> None:
    found = matched(tmp_path, twice)
    evaluation = evaluate_labels(found)
    assert said in list(in_short(evaluation))
    assert found.system.results
    for table in (label_table(evaluation), distribution_table(count_run(found.system.results))):
        assert ("in both orders" in table.titles) == (beside is not None)
        assert beside is None or beside in table.texts()[0]


def test_a_system_says_in_which_orders_it_was_read(tmp_path: Path) -> None:
    settings = {"mode": "labels", "orders": ["AB", "BA"], "examples": "", "second_order_below": 0.25}
    run = stored_run(tmp_path, dataset({"safety": [A]}), {"safety": [SURE_A]}, settings=settings)
    assert "AB and BA where a margin is below 0.25" in run.description
