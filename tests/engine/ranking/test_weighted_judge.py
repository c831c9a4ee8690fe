"""The weighted judge: its rule as a table, its invariants as properties."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.items import certain
from engine.ranking.weighted_judge import (
    normalised,
    pairwise_preference_judge,
    response_scores,
    weighted_winner,
)
from tests.judged import BAD, GOOD, A, B

WEIGHTS = {"quality": 0.6, "relevance": 0.4}


def compare(id_: str, a: dict[str, float], b: dict[str, float]) -> dict[str, Any]:
    return {"id": id_, "scores_a": a, "scores_b": b}


def winner(a: dict[str, float], b: dict[str, float], weights: dict[str, float], threshold: float) -> str:
    result = pairwise_preference_judge([compare("1", a, b)], weights, threshold)
    return str(result["results"][0]["winner"])


def test_the_worked_example() -> None:
    comparisons = [
        compare("1", {"quality": 8, "relevance": 7}, {"quality": 6, "relevance": 8}),
        compare("2", {"quality": 5, "relevance": 6}, {"quality": 7, "relevance": 8}),
    ]
    found = pairwise_preference_judge(comparisons, WEIGHTS, 0.5)
    results = [{"id": "1", "winner": "A", "margin": 0.8}, {"id": "2", "winner": "B", "margin": 2.0}]
    rates = {"win_rate_a": 0.5, "win_rate_b": 0.5, "tie_rate": 0.0, "avg_margin": 1.4}
    assert found == {"results": results, **rates}
    # Keys come in the order that is promised.
    assert (list(found), list(found["results"][0])) == (["results", *rates], ["id", "winner", "margin"])
    assert pairwise_preference_judge([], WEIGHTS, 0.5) == {"results": [], **dict.fromkeys(rates, 0.0)}


def test_decisions_use_unrounded_margins_and_the_largest_scores_have_finite_ones() -> None:
    result = pairwise_preference_judge([compare("1", {"x": 0.50001}, {"x": 0})], {"x": 1.0}, 0.5)
    assert result["results"] == [{"id": "1", "winner": "A", "margin": 0.5}]
    comparisons = [compare("1", {"x": 1e300}, {"x": -1e300})] * 9
    assert pairwise_preference_judge(comparisons, {"x": 1}, 0)["avg_margin"] == pytest.approx(2e300)


@pytest.mark.parametrize(
    ("a", "b", "weights", "threshold", "expected"),
    [
        ({"x": 0.3}, {"x": 0.0}, {"x": 1.0}, 0.1 + 0.2, "tie"),
        ({"x": 0.1 + 0.2}, {"x": 0.0}, {"x": 1.0}, 0.3, "tie"),
        ({"x": 0.3000001}, {"x": 0.0}, {"x": 1.0}, 0.3, "A"),
        ({"x": 0.1, "y": 0.2}, {"z": 0.3}, {"x": 1, "y": 1, "z": 1}, 0.0, "tie"),
        ({"x": 5}, {"x": 5}, {"x": 1.0}, 0.0, "tie"),
        ({"x": 5}, {"x": 5.00004}, {"x": 1.0}, 0.0, "B"),
        ({"x": 1}, {}, {"x": 1.0}, 0.0, "A"),
        ({"x": 1e9, "y": 3}, {"x": 1e9, "y": 1}, {"x": 1, "y": 1}, 0.5, "A"),
        ({"x": 1e10 + 0.6}, {"x": 1e10}, {"x": 1.0}, 0.5, "A"),
        ({"x": 0.7}, {"x": 0.1 * 3 + 0.1}, {"x": 1.0}, 0.3, "tie"),
        ({"x": 1, "unweighted": 0}, {"x": 1, "unweighted": 9}, {"x": 1.0}, 0.0, "tie"),
        ({"x": 1, "y": 0}, {"x": 0, "y": 5}, {"x": 1, "y": 0}, 0.0, "A"),
        ({"x": 8}, {"x": 6}, {"x": 1e-320}, 0.5, "A"),
        ({"x": 8, "y": 1}, {"x": 6, "y": 1}, {"x": 1e308, "y": 1e308}, 0.5, "A"),
    ],
)
def test_who_wins(
    a: dict[str, float], b: dict[str, float], weights: dict[str, float], threshold: float, expected: str
) -> None:
    assert winner(a, b, weights, threshold) == expected


def test_weights_and_thresholds_that_mean_nothing_are_refused() -> None:
    for weights in ((-0.1,), (math.nan,), (math.inf,), (0.0,), (), (0.0, 0.0)):
        with pytest.raises(ValueError, match=r"[Ww]eight"):
            pairwise_preference_judge([], dict(zip("xy", weights, strict=False)), 0.5)
    for threshold in (-0.1, math.nan, math.inf):
        with pytest.raises(ValueError, match="tie_threshold"):
            pairwise_preference_judge([], WEIGHTS, threshold)


@pytest.mark.parametrize("score", [math.nan, -math.inf, 1e308, -1.1e300, 10**400])
def test_a_score_that_no_difference_can_be_made_of_is_refused_with_its_id(score: float) -> None:
    with pytest.raises(ValueError, match=r"Comparison seven: score of quality is not a number up to 1e\+300"):
        pairwise_preference_judge([compare("seven", {"quality": score}, {})], WEIGHTS, 0.5)


scores = st.dictionaries(st.sampled_from("xyz"), st.floats(0, 10), max_size=3)
Pairs = list[tuple[dict[str, float], dict[str, float]]]
pairs = st.lists(st.tuples(scores, scores), max_size=8)
weights_of = st.fixed_dictionaries({name: st.floats(0.01, 100) for name in "xyz"})


def scored_pairs_of(pairs_: Pairs) -> list[dict[str, Any]]:
    return [compare(str(index), a, b) for index, (a, b) in enumerate(pairs_)]


@given(pairs, weights_of, st.floats(0, 5))
def test_rates_sum_to_one_and_exchanging_the_responses_exchanges_the_winners(
    pairs_: Pairs, weights: dict[str, float], threshold: float
) -> None:
    result = pairwise_preference_judge(scored_pairs_of(pairs_), weights, threshold)
    swapped = pairwise_preference_judge(scored_pairs_of([(b, a) for a, b in pairs_]), weights, threshold)
    exchanged = {"A": "B", "B": "A", "tie": "tie"}
    winners, others = ([entry["winner"] for entry in each["results"]] for each in (result, swapped))
    assert [exchanged[winner] for winner in winners] == others
    assert (result["win_rate_a"], result["avg_margin"]) == (swapped["win_rate_b"], swapped["avg_margin"])
    total = result["win_rate_a"] + result["win_rate_b"] + result["tie_rate"]
    assert total == pytest.approx(int(bool(pairs_)), abs=2e-4)


@given(pairs, weights_of, st.sampled_from([0.25, 2.0, 1024.0]))
def test_only_proportions_of_weights_count(pairs_: Pairs, weights: dict[str, float], factor: float) -> None:
    scaled = {name: weight * factor for name, weight in weights.items()}
    one, other = (pairwise_preference_judge(scored_pairs_of(pairs_), each, 0.5) for each in (weights, scaled))
    assert one == other


UNSURE = (0.4, 0.3, 0.2, 0.1)


@pytest.mark.parametrize(
    ("probabilities", "scores", "winner"),
    [
        (UNSURE, (6, 5), "A"),
        (certain(A), (10, 0), "A"),
        (certain(B), (0, 10), "B"),
        (certain(GOOD), (10, 10), "tie"),
        (certain(BAD), (0, 0), "tie"),
    ],
)
def test_a_response_scores_for_being_preferred_and_for_being_good(
    probabilities: tuple[float, ...], scores: tuple[float, float], winner: str
) -> None:
    assert response_scores(probabilities) == pytest.approx(scores)
    assert weighted_winner({"safety": probabilities}, {"safety": 1}, 0.5) == winner


@pytest.mark.parametrize(
    ("weights", "tie_threshold"), [((1, 1), 0.5), ((1, 9), 0.5), ((1, 9), 8.1), ((1, 9), 8.0), ((1, 0), 1.0)]
)
def test_the_winner_is_that_of_the_weighted_judge(weights: tuple[float, float], tie_threshold: float) -> None:
    given = dict(zip(("safety", "relevance"), weights, strict=True))
    probabilities = {"safety": UNSURE, "relevance": (0.05, 0.95, 0.0, 0.0)}
    scores = {name: response_scores(values) for name, values in probabilities.items()}
    a, b = ({name: both[side] for name, both in scores.items()} for side in (0, 1))
    assert weighted_winner(probabilities, normalised(given), tie_threshold) == winner(
        a, b, given, tie_threshold
    )
