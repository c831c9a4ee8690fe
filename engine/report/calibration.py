"""What reading the second order only if uncertain keeps and saves, as sections of a sheet.

What a calibration is worth, as sections of a sheet.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from statistics import fmean

from engine.calibration.cross_validation import CalibrationReport, added, mean_accuracies
from engine.calibration.fitting import AS_READ
from engine.calibration.order_margin import MarginPoint, MarginReport
from engine.calibration.run_calibration import CalibratedRun
from engine.core.formatting import interval, percent, words
from engine.core.items import PREFERENCES
from engine.core.judgments import CriterionCalibration
from engine.core.tables import Column, Estimate, Kind, Part, Row, Section, Sentences, Table, Value
from engine.metrics.intervals import FEW
from engine.report.columns import CRITERION, LABELS, MOST_FREQUENT
from engine.report.evaluation import BASELINE

_ALIKE = (
    " A and B are treated alike: each item counts as given and with its responses swapped, for the"
    " baselines too."
)
_FREE = " A and B are not treated alike: the position of a response may count."
_AS_IT_IS = "Without a calibration, by the model's own probabilities."
_CALIBRATED = "The measure in the previous column, with the calibration; cross-validated."
_QUALITY = (
    CRITERION,
    LABELS,
    Column(
        "accuracy_before",
        "accuracy, uncalibrated",
        Kind.ESTIMATE,
        f"Accuracy in percent, with its 95 % interval. {_AS_IT_IS}",
    ),
    Column("accuracy_after", "calibrated", Kind.ESTIMATE, _CALIBRATED),
    Column(
        "gain",
        "accuracy gain",
        Kind.ESTIMATE,
        "By how many percentage points the calibration raises the accuracy, with its 95 % interval;"
        " cross-validated.",
    ),
    MOST_FREQUENT,
)
_GAIN = (
    CRITERION,
    Column(
        "chosen",
        "used",
        Kind.NAME,
        "What had the lowest cross-validated log-loss: calibrated predictions, raw predictions, or the"
        " class prior only.",
    ),
    Column(
        "log_loss_before",
        "log-loss, uncalibrated",
        Kind.NUMBER,
        f"The mean negative log-probability of the human labels; lower is better. {_AS_IT_IS}",
        digits=3,
    ),
    Column("log_loss_after", "calibrated", Kind.NUMBER, _CALIBRATED, digits=3),
    Column(
        "frequencies",
        "frequencies",
        Kind.NUMBER,
        "The log-loss of a baseline that only knows how frequent each label is (class prior only).",
        digits=3,
    ),
    Column(
        "gain",
        "gain (nats)",
        Kind.NUMBER,
        "By how much the log-loss is below that of the class prior only.",
        digits=3,
    ),
    Column("low", "from", Kind.NUMBER, "The lower end of the gain's 95 % interval over instructions.", 3),
    Column("high", "to", Kind.NUMBER, "Its upper end.", 3),
    Column(
        "surely",
        "significant?",
        Kind.FLAG,
        f"Whether the interval is above 0, with {FEW} instructions or more. If it is not, the raw"
        " predictions may be no more informative than the class prior. They are used if their"
        " cross-validated log-loss is lower.",
    ),
    Column(
        "ece_before",
        "ECE, uncalibrated",
        Kind.NUMBER,
        "Expected calibration error: the mean gap between confidence and accuracy; lower is better."
        f" {_AS_IT_IS}",
        digits=3,
    ),
    Column("ece_after", "calibrated", Kind.NUMBER, _CALIBRATED, digits=3),
)
_SOURCES = (
    Column("source", "source", Kind.NAME, "The source that is omitted to measure what it adds."),
    Column(
        "nats",
        "log-loss (nats)",
        Kind.NUMBER,
        "By how much the log-loss rises without it: above 0, it helps.",
        digits=4,
    ),
    Column("low", "from", Kind.NUMBER, "The lower end of the 95 % interval over instructions.", 4),
    Column("high", "to", Kind.NUMBER, "Its upper end.", 4),
    Column(
        "right",
        "accuracy gain",
        Kind.ESTIMATE,
        "By how many percentage points it raises the accuracy, with the 95 % interval.",
    ),
)
_PARAMETERS = (
    Column("criterion", "fitted on all", Kind.NAME, "The criterion, fitted on all its labels."),
    Column(
        "scale",
        "scale",
        Kind.NUMBER,
        "The factor on the judge's log-probabilities: above 1 makes it more confident, below 1 less.",
        digits=3,
    ),
    *(
        Column(label, f"bias {label}", Kind.NUMBER, f"The bias added for the label “{words(label)}”.")
        for label in PREFERENCES
    ),
    Column(
        "shrinkage",
        "shrinkage",
        Kind.SHORTEST,
        "L2 regularisation: how strongly the fit is pulled towards the class prior.",
        instead={AS_READ: "uncalibrated", math.inf: "class prior only"},
    ),
)


_PARTS = (
    Column("criterion", "additional feature", Kind.NAME, "The criterion whose labels are predicted."),
    Column(
        "part",
        "what",
        Kind.NAME,
        "A feature of the calibration model, in addition to the mean raw prediction.",
    ),
    Column(
        "factor",
        "factor",
        Kind.NUMBER,
        "The weight of this feature, added to the mean raw prediction.",
        digits=3,
    ),
    Column("shrinkage", "shrinkage", Kind.SHORTEST, "L2 regularisation of the weights."),
)


def calibration_sections(made: CalibratedRun) -> list[Section]:
    """All that is shown of a calibration: what it is worth, what each source adds, what was fitted."""
    return [quality_section(made), *sources_section(made), parameter_section(made)]


def calibration_warnings(made: CalibratedRun) -> Iterator[str]:
    """What took no part, and where fewer labels are right than before, or than a baseline's."""
    for name, count in made.unscored.items():
        if count:
            yield f"{words(name)}: {count:,} labelled items are unscored and excluded."
    for reason in made.left_out.values():
        yield f"Not calibrated: {reason}"
    for name, report in made.reports.items():
        found = mean_accuracies([report])
        if found["more"].value < 0:
            yield (
                f"{words(name)}: the calibration lowers the accuracy, in percentage points:"
                f" {found['more']}. More human labels would help."
            )
    not_better = [
        f"{words(name)} {percent(report.after.accuracy)} ({BASELINE[rival]} {percent(reached)})"
        for name, report in made.reports.items()
        for rival, reached in [made.best_baselines[name]]
        if report.after.accuracy <= reached
    ]
    if not_better:
        yield (
            "After calibration, the accuracy is not above the best baseline on these items:"
            f" {', '.join(not_better)}."
        )


