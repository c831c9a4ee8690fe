"""What `solve` finds is the least that there is."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize

from engine.calibration import scaling
from engine.calibration.scaling import PSEUDO_COUNT, log_frequencies, solve
from engine.core.numeric import FloatArray, IntArray, log_softmax
from tests.engine.calibration.simulated import biased_judge, without_polarity


class TestSolve:
    @pytest.mark.parametrize("hidden", [0.0, 0.5, 1.0])
    @pytest.mark.parametrize("items", [2, 7, 99])
    @pytest.mark.parametrize("strength", [0.01, 1.0, 30.0])
    def test_no_general_minimiser_finds_less(self, items: int, strength: float, hidden: float) -> None:
        for seed, informed in enumerate([True, False, False]):
            log_probs, labels, _ = biased_judge(items, seed)
            if not informed:
                labels = np.random.default_rng(seed).integers(0, 4, items)
            labels = without_polarity(labels, seed, hidden)
            value, sigma = objective(log_probs, labels, strength)
            scales, biases = fitted(log_probs, labels, [strength])
            found = [scales[0] * sigma, *(biases[0] + scales[0] * log_probs.mean(axis=0))]
            bounds = [(0, None), *[(None, None)] * 4]
            start = [0, *log_frequencies(labels)]
            other = minimize(value, start, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-14})
            assert value(np.array(found)) <= other.fun + 1e-7

    @pytest.mark.parametrize("start", [[20.0, 9, -9, 0, 0], [-30.0, 0, 0, 0, 0], [0.0, 90, 0, 0, -90]])
    def test_steps_from_far_away_are_shortened(self, start: list[float]) -> None:
        """Whole steps of Newton's method from there would not come back."""
        log_probs, labels, _ = biased_judge(99, 0)
        u = (log_probs - log_probs.mean(axis=0)) / log_probs.std()
        problem = scaling._Problem(u[:, None], labels, np.array([0, *log_frequencies(labels)]))
        penalties = np.full((1, 5), 0.01)
        near = problem.minimised(penalties)
        assert problem.minimised(penalties, start=np.array(start)) == pytest.approx(near, abs=1e-4)

    def test_a_stronger_shrinkage_trusts_the_readings_less_solved_together_as_alone(self) -> None:
        log_probs, labels, _ = biased_judge(99, 0)
        l2_strengths = [0.01, 1.0, 100.0, 1e9]
        scales, biases = fitted(log_probs, labels, l2_strengths)
        assert all(more > less for more, less in pairwise(scales))
        assert scales[-1] == pytest.approx(0, abs=1e-6)
        for place, strength in enumerate(l2_strengths[:3]):
            scale, bias = fitted(log_probs, labels, [strength])
            assert scales[place] == pytest.approx(scale[0], rel=1e-4)
            assert biases[place] == pytest.approx(bias[0], rel=1e-3, abs=1e-4)

    @pytest.mark.parametrize(
        "distort",
        [lambda x: -x, np.zeros_like, lambda x: np.full_like(x, -1.5) + 1e-14 * x],
        ids=["against the labels", "zero", "only rounding"],
    )
    def test_useless_readings_give_the_frequencies(self, distort: Callable[[FloatArray], FloatArray]) -> None:
        log_probs, labels, _ = biased_judge(60, 0)
        scales, biases = fitted(distort(log_probs), labels, [0.01, 1.0])
        assert scales.tolist() == [0, 0]
        assert biases == pytest.approx(np.tile(log_frequencies(labels), (2, 1)))

    @pytest.mark.parametrize("factor", [1e-3, 1e3, 1e6])
    def test_the_size_of_the_readings_does_not_matter(self, factor: float) -> None:
        log_probs, labels, _ = biased_judge(99, 0)
        scales, _ = fitted(log_probs, labels, [1.0])
        others, _ = fitted(factor * log_probs, labels, [1.0])
        assert others * factor == pytest.approx(scales, rel=1e-6)

    def test_one_outlier_among_readings_that_separate_the_labels(self) -> None:
        log_probs = np.random.default_rng(0).normal(0, 3, (300, 4))
        labels = log_probs.argmax(axis=1)
        log_probs[0, 1] = -1e5
        scales, biases = fitted(log_probs, labels, [0.01])
        assert np.isfinite([*scales, *biases[0]]).all()


@pytest.mark.parametrize(
    ("labels", "expected"),
    [([0, 4, 4], [1.5, 0.5, 1.5, 1.5]), ([2, 2, 2, 3, 4, 4, 4, 4, 4], [0.5, 0.5, 3.5 * 2, 1.5 * 2])],
)
def test_a_tie_is_shared_as_often_as_its_labels_occur(labels: list[int], expected: list[float]) -> None:
    frequencies = np.exp(log_frequencies(np.array(labels)))
    assert frequencies == pytest.approx(np.array(expected) / sum(expected))


def fitted(
    log_probs: FloatArray, labels: IntArray, l2_strengths: Sequence[float]
) -> tuple[FloatArray, FloatArray]:
    """Scales and biases, without parts."""
    found = solve(log_probs, labels, l2_strengths)
    return found.scales, found.biases


def objective(
    log_probs: FloatArray, labels: IntArray, strength: float
) -> tuple[Callable[[FloatArray], float], float]:
    """What `solve` says that it minimises, of (t, c), and sigma."""
    centred = log_probs - log_probs.mean(axis=0)
    sigma = float(np.sqrt(np.mean(centred**2)))
    prior = log_frequencies(labels)

    def value(point: FloatArray) -> float:
        t, c = point[0], point[1:]
        log_p = log_softmax(t * centred / sigma + c)
        likely = log_p[np.arange(len(labels)), np.minimum(labels, 3)]
        fitted = np.where(labels == 4, np.logaddexp(log_p[:, 2], log_p[:, 3]), likely).sum()
        average = PSEUDO_COUNT * log_softmax(c).sum()
        return float(-fitted - average + strength * (t**2 + ((c - prior) ** 2).sum()))

    return value, sigma
