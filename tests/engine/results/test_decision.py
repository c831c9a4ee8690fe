"""Readings to judgments: un-swap, average, decide, or say why not; readings of many items as arrays."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from engine.core.items import PREFERENCES, Method, Order, Preference
from engine.core.judgments import (
    LENGTHS,
    CriterionCalibration,
    Explanation,
    Feature,
    FeatureKind,
    JudgedItem,
    Judgment,
    RawPrediction,
    Unscored,
)
from engine.core.numeric import FloatArray, log_softmax
from engine.results import decision
from engine.results.decision import CriterionPredictions, RunPredictions, decide, of_order, parts_of


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


BOTH_ORDERS, ONE_ORDER, AS_READ = (Order.AB, Order.BA), (Order.AB,), (Order.BA, Order.AB)


def random_items(count: int, spread: float) -> list[JudgedItem]:
    """Items with readings in one or both orders; some are not finite, some are unscored."""
    numbers = np.random.default_rng(int(spread * 10))
    items = []
    for place in range(count):
        orders = (BOTH_ORDERS, ONE_ORDER, AS_READ)[place % 3]
        rows = (-spread * np.abs(numbers.normal(size=(len(orders), 4)))).tolist()
        if place % 20 in (7, 11):
            rows[0][2] = math.nan if place % 20 == 7 else -math.inf
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
        return Unscored(item.item_id, "safety", decision.NOT_FINITE)
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
    together = decision.decide_all(items, "safety", calibration)
    assert list(together) == [one_by_one(item, calibration) for item in items]
    assert list(together) == [decide(item, "safety", calibration) for item in items]
    assert decision.decide_all([], "safety", calibration) == ()
    assert len({type(outcome) for outcome in together}) == 2


# Readings as arrays: what counts how much in the mean, what each part says beside it, and of which items.


AB, BA = Order
by = decision.PredictionSource
LETTERS, PERMUTED_LABELS = Method.LABEL_TOKENS, Method.PERMUTED_LABELS
POINTWISE_GRADE = Method.POINTWISE_GRADE
FOUR = ((-0.2, -2, -3, -4), (-3, -0.3, -1.5, -2.5), (-1, -2, -0.9, -3), (-2, -2, -2, -0.5))
RELEVANCE = Feature(FeatureKind.CRITERION, criterion="relevance")


def item(*raw_predictions: RawPrediction, number: int = 0, **more: Sequence[RawPrediction]) -> JudgedItem:
    """With readings on safety, and `more` on other criteria."""
    return JudgedItem(
        number, str(number), "hash", {"safety": raw_predictions, **{k: tuple(v) for k, v in more.items()}}
    )


def read_by(*asked: decision.PredictionSource) -> list[RawPrediction]:
    return [RawPrediction(one.order, FOUR[at], one.method, judge=one.judge) for at, one in enumerate(asked)]


def own(reading: RawPrediction) -> FloatArray:
    """As log-probabilities among the four labels of the item's own A and B."""
    values = log_softmax(np.array(reading.log_probs))
    return values if reading.order is AB else values[[1, 0, 2, 3]]


def part(judge: int, method: Method | None = None, order: Order | None = None) -> Feature:
    return Feature(FeatureKind.RAW_PREDICTIONS, judge, method, order)


def centred(values: FloatArray) -> FloatArray:
    return np.asarray(values - values.mean())


