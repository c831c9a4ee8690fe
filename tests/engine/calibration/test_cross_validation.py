"""Calibration on simulated judges: it mends a biased one, and takes nothing from the most frequent label. The
bars were measured on more seeds than run here: of 2,400 judges without information on 99 items, none fell
more than 1.1 points below it.
"""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import log_loss

from bench.coverage.fits import calibrate_criterion, fit_calibration, fit_with_penalty
from engine.calibration import fitting
from engine.calibration.fitting import AS_READ, LEAST_FOR_PREDICTIONS, STRENGTHS
from engine.calibration.scaling import PSEUDO_COUNT, log_frequencies, quality, reliability, solve
from engine.core.errors import SetupError
from engine.core.items import PREFERENCES
from engine.core.judgments import CriterionCalibration
from engine.core.numeric import FloatArray, IntArray, log_softmax
from engine.data.dataset import load_dataset
from engine.metrics.accuracy import most_frequent_label
from engine.metrics.intervals import Fold, grouped_folds
from engine.results.decision import SWAPPED, calibrated
from tests.engine.calibration.simulated import (
    FONDNESS,
    SKEWS,
    TRUE_SCALE,
    biased_judge,
    good_judge,
    uninformed,
    without_polarity,
)

TWO_POINTS = 0.02


def shares(labels: IntArray) -> FloatArray:
    return np.bincount(labels, minlength=4) / len(labels)


class TestWithoutInformation:
    @pytest.mark.parametrize("skew", SKEWS.values(), ids=SKEWS)
    def test_99_items_hold_the_most_frequent_label(self, skew: tuple[float, ...]) -> None:
        reports = [uninformed(skew, 99, seed) for seed in range(3)]
        for report in reports:
            assert report.after.log_loss <= report.baseline.log_loss + 0.02
        # In the mean: where two labels are exactly as frequent the readings decide, by chance.
        lost = [report.baseline.accuracy - report.after.accuracy for report in reports]
        assert np.mean(lost) <= TWO_POINTS

    @pytest.mark.slow
    @pytest.mark.parametrize("items", [6, 20])  # too few to fit anything, and enough
    @pytest.mark.parametrize("skew", ["relevance", "safety", "balanced"])
    def test_few_labels_hardly_hurt(self, skew: str, items: int) -> None:
        reports = [uninformed(SKEWS[skew], items, seed) for seed in range(12)]
        assert np.mean([report.after.log_loss - report.baseline.log_loss for report in reports]) < 0.02
        assert not any(report.helps_significantly for report in reports)

    def test_random_readings_on_the_development_set(self, shared_data: Path) -> None:
        dataset = load_dataset(shared_data / "eloquent" / "validation.tsv")
        rng = np.random.default_rng(0)
        for name in dataset.criteria:
            gold = [(item.instruction, item.gold[name].label) for item in dataset if name in item.gold]
            labels = np.array([PREFERENCES.index(label) for _, label in gold if label])
            groups = [instruction for instruction, label in gold if label]
            log_probs = log_softmax(rng.normal(0, 2, (len(labels), 4)))
            report = calibrate_criterion(name, log_probs, labels, groups)
            assert report.after.accuracy >= report.baseline.accuracy - TWO_POINTS, name


class TestABiasedJudge:
    @pytest.mark.parametrize("items", [99, 400])
    @pytest.mark.parametrize("seed", range(2))
    def test_it_beats_itself_and_the_most_frequent_label_and_gives_labels_as_often_as_people(
        self, items: int, seed: int
    ) -> None:
        log_probs, labels, groups = biased_judge(items, seed)
        report = calibrate_criterion("planted", log_probs, labels, groups)
        for other in (report.before, report.baseline):
            assert report.after.accuracy > other.accuracy + 0.05
            assert report.after.log_loss < other.log_loss - 0.1
        human, probabilities = shares(labels), np.exp(report.log_probs_after[0])
        assert shares(log_probs.argmax(axis=1))[0] > human[0] + 0.12
        assert np.abs(shares(probabilities.argmax(axis=1)) - human).max() < 0.08
        assert np.abs(probabilities.mean(axis=0) - human).max() < 0.03
        assert report.before.calibration_error > 0.2
        assert report.after.calibration_error < (0.06 if items == 400 else 0.2)

    def test_scale_and_biases_are_recovered(self) -> None:
        log_probs, labels, groups = biased_judge(4000, 0)
        true = np.log(SKEWS["relevance"]) - np.array([FONDNESS, 0, 0, 0])
        found = fit_calibration(log_probs, labels, groups)
        assert found.scale == pytest.approx(TRUE_SCALE, abs=0.04)
        assert np.array(found.biases) == pytest.approx(true - true.mean(), abs=0.4)

    def test_a_judge_that_is_always_right_stays_so(self) -> None:
        log_probs = np.random.default_rng(0).normal(0, 3, (240, 4))
        report = calibrate_criterion("right", log_probs, log_probs.argmax(axis=1), range(240))
        assert report.before.accuracy == 1
        assert report.after.accuracy > 0.97


