"""Whether judging until it is sure is as seldom wrong as it says, and how soon it is sure.

    python -m bench.coverage.stopping FOLDER

takes the real data of `FOLDER/ranking`, AlpacaEval's 30 candidates and PandaLM's ten pairs, each in 200
random orders, and prints after how many instructions it is sure in the median, and how often that is wrong.
"""

import argparse
import csv
import gzip
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from bench.coverage.claims import Promise, at_most, simulated
from bench.coverage.rankings import contests, met
from engine.core.items import Preference
from engine.core.numeric import BoolArray, FloatArray, IntArray
from engine.metrics.intervals import FEW
from engine.ranking.comparisons import PairComparisons, nothing_said
from engine.ranking.stopping import ERROR, UntilSignificant, ValueCounts, growth, log_wealth, needed

_PANDALM_SCORES = {"A": 1.0, "B": 0.0}  # half for a tie
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Decisions:
    """What was decided in several random orders of values: `at` how many (_NEVER: not at all), and which
    `side` of one half, 1 above, -1 below, 0 for none. Shapes (orders,).
    """

    at: IntArray
    side: IntArray

    def wrong(self, truth: float) -> BoolArray:
        """In which orders the side was not that of the true mean: shape (orders,)."""
        return np.asarray((self.side != 0) & (self.side != np.sign(truth - 0.5)))


def decisions(values: FloatArray, questions: int = 1) -> Decisions:
    """When it is sure on which side of one half a mean is, in orders of its values: (orders, values)."""
    sides = [_paths(values), _paths(1 - values)]
    least = needed(questions=questions)
    at = np.stack([_first(path >= least) for path in sides])
    side = np.where(at[0] < at[1], 1, -1) * (at.min(axis=0) < _NEVER)
    return Decisions(at.min(axis=0), side)


def settled_by_holm(values: Sequence[FloatArray]) -> tuple[IntArray, IntArray]:
    """The same for questions that take values in turn; the more are sure, the less the others need:
    at how many each, and on which side, shape (questions, orders).
    """
    orders, longest = len(values[0]), max(each.shape[1] for each in values)
    leads = np.full((2, len(values), orders, longest), -np.inf)
    for place, each in enumerate(values):
        for side, of_side in enumerate((each, 1 - each)):
            leads[side, place, :, : each.shape[1]] = _paths(of_side)
            leads[side, place, :, each.shape[1] :] = leads[side, place, :, [each.shape[1] - 1]].T
    at: IntArray = np.full((len(values), orders), _NEVER, np.int64)
    sure = np.zeros_like(at)
    levels = np.array([0.0, *(needed(questions=count) for count in range(1, len(values) + 1))])
    for number in range(FEW - 1, longest):
        now = leads[:, :, :, number]
        while True:
            is_open = at == _NEVER
            found = is_open & (now.max(axis=0) >= levels[is_open.sum(axis=0)])
            if not found.any():
                break
            at[found], sure[found] = number + 1, np.where(now[0] >= now[1], 1, -1)[found]
    return at, sure


def _paths(values: FloatArray) -> FloatArray:
    return log_wealth(np.cumsum(growth(values, 0.5), axis=1))


def _first(is_so: BoolArray) -> IntArray:
    is_so = is_so.copy()
    is_so[:, : FEW - 1] = False
    return np.where(is_so.any(axis=1), is_so.argmax(axis=1) + 1, _NEVER)


def alpaca_preferences(shared: Path) -> dict[str, FloatArray]:
    """Of AlpacaEval's 30 candidates: what each won against the baseline, 0 to 1, an instruction each."""
    with gzip.open(shared / "ranking" / "alpaca_eval_2.csv.gz", "rt", encoding="utf-8") as file:
        rows = [(row["system"], float(row["preference"])) for row in csv.DictReader(file)]
    return {name: np.array([won for of, won in rows if of == name]) for name in dict.fromkeys(dict(rows))}


