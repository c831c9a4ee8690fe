"""The weighted judge: per-criterion scores of two responses combined into one winner.

Knows: scores, weights, a tie threshold. Does not know: where scores come from, models, files.
"""

import math
import sys
from collections.abc import Mapping
from typing import Any

TIE = "tie"
WINNERS = ("A", "B", TIE)
LARGEST_SCORE = 1e300  # either way: differences and the sum of all margins stay finite

_NOISE = 16 * sys.float_info.epsilon  # relative: a few roundings in weights, scores and their products
_DIGITS = 4


def pairwise_preference_judge(
    comparisons: list[dict[str, Any]], criteria_weights: dict[str, float], tie_threshold: float
) -> dict[str, Any]:
    """Decide each comparison by weighted scores.

    `comparisons`: dicts with `id`, `scores_a` and `scores_b` (criterion -> score, any scale up to
    LARGEST_SCORE). A criterion absent from a response counts 0; scores of criteria without a weight are
    not used.
    `criteria_weights`: not negative, normalised here to sum 1. `tie_threshold`: not negative, in score
    points; a difference that reaches it only, up to floating-point noise, is a tie.

    Returns `results` (each `id`, `winner` as `A`, `B` or `tie`, `margin` >= 0), `win_rate_a`,
    `win_rate_b`, `tie_rate` (0 to 1) and `avg_margin`, rounded to 4 decimals; decisions use the unrounded
    values. Without comparisons all rates are 0.0.

    Raises ValueError for weights that are negative, not finite or sum to 0, for a threshold that is
    negative or not finite, and for a score that is not finite or beyond LARGEST_SCORE.
    """
    weights = normalised(criteria_weights)
    if not math.isfinite(tie_threshold) or tie_threshold < 0:
        raise ValueError(f"tie_threshold is {tie_threshold}: use 0 or a positive number.")
    results = []
    margins = []
    for comparison in comparisons:
        _check_scores(comparison, weights)
        a, b = comparison["scores_a"], comparison["scores_b"]
        winner, margin = winner_and_margin(a, b, weights, tie_threshold)
        margins.append(margin)
        results.append({"id": comparison["id"], "winner": winner, "margin": round(margin, _DIGITS)})
    winners = [result["winner"] for result in results]
    return {
        "results": results,
        "win_rate_a": _share(winners.count("A"), len(winners)),
        "win_rate_b": _share(winners.count("B"), len(winners)),
        "tie_rate": _share(winners.count(TIE), len(winners)),
        "avg_margin": _share(math.fsum(margins), len(margins)),
    }


def normalised(weights: Mapping[str, float]) -> dict[str, float]:
    """Weights that sum to 1; ValueError for one that is negative or not finite, and where all are 0."""
    for name, weight in weights.items():
        if not math.isfinite(weight) or weight < 0:
            raise ValueError(f"Weight of {name} is {weight}: use 0 or a positive number.")
    largest = max(weights.values(), default=0)
    if largest == 0:
        raise ValueError("The weights sum to 0: give at least one criterion a positive weight.")
    # Divided by the largest first, so that neither huge nor tiny weights lose the sum.
    scaled = {name: weight / largest for name, weight in weights.items()}
    total = math.fsum(scaled.values())
    return {name: weight / total for name, weight in scaled.items()}


def winner_and_margin(
    a: Mapping[str, float], b: Mapping[str, float], weights: Mapping[str, float], tie_threshold: float
) -> tuple[str, float]:
    """One of WINNERS and its margin, unrounded, from the scores of both responses and normalised weights."""
    terms = [weight * response.get(name, 0) for name, weight in weights.items() for response in (a, b)]
    difference = math.fsum(
        weight * a.get(name, 0) - weight * b.get(name, 0) for name, weight in weights.items()
    )
    noise = _NOISE * (math.fsum(map(abs, terms)) + tie_threshold)
    if abs(difference) <= tie_threshold + noise:
        return TIE, abs(difference)
    return ("A" if difference > 0 else "B"), abs(difference)


def _check_scores(comparison: Mapping[str, Any], weights: Mapping[str, float]) -> None:
    for name in weights:
        for response in (comparison["scores_a"], comparison["scores_b"]):
            if not abs(response.get(name, 0)) <= LARGEST_SCORE:
                raise ValueError(
                    f"Comparison {comparison['id']}: score of {name} is not a number up to {LARGEST_SCORE:g}."
                )


def _share(part: float, count: int) -> float:
    return round(part / count, _DIGITS) if count else 0.0
