"""Whether strengths and rates at equal length lie where a ranking says, and whom it tells apart.

Candidates answer instructions, some of which please the judges of one more than of another; contests are won
as Davidson's model says.
"""

from itertools import product

import numpy as np
from scipy.optimize import brentq
from scipy.stats import kendalltau

from bench.coverage.claims import Promise, at_most, simulated
from bench.coverage.intervals import holds
from engine.core.errors import SetupError
from engine.core.events import followed
from engine.core.items import HUMAN_LABELS
from engine.core.numeric import FloatArray, IntArray
from engine.ranking.bradley_terry import BradleyTerryScores, bradley_terry, expected_score, side_by_side
from engine.ranking.comparisons import PairComparisons, labels_said
from engine.ranking.features import standardised
from engine.ranking.length_control import length_control, style_control

_TIE = 0.5
_DRAWS = 300
_COSTS, _LEAST = 5, 20  # each world takes a hundred times as long as one of a share
_DESIGNS = ((60, 60), (60, 15), (200, 200), (200, 40), (500, 50))
"""How many contests, on how many instructions."""


def contests(
    first: IntArray,
    second: IntArray,
    instructions: IntArray,
    said: FloatArray,
    candidates: int,
    lengths: FloatArray | None = None,
) -> PairComparisons:
    """Who met whom on which instruction, and what was said; all responses of one length, or of these."""
    items = len(first)
    return PairComparisons(
        ids=tuple(map(str, range(items))),
        names=tuple(map(str, range(candidates))),
        first=first,
        second=second,
        instructions=instructions,
        lengths=np.ones((items, 2)) if lengths is None else lengths,
        said=said,
    )


def met(random: np.random.Generator, candidates: int, items: int) -> tuple[IntArray, IntArray]:
    first = random.integers(0, candidates, items)
    return first, (first + random.integers(1, candidates, items)) % candidates


def _comparisons(
    random: np.random.Generator, truth: FloatArray, items: int, instructions: int
) -> PairComparisons:
    first, second = met(random, len(truth), items)
    said = davidson_said(random, truth[first], truth[second])
    return contests(first, second, random.integers(0, instructions, items), said, len(truth))


def davidson_said(random: np.random.Generator, first: FloatArray, second: FloatArray) -> FloatArray:
    """What is said of contests by the scores of both sides."""
    half = (first - second) / 2
    odds = np.stack([np.exp(half), np.exp(-half), np.full(len(first), _TIE)], axis=1)
    chances = np.cumsum(odds / odds.sum(axis=1, keepdims=True), axis=1)[:, :2]
    drawn = (random.random(len(first))[:, None] > chances).sum(axis=1)
    return labels_said(HUMAN_LABELS[place] for place in drawn)


def _found(
    random: np.random.Generator, truth: FloatArray, items: int, instructions: int
) -> BradleyTerryScores:
    comparisons = _comparisons(random, truth, items, instructions)
    return followed(bradley_terry(comparisons, int(random.integers(1 << 30)), _DRAWS), id)


def _spread_or_ahead(count: int) -> dict[str, FloatArray]:
    """Evenly spread, or one far ahead."""
    ahead = np.append(3.0, np.zeros(count - 1))
    return {"spread": np.linspace(1, -1, count), "ahead": ahead - ahead.mean()}


@simulated(
    "strengths",
    Promise("strength of a candidate", 0.95, 0.92),
    [
        (f"{count} {name}", *design)
        for design, count, name in product(_DESIGNS, (2, 4, 8), ("spread", "ahead"))
    ],
    "{0}, {1} contests, {2} instructions",
    costs=_COSTS,
    least=_LEAST,
)
def _strength_held(random: np.random.Generator, called: str, items: int, instructions: int) -> bool:
    count, name = called.split()
    truth = _spread_or_ahead(int(count))[name]
    return _holds(random, truth, items, instructions, int(random.integers(len(truth))))


def _holds(random: np.random.Generator, truth: FloatArray, items: int, instructions: int, place: int) -> bool:
    right = float(expected_score(truth, np.array(_TIE))[place])
    return holds(_found(random, truth, items, instructions).scores[str(place)].ends, right)


@simulated(
    "extreme strengths",
    Promise("strength of one far from all", 0.95, 0.94),
    [
        (how, rate, *design)
        for design, rate, how in product(_DESIGNS[:3], (0.92, 0.95, 0.97), ("wins", "loses"))
    ],
    "5, one {0} {1:g}, {2} contests, {3} instructions",
    costs=_COSTS,
    least=_LEAST,
)
def _extreme_held(random: np.random.Generator, how: str, rate: float, items: int, instructions: int) -> bool:
    """One that wins, or loses, nearly all against equal ones: it is looked at."""
    one = np.append(1.0, np.full(4, -1 / 4))
    far = brentq(lambda far: float(expected_score(far * one[:1], np.array(_TIE))[0]) - rate, 0, 20)
    return _holds(random, far * one * (-1 if how == "loses" else 1), items, instructions, place=0)


