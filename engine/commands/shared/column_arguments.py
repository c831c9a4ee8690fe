"""--rubric; --columns, --labels, --save-columns: how the columns of another tool's dataset are read.

Knows: the arguments, how a guess is printed. Does not know: how a file is read by a column map, how it is
guessed.
"""

import argparse
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from engine.commands.shared.console import printable, table, tell
from engine.core.cancel import CancelToken
from engine.core.column_map import NO_LABEL, ColumnMap, check_targets, parse_columns, parse_labels, targets
from engine.core.errors import SetupError
from engine.core.formatting import clipped
from engine.core.remedies import Step
from engine.core.rubric import ELOQUENT, Rubric, rubric_for_labels, rubric_of_names
from engine.core.run_records import StoredRun
from engine.data.column_content import Sample, look_into
from engine.data.column_guess import Guess, guess_columns
from engine.data.dataset import Dataset, load_dataset
from engine.data.mapped_table import MappedTable
from engine.data.rubrics.offered import find_rubric
from engine.decisions.run_dataset import dataset_of_run, load_as_judged
from engine.system.column_memory import remember, remembered

if TYPE_CHECKING:
    from engine.measure.systems import System

_ITEMS_SHOWN = 3


def add_rubric(arguments: argparse._ActionsContainer, what: str) -> None:
    """--rubric; `what`: what it sets."""
    arguments.add_argument(
        "--rubric", metavar="NAME|FILE", help=f"{what}: a name listed by `rubrics`, or a TOML file"
    )


def rubric_of(options: argparse.Namespace) -> Rubric | None:
    """The rubric that is named; None without --rubric. SetupError if it is missing or wrong."""
    return None if options.rubric is None else find_rubric(options.rubric)


def add_columns(arguments: argparse._ActionsContainer, dataset: str) -> None:
    """--columns, --labels and --save-columns; `dataset`: the file that they describe."""
    group = arguments.add_argument_group(f"{dataset} with other columns (see: check FILE)")
    group.add_argument("--columns", metavar="OURS=THEIRS,...", help="column names: id=uid,instruction=prompt")
    group.add_argument("--labels", metavar="VALUE=LABEL,...", help="label values: 1=A,2=B,0=tie,bad=none")
    group.add_argument(
        "--save-columns", action="store_true", help="store both for all files with these columns"
    )


def columns_of(options: argparse.Namespace, rubric: Rubric | None = None) -> ColumnMap | None:
    """The column map of the options; None without any. SetupError, also for labels on other criteria than
    those of `rubric`.
    """
    if options.columns is None and options.labels is None:
        if options.save_columns:
            raise SetupError("--save-columns: there are no columns to store.", "Name them with --columns.")
        return None
    sources = parse_columns(options.columns or "")
    if rubric is not None:
        check_targets(sources, rubric)
    return ColumnMap.of(sources, parse_labels(options.labels or ""))


def read_dataset(
    options: argparse.Namespace, path: Path, cancel: CancelToken | None = None, rubric: Rubric | None = None
) -> Dataset:
    """The dataset, read by the options; with --save-columns they are stored.

    `rubric`: the criteria of its labels; None for that of --rubric, or the task's.
    """
    rubric = rubric or rubric_of(options) or ELOQUENT
    dataset = load_dataset(path, rubric, cancel, columns=columns_of(options, rubric))
    keep_columns(options, dataset)
    return dataset


def read_labels(
    options: argparse.Namespace, path: Path, systems: "Iterable[System]", cancel: CancelToken | None = None
) -> Dataset:
    """The dataset with human labels, read by the options; without them a run's own file as the run read it.

    The labels are on the criteria of --rubric, of the runs, and of the submissions.
    """
    systems = list(systems)
    rubric = rubric_of_systems(rubric_of(options), systems)
    if columns_of(options, rubric) is not None:
        return read_dataset(options, path, cancel, rubric)
    judged = [system.results.run for system in systems if system.results]
    dataset = load_as_judged(path, judged, cancel, rubric=rubric)
    if dataset.columns is not None and dataset.columns != remembered(dataset.file_columns):
        tell(f"{printable(path.name)} is read with the same columns as when it was judged.")
    if dataset.read_as:
        tell(printable(dataset.read_as))
    return dataset


def items_of_run(
    options: argparse.Namespace, run: StoredRun, path: Path | None = None, cancel: CancelToken | None = None
) -> Dataset:
    """The items of a run as `dataset_of_run` finds them, by the options, which are stored if requested. A
    command without --dataset has --gold, which names the file as well.
    """
    try:
        dataset = dataset_of_run(run, path, cancel, columns_of(options))
    except SetupError as error:
        if hasattr(options, "dataset") or Step.FIND_DATASET not in error.hint.parts:
            raise
        raise SetupError(error.problem, "Put it back, or name its file with --gold.") from error
    keep_columns(options, dataset)
    return dataset


def rubric_of_systems(given: Rubric | None, systems: "Iterable[System]") -> Rubric:
    """The criteria of the human labels of systems: those of a `given` rubric, of the runs, and of the
    submissions.
    """
    known = given or ELOQUENT
    found = [given] if given else []
    return rubric_for_labels(
        [*found, *(system.asked or rubric_of_names(system.criteria, known) for system in systems)]
    )


def keep_columns(options: argparse.Namespace, dataset: Dataset) -> None:
    """Store the columns by which a dataset was read, if requested."""
    if options.save_columns and dataset.columns is not None:
        remember(dataset.file_columns, dataset.columns)
        tell("The columns are stored: files with the same columns are read in this way from now on.")


def print_guess(path: Path, rubric: Rubric) -> None:
    """Print a guess of what the columns mean, and the first rows as they would be read."""
    sample = look_into(path, may_be_empty=True)
    guess = guess_columns(sample, rubric)
    sources, confidence = guess.map.source_of, guess.confidence
    rows = [
        [name, printable(clipped(sources.get(name) or "the number of the row")), confidence[name].value]
        for name in targets(rubric)
        if name in confidence
    ]
    rows += [[name, "?", "no guess"] for name in guess.open]
    print(f"{printable(path.name)}: a table with other columns than a dataset. A guess of their meaning:\n")
    print(table(["column", "is read from", "confidence"], rows))
    if found := _label_values(sample, guess):
        print(f"\nLabel values:\n\n{table(['value', 'times', 'means'], found)}")
    if not guess.open:
        _print_items(sample, guess, rubric)
    print()


def _label_values(sample: Sample, guess: Guess) -> list[list[str]]:
    """Each value of the label columns, how often it occurs, and its guessed meaning."""
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
    rows = list(mapped.rows())
    names = [name for name in mapped.columns if name in targets(rubric)]
    print("\nIts first rows would be read as follows:")
    for row in rows:
        print()
        for name in names:
            print(f"  {name}: {printable(clipped(row.cells[name]).replace(chr(10), ' '))}")
