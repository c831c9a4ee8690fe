"""`check`: describe a dataset or submission, or list its problems.

Knows: its arguments and what it prints.
"""

import argparse
from collections import Counter
from pathlib import Path

from engine.cli.shared.console import DONE, command_parser
from engine.cli.shared.console import table as text_table
from engine.cli.shared.data_arguments import add_columns, add_rubric, print_guess, read_dataset, rubric_of
from engine.core.errors import ColumnsError, FileKind, InputError
from engine.core.formatting import counted, listed
from engine.core.items import labels_beside
from engine.core.rubric import ELOQUENT
from engine.data.dataset import Dataset
from engine.data.file_kinds import kind_of
from engine.data.rubrics.files import criteria_of_columns
from engine.data.submission import Submission, check_submission, read_submission
from engine.metrics.annotator_agreement import annotator_agreement
from engine.report.annotators import among_in_words


def parser() -> argparse.ArgumentParser:
    """The arguments of `check`."""
    arguments = command_parser(
        "check",
        "Describe FILE: a dataset (id, instruction, output_a, output_b, labels) or a submission (id and\n"
        "labels). All its problems are listed with row and column; the exit code is 2 if there are any.",
    )
    arguments.add_argument("file", type=Path, metavar="FILE")
    arguments.add_argument(
        "--against", type=Path, metavar="DATASET", help="check that the submission answers this dataset"
    )
    add_rubric(arguments, "the criteria of labels and of a submission (the task's)")
    add_columns(arguments, "dataset")
    return arguments


def run(options: argparse.Namespace) -> int:
    """Describe the file, or raise with its problems."""
    if options.against is None and kind_of(options.file) is not FileKind.SUBMISSION:
        print(_describe_dataset(_read(options)))
        return DONE
    submission = read_submission(options.file)
    print(_describe_submission(submission, options.file))
    if options.against is not None:
        dataset = read_dataset(options, options.against)
        problems = check_submission(submission, dataset, rubric_of(options))
        if problems:
            raise InputError(options.file, problems, f"Fix them: the submission must answer {dataset.name}.")
        print(f"It answers {dataset.name} completely: {counted(len(dataset), 'item', 'items')}.")
    return DONE


def _read(options: argparse.Namespace) -> Dataset:
    """The dataset. Of a file with other columns, a guess of their meaning is printed first."""
    try:
        return read_dataset(options, options.file)
    except ColumnsError as error:
        if error.foreign:
            print_guess(options.file, rubric_of(options) or ELOQUENT)
        raise


def _describe_dataset(dataset: Dataset) -> str:
    lines = [f"{dataset.name}: a dataset of {counted(len(dataset), 'item', 'items')}."]
    lines += [f"Note: {notice}" for notice in dataset.notices]
    if others := criteria_of_columns(dataset.other_columns):
        lines.append(
            f"Note: labels on criteria that the rubric {dataset.rubric.name} lacks: {listed(others)}."
            f" A rubric for them: rubrics draft {dataset.path} --out FILE.toml"
        )
    counts = {name: Counter(dataset.texts(f"{name}_preference").to_pylist()) for name in dataset.criteria}
    if not counts and not dataset.annotators:
        return "\n".join([*lines, "It has no human labels."])
    agreement = annotator_agreement(dataset)
    shares = ["", *among_in_words(agreement)] if agreement else []
    return "\n".join([*lines, _label_table(counts, "not labelled"), *shares])


def _describe_submission(submission: Submission, path: Path) -> str:
    kind = "labels and explanations" if submission.with_explanations else "labels"
    if set(submission.criteria) <= set(ELOQUENT.names):
        kind += " (sub-task 2)" if submission.with_explanations else " (sub-task 1)"
    counts = {
        name: Counter(row.predictions[name].preference or "" for row in submission.rows)
        for name in submission.criteria
    }
    items = counted(len(submission.rows), "item", "items")
    return f"{path.name}: a submission of {kind}, {items}.\n{_label_table(counts, 'empty')}"


def _label_table(counts: dict[str, Counter[str]], nothing: str) -> str:
    shown = labels_beside({label for count in counts.values() for label in count})
    labels = [*shown, ""]
    return text_table(
        ["criterion", *shown, nothing],
        [[name, *(str(count[label]) for label in labels)] for name, count in counts.items()],
    )
