"""`judge`: judge a dataset with a model, write a submission, print its scores.

Knows: its arguments, the steps of the whole job, what it prints.
"""

import argparse
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

from engine.analysis.recipe import Recipe
from engine.cli.shared.cluster import (
    add_cluster,
    cluster_of,
    device_of_cluster,
    judged_by_cluster,
    show_cluster_forecast,
)
from engine.cli.shared.console import (
    INCOMPLETE,
    add_store,
    command_parser,
    interruptible,
    printable,
    printed,
    printed_section,
    tell,
)
from engine.cli.shared.data_arguments import (
    add_choice,
    add_columns,
    add_rubric,
    chosen_ids,
    ids_file,
    keep_columns,
    seed_of,
)
from engine.cli.shared.judging import (
    RunProgressBar,
    asking,
    judged_here,
    part_in_words,
    show_forecast,
    show_measure,
    shown_to_its_end,
    tell_notices,
    tell_stopped,
)
from engine.cli.shared.outputs import check_outputs, export_results, health_lines, warn_of_gaps
from engine.cli.shared.regression_check import (
    RegressionCheck,
    add_regression_check,
    drift_since,
    regression_check_of,
)
from engine.cli.shared.setting_arguments import (
    add_examples,
    add_machine,
    add_orders,
    add_settings_of,
    option_names,
)
from engine.cli.shared.setup_arguments import (
    add_recipe,
    dataset_of,
    examples_of_recipe,
    model_of,
    named_recipe,
    setup_of,
)
from engine.cluster.cluster_run import ClusterRun
from engine.core.errors import SetupError
from engine.core.events import CancelToken, RunEnded, RunEvent, followed
from engine.core.rubric import ELOQUENT
from engine.judging.plan import RunPlan
from engine.judging.prepare import PreparedRun, prepare_run
from engine.metrics.accuracy import run_accuracy
from engine.ranking.stopping import UntilSignificant, told_of
from engine.report.drift import drift_sections
from engine.report.run import differences_table, labels_given_section, method_sections, run_accuracy_table
from engine.report.stopping import until_section
from engine.results.health import run_health
from engine.results.run_results import load_results
from engine.results.second_order import read_in_words
from engine.settings.rows import CPU, DEFAULT_METHODS, Group, Surface
from engine.settings.sampling import StoppingRule
from engine.store.run_store import RunStore
from engine.system.computer import KeepAwake
from engine.system.paths import PathKind, seen_at


def parser() -> argparse.ArgumentParser:
    """The arguments of `judge`."""
    arguments = command_parser(
        "judge",
        "Judge each item of DATASET on each criterion and write the predictions as a submission.\n"
        "DATASET is TSV, CSV, JSON, JSON Lines or Parquet, plain or .gz. Every judgment is stored in the\n"
        "run store: the same command resumes a stopped run.",
    )
    arguments.add_argument("dataset", type=Path, nargs="?", metavar="DATASET")
    add_recipe(arguments)
    arguments.add_argument("--out", type=Path, metavar="FILE.tsv", help="the submission")
    arguments.add_argument(
        "--json", type=Path, metavar="FILE", help="every judgment with its raw predictions, as JSON"
    )
    arguments.add_argument(
        "--plan", action="store_true", help="print what the run will take, and judge nothing; needs no --out"
    )
    add_columns(arguments, "DATASET")
    add_regression_check(arguments)
    _add_judging(arguments.add_argument_group("judging"))
    add_settings_of(arguments.add_argument_group("explanations"), Surface.JUDGE, Group.EXPLANATIONS)
    add_machine(arguments.add_argument_group("computer"), Surface.JUDGE)
    add_cluster(arguments.add_argument_group("other computers"))
    run_store = arguments.add_argument_group("run store")
    add_store(run_store, "runs")
    run_store.add_argument("--name", metavar="NAME", help="a name for the run, shown in lists")
    run_store.add_argument("--note", metavar="TEXT", help="a note on the run; `runs find` searches it, too")
    run_store.add_argument(
        "--fresh", action="store_true", help="start a new run even if one could be resumed"
    )
    return arguments


