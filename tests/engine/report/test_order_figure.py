"""The figure of what the second order only in doubt would keep: its numbers, and which runs have one."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from engine.calibration.order_margin import MarginReport, margin_report
from engine.core.items import Order
from engine.core.judgments import JudgedItem
from engine.metrics.matching import Matched, match
from engine.report.drawing import as_png
from engine.report.orders import order_figure, order_report_of
from engine.results.second_order import BothOrders
from tests.judged import SURE_A, A, dataset, stored_run

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


def test_no_margin_is_marked_where_none_keeps_enough() -> None:
    found = report(uncertain=10)
    none = replace(found, reached=False)
    assert not [line for line in order_figure(none).axes[0].lines if str(line.get_label()).startswith("mar")]


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
