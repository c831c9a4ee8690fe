"""`runs`: list, organise, export and re-decide the runs of the store, without judging."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from engine.cli.shared import arguments as shared
from engine.cli.shared import console, progress
from engine.cli.shared.hints import OPTIONS
from engine.core.errors import FileKind, Hint, SetupError, Step
from engine.core.formatting import counted, listed, without_middle
from engine.core.judgments import JudgmentKey
from engine.core.tables import Section, Table
from engine.settings.identity import how_to_complete
from engine.settings.run_lists import TOOLS, RunContents, run_list
from engine.store.opening import has_store
from engine.store.run_store import RunStore
from engine.system.files import check_targets, write_json
from engine.system.paths import account_name, default_store

if TYPE_CHECKING:
    from engine.operations.export import ToolExport
    from engine.results.run_results import RunResults

_MOVED = "the run's dataset, if it was moved"
_LONGEST_CELL, _LONGEST_FACT = 100, 60  # characters; of two compared runs each has half a line


def runs() -> console.Parser:
    """List and manage the runs in the run store."""
    arguments = console.command_parser(runs, _runs)
    arguments.set_defaults(action=_list_runs, store=default_store())
    actions = arguments.add_subparsers(metavar="ACTION", title="actions (none: list the runs)")
    _add_store(arguments)
    arguments.flag("--all", "include archived runs")
    words = "runs with all these words in their name, note, model, dataset or settings"
    find = console.add_action(actions, "find", _find, words)
    find.add_argument("text", nargs="+", metavar="WORD")
    find.flag("--all", "include archived runs")
    words = "compare two runs: settings, model, dataset, times; drift of labels and probabilities"
    diff = console.add_action(actions, "diff", _diff, words, of_run="ID")
    diff.add_argument("other", type=int, metavar="OTHER")
    diff.file("--dataset", "their dataset, if it was moved")
    shared.add_columns(diff, "dataset")
    words = "name a run; an empty text removes the name"
    name = console.add_action(actions, "name", _name, words, of_run="ID")
    name.add_argument("text", nargs="+", metavar="NAME")
    words = "write a note on a run; an empty text removes it"
    note = console.add_action(actions, "note", _note, words, of_run="ID")
    note.add_argument("text", nargs="+", metavar="TEXT")
    archive = console.add_action(actions, "archive", _archive, "hide runs from lists; nothing is deleted")
    restore = console.add_action(actions, "restore", _restore, "take runs out of the archive")
    delete = console.add_action(actions, "delete", _delete, "delete runs permanently, after confirmation")
    delete.flag("--yes", "do not ask for confirmation")
    delete.flag("--with-decisions", "also delete runs with human annotations")
    for several in (archive, restore, delete):
        several.add_argument("ids", type=int, nargs="+", metavar="ID")
    words = "add a submission, or another judge's file, to the store, to review it"
    add = console.add_action(actions, "add", _add, words)
    add.add_argument("submission", type=Path, metavar="FILE")
    shared.add_judge_file(add)
    add.file("--dataset", "the dataset that it answers", required=True)
    shared.add_rubric(add, "its criteria, with their weights")
    shared.add_columns(add, "dataset")
    console.add_action(actions, "show", _show, "one run: settings, labels, unscored items", of_run="ID")
    _add_export(actions)
    words = "decide a run again with another calibration, or none"
    recalibrate = console.add_action(actions, "recalibrate", _recalibrate, words, of_run="ID")
    with_what = recalibrate.add_mutually_exclusive_group(required=True)
    words = "the calibration, as `calibrate` wrote it"
    with_what.add_argument("--calibration", type=Path, metavar="FILE", help=words)
    with_what.add_argument("--none", action="store_true", help="use the uncalibrated probabilities")
    words = "regenerate stale explanations: those written for another label than the effective one"
    rewrite = console.add_action(actions, "rewrite", _rewrite, words, of_run="ID")
    shared.add_examples(rewrite)
    rewrite.file("--dataset", _MOVED)
    rewrite.text("--model", "MODEL", "the run's model, if it was moved: its file or name")
    shared.add_columns(rewrite, "dataset")
    shared.add_settings(rewrite.add_argument_group("computer"), "threads")
    for each in actions.choices.values():
        _add_store(each)
    return arguments


def _add_export(actions: console.Actions) -> None:
    words = "write a run's submission or its data"
    export = console.add_action(actions, "export", _export, words, of_run="ID")
    export.file("--out", "the submission, FILE.tsv")
    export.add_argument(
        "--for",
        dest="tool",
        choices=TOOLS,
        help="the tool that --out is for: dpo (pairs of a chosen and a rejected response, .jsonl or"
        " .parquet), inspect (a log of inspect_ai, .json), alpaca-eval (annotations, .json);"
        " default: a submission",
    )
    export.text(
        "--criterion",
        "NAME",
        "with --for dpo or alpaca-eval: the criterion (default: overall_quality, else the last one)",
    )
    export.file("--json", "every judgment with its raw predictions, as JSON")
    export.file("--csv", "all data, one row per judgment")
    shared.add_labels_of(export)
    export.flag("--accepted", "only labels that may stand, by the thresholds that `trust --keep` kept")
    export.flag(
        "--with-stale", "include stale explanations: those written for another label than the effective one"
    )
    export.file(
        "--as-dataset",
        "the run's dataset with the annotators' labels as human labels (.tsv, .json or .parquet)",
    )
    export.flag("--with-judge", "with --as-dataset: the judge's label for items without a human one")
    export.file("--dataset", _MOVED)
    shared.add_columns(export, "dataset")


def _runs(options: argparse.Namespace) -> int:
    # To add a submission makes the store; all else needs one that is there.
    if not has_store(options.store) and options.action is not _add:
        if options.action is _list_runs:
            print(f"No runs yet: there is no run store {options.store}.")
            return console.DONE
        from engine.operations.opening import check_store

        check_store(options.store)
    try:
        with RunStore(options.store) as store:
            progress.tell_waiting(store)
            return int(options.action(store, options) or console.DONE)
    except SetupError:
        from engine.data.file_kinds import expecting

        with expecting(options.store, FileKind.RUN_STORE):
            raise


def _add(store: RunStore, options: argparse.Namespace) -> int:
    from engine.results.completeness import open_submission
    from engine.results.run_results import load_results

    dataset = shared.read_dataset(options, options.dataset)
    run = open_submission(options.submission, dataset, store, shared.judge_column(options))
    results = load_results(store, run.id)
    notices = filter(None, [console.printable(results.joined_in_words), how_to_complete(results.left)])
    print("\n".join([*notices, f"It is run {run.id} of {store.path}."]))
    return console.INCOMPLETE if results.left else console.DONE


def _show(store: RunStore, options: argparse.Namespace) -> None:
    from engine.report import run as of_runs
    from engine.results.health import run_health
    from engine.results.run_results import load_results

    results = load_results(store, options.id)
    print(console.printed_section(Section("run", "", [of_runs.run_facts(results)])))
    if not results.run.by_hand:
        print(f"\n{progress.health_lines(run_health(results))}")
    print(f"\n{console.printed_section(of_runs.labels_given_section(results.answered))}")
    _print_unscored(results)


def _print_unscored(results: "RunResults") -> None:
    if results.run.submitted:
        what = "not labelled" if results.run.by_hand else "not answered"
        if lacking := [item.item_id for item in results.judged if item.item_id in results.unanswered]:
            print(f"{what} ({len(lacking):,}): {console.printable(listed(lacking))}")
        return
    reasons = [
        (JudgmentKey(item.item_id, criterion), why)
        for item in results.judged
        for criterion, why in item.unscored.items()
    ]
    for key, reason in reasons[:50]:
        override, said = results.overrides.get(key), reason
        if override and override.preference:
            said += console.printable(f"; {override.author} gave {override.preference}")
        print(f"unscored: item {console.printable(key.item_id)}, {key.criterion}: {said}")
    if len(reasons) > 50:
        print(f"and {len(reasons) - 50} more.")


def _export(store: RunStore, options: argparse.Namespace) -> int:
    from engine.data.submission import check_suffix, write_submission
    from engine.operations.opening import dataset_beside
    from engine.results.exports import as_json, write_results_csv
    from engine.results.run_results import submission_of

    tool = _tool_of(options)
    if not (options.out or options.json or options.csv or options.as_dataset):
        raise SetupError(
            "runs export: no output file is named.",
            "Name a file: --out FILE.tsv, --json FILE, --csv FILE or --as-dataset FILE",
        )
    if options.as_dataset:
        check_suffix(options.as_dataset)
    elif options.with_judge:
        raise SetupError("--with-judge has no effect here.", "Use it with --as-dataset FILE")
    if tool is None:
        shared.check_suffix("--out", options.out, "a submission is TSV", ".tsv")
    written = shared.written_files(options) | {"--as-dataset": options.as_dataset}
    check_targets(written, shared.files_of_run(options, store.run(options.id), store.path))
    results = _exported(store, options)
    if options.as_dataset:
        _export_dataset(results, options)
    if not (options.out or options.json or options.csv):
        return console.DONE  # the notices on the dataset are printed already
    if tool is not None:
        made = tool.made(results, shared.items_of_run(options, results.run, options.dataset))
        made.write(options.out)
        print("\n".join(filter(None, (f"{made.called}: {options.out}", made.in_words))))
    dataset = None
    if forms := [form for form, path in (("CSV", options.csv), ("JSON", options.json)) if path]:
        columns = shared.columns_of(options)
        dataset = progress.with_notes(dataset_beside(results, options.dataset, columns, forms=forms))
        if dataset is not None:
            shared.keep_columns(options, dataset)
    submission = None if tool is not None else options.out
    if submission:
        write_submission(submission, submission_of(results, options.with_stale))
    if options.json:
        write_json(options.json, as_json(results, dataset))
    progress.print_exports(results, submission, options.json)
    if options.csv:
        write_results_csv(options.csv, results, dataset)
        print(f"All data: {options.csv}")
    return progress.warn_of_gaps(results.whole or results)


def _exported(store: RunStore, options: argparse.Namespace) -> "RunResults":
    from engine.annotations.records import LabelSource
    from engine.results.run_results import load_results
    from engine.results.trust import accepted_in_words, accepted_only

    results = load_results(store, options.id)
    results = results.by(LabelSource.of_text(options.labels_of, tuple(results.reviews.labels)))
    if options.accepted:
        results = accepted_only(results)
        print("\n".join(map(console.printable, accepted_in_words(results))))
    return results


def _tool_of(options: argparse.Namespace) -> "ToolExport | None":
    from engine.operations.export import ToolExport, no_criterion, suffixes_of

    if options.tool is None:
        if options.criterion is not None:
            raise no_criterion()
        return None
    if options.out is None:
        suffixes = suffixes_of(options.tool)
        raise SetupError(
            f"--for {options.tool}: no output file is named.",
            f"Name a file that ends in {' or '.join(suffixes)}: --out FILE{suffixes[0]}",
        )
    return ToolExport(options.tool, options.out, options.criterion, options.with_stale)


def _export_dataset(results: "RunResults", options: argparse.Namespace) -> None:
    from engine.data.submission import write_dataset
    from engine.results.run_dataset import labelled_dataset, written_otherwise

    dataset = shared.items_of_run(options, results.run, options.dataset)
    made = labelled_dataset(results, dataset, options.with_judge)
    write_dataset(options.as_dataset, made.columns)
    print(f"Dataset: {options.as_dataset}")
    print("\n".join(map(console.printable, made.sentences)))
    for found in written_otherwise(options.as_dataset, made, dataset):
        console.tell(console.printable(found))


def _rewrite(store: RunStore, options: argparse.Namespace) -> int:
    from engine.operations.judge import RewriteRequest, rewrite
    from engine.results.run_results import load_results

    results = load_results(store, options.id)
    if not results.stale:
        print(f"No explanation of run {options.id} is stale.")
        return console.DONE
    with console.interruptible() as cancel:
        request = RewriteRequest(
            store=store.path,
            run=results.run,
            dataset=shared.items_of_run(options, results.run, options.dataset, cancel),
            model=shared.model_file(options.model) if options.model else None,
            threads=options.threads,
            examples=shared.given_examples(options),
        )
        made = progress.show_measure("explanations", rewrite(request, cancel, apart=False))
    print(f"Run {options.id}: {made.written:,} of {made.stale:,} stale explanations are regenerated.")
    if made.wordless:
        console.tell(f"For {made.wordless:,} of them the model wrote nothing: the old ones are kept.")
    if made.too_long:
        items = counted(len(made.too_long), "item does", "items do")
        console.tell(f"{items} not fit the context: {listed(made.too_long)}.")
    if made.stopped:
        console.tell("Stopped: all new explanations are stored. The same command resumes.")
    return console.DONE if made.written == made.stale else console.INCOMPLETE


def _recalibrate(store: RunStore, options: argparse.Namespace) -> int:
    from engine.report.run import changes_section
    from engine.results.calibration import load_calibration
    from engine.results.run_results import decided_again

    calibration = load_calibration(options.calibration) if options.calibration else None
    decided = decided_again(store, options.id, calibration)
    if decided.lacking:
        console.tell(console.printable(decided.lacking))
    made = f"calibrated with {options.calibration}" if calibration else "not calibrated"
    if calibration is not None:
        console.tell(calibration.in_words)
    print(f"Run {options.id} is now {made}.\n")
    if decided.after.one_labels:
        console.tell(decided.after.one_label_sentence)
    print(console.printed_section(changes_section(decided.before, decided.after)))
    return progress.warn_of_gaps(decided.after)


def _add_store(arguments: console.Parser) -> None:
    # No default here: that of an action would take the place of a store that was named before the action.
    arguments.add_argument(
        "--store", type=Path, default=argparse.SUPPRESS, metavar="FILE", help="the run store"
    )


# Listing and comparing runs


def _list_runs(store: RunStore, options: argparse.Namespace) -> None:
    with store.reading():
        runs, damaged = store.runs(), store.damaged_runs()
    shown = [run for run in runs if options.all or not run.archived]
    away = len(runs) - len(shown)
    if shown or damaged:
        print(_printed(run_list([*shown, *damaged])))
    else:
        print(f"No runs {'outside the archive' if away else 'yet'} in {store.path}.")
    if away:
        print(f"{counted(away, 'run is', 'runs are')} archived: runs --all")
    for run in damaged:
        console.tell(console.printable(run.problem))
    if damaged:
        console.tell(OPTIONS.of(damaged[0].hint))


def _find(store: RunStore, options: argparse.Namespace) -> int:
    text = " ".join(options.text)
    found = [run for run in store.runs() if run.found_by(text)]
    if shown := [run for run in found if options.all or not run.archived]:
        print(_printed(run_list(shown)))
    elif found:
        print(f"{counted(len(found), 'run', 'runs')} with {text!r} in the archive: add --all to see it.")
    else:
        print(f"No run has {text!r} in its name, note, model, dataset or settings.")
    return console.DONE if shown else console.INCOMPLETE


def _diff(store: RunStore, options: argparse.Namespace) -> int:
    from engine.metrics.run_drift import stored_drift
    from engine.report import run as of_runs
    from engine.report.drift import drift_sections

    if options.id == options.other:
        raise SetupError(f"Both are run {options.id}.", Hint(Step.CHOOSE_RUN))
    with store.reading():
        runs = [store.run(options.id), store.run(options.other)]
        efforts = {run.id: store.efforts(run.id) for run in runs}
        common = store.shared_items(options.id).get(options.other, 0)
    made = of_runs.differences_table(runs[0], runs[1], efforts, common)
    print(_printed(made, _LONGEST_FACT))
    number = of_runs.difference_count(made)
    print(f"\n{counted(number, 'difference', 'differences')}." if number else "\nNo differences.")
    try:
        drift = stored_drift(
            store, options.id, options.other, options.dataset, columns=shared.columns_of(options)
        )
    except SetupError as error:
        if options.dataset is not None:
            raise
        console.tell(f"\nDrift is not measured. {error.problem}\n{OPTIONS.of(error.hint)}")
        return console.DONE
    for section in drift_sections(drift):
        print(f"\n{console.printed_section(section)}")
    return console.DONE


def _printed(made: Table, longest: int = _LONGEST_CELL) -> str:
    rows = [[without_middle(" ".join(text.split()), longest) for text in row] for row in made.texts()]
    filled = [place for place in range(len(made.columns)) if any(row[place] for row in rows)]
    texts = [at for at, place in enumerate(filled) if not (at and made.columns[place].kind.is_number)]
    return console.table(
        [made.titles[place] for place in filled], [[row[place] for place in filled] for row in rows], texts
    )


# Organising runs


def _name(store: RunStore, options: argparse.Namespace) -> None:
    store.name(options.id, " ".join(options.text))
    run = store.run(options.id)
    print(f"It is now {run.called}." if run.name else f"Run {run.id} now has no name.")


def _note(store: RunStore, options: argparse.Namespace) -> None:
    store.note_run(options.id, " ".join(options.text))
    run = store.run(options.id)
    print(f"{run.title}: {console.printable(run.note)}" if run.note else f"{run.title} now has no note.")


def _archive(store: RunStore, options: argparse.Namespace) -> None:
    store.archive(options.ids, account_name())
    print(f"{_numbered(store, options.ids)} archived; `runs --all` shows archived runs.")


def _restore(store: RunStore, options: argparse.Namespace) -> None:
    store.restore(options.ids)
    print(f"{_numbered(store, options.ids)} restored to the list.")


def _numbered(store: RunStore, ids: list[int]) -> str:
    titles = [store.run(run_id).title for run_id in dict.fromkeys(ids)]
    return f"{', '.join(titles)} {'is' if len(titles) == 1 else 'are'}"


def _delete(store: RunStore, options: argparse.Namespace) -> int:
    held = store.contents(dict.fromkeys(options.ids))
    for run in held:
        print(console.printable(run.in_words))
    refused = any(run.decided for run in held) and not options.with_decisions
    if not (refused or options.yes or _agreed(held)):  # a refusal needs no question
        print("Nothing is deleted.")
        return console.INCOMPLETE
    print(store.delete(options.ids, options.with_decisions).in_words)
    return console.DONE


def _agreed(held: list[RunContents]) -> bool:
    number = counted(len(held), "run", "runs")
    if not sys.stdin.isatty():
        raise SetupError(f"{number} would be deleted permanently.", "Confirm with --yes")
    print(
        "This cannot be undone: export first what you may still need (runs export). Notes and tags of items"
        " are kept."
    )
    try:
        answer = input(f"Delete {number}? [y/N] ")
    except EOFError:  # Ctrl-D
        print()
        return False
    return answer.strip().lower() in ("y", "yes")
