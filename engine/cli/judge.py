"""`judge`: judge a dataset with a model, write a submission, print its scores.

Knows: its arguments, what it prints.
"""

import argparse
import sys
from dataclasses import fields, replace
from functools import partial
from pathlib import Path

from engine.cli.shared import arguments as shared
from engine.cli.shared.cluster import (
    add_cluster,
    cluster_of,
    device_of_cluster,
    judged_by_cluster,
    show_cluster_forecast,
)
from engine.cli.shared.console import (
    DONE,
    INCOMPLETE,
    add_store,
    command_parser,
    file_option,
    flag,
    interruptible,
    number_option,
    printable,
    printed,
    printed_section,
    tell,
    text_option,
)
from engine.cli.shared.progress import (
    ShownRun,
    health_lines,
    print_exports,
    show_forecast,
    show_measure,
    warn_of_gaps,
    with_notes,
)
from engine.cli.shared.setting_arguments import (
    FEW_SHOT_SELECTION,
    add_examples,
    add_machine,
    add_orders,
    add_settings_of,
    option_names,
)
from engine.core.errors import SetupError
from engine.core.events import CancelToken
from engine.core.methods import parse_methods
from engine.core.rubric import ELOQUENT
from engine.data.submission import write_submission
from engine.metrics.accuracy import run_accuracy
from engine.operations import judge as judging
from engine.operations.judge_request import JudgeRequest, given_settings
from engine.operations.regression_check import DEFAULT_ITEMS, RegressionCheck, drift_since
from engine.report.drift import drift_sections
from engine.report.run import differences_table, labels_given_section, method_sections, run_accuracy_table
from engine.report.stopping import until_section
from engine.results.exports import as_json
from engine.results.health import run_health
from engine.results.run_results import RunResults, submission_of
from engine.results.second_order import read_in_words
from engine.settings.rows import CPU, DEFAULT_METHODS, Group, Surface
from engine.store.run_store import RunStore
from engine.system.computer import KeepAwake
from engine.system.files import write_json

_STANDARD_INPUT = "-"


def judge() -> argparse.ArgumentParser:
    arguments = command_parser(
        "judge",
        _judge,
        "Judge each item of DATASET on each criterion and write the predictions as a submission.\n"
        "DATASET is TSV, CSV, JSON, JSON Lines or Parquet, plain or .gz. Every judgment is stored in the\n"
        "run store: the same command resumes a stopped run.",
    )
    arguments.add_argument("dataset", type=Path, nargs="?", metavar="DATASET")
    text_option(arguments, "--model", "MODEL", shared.MODEL_WORDS)
    file_option(
        arguments,
        "--recipe",
        "use the settings, the calibration and, without --model, the model that `tune` found",
    )
    file_option(arguments, "--out", "the submission", metavar="FILE.tsv")
    file_option(arguments, "--json", "every judgment with its raw predictions, as JSON")
    flag(arguments, "--plan", "print what the run will take, and judge nothing; needs no --out")
    shared.add_columns(arguments, "DATASET")
    check = arguments.add_argument_group("regression check against an earlier run")
    number_option(
        check,
        "--regression-check",
        f"judge items of this run again (--items, {DEFAULT_ITEMS}; sampled with --seed) and report the"
        " drift of labels, probabilities and accuracy. By default the dataset, the model, the rubric and all"
        " settings are those of RUN",
        metavar="RUN",
    )
    file_option(check, "--gold", "human labels of these items, if DATASET has none", metavar="DATASET")
    _add_judging(arguments.add_argument_group("judging"))
    add_settings_of(arguments.add_argument_group("explanations"), Surface.JUDGE, Group.EXPLANATIONS)
    add_machine(arguments.add_argument_group("computer"), Surface.JUDGE)
    add_cluster(arguments.add_argument_group("other computers"))
    run_store = arguments.add_argument_group("run store")
    add_store(run_store, "runs")
    text_option(run_store, "--name", "NAME", "a name for the run, shown in lists")
    text_option(run_store, "--note", "TEXT", "a note on the run; `runs find` searches it, too")
    flag(run_store, "--accept-reading", "judge although the dataset seems to be read wrong")
    flag(run_store, "--fresh", "start a new run even if one could be resumed")
    return arguments


def _add_judging(group: argparse._ArgumentGroup) -> None:
    add_settings_of(group, Surface.JUDGE, Group.OUTPUT)
    add_orders(group)
    text_option(
        group,
        "--method",
        "A,B",
        f"elicitation methods: some of {option_names()}; their log-probabilities are averaged"
        f" ({option_names(DEFAULT_METHODS)})",
    )
    add_settings_of(group, Surface.JUDGE, Group.METHODS)
    shared.add_rubric(group, "the criteria and their questions (the task's)")
    text_option(
        group, "--criteria", "A,B", f"some of the rubric's criteria; the task's: {','.join(ELOQUENT.names)}"
    )
    number_option(group, "--items", "judge only the first N items")
    number_option(group, "--sample", "judge a random sample of N items (--seed)")
    text_option(
        group,
        "--sample-by",
        "COLUMN",
        "with --sample: stratify by the values of this column, which may be a human label",
    )
    text_option(
        group, "--ids", "FILE", "judge only the items whose ids are in FILE, one per line (-: standard input)"
    )
    text_option(
        group,
        "--until",
        "significant|WIDTH",
        "judge instructions in a random order (--seed) and stop early: significant (every two candidate"
        " models differ significantly; the dataset names them), or intervals of win rates at most WIDTH"
        " points wide (without candidates: of how often A wins). Another value, or none, resumes the run",
    )
    add_examples(group)
    file_option(group, "--calibration", "a calibration that `calibrate` fitted on a run of this judge")
    add_settings_of(group, Surface.JUDGE, Group.EXAMPLES, Group.ORDERS, Group.ITEMS, Group.DISPLAY)