def pandalm_pairs(shared: Path, *judges: str) -> dict[tuple[str, str], FloatArray]:
    """Of PandaLM's ten pairs: what the first of each won by the mean of some columns, 0 to 1, by item."""
    found: dict[tuple[str, str], list[float]] = {}
    with (shared / "ranking" / "pandalm_systems.tsv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            said = [_PANDALM_SCORES.get(row[judge], 0.5) for judge in judges if row[judge]]
            one, other = sorted((row["system_a"], row["system_b"]))
            if said:
                won = sum(said) / len(said)
                found.setdefault((one, other), []).append(won if one == row["system_a"] else 1 - won)
    return {pair: np.array(won) for pair, won in found.items()}


def wins(random: np.random.Generator, shape: tuple[int, ...], rate: float) -> FloatArray:
    return np.asarray(random.random(shape) < rate, np.float64)


def in_orders(values: FloatArray, orders: int, seed: int) -> FloatArray:
    """Values in so many random orders: shape (orders, values)."""
    return np.random.default_rng(seed).permuted(np.tile(values, (orders, 1)), axis=1)


_KINDS: Mapping[str, tuple[FloatArray, FloatArray]] = {
    "wins and losses": (np.array([0.0, 1.0]), np.array([0.5, 0.5])),
    "many ties": (np.array([0.0, 0.5, 1.0]), np.array([0.1, 0.8, 0.1])),
    "seldom, but by much": (np.array([0.0, 0.55]), np.array([1 / 11, 10 / 11])),
}
"""Worlds with a mean of one half: values and their shares."""


@simulated(
    "until sure",
    at_most("until sure: wrong", ERROR),
    [
        (name, items)
        for name in _KINDS
        for items in ("40 drawn", "200 drawn", "1000 drawn", "a dataset of 110 used up")
    ],
    "equal, {0}, {1}",
)
def _is_wrong(random: np.random.Generator, name: str, items: str) -> bool:
    values, shares = _KINDS[name]
    if items.startswith("a dataset"):
        dataset = np.repeat(values, np.rint(110 * shares).astype(np.int64))
        return bool(decisions(random.permutation(dataset)[None, :]).side[0])
    return bool(decisions(random.choice(values, (1, int(items.split(maxsplit=1)[0])), p=shares)).side[0])


@simulated(
    "until sure",
    at_most("until sure: one of many wrong", ERROR),
    [(3, 0), (3, 1), (10, 0), (10, 5)],
    "{0} pairs, {1} of them clear",
)
def _any_wrong(random: np.random.Generator, count: int, clear: int) -> bool:
    rates = [0.8] * clear + [0.5] * (count - clear)
    _, side = settled_by_holm([wins(random, (1, 300), rate) for rate in rates])
    return bool((side[clear:] != 0).any() or (side[:clear] < 0).any())


@dataclass(frozen=True)
class _Candidates:
    """All pairs meet on `instructions` of 1 to `most` items. `alike`: how much of what decides an item is its
    instruction's, 0 to 1. `ties`: how near two responses are that nobody tells apart.
    """

    bradley_terry: tuple[float, ...]
    instructions: int = 150
    most: int = 1
    alike: float = 0.0
    ties: float = 0.0


_RUNS: Mapping[str, _Candidates] = {
    "two equals": _Candidates((0, 0)),
    "two equals, 1 to 6 items an instruction, much alike": _Candidates((0, 0), most=6, alike=0.8),
    "the same, half of them ties": _Candidates((0, 0), most=6, alike=0.8, ties=1),
    "three equals on the same instructions": _Candidates((0, 0, 0), most=6, alike=0.8),
    "two equals, one clearly better, some ties": _Candidates((0, 0, 1.5), most=6, alike=0.5, ties=0.4),
    "five, two of them equals": _Candidates((0, 0, 1, 2, 3), most=10, alike=0.5, ties=0.4),
}


@simulated(
    "intervals, always",
    Promise("until sure: interval, always", 1 - ERROR, 1 - ERROR),
    product((0.5, 0.7, 0.95), (0.0, 0.4)),
    "{0:g} won, {1:g} of them ties",
)
def _always_holds(random: np.random.Generator, share: float, ties: float) -> bool:
    """Intervals looked at after 10, 20, 40 and so on up to 640 instructions hold the truth at all of them."""
    tied = random.random(640) < ties * min(share, 1 - share)
    values = np.where(tied, 0.5, random.random(640) < share)
    truth = 0.5 * ties * min(share, 1 - share) + share * (1 - ties * min(share, 1 - share))
    looks = (ValueCounts.of(values[:count].tolist()).interval() for count in (10, 20, 40, 80, 160, 320, 640))
    return all(low <= truth <= high for low, high in looks)


@simulated(
    "what it takes",
    Promise("until sure: 1/5 to 3 times the guess", 0.5, 0.5),
    product((0.6, 0.65, 0.7), (20, 40, 80)),
    "{0:g} won, guessed after {1}",
)
def _is_near(random: np.random.Generator, rate: float, known: int) -> bool:
    """What it would take is guessed from a few instructions that were not enough; such worlds alone count."""
    while True:
        drawn = wins(random, (1, 2000), rate)
        at = int(decisions(drawn).at[0])
        if known < at:
            guess = ValueCounts.of(drawn[0, :known].tolist()).more_for_half(needed())
            return guess / 5 <= at - known <= 3 * guess


@simulated(
    "runs until sure",
    at_most("until sure: a run stops wrongly", ERROR),
    _RUNS,
    "run: {0}",
)
def _stops_wrongly(random: np.random.Generator, name: str) -> bool:
    """Runs that look after each two items and leave out what is settled: any pair called wrongly."""
    world = _RUNS[name]
    of, labels = _drawn_comparisons(world, random)
    until = UntilSignificant(of)
    for start in range(0, len(of), 2):
        group = of.ids[start : start + 2]
        if until.is_answered:
            break
        if any(map(until.wants, group)):
            until.add({item_id: labels[item_id] for item_id in group})
    strength = {str(place): value for place, value in enumerate(world.bradley_terry)}
    return any(
        question.answered is not None
        and question.answered != np.sign(strength[question.candidate] - strength[question.opponent or ""])
        for question in until.questions
    )


def _drawn_comparisons(
    world: _Candidates, random: np.random.Generator
) -> tuple[PairComparisons, dict[str, Preference]]:
    """Contests, and the label of each: whose response is better by more than what nobody tells apart."""
    candidates = len(world.bradley_terry)
    instructions = np.repeat(
        np.arange(world.instructions), random.integers(1, world.most + 1, world.instructions)
    )
    items = len(instructions)
    first, second = met(random, candidates, items)
    worth = np.array(world.bradley_terry) + math.sqrt(world.alike) * random.normal(
        size=(world.instructions, candidates)
    )
    by_chance = math.sqrt(1 - world.alike) * random.normal(size=(2, items))
    ahead = worth[instructions, first] + by_chance[0] - worth[instructions, second] - by_chance[1]
    of = contests(first, second, instructions, nothing_said(items), candidates)
    sides = np.where(np.abs(ahead) < world.ties, 0, np.sign(ahead)).astype(np.int64).tolist()
    said = {1: Preference.A, -1: Preference.B, 0: Preference.BOTH_GOOD}
    return of, {item_id: said[side] for item_id, side in zip(of.ids, sides, strict=True)}


ORDERS = 200
_ANNOTATORS = ("annotator_1", "annotator_2", "annotator_3")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.coverage.stopping")
    parser.add_argument("folder", type=Path, help="where the folder `ranking` is")
    shared = parser.parse_args().folder
    alpaca = {f"{name}, probabilities": won for name, won in alpaca_preferences(shared).items()}
    labels = {name: np.asarray(won > 0.5, np.float64) for name, won in alpaca_preferences(shared).items()}
    pandalm = {" against ".join(pair): won for pair, won in pandalm_pairs(shared, *_ANNOTATORS).items()}
    for questions in (alpaca, labels, pandalm):
        print("\n".join(_lines(questions)))


def _lines(questions: Mapping[str, FloatArray]) -> Iterator[str]:
    drawn = [in_orders(won, ORDERS, seed) for seed, won in enumerate(questions.values())]
    at, side = settled_by_holm(drawn)
    truth = np.array([np.sign(won.mean() - 0.5) for won in questions.values()])[:, None]
    for place, (name, won) in enumerate(questions.items()):
        alone = decisions(drawn[place])
        wrong = f"wrong {alone.wrong(won.mean()).mean():6.1%}"
        sure = f"alone after {_median(alone.at)}, with the others after {_median(at[place])}"
        yield f"{name:72} {won.mean():6.1%} of {len(won)}: {sure}, {wrong}"
    any_wrong = ((side != 0) & (side != truth)).any(axis=0).mean()
    yield f"{len(questions)} questions at once: any of them wrong in {any_wrong:.1%} of {ORDERS} orders.\n"


def _median(at: IntArray) -> str:
    found = float(np.median(at))
    return f"{found:5.1f}" if found < _NEVER / 2 else "never"


if __name__ == "__main__":
    main()
