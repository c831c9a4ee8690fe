"""`runs`: what the store holds, kept in order, and its submissions again without judging.

Knows: its arguments and what it prints.
"""

import argparse
from pathlib import Path

from engine.commands.shared.column_arguments import add_columns, add_rubric, columns_of, read_dataset
from engine.commands.shared.console import DONE, INCOMPLETE, command_parser, printable, tell
from engine.commands.shared.example_arguments import add_examples
from engine.commands.shared.printed_sheet import printed_section
from engine.commands.shared.remedies import OPTIONS
from engine.commands.shared.run_keeping import add_keeping
from engine.commands.shared.run_listing import add_all, add_listing, list_runs, no_store
from engine.commands.shared.run_outputs import check_outputs, export_results, health_lines, warn_of_gaps
from engine.commands.shared.setting_arguments import add_settings
from engine.core.errors import ColumnsError, SetupError, StoreError
from engine.core.judgments import JudgmentKey
from engine.core.run_records import refuse_submitted, what_is_joined
from engine.core.sheets import Section
from engine.data.dataset import Dataset
from engine.decisions.calibration import judge_of_run, load_calibration
from engine.decisions.health import run_health
from engine.decisions.opened_submission import open_submission
from engine.decisions.run_csv import write_results_csv
from engine.decisions.run_dataset import dataset_of_run
from engine.decisions.run_results import RunResults, load_results
from engine.report.run_facts import run_facts
from engine.report.run_tables import changes_section, labels_given_section
from engine.store.opening import is_there
from engine.store.run_store import RunStore
from engine.system.paths import default_store


def parser() -> argparse.ArgumentParser:
    """The arguments of `runs`."""
    arguments = command_parser("runs", "What the run store holds.")
    arguments.set_defaults(action=list_runs, store=default_store())
    actions = arguments.add_subparsers(metavar="ACTION", title="actions (none: list the runs)")
    _add_store(arguments)
    add_all(arguments)
    for action in (*add_listing(actions), *add_keeping(actions)):
        _add_store(action)
    add = actions.add_parser("add", help="keep a submission file in the store, to review it as a run")
    _add_adding(add)
    add.set_defaults(action=_add)
    show = actions.add_parser("show", help="one run: settings, labels, what could not be scored")
    show.add_argument("id", type=int, metavar="ID")
    _add_store(show)
    show.set_defaults(action=_show)
    _add_export(actions)
    _add_recalibrate(actions)
    rewrite = actions.add_parser(
        "rewrite", help="write again the explanations that are for another label than the one in force"
    )
    _add_rewriting(rewrite)
    _add_store(rewrite)
    rewrite.set_defaults(action=_rewrite)
    return arguments


