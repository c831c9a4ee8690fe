"""`calibrate`, `learning-curve`, `orders`, `jury`: what labels, the second order and more judges gain."""

import argparse
from pathlib import Path
from typing import Any

from engine.annotations.records import LabelSourceKind
from engine.calibration import learning
from engine.calibration.jury import DEFAULT_CERTAINTY
from engine.calibration.run_calibration import Wishes
from engine.cli.shared import arguments as shared
from engine.cli.shared import console
from engine.cli.shared import measure_arguments as measures
from engine.cli.shared.progress import show_measure
from engine.core.errors import SetupError
from engine.core.formatting import counted
from engine.core.rubric import ELOQUENT
from engine.core.tables import Column, Kind, Section, Sentences, Sheet, Table, Tone
from engine.judging.item_prompt import order_tokens
from engine.metrics.matching import match, told_apart
from engine.metrics.planning import LabelGoals, size_of_groups
from engine.operations.measuring import JurySetup, decide_together, fit_calibration, worth_together
from engine.operations.opening import check_store, files_of_runs
from engine.report.calibration import calibration_sections, learning_section
from engine.report.jury import jury_worth_section
from engine.report.orders import margin_sections
from engine.report.run import run_facts
from engine.results.calibration import load_calibration, save_calibration
from engine.results.run_results import calibration_of_run
from engine.results.second_order import KEEP, learned_from
from engine.settings.identity import StoredRun
from engine.store.run_store import RunStore
from engine.system.files import check_targets


def calibrate() -> console.Parser:
    """Fit, for each criterion, a scale and four biases to a run's log-probabilities, so that its labels
    and probabilities agree with human ones; if a run has several, one weight for each elicitation
    method, judge and other criterion. L2 regularisation pulls the fit towards the class frequencies,
    so that few labels do little harm. Use it with judge --calibration, or with runs recalibrate.
    """
    arguments = console.command_parser(calibrate, _calibrate)
    arguments.add_argument("run", metavar="RUN", help="the id of a run")
    measures.add_gold(arguments)
    measures.add_calibration_wishes(arguments)
    arguments.file("--out", "the calibration", metavar="FILE.json", required=True)
    shared.add_table_files(arguments)
    arguments.store()
    return arguments


def _calibrate(options: argparse.Namespace) -> None:
    shared.check_suffix("--out", options.out, "a calibration is JSON", ".json")
    measures.check_measure_outputs(options, [options.run])
    with console.interruptible() as cancel:
        system, gold = measures.judged_by_run(options, cancel)
        wishes = Wishes(options.places_matter, options.lengths)
        fitting = fit_calibration(system, gold, wishes, cancel, partial=options.partial)
        matched, made = show_measure("fitting", fitting)
    save_calibration(options.out, made.calibration)
    sections = calibration_sections(made)
    if system.results is not None and (one_label := made.one_label_sentence(system.results)):
        sections = [Section("one_label", "", [Sentences([one_label], Tone.CAVEAT)]), *sections]
    sheet = Sheet(f"{system.name}, cross-validated on {matched.dataset.name}", sections)
    shared.write_table_files(options, "calibrate", sheet)
    console.print_sheet(sheet)
    print(f"\nCalibration: {options.out}")


def learning_curve() -> console.Parser:
    arguments = console.command_parser(
        learning_curve,
        _learning_curve,
        "The learning curve of a run's calibration: how well it predicts held-out labels, by the number of\n"
        "training labels, doubled at each step; compared with the class prior only, and with human\n"
        f"annotators. It needs labels of {learning.LEAST_TO_LEARN} different instructions.",
    )
    arguments.add_argument("run", metavar="RUN", help="the id of a run")
    measures.add_gold(arguments)
    measures.add_calibration_wishes(arguments)
    arguments.file("--json", "the same numbers as JSON")
    shared.add_table_files(arguments)
    arguments.store()
    return arguments


