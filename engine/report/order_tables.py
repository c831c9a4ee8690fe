"""What reading the second order only in doubt keeps and saves, as sections of a sheet.

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
    "An item is in doubt where the likeliest label of the first order leads the next by less than this.",
)
_SHARES = (
    Column("read", "second order read", Kind.SHARE, "The share of items that are read in both orders."),
    Column("saved", "tokens saved", Kind.SHARE, "The share of all tokens to read that are not read."),
    Column(
        "equal",
        "equal labels",
        Kind.ESTIMATE,
        "The share of labels, in percent, that are those of both orders, and its 95 % interval.",
    ),
)


_CALIBRATED = Column(
    "calibrated",
    "calibrated",
    Kind.ESTIMATE,
    "The same of the labels that the calibration decides.",
)


def margin_sections(report: MarginReport) -> list[Section]:
    """What each margin keeps on these items, and what the least margin keeps that keeps enough."""
    least: list[Part] = [chosen_table(report), Sentences(list(margin_sentences(report)))]
    return [
        Section("margins", "Each margin on these items", [margin_table(report)]),
        Section("least", "At the least margin", least),
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
            "in_sample", "on these items", Kind.ESTIMATE, "Equal labels, in percent, where it was chosen."
        ),
        Column("checked", "cross-validated", Kind.ESTIMATE, "Equal labels of items it was not chosen by."),
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
        yield f"No margin keeps {keep} of the labels of every criterion: read both orders of all items."
        return
    saved = "" if least.saved is None else f" and saves {percent(least.saved)} of the tokens to read"
    yield (
        f"The least margin that keeps {keep} of the labels of every criterion: {least.below:g}. It reads the"
        f" second order of {percent(least.read)} of the items{saved}."
    )
    if checked is None:
        yield "One instruction only: whether that holds for other items cannot be said."
        return
    ends = interval(checked.interval_of_equal, 100)
    yield (
        "Chosen again without the items it is then measured on (ten folds, no instruction on both sides),"
        f" such a margin keeps {percent(checked.equal)} of the labels ({ends}){_calibrated(checked)}."
    )
    kinds = [checked, *([checked.calibrated] if checked.calibrated else [])]
    lost = {name: None for kind in kinds for name, share in kind.kept.items() if share < report.keep}
    if lost:
        yield (
            f"There it keeps less than {keep} on {' and '.join(map(words, lost))}: a larger margin is safer,"
            " and more items in both orders say more."
        )


def _calibrated(point: MarginPoint) -> str:
    of = point.calibrated
    return f", calibrated {percent(of.equal)} ({interval(of.interval_of_equal, 100)})" if of else ""
