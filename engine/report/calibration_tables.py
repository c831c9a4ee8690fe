"""What a calibration is worth and what it does, as tables of text and sentences.

Knows: which columns stand side by side, the words for warnings. Does not know: how one is fitted, terminals,
windows.
"""

from collections.abc import Iterator, Mapping

from engine.calibrate.cross_validation import AS_READ, CalibrationReport, Quality
from engine.calibrate.run_calibration import CalibratedRun
from engine.core.formatting import Table, number, percent, words
from engine.core.items import PREFERENCES
from engine.core.judgments import CriterionCalibration
from engine.measure.accuracy import mean


def calibration_warnings(made: CalibratedRun) -> Iterator[str]:
    """What took no part, and where fewer labels are right than before."""
    for name, count in made.unscored.items():
        if count:
            yield f"{words(name)}: {count:,} labelled items are unscored and take no part."
    for reason in made.left_out.values():
        yield f"Left as it is: {reason}"
    for name, report in made.reports.items():
        if report.after.accuracy < report.before.accuracy:
            yield (
                f"{words(name)}: calibrated, fewer labels are right ({percent(report.after.accuracy)}) than"
                f" as it is ({percent(report.before.accuracy)}). More human labels would help."
            )


def quality_table(reports: Mapping[str, CalibrationReport]) -> Table:
    """Labels and probabilities before and after, cross-validated, beside the most frequent label."""
    rows = [
        [words(name), str(report.items), *_cells(report.before, report.after, report.baseline)]
        for name, report in reports.items()
    ]
    means = [
        percent(mean([getattr(report, when).accuracy for report in reports.values()]))
        for when in ("before", "after", "baseline")
    ]
    rows.append(["mean", "", *means, *[""] * 5])
    header = ["criterion", "labels", "accuracy as it is", "calibrated", "most frequent"]
    return Table(
        [*header, "log-loss as it is", "calibrated", "frequencies", "ECE as it is", "calibrated"], rows
    )


def _cells(before: Quality, after: Quality, baseline: Quality) -> list[str]:
    return [
        *(percent(one.accuracy) for one in (before, after, baseline)),
        *(number(one.log_loss, 3) for one in (before, after, baseline)),
        *(number(one.calibration_error, 3) for one in (before, after)),
    ]


def _shrinkage(calibration: CriterionCalibration) -> str:
    if calibration.strength is None:
        return "frequencies alone"
    return "as it is" if calibration.strength == AS_READ else f"{calibration.strength:g}"


def parameter_table(reports: Mapping[str, CalibrationReport]) -> Table:
    """The scale and biases that were fitted on all labels."""
    rows = []
    for name, report in reports.items():
        one = report.calibration
        rows.append(
            [words(name), number(one.scale, 3), *(number(bias) for bias in one.biases), _shrinkage(one)]
        )
    return Table(["fitted on all", "scale", *(f"bias {label}" for label in PREFERENCES), "shrinkage"], rows)
