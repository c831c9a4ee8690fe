"""`trust`: which labels of a judge may stand."""

import argparse

from engine.analysis.trust import Trusted, TrustRequest, trust_of
from engine.annotations.records import LabelSourceKind
from engine.cli.shared import arguments as shared
from engine.cli.shared import console
from engine.cli.shared import measure_arguments as measures
from engine.core.errors import SetupError
from engine.core.tables import Sheet
from engine.metrics.matching import match_items_together, told_apart
from engine.metrics.trust import RISK, TARGET, Promise
from engine.operations.opening import check_store
from engine.report.trust import (
    TRUST_FIGURE,
    trust_json,
    trust_report_figure,
    trust_sections,
    trust_statements,
)
from engine.results.trust import CONFIDENCES, ConfidenceMeasure, confidences
from engine.store.run_store import RunStore
from engine.system.files import write_whole


def trust() -> console.Parser:
    """Which labels of SYSTEM may stand: the lowest confidence from which on at least --target of its labels
    agree with people, at a --risk of being wrong about that. It needs human labels of items that were drawn
    at random: labels given on Review in the order “Random sample”, or those of --gold.
    """
    arguments = console.command_parser(trust, _trust)
    arguments.add_argument(
        "system", metavar="SYSTEM", help="the id of a run, or another judge's file with its confidence"
    )
    shared.add_judge_file(arguments)
    measures.add_gold(arguments, required=False)
    for name, of_what, default in (
        ("--target", "the share of labels that stand which is to agree with people", TARGET),
        ("--risk", "how probable a threshold may be whose labels agree less often", RISK),
    ):
        words = f"{of_what}, 0 to 1 (%(default)s)"
        arguments.number(name, words, metavar="SHARE", kind=float, default=default)
    arguments.add_argument(
        "--confidence",
        choices=CONFIDENCES,
        default=ConfidenceMeasure.PROBABILITY.value,
        help="how sure the judge is of a label: its probability; that times the share of orders, methods,"
        " reasoning samples and judges that agree; or the one of both by which more may stand, each at half"
        " of the risk (%(default)s)",
    )
    arguments.flag("--jointly", "the risk is of all criteria together, not of each")
    arguments.flag(
        "--anytime", "a promise that holds after each label, not only for a number that was fixed before"
    )
    arguments.flag("--forecast", "also show what may stand with more labels")
    then = "decide what may not stand by a second judge of the same items, before anything is judged again"
    arguments.add_argument("--then", metavar="SYSTEM", help=then)
    arguments.flag("--keep", "keep the thresholds with the run, for exports, Review and judge --escalate")
    arguments.file("--json", "the same numbers as JSON")
    shared.add_table_files(arguments)
    measures.add_methods(arguments)
    arguments.file("--figures", "also write the figure, as PNG and SVG", metavar="DIR")
    arguments.store()
    return arguments


def _trust(options: argparse.Namespace) -> None:
    words = [word for word in (options.system, options.then) if word is not None]
    figures = measures.figure_targets(options, [TRUST_FIGURE])
    measures.check_measure_outputs(options, words, figures)
    if options.keep and (options.then is not None or not options.system.isdecimal()):
        raise SetupError("--keep is for one run.", "Remove it, or name the id of a run alone.")
    with console.interruptible() as cancel:
        systems = told_apart([measures.system_of(options, word, LabelSourceKind.LAST) for word in words])
        first = systems[0]
        if options.gold is not None:
            gold = measures.read_labels(options, options.gold, systems, cancel)
        elif first.results is not None:
            gold = shared.items_of_run(options, first.results.run, cancel=cancel)
        else:
            raise SetupError(f"{first.name} is a file: its items are not known.", "Name them with --gold.")
        partial = options.partial or options.gold is None or len(systems) > 1
        matched = match_items_together(systems, gold, partial)
        for each in matched:
            measures.say_what_was_left_out(each)
        promise = Promise(options.target, options.risk, options.anytime)
        measured = ([each.system for each in matched], gold, promise, confidences(options.confidence))
        found = trust_of(TrustRequest(*measured, options.jointly, options.forecast), cancel)
    _write(options, found)
    figure = trust_report_figure(found.kept, systems[0].name)
    for path, (_, form) in figures.items():
        write_whole(path, figure.as_bytes(form))
        print(f"Figure: {path}")


def _write(options: argparse.Namespace, found: Trusted) -> None:
    names = [system.name for system in found.request.systems]
    title = f"{', then '.join(names)}, by labels of {found.request.gold.name}"
    shared.write_json_file(options, "Trust", {"systems": names, **trust_json(found)})
    sheet = Sheet(title, trust_sections(found))
    shared.write_table_files(options, "trust", sheet)
    measures.write_methods(options, "trust", trust_statements(found))
    console.print_sheet(sheet)
    if options.keep:
        with RunStore(check_store(options.store)) as store:
            run = found.kept.keep(store, int(options.system))
        console.tell(f"Kept with {run.called}.")