def _add_export(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    export = actions.add_parser("export", help="write a run's submission or its data, without judging")
    export.add_argument("id", type=int, metavar="ID")
    export.add_argument("--out", type=Path, metavar="FILE.tsv", help="the submission")
    export.add_argument("--json", type=Path, metavar="FILE", help="every judgment with its readings")
    export.add_argument("--csv", type=Path, metavar="FILE", help="all of it, a row for each judgment")
    export.add_argument("--model-alone", action="store_true", help="leave out what people overrode")
    add_columns(export, "dataset")
    _add_store(export)
    export.set_defaults(action=_export)


def _add_recalibrate(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    recalibrate = actions.add_parser("recalibrate", help="decide a run again, without judging")
    recalibrate.add_argument("id", type=int, metavar="ID")
    with_what = recalibrate.add_mutually_exclusive_group(required=True)
    with_what.add_argument("--calibration", type=Path, metavar="FILE", help="what `calibrate` made")
    with_what.add_argument("--none", action="store_true", help="the model's own probabilities")
    _add_store(recalibrate)
    recalibrate.set_defaults(action=_recalibrate)


def _add_adding(arguments: argparse.ArgumentParser) -> None:
    arguments.add_argument("submission", type=Path, metavar="SUBMISSION.tsv")
    arguments.add_argument(
        "--dataset", type=Path, required=True, metavar="FILE", help="the dataset that it answers"
    )
    add_rubric(arguments, "its criteria, with their weights")
    add_columns(arguments, "dataset")
    _add_store(arguments)


def _add_rewriting(arguments: argparse.ArgumentParser) -> None:
    arguments.add_argument("id", type=int, metavar="ID")
    add_examples(arguments)
    arguments.add_argument(
        "--dataset", type=Path, metavar="FILE", help="where the run's dataset lies now, if it was moved"
    )
    arguments.add_argument(
        "--model", metavar="MODEL", help="where the run's model lies now, if it was moved, or its name"
    )
    add_columns(arguments, "dataset")
    add_settings(arguments.add_argument_group("computer"), "threads")


def run(options: argparse.Namespace) -> int:
    """Do what the action says."""
    if not is_there(options.store) and options.action is not _add:
        if options.action is list_runs:
            print(no_store(options.store))
            return DONE
        raise StoreError(f"There is no run store {options.store}.", "Name the right file with --store.")
    with RunStore(options.store) as store:
        return int(options.action(store, options))


def _add(store: RunStore, options: argparse.Namespace) -> int:
    run = open_submission(options.submission, read_dataset(options, options.dataset), store)
    print(f"{printable(what_is_joined(run))}\nIt is run {run.id} of {store.path}.")
    return DONE if run.complete else INCOMPLETE


def _show(store: RunStore, options: argparse.Namespace) -> int:
    results = load_results(store, options.id)
    print(printed_section(Section("run", "", [run_facts(results)])))
    print(f"\n{health_lines(run_health(results))}")
    print(f"\n{printed_section(labels_given_section(results))}")
    _print_unscored(results)
    return DONE


def _print_unscored(results: RunResults) -> None:
    reasons = [
        (JudgmentKey(item.item_id, criterion), why)
        for item in results.judged
        for criterion, why in item.unscored.items()
    ]
    for key, reason in reasons[:50]:
        override = results.overrides.get(key)
        instead = (
            f"; {override.author} gave {override.preference}" if override and override.preference else ""
        )
        print(f"unscored: item {printable(key.item_id)}, {key.criterion}: {reason}{printable(instead)}")
    if len(reasons) > 50:
        print(f"and {len(reasons) - 50} more.")


def _export(store: RunStore, options: argparse.Namespace) -> int:
    if not (options.out or options.json or options.csv):
        raise SetupError(
            "runs export: there is nothing to write.",
            "Name a file: --out FILE.tsv, --json FILE or --csv FILE",
        )
    identity = store.run(options.id).identity
    read = {"dataset": identity.dataset_path, "model": identity.model_path, "run store": store.path}
    check_outputs(options, read)
    results = load_results(store, options.id)
    if options.model_alone:
        results = results.model_alone()
    dataset = _dataset(results, options) if options.json or options.csv else None
    export_results(results, options.out, options.json, dataset)
    if options.csv:
        write_results_csv(options.csv, results, dataset)
        print(f"All data: {options.csv}")
    return warn_of_gaps(results)


def _dataset(results: RunResults, options: argparse.Namespace) -> Dataset | None:
    """The items of a run; None, and said, where its file does not hold what was judged any more."""
    try:
        return dataset_of_run(results.run, columns=columns_of(options))
    except SetupError as error:
        how = f" {OPTIONS.of(error.remedy)}" if isinstance(error, ColumnsError) else ""
        lacking = ["The CSV is written without texts and human labels."] if options.csv else []
        lacking += ["The JSON is written without the dataset's other columns."] if options.json else []
        tell("\n".join([f"{error.problem}{how}", *lacking]))
        return None


def _rewrite(store: RunStore, options: argparse.Namespace) -> int:
    # Only this action waits for llama.cpp.
    from engine.commands.shared.rewrite import rewrite  # noqa: PLC0415

    return rewrite(store, options)


def _recalibrate(store: RunStore, options: argparse.Namespace) -> int:
    before = load_results(store, options.id)
    refuse_submitted(before.run, "be calibrated")
    calibration = load_calibration(options.calibration) if options.calibration else None
    if calibration is not None:
        calibration.check_fits(judge_of_run(before.run.identity))
    after = before.calibrated(calibration)
    with store.hold(options.id):
        store.calibrate(options.id, calibration.as_json() if calibration else None)
    made = f"calibrated with {options.calibration}" if calibration else "not calibrated"
    print(f"Run {options.id} is now {made}.\n")
    if after.one_labels:
        tell(after.one_label_sentence)
    print(printed_section(changes_section(before, after)))
    return warn_of_gaps(after)


def _add_store(arguments: argparse.ArgumentParser) -> None:
    arguments.add_argument(
        "--store", type=Path, default=argparse.SUPPRESS, metavar="FILE", help="another run store"
    )
