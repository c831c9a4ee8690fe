"""`rank` against arena-rank, and how it grows: processor time and wall time, reading included.

    python -m bench.peers.ranking [--arena PYTHON] [--only PART]

PYTHON is that of an environment of its own, in which arena-rank 0.1.1 is installed. It fits Bradley-Terry
scores, with the intervals that it gives by default, to the same JSON Lines file. `rank` draws a thousand
bootstrap samples of instructions, and has win rates, pairs and length control beside. Each is a process; they
take turns, and a ratio is of processor times, for others may use the computer. Labels are drawn as Davidson's
model says.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from engine.core.numeric import IntArray

ARENA = """
import sys
import pandas as pd
from arena_rank.models.bradley_terry import BradleyTerry
from arena_rank.utils.data_utils import PairDataset

frame = pd.read_json(sys.argv[1], lines=True)
won = {"A": 1.0, "B": 0.0}
pairs = PairDataset.from_pandas(
    frame,
    competitor_cols=["candidate_a", "candidate_b"],
    outcome_col="overall_quality_preference",
    outcome_map=lambda label: won.get(label, 0.5),
)
print(BradleyTerry(len(pairs.competitors)).compute_ratings_and_cis(pairs))
"""
_WORDS = ("light", "of", "seven", "stars", "that", "are", "far", "away", "from", "us", "and", "old") * 3
_LABELS = ("A", "B", "both_good", "both_bad")
_TIE = 0.5


@dataclass(frozen=True)
class Took:
    """Seconds of one process and of those that it started."""

    processor: float
    wall: float


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.peers.ranking",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--arena", metavar="PYTHON", help="of an environment with arena-rank")
    parser.add_argument("--only", choices=list(PARTS), help="this part alone")
    parser.add_argument("--rounds", type=int, default=1, metavar="N")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in [options.only] if options.only else PARTS:
            PARTS[name](Path(folder), options)
    return 0


def _against_arena(
    folder: Path, options: argparse.Namespace, items: int, candidates: int, instructions: int, most: float
) -> None:
    path = folder / "labels.jsonl"
    _write(path, _random_pairs(items, candidates), instructions)
    print(f"\n{items:,} labels, {candidates} candidates, {instructions:,} instructions")
    if options.arena is None:
        _told("rank", _took(_rank(path)))
        return
    rounds = []
    for _ in range(options.rounds):
        theirs, ours = _took([options.arena, "-c", ARENA, str(path)]), _took(_rank(path))
        _told("arena-rank", theirs)
        _told("rank", ours)
        rounds.append((ours.processor / theirs.processor, ours.wall / theirs.wall))
    processor, wall = (median(each) for each in zip(*rounds, strict=True))
    reached = "reached" if processor <= most else "NOT REACHED"
    print(f"processor time {processor:.2f} times (wall {wall:.2f}); at most {most}: {reached}", flush=True)


def _large(folder: Path, options: argparse.Namespace) -> None:
    _against_arena(folder, options, 300_000, 40, 100_000, 1.5)


def _small(folder: Path, options: argparse.Namespace) -> None:
    _against_arena(folder, options, 3_000, 60, 1_000, 1.0)


def _many_candidates(folder: Path, _options: argparse.Namespace) -> None:
    """Of many candidates: each with about 200 others' comparisons, and each met twice, in a single ring."""
    ring = np.random.default_rng(0).permutation(1000)
    cases = ((_random_pairs(10_000, 100), 10.0), (np.stack([ring, np.roll(ring, 1)], axis=1), 30.0))
    for pairs, most in cases:
        path = folder / "many.jsonl"
        _write(path, pairs, len(pairs))
        took = _took([*_rank(path), "--many-candidates"])
        reached = "reached" if took.processor <= most else "NOT REACHED"
        _told(f"\n{len(np.unique(pairs)):,} candidates, {len(pairs):,} items", took)
        print(f"at most {most:.0f} s: {reached}", flush=True)


def _growth(folder: Path, _options: argparse.Namespace) -> None:
    """A submission on ten times the items, of which the dataset labels a tenth."""
    took = []
    for items in (10_000, 100_000):
        dataset, submission = folder / "items.jsonl", folder / "judge.tsv"
        labels = _write(dataset, _random_pairs(items, 10), items, labelled=0.1)
        rows = "".join(f"i{number}\t{label}\n" for number, label in enumerate(labels))
        submission.write_text(f"id\toverall_quality_preference\n{rows}", encoding="utf-8")
        took.append(_took([*_rank(submission), "--gold", str(dataset)]))
        _told(f"\na submission of {items:,} items", took[-1])
    times = took[1].processor / took[0].processor
    print(f"ten times the items: {times:.1f} times the processor time; at most 12")


PARTS = {"large": _large, "small": _small, "candidates": _many_candidates, "growth": _growth}


def _rank(path: Path) -> list[str]:
    return [sys.executable, "main.py", "rank", str(path)]


def _random_pairs(items: int, candidates: int) -> IntArray:
    random = np.random.default_rng(1)
    first = random.integers(0, candidates, items)
    return np.stack([first, (first + random.integers(1, candidates, items)) % candidates], axis=1)


def _write(path: Path, pairs: IntArray, instructions: int, labelled: float = 1.0) -> Sequence[str]:
    """Write items with labels of a part of them; what a judge with the same chances says of all."""
    random = np.random.default_rng(2)
    truth = random.normal(0.0, 0.8, int(pairs.max()) + 1)
    half = (truth[pairs[:, 0]] - truth[pairs[:, 1]]) / 2
    odds = np.stack([np.exp(half), np.exp(-half), *[np.full(len(half), _TIE / 2)] * 2], axis=1)
    chances = np.cumsum(odds / odds.sum(axis=1)[:, None], axis=1)
    human, judge = ((random.random(len(half))[:, None] > chances).sum(axis=1) for _ in range(2))
    numbers, lengths = random.integers(0, instructions, len(half)), random.integers(5, 30, pairs.shape)
    has_label = random.random(len(half)) < labelled
    with path.open("w", encoding="utf-8") as file:
        for number, (one, other) in enumerate(pairs.tolist()):
            texts = [" ".join(_WORDS[: lengths[number, side]]) for side in (0, 1)]
            item = {
                "id": f"i{number}",
                "instruction": f"Question {numbers[number]}: what is it?",
                "output_a": texts[0],
                "output_b": texts[1],
                "candidate_a": f"model {one}",
                "candidate_b": f"model {other}",
                "overall_quality_preference": _LABELS[min(human[number], 3)] if has_label[number] else "",
            }
            file.write(f"{json.dumps(item)}\n")
    return [_LABELS[min(place, 3)] for place in judge]


def _took(command: Sequence[str]) -> Took:
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Took(used, time.perf_counter() - begun)


def _told(what: str, took: Took) -> None:
    print(f"{what}: {took.processor:.1f} s of processor time, {took.wall:.1f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
