"""`calibrate`: calibrate a run's probabilities on human labels, and report what that gains.

Knows: its arguments and what it prints.
"""

import argparse
from pathlib import Path

from engine.calibration.run_calibration import Wishes, calibrating
from engine.cli.shared.console import DONE, add_store, command_parser, interruptible, print_sheet, tell
from engine.cli.shared.data_arguments import add_table_files, table_targets, write_table_files
from engine.cli.shared.judging import show_measure
from engine.cli.shared.measure_arguments import (
    add_calibration_wishes,
    add_gold,
    check_measure_outputs,
    matched_predictions,
)
from engine.core.errors import SetupError
from engine.core.tables import Section, Sentences, Sheet, Tone
from engine.report.calibration import calibration_sections, calibration_warnings
from engine.results.calibration import save_calibration


def parser() -> argparse.ArgumentParser:
    """The arguments of `calibrate`."""
    arguments = command_parser(
        "calibrate",
        "Fit, for each criterion, a scale and four biases to a run's log-probabilities, so that its labels\n"
        "and probabilities agree with human ones; if a run has several, one weight for each elicitation\n"
        "method, judge and other criterion. L2 regularisation pulls the fit towards the class frequencies,\n"
        "so that few labels do little harm. Use it with judge --calibration, or with runs recalibrate.",
    )
    arguments.add_argument("run", metavar="RUN", help="the id of a run")
    add_gold(arguments)
    add_calibration_wishes(arguments)
    arguments.add_argument("--out", type=Path, required=True, metavar="FILE.json", help="the calibration")
    add_table_files(arguments)
    add_store(arguments)
    return arguments


def run(options: argparse.Namespace) -> int:
    """Calibrate, write, and print what that gains."""
    if options.out.suffix.lower() != ".json":
        raise SetupError(f"--out {options.out}: a calibration is JSON.", f"Name it {options.out.stem}.json")
    check_measure_outputs(options, {"--out": options.out, **table_targets(options)}, [options.run])
    with interruptible() as cancel:
        matched = matched_predictions(options, cancel)
        wishes = Wishes(options.places_matter, options.lengths)
        made = show_measure("fitting", calibrating(matched, cancel, wishes))
    for warning in calibration_warnings(made):
        tell(warning)
    save_calibration(options.out, made.calibration)
    results = matched.system.results
    one_label = made.one_label_sentence(results) if results is not None else ""
    caveats = [Section("one_label", "", [Sentences([one_label], Tone.CAVEAT)])] if one_label else []
    title = f"{matched.system.name}, cross-validated on {matched.dataset.name}"
    sheet = Sheet(title, [*caveats, *calibration_sections(made)])
    write_table_files(options, "calibrate", sheet)
    print_sheet(sheet)
    print(f"\nCalibration: {options.out}")
    return DONE
