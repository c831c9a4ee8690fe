"""`check`, `pairs`, `rubrics`: datasets, submissions and criteria before anything is judged."""

import argparse
import json
from collections import Counter
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from engine.cli.shared import arguments as shared
from engine.cli.shared.console import (
    Parser,
    add_action,
    command_parser,
    interruptible,
    print_sheet,
    printable,
    table,
)
from engine.core.codec import plain
from engine.core.column_map import IF_NAMED, NO_LABEL, OF_OUTPUTS, ColumnMap, parse_columns, targets
from engine.core.errors import ColumnsError, FileKind, InputError, SetupError, WrongKindError
from engine.core.events import CancelToken
from engine.core.formatting import clipped, counted, listed
from engine.core.items import BACKGROUND, labels_beside
from engine.core.rubric import ELOQUENT, Rubric
from engine.data.column_content import Sample, look_into
from engine.data.column_guess import Guess, guess_columns
from engine.data.dataset import Dataset
from engine.data.mapped_table import MappedTable
from engine.data.recognition import known_as, remembered, unread
from engine.data.rubrics import files as rubric_files
from engine.settings.sampling import PairsPlan
from engine.system.files import check_targets
from engine.system.paths import is_there, program, rubrics_folder

if TYPE_CHECKING:
    from engine.data.submission import Submission

_WIDTH = 100
_ITEMS_SHOWN = 3


def check() -> Parser:
    """Describe FILE: a dataset (id, instruction, output_a, output_b, labels) or a submission (id and
    labels). All its problems are listed with row and column; the exit code is 2 if there are any.
    """
    arguments = command_parser(check, _check)
    arguments.add_argument("file", type=Path, metavar="FILE")
    arguments.file("--against", "check that the submission answers this dataset", metavar="DATASET")
    shared.add_rubric(arguments, "the criteria of labels and of a submission (the task's)")
    arguments.flag(
        "--json", "print how the file is read as JSON: its shape, columns, questions, signs, items"
    )
    shared.add_judge_file(arguments)
    shared.add_columns(arguments, "dataset")
    return arguments


def _check(options: argparse.Namespace) -> None:
    with interruptible() as cancel:
        _checked(options, cancel)


def _checked(options: argparse.Namespace, cancel: CancelToken) -> None:
    if options.json:
        from engine.data.reading import report_on

        rubric = shared.rubric_of(options) or ELOQUENT
        report = report_on(options.file, rubric, shared.columns_of(options, rubric), cancel)
        print(json.dumps(plain(report), ensure_ascii=False, indent=1))
        return
    if options.judge_column:
        print(_describe_verdicts(options))
        return
    if options.against is None:
        try:
            dataset = shared.read_dataset(options, options.file, cancel)
        except ColumnsError as error:
            # Of a file with other columns, a guess of their meaning is printed first.
            if error.foreign:
                _print_guess(options.file, shared.rubric_of(options) or ELOQUENT)
            raise
        except WrongKindError as error:
            if error.kind is FileKind.VERDICTS:
                print(_describe_verdicts(options))
                return
            if error.kind is not FileKind.SUBMISSION:
                raise
        else:
            print(_describe_dataset(dataset))
            return
    from engine.data.submission import check_submission, read_submission

    submission = read_submission(options.file)
    print(_describe_submission(submission, options.file))
    if options.against is not None:
        dataset = shared.read_dataset(options, options.against, cancel)
        problems = check_submission(submission, dataset, shared.rubric_of(options))
        if problems:
            raise InputError(options.file, problems, f"Fix them: the submission must answer {dataset.name}.")
        print(f"It answers {dataset.name} completely: {counted(len(dataset), 'item', 'items')}.")


def _describe_dataset(dataset: Dataset) -> str:
    lines = [f"{dataset.name}: a dataset of {counted(len(dataset), 'item', 'items')}."]
    lines += [
        f"Note: {printable(notice)}"
        for notice in dict.fromkeys(filter(None, (dataset.read_as, *dataset.notices)))
    ]
    lines += [f"Note: {printable(sign.text)}." for sign in dataset.signs if not sign.strong]
    if others := rubric_files.criteria_of_columns(unread(dataset.other_columns, dataset.columns)):
        lines.append(
            f"Note: labels on criteria that the rubric {dataset.rubric.name} lacks: {listed(others)}."
            f" A rubric for them: rubrics draft {dataset.path} --out FILE.toml"
        )
    counts = {name: dataset.label_counts(name) for name in dataset.criteria}
    for count in counts.values():
        count[""] = len(dataset) - count.total()
    if not counts and not dataset.annotators:
        return "\n".join([*lines, "It has no human labels."])
    lines.append(_label_table(counts, "not labelled"))
    if dataset.annotators:
        from engine.metrics.annotator_agreement import annotator_agreement
        from engine.report.annotators import among_in_words

        agreement = annotator_agreement(dataset)
        lines += ["", *among_in_words(agreement)] if agreement else []
    return "\n".join(lines)


def _describe_verdicts(options: argparse.Namespace) -> str:
    from engine.data.verdicts import read_system

    return _describe_submission(read_system(options.file, shared.judge_column(options)), options.file)


