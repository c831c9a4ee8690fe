"""What the second order only in doubt would keep: tables, sentences, the figure, which runs have one."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from engine.calibration.learning import MarginReport, OrderTokens, margin_report
from engine.core.items import Order
from engine.core.judgments import JudgedItem, Judgment
from engine.metrics.accuracy import count_run
from engine.metrics.evaluation import evaluate_labels
from engine.metrics.matching import Matched, match
from engine.report.accuracy import label_table
from engine.report.drawing import as_png
from engine.report.evaluation import in_short
from engine.report.orders import chosen_table, margin_sentences, margin_table, order_figure, order_report_of
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
    found = read([0.4] + [0.9] * 19, [False] + [True] * 19)
    report = margin_report(found, range(20), 0.99, [OrderTokens(60, 40)] * 20)
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


def test_where_no_margin_helps_that_is_said_and_none_is_marked() -> None:
    none = margin_report(read([1.0] * 20, [False] * 20), range(20), 0.99)
    (said,) = margin_sentences(none)
    assert said.startswith("No margin threshold keeps 99.0 %")
    assert not [line for line in order_figure(none).axes[0].lines if str(line.get_label()).startswith("mar")]


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


# The figure of what the second order only in doubt would keep: its numbers, and which runs have one.


ITEMS = 40


def report(uncertain: int, keep: float = 0.99) -> MarginReport:
    """So many items with a margin of .1, of which each second changes its label; the others are sure."""
    margins = [0.1] * uncertain + [0.9] * (ITEMS - uncertain)
    equal = [place % 2 == 0 or place >= uncertain for place in range(ITEMS)]
    ids = tuple(map(str, range(ITEMS)))
    columns = np.array([margins, [0.95] * ITEMS]).T, np.array([equal, [True] * ITEMS]).T
    return margin_report(BothOrders(("safety", "relevance"), ids, *columns), ids, keep)


def curve(figure: Figure, name: str) -> tuple[list[float], list[float]]:
    (line,) = (line for line in figure.axes[0].lines if line.get_label() == name)
    return list(map(float, line.get_xdata())), list(map(float, line.get_ydata()))  # type: ignore[arg-type]


def test_it_holds_what_is_read_and_kept_at_each_margin() -> None:
    found = report(uncertain=10)
    figure = order_figure(found, "run 1")
    read, kept = curve(figure, "safety")
    assert read[0] == 0
    assert kept[0] == pytest.approx(100 * 35 / 40)
    assert (25, 100) in set(zip(read, kept, strict=True))
    together = curve(figure, "all criteria")
    assert together[0] == read == sorted(read)
    assert together[1][0] == pytest.approx(100 * 75 / 80)
    assert curve(figure, f"margin {found.least.below:g}") == ([25.0], [100.0])
    assert "all, calibrated" not in {line.get_label() for line in figure.axes[0].lines}
    as_png(figure, 40)


def test_calibrated_labels_have_a_line_of_their_own() -> None:
    margins, equal = np.array([[0.1]] * 4 + [[0.9]] * 6), np.array([[True]] * 10)
    ids = tuple(map(str, range(10)))
    found = margin_report(BothOrders(("safety",), ids, margins, equal, equal & (margins > 0.5)), ids, 0.9)
    read, kept = curve(order_figure(found), "all, calibrated")
    assert read[0] == 0
    assert kept[0] == pytest.approx(60)
    assert (40, 100) in set(zip(read, kept, strict=True))


def of_run(folder: Path, items: int, keep: Sequence[Order] = tuple(Order)) -> Matched:
    gold = dataset({"safety": [A] * items})
    run = stored_run(folder, gold, {"safety": [SURE_A] * items})
    assert run.results

    def cut(item: JudgedItem) -> JudgedItem:
        raw_predictions = {
            name: tuple(replace(each, order=order) for order in keep for each in own[:1])
            for name, own in item.raw_predictions.items()
        }
        return replace(item, raw_predictions=raw_predictions)

    identity = run.results.run.identity
    settings = {**identity.settings, "orders": [order.value for order in keep]}
    stored = replace(run.results.run, identity=replace(identity, settings=settings))
    judged = tuple(map(cut, run.results.judged))
    return match(replace(run, results=replace(run.results, run=stored, judged=judged)), gold)


def test_a_run_in_both_orders_has_one(tmp_path: Path) -> None:
    found = order_report_of(of_run(tmp_path, ITEMS))
    assert found is not None
    assert found.least.items == ITEMS
    assert found.least.equal == 1


@pytest.mark.parametrize(("items", "orders"), [(10, tuple(Order)), (ITEMS, (Order.AB,))])
def test_a_run_that_cannot_tell_has_none(tmp_path: Path, items: int, orders: tuple[Order, ...]) -> None:
    assert order_report_of(of_run(tmp_path, items, orders)) is None
