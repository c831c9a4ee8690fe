"""`report`: an HTML report of a run against human labels, and its figures as files.

Knows: its arguments and what it prints.
"""

import argparse
from pathlib import Path

from engine.calibration.learning import run_curve
from engine.cli.shared.console import DONE, add_store, command_parser, interruptible
from engine.cli.shared.data_arguments import read_labels
from engine.cli.shared.judging import show_measure
from engine.cli.shared.measure_arguments import (
    ModelMeasures,
    add_gold,
    add_labels_of,
    add_model_measures,
    add_slices,
    add_weights,
    check_measure_outputs,
    divided,
    find_judge_model,
    kept,
    say_what_was_left_out,
    sliced,
    weigh_system,
)
from engine.core.errors import SetupError
from engine.metrics.evaluation import evaluate
from engine.metrics.matching import match, open_system
from engine.report.html_report import DEFAULT_WEIGHTS, REPORT_FIGURES, gather, report_html
from engine.system.files import write_whole
from engine.system.paths import reason_of, shown

_FORMS = ("png", "svg")
_SUFFIXES = (".html", ".htm")


def parser() -> argparse.ArgumentParser:
    """The arguments of `report`."""
    arguments = command_parser(
        "report",
        "Write one HTML file that scores RUN against human labels: tables, figures, the largest\n"
        "disagreements, and how the run was made. It needs no network and contains no script. RUN may also\n"
        "be a submission file; then probabilities, model and settings are not known.",
    )
    arguments.add_argument("run", metavar="RUN", help="the id of a run, or SUBMISSION.tsv")
    add_gold(arguments)
    arguments.add_argument("--out", type=Path, required=True, metavar="FILE.html", help="the report")
    arguments.add_argument(
        "--figures", type=Path, metavar="DIR", help="also write its figures, as PNG and SVG"
    )
    arguments.add_argument(
        "--curve",
        action="store_true",
        help="include the learning curve of the calibration (takes some seconds)",
    )
    add_weights(arguments)
    add_slices(arguments)
    add_labels_of(arguments)
    add_store(arguments)
    add_model_measures(arguments)
    return arguments


def run(options: argparse.Namespace) -> int:
    """Measure, draw and write."""
    if options.out.suffix.lower() not in _SUFFIXES:
        raise SetupError(f"--out {options.out}: a report is HTML.", f"Name it {options.out.stem}.html")
    find_judge_model(options)
    check_measure_outputs(options, {"--out": options.out}, [options.run])
    with interruptible() as cancel:
        system = open_system(options.run, options.store, options.labels_of)
        gold = read_labels(options, options.gold, [system], cancel)
        divisions = divided(options, gold)
        matched = kept(options, match(system, gold, options.partial))
        _, weighted_scoring = weigh_system(options, matched.system, matched)
        targets = _figure_targets(options.figures) if options.figures else {}
        written = {"--out": options.out} | {f"--figures {path.name}": path for path in targets}
        check_measure_outputs(options, written, [options.run])
        measures = ModelMeasures(options, cancel)
        say_what_was_left_out(matched)
        curve = show_measure("learning", run_curve(matched, cancel)) if options.curve else None
        scores = measures.of(matched)
    chosen = not (options.weights is None and options.tie_threshold is None and options.rubric is None)
    source = "as given to the command" if chosen else DEFAULT_WEIGHTS
    report = gather(evaluate(matched, scores), weighted_scoring, source, sliced(matched, divisions), curve)
    drawn = {name: figure.as_bytes("svg") for name, figure in report.figures.items()}
    write_whole(options.out, report_html(report, drawn).encode("utf-8"))
    print(f"Report: {options.out}")
    for path, (name, form) in targets.items():
        if name in drawn:
            write_whole(path, drawn[name] if form == "svg" else report.figures[name].as_bytes(form))
    if options.figures:
        print(f"Figures: {options.figures}")
    return DONE


def _figure_targets(folder: Path) -> dict[Path, tuple[str, str]]:
    """The path of each figure in each format; the folder is made if it is missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SetupError(
            f"--figures {shown(folder)}: the folder cannot be made: {reason_of(error)}.",
            "Name another folder.",
        ) from error
    return {folder / f"{name}.{form}": (name, form) for name in REPORT_FIGURES for form in _FORMS}
