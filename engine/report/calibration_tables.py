"""What a calibration is worth, as sections of a sheet.

Knows: which columns stand side by side, what they mean, the words for warnings. Does not know: how one is
fitted, terminals, windows.
"""

import math
from collections.abc import Iterator, Mapping
from statistics import fmean

from engine.calibrate.cross_validation import CalibrationReport, added, mean_accuracies
from engine.calibrate.fitting import AS_READ
from engine.calibrate.run_calibration import CalibratedRun
from engine.core.formatting import percent, words
from engine.core.items import PREFERENCES
from engine.core.judgments import CriterionCalibration
from engine.core.sheets import Section
from engine.core.value_tables import Column, Kind, Row, Table, Value
from engine.measure.intervals import FEW
from engine.report.columns import CRITERION, LABELS, MOST_FREQUENT
from engine.report.measure_tables import TRIVIAL

_ALIKE = (
    " A and B are treated alike: each item counts as it is and with its responses in the other places, and so"
    " it does for what stands beside it."
)
_FREE = " A and B are not treated alike: which place a response has may count."
_AS_IT_IS = "Without a calibration, by the model's own probabilities."
_CALIBRATED = "The measure at the left, with the calibration; cross-validated."
_QUALITY = (
    CRITERION,
    LABELS,
    Column(
        "accuracy_before",
        "accuracy as it is",
        Kind.ESTIMATE,
        f"The share of labels that are right, in percent, and its 95 % interval. {_AS_IT_IS}",
    ),
    Column("accuracy_after", "calibrated", Kind.ESTIMATE, _CALIBRATED),
    Column(
        "gain",
        "more right",
        Kind.ESTIMATE,
        "How many more labels are right with the calibration, in percent points, and its 95 % interval;"
        " cross-validated.",
    ),
    MOST_FREQUENT,
)
_GAIN = (
    CRITERION,
    Column(
        "chosen",
        "what is used",
        Kind.NAME,
        "What had the least cross-validated log-loss: fitted readings, readings as they are, or frequencies.",
    ),
    Column(
        "log_loss_before",
        "log-loss as it is",
        Kind.NUMBER,
        f"How surprising the human labels are to the judge; lower is better. {_AS_IT_IS}",
        digits=3,
    ),
    Column("log_loss_after", "calibrated", Kind.NUMBER, _CALIBRATED, digits=3),
    Column(
        "frequencies",
        "frequencies",
        Kind.NUMBER,
        "The log-loss of a judge that only knows how frequent each label is.",
        digits=3,
    ),
    Column(
        "gain",
        "gain (nats)",
        Kind.NUMBER,
        "By how much the log-loss is below that of a judge that only knows how frequent each label is.",
        digits=3,
    ),
    Column("low", "from", Kind.NUMBER, "The lower end of the gain's 95 % interval over instructions.", 3),
    Column("high", "to", Kind.NUMBER, "Its upper end.", 3),
    Column(
        "surely",
        "surely helps?",
        Kind.FLAG,
        f"Whether the interval is above 0, with {FEW} instructions or more. Where it is not, the readings may"
        " say no more than the frequencies do; they are used where that is the better guess.",
    ),
    Column(
        "ece_before",
        "ECE as it is",
        Kind.NUMBER,
        f"Expected calibration error: how far sureness and accuracy are apart; lower is better. {_AS_IT_IS}",
        digits=3,
    ),
    Column("ece_after", "calibrated", Kind.NUMBER, _CALIBRATED, digits=3),
)
_SOURCES = (
    Column("source", "source", Kind.NAME, "What is left out to see what it adds."),
    Column(
        "nats",
        "log-loss (nats)",
        Kind.NUMBER,
        "By how much the log-loss is higher without it: above 0, it helps.",
        digits=4,
    ),
    Column("low", "from", Kind.NUMBER, "The lower end of the 95 % interval over instructions.", 4),
    Column("high", "to", Kind.NUMBER, "Its upper end.", 4),
    Column(
        "right",
        "labels right",
        Kind.ESTIMATE,
        "How many more labels are right with it, in percent points, and the 95 % interval.",
    ),
)
_PARAMETERS = (
    Column("criterion", "fitted on all", Kind.NAME, "The criterion, fitted on all its labels."),
    Column(
        "scale",
        "scale",
        Kind.NUMBER,
        "How much the judge's sureness is stretched (above 1) or shrunk (below 1).",
        digits=3,
    ),
    *(
        Column(label, f"bias {label}", Kind.NUMBER, f"What is added for the label “{words(label)}”.")
        for label in PREFERENCES
    ),
    Column(
        "shrinkage",
        "shrinkage",
        Kind.SHORTEST,
        "How strongly the fit is held to the plain frequencies of the labels.",
        instead={AS_READ: "as it is", math.inf: "frequencies alone"},
    ),
)


