"""`audit`: one page that says what is wrong with a judge.

Knows: its arguments, how probes are judged as an ordinary run, what it prints.
"""

import argparse
from dataclasses import replace
from pathlib import Path

from engine.audit.audit import audit
from engine.audit.audit_run import AUDIT_WAYS, audit_setup, usual_place
from engine.audit.probe_set import USUAL_ITEMS, MadeProbes, make_probes
from engine.commands.shared.column_arguments import (
    add_columns,
    add_rubric,
    read_dataset,
    read_labels,
    rubric_of,
)
from engine.commands.shared.console import (
    DONE,
    INCOMPLETE,
    add_store,
    command_parser,
    interruptible,
    printable,
    tell,
)
from engine.commands.shared.forecast import show_forecast
from engine.commands.shared.item_arguments import seed_of
from engine.commands.shared.judging import (
    judged_here,
    named_criteria,
    shown_to_its_end,
    tell_notices,
    tell_stopped,
)
from engine.commands.shared.measure_arguments import files_of_runs
from engine.commands.shared.model_argument import MODEL_WORDS, model_file
from engine.commands.shared.printed_sheet import print_sheet
from engine.commands.shared.progress import RunProgressBar, show_measure
from engine.commands.shared.run_outputs import warn_of_gaps
from engine.commands.shared.setting_arguments import (
    add_examples,
    add_machine,
    add_settings,
    given_examples,
    given_settings,
)
from engine.commands.shared.table_files import add_table_files, table_targets, write_table_files
from engine.core.cancel import CancelToken
from engine.core.errors import SetupError, StoreError
from engine.core.events import followed
from engine.core.formatting import counted
from engine.core.item_sample import USUAL_SEED
from engine.core.items import Way
from engine.core.rubric import ELOQUENT, Rubric
from engine.core.run_records import refuse_submitted
from engine.core.run_setup import RunSetup
from engine.core.sheets import Sheet
from engine.core.ways.all_ways import parse_ways
from engine.data.dataset import Dataset, load_dataset
from engine.decisions.run_dataset import dataset_of_run
from engine.decisions.run_results import RunResults, load_results
from engine.judge.forecast import forecast
from engine.judge.prepare import PreparedRun, prepare_run
from engine.measure.systems import system_of_run
from engine.report.audit_sheet import audit_section
from engine.store.opening import is_there
from engine.store.run_store import RunStore
from engine.system.awake import KeepAwake
from engine.system.files import check_targets, write_json

_OF_LABELS = frozenset({"columns", "labels", "save_columns"})
_OF_RUNS = frozenset({"judge", "dataset", "json", "latex", "markdown", "gold", "store"}) | _OF_LABELS
"""Arguments that a run can be audited with; all others say how a model is, and a run was judged already."""


def parser() -> argparse.ArgumentParser:
    """The arguments of `audit`."""
    arguments = command_parser(
        "audit",
        "Say on one page what is wrong with a judge: order, letters, length, form, instructions in\n"
        "responses, repeatability, ties, slices, format mass, speed.\n"
        "audit MODEL DATASET judges some items of DATASET and copies that are changed by rules which a fair\n"
        "judge passes over; audit RUN tells what a stored run can tell by itself. No human labels are\n"
        "needed; where there are any, more can be told.",
    )
    arguments.add_argument("judge", metavar="MODEL|RUN", help=f"{MODEL_WORDS}; or the id of a run")
    arguments.add_argument(
        "dataset", type=Path, nargs="?", metavar="DATASET", help="whose items are judged, and copies of them"
    )
    arguments.add_argument("--json", type=Path, metavar="FILE", help="the same numbers")
    add_table_files(arguments)
    arguments.add_argument(
        "--gold", type=Path, metavar="FILE", help="with RUN: other human labels of its items"
    )
    add_columns(arguments, "DATASET")
    judging = arguments.add_argument_group("judging")
    judging.add_argument(
        "--items",
        type=int,
        metavar="N",
        help=f"N items, drawn by instruction, and their copies ({USUAL_ITEMS})",
    )
    judging.add_argument("--seed", type=int, metavar="N", help=f"by which they are drawn ({USUAL_SEED})")
    judging.add_argument(
        "--out",
        type=Path,
        metavar="FILE.tsv",
        help="where the items and copies are kept; the audit itself: --json",
    )
    judging.add_argument("--plan", action="store_true", help="say what it will take, and judge nothing")
    judging.add_argument("--criteria", metavar="A,B", help="some of the rubric's (all)")
    judging.add_argument(
        "--ways",
        metavar="A,B",
        help=f"how the model is asked: some of {','.join(Way)} ({','.join(AUDIT_WAYS)})",
    )
    add_rubric(judging, "the criteria and their questions (those of the task)")
    add_examples(judging)
    add_settings(judging, "shorten")
    add_machine(arguments.add_argument_group("computer"))
    arguments.set_defaults(keep_awake=None)  # what is given is seen
    run_store = arguments.add_argument_group("run store")
    add_store(run_store, "runs")
    run_store.add_argument("--fresh", action="store_true", help="judge anew, also where a run could go on")
    return arguments


