"""Whether the intervals of kappa, its mean over pairs of people, AC1, macro-F1 and alpha hold the truth."""

from collections.abc import Mapping
from functools import partial
from itertools import product

import numpy as np

from bench.coverage.claims import Promise, simulated
from bench.coverage.intervals import World, holds, worlds
from engine.core.items import HUMAN_LABELS, PREFERENCES
from engine.core.numeric import FloatArray
from engine.metrics.beyond_chance import (
    MetLabels,
    Statistic,
    ac1_of,
    alpha_of,
    kappa_of,
    macro_f1_of,
    mean_kappa_of,
)

_LABELS = {
    "even": (0.25, 0.25, 0.25, 0.25),
    "skewed": (0.62, 0.08, 0.15, 0.15),
    "nearly one": (0.9, 0.05, 0.03, 0.02),
}
_STATISTICS: Mapping[str, Statistic] = {
    "kappa": kappa_of,
    "AC1": ac1_of,
    "macro-F1": partial(macro_f1_of, labels=len(PREFERENCES)),
    "alpha": alpha_of,
    "mean kappa": mean_kappa_of,
}
_MOST = 10**9  # labels, of an endless sample
_WORLDS = [
    each
    for each in worlds()
    if each.instructions in {20, 99, 300} and each.each in {1, 5} and each.alike < 0.5
]


@simulated(
    "beyond_chance",
    Promise("an interval of agreement beyond chance"),
    product(_WORLDS, _STATISTICS, _LABELS, (0.3, 0.7, 0.95)),
    "{1}, labels {2}, {3:g} known, else guessed; {0}",
)
def _held(random: np.random.Generator, world: World, name: str, labels: str, known: float) -> bool:
    shares = np.array(_LABELS[labels])
    groups = world.groups(random)
    human = world.drawn(random, groups, shares.tolist())
    knows = world.right(random, groups, known) > 0
    judge = np.where(knows, human, random.choice(len(shares), len(groups), p=shares))
    met = np.diag(known * shares) + (1 - known) * np.outer(shares, shares)
    if name == "mean kappa":
        return _mean_held(random, world, shares, known)
    if name == "alpha":
        counts = np.zeros((len(groups), len(HUMAN_LABELS)), np.int64)
        for given in (human, judge):
            counts[np.arange(len(groups)), given] += 1
        found = MetLabels.among(counts.tolist(), groups)
    else:
        human_labels, labels_of_judge = ([PREFERENCES[each] for each in given] for given in (human, judge))
        found = MetLabels.of(human_labels, labels_of_judge, groups)
    statistic, side = _STATISTICS[name], len(shares)
    truth = float(statistic(_MOST * met, np.eye(side, dtype=bool)))
    measured = found.measured(statistic, 0.0 if name == "macro-F1" else -1.0)
    return measured.value is None or holds(measured.interval, truth)


def _mean_held(random: np.random.Generator, world: World, shares: FloatArray, known: float) -> bool:
    """Of three people who see what an item is in this share, else guess; the third labels one half."""
    groups = np.array(world.groups(random))
    items = np.arange(len(groups))
    truth = world.drawn(random, groups.tolist(), shares.tolist())
    guessed = random.choice(len(shares), (3, len(groups)), p=shares)
    knows = [world.right(random, groups.tolist(), known) > 0 for _ in guessed]
    said = np.where(knows, truth, guessed)
    pairs = [(0, 1, items), (0, 2, items[::2]), (1, 2, items[::2])]
    one, other = (
        [PREFERENCES[label] for pair in pairs for label in said[pair[side], pair[2]]] for side in (0, 1)
    )
    of_pairs = [met for _, _, met in pairs]
    numbers = np.repeat(np.arange(len(pairs)), [len(met) for met in of_pairs])
    instructions = groups[np.concatenate(of_pairs)].tolist()
    found = MetLabels.of(one, other, instructions, numbers).measured(mean_kappa_of)
    return found.value is None or holds(found.interval, known**2)