class TestTiesWithoutPolarity:
    """Measured on 20 seeds with 200 labels: the docs have the table."""

    @pytest.mark.parametrize("hidden", [0.5, 1.0])
    def test_they_are_worth_nearly_as_much_as_labels_and_more_than_none(self, hidden: float) -> None:
        losses = np.array([self.losses(seed, hidden) for seed in range(3)]).mean(axis=0)
        known, with_ties, without, as_good = losses
        assert with_ties < known + 0.02
        assert with_ties < without
        assert without < as_good

    @staticmethod
    def losses(seed: int, hidden: float) -> list[float]:
        """True log-losses of calibrations: by all labels, with ties, without, with both good for each."""
        log_probs, true, groups = biased_judge(1200, seed, SKEWS["balanced"])
        train, test = np.arange(200), np.arange(200, 1200)
        said = without_polarity(true, seed, hidden)
        known = train[said[train] < len(PREFERENCES)]
        found, both_good = [], np.where(said == len(PREFERENCES), 2, said)
        for labels, places in ((true, train), (said, train), (said, known), (both_good, train)):
            instructions = [groups[place] for place in places]
            fitted = fit_calibration(log_probs[places], labels[places], instructions)
            found.append(quality(calibrated(log_probs[test], fitted), true[test]).log_loss)
        return found


class TestGroups:
    def test_an_instruction_is_never_on_both_sides(self) -> None:
        """Were rows of it on both sides, its label would be predicted sometimes."""
        labels = np.repeat([0, 1], 30)
        report = calibrate_criterion("leak", np.zeros((60, 4)), labels, ["one"] * 30 + ["other"] * 30)
        assert (report.after.accuracy, report.baseline.accuracy) == (0, 0)

    def test_swapped_duplicates_are_never_on_both_sides(self, monkeypatch: pytest.MonkeyPatch) -> None:
        seen: list[tuple[set[str], set[str]]] = []
        instructions = [f"instruction {number}" for number in [*range(40), *range(40)]]

        def watched(groups: list[str], folds: int) -> list[Fold]:
            assert set(groups) <= set(instructions)
            found = grouped_folds(groups, folds)
            seen.extend(({groups[i] for i in train}, {groups[i] for i in test}) for train, test in found)
            return found

        monkeypatch.setattr(fitting, "grouped_folds", watched)
        log_probs, labels, _ = biased_judge(40, 0)
        twice = np.concatenate([log_probs, log_probs[:, SWAPPED]])
        both = np.concatenate([labels, np.array(SWAPPED)[labels]])
        calibrate_criterion("swapped", twice, both, instructions)
        assert len(seen) == 10 + 11 * 5
        assert not any(train & test for train, test in seen)

    def test_copies_of_an_item_do_not_make_noise_look_like_knowledge(self) -> None:
        """12 items, 20 copies of each: told apart, their noise is learned by heart and found again."""
        used, used_by_a_leak = 0, 0
        for seed in range(15):
            rng = np.random.default_rng(seed)
            log_probs = np.repeat(log_softmax(rng.normal(0, 2, (12, 4))), 20, axis=0)
            labels = np.repeat(rng.integers(0, 4, 12), 20)
            groups = np.repeat(np.arange(12), 20).tolist()
            used += fit_calibration(log_probs, labels, groups).strength is not None
            used_by_a_leak += fit_calibration(log_probs, labels, range(240)).strength is not None
        assert used_by_a_leak >= 2 * used


