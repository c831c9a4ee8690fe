"""Weights and a tie threshold that best explain human overall labels, their uncertainty, how well they
generalise.

Knows: score differences and winners. Does not know: systems, files, how scores came about.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.core.errors import SetupError
from engine.core.formatting import counted
from engine.core.log_probs import FloatArray, IntArray
from engine.measure.folds import group_numbers, grouped_folds
from engine.measure.intervals import Interval, share_interval
from engine.weigh.item_winner import HIGHEST_SCORE
from engine.weigh.weighted_judge import WINNERS

FOR_EACH = 10
"""Instructions with a human overall label per fitted parameter (a weight or the tie threshold).

The rule of thumb for regressions (Peduzzi et al., A Simulation Study of the Number of Events per Variable in
Logistic Regression Analysis, 1996).
"""

_SIGNS = dict(zip(WINNERS, (1, -1, 0), strict=True))
_DRAWS = 500
_SEED = 0  # the same labels have the same ranges
# Weights are not normal near 0 and 1, and a few instructions have no long tails: the usual percentiles, 2.5
# and 97.5, hold the true weight in .93 of simulated cases and in the worst in .89; these in .95.
_TAIL = 0.01


@dataclass(frozen=True)
class WeightFit:
    """Fitted weights (not negative, sum 1) and tie threshold (score points), each with its 95 % range.

    All shares are 0 to 1. `agreement`: of the `items` whose winner equals the human one, cross-validated
    over `instructions`; `equal`: the same with equal weights and a fitted threshold; `most_frequent`: with
    the most frequent winner of the other folds. `intervals`: of these three, by their names.
    """

    weights: Mapping[str, float]
    tie_threshold: float
    ranges: Mapping[str, Interval]
    threshold_range: Interval
    items: int
    instructions: int
    agreement: float
    equal: float
    most_frequent: float
    intervals: Mapping[str, Interval | None]


def fit_weights(
    pairs: Sequence[Mapping[str, Any]],
    human: Mapping[str, str],
    instructions: Mapping[str, str],
    criteria: Sequence[str],
) -> WeightFit:
    """Fit to the scored pairs whose id has a human winner; `instructions` by id keep folds apart.

    The weights minimise the squared distance between weighted score difference and human winner (10 for
    A, -10 for B, 0 for a tie), none negative (Lawson and Hanson, Solving Least Squares Problems, 1974);
    the threshold then gives the most right winners. SetupError for fewer than FOR_EACH instructions for each
    of the `criteria` and the threshold, and where no criterion's scores rise with the human winner.
    """
    known = [pair for pair in pairs if pair["id"] in human]
    groups = [instructions[pair["id"]] for pair in known]
    _check_enough(len(set(groups)), len(criteria))
    differences = np.array(
        [[pair["scores_a"][name] - pair["scores_b"][name] for name in criteria] for pair in known]
    )
    winners = np.array([_SIGNS[human[pair["id"]]] for pair in known])
    weights = _weights(differences, winners)
    if not weights.any():
        raise SetupError(
            "No criterion's scores correlate positively with the human overall label, so no weights can"
            " be fitted.",
            "Check that the dataset belongs to these predictions.",
        )
    *of_weights, of_threshold = _ranges(differences, winners, group_numbers(groups))
    right = _cross_validated(differences, winners, groups)
    return WeightFit(
        weights={name: float(weight) for name, weight in zip(criteria, weights, strict=True)},
        tie_threshold=_threshold(differences @ weights, winners),
        ranges=dict(zip(criteria, of_weights, strict=True)),
        threshold_range=of_threshold,
        items=len(known),
        instructions=len(set(groups)),
        **{name: float(column.mean()) for name, column in right.items()},
        intervals={name: share_interval(column.tolist(), groups) for name, column in right.items()},
    )


def _check_enough(instructions: int, criteria: int) -> None:
    needed = FOR_EACH * (criteria + 1)
    if instructions < needed:
        raise SetupError(
            f"{instructions} instructions with a human overall label are too few to fit a tie threshold and"
            f" {counted(criteria, 'weight', 'weights')}: {FOR_EACH} for each are {needed}, so"
            f" {needed - instructions} are missing.",
            "Label more items, or give fewer criteria a weight.",
        )


def _ranges(differences: FloatArray, winners: IntArray, numbers: IntArray) -> list[Interval]:
    """The range of each weight, and of the threshold last: the whole fit on instructions drawn with
    replacement (the percentile bootstrap; Efron, Bootstrap Methods: Another Look at the Jackknife, 1979).
    """
    count = int(numbers.max()) + 1
    random = np.random.default_rng(_SEED)
    found = np.empty((_DRAWS, differences.shape[1] + 1))
    for place, times in enumerate(random.multinomial(count, np.full(count, 1 / count), size=_DRAWS)):
        drawn = np.repeat(np.arange(len(winners)), times[numbers])
        weights = _weights(differences[drawn], winners[drawn])
        found[place, :-1] = weights
        found[place, -1] = _threshold(differences[drawn] @ weights, winners[drawn])
    low, high = np.quantile(found, [_TAIL, 1 - _TAIL], axis=0)
    return [Interval(*ends) for ends in zip(low.tolist(), high.tolist(), strict=True)]


def _cross_validated(
    differences: FloatArray, winners: IntArray, groups: Sequence[str]
) -> dict[str, FloatArray]:
    """1 for each right winner, else 0, by the names of WeightFit's shares: each of shape (items,)."""
    even = np.full(differences.shape[1], 1 / differences.shape[1])
    right = {name: np.zeros(len(winners)) for name in ("agreement", "equal", "most_frequent")}
    for train, test in grouped_folds(groups):
        frequent = max(_SIGNS.values(), key=winners[train].tolist().count)
        right["most_frequent"][test] = winners[test] == frequent
        for name, weights in (("agreement", _weights(differences[train], winners[train])), ("equal", even)):
            weighted = differences @ weights
            threshold = _threshold(weighted[train], winners[train])
            right[name][test] = _decide(weighted[test], threshold) == winners[test]
    return right


def _weights(differences: FloatArray, winners: IntArray) -> FloatArray:
    """Weights that sum to 1; all 0 where no criterion's scores rise with the winner."""
    from scipy.optimize import nnls  # noqa: PLC0415 - commands start without what only a fit needs

    weights: FloatArray = nnls(differences, HIGHEST_SCORE * winners.astype(np.float64))[0]
    total = weights.sum()
    return weights / total if total > 0 else weights


def _decide(weighted: FloatArray, threshold: float) -> IntArray:
    """1 for A, -1 for B, 0 for a tie, as pairwise_preference_judge decides but for rounding noise."""
    return np.where(np.abs(weighted) <= threshold, 0, np.sign(weighted)).astype(np.int64)


def _threshold(weighted: FloatArray, winners: IntArray) -> float:
    """The threshold with the most right winners, of equally good ones the lowest, between two margins."""
    margins = np.unique(np.abs(weighted))
    between = (margins[:-1] + margins[1:]) / 2
    candidates = np.concatenate([[0.0], between, margins[-1:]])
    order = np.argsort(np.abs(weighted), kind="stable")
    sides = np.sign(weighted[order]) == winners[order]
    ties = winners[order] == 0
    # Right winners with the k smallest margins as ties: ties among these, sides among the rest.
    right = np.concatenate([[0], np.cumsum(ties)]) + np.concatenate([np.cumsum(sides[::-1])[::-1], [0]])
    within = np.searchsorted(np.abs(weighted[order]), candidates, side="right")
    return float(candidates[int(np.argmax(right[within]))])
