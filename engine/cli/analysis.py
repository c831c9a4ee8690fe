"""`audit`: the robustness audit of a judge. `tune`: the settings that make a model the best judge."""

import argparse
from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from tqdm import tqdm

from engine.analysis.audit_run import (
    AUDIT_METHODS,
    audit_setup,
    default_place,
    reworded_runs,
    reworded_setups,
)
from engine.analysis.audit_run import audit as audited
from engine.analysis.perturbations import DEFAULT_ITEMS, PLANTED, MadePerturbations, make_perturbations
from engine.analysis.recipe import check_name, examples_beside, save_recipe
from engine.analysis.tuning import TuneEvent, TuneRequest, tuning
from engine.analysis.tuning_choice import DEFAULT_TRIED
from engine.cli.shared import arguments as shared
from engine.cli.shared import console
from engine.cli.shared.measure_arguments import read_labels
from engine.cli.shared.progress import (
    run_bar,
    show_forecast,
    show_measure,
    tell_note,
    warn_of_gaps,
    with_notes,
)
from engine.core import events
from engine.core.errors import SetupError
from engine.core.formatting import counted
from engine.core.methods import parse_methods
from engine.core.rubric import ELOQUENT, Rubric
from engine.core.tables import Sheet
from engine.data.dataset import Dataset, load_dataset
from engine.data.rubrics.files import find_rubric
from engine.judging.forecast import forecast
from engine.judging.plan import RunPlan
from engine.judging.prepare import prepare_run
from engine.metrics.matching import system_of_run
from engine.operations import judge as judging
from engine.operations.judge_request import given_settings
from engine.operations.opening import check_store, files_of_runs
from engine.operations.progress_bar import new_bar
from engine.report.audit import audit_section
from engine.report.tuning import told, tuning_sheet
from engine.results.run_dataset import dataset_of_run
from engine.results.run_results import RunResults, load_results
from engine.settings.identity import refuse_submitted
from engine.settings.rows import DEFAULT_SHOTS, JUDGED_BY, Group, Surface, rows_on
from engine.settings.run_setup import RunSetup
from engine.settings.sampling import DEFAULT_SEED, checked_seed
from engine.store.run_store import RunStore
from engine.system.computer import Awake, KeepAwake
from engine.system.files import check_targets

_OF_LABELS = frozenset({"columns", "labels", "save_columns"})
_OF_RUNS = frozenset(
    (
        *("judge", "dataset", "json", "latex", "markdown", "gold", "store", "command"),
        *(_OF_LABELS | {row.name for row in rows_on(Surface.AUDIT, Group.DISPLAY)}),
    )
)
"""The arguments of a run's audit. All others describe how a model judges; a stored run is judged already."""
_MINUTES = 30.0
_BAR = "  {desc} |{bar:24}| {elapsed} elapsed"


def audit() -> console.Parser:
    """Audit a judge's robustness on one page: position bias, label-token bias, length, formatting,
    prompt injection, repeatability, ties, slices, answer mass, speed.
    audit MODEL DATASET judges some items of DATASET, and perturbations of them that should not change
    a fair judge's labels; audit RUN reports what a stored run shows by itself. Human labels are not
    needed; with them the audit reports more.
    """
    arguments = console.command_parser(audit, _audit)
    arguments.add_argument("judge", metavar="MODEL|RUN", help=f"{shared.MODEL_WORDS}; or the id of a run")
    arguments.add_argument(
        "dataset",
        type=Path,
        nargs="?",
        metavar="DATASET",
        help="the items to judge, with their perturbations",
    )
    arguments.file("--json", "the same numbers as JSON")
    shared.add_table_files(arguments)
    arguments.file("--gold", "with RUN: other human labels of its items")
    shared.add_columns(arguments, "DATASET")
    _add_judging(arguments.add_argument_group("judging"))
    shared.add_machine(arguments.add_argument_group("computer"), Surface.AUDIT)
    arguments.set_defaults(keep_awake=None)  # so that a given value is recognised
    run_store = arguments.add_argument_group("run store")
    run_store.store("runs")
    run_store.flag("--fresh", "start a new run even if one could be resumed")
    return arguments


