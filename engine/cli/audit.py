"""`audit`: the robustness audit of a judge, on one page.

Knows: its arguments, how perturbations are judged as an ordinary run, what it prints.
"""

import argparse
from dataclasses import replace
from pathlib import Path

from engine.analysis.audit_run import AUDIT_METHODS, audit, audit_setup, default_place
from engine.analysis.perturbations import DEFAULT_ITEMS, MadePerturbations, make_perturbations
from engine.cli.shared.console import (
    DONE,
    INCOMPLETE,
    add_store,
    command_parser,
    interruptible,
    print_sheet,
    printable,
    tell,
)
from engine.cli.shared.data_arguments import (
    MODEL_WORDS,
    add_columns,
    add_rubric,
    add_table_files,
    model_file,
    read_dataset,
    read_labels,
    rubric_of,
    seed_of,
    table_targets,
    write_table_files,
)
from engine.cli.shared.judging import (
    RunProgressBar,
    judged_here,
    named_criteria,
    show_forecast,
    show_measure,
    shown_to_its_end,
    tell_notices,
    tell_stopped,
)
from engine.cli.shared.measure_arguments import files_of_runs
from engine.cli.shared.outputs import warn_of_gaps
from engine.cli.shared.setting_arguments import (
    add_examples,
    add_machine,
    add_settings_of,
    given_examples,
    given_settings,
    option_names,
)
from engine.core.errors import SetupError, StoreError
from engine.core.events import CancelToken, followed
from engine.core.formatting import counted
from engine.core.methods import parse_methods
from engine.core.rubric import ELOQUENT, Rubric
from engine.core.tables import Sheet
from engine.data.dataset import Dataset, load_dataset
from engine.judging.forecast import forecast
from engine.judging.prepare import PreparedRun, prepare_run
from engine.metrics.matching import system_of_run
from engine.report.audit import audit_section
from engine.results.run_dataset import dataset_of_run
from engine.results.run_results import RunResults, load_results
from engine.settings.identity import refuse_submitted
from engine.settings.rows import JUDGED_BY, Group, Surface, rows_on
from engine.settings.run_setup import RunSetup
from engine.settings.sampling import DEFAULT_SEED
from engine.store.opening import has_store
from engine.store.run_store import RunStore
from engine.system.computer import KeepAwake
from engine.system.files import check_targets, write_json

_OF_LABELS = frozenset({"columns", "labels", "save_columns"})
_OF_DISPLAY = frozenset(row.name for row in rows_on(Surface.AUDIT, Group.DISPLAY))
_OF_RUNS = (
    frozenset({"judge", "dataset", "json", "latex", "markdown", "gold", "store"}) | _OF_LABELS | _OF_DISPLAY
)
"""The arguments of a run's audit. All others describe how a model judges; a stored run is judged already."""


def parser() -> argparse.ArgumentParser:
    """The arguments of `audit`."""
    arguments = command_parser(
        "audit",
        "Audit a judge's robustness on one page: position bias, label-token bias, length, formatting,\n"
        "prompt injection, repeatability, ties, slices, answer mass, speed.\n"
        "audit MODEL DATASET judges some items of DATASET, and perturbations of them that should not change\n"
        "a fair judge's labels; audit RUN reports what a stored run shows by itself. Human labels are not\n"
        "needed; with them the audit reports more.",
    )
    arguments.add_argument("judge", metavar="MODEL|RUN", help=f"{MODEL_WORDS}; or the id of a run")
    arguments.add_argument(
        "dataset",
        type=Path,
        nargs="?",
        metavar="DATASET",
        help="the items to judge, with their perturbations",
    )
    arguments.add_argument("--json", type=Path, metavar="FILE", help="the same numbers as JSON")
    add_table_files(arguments)
    arguments.add_argument(
        "--gold", type=Path, metavar="FILE", help="with RUN: other human labels of its items"
    )
    add_columns(arguments, "DATASET")
    _add_judging(arguments.add_argument_group("judging"))
    add_machine(arguments.add_argument_group("computer"), Surface.AUDIT)
    arguments.set_defaults(keep_awake=None)  # so that a given value is recognised
    run_store = arguments.add_argument_group("run store")
    add_store(run_store, "runs")
    run_store.add_argument(
        "--fresh", action="store_true", help="start a new run even if one could be resumed"
    )
    return arguments


def _add_judging(judging: argparse._ArgumentGroup) -> None:
    judging.add_argument(
        "--items",
        type=int,
        metavar="N",
        help=f"N items, stratified by instruction, with their perturbations ({DEFAULT_ITEMS})",
    )
    judging.add_argument("--seed", type=int, metavar="N", help=f"the seed of this sample ({DEFAULT_SEED})")
    judging.add_argument(
        "--out",
        type=Path,
        metavar="FILE.tsv",
        help="where to store the items and perturbations (the audit itself: --json)",
    )
    judging.add_argument(
        "--plan", action="store_true", help="print what the audit will take, and judge nothing"
    )
    judging.add_argument("--criteria", metavar="A,B", help="some of the rubric's criteria (all)")
    judging.add_argument(
        "--method",
        metavar="A,B",
        help=f"elicitation methods: some of {option_names()} ({option_names(AUDIT_METHODS)})",
    )
    add_rubric(judging, "the criteria and their questions (the task's)")
    add_examples(judging)
    add_settings_of(judging, Surface.AUDIT, *JUDGED_BY)