def _learning_curve(options: argparse.Namespace) -> None:
    measures.check_measure_outputs(options, [options.run])
    with console.interruptible() as cancel:
        system, gold = measures.judged_by_run(options, cancel)
        matched = match(system, gold, options.partial)
        measures.say_what_was_left_out(matched)
        wishes = Wishes(options.places_matter, options.lengths)
        curve = show_measure("learning", learning.run_curve(matched, cancel, wishes))
    found = {"run": matched.system.name, "labels": matched.dataset.name, **curve.as_json()}
    shared.write_json_file(options, "Learning curve", found)
    sheet = Sheet(f"{system.name}, by labels of {matched.dataset.name}", [learning_section(curve)])
    shared.write_table_files(options, "learning-curve", sheet)
    console.print_sheet(sheet)


def jury() -> console.Parser:
    """Combine several SYSTEMs, runs and submissions of different models or settings on the same items,
    and store the result as a run, which is scored, compared, ranked, reviewed and exported like any
    other. The jury decides by the mean of the judges' log-probabilities; with --gold by a calibration
    that weights each judge.
    """
    arguments = console.command_parser(jury, _jury)
    measures.add_systems(arguments)
    arguments.add_argument("--name", default="", metavar="NAME", help="a name for the jury")
    measures.add_gold(arguments, required=False)
    arguments.file("--calibration", "decide by this calibration of the same judges")
    arguments.file("--dataset", "the dataset (default: that of the first run, else --gold)")
    arguments.number(
        "--certainty",
        "the probability assumed for the label of a submission (%(default)s)",
        metavar="P",
        kind=float,
        default=DEFAULT_CERTAINTY,
    )
    arguments.flag("--lengths", "with --gold: use the lengths of the responses as a feature")
    arguments.flag(
        "--plan",
        "with --gold: print how many independent judges these are worth and what each adds; store nothing",
    )
    arguments.store()
    return arguments


def _jury(options: argparse.Namespace) -> None:
    if options.plan and options.gold is None:
        raise SetupError("--plan needs human labels.", "Name the labelled dataset with --gold.")
    with console.interruptible() as cancel:
        opened = [measures.system_of(options, word, LabelSourceKind.JUDGE) for word in options.systems]
        systems = told_apart(opened)
        gold, items = (
            None if path is None else measures.read_labels(options, path, systems, cancel)
            for path in (options.gold, options.dataset)
        )
        setup = JurySetup(
            systems,
            name=options.name,
            items=items,
            gold=gold,
            calibration=options.calibration,
            partial=options.partial,
            lengths=options.lengths,
            certainty=options.certainty,
        )
        if options.plan:
            worth = show_measure("Judges", worth_together(setup, cancel))
            console.print_sheet(Sheet("", [jury_worth_section(worth)]))
            return
        kept = show_measure("fitting", decide_together(setup, options.store, cancel))
    console.print_sheet(Sheet("", [Section("panel", "", [run_facts(kept.results)]), *kept.sections]))
    print(f"\n{console.printable(kept.run.title)} is run {kept.run.id} of {options.store}.")


def plan_labels() -> console.Parser:
    arguments = console.command_parser(
        plan_labels,
        _plan_labels,
        "How many items to label at random, before any is labelled: for intervals of a half width, to find\n"
        "that a judge beats a baseline, and to let its labels stand (see trust). Where an instruction has\n"
        "several items, labels say less: name the dataset, or --each.",
    )
    arguments.add_argument("dataset", type=Path, nargs="?", metavar="DATASET", help="what is to be labelled")
    for name, what in _PLANNED.items():
        default = getattr(LabelGoals, name)
        arguments.number(f"--{name}", f"{what} (%(default)g)", metavar="SHARE", kind=float, default=default)
    arguments.number("--each", "items of an instruction, without DATASET (1)", kind=float, default=1.0)
    shared.add_columns(arguments, "DATASET")
    return arguments


_PLANNED = {
    "accuracy": "the accuracy that is expected",
    "kappa": "the kappa that is expected",
    "chance": "the agreement by chance",
    "baseline": "the accuracy of the best baseline",
    "half": "the half width of an interval",
    "target": "the share of labels that stand which is to agree with people",
    "risk": "how probable it may be that fewer do",
    "power": "in which share of cases what is so is found",
}