@pytest.mark.parametrize(
    ("asked", "shares"),
    [
        ([by(0, LETTERS, BA)], [1]),
        ([by(1, LETTERS, AB), by(1, LETTERS, BA), by(2, LETTERS, AB)], [1 / 4, 1 / 4, 1 / 2]),
        ([by(0, LETTERS, AB), by(0, POINTWISE_GRADE, AB), by(0, LETTERS, BA)], [1 / 4, 1 / 4, 1 / 2]),
        ([by(0, LETTERS, BA), by(0, POINTWISE_GRADE, BA), by(0, PERMUTED_LABELS, BA)], [1 / 3] * 3),
        (
            [by(1, LETTERS, AB), by(1, POINTWISE_GRADE, AB), by(1, LETTERS, BA), by(2, POINTWISE_GRADE, BA)],
            [1 / 8, 1 / 8, 1 / 4, 1 / 2],
        ),
    ],
    ids=["one", "judges alike", "orders alike", "ways alike", "judges, orders, ways"],
)
def test_judges_count_alike_orders_alike_within_a_judge_and_ways_alike_within_an_order(
    asked: list[decision.PredictionSource], shares: list[float]
) -> None:
    raw_predictions = read_by(*asked)
    expected = sum(share * own(reading) for share, reading in zip(shares, raw_predictions, strict=True))
    (found,) = CriterionPredictions([item(*raw_predictions)], "safety").average()
    assert found == pytest.approx(log_softmax(np.asarray(expected)))


def test_of_some_of_the_readings_the_rest_takes_no_part() -> None:
    raw_predictions = read_by(by(1, LETTERS, AB), by(1, LETTERS, BA), by(2, LETTERS, AB))
    (found,) = CriterionPredictions([item(*raw_predictions)], "safety").average(of_order(AB))
    assert found == pytest.approx(log_softmax((own(raw_predictions[0]) + own(raw_predictions[2])) / 2))


def random_item(random: np.random.Generator, number: int) -> JudgedItem:
    """Read by some of two judges in some ways and orders, on two criteria."""
    all_methods = [by(*each) for each in product((1, 2), (LETTERS, POINTWISE_GRADE), Order)]
    raw_predictions = {}
    for name in ("safety", "relevance"):
        chosen = [each for each in all_methods if random.random() < 0.6]
        rows = random.normal(0, 3, (len(chosen), 4)).tolist()
        raw_predictions[name] = tuple(
            RawPrediction(each.order, (a, b, good, bad), each.method, judge=each.judge)
            for each, (a, b, good, bad) in zip(chosen, rows, strict=True)
        )
    a, b = random.integers(1000, size=2).tolist()
    return JudgedItem(number, str(number), "hash", raw_predictions, lengths=(a, b))


def test_what_is_found_of_an_item_does_not_depend_on_the_others_to_the_last_bit() -> None:
    random = np.random.default_rng(0)
    items = [random_item(random, number) for number in range(80)]
    run = RunPredictions(items)
    parts = (*parts_of(run, "safety", ["relevance"], by_order=True, lengths=True), part(2, LETTERS))
    together, beside = run.of("safety"), run.part_values("safety", parts)
    assert len(parts) == 11
    for place, each in enumerate(items):
        alone = RunPredictions([each])
        assert np.array_equal(alone.of("safety").mean[0], together.mean[place], equal_nan=True)
        assert np.array_equal(alone.part_values("safety", parts)[0], beside[place], equal_nan=True)
        assert alone.of("safety").facts[0] == together.facts[place]
    backwards = RunPredictions(items[::-1]).part_values("safety", parts)
    assert np.array_equal(backwards[::-1], beside, equal_nan=True)


@pytest.mark.parametrize("value", [math.nan, -math.inf, math.inf])
def test_an_item_with_a_reading_that_is_not_finite_has_no_mean_but_of_its_other_order(value: float) -> None:
    raw_predictions = (RawPrediction(AB, FOUR[0]), RawPrediction(BA, (-1.0, value, -1.0, -1.0)))
    read = CriterionPredictions([item(*raw_predictions), item(RawPrediction(AB, FOUR[1]))], "safety")
    assert np.isnan(read.mean[0]).all()
    assert np.isfinite(read.mean[1]).all()
    assert read.average(of_order(AB))[0] == pytest.approx(own(raw_predictions[0]))
    assert np.isnan(read.average(of_order(BA))).all()


