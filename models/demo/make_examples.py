"""Write `examples/demo.tsv`: labelled items of the demo's world whose questions were never trained on.

    python -m models.demo.make_examples examples/demo.tsv

Knows: the world, the dataset's columns. Does not know: models.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pandas as pd

from engine.core.items import Item
from engine.core.rubric import ELOQUENT
from models.demo.explanations import explain
from models.demo.world import Comparison, World

ITEMS = 240
_SEED = 2025


def demo_comparisons() -> Iterator[Comparison]:
    """The comparisons of the file, each with a question of its own."""
    asked: set[str] = set()
    for comparison in World().comparisons(Random(_SEED), held_out=True):
        if comparison.question in asked:
            continue
        asked.add(comparison.question)
        yield comparison
        if len(asked) == ITEMS:
            return


def demo_items() -> Iterator[Item]:
    """The labelled items of the file, with ids from 1."""
    random = Random(_SEED)
    for number, comparison in enumerate(demo_comparisons(), start=1):
        explanations = {name: explain(comparison, name, random) for name in ELOQUENT.names}
        yield comparison.item(str(number), explanations)


def write_examples(path: Path) -> None:
    """Write the items as TSV."""
    rows = []
    for item in demo_items():
        row = {
            "id": item.id,
            "instruction": item.instruction,
            "output_a": item.output_a,
            "output_b": item.output_b,
        }
        for name in ELOQUENT.names:
            gold = item.gold[name]
            row[f"{name}_preference"] = str(gold.preference)
            row[f"{name}_explanation"] = str(gold.explanation)
        rows.append(row)
    pd.DataFrame(rows).to_csv(path, sep="\t", index=False, lineterminator="\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the demo dataset.")
    parser.add_argument("out", type=Path)
    write_examples(parser.parse_args().out)
