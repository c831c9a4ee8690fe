"""The weighted judge: its rule as a table, its invariants as properties."""

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.items import Preference, certain
from engine.ranking.weighted_judge import (
    normalised,
    pairwise_preference_judge,
    response_scores,
    weighted_winner,
    winner_of,
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
    assert pairwise_preference_judge(comparisons, WEIGHTS, 0.5) == {
        "results": [{"id": "1", "winner": "A", "margin": 0.8}, {"id": "2", "winner": "B", "margin": 2.0}],
        "win_rate_a": 0.5,
        "win_rate_b": 0.5,
        "tie_rate": 0.0,
        "avg_margin": 1.4,
    }


def test_keys_come_in_the_order_that_is_promised() -> None:
    result = pairwise_preference_judge([compare("1", {}, {})], WEIGHTS, 0.0)
    assert list(result) == ["results", "win_rate_a", "win_rate_b", "tie_rate", "avg_margin"]
    assert list(result["results"][0]) == ["id", "winner", "margin"]


def test_without_comparisons_all_rates_are_zero() -> None:
    assert pairwise_preference_judge([], WEIGHTS, 0.5) == {
        "results": [],
        "win_rate_a": 0.0,
        "win_rate_b": 0.0,
        "tie_rate": 0.0,
        "avg_margin": 0.0,
    }


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


@pytest.mark.parametrize(
    "weights", [{"x": -0.1}, {"x": math.nan}, {"x": math.inf}, {"x": 0.0}, {}, {"x": 0, "y": 0}]
)
def test_weights_that_mean_nothing_are_refused(weights: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"[Ww]eight"):
        pairwise_preference_judge([], weights, 0.5)


@pytest.mark.parametrize("threshold", [-0.1, math.nan, math.inf])
def test_thresholds_that_mean_nothing_are_refused(threshold: float) -> None:
    with pytest.raises(ValueError, match="tie_threshold"):
        pairwise_preference_judge([], WEIGHTS, threshold)


@pytest.mark.parametrize("score", [math.nan, -math.inf, 1e308, -1.1e300, 10**400])
def test_a_score_that_no_difference_can_be_made_of_is_refused_with_its_id(score: float) -> None:
    with pytest.raises(ValueError, match=r"Comparison seven: score of quality is not a number up to 1e\+300"):
        pairwise_preference_judge([compare("seven", {"quality": score}, {})], WEIGHTS, 0.5)


def test_the_largest_scores_have_finite_margins() -> None:
    comparisons = [compare("1", {"x": 1e300}, {"x": -1e300})] * 9
    assert pairwise_preference_judge(comparisons, {"x": 1}, 0)["avg_margin"] == pytest.approx(2e300)


def test_decisions_use_unrounded_margins() -> None:
    result = pairwise_preference_judge([compare("1", {"x": 0.50001}, {"x": 0})], {"x": 1.0}, 0.5)
    assert result["results"] == [{"id": "1", "winner": "A", "margin": 0.5}]


scores = st.dictionaries(st.sampled_from("xyz"), st.floats(0, 10), max_size=3)
pairs = st.lists(st.tuples(scores, scores), max_size=8)
weights_of = st.fixed_dictionaries({name: st.floats(0.01, 100) for name in "xyz"})


def scored_pairs_of(pairs_: list[tuple[dict[str, float], dict[str, float]]]) -> list[dict[str, Any]]:
    return [compare(str(index), a, b) for index, (a, b) in enumerate(pairs_)]


@given(pairs, weights_of, st.floats(0, 5))
def test_exchanging_the_responses_exchanges_the_winners(
    pairs_: list[tuple[dict[str, float], dict[str, float]]], weights: dict[str, float], threshold: float
) -> None:
    result = pairwise_preference_judge(scored_pairs_of(pairs_), weights, threshold)
    swapped = pairwise_preference_judge(scored_pairs_of([(b, a) for a, b in pairs_]), weights, threshold)
    exchanged = {"A": "B", "B": "A", "tie": "tie"}
    assert [exchanged[entry["winner"]] for entry in result["results"]] == [
        entry["winner"] for entry in swapped["results"]
    ]
    assert (result["win_rate_a"], result["avg_margin"]) == (swapped["win_rate_b"], swapped["avg_margin"])


@given(pairs.filter(bool), weights_of, st.floats(0, 5))
def test_rates_sum_to_one(
    pairs_: list[tuple[dict[str, float], dict[str, float]]], weights: dict[str, float], threshold: float
) -> None:
    result = pairwise_preference_judge(scored_pairs_of(pairs_), weights, threshold)
    total = result["win_rate_a"] + result["win_rate_b"] + result["tie_rate"]
    assert total == pytest.approx(1, abs=2e-4)


@given(pairs, weights_of, st.sampled_from([0.25, 2.0, 1024.0]))
def test_only_the_proportions_of_the_weights_count(
    pairs_: list[tuple[dict[str, float], dict[str, float]]], weights: dict[str, float], factor: float
) -> None:
    scaled = {name: weight * factor for name, weight in weights.items()}
    comparisons = scored_pairs_of(pairs_)
    assert pairwise_preference_judge(comparisons, weights, 0.5) == pairwise_preference_judge(
        comparisons, scaled, 0.5
    )


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
