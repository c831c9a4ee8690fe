"""`judge`: judge a dataset with a model, write a submission, print its scores."""

import argparse
import sys
from dataclasses import fields, replace
from functools import partial
from pathlib import Path

from engine.cli.shared import arguments as shared
from engine.cli.shared import cluster, console, progress
from engine.core.errors import SetupError
from engine.core.events import CancelToken
from engine.core.methods import parse_methods
from engine.core.rubric import ELOQUENT
from engine.data.submission import write_submission
from engine.metrics.accuracy import run_accuracy
from engine.operations import judge as judging
from engine.operations.judge_request import JudgeRequest, given_settings
from engine.operations.judged_again import DEFAULT_ITEMS, RegressionCheck, drift_since
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


def judge() -> console.Parser:
    """Judge each item of DATASET on each criterion and write the predictions as a submission.
    DATASET is TSV, CSV, JSON, JSON Lines or Parquet, plain or .gz. Every judgment is stored in the
    run store: the same command resumes a stopped run.
    """
    arguments = console.command_parser(judge, _judge)
    arguments.add_argument("dataset", type=Path, nargs="?", metavar="DATASET")
    arguments.text("--model", "MODEL", shared.MODEL_WORDS)
    arguments.file(
        "--recipe", "use the settings, the calibration and, without --model, the model that `tune` found"
    )
    arguments.file("--out", "the submission", metavar="FILE.tsv")
    arguments.file("--json", "every judgment with its raw predictions, as JSON")
    arguments.flag("--plan", "print what the run will take, and judge nothing; needs no --out")
    shared.add_columns(arguments, "DATASET")
    check = arguments.add_argument_group("regression check against an earlier run")
    check.number(
        "--regression-check",
        f"judge items of this run again (--items, {DEFAULT_ITEMS}; sampled with --seed) and report the"
        " drift of labels, probabilities and accuracy. By default the dataset, the model, the rubric and all"
        " settings are those of RUN",
        metavar="RUN",
    )
    check.file("--gold", "human labels of these items, if DATASET has none", metavar="DATASET")
    group = arguments.add_argument_group("escalation to a second model")
    group.number(
        "--escalate",
        "judge only the items of this run of which not every label may stand (`trust RUN --keep`), by another"
        " --model, and put both together as a run of its own, whose submission is --out. By default the"
        " dataset, the rubric and all settings are those of RUN",
        metavar="RUN",
    )
    group.text(
        "--below",
        "C",
        "with --escalate: judge what RUN says with a confidence below C (0 to 1), or below one for each"
        " criterion: relevance=.8,safety=.9",
    )
    _add_judging(arguments.add_argument_group("judging"))
    shared.add_settings_of(arguments.add_argument_group("explanations"), Surface.JUDGE, Group.EXPLANATIONS)
    shared.add_machine(arguments.add_argument_group("computer"), Surface.JUDGE)
    cluster.add_cluster(arguments.add_argument_group("other computers"))
    run_store = arguments.add_argument_group("run store")
    run_store.store("runs")
    run_store.text("--name", "NAME", "a name for the run, shown in lists")
    run_store.text("--note", "TEXT", "a note on the run; `runs find` searches it, too")
    run_store.flag("--accept-reading", "judge although the dataset seems to be read wrong")
    own = "judge although the model is one of the candidates, or of their family"
    run_store.flag("--accept-own-candidates", own)
    run_store.flag("--fresh", "start a new run even if one could be resumed")
    return arguments


def _add_judging(group: console.Options) -> None:
    shared.add_settings_of(group, Surface.JUDGE, Group.OUTPUT)
    shared.add_orders(group)
    group.text(
        "--method",
        "A,B",
        f"elicitation methods: some of {shared.option_names()}; their log-probabilities are averaged"
        f" ({shared.option_names(DEFAULT_METHODS)})",
    )
    shared.add_settings_of(group, Surface.JUDGE, Group.METHODS)
    shared.add_rubric(group, "the criteria and their questions (the task's)")
    group.text("--criteria", "A,B", f"some of the rubric's criteria; the task's: {','.join(ELOQUENT.names)}")
    group.number("--items", "judge only the first N items")
    group.number("--sample", "judge a random sample of N items (--seed)")
    group.text(
        "--sample-by",
        "COLUMN",
        "with --sample: stratify by the values of this column, which may be a human label",
    )
    group.text(
        "--ids", "FILE", "judge only the items whose ids are in FILE, one per line (-: standard input)"
    )
    group.text(
        "--until",
        "significant|WIDTH",
        "judge instructions in a random order (--seed) and stop early: significant (every two candidate"
        " models differ significantly; the dataset names them), or intervals of win rates at most WIDTH"
        " points wide (without candidates: of how often A wins). Another value, or none, resumes the run",
    )
    shared.add_examples(group)
    group.file("--calibration", "a calibration that `calibrate` fitted on a run of this judge")
    shared.add_settings_of(group, Surface.JUDGE, Group.EXAMPLES, Group.ORDERS, Group.ITEMS, Group.DISPLAY)


