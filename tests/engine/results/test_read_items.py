"""Readings as arrays: what counts how much in the mean, what each part says beside it, and of which items."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from engine.core.items import Method, Order
from engine.core.judgments import LENGTHS, Feature, FeatureKind, JudgedItem, RawPrediction
from engine.core.numeric import FloatArray, log_softmax
from engine.results.decision import (
    SWAPPED,
    CriterionPredictions,
    PredictionSource,
    RunPredictions,
    exchanged,
    of_order,
    parts_of,
)

AB, BA = Order
LETTERS, PERMUTED_LABELS, POINTWISE_GRADE = (
    Method.LABEL_TOKENS,
    Method.PERMUTED_LABELS,
    Method.POINTWISE_GRADE,
)
FOUR = (
    (-0.2, -2.0, -3.0, -4.0),
    (-3.0, -0.3, -1.5, -2.5),
    (-1.0, -2.0, -0.9, -3.0),
    (-2.0, -2.0, -2.0, -0.5),
)
RELEVANCE = Feature(FeatureKind.CRITERION, criterion="relevance")


def item(*raw_predictions: RawPrediction, number: int = 0, **more: Sequence[RawPrediction]) -> JudgedItem:
    """With readings on safety, and `more` on other criteria."""
    return JudgedItem(
        number, str(number), "hash", {"safety": raw_predictions, **{k: tuple(v) for k, v in more.items()}}
    )


def read_by(*asked: PredictionSource) -> list[RawPrediction]:
    return [
        RawPrediction(each.order, FOUR[at], each.method, judge=each.judge) for at, each in enumerate(asked)
    ]


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
        ([PredictionSource(0, LETTERS, BA)], [1]),
        (
            [
                PredictionSource(1, LETTERS, AB),
                PredictionSource(1, LETTERS, BA),
                PredictionSource(2, LETTERS, AB),
            ],
            [1 / 4, 1 / 4, 1 / 2],
        ),
        (
            [
                PredictionSource(0, LETTERS, AB),
                PredictionSource(0, POINTWISE_GRADE, AB),
                PredictionSource(0, LETTERS, BA),
            ],
            [1 / 4, 1 / 4, 1 / 2],
        ),
        (
            [
                PredictionSource(0, LETTERS, BA),
                PredictionSource(0, POINTWISE_GRADE, BA),
                PredictionSource(0, PERMUTED_LABELS, BA),
            ],
            [1 / 3] * 3,
        ),
        (
            [
                PredictionSource(1, LETTERS, AB),
                PredictionSource(1, POINTWISE_GRADE, AB),
                PredictionSource(1, LETTERS, BA),
                PredictionSource(2, POINTWISE_GRADE, BA),
            ],
            [1 / 8, 1 / 8, 1 / 4, 1 / 2],
        ),
    ],
    ids=["one", "judges alike", "orders alike", "ways alike", "judges, orders, ways"],
)
def test_judges_count_alike_orders_alike_within_a_judge_and_ways_alike_within_an_order(
    asked: list[PredictionSource], shares: list[float]
) -> None:
    raw_predictions = read_by(*asked)
    expected = sum(share * own(reading) for share, reading in zip(shares, raw_predictions, strict=True))
    (found,) = CriterionPredictions([item(*raw_predictions)], "safety").average()
    assert found == pytest.approx(log_softmax(np.asarray(expected)))


def test_of_some_of_the_readings_the_rest_takes_no_part() -> None:
    raw_predictions = read_by(
        PredictionSource(1, LETTERS, AB), PredictionSource(1, LETTERS, BA), PredictionSource(2, LETTERS, AB)
    )
    (found,) = CriterionPredictions([item(*raw_predictions)], "safety").average(of_order(AB))
    assert found == pytest.approx(log_softmax((own(raw_predictions[0]) + own(raw_predictions[2])) / 2))


def random_item(random: np.random.Generator, number: int) -> JudgedItem:
    """Read by some of two judges in some ways and orders, on two criteria."""
    all_methods = [
        PredictionSource(judge, method, order)
        for judge in (1, 2)
        for method in (LETTERS, POINTWISE_GRADE)
        for order in Order
    ]
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
        assert alone.of("safety").facts_of(0) == together.facts_of(place)
    backwards = RunPredictions(items[::-1]).part_values("safety", parts)
    assert np.array_equal(backwards[::-1], beside, equal_nan=True)


@pytest.mark.parametrize("value", [math.nan, -math.inf, math.inf])
def test_an_item_with_a_reading_that_is_not_finite_has_no_mean_but_one_of_its_other_order(
    value: float,
) -> None:
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
    assert read.facts_of(0).flipped is None
    assert read.facts_of(0).answer_mass is None


class TestPartValues:
    def test_of_readings_it_is_their_own_mean(self) -> None:
        raw_predictions = read_by(
            PredictionSource(0, LETTERS, AB),
            PredictionSource(0, LETTERS, BA),
            PredictionSource(0, POINTWISE_GRADE, AB),
        )
        letters, swapped, graded = map(own, raw_predictions)
        parts = [part(0, LETTERS), part(0, POINTWISE_GRADE), part(0, LETTERS, BA), part(0)]
        found = RunPredictions([item(*raw_predictions)]).part_values("safety", parts)[0]
        mean = (letters + graded) / 4 + swapped / 2
        for values, said in zip(found, [(letters + swapped) / 2, graded, swapped, mean], strict=True):
            assert values == pytest.approx(centred(said))

    def test_of_another_criterion_it_is_what_its_readings_say(self) -> None:
        judged = item(
            RawPrediction(AB, FOUR[0]),
            relevance=read_by(PredictionSource(0, LETTERS, AB), PredictionSource(0, LETTERS, BA)),
        )
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
        raw_predictions = read_by(
            PredictionSource(0, LETTERS, AB),
            PredictionSource(0, LETTERS, BA),
            PredictionSource(0, POINTWISE_GRADE, AB),
        )
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
        assert exchanged(
            [part(1, POINTWISE_GRADE, AB), part(1, POINTWISE_GRADE, BA), part(2, LETTERS), RELEVANCE, LENGTHS]
        ) == [
            part(1, POINTWISE_GRADE, BA),
            part(1, POINTWISE_GRADE, AB),
            part(2, LETTERS),
            RELEVANCE,
            LENGTHS,
        ]

    def test_it_says_of_items_in_the_other_places_what_was_said_of_them_here(self) -> None:
        random = np.random.default_rng(0)
        items = [random_item(random, number) for number in range(30)]
        there = [_in_the_other_places(each) for each in items]
        parts = parts_of(RunPredictions(items), "safety", ["relevance"], by_order=True, lengths=True)
        said = RunPredictions(items).part_values("safety", exchanged(parts))[..., SWAPPED]
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
        PredictionSource(2, LETTERS, AB),
        PredictionSource(1, POINTWISE_GRADE, BA),
        PredictionSource(1, LETTERS, AB),
        PredictionSource(2, LETTERS, BA),
    )

    def test_each_judge_and_way_in_their_order(self) -> None:
        found = parts_of(
            RunPredictions([item(*self.RAW_PREDICTIONS)]), "safety", (), by_order=False, lengths=False
        )
        assert found == (part(1, LETTERS), part(1, POINTWISE_GRADE), part(2, LETTERS))

    def test_each_order_too_where_that_is_asked_then_other_criteria_and_lengths(self) -> None:
        found = parts_of(
            RunPredictions([item(*self.RAW_PREDICTIONS)]),
            "safety",
            ["relevance"],
            by_order=True,
            lengths=True,
        )
        raw_predictions = (
            part(1, LETTERS, AB),
            part(1, POINTWISE_GRADE, BA),
            part(2, LETTERS, AB),
            part(2, LETTERS, BA),
        )
        assert found == (*raw_predictions, RELEVANCE, LENGTHS)

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
        read = CriterionPredictions(
            [item(*self.FLIPPING), item(*read_by(PredictionSource(0, LETTERS, AB)))], "safety"
        )
        assert [read.facts_of(place).flipped for place in (0, 1)] == [True, None]
        assert (read.twice, read.in_both) == ([True, False], [True, False])

    def test_of_a_panel_no_flip_is_known_and_it_is_in_both_orders_where_each_judge_is(self) -> None:
        panel = [replace(reading, judge=judge) for judge in (1, 2) for reading in self.FLIPPING]
        read = CriterionPredictions([item(*panel), item(panel[0])], "safety")
        assert [read.facts_of(place).flipped for place in (0, 1)] == [None, None]
        assert (read.twice, read.in_both) == ([False, False], [True, False])

    def test_the_mass_is_the_mean_of_what_the_labels_held(self) -> None:
        raw_predictions = [
            RawPrediction(order, (math.log(share),) * 4) for order, share in ((AB, 0.1), (BA, 0.2))
        ]
        assert CriterionPredictions([item(*raw_predictions)], "safety").facts_of(
            0
        ).answer_mass == pytest.approx(0.6)
