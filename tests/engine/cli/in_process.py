"""Commands that are given in this process, and what they print.

Knows: commands, printed tables. Does not know: what a test is about.
"""

from collections.abc import Callable
from pathlib import Path

from pyarrow import csv

from tests.commands import give

Command = Callable[..., str]
Streams = Callable[..., tuple[str, str]]


def give_runs(store: Path, *words: object) -> int:
    return give("runs", *words, "--store", store)


def safety_alone(gold: Path, folder: Path) -> Path:
    """The items of a labelled dataset with their labels of safety: enough where a figure would be drawn."""
    table = csv.read_csv(gold, parse_options=csv.ParseOptions(delimiter="\t", newlines_in_values=True))
    path = folder / "safety.tsv"
    table = table.select(["id", "instruction", "output_a", "output_b", "safety_preference"])
    csv.write_csv(table, path, csv.WriteOptions(delimiter="\t"))
    return path


def row(text: str, name: str, number: int = 0) -> list[str]:
    """The cells of a row of a printed table, by its first word; of several the one of a number."""
    found = [line for line in text.splitlines() if line.split("  ")[0].strip() == name]
    return found[number].split()
