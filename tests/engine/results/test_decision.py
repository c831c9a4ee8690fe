"""Readings to judgments: un-swap, average, decide, or say why not."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from engine.core.items import PREFERENCES, Order, Preference
from engine.core.judgments import (
    CriterionCalibration,
    Explanation,
    JudgedItem,
    Judgment,
    RawPrediction,
    Unscored,
)
from engine.core.numeric import log_softmax
from engine.results.decision import NOT_FINITE, average, decide, decide_all


def reading(order: Order, *probabilities: float) -> RawPrediction:
    a, b, both_good, both_bad = (math.log(p) for p in probabilities)
    return RawPrediction(order, (a, b, both_good, both_bad))


def judged(*raw_predictions: RawPrediction) -> JudgedItem:
    return JudgedItem(0, "7", "hash", {"safety": raw_predictions})


def judgment_of(*raw_predictions: RawPrediction) -> Judgment:
    judgment = decide(judged(*raw_predictions), "safety")
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
    assert judgment.answer_mass == pytest.approx(0.6)


def test_the_explanation_comes_along() -> None:
    explanation = Explanation("Response A is kind.", Preference.A)
    item = JudgedItem(
        0, "7", "hash", {"safety": (reading(Order.AB, 0.7, 0.1, 0.1, 0.1),)}, {"safety": explanation}
    )
    judgment = decide(item, "safety")
    assert isinstance(judgment, Judgment)
    assert judgment.explanation == explanation


FIRST = Explanation("Response A is kind.", Preference.A)
LATER = {label: Explanation(f"It is {label}.", label) for label in (Preference.B, Preference.BOTH_BAD)}


@pytest.mark.parametrize(
    ("decided", "shown", "stale"),
    [
        (Preference.A, FIRST, False),
        (Preference.B, LATER[Preference.B], False),
        (Preference.BOTH_BAD, LATER[Preference.BOTH_BAD], False),
        (Preference.BOTH_GOOD, FIRST, True),
    ],
)
def test_the_explanation_is_the_one_for_the_label_decided_else_the_first(
    decided: Preference, shown: Explanation, stale: bool
) -> None:
    shares = [0.7 if label is decided else 0.1 for label in PREFERENCES]
    item = JudgedItem(
        *(0, "7", "hash"),
        raw_predictions={"safety": (reading(Order.AB, *shares),)},
        explanations={"safety": FIRST},
        rewritten={
            **{("safety", label): text for label, text in LATER.items()},
            ("relevance", Preference.BOTH_GOOD): Explanation("Of another criterion.", Preference.BOTH_GOOD),
        },
    )
    judgment = decide(item, "safety")
    assert isinstance(judgment, Judgment)
    assert (judgment.explanation, judgment.stale) == (shown, stale)


@pytest.mark.parametrize("value", [math.nan, -math.inf])
def test_probabilities_that_are_not_finite_leave_it_unscored(value: float) -> None:
    item = judged(RawPrediction(Order.AB, (value, -1.0, -1.0, -1.0)))
    assert decide(item, "safety") == Unscored("7", "safety", "the model gave no finite probabilities")


def test_a_reason_in_the_store_leaves_it_unscored() -> None:
    item = JudgedItem(0, "7", "hash", {}, unscored={"safety": "needs 9,312 tokens"})
    assert decide(item, "safety") == Unscored("7", "safety", "needs 9,312 tokens")


BOTH_ORDERS, ONE_ORDER, AS_READ = (Order.AB, Order.BA), (Order.AB,), (Order.BA, Order.AB)


def random_items(count: int, spread: float) -> list[JudgedItem]:
    """Items with readings in one or both orders; some are not finite, some are unscored."""
    numbers = np.random.default_rng(int(spread * 10))
    items = []
    for place in range(count):
        orders = (BOTH_ORDERS, ONE_ORDER, AS_READ)[place % 3]
        rows = (-spread * np.abs(numbers.normal(size=(len(orders), 4)))).tolist()
        if place % 20 == 7:
            rows[0][2] = math.nan
        raw_predictions = {
            "safety": tuple(RawPrediction(order, tuple(row)) for order, row in zip(orders, rows, strict=True))
        }
        unscored = {"safety": "too long"} if place % 20 == 9 else {}
        items.append(JudgedItem(place, str(place), "hash", raw_predictions, unscored=unscored))
    return items


def one_by_one(item: JudgedItem, calibration: CriterionCalibration | None) -> Judgment | Unscored:
    """The rules of a decision as they are said in the design, for one item and step by step."""
    if "safety" in item.unscored:
        return Unscored(item.item_id, "safety", item.unscored["safety"])
    raw_predictions = item.raw_predictions["safety"]
    if not np.isfinite([reading.log_probs for reading in raw_predictions]).all():
        return Unscored(item.item_id, "safety", NOT_FINITE)
    own = []
    for reading in raw_predictions:
        a, b, both_good, both_bad = log_softmax(np.array(reading.log_probs))
        swapped = reading.order is Order.BA
        own.append([b, a, both_good, both_bad] if swapped else [a, b, both_good, both_bad])
    read = together = log_softmax(np.mean(own, axis=0))
    moved = None
    if calibration:
        together = log_softmax(calibration.scale * read + np.array(calibration.biases))
        other = np.array(calibration.biases)[[1, 0, 2, 3]] + calibration.scale * read
        moved = int(other.argmax()) != int(together.argmax()) if len(own) > 1 else None
    a, b, both_good, both_bad = np.exp(together).tolist()
    return Judgment(
        item.item_id,
        "safety",
        PREFERENCES[int(together.argmax())],
        (a, b, both_good, both_bad),
        len({int(np.argmax(scores)) for scores in own}) > 1 if len(own) > 1 else None,
        float(np.mean([reading.answer_mass for reading in raw_predictions])),
        raw_predictions,
        place_decides=moved,
    )


@pytest.mark.parametrize("calibration", [None, CriterionCalibration(0.7, (0.1, -0.3, 0.2, 0.0), 1.0, 50)])
@pytest.mark.parametrize("spread", [0.1, 1.0, 10.0, 300.0])
def test_items_decided_together_are_decided_as_one_by_one_to_the_last_bit(
    spread: float, calibration: CriterionCalibration | None
) -> None:
    items = random_items(300, spread)
    together = decide_all(items, "safety", calibration)
    assert list(together) == [one_by_one(item, calibration) for item in items]
    assert list(together) == [decide(item, "safety", calibration) for item in items]
    assert len({type(outcome) for outcome in together}) == 2


def test_of_no_items_nothing_is_decided() -> None:
    assert decide_all([], "safety") == ()


@pytest.mark.parametrize("orders", [BOTH_ORDERS, AS_READ])
def test_the_average_does_not_depend_on_what_was_read_first(orders: Sequence[Order]) -> None:
    seen = {Order.AB: (0.4, 0.1, 0.2, 0.1), Order.BA: (0.1, 0.1, 0.2, 0.1)}
    log_probs = average([reading(order, *seen[order]) for order in orders])
    assert np.exp(log_probs).sum() == pytest.approx(1)
    assert log_probs.tolist() == average([reading(order, *seen[order]) for order in BOTH_ORDERS]).tolist()