def run(options: argparse.Namespace) -> int:
    """Audit a model or a run."""
    if options.dataset is not None:
        return _audit_model(options)
    if not options.judge.isdecimal():
        raise SetupError(
            f"audit {options.judge}: with what is it to be audited?",
            "Name a dataset: audit MODEL DATASET; or the id of a stored run: audit RUN",
        )
    return _audit_run(options)


# A model


def _audit_model(options: argparse.Namespace) -> int:
    if options.gold is not None:
        raise SetupError(
            "--gold is for the labels of a run's items.",
            f"The labels of {options.dataset.name} count as they are: leave it out.",
        )
    model = model_file(options.judge)
    with interruptible() as cancel:
        rubric = rubric_of(options) or ELOQUENT
        criteria = named_criteria(options.criteria, rubric)
        dataset = read_dataset(options, options.dataset, cancel, rubric)
        items = USUAL_ITEMS if options.items is None else options.items
        probes = make_probes(dataset, items, seed_of(options))
        path = options.out or usual_place(probes, options.store)
        _check_outputs(options, {"dataset": options.dataset, "model": model, "run store": options.store})
        _write(probes, path, options)
        tell(_probes_in_words(probes, dataset, path))
        setup = _setup(options, model, path, rubric, criteria)
        judged = replace(load_dataset(path, rubric, cancel), notices=())  # of copies they are no news
        made = followed(prepare_run(setup, cancel, judged), tell_notices)
        if options.plan:
            what = f"{counted(len(judged), 'item', 'items')} of {printable(path.name)}"
            return show_forecast(made, what, options.store, options.fresh, cancel)
        _tell_time(options, made, cancel)
        events = judged_here(made.plan, options.store, options.fresh, cancel)
        ended = shown_to_its_end(events, RunProgressBar(), KeepAwake(options.keep_awake or KeepAwake.MAINS))
    if ended.stopped:
        tell_stopped(ended, options.fresh)
        return INCOMPLETE
    with RunStore(options.store) as store:
        results = load_results(store, ended.run_id)
    return _told(options, results, judged, None)


def _check_outputs(options: argparse.Namespace, read: dict[str, Path]) -> None:
    if options.out and options.out.suffix.lower() != ".tsv":
        raise SetupError(
            f"--out {options.out}: that is where the items and their copies are kept, as TSV.",
            f"Name it {options.out.stem}.tsv; or write the audit itself: --json {options.out.stem}.json",
        )
    if options.examples:
        read = read | {"examples": options.examples}
    # The program's own folder is made with the first file in it.
    named = {"--out": options.out} if options.out else {}
    check_targets({**named, "--json": options.json, **table_targets(options)}, read)


def _write(probes: MadeProbes, path: Path, options: argparse.Namespace) -> None:
    """Write the items and copies; a plan takes the place of no file. SetupError where there is another, and
    where nothing can be written.
    """
    if options.plan and path.exists():
        if probes.is_at(path):
            return
        raise SetupError(
            f"{printable(str(path))} is there already, and --plan overwrites nothing.",
            "Name a file with --out that is not there yet.",
        )
    try:
        probes.write(path)
    except SetupError as error:
        if options.out is not None:
            raise
        raise SetupError(
            error.problem, "Name another file for the items and copies with --out FILE.tsv"
        ) from error