@pytest.mark.parametrize(
    "judged",
    [
        item(),
        JudgedItem(0, "0", "hash", {}),
        replace(item(RawPrediction(AB, FOUR[0])), unscored={"safety": "too long"}),
    ],
    ids=["no reading", "no criterion", "unscored"],
)
def test_an_item_that_was_not_judged_has_no_mean(judged: JudgedItem) -> None:
    read = CriterionPredictions([judged, item(RawPrediction(AB, FOUR[1]))], "safety")
    assert np.isnan(read.mean).all(axis=1).tolist() == [True, False]
    assert read.facts[0].flipped is None
    assert read.facts[0].answer_mass is None


class TestPartValues:
    def test_of_readings_it_is_their_own_mean(self) -> None:
        raw_predictions = read_by(by(0, LETTERS, AB), by(0, LETTERS, BA), by(0, POINTWISE_GRADE, AB))
        letters, swapped, graded = map(own, raw_predictions)
        parts = [part(0, LETTERS), part(0, POINTWISE_GRADE), part(0, LETTERS, BA), part(0)]
        found = RunPredictions([item(*raw_predictions)]).part_values("safety", parts)[0]
        mean = (letters + graded) / 4 + swapped / 2
        for values, said in zip(found, [(letters + swapped) / 2, graded, swapped, mean], strict=True):
            assert values == pytest.approx(centred(said))

    def test_of_another_criterion_it_is_what_its_readings_say(self) -> None:
        judged = item(RawPrediction(AB, FOUR[0]), relevance=read_by(by(0, LETTERS, AB), by(0, LETTERS, BA)))
        (found,) = RunPredictions([judged]).part_values("safety", [RELEVANCE])[0]
        first, second = map(own, judged.raw_predictions["relevance"])
        assert found == pytest.approx(centred((first + second) / 2))

    def test_of_lengths_it_is_their_ratio_for_a_and_its_opposite_for_b(self) -> None:
        judged = replace(item(RawPrediction(AB, FOUR[0])), lengths=(299, 99))
        (found,) = RunPredictions([judged]).part_values("safety", [LENGTHS])[0]
        assert found == pytest.approx([math.log(3), -math.log(3), 0, 0])

    def test_what_is_missing_is_not_known(self) -> None:
        parts = [part(0, POINTWISE_GRADE), part(1, LETTERS), part(0, LETTERS, BA), RELEVANCE, LENGTHS]
        values = RunPredictions([item(RawPrediction(AB, FOUR[0])), item()]).part_values("safety", parts)
        assert np.isnan(values).all()

    def test_of_some_of_the_readings_the_rest_is_not_known(self) -> None:
        raw_predictions = read_by(by(0, LETTERS, AB), by(0, LETTERS, BA), by(0, POINTWISE_GRADE, AB))
        run = RunPredictions([item(*raw_predictions, relevance=raw_predictions)])
        parts = [part(0, POINTWISE_GRADE), part(0, LETTERS, BA), RELEVANCE]
        graded, second, other = run.part_values("safety", parts, of_order(AB))[0]
        assert graded == pytest.approx(centred(own(raw_predictions[2])))
        assert np.isnan(second).all()
        assert other == pytest.approx(centred((own(raw_predictions[0]) + own(raw_predictions[2])) / 2))

    def test_no_label_is_preferred_in_all(self) -> None:
        items = [random_item(np.random.default_rng(seed), seed) for seed in range(20)]
        run = RunPredictions(items)
        parts = parts_of(run, "safety", ["relevance"], by_order=False, lengths=True)
        values = run.part_values("safety", parts)
        assert np.nanmax(np.abs(values), axis=(0, 2)).min() > 0
        assert np.nan_to_num(values.sum(axis=2)) == pytest.approx(np.zeros(values.shape[:2]), abs=1e-12)


class TestExchanged:
    def test_what_was_ab_is_ba_and_the_rest_stays(self) -> None:
        first, second = part(1, POINTWISE_GRADE, AB), part(1, POINTWISE_GRADE, BA)
        rest = [part(2, LETTERS), RELEVANCE, LENGTHS]
        assert decision.exchanged([first, second, *rest]) == [second, first, *rest]

    def test_it_says_of_items_in_the_other_places_what_was_said_of_them_here(self) -> None:
        random = np.random.default_rng(0)
        items = [random_item(random, number) for number in range(30)]
        there = [_in_the_other_places(each) for each in items]
        parts = parts_of(RunPredictions(items), "safety", ["relevance"], by_order=True, lengths=True)
        said = RunPredictions(items).part_values("safety", decision.exchanged(parts))[..., decision.SWAPPED]
        assert RunPredictions(there).part_values("safety", parts) == pytest.approx(
            said, abs=1e-12, nan_ok=True
        )


