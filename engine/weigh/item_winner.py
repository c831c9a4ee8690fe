"""The weighted winner of one item, from the probabilities of its labels.

Knows: labels, their probabilities, weights. Does not know: runs, submissions, human labels.
"""

from collections.abc import Mapping, Sequence

from engine.core.items import HumanLabel, Preference
from engine.core.ways.graded import GRADES
from engine.weigh.weighted_judge import TIE, winner_and_margin

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
    """Who wins an item, one of WINNERS: what pairwise_preference_judge says of its response scores.

    `probabilities`: by criterion, of all criteria that `weights` name. `weights`: as `normalised` gives them.
    """
    scores = {name: response_scores(probabilities[name]) for name in weights}
    scores_a = {name: a for name, (a, _) in scores.items()}
    scores_b = {name: b for name, (_, b) in scores.items()}
    winner, _ = winner_and_margin(scores_a, scores_b, weights, tie_threshold)
    return winner


def winner_of(label: HumanLabel) -> str:
    """A label as a winner: whatever prefers neither response is a tie."""
    return label.value if label in (Preference.A, Preference.B) else TIE
