"""What reading the second order only if uncertain keeps and saves, as sections of a sheet.

Knows: which columns stand side by side, and what they mean. Does not know: how it is measured, terminals.
"""

from collections.abc import Iterator
from dataclasses import replace

from engine.calibrate.order_margin import MarginPoint, MarginReport
from engine.core.formatting import interval, percent, words
from engine.core.sheets import Part, Section, Sentences
from engine.core.value_tables import Column, Estimate, Kind, Row, Table

_MARGIN = Column(
    "margin",
    "margin",
    Kind.SHORTEST,
    "An item is uncertain if, after the first order, the margin between its two likeliest labels is"
    " below this.",
)
_SHARES = (
    Column("read", "second order read", Kind.SHARE, "The share of items that are read in both orders."),
    Column("saved", "tokens saved", Kind.SHARE, "The share of prompt tokens that need not be read."),
    Column(
        "equal",
        "labels kept",
        Kind.ESTIMATE,
        "The share of labels, in percent, that equal those of both orders, with its 95 % interval.",
    ),
)


_CALIBRATED = Column(
    "calibrated",
    "calibrated",
    Kind.ESTIMATE,
    "The same for the calibrated labels.",
)


def margin_sections(report: MarginReport) -> list[Section]:
    """What each margin keeps on these items, and what the least margin keeps that keeps enough."""
    least: list[Part] = [chosen_table(report), Sentences(list(margin_sentences(report)))]
    return [
        Section("margins", "Each margin threshold on these items", [margin_table(report)]),
        Section("least", "At the smallest threshold", least),
    ]


def margin_table(report: MarginReport) -> Table:
    """A row for each margin: what is read and saved, and which labels stay, together and by criterion."""
    by_criterion = [
        Column(name, words(name), Kind.SHARE, f"The same on {words(name)}.") for name in report.criteria
    ]
    known = [_CALIBRATED] if report.least.calibrated else []
    return Table((_MARGIN, *_SHARES, *known, *by_criterion), [_row(point) for point in report.points])


def _row(point: MarginPoint) -> Row:
    calibrated = [_together(point.calibrated)] if point.calibrated else []
    return [point.below, point.read, point.saved, _together(point), *calibrated, *point.kept.values()]


def _together(point: MarginPoint) -> Estimate:
    return Estimate(point.equal, point.interval_of_equal)


def chosen_table(report: MarginReport) -> Table:
    """The criteria at the least margin: on the items it was chosen by, and cross-validated."""
    columns = [
        Column("criterion", "criterion", Kind.NAME, "The criterion that responses are judged by."),
        Column(
            "in_sample",
            "on these items",
            Kind.ESTIMATE,
            "Labels kept, in percent, on the items that the threshold was chosen on.",
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
    """Which margin to take, what it saves, and what that is worth on items it was not chosen by."""
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
    ends = interval(checked.interval_of_equal, 100)
    yield (
        "Cross-validated (ten folds, grouped by instruction), such a threshold keeps"
        f" {percent(checked.equal)} of the labels ({ends}){_calibrated(checked)}."
    )
    kinds = [checked, *([checked.calibrated] if checked.calibrated else [])]
    lost = {name: None for kind in kinds for name, share in kind.kept.items() if share < report.keep}
    if lost:
        yield (
            f"Cross-validated, it keeps less than {keep} on {' and '.join(map(words, lost))}: choose a"
            " larger threshold, or judge more items in both orders."
        )


def _calibrated(point: MarginPoint) -> str:
    of = point.calibrated
    return f", calibrated {percent(of.equal)} ({interval(of.interval_of_equal, 100)})" if of else ""
