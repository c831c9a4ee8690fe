"""Readings to judgments: un-swap, average, decide, or say why not."""

import math

import pytest

from engine.preference import decide
from engine.records import Explanation, JudgedItem, Judgment, Order, Preference, Reading, Unscored


def reading(order: Order, *probabilities: float) -> Reading:
    a, b, both_good, both_bad = (math.log(p) for p in probabilities)
    return Reading(order, (a, b, both_good, both_bad))


def judged(*readings: Reading) -> JudgedItem:
    return JudgedItem(0, "7", "hash", {"safety": readings})


def judgment_of(*readings: Reading) -> Judgment:
    judgment = decide(judged(*readings), "safety")
    assert isinstance(judgment, Judgment)
    return judgment


@pytest.mark.parametrize(
    ("ab", "ba", "preference", "flipped"),
    [
        ((0.7, 0.1, 0.1, 0.1), (0.1, 0.7, 0.1, 0.1), Preference.A, False),
        ((0.7, 0.1, 0.1, 0.1), (0.6, 0.2, 0.1, 0.1), Preference.A, True),
        ((0.1, 0.1, 0.7, 0.1), (0.1, 0.1, 0.7, 0.1), Preference.BOTH_GOOD, False),
        ((0.1, 0.6, 0.2, 0.1), (0.7, 0.1, 0.1, 0.1), Preference.B, False),
        ((0.1, 0.1, 0.1, 0.7), (0.1, 0.1, 0.3, 0.5), Preference.BOTH_BAD, False),
    ],
)
def test_both_orders_decide_together(
    ab: tuple[float, ...], ba: tuple[float, ...], preference: Preference, flipped: bool
) -> None:
    judgment = judgment_of(reading(Order.AB, *ab), reading(Order.BA, *ba))
    assert (judgment.preference, judgment.flipped) == (preference, flipped)


def test_a_pure_preference_for_the_first_place_cancels_out() -> None:
    judgment = judgment_of(reading(Order.AB, 0.8, 0.1, 0.05, 0.05), reading(Order.BA, 0.8, 0.1, 0.05, 0.05))
    assert judgment.probabilities[0] == pytest.approx(judgment.probabilities[1])
    assert judgment.flipped


def test_probabilities_are_the_normalised_geometric_mean() -> None:
    judgment = judgment_of(reading(Order.AB, 0.4, 0.1, 0.2, 0.1), reading(Order.BA, 0.1, 0.1, 0.2, 0.1))
    weights = [math.sqrt(p) for p in (0.4 * 0.1, 0.1 * 0.1, 0.2 * 0.2, 0.1 * 0.1)]
    expected = [weight / sum(weights) for weight in weights]
    assert judgment.probabilities == pytest.approx(expected)


def test_one_order_alone_cannot_flip() -> None:
    judgment = judgment_of(reading(Order.AB, 0.7, 0.1, 0.1, 0.1))
    assert judgment.flipped is None


def test_format_mass_is_the_mean_share_of_the_four_labels() -> None:
    judgment = judgment_of(reading(Order.AB, 0.1, 0.1, 0.1, 0.1), reading(Order.BA, 0.2, 0.2, 0.2, 0.2))
    assert judgment.format_mass == pytest.approx(0.6)


def test_the_explanation_comes_along() -> None:
    said = Explanation("Response A is kind.", Preference.A)
    item = JudgedItem(0, "7", "hash", {"safety": (reading(Order.AB, 0.7, 0.1, 0.1, 0.1),)}, {"safety": said})
    judgment = decide(item, "safety")
    assert isinstance(judgment, Judgment)
    assert judgment.explanation == said


@pytest.mark.parametrize("value", [math.nan, -math.inf])
def test_probabilities_that_are_not_finite_leave_it_unscored(value: float) -> None:
    item = judged(Reading(Order.AB, (value, -1.0, -1.0, -1.0)))
    assert decide(item, "safety") == Unscored("7", "safety", "the model gave no finite probabilities")


def test_a_reason_in_the_store_leaves_it_unscored() -> None:
    item = JudgedItem(0, "7", "hash", {}, unscored={"safety": "needs 9,312 tokens"})
    assert decide(item, "safety") == Unscored("7", "safety", "needs 9,312 tokens")