def _plan_labels(options: argparse.Namespace) -> None:
    wanted, each = LabelGoals(**{name: getattr(options, name) for name in _PLANNED}), max(options.each, 1.0)
    if options.dataset is not None:
        with console.interruptible() as cancel:
            dataset = shared.read_dataset(options, options.dataset, cancel, ELOQUENT)
        each = size_of_groups(dataset.groups.values())
    columns = Column("wanted", "wanted", Kind.TEXT), Column("items", "items to label", Kind.COUNT)
    table = Table(columns, [list(row) for row in wanted.items(each).items()])
    said = f"With {each:.1f} items of an instruction on average; a dash: no number of labels shows that."
    console.print_sheet(Sheet("Labels of a random sample", [Section("plan", "", [table, Sentences([said])])]))


def orders() -> console.Parser:
    """From a run in both orders: how many of its labels stay the same if the second order is read only
    for items that are uncertain after the first, and how much that saves. Use the margin threshold
    found here with judge --orders uncertain --margin-threshold-from RUN. Human labels are not needed.
    """
    arguments = console.command_parser(orders, _orders)
    arguments.add_argument("run", type=int, metavar="RUN", help="the id of a run in both orders")
    arguments.number(
        "--keep",
        "the share of each criterion's labels that must stay the same, 0 to 1 (%(default)s)",
        metavar="SHARE",
        kind=float,
        default=KEEP,
    )
    arguments.file("--dataset", "the run's dataset, if it was moved")
    arguments.file(
        "--calibration",
        "also analyse the labels decided by this calibration (default: the run's own, if it has one)",
    )
    arguments.file("--json", "the same numbers as JSON")
    shared.add_columns(arguments, "dataset")
    arguments.store("runs")
    return arguments


def _orders(options: argparse.Namespace) -> None:
    read_from = {"--calibration": options.calibration} if options.calibration else {}
    read_from |= {"run store": options.store, **files_of_runs(options.store, [options.run])}
    check_targets(shared.written_files(options), read_from)
    with console.interruptible() as cancel, RunStore(check_store(options.store)) as store:
        with store.reading():
            run = store.run(options.run)
            given = options.calibration
            calibration = load_calibration(given) if given else calibration_of_run(run)
            judged = tuple(store.judged(run.id))
        read = learned_from(run, judged, calibration=calibration)
        if calibration is not None and (lacking := calibration.check_run(run, judged)):
            console.tell(console.printable(lacking))
        # Without the dataset, shared instructions and tokens are not known.
        instructions: dict[str, str] = {}
        tokens: list[learning.OrderTokens] | None = None
        try:
            dataset = shared.items_of_run(options, run, options.dataset, cancel)
            instructions = dataset.groups
            counts = show_measure("Counting", order_tokens(run, dataset, cancel))
            tokens = [learning.OrderTokens(*counts[item_id]) for item_id in read.ids]
        except SetupError as error:
            if options.dataset is not None:
                raise
            console.tell(f"{console.printable(error.problem)}\nHow many tokens would be saved is not known.")
        groups = learning.groups_by_instruction(read.ids, instructions)
        report = learning.margin_report(read, groups, options.keep, tokens)
    shared.write_json_file(options, "Orders", _orders_json(run, report))
    how = "uncalibrated and calibrated" if calibration else "uncalibrated"
    title = f"{run.title}: {counted(len(read.ids), 'item', 'items')} in both orders, {how}"
    console.print_sheet(Sheet(title, margin_sections(report)))


def _orders_json(run: StoredRun, report: learning.MarginReport) -> dict[str, Any]:
    return {
        "run": run.id,
        "keep": report.keep,
        "least_margin": report.least.below if report.reached else None,
        "cross_validated": report.checked and _point_json(report.checked),
        "margins": [_point_json(point) for point in report.points],
    }


def _point_json(point: learning.MarginPoint) -> dict[str, Any]:
    return {
        "margin": point.below,
        "items": point.items,
        "second_order_read": point.read,
        "tokens_saved": point.saved,
        "equal_labels": point.equal,
        "interval": point.interval_of_equal,
        "criteria": {
            name: {"equal_labels": share, "interval": point.intervals[name]}
            for name, share in point.kept.items()
        },
        **({"calibrated": _point_json(point.calibrated)} if point.calibrated else {}),
    }
