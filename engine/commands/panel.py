"""`panel`: several runs and submissions of the same items decided together, kept as a run.

Knows: its arguments and what it prints.
"""

import argparse
from pathlib import Path

from engine.calibrate.panel import USUAL_CERTAINTY, items_of, make_panel
from engine.calibrate.run_calibration import Wishes, calibrating
from engine.commands.shared.column_arguments import read_labels
from engine.commands.shared.console import DONE, add_store, command_parser, interruptible, printable, tell
from engine.commands.shared.measure_arguments import add_gold, say_what_was_left_out
from engine.commands.shared.printed_sheet import print_sheet
from engine.commands.shared.progress import show_measure
from engine.core.cancel import CancelToken
from engine.core.errors import SetupError
from engine.core.label_sources import Whose
from engine.core.run_records import CERTAINTY, checked_name
from engine.core.sheets import Section, Sheet
from engine.data.dataset import Dataset
from engine.decisions.calibration import Calibration, load_calibration
from engine.decisions.run_results import RunResults, load_results
from engine.measure.matching import match
from engine.measure.systems import open_system, system_of_run, told_apart
from engine.report.calibration_tables import calibration_sections, calibration_warnings
from engine.report.run_facts import run_facts
from engine.report.run_tables import labels_given_section
from engine.store.run_store import RunStore


def parser() -> argparse.ArgumentParser:
    """The arguments of `panel`."""
    arguments = command_parser(
        "panel",
        "Decide the same items together by several SYSTEMs, runs and submissions of other models or\n"
        "settings, and keep that as a run: it is scored, compared, ranked, reviewed and exported as any\n"
        "other. By the mean of their log-probabilities; with --gold by what human labels say that each\n"
        "judge is worth.",
    )
    arguments.add_argument(
        "systems", nargs="+", metavar="SYSTEM", help="SUBMISSION.tsv, or the id of a run; two or more"
    )
    arguments.add_argument("--name", default="", metavar="NAME", help="what the panel is called")
    add_gold(arguments, required=False)
    arguments.add_argument(
        "--calibration", type=Path, metavar="FILE", help="decide by a calibration of the same judges"
    )
    arguments.add_argument(
        "--dataset",
        type=Path,
        metavar="FILE",
        help="the items; where it is not given, those of the first run, or those of --gold",
    )
    arguments.add_argument(
        "--certainty",
        type=float,
        default=USUAL_CERTAINTY,
        metavar="P",
        help="how probable the label of a submission is taken to be (%(default)s)",
    )
    arguments.add_argument(
        "--lengths", action="store_true", help="with --gold: let the lengths of the responses count"
    )
    add_store(arguments)
    return arguments


def run(options: argparse.Namespace) -> int:
    """Make the panel, calibrate it where that is asked for, and print what it is."""
    _check(options)
    called = checked_name(options.name, "the panel")
    with interruptible() as cancel:
        systems = told_apart([open_system(word, options.store, Whose.JUDGE) for word in options.systems])
        gold = None if options.gold is None else read_labels(options, options.gold, systems, cancel)
        items = None
        if options.dataset is not None:
            items = read_labels(options, options.dataset, systems, cancel)
        items = items or items_of(systems, gold, cancel)
        panel = make_panel(systems, items, options.partial, options.certainty)
        for remark in panel.remarks:
            tell(remark)
        known = load_calibration(options.calibration) if options.calibration else None
        if known is not None:
            if lacking := known.check_run(panel.results.run, panel.judged):
                tell(printable(lacking))
            if CERTAINTY in panel.manifest:
                tell("A submission is known by its name: that its judge is that of the fit, nobody knows.")
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
        raise SetupError("--gold fits what decides, --calibration says it.", "Leave one of them out.")
    if options.lengths and options.gold is None:
        raise SetupError("--lengths is for what --gold fits.", "Add --gold, or leave it out.")


def _fitted(
    options: argparse.Namespace, results: RunResults, gold: Dataset, cancel: CancelToken
) -> tuple[Calibration, list[Section]]:
    """What human labels say that each judge is worth, and the sections that show it."""
    matched = match(system_of_run(results), gold, partial=True)
    say_what_was_left_out(matched)
    made = show_measure("fitting", calibrating(matched, cancel, Wishes(lengths=options.lengths)))
    for warning in calibration_warnings(made):
        tell(warning)
    return made.calibration, calibration_sections(made)
