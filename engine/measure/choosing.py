"""What choosing the best of several costs: by how much it looks better than it is, because it was chosen.

Knows: means over instructions. Does not know: what was measured, who chooses.
"""

from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple

import numpy as np

from engine.measure.intervals import FEW, OverInstructions

_DRAWS = 4000  # the error of the mean is about a hundredth of it
_SEED = 0  # the same candidates cost the same


class Choice(NamedTuple):
    """How many `candidates` there are to choose from; by how much the best of them is to be expected to look
    better than it is, were all equally good: in the unit of their means.
    """

    candidates: int
    excess: float


def cost_of_choosing(candidates: Iterable[OverInstructions | None]) -> Choice | None:
    """What choosing the one with the highest mean costs; None where fewer than two of them have FEW
    instructions: others take no part.

    Candidates may share instructions, and so their luck. The excess is the mean of the largest of as many
    normal numbers with mean 0, whose covariances are those of the means, clustered by instruction: the
    Gaussian multiplier bootstrap of the centred values (Chernozhukov, Chetverikov and Kato, Gaussian
    Approximations and Multiplier Bootstrap for Maxima of Sums of High-Dimensional Random Vectors, 2013).
    Against simulations: `bench/coverage/choosing.py`.
    """
    known = [one for one in candidates if one is not None and one.instructions >= FEW]
    if len(known) < 2:
        return None
    named = dict.fromkeys(chain.from_iterable(one.groups for one in known))
    places = {group: place for place, group in enumerate(named)}
    pulls = np.zeros((len(places), len(known)))
    for column, one in enumerate(known):
        rows = [places[group] for group in one.groups]
        pulls[rows, column] = one.pulls * np.sqrt(one.instructions / (one.instructions - 1))
    variances, directions = np.linalg.eigh(pulls.T @ pulls)
    drawn = np.random.default_rng(_SEED).standard_normal((_DRAWS, len(known)))
    luck = drawn @ (directions * np.sqrt(np.maximum(variances, 0))).T
    # Of each draw its mirror image too: the mean of one candidate alone is 0 then, as it must be.
    return Choice(len(known), float(np.mean((luck.max(axis=1) - luck.min(axis=1)) / 2)))
