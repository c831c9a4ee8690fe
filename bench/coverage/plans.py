"""Whether as many labels as are planned are enough, and hardly more than that."""

from itertools import product

import numpy as np

from bench.coverage.claims import Promise, simulated
from bench.coverage.intervals import World
from engine.core.items import PREFERENCES
from engine.core.numeric import chance_of_share
from engine.metrics import planning
from engine.metrics.beyond_chance import MetLabels, kappa_of
from engine.metrics.intervals import OverInstructions
from engine.metrics.trust import ALIKE

_HALF = 0.06
_WIDER = 1.15  # so many times a half width may be the planned one


def _world(labels: int, each: int) -> World:
    items = planning.items_for(labels, each)
    return World(-(-items // each), each, ALIKE if each > 1 else 0.0)


@simulated(
    "plans",
    [
        Promise("planned labels: accuracy within", 0.8, 0.7),
        Promise("planned labels: beats baseline", 0.8, 0.75),
        Promise("planned labels: may stand", 0.8, 0.75),
    ],
    product((0.7, 0.9), (1, 5)),
    "right {0:g}, {1} items an instruction",
)
def _plan_held(random: np.random.Generator, right: float, each: int) -> list[bool]:
    found = []
    worlds = (
        _world(planning.labels_for_share(right, _HALF), each),
        _world(planning.labels_for_lead(right, right - 0.1), each),
        _world(planning.labels_for_trust(right, right - 0.07, 0.1), each),
    )
    for world in worlds:
        groups = world.groups(random)
        values = world.right(random, groups, right)
        rival = world.right(random, groups, right - 0.1)
        own, lead = (OverInstructions.of_one(one, groups) for one in (values, values - rival))
        found.append((own, lead))
    low, high = found[0][0].share_interval()
    stands = chance_of_share(found[2][0].mean, found[2][0].worth_of_share, right - 0.07) <= 0.1
    return [(high - low) / 2 <= _WIDER * _HALF, found[1][1].difference_interval().low > 0, stands]


@simulated(
    "plans",
    Promise("planned labels: kappa within", 0.8, 0.7),
    product((0.3, 0.6), (1, 5)),
    "kappa {0:g}, {1} items an instruction",
)
def _kappa_held(random: np.random.Generator, kappa: float, each: int) -> bool:
    shares = [0.4, 0.4, 0.1, 0.1]
    chance = float(np.dot(shares, shares))
    world = _world(planning.labels_for_kappa(kappa, _HALF, chance), each)
    groups = world.groups(random)
    human = world.drawn(random, groups, shares)
    guessed = random.choice(len(shares), len(groups), p=shares)
    judge = np.where(random.random(len(groups)) < kappa, human, guessed)
    one, other = ([PREFERENCES[place] for place in labels] for labels in (human, judge))
    ends = MetLabels.of(one, other, groups).measured(kappa_of).interval
    return ends is not None and (ends.high - ends.low) / 2 <= _WIDER * _HALF