def _probes_in_words(probes: MadeProbes, dataset: Dataset, path: Path) -> str:
    copies = counted(len(probes.items) - probes.drawn, "copy", "copies")
    drawn = f"{probes.drawn:,} of {counted(len(dataset), 'item', 'items')} of {printable(dataset.name)}"
    lacking = f" {probes.lacking}" if probes.lacking else ""
    return f"Audit: {drawn} and {copies} are judged, kept in {printable(str(path))}.{lacking}"


def _setup(
    options: argparse.Namespace, model: Path, path: Path, rubric: Rubric, criteria: tuple[str, ...]
) -> RunSetup:
    described = RunSetup(
        options.dataset,
        model,
        rubric=rubric,
        criteria=criteria,
        device=options.device,
        **given_examples(options),
        **given_settings(options),
    )
    ways = AUDIT_WAYS if options.ways is None else parse_ways(options.ways)
    made = audit_setup(described, path, options.dataset.name, ways)
    return replace(made, fresh=options.fresh)


def _tell_time(options: argparse.Namespace, made: PreparedRun, cancel: CancelToken) -> None:
    """Say how long it may take, where a run or a measure of the file tells."""
    found = show_measure("Counting", forecast(made.plan, options.store, cancel, options.fresh))
    if not found.complete:
        tell(f"Time: {found.time_in_words}.")


# A run


def _audit_run(options: argparse.Namespace) -> int:
    _refuse_of_models(options)
    if not is_there(options.store):
        raise StoreError(f"There is no run store {options.store}.", "Name the right file with --store.")
    read = {"run store": options.store} | ({"labels": options.gold} if options.gold else {})
    read |= files_of_runs(options.store, [int(options.judge)])
    check_targets({"--json": options.json, **table_targets(options)}, read)
    with interruptible() as cancel:
        with RunStore(options.store) as store:
            results = load_results(store, int(options.judge))
        refuse_submitted(results.run, "be audited")
        gold = None
        if options.gold is not None:
            gold = read_labels(options, options.gold, [system_of_run(results)], cancel)
        dataset = _items_of(results, gold, cancel)
        return _told(options, results, dataset, gold)


def _refuse_of_models(options: argparse.Namespace) -> None:
    """SetupError for an option that changes nothing of a run's audit."""
    given = [name for name, value in vars(options).items() if value is not None and value is not False]
    option = {name: f"--{name.replace('_', '-')}" for name in given}
    asked = [option[name] for name in given if name not in _OF_RUNS]
    if asked:
        raise SetupError(
            f"{asked[0]} is of no use with run {options.judge}: it is judged already.",
            "Leave it out, or name a dataset: audit MODEL DATASET",
        )
    of_labels = [option[name] for name in given if name in _OF_LABELS]
    if of_labels and options.gold is None:
        raise SetupError(
            f"{of_labels[0]} is of no use with run {options.judge}: its dataset is read as it was judged.",
            "Leave it out, or name a file of other labels with --gold.",
        )


def _items_of(results: RunResults, gold: Dataset | None, cancel: CancelToken) -> Dataset:
    """The items of a run out of its own file; where that is gone, those of the labels. SetupError."""
    try:
        return dataset_of_run(results.run, cancel=cancel)
    except SetupError as error:
        if gold is None:
            raise SetupError(error.problem, "Put it back there, or name its file with --gold.") from error
        return gold


def _told(options: argparse.Namespace, results: RunResults, dataset: Dataset, gold: Dataset | None) -> int:
    """Print the page, write the JSON; the exit code."""
    found = audit(results, dataset, gold)
    if not found.items:
        raise SetupError(
            f"{dataset.name} holds none of the items that {results.run.called} judged.",
            "Name the dataset that was judged with --gold.",
        )
    if options.json:
        write_json(options.json, found.as_json())
        print(f"Audit: {options.json}\n")
    run = results.run
    asked = f", asked by {', '.join(results.ways)}" if results.ways else ""
    sheet = Sheet(f"{run.title}: {run.identity.model_name}{asked}", [audit_section(found)])
    write_table_files(options, "audit", sheet)
    print_sheet(sheet)
    if not found.copies and run.by_a_model:
        tell("\nWhat copies of items tell: audit MODEL DATASET")
    return warn_of_gaps(results) if options.dataset is not None else DONE
