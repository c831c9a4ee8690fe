"""What reading the second order only if uncertain keeps and saves: tables, sentences, the figure."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import cycle
from typing import Any

from engine.calibration.learning import MarginPoint, MarginReport, groups_by_instruction, margin_report
from engine.core.errors import SetupError
from engine.core.formatting import counted, interval, percent, words
from engine.core.tables import Column, Estimate, Kind, Part, Picture, Row, Section, Sentences, Table
from engine.metrics.matching import Matched
from engine.report import drawing
from engine.results.second_order import KEEP, learned_from

_MARGIN = Column("margin", "margin", Kind.SHORTEST).means(
    "An item is uncertain if, after the first order, the margin between its two likeliest labels is"
    " below this."
)
_SHARES = (
    Column("read", "second order read", Kind.SHARE, "The share of items that are read in both orders."),
    Column("saved", "tokens saved", Kind.SHARE, "The share of prompt tokens that need not be read."),
    Column("equal", "labels kept", Kind.ESTIMATE).means(
        "The share of labels, in percent, that equal those of both orders, with its 95 % interval."
    ),
)
_CALIBRATED = Column("calibrated", "calibrated", Kind.ESTIMATE, "The same for the calibrated labels.")


def margin_sections(report: MarginReport) -> list[Section]:
    least: list[Part] = [chosen_table(report), Sentences(list(margin_sentences(report)))]
    return [
        Section("margins", "Each margin threshold on these items", [margin_table(report)]),
        Section("least", "At the smallest threshold", least),
    ]


def margin_table(report: MarginReport) -> Table:
    by_criterion = [
        Column(name, words(name), Kind.SHARE, f"The same on {words(name)}.") for name in report.criteria
    ]
    known = [_CALIBRATED] if report.least.calibrated else []
    rows: list[Row] = [
        [
            *(point.below, point.read, point.saved, _together(point)),
            *([_together(point.calibrated)] if point.calibrated else []),
            *point.kept.values(),
        ]
        for point in report.points
    ]
    return Table((_MARGIN, *_SHARES, *known, *by_criterion), rows)


def _together(point: MarginPoint) -> Estimate:
    return Estimate(point.equal, point.interval_of_equal)


def chosen_table(report: MarginReport) -> Table:
    """The criteria at the least margin: on the items it was chosen by, and cross-validated."""
    columns = [
        Column("criterion", "criterion", Kind.NAME, "The criterion that responses are judged by."),
        Column("in_sample", "on these items", Kind.ESTIMATE).means(
            "Labels kept, in percent, on the items that the threshold was chosen on."
        ),
        Column("checked", "cross-validated", Kind.ESTIMATE, "Labels kept on held-out items."),
    ]
    points = [report.least, report.checked]
    if report.least.calibrated:
        columns += [
            replace(_CALIBRATED, key=f"{column.key}_calibrated", title=f"{column.title}, calibrated")
            for column in columns[1:]
        ]
        points += [point and point.calibrated for point in points]
    rows: list[Row] = [
        [words(name), *(Estimate(p.kept[name], p.intervals[name]) if p else None for p in points)]
        for name in report.criteria
    ]
    rows.append(["together", *(_together(point) if point else None for point in points)])
    return Table(columns, rows)


def margin_sentences(report: MarginReport) -> Iterator[str]:
    least, checked = report.least, report.checked
    keep = percent(report.keep)
    if not report.reached:
        yield (
            f"No margin threshold keeps {keep} of the labels of every criterion: read both orders of all"
            " items."
        )
        return
    saved = "" if least.saved is None else f" and saves {percent(least.saved)} of the prompt tokens"
    yield (
        f"The smallest margin threshold that keeps {keep} of the labels of every criterion:"
        f" {least.below:g}. It reads the second order of {percent(least.read)} of the items{saved}."
    )
    if checked is None:
        yield "There is only one instruction: this may not hold for other items."
        return
    kept = [
        f"{before}{percent(of.equal)}{after} ({interval(of.interval_of_equal, 100)})"
        for of, before, after in ((checked, "", " of the labels"), (checked.calibrated, "calibrated ", ""))
        if of
    ]
    yield (f"Cross-validated (ten folds, grouped by instruction), such a threshold keeps {', '.join(kept)}.")
    kinds = [checked, *([checked.calibrated] if checked.calibrated else [])]
    lost = {name: None for kind in kinds for name, share in kind.kept.items() if share < report.keep}
    if lost:
        yield (
            f"Cross-validated, it keeps less than {keep} on {' and '.join(map(words, lost))}: choose a"
            " larger threshold, or judge more items in both orders."
        )


ORDERS_SECTION = Section(
    "orders",
    "Whether the second order is needed",
    [Picture("orders")],
    "Items that are certain after the first order need no second one. Each point is a margin threshold: an"
    " item is also read in the second order if the margin between its two likeliest labels is below it on any"
    " criterion. The diamond is the smallest threshold that keeps enough of the labels of every criterion.",
)


def order_report_of(matched: Matched) -> MarginReport | None:
    """The curve of a run that read all its items in both orders, calibrated too where it is; else None."""
    results = matched.system.results
    if results is None or not results.run.by_a_model:
        return None
    with suppress(SetupError):  # it cannot tell
        read = learned_from(results.run, results.judged, calibration=results.calibration)
        return margin_report(read, groups_by_instruction(read.ids, matched.dataset.groups), KEEP)
    return None


_LINES = (":", "--", "-.", (0, (5, 1)), (0, (1, 1)), (0, (3, 1, 1, 1)))


def order_figure(report: MarginReport, name: str = "", dark: bool = False) -> drawing.Figure:
    """Labels that stay equal (%) by the share of items that are read in both orders; and the least margin."""
    items = counted(report.least.items, "item", "items")
    title = f"Second order only if uncertain: labels kept\n{drawing.drawable(name)}, {items}"
    with drawing.new_panels(3.4, title, dark, legend_columns=4) as (figure, [axes], theme):
        points = sorted(report.points, key=lambda point: point.read)
        read = [100 * point.read for point in points]
        thin: dict[str, Any] = {"color": theme.muted, "linewidth": 1}
        for criterion, line in zip(report.criteria, cycle(_LINES), strict=False):
            kept = [100 * point.kept[criterion] for point in points]
            axes.plot(read, kept, linestyle=line, **thin, label=drawing.drawn_words(criterion))
        equal = [100 * point.equal for point in points]
        axes.plot(read, equal, color=theme.judge, linewidth=2, marker=".", label="all criteria")
        both = [(100 * point.read, 100 * of.equal) for point in points if (of := point.calibrated)]
        if both:
            axes.plot(*zip(*both, strict=True), color=theme.third, linewidth=2, label="all, calibrated")
        keep = f"{report.keep:.0%} kept"
        axes.axhline(100 * report.keep, color=theme.text, linestyle=":", linewidth=1, label=keep)
        if report.reached:
            least = report.least
            spot: dict[str, Any] = {"linestyle": "none", "marker": "D", "color": theme.marked}
            axes.plot(100 * least.read, 100 * least.equal, **spot, label=f"margin {least.below:g}")
        axes.set_xlim(0, 100)
        axes.set_xlabel("items read in both orders (%)")
        axes.set_ylabel("same label as with both orders (%)")
        axes.grid()
    return figure


def order_report_figure(report: MarginReport, name: str) -> drawing.ReportFigure:
    said = " ".join(margin_sentences(report))
    said = f"Share of labels kept if fewer items are read in both orders. {said}"
    return drawing.ReportFigure(partial(order_figure, report, name), said, margin_table(report))