def run(options: argparse.Namespace) -> int:
    """Audit a model or a run."""
    if options.dataset is not None:
        return _audit_model(options)
    if not options.judge.isdecimal():
        raise SetupError(
            f"audit {options.judge}: a dataset is missing.",
            "Name one: audit MODEL DATASET; or give the id of a stored run: audit RUN",
        )
    return _audit_run(options)


# A model


def _audit_model(options: argparse.Namespace) -> int:
    if options.gold is not None:
        raise SetupError(
            "--gold names labels for the items of a stored run.",
            f"Remove it: the labels of {options.dataset.name} are used.",
        )
    model = model_file(options.judge)
    with interruptible() as cancel:
        rubric = rubric_of(options) or ELOQUENT
        criteria = named_criteria(options.criteria, rubric)
        dataset = read_dataset(options, options.dataset, cancel, rubric)
        items = DEFAULT_ITEMS if options.items is None else options.items
        perturbations = make_perturbations(dataset, items, seed_of(options))
        path = options.out or default_place(perturbations, options.store)
        _check_outputs(options, {"dataset": options.dataset, "model": model, "run store": options.store})
        _write(perturbations, path, options)
        tell(_perturbations_in_words(perturbations, dataset, path))
        setup = _setup(options, model, path, rubric, criteria)
        judged = replace(load_dataset(path, rubric, cancel), notices=())  # expected of perturbations
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
            f"--out {options.out}: the items and perturbations are stored there as TSV.",
            f"Name it {options.out.stem}.tsv; or write the audit itself: --json {options.out.stem}.json",
        )
    if options.examples:
        read = read | {"examples": options.examples}
    # The program's own folder is made with the first file in it.
    named = {"--out": options.out} if options.out else {}
    check_targets({**named, "--json": options.json, **table_targets(options)}, read)


def _write(perturbations: MadePerturbations, path: Path, options: argparse.Namespace) -> None:
    """Write the items and perturbations; a plan overwrites no file. SetupError if there is another file, or
    nothing can be written.
    """
    if options.plan and path.exists():
        if perturbations.is_at(path):
            return
        raise SetupError(
            f"{printable(str(path))} already exists, and --plan overwrites nothing.",
            "Name a new file with --out.",
        )
    try:
        perturbations.write(path)
    except SetupError as error:
        if options.out is not None:
            raise
        raise SetupError(
            error.problem, "Name another file for the items and perturbations: --out FILE.tsv"
        ) from error


def _perturbations_in_words(perturbations: MadePerturbations, dataset: Dataset, path: Path) -> str:
    variants = counted(len(perturbations.items) - perturbations.drawn, "perturbation", "perturbations")
    drawn = (
        f"{perturbations.drawn:,} of {counted(len(dataset), 'item', 'items')} of {printable(dataset.name)}"
    )
    lacking = f" {perturbations.lacking}" if perturbations.lacking else ""
    return f"Audit: {drawn} and {variants} are judged, and stored in {printable(str(path))}.{lacking}"


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
    methods = AUDIT_METHODS if options.method is None else parse_methods(options.method)
    made = audit_setup(described, path, options.dataset.name, methods)
    return replace(made, fresh=options.fresh)


def _tell_time(options: argparse.Namespace, made: PreparedRun, cancel: CancelToken) -> None:
    """Print how long it may take, if a run or a speed measurement of the model is known."""
    found = show_measure("Counting", forecast(made.plan, options.store, cancel, options.fresh))
    if not found.complete:
        tell(f"Time: {found.time_in_words}.")


# A run


def _audit_run(options: argparse.Namespace) -> int:
    _refuse_of_models(options)
    if not has_store(options.store):
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
    """SetupError for an option that has no effect on the audit of a stored run."""
    given = [name for name, value in vars(options).items() if value is not None and value is not False]
    option = {name: f"--{name.replace('_', '-')}" for name in given}
    asked = [option[name] for name in given if name not in _OF_RUNS]
    if asked:
        raise SetupError(
            f"{asked[0]} has no effect with run {options.judge}, which is judged already.",
            "Remove it, or name a dataset: audit MODEL DATASET",
        )
    of_labels = [option[name] for name in given if name in _OF_LABELS]
    if of_labels and options.gold is None:
        raise SetupError(
            f"{of_labels[0]} has no effect with run {options.judge}, whose dataset is read as it was judged.",
            "Remove it, or name a file of other labels with --gold.",
        )


def _items_of(results: RunResults, gold: Dataset | None, cancel: CancelToken) -> Dataset:
    """The items of a run from its own dataset; if that is missing, from the labels. SetupError."""
    try:
        return dataset_of_run(results.run, cancel=cancel)
    except SetupError as error:
        if gold is None:
            raise SetupError(error.problem, "Put it back, or name its file with --gold.") from error
        return gold


def _told(options: argparse.Namespace, results: RunResults, dataset: Dataset, gold: Dataset | None) -> int:
    """Print the page, write the JSON; the exit code."""
    found = audit(results, dataset, gold)
    if not found.items:
        raise SetupError(
            f"{dataset.name} has none of the items that {results.run.called} judged.",
            "Name the dataset that was judged with --gold.",
        )
    if options.json:
        write_json(options.json, found.as_json())
        print(f"Audit: {options.json}\n")
    run = results.run
    asked = f", by {', '.join(method.title for method in results.methods)}" if results.methods else ""
    sheet = Sheet(f"{run.title}: {run.identity.model_name}{asked}", [audit_section(found)])
    write_table_files(options, "audit", sheet)
    print_sheet(sheet)
    if not found.copies and run.by_a_model:
        tell("\nTo test it with perturbations of items: audit MODEL DATASET")
    return warn_of_gaps(results) if options.dataset is not None else DONE
