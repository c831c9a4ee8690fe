"""`learning-curve`: the quality of a run's calibration by number of human labels.

Knows: its arguments and what it prints.
"""

import argparse
from pathlib import Path

from engine.calibration.learning import LEAST_TO_LEARN, run_curve
from engine.calibration.run_calibration import Wishes
from engine.cli.shared.console import DONE, add_store, command_parser, interruptible, print_sheet
from engine.cli.shared.data_arguments import add_table_files, table_targets, write_table_files
from engine.cli.shared.judging import show_measure
from engine.cli.shared.measure_arguments import (
    add_calibration_wishes,
    add_gold,
    check_measure_outputs,
    matched_predictions,
)
from engine.core.tables import Sheet
from engine.report.learning import learning_section
from engine.system.files import write_json


def parser() -> argparse.ArgumentParser:
    """The arguments of `learning-curve`."""
    arguments = command_parser(
        "learning-curve",
        "The learning curve of a run's calibration: how well it predicts held-out labels, by the number of\n"
        "training labels, doubled at each step; compared with the class prior only, and with human\n"
        f"annotators. It needs labels of {LEAST_TO_LEARN} different instructions.",
    )
    arguments.add_argument("run", metavar="RUN", help="the id of a run")
    add_gold(arguments)
    add_calibration_wishes(arguments)
    arguments.add_argument("--json", type=Path, metavar="FILE", help="the same numbers as JSON")
    add_table_files(arguments)
    add_store(arguments)
    return arguments


def run(options: argparse.Namespace) -> int:
    """Measure, write and print."""
    check_measure_outputs(options, {"--json": options.json, **table_targets(options)}, [options.run])
    with interruptible() as cancel:
        matched = matched_predictions(options, cancel)
        wishes = Wishes(options.places_matter, options.lengths)
        curve = show_measure("learning", run_curve(matched, cancel, wishes))
    if options.json:
        write_json(
            options.json, {"run": matched.system.name, "labels": matched.dataset.name, **curve.as_json()}
        )
        print(f"Learning curve: {options.json}\n")
    title = f"{matched.system.name}, by labels of {matched.dataset.name}"
    sheet = Sheet(title, [learning_section(curve)])
    write_table_files(options, "curve", sheet)
    print_sheet(sheet)
    return DONE