@simulated(
    "told apart",
    at_most("equals told apart", 0.05, 0.075),
    [(count, *design) for design, count in product(_DESIGNS, (2, 4, 8))],
    "{0} equal, {1} contests, {2} instructions",
    costs=_COSTS,
    least=_LEAST,
)
def _tells_apart(random: np.random.Generator, count: int, items: int, instructions: int) -> bool:
    return bool(_found(random, np.zeros(count), items, instructions).better.any())


@simulated(
    "equal length",
    [Promise("rate at equal length or style"), Promise("effect of length or style")],
    [
        (against, instructions, effect, lists, apart)
        for lists, instructions, effect, against, apart in product(
            (0.0, 1.0), (20, 60, 200), (0.0, 1.5), ("each other", "one baseline"), (0.4, 1.1)
        )
    ],
    "4 against {0}, {1} instructions, effects {2:g} and {3:g}, {4:g} apart",
    costs=_COSTS,
    least=_LEAST,
)
def _even_held(
    random: np.random.Generator,
    against: str,
    instructions: int,
    effect: float,
    of_lists: float,
    apart: float,
) -> list[bool | None]:
    """Candidates that write more or longer lists: whether the rate of one lies where it would be without.
    `apart`: log odds of each against the next.
    """
    count, baseline = 4, against == "one baseline"
    pairs = [(i, j) for i in range(count) for j in range(i) if not baseline or j == 0]
    first = np.tile([i for i, _ in pairs], instructions)
    second = np.tile([j for _, j in pairs], instructions)
    groups = np.repeat(np.arange(instructions), len(pairs))
    lengths = np.exp(random.normal(5 + 0.2 * np.stack([first, second], axis=1), 0.4))
    difference = lengths[:, 0] - lengths[:, 1]
    lists = random.poisson(1 + 0.3 * np.stack([first, second], axis=1)) @ np.array([1.0, -1.0])
    style = effect * standardised(difference) + of_lists * standardised(lists)
    hard = random.normal(0, 1, instructions)[groups] if baseline else np.zeros(len(first))
    even = 1 / (1 + np.exp(-(apart * (first - second) + hard)))
    won = random.random(len(first)) < 1 / (1 + np.exp(-(apart * (first - second) + hard + style)))
    said = labels_said(HUMAN_LABELS[0] if each else HUMAN_LABELS[1] for each in won)
    drawn = contests(first, second, groups, said, count, lengths)
    by_style, by_length = style_control(drawn, {"lists": lists}), length_control(drawn)
    found = by_style if of_lists else by_length
    if not (found.rates and by_style.rates):  # confounded, as a message says
        return [None, None]
    place = int(random.integers(1, count))
    mine = (first == place) | (second == place)
    right = float(np.where(first == place, even, 1 - even)[mine].mean())
    if baseline:  # of endlessly many instructions, not of these
        nodes, weights = np.polynomial.hermite_e.hermegauss(40)
        right = float(np.sum(weights / (1 + np.exp(-(apart * place + nodes)))) / weights.sum())
    held: bool | None = None
    if not of_lists:
        # Against a baseline each instruction's own parameter shrinks effects by a tenth; none stays none.
        held = None if baseline and effect else holds(by_length.effect_ends, effect)
    elif not baseline:
        held = holds(by_style.effects["lists"].ends, of_lists)
    return [holds(found.rates[str(place)].ends, right), held]


@simulated(
    "side by side",
    Promise("Kendall's tau of two rankings", 0.95, 0.95),
    [
        (name, count, far, *design)
        for design, count, far in product(((60, 60), (200, 40), (500, 500)), (3, 5, 8), (0.2, 1.0))
        for name in ("equal", "swapped")
    ],
    "{1} {0}, far {2:g}, {3} contests, {4} instructions",
    costs=_COSTS,
    least=_LEAST,
)
def _tau_held(
    random: np.random.Generator, name: str, count: int, far: float, items: int, instructions: int
) -> bool:
    """Two judges of the same contests, whose truths are one, or which swap every second two candidates."""
    truth = np.linspace(far, -far, count)
    other = truth.copy()
    if name == "swapped":
        other[: count // 2 * 2] = truth[: count // 2 * 2].reshape(-1, 2)[:, ::-1].ravel()
    comparisons = _comparisons(random, truth, items, instructions)
    said = davidson_said(random, other[comparisons.first], other[comparisons.second])
    seed = int(random.integers(1 << 30))
    try:
        found = followed(side_by_side(comparisons, comparisons.with_said(said), seed, draws=_DRAWS), id)
    except SetupError:  # by chance not all of them met
        return True
    low, high = found.tau_ends
    return low - 1e-9 <= float(kendalltau(truth, other).statistic) <= high + 1e-9