def _describe_submission(submission: "Submission", path: Path) -> str:
    from engine.data.verdicts import Verdicts

    kind = "labels and explanations" if submission.with_explanations else "labels"
    what = "another judge's" if isinstance(submission, Verdicts) else "a submission of"
    if what != "another judge's" and set(submission.criteria) <= set(ELOQUENT.names):
        kind += " (sub-task 2)" if submission.with_explanations else " (sub-task 1)"
    counts = {
        name: Counter(row.predictions[name].preference or "" for row in submission.rows)
        for name in submission.criteria
    }
    items = counted(len(submission.rows), "item", "items")
    lines = [f"{path.name}: {what} {kind}, {items}."]
    lines += submission.said if isinstance(submission, Verdicts) else ()
    return "\n".join([*lines, _label_table(counts, "empty")])


def _label_table(counts: dict[str, Counter[str]], nothing: str) -> str:
    shown = labels_beside({label for count in counts.values() for label in count})
    labels = [*shown, ""]
    return table(
        ["criterion", *shown, nothing],
        [[name, *(str(count[label]) for label in labels)] for name, count in counts.items()],
    )


def _print_guess(path: Path, rubric: Rubric) -> None:
    sample = look_into(path, may_be_empty=True)
    guess = guess_columns(sample, rubric)
    sources, confidence = guess.map.source_of, guess.confidence
    rows = [
        [name, printable(clipped(sources.get(name) or "the number of the row")), confidence[name].value]
        for name in targets(rubric)
        if name in confidence
    ]
    from engine.data.reading import report_on

    rows += [[name, "?", "no guess"] for name in guess.open]
    print(f"{printable(path.name)}: a table with other columns than a dataset. A guess of their meaning:\n")
    print(table(["column", "is read from", "confidence"], rows))
    for sign in report_on(path, rubric).signs:
        print(f"\n{'Check' if sign.strong else 'Note'}: {printable(sign.text)}.")
    if found := _label_values(sample, guess):
        print(f"\nLabel values:\n\n{table(['value', 'times', 'means'], found)}")
    if not guess.open:
        _print_items(sample, guess, rubric)
    print()


def _label_values(sample: Sample, guess: Guess) -> list[list[str]]:
    meant = guess.map.meaning_of
    counts: Counter[str] = Counter()
    for name, source in guess.map.sources:
        if name.endswith("_preference") and name != guess.scale:
            counts.update(sample.source_values(source))
    return [
        [printable(clipped(value)), f"{count:,}", "?" if value in guess.values else meant.get(value, value)]
        for value, count in counts.most_common()
    ]


def _print_items(sample: Sample, guess: Guess, rubric: Rubric) -> None:
    """The first rows, without labels whose meaning is not known."""
    known = ColumnMap(guess.map.sources, (*guess.map.labels, *((value, NO_LABEL) for value in guess.values)))
    if guess.scale:
        known = ColumnMap(tuple(pair for pair in known.sources if pair[0] != guess.scale), known.labels)
    mapped = MappedTable(sample.table.first(_ITEMS_SHOWN), known, rubric)
    hidden = {*IF_NAMED} - {*BACKGROUND}
    names = [name for name in mapped.columns if name in targets(rubric) and name not in hidden]
    print("\nIts first rows would be read as follows:")
    for row in list(mapped.rows()):
        print()
        for name in names:
            print(f"  {name}: {printable(clipped(row.cells.get(name, '')).replace(chr(10), ' '))}")


def pairs() -> Parser:
    """Make a dataset of pairs from the outputs of several candidate models for the same instructions.
    Each FILE holds the outputs of one model: a table with an instruction and its output in each row,
    as AlpacaEval, Arena-Hard and MT-Bench write them. The default pairing is round robin.
    """
    arguments = command_parser(pairs, _pairs)
    arguments.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="the outputs of one candidate model"
    )
    arguments.file("--out", "the dataset (.tsv, .json, .parquet)", metavar="DATASET", required=True)
    arguments.text("--baseline", "NAME", "pair each candidate only with this baseline")
    arguments.number(
        "--pairs", "sample N pairs: a balanced subset, with every candidate and instruction equally often"
    )
    arguments.number("--seed", "the seed of this sample (%(default)s)", default=PairsPlan.seed)
    arguments.file(
        "--instructions", "the instructions by id, if the outputs have only ids (Arena-Hard's question.jsonl)"
    )
    arguments.add_argument(
        "--columns",
        default="",
        metavar="OURS=THEIRS,...",
        help=f"the columns for {', '.join(OF_OUTPUTS)}: instruction=prompt,output=text",
    )
    return arguments


