"""`jury`: combine several runs and submissions of the same items into one run.

Knows: its arguments and what it prints.
"""

import argparse
from pathlib import Path

from engine.annotations.records import LabelSourceKind
from engine.calibration.jury import DEFAULT_CERTAINTY, items_of, make_jury
from engine.calibration.run_calibration import Wishes, calibrating
from engine.cli.shared.console import (
    DONE,
    add_store,
    command_parser,
    interruptible,
    print_sheet,
    printable,
    tell,
)
from engine.cli.shared.data_arguments import read_labels
from engine.cli.shared.judging import show_measure
from engine.cli.shared.measure_arguments import add_gold, say_what_was_left_out
from engine.core.errors import SetupError
from engine.core.events import CancelToken
from engine.core.tables import Section, Sheet
from engine.data.dataset import Dataset
from engine.metrics.matching import match, open_system, system_of_run, told_apart
from engine.report.calibration import calibration_sections, calibration_warnings
from engine.report.run import labels_given_section, run_facts
from engine.results.calibration import Calibration, load_calibration
from engine.results.run_results import RunResults, load_results
from engine.settings.identity import CERTAINTY, checked_name
from engine.store.run_store import RunStore


def parser() -> argparse.ArgumentParser:
    """The arguments of `jury`."""
    arguments = command_parser(
        "jury",
        "Combine several SYSTEMs, runs and submissions of different models or settings on the same items,\n"
        "and store the result as a run, which is scored, compared, ranked, reviewed and exported like any\n"
        "other. The jury decides by the mean of the judges' log-probabilities; with --gold by a calibration\n"
        "that weights each judge.",
    )
    arguments.add_argument(
        "systems", nargs="+", metavar="SYSTEM", help="SUBMISSION.tsv, or the id of a run; two or more"
    )
    arguments.add_argument("--name", default="", metavar="NAME", help="a name for the jury")
    add_gold(arguments, required=False)
    arguments.add_argument(
        "--calibration", type=Path, metavar="FILE", help="decide by this calibration of the same judges"
    )
    arguments.add_argument(
        "--dataset",
        type=Path,
        metavar="FILE",
        help="the dataset (default: that of the first run, else --gold)",
    )
    arguments.add_argument(
        "--certainty",
        type=float,
        default=DEFAULT_CERTAINTY,
        metavar="P",
        help="the probability assumed for the label of a submission (%(default)s)",
    )
    arguments.add_argument(
        "--lengths", action="store_true", help="with --gold: use the lengths of the responses as a feature"
    )
    add_store(arguments)
    return arguments


def run(options: argparse.Namespace) -> int:
    """Make the jury, calibrate it if requested, and print its facts and labels."""
    _check(options)
    called = checked_name(options.name, "the jury")
    with interruptible() as cancel:
        systems = told_apart(
            [open_system(word, options.store, LabelSourceKind.JUDGE) for word in options.systems]
        )
        gold = None if options.gold is None else read_labels(options, options.gold, systems, cancel)
        items = None
        if options.dataset is not None:
            items = read_labels(options, options.dataset, systems, cancel)
        items = items or items_of(systems, gold, cancel)
        panel = make_jury(systems, items, options.partial, options.certainty)
        for remark in panel.remarks:
            tell(remark)
        known = load_calibration(options.calibration) if options.calibration else None
        if known is not None:
            if lacking := known.check_run(panel.results.run, panel.judged):
                tell(printable(lacking))
            if CERTAINTY in panel.manifest:
                tell("A submission is known only by its name: its judge may be another than that of the fit.")
        sections: list[Section] = []
        if gold is not None:
            known, sections = _fitted(options, panel.results, gold, cancel)
        with RunStore(options.store) as store:
            kept = panel.keep(store, called, known)
            results = load_results(store, kept.id)
    shown = [Section("panel", "", [run_facts(results)]), *sections, labels_given_section(results)]
    print_sheet(Sheet("", shown))
    print(f"\n{printable(kept.title)} is run {kept.id} of {options.store}.")
    return DONE


def _check(options: argparse.Namespace) -> None:
    if options.gold is not None and options.calibration is not None:
        raise SetupError(
            "--gold and --calibration are both given: one fits a calibration, the other loads one.",
            "Remove one of them.",
        )
    if options.lengths and options.gold is None:
        raise SetupError(
            "--lengths is a feature of the calibration that --gold fits.", "Add --gold, or remove --lengths."
        )


def _fitted(
    options: argparse.Namespace, results: RunResults, gold: Dataset, cancel: CancelToken
) -> tuple[Calibration, list[Section]]:
    """The calibration of the jury on human labels, and the sections that show it."""
    matched = match(system_of_run(results), gold, partial=True)
    say_what_was_left_out(matched)
    made = show_measure("fitting", calibrating(matched, cancel, Wishes(lengths=options.lengths)))
    for warning in calibration_warnings(made):
        tell(warning)
    return made.calibration, calibration_sections(made)