def _in_the_other_places(judged: JudgedItem) -> JudgedItem:
    raw_predictions = {
        name: tuple(replace(reading, order=BA if reading.order is AB else AB) for reading in own)
        for name, own in judged.raw_predictions.items()
    }
    return replace(judged, raw_predictions=raw_predictions, lengths=judged.lengths and judged.lengths[::-1])


class TestPartsOf:
    RAW_PREDICTIONS = read_by(
        by(2, LETTERS, AB), by(1, POINTWISE_GRADE, BA), by(1, LETTERS, AB), by(2, LETTERS, BA)
    )

    def test_each_judge_and_way_in_their_order(self) -> None:
        run = RunPredictions([item(*self.RAW_PREDICTIONS)])
        found = parts_of(run, "safety", (), by_order=False, lengths=False)
        assert found == (part(1, LETTERS), part(1, POINTWISE_GRADE), part(2, LETTERS))

    def test_each_order_too_where_that_is_asked_then_other_criteria_and_lengths(self) -> None:
        run = RunPredictions([item(*self.RAW_PREDICTIONS)])
        found = parts_of(run, "safety", ["relevance"], by_order=True, lengths=True)
        graded = (part(1, LETTERS, AB), part(1, POINTWISE_GRADE, BA))
        assert found == (*graded, part(2, LETTERS, AB), part(2, LETTERS, BA), RELEVANCE, LENGTHS)

    def test_they_are_of_all_items_together(self) -> None:
        run = RunPredictions([item(self.RAW_PREDICTIONS[0]), item(self.RAW_PREDICTIONS[2])])
        found = parts_of(run, "safety", (), by_order=False, lengths=False)
        assert found == (part(1, LETTERS), part(2, LETTERS))

    @pytest.mark.parametrize(
        ("by_order", "expected"), [(False, ()), (True, (part(0, LETTERS, AB), part(0, LETTERS, BA)))]
    )
    def test_one_way_alone_is_no_part_beside_its_own_mean(
        self, by_order: bool, expected: tuple[Feature, ...]
    ) -> None:
        run = RunPredictions([item(RawPrediction(AB, FOUR[0]), RawPrediction(BA, FOUR[0]))])
        assert parts_of(run, "safety", (), by_order=by_order, lengths=False) == expected


class TestFacts:
    FLIPPING = (RawPrediction(AB, FOUR[0]), RawPrediction(BA, FOUR[0]))

    def test_a_judge_whose_orders_disagree_flips(self) -> None:
        read = CriterionPredictions([item(*self.FLIPPING), item(*read_by(by(0, LETTERS, AB)))], "safety")
        assert [read.facts[place].flipped for place in (0, 1)] == [True, None]
        assert (read.twice, read.in_both) == ([True, False], [True, False])

    def test_of_a_panel_no_flip_is_known_and_it_is_in_both_orders_where_each_judge_is(self) -> None:
        panel = [replace(reading, judge=judge) for judge in (1, 2) for reading in self.FLIPPING]
        read = CriterionPredictions([item(*panel), item(panel[0])], "safety")
        assert [read.facts[place].flipped for place in (0, 1)] == [None, None]
        assert (read.twice, read.in_both) == ([False, False], [True, False])

    def test_the_mass_is_the_mean_of_what_the_labels_held(self) -> None:
        raw_predictions = [
            RawPrediction(order, (math.log(share),) * 4) for order, share in ((AB, 0.1), (BA, 0.2))
        ]
        (facts,) = CriterionPredictions([item(*raw_predictions)], "safety").facts
        assert facts.answer_mass == pytest.approx(0.6)