_PARTS = (
    Column("criterion", "looked at beside", Kind.NAME, "The criterion that is decided."),
    Column("part", "what", Kind.NAME, "What is looked at beside the mean of all readings."),
    Column(
        "factor",
        "factor",
        Kind.NUMBER,
        "How much of what it says is added to what the mean of all says.",
        digits=3,
    ),
    Column("shrinkage", "shrinkage", Kind.SHORTEST, "How strongly the factors are held to 0."),
)


def calibration_sections(made: CalibratedRun) -> list[Section]:
    """All that is shown of a calibration: what it is worth, what each source adds, what was fitted."""
    return [quality_section(made), *sources_section(made), parameter_section(made)]


def calibration_warnings(made: CalibratedRun) -> Iterator[str]:
    """What took no part, and where fewer labels are right than before, or than a trivial judge's."""
    for name, count in made.unscored.items():
        if count:
            yield f"{words(name)}: {count:,} labelled items are unscored and take no part."
    for reason in made.left_out.values():
        yield f"Left as it is: {reason}"
    for name, report in made.reports.items():
        found = mean_accuracies([report])
        if found["more"].value < 0:
            yield (
                f"{words(name)}: calibrated, fewer labels are right than as it is, in percent points:"
                f" {found['more']}. More human labels would help."
            )
    not_better = [
        f"{words(name)} {percent(report.after.accuracy)} ({TRIVIAL[rival]} {percent(reached)})"
        for name, report in made.reports.items()
        for rival, reached in [made.trivial[name]]
        if report.after.accuracy <= reached
    ]
    if not_better:
        yield (
            "Calibrated, no more labels are right than the best of the trivial judges reaches on these items:"
            f" {', '.join(not_better)}."
        )


def quality_section(made: CalibratedRun) -> Section:
    """What the calibration is worth on labels that it was not fitted on."""
    return Section(
        "quality",
        "Before and after calibration",
        [quality_table(made.reports), gain_table(made.reports)],
        "Cross-validated: no instruction is used both to fit and to measure."
        + (_ALIKE if made.calibration.alike else _FREE),
    )


def quality_table(reports: Mapping[str, CalibrationReport]) -> Table:
    """Labels before and after, cross-validated, beside the most frequent label."""
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
            report.surely_helps,
            *(quality.calibration_error for quality in (report.before, report.after)),
        ]
        for name, report in reports.items()
    ]
    return Table(_GAIN, rows)


def _chosen(strength: float | None) -> str:
    return "frequencies" if strength is None else "as it is" if strength == AS_READ else "fitted"


def _accuracies(reports: Mapping[str, CalibrationReport]) -> list[Value]:
    """Before and after, the difference, and of the most frequent label; in the mean."""
    frequent = fmean(report.baseline.accuracy for report in reports.values())
    return [*mean_accuracies(reports.values()).values(), frequent]


def sources_section(made: CalibratedRun) -> list[Section]:
    """What each source of readings adds, the most first; none where there is one source only."""
    if not made.without:
        return []
    found = {source: added(lost, made.reports) for source, lost in made.without.items()}
    rows: list[Row] = [
        [source, each.nats, *(each.interval or (None, None)), each.right]
        for source, each in sorted(found.items(), key=lambda pair: -pair[1].nats)
    ]
    help_text = (
        "What is lost where one source is left out and all others stay, in the mean over the criteria,"
        " cross-validated. A source that adds nothing may still be worth something alone: what it says,"
        " others say too. “The second order” is what reading both orders adds to the first."
    )
    return [Section("sources", "What each source adds", [Table(_SOURCES, rows)], help_text)]


def parameter_section(made: CalibratedRun) -> Section:
    """What the calibration consists of."""
    tables = [parameter_table(made.reports), *part_tables(made.reports)]
    return Section("parameters", "What was fitted", tables)


def part_tables(reports: Mapping[str, CalibrationReport]) -> list[Table]:
    """The factors of what is looked at beside the mean of the readings; none where nothing is."""
    rows: list[Row] = [
        [words(name), part.in_words, factor, report.calibration.strength_of_parts]
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
