"""--columns, --labels and --save-columns: which columns of a foreign dataset are ours; what they seem to be.

Knows: the arguments, how a guess is printed. Does not know: how a file is read by a map, how one is guessed.
"""

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from engine.commands.shared.console import printable, table, tell
from engine.core.cancel import CancelToken
from engine.core.column_map import ColumnMap, parse_columns, parse_labels, targets
from engine.core.errors import SetupError
from engine.core.formatting import clipped
from engine.core.rubric import ELOQUENT
from engine.data.column_content import Sample, read_sample
from engine.data.column_guess import Guess, guess_columns
from engine.data.dataset import Dataset, load_dataset
from engine.data.mapped_table import MappedTable
from engine.data.tables import open_table
from engine.decisions.run_dataset import load_as_judged
from engine.system.column_memory import remember, remembered

if TYPE_CHECKING:
    from engine.measure.systems import System

_ITEMS_SHOWN = 3


def add_columns(arguments: argparse._ActionsContainer, dataset: str) -> None:
    """--columns, --labels and --save-columns; `dataset`: the file that they are about."""
    group = arguments.add_argument_group(f"{dataset} with other columns (see: check FILE)")
    group.add_argument(
        "--columns", metavar="OURS=THEIRS,...", help="which column is which: id=uid,instruction=prompt"
    )
    group.add_argument(
        "--labels", metavar="VALUE=LABEL,...", help="what its labels mean: 1=A,2=B,tie=both_good,bad=none"
    )
    group.add_argument(
        "--save-columns", action="store_true", help="remember both for all files with these columns"
    )


def columns_of(options: argparse.Namespace) -> ColumnMap | None:
    """What the options say; None where they say nothing. SetupError."""
    if options.columns is None and options.labels is None:
        if options.save_columns:
            raise SetupError("--save-columns: there is nothing to remember.", "Say what with --columns.")
        return None
    return ColumnMap.of(parse_columns(options.columns or ""), parse_labels(options.labels or ""))


def read_dataset(options: argparse.Namespace, path: Path, cancel: CancelToken | None = None) -> Dataset:
    """The dataset that the options are about, read by them; with --save-columns they are remembered."""
    dataset = load_dataset(path, cancel=cancel, columns=columns_of(options))
    keep_columns(options, dataset)
    return dataset


def read_labels(
    options: argparse.Namespace, path: Path, systems: "Iterable[System]", cancel: CancelToken | None = None
) -> Dataset:
    """The dataset with human labels, by the options; without them a run's own file as the run read it."""
    if columns_of(options) is not None:
        return read_dataset(options, path, cancel)
    dataset = load_as_judged(path, (system.results.run for system in systems if system.results), cancel)
    if dataset.columns is not None and dataset.columns != remembered(dataset.file_columns):
        tell(f"{printable(path.name)} is read by the columns that it was judged with.")
    return dataset


def keep_columns(options: argparse.Namespace, dataset: Dataset) -> None:
    """Remember by which columns a dataset was read, if that is asked for."""
    if options.save_columns and dataset.columns is not None:
        remember(dataset.file_columns, dataset.columns)
        tell("The columns are remembered: files with the same columns are read in this way from now on.")


def print_guess(path: Path) -> None:
    """Print what the columns of a foreign file seem to be, and its first rows as they would be read."""
    sample = read_sample(open_table(path))
    guess = guess_columns(sample, ELOQUENT)
    sources, sureness = guess.map.source_of, guess.sureness
    rows = [
        [name, printable(clipped(sources.get(name) or "the number of the row")), sureness[name].value]
        for name in targets(ELOQUENT)
        if name in sureness
    ]
    rows += [[name, "?", "no guess could be made"] for name in guess.open]
    print(f"{printable(path.name)}: a table with other columns than a dataset. What they seem to be:\n")
    print(table(["column", "is read from", "how sure"], rows))
    if guess.map.labels:
        labels = [[printable(clipped(value)), label or "no label"] for value, label in guess.map.labels]
        print(f"\nLabel values ({guess.labels.value}):\n\n{table(['value', 'means'], labels)}")
    if not guess.open:
        _print_items(sample, guess)
    print()


def _print_items(sample: Sample, guess: Guess) -> None:
    mapped = MappedTable(sample.table.first(_ITEMS_SHOWN), guess.map, ELOQUENT)
    rows = list(mapped.rows())
    names = [name for name in mapped.columns if name in targets(ELOQUENT)]
    print("\nIts first rows would be read so:")
    for row in rows:
        print()
        for name in names:
            print(f"  {name}: {printable(clipped(row.cells[name]).replace(chr(10), ' '))}")
