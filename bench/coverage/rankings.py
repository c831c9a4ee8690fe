"""Whether strengths and rates at equal length lie where a ranking says, and whom it tells apart.

Candidates answer instructions, some of which please the judges of one more than of another; contests are won
as Davidson's model says.

Knows: `engine/ranking/`. Does not know: judges, datasets.
"""

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np
from scipy.optimize import brentq
from scipy.stats import kendalltau

from bench.coverage.claims import Claim, Promise
from engine.core.errors import SetupError
from engine.core.events import followed
from engine.core.items import HUMAN_LABELS
from engine.core.numeric import FloatArray, IntArray
from engine.ranking.bradley_terry import BradleyTerryScores, bradley_terry, expected_score, side_by_side
from engine.ranking.comparisons import PairComparisons, labels_said
from engine.ranking.ranking import length_control

_TIE = 0.5
_DRAWS = 300
_STRENGTHS = Promise("strength of a candidate", 0.95, 0.92)
_EXTREME = Promise("strength of one far from all", 0.95, 0.94)
_APART = Promise("equals told apart", 0.05, 0.075, at_most=True)
_TAU = Promise("Kendall's tau of two rankings", 0.95, 0.95)
_EVEN = Promise("rate at equal length", 0.95, 0.92)

_DESIGNS = ((60, 60), (60, 15), (200, 200), (200, 40), (500, 50))
"""How many contests, on how many instructions."""


def strengths_held(times: int) -> Iterator[Claim]:
    """From two to eight candidates, evenly spread or one far ahead; one of them is looked at."""
    for seed, ((items, instructions), count) in enumerate(product(_DESIGNS, (2, 4, 8))):
        spread = np.linspace(1, -1, count)
        ahead = np.append(3.0, np.zeros(count - 1))
        for name, truth in (("spread", spread), ("ahead", ahead - ahead.mean())):
            where = f"{count} {name}, {items} contests, {instructions} instructions"
            yield Claim.drawn(
                _STRENGTHS, where, partial(_holds, truth, items, instructions), _few(times), seed
            )


def extremes_held(times: int) -> Iterator[Claim]:
    """One that wins, or loses, nearly all against equal ones: it is looked at."""
    for seed, ((items, instructions), rate, loses) in enumerate(
        product(_DESIGNS[:3], (0.92, 0.95, 0.97), (False, True))
    ):
        where = (
            f"5, one {'loses' if loses else 'wins'} {rate:g}, {items} contests, {instructions} instructions"
        )
        draw = partial(_holds, _ahead(rate) * (-1) ** loses, items, instructions, place=0)
        yield Claim.drawn(_EXTREME, where, draw, _few(times), seed)


def _ahead(rate: float, count: int = 5) -> FloatArray:
    """Strengths of which the first wins so much against their mean."""
    one = np.append(1.0, np.full(count - 1, -1 / (count - 1)))
    far = brentq(lambda far: float(expected_score(far * one[:1], np.array(_TIE))[0]) - rate, 0, 20)
    return np.asarray(far * one)


def equals_told_apart(times: int) -> Iterator[Claim]:
    """Candidates that are all equal."""
    for seed, ((items, instructions), count) in enumerate(product(_DESIGNS, (2, 4, 8))):
        where = f"{count} equal, {items} contests, {instructions} instructions"
        draw = partial(_tells, np.zeros(count), items, instructions)
        yield Claim.drawn(_APART, where, draw, _few(times), seed)


def even_rates_held(times: int) -> Iterator[Claim]:
    """Candidates of different length against each other, or all against one baseline."""
    for seed, (instructions, effect, baseline) in enumerate(
        product((20, 60, 200), (0.0, 1.5), (False, True))
    ):
        against = "one baseline" if baseline else "each other"
        where = f"4 against {against}, {instructions} instructions, effect {effect:g}"
        draw = partial(_even, instructions, effect, baseline)
        yield Claim.drawn(_EVEN, where, draw, _few(times), seed)


