"""Weights and a tie threshold that best explain human overall labels, and how far they carry.

Knows: score differences and winners. Does not know: systems, files, how scores came about.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import nnls

from engine.core.errors import SetupError
from engine.core.log_probs import FloatArray, IntArray
from engine.measure.folds import LEAST_GROUPS, grouped_folds
from engine.weigh.item_winner import HIGHEST_SCORE
from engine.weigh.weighted_judge import WINNERS

_SIGNS = dict(zip(WINNERS, (1, -1, 0), strict=True))


@dataclass(frozen=True)
class WeightFit:
    """Fitted weights (not negative, sum 1) and tie threshold (score points).

    All shares are 0 to 1. `agreement`: of the `items` whose winner equals the human one, cross-validated
    over instructions; `equal`: the same with equal weights and a fitted threshold; `most_frequent`: with the
    most frequent winner of the other folds.
    """

    weights: Mapping[str, float]
    tie_threshold: float
    items: int
    agreement: float
    equal: float
    most_frequent: float


def fit_weights(
    pairs: Sequence[Mapping[str, Any]], human: Mapping[str, str], instructions: Mapping[str, str]
) -> WeightFit:
    """Fit to the scored pairs whose id has a human winner; `instructions` by id keep folds apart.

    The weights minimise the squared distance between weighted score difference and human winner (10 for
    A, -10 for B, 0 for a tie), none negative (Lawson and Hanson, Solving Least Squares Problems, 1974);
    the threshold then gives the most right winners. SetupError for fewer than two instructions, and where no
    criterion's scores rise with the human winner.
    """
    known = [pair for pair in pairs if pair["id"] in human]
    groups = [instructions[pair["id"]] for pair in known]
    if len(set(groups)) < LEAST_GROUPS:
        raise SetupError(
            f"{len(set(groups))} instructions with a human overall label: fitting weights needs"
            f" {LEAST_GROUPS} or more.",
            "Name a dataset with more labels.",
        )
    criteria = list(known[0]["scores_a"])
    differences = np.array(
        [[pair["scores_a"][name] - pair["scores_b"][name] for name in criteria] for pair in known]
    )
    winners = np.array([_SIGNS[human[pair["id"]]] for pair in known])
    weights = _weights(differences, winners)
    if not weights.any():
        raise SetupError(
            "No criterion's scores rise with the human overall label: no weights explain it.",
            "Check that the dataset belongs to these predictions.",
        )
    return WeightFit(
        weights={name: float(weight) for name, weight in zip(criteria, weights, strict=True)},
        tie_threshold=_threshold(differences @ weights, winners),
        items=len(known),
        **_cross_validated(differences, winners, groups),
    )


def _cross_validated(differences: FloatArray, winners: IntArray, groups: Sequence[str]) -> dict[str, float]:
    """The shares of right winners of WeightFit."""
    even = np.full(differences.shape[1], 1 / differences.shape[1])
    right = {"agreement": 0, "equal": 0, "most_frequent": 0}
    for train, test in grouped_folds(groups):
        frequent = max(_SIGNS.values(), key=winners[train].tolist().count)
        right["most_frequent"] += int((winners[test] == frequent).sum())
        for name, weights in (("agreement", _weights(differences[train], winners[train])), ("equal", even)):
            weighted = differences @ weights
            threshold = _threshold(weighted[train], winners[train])
            right[name] += int((_decide(weighted[test], threshold) == winners[test]).sum())
    return {name: count / len(winners) for name, count in right.items()}


def _weights(differences: FloatArray, winners: IntArray) -> FloatArray:
    """Weights that sum to 1; all 0 where no criterion's scores rise with the winner."""
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
