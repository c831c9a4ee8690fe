"""Contests drawn from worlds whose truth is known."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from engine.core.items import HUMAN_LABELS, Gold, HumanLabel, Preference, written_label
from engine.core.numeric import FloatArray, IntArray
from engine.metrics.intervals import group_numbers
from engine.ranking.comparisons import PairComparisons, labels_said, said_of


def comparisons(
    pairs: Sequence[tuple[str, str, HumanLabel | None]],
    instructions: Sequence[int] | None = None,
    lengths: FloatArray | None = None,
) -> PairComparisons:
    """Who met whom, and the label; each on an instruction of its own."""
    names = tuple(dict.fromkeys(name for one, other, _ in pairs for name in (one, other)))
    count = len(pairs)
    return PairComparisons(
        ids=tuple(map(str, range(count))),
        names=names,
        first=np.array([names.index(one) for one, _, _ in pairs]),
        second=np.array([names.index(other) for _, other, _ in pairs]),
        instructions=np.arange(count) if instructions is None else np.array(instructions),
        lengths=np.ones((count, 2)) if lengths is None else lengths,
        said=labels_said(label for _, _, label in pairs),
    )


def davidson_comparisons(
    bradley_terry: Sequence[float], items: int, seed: int, tie: float = 0.5, instructions: int | None = None
) -> PairComparisons:
    """Contests of random pairs, won as Davidson's model says; half the ties are both good."""
    random = np.random.default_rng(seed)
    count = len(bradley_terry)
    first = random.integers(0, count, items)
    second = (first + random.integers(1, count, items)) % count
    said = davidson_said(bradley_terry, first, second, random, tie)
    return PairComparisons(
        ids=tuple(map(str, range(items))),
        names=tuple(f"c{place}" for place in range(count)),
        first=first,
        second=second,
        instructions=random.integers(0, instructions or items, items),
        lengths=np.ones((items, 2)),
        said=said,
    )


def davidson_said(
    bradley_terry: Sequence[float],
    first: IntArray,
    second: IntArray,
    random: np.random.Generator,
    tie: float = 0.5,
) -> FloatArray:
    """What is said of some contests by the same model."""
    truth, items = np.array(bradley_terry), len(first)
    half = (truth[first] - truth[second]) / 2
    odds = np.stack([np.exp(half), np.exp(-half), np.full(items, tie / 2), np.full(items, tie / 2)], axis=1)
    drawn = (random.random(items)[:, None] > np.cumsum(odds / odds.sum(axis=1)[:, None], axis=1)).sum(axis=1)
    return labels_said(HUMAN_LABELS[place] for place in np.minimum(drawn, 3))


A, B, GOOD, BAD = Preference.A, Preference.B, Preference.BOTH_GOOD, Preference.BOTH_BAD


def pandalm_said(shared_data: Path, *judges: str) -> dict[str, PairComparisons]:
    """What people said of 999 pairs, and each of some judges, by name."""
    with (shared_data / "ranking" / "pandalm_systems.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    with (shared_data / "human" / "pandalm.jsonl").open(encoding="utf-8") as file:
        instructions = {str(item["id"]): item["instruction"] for item in map(json.loads, file)}
    names = tuple(dict.fromkeys(row[side] for row in rows for side in ("system_a", "system_b")))
    annotators = ("annotator_1", "annotator_2", "annotator_3")
    golds = [
        Gold(annotators={name: written_label(row[name]) for name in annotators if row[name]}) for row in rows
    ]
    people = PairComparisons(
        ids=tuple(row["id"] for row in rows),
        names=names,
        first=np.array([names.index(row["system_a"]) for row in rows]),
        second=np.array([names.index(row["system_b"]) for row in rows]),
        instructions=group_numbers([instructions[row["id"]] for row in rows]),
        lengths=np.ones((len(rows), 2)),
        said=said_of(golds),
    )
    return {"people": people} | {
        name: people.with_said(labels_said(written_label(row[name]) if row[name] else None for row in rows))
        for name in judges
    }