class TestFewLabels:
    @pytest.mark.slow
    @pytest.mark.parametrize("items", [9, 20])
    def test_a_judge_that_is_good_already_stays_good(self, items: int) -> None:
        reports = [good_judge(items, seed) for seed in range(6)]
        lost = [report.before.accuracy - report.after.accuracy for report in reports]
        assert np.mean([report.before.accuracy for report in reports]) > 0.9
        assert np.mean(lost) < 0.05

    @pytest.mark.parametrize("items", [2, 5, 10, 13])
    def test_two_and_more_instructions_are_enough(self, items: int) -> None:
        report = calibrate_criterion("few", *biased_judge(items, 1)[:2], range(items))
        assert (report.items, report.instructions, report.calibration.items) == (items, items, items)
        assert np.exp(report.log_probs_after[0]).sum(axis=1) == pytest.approx(np.ones(items))

    @pytest.mark.parametrize(
        ("items", "said"), [(0, "0 human labels"), (1, "1 human label of"), (3, "3 human labels")]
    )
    def test_fewer_than_two_instructions_are_refused_by_name(self, items: int, said: str) -> None:
        with pytest.raises(SetupError, match=f"Criterion safety: {said}"):
            calibrate_criterion("safety", np.zeros((items, 4)), np.zeros(items, int), ["the same"] * items)

    def test_below_the_least_number_only_frequencies_are_learned(self) -> None:
        log_probs, labels, _ = biased_judge(LEAST_FOR_PREDICTIONS - 1, 0)
        found = fit_calibration(log_probs, labels, range(len(labels)))
        assert (found.scale, found.strength) == (0, None)
        assert calibrated(log_probs[0], found) == pytest.approx(log_frequencies(labels))

    @pytest.mark.parametrize("present", [[0], [2], [3], [0, 2], [1, 2, 3]])
    def test_labels_that_never_occur(self, present: list[int]) -> None:
        log_probs = biased_judge(60, 2)[0]
        labels = np.array(present)[np.arange(60) % len(present)]
        report = calibrate_criterion("rare", log_probs, labels, range(60))
        assert np.isfinite(report.after.log_loss)
        assert report.after.accuracy >= report.baseline.accuracy - TWO_POINTS

    @pytest.mark.parametrize("labels", [[0], [3, 3, 1, 1], [2, 1], [0, 1, 2, 3, 3, 2], [1] * 9 + [2] * 9])
    def test_infinite_strength_is_the_most_frequent_label(self, labels: list[int]) -> None:
        found = fit_calibration(np.zeros((len(labels), 4)), np.array(labels), ["one"] * len(labels))
        decided = calibrated(np.array([-9.0, -0.1, -5.0, -3.0]), found)
        assert PREFERENCES[int(decided.argmax())] is most_frequent_label([PREFERENCES[i] for i in labels])
        counts = np.bincount(labels, minlength=4) + PSEUDO_COUNT
        assert np.exp(decided) == pytest.approx(counts / counts.sum())
        assert sum(found.biases) == pytest.approx(0)


class TestStrength:
    @pytest.mark.parametrize(
        ("gains", "expected"),
        [
            ([0.5, 0.5], STRENGTHS[3]),  # of equally good ones the stronger
            ([3.0, -2.0], STRENGTHS[3]),  # better in the mean, not surely
            ([0.5, -0.5], None),  # as good as the frequencies
            ([-0.5, -0.5], None),
        ],
    )
    def test_the_least_loss_decides(
        self, monkeypatch: pytest.MonkeyPatch, gains: list[float], expected: float | None
    ) -> None:
        """The third and the fourth strength are better than the frequencies by `gains`."""
        frequencies = np.full(20, 5.0)
        losses = np.full((len(STRENGTHS), 20), 9.0)
        losses[2:4] = frequencies - np.tile(gains, 10)
        monkeypatch.setattr(fitting, "_inner_losses", lambda *_: (frequencies, losses))
        assert fit_calibration(np.zeros((20, 4)), np.zeros(20, int), range(20)).strength == expected

    def test_what_is_too_few_to_fit_leaves_good_readings_as_they_are(self) -> None:
        good = np.tile([-0.3, -3.0, -3.0, -3.0], (9, 1))
        good[::2] = good[::2, SWAPPED]
        found = fit_calibration(good, np.arange(1, 10) % 2, range(9))
        assert (found.strength, found.scale, found.biases) == (AS_READ, 1.0, (0.0, 0.0, 0.0, 0.0))

    def test_the_gain_is_that_over_the_frequencies(self) -> None:
        found = calibrate_criterion("planted", *biased_judge(99, 0))
        assert found.gain == pytest.approx(found.baseline.log_loss - found.after.log_loss)
        assert found.gain_interval is not None
        assert found.gain_interval.low < found.gain < found.gain_interval.high
        assert found.helps_significantly