def quality_section(made: CalibratedRun) -> Section:
    """What the calibration is worth on labels that it was not fitted on."""
    return Section(
        "quality",
        "Before and after calibration",
        [quality_table(made.reports), gain_table(made.reports)],
        "Cross-validated by instruction: none is used both to fit and to measure."
        + (_ALIKE if made.calibration.alike else _FREE),
    )


def quality_table(reports: Mapping[str, CalibrationReport]) -> Table:
    """Labels before and after, cross-validated, next to the most frequent label."""
    rows: list[Row] = [
        [words(name), report.items, *_accuracies({name: report})] for name, report in reports.items()
    ]
    rows.append(["mean", "", *_accuracies(reports)])
    return Table(_QUALITY, rows)


def gain_table(reports: Mapping[str, CalibrationReport]) -> Table:
    """What was chosen for each criterion, and what its probabilities gain over the frequencies."""
    rows: list[Row] = [
        [
            words(name),
            _chosen(report.calibration.strength),
            *(quality.log_loss for quality in (report.before, report.after, report.baseline)),
            report.gain,
            *(report.gain_interval or (None, None)),
            report.helps_significantly,
            *(quality.calibration_error for quality in (report.before, report.after)),
        ]
        for name, report in reports.items()
    ]
    return Table(_GAIN, rows)


def _chosen(strength: float | None) -> str:
    return "class prior" if strength is None else "uncalibrated" if strength == AS_READ else "calibrated"


def _accuracies(reports: Mapping[str, CalibrationReport]) -> list[Value]:
    """Before and after, the difference, and of the most frequent label; on average."""
    frequent = fmean(report.baseline.accuracy for report in reports.values())
    return [*mean_accuracies(reports.values()).values(), frequent]


def sources_section(made: CalibratedRun) -> list[Section]:
    """What each source of raw predictions adds, the most first; none where there is one source only."""
    if not made.without:
        return []
    found = {source: added(lost, made.reports) for source, lost in made.without.items()}
    rows: list[Row] = [
        [source, each.nats, *(each.interval or (None, None)), each.right]
        for source, each in sorted(found.items(), key=lambda pair: -pair[1].nats)
    ]
    help_text = (
        "The loss if one source is omitted and all others are kept: mean over the criteria,"
        " cross-validated. A source that adds nothing may still be informative by itself, if others hold"
        " the same information. “The second order” is what reading both orders adds to the first."
    )
    return [Section("sources", "What each source adds", [Table(_SOURCES, rows)], help_text)]


def parameter_section(made: CalibratedRun) -> Section:
    """What the calibration consists of."""
    tables = [parameter_table(made.reports), *part_tables(made.reports)]
    return Section("parameters", "What was fitted", tables)


def part_tables(reports: Mapping[str, CalibrationReport]) -> list[Table]:
    """The factors of what is looked at next to the mean of the raw predictions; none where nothing is."""
    rows: list[Row] = [
        [words(name), part.in_words, factor, report.calibration.penalty_of_features]
        for name, report in reports.items()
        for part, factor in report.calibration.parts.items()
    ]
    return [Table(_PARTS, rows)] if rows else []


def parameter_table(reports: Mapping[str, CalibrationReport]) -> Table:
    """The scale and biases that were fitted on all labels, and the strength of the shrinkage."""
    return Table(_PARAMETERS, [_parameters(name, report.calibration) for name, report in reports.items()])


def _parameters(name: str, calibration: CriterionCalibration) -> Row:
    strength = math.inf if calibration.strength is None else calibration.strength
    return [words(name), calibration.scale, *calibration.biases, strength]


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


_ORDER_TABLES_CALIBRATED = Column(
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
    known = [_ORDER_TABLES_CALIBRATED] if report.least.calibrated else []
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
            replace(
                _ORDER_TABLES_CALIBRATED, key=f"{column.key}_calibrated", title=f"{column.title}, calibrated"
            )
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