def _few(times: int) -> int:
    """Each world takes a hundred times as long as those of a share."""
    return max(times // 5, 20)


def rankings_beside(times: int) -> Iterator[Claim]:
    """Two judges of the same contests, whose truths are one, or which swap every second two candidates."""
    for seed, ((items, instructions), count, far) in enumerate(
        product(((60, 60), (200, 40), (500, 500)), (3, 5, 8), (0.2, 1.0))
    ):
        truth = np.linspace(far, -far, count)
        swapped = truth.copy()
        swapped[: count // 2 * 2] = truth[: count // 2 * 2].reshape(-1, 2)[:, ::-1].ravel()
        for name, other in (("equal", truth), ("swapped", swapped)):
            where = f"{count} {name}, far {far:g}, {items} contests, {instructions} instructions"
            draw = partial(_tau_is_held, truth, other, items, instructions)
            yield Claim.drawn(_TAU, where, draw, _few(times), seed)


def _tau_is_held(
    one: FloatArray, other: FloatArray, items: int, instructions: int, random: np.random.Generator
) -> bool:
    comparisons = _comparisons(random, one, items, instructions)
    said = _said(random, other, comparisons.first, comparisons.second)
    seed = int(random.integers(1 << 30))
    try:
        found = followed(side_by_side(comparisons, comparisons.with_said(said), seed, draws=_DRAWS), id)
    except SetupError:  # by chance not all of them met
        return True
    low, high = found.tau_ends
    return low - 1e-9 <= float(kendalltau(one, other).statistic) <= high + 1e-9


def _found(
    random: np.random.Generator, truth: FloatArray, items: int, instructions: int
) -> BradleyTerryScores:
    comparisons = _comparisons(random, truth, items, instructions)
    return followed(bradley_terry(comparisons, int(random.integers(1 << 30)), _DRAWS), id)


def _comparisons(
    random: np.random.Generator, truth: FloatArray, items: int, instructions: int
) -> PairComparisons:
    count = len(truth)
    first = random.integers(0, count, items)
    second = (first + random.integers(1, count, items)) % count
    said = _said(random, truth, first, second)
    return PairComparisons(
        ids=tuple(map(str, range(items))),
        names=tuple(map(str, range(count))),
        first=first,
        second=second,
        instructions=random.integers(0, instructions, items),
        lengths=np.ones((items, 2)),
        said=said,
    )


def _said(random: np.random.Generator, truth: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
    half = (truth[first] - truth[second]) / 2
    odds = np.stack([np.exp(half), np.exp(-half), np.full(len(first), _TIE)], axis=1)
    chances = np.cumsum(odds / odds.sum(axis=1, keepdims=True), axis=1)[:, :2]
    drawn = (random.random(len(first))[:, None] > chances).sum(axis=1)
    return labels_said(HUMAN_LABELS[place] for place in drawn)


def _holds(
    truth: FloatArray, items: int, instructions: int, random: np.random.Generator, place: int | None = None
) -> bool:
    place = int(random.integers(len(truth))) if place is None else place
    ends = _found(random, truth, items, instructions).scores[str(place)].ends
    right = float(expected_score(truth, np.array(_TIE))[place])
    return ends is not None and ends[0] <= right <= ends[1]


def _tells(truth: FloatArray, items: int, instructions: int, random: np.random.Generator) -> bool:
    return bool(_found(random, truth, items, instructions).better.any())


def _even(instructions: int, effect: float, baseline: bool, random: np.random.Generator) -> bool:
    """Whether the rate of one candidate lies where it would be without the effect of length."""
    count = 4
    pairs = [(i, j) for i in range(count) for j in range(i) if not baseline or j == 0]
    first = np.tile([i for i, _ in pairs], instructions)
    second = np.tile([j for _, j in pairs], instructions)
    groups = np.repeat(np.arange(instructions), len(pairs))
    lengths = np.exp(random.normal(5 + 0.2 * np.stack([first, second], axis=1), 0.4))
    difference = lengths[:, 0] - lengths[:, 1]
    longer = np.tanh(difference / np.sqrt(np.mean(difference**2)))
    hard = random.normal(0, 1, instructions)[groups] if baseline else np.zeros(len(first))
    even = 1 / (1 + np.exp(-(0.4 * (first - second) + hard)))
    chance = 1 / (1 + np.exp(-(0.4 * (first - second) + hard + effect * longer)))
    won = random.random(len(first)) < chance
    comparisons = PairComparisons(
        ids=tuple(map(str, range(len(first)))),
        names=tuple(map(str, range(count))),
        first=first,
        second=second,
        instructions=groups,
        lengths=lengths,
        said=labels_said(HUMAN_LABELS[0] if each else HUMAN_LABELS[1] for each in won),
    )
    found = length_control(comparisons)
    assert found is not None
    place = int(random.integers(1, count))
    ends = found.rates[str(place)].ends
    mine = (first == place) | (second == place)
    right = float(np.where(first == place, even, 1 - even)[mine].mean())
    if baseline:  # of endlessly many instructions, not of these
        nodes, weights = np.polynomial.hermite_e.hermegauss(40)
        right = float(np.sum(weights / (1 + np.exp(-(0.4 * place + nodes)))) / weights.sum())
    return ends is not None and ends[0] <= right <= ends[1]