def _add_judging(group: argparse._ArgumentGroup) -> None:
    add_settings_of(group, Surface.JUDGE, Group.OUTPUT)
    add_orders(group)
    _add_methods(group)
    add_rubric(group, "the criteria and their questions (the task's)")
    group.add_argument(
        "--criteria",
        metavar="A,B",
        help=f"some of the rubric's criteria; the task's: {','.join(ELOQUENT.names)}",
    )
    add_choice(group)
    group.add_argument(
        "--until",
        metavar="significant|WIDTH",
        help="judge instructions in a random order (--seed) and stop early: significant (every two candidate"
        " models differ significantly; the dataset names them), or intervals of win rates at most WIDTH"
        " points wide (without candidates: of how often A wins). Another value, or none, resumes the run",
    )
    add_examples(group)
    group.add_argument(
        "--calibration",
        type=Path,
        metavar="FILE",
        help="a calibration that `calibrate` fitted on a run of this judge",
    )
    add_settings_of(group, Surface.JUDGE, Group.EXAMPLES, Group.ORDERS, Group.ITEMS, Group.DISPLAY)


def _add_methods(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--method",
        metavar="A,B",
        help=f"elicitation methods: some of {option_names()}; their log-probabilities are averaged"
        f" ({option_names(DEFAULT_METHODS)})",
    )
    add_settings_of(group, Surface.JUDGE, Group.METHODS)


def run(options: argparse.Namespace) -> int:
    """Judge, write and print; the exit code."""
    if options.out is None and not options.plan and options.regression_check is None:
        raise SetupError("--out is missing: a run writes a submission.", "Name its file: --out FILE.tsv")
    ids = ids_file(options)
    until = _until(options)
    over = cluster_of(options)
    bar = RunProgressBar()
    with interruptible(bar.loss_of_a_stop) as cancel:
        recipe, regression = named_recipe(options), regression_check_of(options, cancel)
        model = model_of(options, recipe, regression)
        if not options.plan:
            check_outputs(
                options, _read(options, model, ids, regression) | examples_of_recipe(options, recipe)
            )
        made = asking(_prepared(options, model, over, cancel, regression, recipe=recipe), until)
        fresh = options.fresh or (regression is not None and regression.begins_anew(made.plan, options.store))
        if options.plan:
            return _show_plan(made, options, over, cancel, fresh)
        events = _judged(made.plan, options.store, over, cancel, fresh)
        ended = shown_to_its_end(events, bar, KeepAwake(options.keep_awake))
        with RunStore(options.store) as store:
            code = _report(ended, made, store, options)
            if regression is not None and not ended.stopped:
                _report_since(regression, made.plan, store, ended.run_id, cancel)
            return code


def _read(
    options: argparse.Namespace, model: Path, ids: Path | None, regression: RegressionCheck | None
) -> dict[str, Path]:
    """The files that are read, by their role."""
    dataset = dataset_of(options) if regression is None else regression.items.path
    read = {"dataset": dataset, "model": model, "run store": options.store}
    given = {
        "examples": options.examples,
        "calibration": options.calibration,
        "ids": ids,
        "recipe": options.recipe,
    }
    read |= {what: path for what, path in {**given, "gold": options.gold}.items() if path}
    if options.rubric and seen_at(Path(options.rubric)) is PathKind.FILE:
        read["rubric"] = Path(options.rubric)
    return read


def _show_plan(
    made: PreparedRun, options: argparse.Namespace, over: ClusterRun | None, cancel: CancelToken, fresh: bool
) -> int:
    store, until, part = options.store, _until(options), part_in_words(made)
    if over is not None:
        return show_cluster_forecast(made, part, over, cancel, store=store, fresh=fresh)
    code = show_forecast(made, part, store, fresh, cancel)
    if until is not None:
        print(f"With --until this is the maximum: the run judges {until.in_words}.")
    return code