def _judge(options: argparse.Namespace) -> int:
    if options.out is None and not options.plan and options.regression_check is None:
        raise SetupError("--out is missing: a run writes a submission.", "Name its file: --out FILE.tsv")
    earlier = (options.regression_check, options.escalate)
    if options.dataset is None and earlier == (None, None):
        raise SetupError("DATASET is missing.", "Name its file: judge DATASET --model MODEL --out FILE.tsv")
    shared.check_suffix("--out", options.out, "a submission is TSV", ".tsv")
    if options.until is not None and options.cluster is not None:
        raise SetupError(
            "Workers of a cluster judge many items at once: --until cannot check after each group.",
            "Use --until on this computer alone, or remove it.",
        )
    over = cluster.cluster_of(options)
    request, store = _request(options), options.store
    request.check()
    # Read only now: nobody should type ids for a request that is refused.
    if options.ids == _STANDARD_INPUT:
        request = replace(request, ids=sys.stdin.buffer.read() if sys.stdin else b"")
    bar = progress.run_bar()
    with console.interruptible(bar.loss_of_a_stop) as cancel:
        if over is not None:
            # This computer judges nothing.
            request = replace(request, device=CPU, judged_on=partial(cluster.device_of_cluster, over, cancel))
        ready = progress.with_notes(judging.prepare(request, cancel))
        part = ready.part_in_words
        if options.plan and over is not None:
            cluster.show_cluster_forecast(ready, part, over, cancel, store)
            return console.DONE
        if options.plan:
            progress.show_forecast(ready, part, store, cancel)
            if (until := request.stopping_rule) is not None:
                print(f"With --until this is the maximum: the run judges {until.in_words}.")
            return console.DONE
        elsewhere = None if over is None else cluster.judged_by_cluster(store, over, cancel)
        work = judging.judge(ready, store, cancel, elsewhere=elsewhere)
        judged = bar.to_its_end(work, KeepAwake(options.keep_awake))
        if judged.results is None:
            console.tell(judged.stopped_in_words(f"command{' without --fresh' if options.fresh else ''}"))
            return console.INCOMPLETE
        code = _report(judged, judged.results, ready, options)
        if ready.regression is not None:
            _report_since(ready.regression, ready, store, judged.ended.run_id, cancel)
        return code


def _request(options: argparse.Namespace) -> JudgeRequest:
    known = {each.name for each in fields(JudgeRequest)}
    given = {name: value for name, value in vars(options).items() if name in known}
    method, criteria = options.method, None
    if options.criteria is not None:
        criteria = shared.criteria_of(options.criteria, shared.rubric_of(options))
    return JudgeRequest(
        **given
        | {
            "criteria": criteria,
            "methods": None if method is None else parse_methods(method),
            "columns": shared.columns_of(options),
            "settings": given_settings(options),
            "ids": None if options.ids is None else Path(options.ids),
            "written": {} if options.plan else {"--out": options.out, "--json": options.json},
        }
    )


def _report(
    judged: judging.Judged, results: RunResults, ready: judging.ReadyRun, options: argparse.Namespace
) -> int:
    plan, dataset = ready.plan, ready.plan.dataset
    orders = read_in_words(results)
    how = f"{orders}, calibrated" if results.calibration else orders
    sample = f" ({results.run.sample_in_words})" if results.run.is_sample else ""
    part, name = f"{ready.part_in_words}{sample}", plan.model.name
    if ready.escalation is not None:
        dataset, how = ready.escalation.whole, f"together: {results.run.cascade_in_words}"
        part, name = results.run.identity.dataset_in_words, results.run.identity.model_name
    # The files first: they are complete even if the printed output is cut off.
    if options.out:
        write_submission(options.out, submission_of(results))
    if options.json:
        write_json(options.json, as_json(results, dataset))
    progress.print_exports(results, options.out, options.json)
    print(f"\n{results.run.title}: {console.printable(f'{part}, {name}')}, {how}")
    print(progress.health_lines(run_health(results)))
    if results.one_labels:
        console.tell(results.one_label_sentence)
    print(f"\n{console.printed_section(labels_given_section(results))}")
    if judged.until is not None:
        print(f"\n{console.printed_section(until_section(judged.until))}")
    accuracies = run_accuracy(results, dataset)
    if accuracies and results.fit_in_words:
        console.tell(results.fit_in_words)
    if accuracies:
        print(f"\nAgainst the human labels of {dataset.name}:")
        print(console.printed(run_accuracy_table(accuracies)))
    for section in method_sections(results, dataset):
        print(f"\n{console.printed_section(section)}")
    if results.run.stopped_early:
        console.tell(
            "To resume the run, use the same command with another --until, or without it for all items."
        )
    return progress.warn_of_gaps(results, partly=plan.question_plan is not None)


def _report_since(
    check: RegressionCheck, ready: judging.ReadyRun, store_path: Path, run_id: int, cancel: CancelToken
) -> None:
    measuring = drift_since(check, ready.plan, store_path, run_id, cancel, apart=False)
    found = progress.show_measure("The same in another batch shape", measuring)
    with RunStore(store_path) as store:
        now = store.run(run_id)
    differs = differences_table(check.run, now, {check.run.id: (), now.id: ()})
    for section in drift_sections(found, differs):
        print(f"\n{console.printed_section(section)}")
