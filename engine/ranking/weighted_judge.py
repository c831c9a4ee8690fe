"""The weighted judge: scores of two responses by criterion, combined into one winner."""

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

from engine.core.formatting import in_a_line
from engine.core.items import HumanLabel, Preference
from engine.core.methods import GRADES

_SCORES = ("scores_a", "scores_b")
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
    negative or not finite, and for a score that is not finite or beyond LARGEST_SCORE; TypeError for what has
    another shape.
    """
    if not isinstance(criteria_weights, Mapping):
        raise TypeError(f"criteria_weights is {in_a_line(criteria_weights)}: use a dictionary.")
    weights = normalised(criteria_weights)
    if not _is_amount(tie_threshold):
        raise ValueError(f"tie_threshold is {in_a_line(tie_threshold)}: use 0 or a positive number.")
    if isinstance(comparisons, str | bytes | Mapping) or not isinstance(comparisons, Iterable):
        raise TypeError(f"comparisons is {in_a_line(comparisons)}: use a list of dictionaries.")
    results = []
    margins = []
    for comparison in comparisons:
        is_one = isinstance(comparison, Mapping) and "id" in comparison
        if not is_one or not all(isinstance(comparison.get(key), Mapping) for key in _SCORES):
            raise TypeError(
                f"A comparison is {in_a_line(comparison)}: use dictionaries with id, and with"
                f" {' and '.join(_SCORES)}, which are dictionaries."
            )
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
        if not _is_amount(weight):
            raise ValueError(f"Weight of {_called(name)} is {in_a_line(weight)}: use 0 or a positive number.")
    largest = max(weights.values(), default=0)
    if largest == 0:
        raise ValueError("The weights sum to 0: give at least one criterion a positive weight.")
    # Divided by the largest first, so that neither huge nor tiny weights lose the sum.
    scaled = {name: weight / largest for name, weight in weights.items()}
    total = math.fsum(scaled.values())
    return {name: weight / total for name, weight in scaled.items()}


def not_zero(weights: Mapping[str, float]) -> dict[str, float]:
    """The weights but those of 0: what their criteria lack leaves no item out. All, where all are 0."""
    return {name: weight for name, weight in weights.items() if weight != 0} or dict(weights)


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


def _is_number(value: object) -> bool:
    return isinstance(value, Real)


def _is_amount(value: Any) -> bool:
    """Whether it is 0 or a positive number."""
    try:
        return _is_number(value) and math.isfinite(value) and value >= 0
    except OverflowError:  # a whole number beyond all floats
        return False


def _called(name: object) -> str:
    return name if isinstance(name, str) else in_a_line(name)


def _check_scores(comparison: Mapping[str, Any], weights: Mapping[str, float]) -> None:
    for name in weights:
        for response in (comparison[key] for key in _SCORES):
            score = response.get(name, 0)
            if not (_is_number(score) and abs(score) <= LARGEST_SCORE):
                raise ValueError(
                    f"Comparison {_called(comparison['id'])}: score of {_called(name)} is not a number up to"
                    f" {LARGEST_SCORE:g}."
                )


def _share(part: float, count: int) -> float:
    return round(part / count, _DIGITS) if count else 0.0


HIGHEST_SCORE = 10.0

Probabilities = Sequence[float]  # of the four labels, in the order of PREFERENCES, summing to 1


def response_scores(probabilities: Probabilities) -> tuple[float, float]:
    """The scores of A and B, 0 to 10: 10 x (P(it is preferred) + P(both_good))."""
    a, b, both_good, _ = probabilities
    return HIGHEST_SCORE * (a + both_good), HIGHEST_SCORE * (b + both_good)


def score_of(grade: float) -> float:
    """The score of a response, 0 to 10, by its mean grade."""
    lowest, *_, highest = GRADES
    return (grade - lowest) / (highest - lowest) * HIGHEST_SCORE


def weighted_winner(
    probabilities: Mapping[str, Probabilities], weights: Mapping[str, float], tie_threshold: float
) -> str:
    """One of WINNERS by response scores; `probabilities` by criterion, `weights` as of `normalised`."""
    scores = {name: response_scores(probabilities[name]) for name in weights}
    a, b = ({name: of[side] for name, of in scores.items()} for side in (0, 1))
    return winner_and_margin(a, b, weights, tie_threshold)[0]


def winner_of(label: HumanLabel) -> str:
    """A label as a winner: whatever prefers neither response is a tie."""
    return label.value if label in (Preference.A, Preference.B) else TIE