def _judge(options: argparse.Namespace) -> int:
    if options.out is None and not options.plan and options.regression_check is None:
        raise SetupError("--out is missing: a run writes a submission.", "Name its file: --out FILE.tsv")
    if options.dataset is None and options.regression_check is None:
        raise SetupError("DATASET is missing.", "Name its file: judge DATASET --model MODEL --out FILE.tsv")
    shared.check_suffix("--out", options.out, "a submission is TSV", ".tsv")
    if options.until is not None and options.cluster is not None:
        raise SetupError(
            "Workers of a cluster judge many items at once: --until cannot check after each group.",
            "Use --until on this computer alone, or remove it.",
        )
    over = cluster_of(options)
    request, store = _request(options), options.store
    request.check()
    if options.ids == _STANDARD_INPUT:
        request = replace(request, ids=sys.stdin.buffer.read() if sys.stdin else b"")
    bar = ShownRun()
    with interruptible(bar.loss_of_a_stop) as cancel:
        if over is not None:
            # This computer judges nothing.
            request = replace(request, device=CPU, judged_on=partial(device_of_cluster, over, cancel))
        ready = with_notes(judging.prepare(request, cancel))
        part = ready.part_in_words
        if options.plan and over is not None:
            show_cluster_forecast(ready, part, over, cancel, store)
            return DONE
        if options.plan:
            show_forecast(ready, part, store, cancel)
            if (until := request.stopping_rule) is not None:
                print(f"With --until this is the maximum: the run judges {until.in_words}.")
            return DONE
        elsewhere = None if over is None else judged_by_cluster(store, over, cancel)
        work = judging.judge(ready, store, cancel, elsewhere=elsewhere)
        judged = bar.to_its_end(work, KeepAwake(options.keep_awake))
        if judged.results is None:
            tell(judged.stopped_in_words(f"command{' without --fresh' if options.fresh else ''}"))
            return INCOMPLETE
        code = _report(judged, judged.results, ready, options)
        if ready.regression is not None:
            _report_since(ready.regression, ready, store, judged.ended.run_id, cancel)
        return code


def _request(options: argparse.Namespace) -> JudgeRequest:
    """What the options ask for. SetupError for one that cannot be read."""
    known = {each.name for each in fields(JudgeRequest)}
    given = {name: value for name, value in vars(options).items() if name in known}
    selection, method, criteria = options.few_shot_selection, options.method, None
    if options.criteria is not None:
        criteria = shared.criteria_of(options.criteria, shared.rubric_of(options))
    return JudgeRequest(
        **given
        | {
            "criteria": criteria,
            "methods": None if method is None else parse_methods(method),
            "few_shot_selection": None if selection is None else FEW_SHOT_SELECTION[selection],
            "columns": shared.columns_of(options),
            "settings": given_settings(options),
            "ids": None if options.ids is None else Path(options.ids),
            "written": {} if options.plan else {"--out": options.out, "--json": options.json},
        }
    )


def _report(
    judged: judging.Judged, results: RunResults, ready: judging.ReadyRun, options: argparse.Namespace
) -> int:
    plan = ready.plan
    orders = read_in_words(results)
    how = f"{orders}, calibrated" if results.calibration else orders
    # The files first: they are complete even if the printed output is cut off.
    if options.out:
        write_submission(options.out, submission_of(results))
    if options.json:
        write_json(options.json, as_json(results, plan.dataset))
    print_exports(results, options.out, options.json)
    sample = f" ({results.run.sample_in_words})" if results.run.is_sample else ""
    print(f"\n{results.run.title}: {ready.part_in_words}{sample}, {printable(plan.model.name)}, {how}")
    print(health_lines(run_health(results)))
    if results.one_labels:
        tell(results.one_label_sentence)
    print(f"\n{printed_section(labels_given_section(results))}")
    if judged.until is not None:
        print(f"\n{printed_section(until_section(judged.until))}")
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
    check: RegressionCheck, ready: judging.ReadyRun, store_path: Path, run_id: int, cancel: CancelToken
) -> None:
    """Print how this run's settings and results differ from those of the earlier run."""
    measuring = drift_since(check, ready.plan, store_path, run_id, cancel, apart=False)
    found = show_measure("The same in another batch shape", measuring)
    with RunStore(store_path) as store:
        now = store.run(run_id)
    differs = differences_table(check.run, now, {check.run.id: (), now.id: ()})
    for section in drift_sections(found, differs):
        print(f"\n{printed_section(section)}")