def _add_judging(judging: console.Options) -> None:
    judging.number(
        "--items", f"N items, stratified by instruction, with their perturbations ({DEFAULT_ITEMS})"
    )
    judging.number("--seed", f"the seed of this sample ({DEFAULT_SEED})")
    judging.add_argument(
        "--language", choices=PLANTED, help="of the sentences that are added (that of each item)"
    )
    judging.file(
        "--out", "where to store the items and perturbations (the audit itself: --json)", metavar="FILE.tsv"
    )
    judging.flag("--reworded", "judge the items, not their perturbations, in two other wordings too")
    judging.flag("--plan", "print what the audit will take, and judge nothing")
    judging.text("--criteria", "A,B", "some of the rubric's criteria (all)")
    judging.text(
        "--method",
        "A,B",
        f"elicitation methods: some of {shared.option_names()} ({shared.option_names(AUDIT_METHODS)})",
    )
    shared.add_rubric(judging, "the criteria and their questions (the task's)")
    shared.add_examples(judging)
    shared.add_settings_of(judging, Surface.AUDIT, *JUDGED_BY)


def _audit(options: argparse.Namespace) -> int:
    if options.dataset is not None:
        return _audit_model(options)
    if not options.judge.isdecimal():
        raise SetupError(
            f"audit {options.judge}: a dataset is missing.",
            "Name one: audit MODEL DATASET; or give the id of a stored run: audit RUN",
        )
    return _audit_run(options)


def _audit_model(options: argparse.Namespace) -> int:
    if options.gold is not None:
        raise SetupError(
            "--gold names labels for the items of a stored run.",
            f"Remove it: the labels of {options.dataset.name} are used.",
        )
    model = shared.model_file(options.judge)
    with console.interruptible() as cancel:
        rubric = shared.rubric_of(options) or ELOQUENT
        criteria = rubric.names
        if options.criteria is not None:
            criteria = shared.criteria_of(options.criteria, rubric)
        dataset = shared.read_dataset(options, options.dataset, cancel, rubric)
        count = DEFAULT_ITEMS if options.items is None else options.items
        seed = DEFAULT_SEED if options.seed is None else options.seed
        perturbations = make_perturbations(dataset, count, seed, options.language)
        path = options.out or default_place(perturbations, options.store)
        described = RunSetup(
            options.dataset,
            model,
            rubric=rubric,
            criteria=criteria,
            device=options.device,
            **shared.given_examples(options),
            **given_settings(options),
        )
        methods = AUDIT_METHODS if options.method is None else parse_methods(options.method)
        setup = replace(audit_setup(described, path, options.dataset.name, methods), fresh=options.fresh)
        setups = [setup, *(reworded_setups(setup, perturbations) if options.reworded else ())]
        _check_outputs(options, {"dataset": options.dataset, "model": model, "run store": options.store})
        _write(perturbations, path, options)
        drawn = f"{perturbations.drawn:,} of {counted(len(dataset), 'item', 'items')}"
        variants = counted(len(perturbations.items) - perturbations.drawn, "perturbation", "perturbations")
        lacking = f" {perturbations.lacking}" if perturbations.lacking else ""
        console.tell(
            f"Audit: {drawn} of {console.printable(dataset.name)} and {variants} are judged, and stored in"
            f" {console.printable(str(path))}.{lacking}"
        )
        judged = replace(load_dataset(path, rubric, cancel), notices=())  # expected of perturbations
        results: list[RunResults] = []
        for each in setups:
            ready = judging.ReadyRun(with_notes(prepare_run(each, cancel, judged)), options.fresh)
            if options.plan:
                items = counted(len(each.ids or judged), "item", "items")
                what = f"{items} of {console.printable(path.name)}"
                show_forecast(ready, what, options.store, cancel)
                continue
            found = show_measure("Counting", forecast(ready.plan, options.store, cancel, options.fresh))
            if not found.complete:
                console.tell(f"Time: {found.time_in_words}.")
            awake = KeepAwake(options.keep_awake or KeepAwake.MAINS)
            ended = run_bar().to_its_end(judging.judge(ready, options.store, cancel), awake)
            if ended.results is None:
                console.tell(ended.stopped_in_words(f"command{' without --fresh' if options.fresh else ''}"))
                return console.INCOMPLETE
            results.append(ended.results)
    if options.plan:
        return console.DONE
    return _told(options, results[0], judged, None, results[1:])