def _until(options: argparse.Namespace) -> StoppingRule | None:
    if options.until is None:
        return None
    if options.cluster is not None:
        raise SetupError(
            "Workers of a cluster judge many items at once: --until cannot check after each group.",
            "Use --until on this computer alone, or remove it.",
        )
    return StoppingRule.of_text(options.until, seed_of(options))


def _judged(
    plan: RunPlan, store: Path, over: ClusterRun | None, cancel: CancelToken, fresh: bool
) -> Iterable[RunEvent]:
    """The run, judged here or by other computers."""
    if over is not None:
        return judged_by_cluster(plan, store, over, cancel, fresh)
    return judged_here(plan, store, fresh, cancel)


def _prepared(
    options: argparse.Namespace,
    model: Path,
    over: ClusterRun | None,
    cancel: CancelToken,
    regression: RegressionCheck | None,
    *,
    recipe: Recipe | None,
) -> PreparedRun:
    setup, orders = setup_of(options, model, regression, recipe)
    if over is not None:
        setup = replace(setup, device=CPU)  # this computer judges nothing
        device = device_of_cluster(over, cancel)
    dataset = None
    if regression is None:
        dataset, ids = chosen_ids(options, setup.dataset_path, cancel)
        setup = replace(setup, ids=ids)
    made = followed(prepare_run(setup, cancel, dataset), tell_notices)
    if over is not None:
        made = replace(made, plan=replace(made.plan, began_on=device))
    if regression is not None:
        made = replace(made, plan=regression.planned(made.plan, options.store, options.name is not None))
    orders.check_fits(made.plan.identity())
    if dataset is None:
        keep_columns(options, made.plan.dataset)
    return made


def _report(ended: RunEnded, made: PreparedRun, store: RunStore, options: argparse.Namespace) -> int:
    if ended.stopped:
        tell_stopped(ended, options.fresh)
        return INCOMPLETE
    plan, results = made.plan, load_results(store, ended.run_id)
    orders = read_in_words(results)
    how = f"{orders}, calibrated" if results.calibration else orders
    # The files first: they are complete even if the printed output is cut off.
    export_results(results, options.out, options.json, plan.dataset)
    model = printable(plan.model.name)
    sample = f" ({results.run.sample_in_words})" if results.run.is_sample else ""
    print(f"\n{results.run.title}: {part_in_words(made)}{sample}, {model}, {how}")
    print(health_lines(run_health(results)))
    if results.one_labels:
        tell(results.one_label_sentence)
    print(f"\n{printed_section(labels_given_section(results))}")
    if isinstance(plan.question_plan, UntilSignificant):
        print(f"\n{printed_section(until_section(told_of(plan.question_plan, results)))}")
    accuracies = run_accuracy(results, plan.dataset)
    if accuracies and results.fit_in_words:
        tell(results.fit_in_words)
    if accuracies:
        print(f"\nAgainst the human labels of {plan.dataset.name}:")
        print(printed(run_accuracy_table(accuracies)))
    for section in method_sections(results, plan.dataset):
        print(f"\n{printed_section(section)}")
    if results.run.stopped_early:
        tell("To resume the run, use the same command with another --until, or without it for all items.")
    return warn_of_gaps(results, partly=plan.question_plan is not None)


def _report_since(
    regression: RegressionCheck, plan: RunPlan, store: RunStore, run_id: int, cancel: CancelToken
) -> None:
    """Print how this run's settings and results differ from those of the earlier run."""
    shown = partial(show_measure, "The same in another batch shape")
    found = drift_since(regression, plan, store, run_id, cancel=cancel, follow=shown)
    now = store.run(run_id)
    differs = differences_table(regression.run, now, {regression.run.id: (), now.id: ()})
    for section in drift_sections(found, differs):
        print(f"\n{printed_section(section)}")