class TestAAndBAlike:
    @pytest.mark.parametrize("hidden", [0.0, 0.5])
    def test_no_label_depends_on_the_place(self, hidden: float) -> None:
        log_probs, labels, groups = biased_judge(99, 0)
        said = without_polarity(labels, 0, hidden)
        found = fit_calibration(log_probs, said, groups, others=log_probs[:, SWAPPED])
        a, b, *_ = found.biases
        assert a == b
        assert found.scale > 0
        free = fit_calibration(log_probs, said, groups)
        assert free.biases[0] < free.biases[1] - 0.5  # it is fond of A
        assert found.biases[2:] == pytest.approx(free.biases[2:], abs=0.8)

    def test_it_is_the_fit_to_all_items_in_both_places_at_half_their_weight(self) -> None:
        log_probs, labels, groups = biased_judge(60, 1)
        twice = np.concatenate([log_probs, log_probs[:, SWAPPED]])
        both = solve(twice, np.concatenate([labels, np.array(SWAPPED)[labels]]), [3.0], views=2)
        found = fit_with_penalty(3.0, log_probs, labels, groups, log_probs[:, SWAPPED])
        assert found.scale == pytest.approx(both.scales[0])
        assert found.biases == pytest.approx(both.biases[0] - both.biases[0].mean(), abs=1e-6)
        heavier = solve(twice, np.concatenate([labels, np.array(SWAPPED)[labels]]), [3.0])
        assert heavier.scales[0] > both.scales[0]  # as if there were twice as many labels

    def test_frequencies_are_the_mean_of_both_and_the_baseline_gives_neither_place_more(self) -> None:
        labels = np.array([0] * 30 + [1] * 10 + [2] * 10)
        read = log_softmax(np.random.default_rng(0).normal(size=(50, 4)))
        report = calibrate_criterion("noise", read, labels, range(50), others=read[:, SWAPPED])
        assert report.calibration.strength is None
        assert calibrated(read[0], report.calibration)[:2] == pytest.approx(np.log([20.5 / 52] * 2))
        assert report.baseline.accuracy == pytest.approx(0.4)

    def test_the_leaning_of_one_order_is_mended_by_what_the_other_says(self) -> None:
        """Whatever is shown first is read as better. That most labels are A is no reason to believe it."""
        log_probs, labels, groups = biased_judge(400, 0, SKEWS["naturalness"])
        token_bias = np.array([3.0, 0, 0, 0])
        first, second = log_probs + token_bias, log_probs[:, SWAPPED] + token_bias
        found = fit_with_penalty(0.1, first, labels, groups, second)
        assert found.biases[1] - found.biases[0] == pytest.approx(3 * found.scale, abs=0.1)


class TestQuality:
    def test_by_hand(self) -> None:
        log_probs = np.log([[0.7, 0.1, 0.1, 0.1], [0.2, 0.65, 0.1, 0.05], [0.25, 0.25, 0.25, 0.25]])
        found = quality(log_probs, np.array([0, 2, 0]))
        assert found.accuracy == pytest.approx(2 / 3)
        assert found.log_loss == pytest.approx(-np.log(0.7 * 0.1 * 0.25) / 3)
        # (0.6, 0.7]: two items, confidence 0.675, accuracy 0.5; (0.2, 0.3]: one of 0.25, right.
        assert found.calibration_error == pytest.approx((2 * 0.175 + 0.75) / 3)

    def test_a_tie_has_the_probability_of_both_its_labels(self) -> None:
        log_probs = np.log([[0.1, 0.1, 0.3, 0.5], [0.4, 0.1, 0.3, 0.2]])
        found = quality(log_probs, np.array([4, 4]))
        assert found.accuracy == 0.5
        assert found.log_loss == pytest.approx(-np.log([0.8, 0.5]).mean())
        certain_error = log_softmax(np.array([[0.0, -1e4, -1e4, -1e4]]))
        assert quality(certain_error, np.array([1])).log_loss == pytest.approx(-np.log(np.finfo(float).eps))

    def test_the_report_measures_the_probabilities_that_it_holds(self) -> None:
        log_probs, labels, groups = biased_judge(99, 0)
        report = calibrate_criterion("planted", log_probs, labels, groups)
        again = calibrate_criterion("planted", log_probs, labels, groups)
        assert report == again
        assert np.array_equal(report.log_probs_after, again.log_probs_after)
        assert report.before == quality(log_probs, labels)
        after = log_loss(labels, np.exp(report.log_probs_after[0]), labels=range(4))
        assert report.after.log_loss == pytest.approx(after)
        assert report.baseline.accuracy == pytest.approx(np.mean(labels == np.bincount(labels).argmax()))