def _check_outputs(options: argparse.Namespace, read: dict[str, Path]) -> None:
    if options.out and options.out.suffix.lower() != ".tsv":
        raise SetupError(
            f"--out {options.out}: the items and perturbations are stored there as TSV.",
            f"Name it {options.out.stem}.tsv; or write the audit itself: --json {options.out.stem}.json",
        )
    if options.examples:
        read = read | {"examples": options.examples}
    # The program's own folder is made with the first file in it.
    check_targets(shared.written_files(options), read)


def _write(perturbations: MadePerturbations, path: Path, options: argparse.Namespace) -> None:
    """Write the items and perturbations; a plan overwrites no file. SetupError."""
    if options.plan and path.exists():
        if perturbations.is_at(path):
            return
        raise SetupError(
            f"{console.printable(str(path))} already exists, and --plan overwrites nothing.",
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


def _audit_run(options: argparse.Namespace) -> int:
    given = [name for name, value in vars(options).items() if value is not None and value is not False]
    if asked := [name for name in given if name not in _OF_RUNS]:
        raise SetupError(
            f"{shared.option_of(asked[0])} has no effect with run {options.judge}, which is judged already.",
            "Remove it, or name a dataset: audit MODEL DATASET",
        )
    of_labels = [name for name in given if name in _OF_LABELS]
    if of_labels and options.gold is None:
        raise SetupError(
            f"{shared.option_of(of_labels[0])} has no effect with run {options.judge}, whose dataset is read"
            " as it was judged.",
            "Remove it, or name a file of other labels with --gold.",
        )
    check_store(options.store)
    read = {"run store": options.store} | ({"labels": options.gold} if options.gold else {})
    read |= files_of_runs(options.store, [int(options.judge)])
    check_targets(shared.written_files(options), read)
    with console.interruptible() as cancel:
        with RunStore(options.store) as store:
            results = load_results(store, int(options.judge))
            reworded = reworded_runs(store, results.run)
        refuse_submitted(results.run, "be audited")
        gold = None
        if options.gold is not None:
            gold = read_labels(options, options.gold, [system_of_run(results)], cancel)
        try:
            dataset = dataset_of_run(results.run, cancel=cancel)
        except SetupError as error:
            if gold is None:
                raise SetupError(error.problem, "Put it back, or name its file with --gold.") from error
            dataset = gold
        return _told(options, results, dataset, gold, reworded)


def _told(
    options: argparse.Namespace,
    results: RunResults,
    dataset: Dataset,
    gold: Dataset | None,
    reworded: Sequence[RunResults],
) -> int:
    found = audited(results, dataset, gold, reworded)
    if not found.items:
        raise SetupError(
            f"{dataset.name} has none of the items that {results.run.called} judged.",
            "Name the dataset that was judged with --gold.",
        )
    shared.write_json_file(options, "Audit", found.as_json())
    run = results.run
    asked = f", by {', '.join(method.title for method in results.methods)}" if results.methods else ""
    sheet = Sheet(f"{run.title}: {run.identity.model_name}{asked}", [audit_section(found)])
    shared.write_table_files(options, "audit", sheet)
    console.print_sheet(sheet)
    if not found.copies and run.by_a_model:
        console.tell("\nTo test it with perturbations of items: audit MODEL DATASET")
    return warn_of_gaps(results) if options.dataset is not None else console.DONE


def tune() -> console.Parser:
    """Try elicitation methods, orders, wordings and labelled examples on a part of a labelled DATASET,
    and evaluate the best on held-out items. They are written as a recipe for `judge --recipe`. Every
    judgment is stored: the same command resumes a search that was stopped or ran out of time.
    """
    arguments = console.command_parser(tune, _tune)
    arguments.add_argument("model", metavar="MODEL", help=shared.MODEL_WORDS)
    arguments.add_argument("dataset", type=Path, metavar="DATASET", help="a dataset with human labels")
    arguments.file("--out", "the recipe", metavar="FILE.json", required=True)
    arguments.number(
        "--minutes", "time limit in minutes (%(default)g)", metavar="M", kind=float, default=_MINUTES
    )
    arguments.number("--items", "judge at most N items, sampled with --seed")
    arguments.number("--seed", "seed of all samples (%(default)s)", default=0)
    arguments.add_argument(
        "--method",
        default=shared.option_names(DEFAULT_TRIED),
        metavar="A,B",
        help=f"the elicitation methods to try: some of {shared.option_names()} (%(default)s)",
    )
    shared.add_rubric(arguments, "the criteria and their questions (the task's)")
    arguments.repeated(
        "--wording",
        "NAME|FILE",
        "also try this rubric, which has the same criteria in other words; may be repeated",
    )
    arguments.file(
        "--examples",
        "labelled items to show the model as examples (default: some of DATASET, held out for this)",
    )
    arguments.number("--few-shot", "examples per prompt (%(default)s)", metavar="K", default=DEFAULT_SHOTS)
    shared.add_columns(arguments, "DATASET")
    shared.add_settings_of(arguments, Surface.TUNE, *JUDGED_BY)
    shared.add_machine(arguments.add_argument_group("computer"), Surface.TUNE)
    arguments.store("runs")
    return arguments


def _tune(options: argparse.Namespace) -> int:
    check_name(options.out)
    request = _tune_request(options)
    read = {"dataset": options.dataset, "model": request.run.model_path, "run store": options.store}
    if options.examples:
        read["examples"] = options.examples
    written = {"--out": options.out, "its examples": examples_beside(options.out)}
    check_targets(written, read)
    awake = Awake(KeepAwake(options.keep_awake))
    with console.interruptible() as cancel, _TuneProgress() as progress, awake as kept:

        def judge(plan: RunPlan) -> Generator[events.RunEvent, None, events.RunEnded]:
            return judging.judged_here(plan, options.store, fresh=False, cancel=cancel)

        search = events.Reports(tuning(request, options.store, judge, cancel))
        try:
            for event in search:
                kept.refresh()
                progress.show(event)
        except events.Cancelled:
            console.tell("\nStopped. All judgments are stored: the same command resumes the search.")
            return console.INCOMPLETE
    found = search.result
    save_recipe(options.out, told(found), found.own_examples)
    console.print_sheet(tuning_sheet(found))
    print(f"\nRecipe: {options.out}")
    return console.DONE


def _tune_request(options: argparse.Namespace) -> TuneRequest:
    if not options.minutes > 0:
        raise SetupError(f"--minutes is {options.minutes:g}.", "Use more than 0.")
    for option, given in (("--items", options.items), ("--few-shot", options.few_shot)):
        if given is not None and given < 1:
            raise SetupError(f"{option} is {given}.", "Use 1 or more.")
    rubric = shared.rubric_of(options) or ELOQUENT
    setup = RunSetup(
        dataset_path=options.dataset,
        model_path=shared.model_file(options.model),
        rubric=rubric,
        criteria=rubric.names,
        examples_path=options.examples,
        shots=options.few_shot,
        device=options.device,
        columns=shared.columns_of(options, rubric),
        **{name: value for name, value in given_settings(options).items() if name != "seed"},
    )
    return TuneRequest(
        run=setup,
        seconds=60 * options.minutes,
        items=options.items,
        seed=checked_seed(options.seed),
        methods=parse_methods(options.method),
        rubrics=tuple(_wording(word, rubric) for word in options.wording),
    )


def _wording(word: str, rubric: Rubric) -> Rubric:
    found = find_rubric(word)
    if set(found.names) != set(rubric.names):
        raise SetupError(
            f"--wording {word}: its criteria are {', '.join(found.names)}, those of the rubric"
            f" {', '.join(rubric.names)}.",
            "Name a rubric with the same criteria in other words.",
        )
    return found


class _TuneProgress:
    def __init__(self) -> None:
        self._bar: tqdm[NoReturn] | None = None
        self._judged = 0

    def __enter__(self) -> "_TuneProgress":
        return self

    def __exit__(self, *_error: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def show(self, event: TuneEvent) -> None:
        tell_note(event)
        if isinstance(event, events.TuningStage):
            self.__exit__()
            console.tell(f"{event.number} of {event.stages}: {event.what}")
            self._bar = new_bar(console.raw_stderr(), None, 0, _BAR)
        elif self._bar is not None and isinstance(event, events.ItemJudged):
            self._judged += 1
            self._bar.set_description_str(f"{self._judged:,} items judged", refresh=False)
            self._bar.update(0)
        elif self._bar is not None and isinstance(event, events.MeasureProgress):
            self._bar.set_description_str(f"{event.done:,} of {event.total:,} compared", refresh=False)
            self._bar.update(0)
