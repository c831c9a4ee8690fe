"""`calibrate`: make a run's probabilities fit human labels, and say what that is worth.

Knows: its arguments and what it prints. The fitting is `calibrating.py`'s.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path

from engine.calibrating import calibrate_run
from engine.calibration import AS_READ, CalibrationReport, Quality
from engine.calibration_file import save_calibration
from engine.commands.console import DONE, add_store, command_parser, interruptible, printable, table, tell
from engine.commands.measuring import add_gold, check_measure_outputs, say_what_was_left_out
from engine.dataset import load_dataset
from engine.errors import SetupError
from engine.matching import match
from engine.metrics import mean
from engine.records import PREFERENCES, CriterionCalibration
from engine.shown import number, percent
from engine.systems import open_system


def parser() -> argparse.ArgumentParser:
    """The arguments of `calibrate`."""
    arguments = command_parser(
        "calibrate",
        "Fit, for each criterion, a scale and four biases to a run's log-probabilities, so that its labels\n"
        "and probabilities agree with human ones; shrunk towards the frequencies of the labels, so that few\n"
        "labels do little harm. Use it with judge --calibration, or on the run itself with runs recalibrate.",
    )
    arguments.add_argument("run", metavar="RUN", help="the id of a run")
    add_gold(arguments)
    arguments.add_argument("--out", type=Path, required=True, metavar="FILE.json", help="the calibration")
    add_store(arguments)
    return arguments


def run(options: argparse.Namespace) -> int:
    """Calibrate, write, and print what it is worth."""
    if options.out.suffix.lower() != ".json":
        raise SetupError(f"--out {options.out}: a calibration is JSON.", f"Name it {options.out.stem}.json")
    check_measure_outputs(options, {"--out": options.out}, [options.run])
    with interruptible() as cancel:
        system = open_system(options.run, options.store)
        matched = match(system, load_dataset(options.gold, cancel=cancel), options.partial)
    say_what_was_left_out(matched)
    made = calibrate_run(matched)
    for name, count in made.unscored.items():
        if count:
            tell(f"{name}: {count:,} labelled items are unscored and take no part.")
    for reason in made.left_out.values():
        tell(f"Left as it is: {reason}")
    for name, report in made.reports.items():
        if report.after.accuracy < report.before.accuracy:
            tell(
                f"{name}: calibrated, fewer labels are right ({percent(report.after.accuracy)}) than as it"
                f" is ({percent(report.before.accuracy)}). More human labels would help."
            )
    save_calibration(options.out, made.calibration)
    gold = printable(matched.dataset.name)
    print(f"{system.name}, cross-validated on {gold}; no instruction is on both sides.\n")
    print(_quality_table(made.reports))
    print(f"\n{_parameter_table(made.reports)}")
    print(f"\nCalibration: {options.out}")
    return DONE


def _quality_table(reports: Mapping[str, CalibrationReport]) -> str:
    rows = [
        [name, str(report.items), *_cells(report.before, report.after, report.baseline)]
        for name, report in reports.items()
    ]
    means = [
        percent(mean([getattr(report, when).accuracy for report in reports.values()]))
        for when in ("before", "after", "baseline")
    ]
    rows.append(["mean", "", *means, *[""] * 5])
    header = ["criterion", "labels", "accuracy as it is", "calibrated", "most frequent"]
    return table(
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


def _parameter_table(reports: Mapping[str, CalibrationReport]) -> str:
    rows = []
    for name, report in reports.items():
        one = report.calibration
        rows.append([name, number(one.scale, 3), *(number(bias) for bias in one.biases), _shrinkage(one)])
    return table(["fitted on all", "scale", *(f"bias {label}" for label in PREFERENCES), "shrinkage"], rows)