def _pairs(options: argparse.Namespace) -> None:
    from engine.data.outputs import read_instructions, read_outputs
    from engine.data.pairs import make_pairs, match_outputs
    from engine.data.submission import check_suffix
    from engine.report.pairs import pairs_sheet

    plan = PairsPlan(options.baseline, options.pairs, options.seed)
    columns = parse_columns(options.columns, OF_OUTPUTS)
    check_suffix(options.out)
    read = {f"outputs {path}": path for path in options.files}
    if options.instructions is not None:
        read["instructions"] = options.instructions
    check_targets({"--out": options.out}, read)
    with interruptible() as cancel:
        questions = None
        if options.instructions is not None:
            questions = read_instructions(options.instructions, columns, cancel)
        matched = match_outputs([read_outputs(path, columns, cancel) for path in options.files], questions)
    made = make_pairs(matched, plan)
    made.write(options.out)
    print_sheet(pairs_sheet(made, options.out))
    print(f"\nDataset: {options.out}. Judge it: {program()} judge {options.out} --model FILE")


def rubrics() -> Parser:
    """List the bundled rubrics with their sources, and your own. A rubric is a TOML file of criteria;
    judge, prompt and the commands that read labels take one with --rubric.
    """
    arguments = command_parser(rubrics, lambda options: options.action(options))
    arguments.set_defaults(action=_list_rubrics)
    actions = arguments.add_subparsers(metavar="ACTION", title="actions (none: list the rubrics)")
    show = add_action(actions, "show", _show_rubric, "print a rubric as TOML, to edit and use as your own")
    show.add_argument("rubric", metavar="NAME|FILE")
    words = "make a rubric from the label columns of a dataset"
    draft = add_action(actions, "draft", _draft_rubric, words)
    draft.add_argument("dataset", type=Path, metavar="DATASET")
    draft.file("--out", "the rubric", metavar="FILE.toml", required=True)
    shared.add_columns(draft, "DATASET")
    words = "print a rubric's questions, or list the problems of its file"
    add_action(actions, "check", _check_rubric, words).add_argument("file", type=Path, metavar="FILE")
    return arguments


def _list_rubrics(_options: argparse.Namespace) -> None:
    for rubric in rubric_files.shipped_rubrics():
        print(_in_short(rubric.name, rubric))
    if own := rubric_files.own_rubrics():
        print(f"\nYour own, in {printable(str(rubrics_folder()))}:\n")
    for path in own:
        try:
            print(_in_short(path.stem, rubric_files.load_rubric(path)))
        except InputError as error:
            print("\n".join(map(printable, error.problem.splitlines())))


def _in_short(name: str, rubric: Rubric) -> str:
    """Its criteria and its source, one paragraph each."""
    shown = [fill(f"{printable(name)}: {', '.join(rubric.names)}", _WIDTH)]
    indent = "    "
    if rubric.source:
        source = printable(" ".join(rubric.source.split()))
        shown.append(fill(source, _WIDTH, initial_indent=indent, subsequent_indent=indent))
    return "\n".join(shown)


def _show_rubric(options: argparse.Namespace) -> None:
    print(rubric_files.rubric_text(rubric_files.find_rubric(options.rubric)), end="")


def _draft_rubric(options: argparse.Namespace) -> None:
    path, out = options.dataset, options.out
    if out.suffix.lower() != ".toml":
        raise SetupError(f"--out {out}: a rubric is TOML.", f"Name it {out.stem}.toml")
    if is_there(out):
        raise SetupError(f"--out {out} already exists.", "Choose another name: a draft overwrites nothing.")
    check_targets({"--out": out}, {"dataset": path})
    sample, chosen = look_into(path, may_be_empty=True), shared.columns_of(options)
    columns = chosen or remembered(sample.file_columns)
    if columns is None and (known := known_as(sample)) is not None:
        columns = known.map_for(ELOQUENT)
    found = [*unread(sample.file_columns, columns), *(columns.source_of if columns else ())]
    rubric = rubric_files.draft_rubric(found, path.name.partition(".")[0])
    if rubric is None:
        raise InputError(
            path,
            ["has no labels on criteria besides the task's."],
            "A column of labels is called CRITERION_preference, or is named: --columns"
            " clarity_preference=COLUMN. To list the rubrics: rubrics",
        )
    if chosen is not None:
        shared.read_dataset(options, path, rubric=rubric)
    rubric_files.save_rubric(out, rubric)
    names = ", ".join(map(printable, rubric.names))
    print(f"Rubric: {out} with {counted(len(rubric.criteria), 'criterion', 'criteria')}: {names}.")
    print("Its questions are a draft: replace them with the questions of your annotators.")


def _check_rubric(options: argparse.Namespace) -> None:
    rubric = rubric_files.load_rubric(options.file)
    n_criteria, own = len(rubric.criteria), len(rubric.wording.own)
    print(
        f"{printable(options.file.name)}: the rubric {printable(rubric.name)} of"
        f" {counted(n_criteria, 'criterion', 'criteria')}, tie threshold {rubric.tie_threshold:g}."
    )
    print(
        "Its wording is the default."
        if not own
        else f"It has its own wording of: {', '.join(rubric.wording.own)}."
    )
    for criterion in rubric.criteria:
        print(f"\n{printable(criterion.name)} (weight {criterion.weight:g}): {printable(criterion.question)}")
        for how, meaning in (("good", criterion.good), ("bad", criterion.bad)):
            if meaning:
                print(f"    {how}: {printable(meaning)}")