class TestReliability:
    def test_a_bin_holds_its_upper_edge(self) -> None:
        rows = [[p, 1 - p, 0, 0] for p in (0.5, 0.75, 0.76, 1.0)]
        found = reliability(np.array(rows), np.array([0, 1, 0, 1]), bins=4)
        assert [(part.low, part.high, part.count, part.confidence, part.accuracy) for part in found] == [
            (0.25, 0.5, 1, 0.5, 1.0),
            (0.5, 0.75, 1, 0.75, 0.0),
            (0.75, 1.0, 2, 0.88, 0.5),
        ]

    def test_a_probability_that_rounding_lifts_above_1(self) -> None:
        (found,) = reliability(np.array([[1 + 1e-12, 0, 0, 0]]), np.array([0]))
        assert (found.low, found.high) == (0.9, 1.0)

    @given(st.integers(1, 60), st.integers(1, 20), st.integers(0, 2**32 - 1))
    def test_bins_share_out_the_items(self, items: int, bins: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        probabilities, labels = rng.dirichlet(np.full(4, 0.5), items), rng.integers(0, 4, items)
        found = reliability(probabilities, labels, bins)
        assert sum(part.count for part in found) == items
        assert all(part.low < part.confidence <= part.high for part in found)
        assert all(part.high - part.low == pytest.approx(1 / bins) for part in found)
        right = np.mean(probabilities.argmax(axis=1) == labels)
        assert sum(part.count * part.accuracy for part in found) == pytest.approx(items * right)


rows = st.lists(st.floats(-50, 0), min_size=4, max_size=4).map(np.array)

biases = st.tuples(*[st.floats(-20, 20)] * 4)


class TestApplying:
    @given(rows)
    def test_scale_1_and_no_biases_change_nothing(self, row: FloatArray) -> None:
        same = CriterionCalibration(1.0, (0.0, 0.0, 0.0, 0.0), 1.0, 9)
        assert calibrated(row, same) == pytest.approx(log_softmax(row))

    @given(rows, st.floats(0, 10), biases, st.floats(-20, 20))
    def test_a_common_shift_of_the_biases_changes_nothing(
        self, row: FloatArray, scale: float, bias: tuple[float, float, float, float], shift: float
    ) -> None:
        a, b, both_good, both_bad = (value + shift for value in bias)
        shifted = CriterionCalibration(scale, (a, b, both_good, both_bad), 1.0, 9)
        expected = calibrated(row, CriterionCalibration(scale, bias, 1.0, 9))
        assert calibrated(row, shifted) == pytest.approx(expected, abs=1e-9)
        assert np.exp(expected).sum() == pytest.approx(1)

    @settings(max_examples=15)  # each fits twice, for a tenth of a second
    @given(st.integers(2, 40), st.integers(0, 2**32 - 1), st.floats(-30, 30))
    def test_what_is_added_to_a_row_changes_no_calibration(self, items: int, seed: int, more: float) -> None:
        log_probs, labels, groups = biased_judge(items, seed)
        found, other = (fit_calibration(each, labels, groups) for each in (log_probs, log_probs + more))
        assert other.scale == pytest.approx(found.scale, rel=1e-4)
        assert other.biases == pytest.approx(found.biases, rel=1e-3, abs=1e-3)

    @pytest.mark.parametrize(
        ("scale", "bias"), [(-0.1, 0.0), (np.nan, 0.0), (np.inf, 0.0), (1.0, np.nan), (1.0, np.inf)]
    )
    def test_numbers_that_cannot_be_used(self, scale: float, bias: float) -> None:
        with pytest.raises(SetupError, match="calibration"):
            CriterionCalibration(scale, (0.0, bias, 0.0, 0.0), None, 9)
