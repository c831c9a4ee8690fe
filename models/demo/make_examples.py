"""Write the examples of the demo's world: labelled items whose questions were never trained on.

python -m models.demo.make_examples examples/demo.tsv
python -m models.demo.make_examples examples/demo-manners.tsv --manners
python -m models.demo.make_examples examples/demo-candidates.tsv --candidates
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pandas as pd

from engine.core.column_map import CANDIDATES
from engine.core.items import Gold, Item
from engine.core.rubric import ELOQUENT
from engine.system.files import write_whole
from models.demo.candidates import candidate_contests
from models.demo.explanations import explain
from models.demo.manners import MANNERS, manners
from models.demo.world import Comparison, World

ITEMS = 240
MANNERS_ITEMS = 120
_SEED = 2025
_MANNERS_SEED = 2026


def demo_comparisons() -> Iterator[Comparison]:
    """The comparisons of `demo.tsv`, each with a question of its own."""
    return _comparisons(_SEED, ITEMS)


def manners_comparisons() -> Iterator[Comparison]:
    """Those of `demo-manners.tsv`, likewise."""
    return _comparisons(_MANNERS_SEED, MANNERS_ITEMS)


def _comparisons(seed: int, count: int) -> Iterator[Comparison]:
    asked: set[str] = set()
    for comparison in World().comparisons(Random(seed), held_out=True):
        if comparison.question in asked:
            continue
        asked.add(comparison.question)
        yield comparison
        if len(asked) == count:
            return


def demo_items() -> Iterator[Item]:
    """The labelled items of `demo.tsv`, with ids from 1."""
    random = Random(_SEED)
    for number, comparison in enumerate(demo_comparisons(), start=1):
        explanations = {name: explain(comparison, name, random) for name in ELOQUENT.names}
        yield comparison.item(str(number), explanations)


def manners_items() -> Iterator[Item]:
    """The labelled items of `demo-manners.tsv`, with ids from 1; without explanations."""
    for number, comparison in enumerate(manners_comparisons(), start=1):
        gold = {name: Gold(label) for name, label in manners(comparison).items()}
        first, second = comparison.first.text, comparison.second.text
        yield Item(str(number), comparison.instruction, first, second, gold)


def write_examples(path: Path) -> None:
    """Write the items of `demo.tsv`."""
    _write(path, demo_items(), ELOQUENT.names, explained=True)


def write_manners(path: Path) -> None:
    """Write the items of `demo-manners.tsv`."""
    _write(path, manners_items(), MANNERS.names, explained=False)


def write_candidates(path: Path) -> None:
    """Write the items of `demo-candidates.tsv`."""
    rows = []
    for number, contest in enumerate(candidate_contests(), start=1):
        item = contest.comparison.item(str(number))
        row = _row(item if contest.labelled else replace(item, gold={}), ELOQUENT.names, explained=False)
        rows.append(row | dict(zip(CANDIDATES, contest.names, strict=True)))
    _write_rows(path, rows)


def _write(path: Path, items: Iterator[Item], criteria: Sequence[str], explained: bool) -> None:
    _write_rows(path, [_row(item, criteria, explained) for item in items])


def _row(item: Item, criteria: Sequence[str], explained: bool) -> dict[str, str]:
    row = {
        "id": item.id,
        "instruction": item.instruction,
        "output_a": item.output_a,
        "output_b": item.output_b,
    }
    for name in criteria:
        gold = item.gold.get(name, Gold())
        row[f"{name}_preference"] = str(gold.label or "")
        if explained:
            row[f"{name}_explanation"] = str(gold.explanation)
    return row


def _write_rows(path: Path, rows: Sequence[dict[str, str]]) -> None:
    text = pd.DataFrame(rows).to_csv(sep="\t", index=False, lineterminator="\n")
    write_whole(path, text.encode("utf-8"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write a demo dataset.")
    parser.add_argument("out", type=Path)
    parser.add_argument("--manners", action="store_true", help="labels of the rubric in demo-manners.toml")
    parser.add_argument("--candidates", action="store_true", help="four candidates of known strength")
    options = parser.parse_args()
    if options.candidates:
        write_candidates(options.out)
    else:
        (write_manners if options.manners else write_examples)(options.out)
