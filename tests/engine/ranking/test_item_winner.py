"""The weighted winner of one item."""

from collections.abc import Sequence

import pytest

from engine.core.items import Preference, certain
from engine.ranking.weighted_judge import (
    normalised,
    pairwise_preference_judge,
    response_scores,
    weighted_winner,
    winner_of,
)
from tests.judged import BAD, GOOD, A, B

UNSURE = (0.4, 0.3, 0.2, 0.1)


@pytest.mark.parametrize(
    ("probabilities", "scores"),
    [
        (UNSURE, (6, 5)),
        (certain(A), (10, 0)),
        (certain(B), (0, 10)),
        (certain(GOOD), (10, 10)),
        (certain(BAD), (0, 0)),
    ],
)
def test_a_response_scores_for_being_preferred_and_for_being_good(
    probabilities: Sequence[float], scores: tuple[float, float]
) -> None:
    assert response_scores(probabilities) == pytest.approx(scores)


@pytest.mark.parametrize(("label", "winner"), [(A, "A"), (B, "B"), (GOOD, "tie"), (BAD, "tie")])
def test_both_is_a_tie(label: Preference, winner: str) -> None:
    assert winner_of(label) == winner
    assert weighted_winner({"safety": certain(label)}, {"safety": 1}, 0.5) == winner


@pytest.mark.parametrize(
    ("weights", "tie_threshold"), [((1, 1), 0.5), ((1, 9), 0.5), ((1, 9), 8.1), ((1, 9), 8.0), ((1, 0), 1.0)]
)
def test_the_winner_is_that_of_the_weighted_judge(weights: tuple[float, float], tie_threshold: float) -> None:
    given = dict(zip(("safety", "relevance"), weights, strict=True))
    probabilities = {"safety": UNSURE, "relevance": (0.05, 0.95, 0.0, 0.0)}
    scores = {name: response_scores(values) for name, values in probabilities.items()}
    sides = [{name: both[side] for name, both in scores.items()} for side in (0, 1)]
    whole = pairwise_preference_judge(
        [{"id": "1", "scores_a": sides[0], "scores_b": sides[1]}], given, tie_threshold
    )
    winner = weighted_winner(probabilities, normalised(given), tie_threshold)
    assert winner == whole["results"][0]["winner"]
