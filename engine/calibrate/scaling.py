"""Scale and biases that make a judge's log-probabilities fit human labels, each for a given shrinkage.

Knows: one convex problem in five numbers and its solution by Newton's method.
Does not know: which shrinkage is right, criteria, cross-validation, files.
"""

from collections.abc import Sequence

import numpy as np

from engine.core.items import PREFERENCES
from engine.core.log_probs import FloatArray, IntArray, log_softmax

# Jeffreys' prior: half an item of each label, so that a label not seen is unlikely but never impossible.
PSEUDO_COUNT = 0.5

_LABELS = len(PREFERENCES)
_NO_SPREAD = 1e-9  # relative: readings that differ by rounding only
_MOST_STEPS = 100  # 4 to 12 are usual
_CONVERGED = 1e-10  # nats
_LEAST_DECREASE = 1e-4  # share of the promised decrease that a step must bring (Armijo's rule)


def log_frequencies(labels: IntArray) -> FloatArray:
    """Natural logs of the smoothed frequencies of the four labels, shape (4,); equal counts stay equal.

    frequency = (count + PSEUDO_COUNT) / (items + 4 PSEUDO_COUNT). `labels`: shape (items,), 0 to 3.
    """
    counts = np.bincount(labels, minlength=_LABELS) + PSEUDO_COUNT
    frequencies: FloatArray = np.log(counts / counts.sum())
    return frequencies


def solve(
    log_probs: FloatArray, labels: IntArray, strengths: Sequence[float]
) -> tuple[FloatArray, FloatArray]:
    """The scale s >= 0 and biases b of log_softmax(s x + b) for each strength: shapes (strengths,), (.., 4).

    `log_probs` x: shape (items, 4), at least one item, normalised; `labels`: shape (items,), 0 to 3;
    `strengths` > 0. With u = (x - m) / sigma, where m is the mean of each column and sigma the root mean
    square of x - m, the slope t = s sigma and offsets c = b + s m minimise

        - sum log softmax(t u + c)[label] - PSEUDO_COUNT sum_k log softmax(c)[k]
        + strength (t^2 + ||c - log_frequencies||^2)        subject to t >= 0.

    The model is temperature scaling with biases (Alexandari, Kundaje & Shrikumar 2020). The second term is
    PSEUDO_COUNT average items of each label: with it, t = 0 gives c = log_frequencies at every strength.
    Readings without spread, or that speak against the labels (t < 0 were better), get exactly that.
    """
    means = log_probs.mean(axis=0)
    centred = log_probs - means
    sigma = float(np.sqrt(np.mean(centred**2)))
    prior = log_frequencies(labels)
    slopes = np.zeros(len(strengths))
    offsets = np.tile(prior, (len(strengths), 1))
    if sigma <= _NO_SPREAD * (1 + float(np.abs(log_probs).max())):
        return slopes, offsets
    problem = _Problem(centred / sigma, labels, prior, np.asarray(strengths, dtype=np.float64))
    solution = problem.minimised(np.column_stack([slopes, offsets]))
    # The least value that a given t allows is convex in t: from a minimum below 0 on, 0 is the best t >= 0.
    positive = solution[:, 0] > 0
    scales = np.where(positive, solution[:, 0], 0.0) / sigma
    offsets = np.where(positive[:, None], solution[:, 1:], offsets)
    return scales, offsets - scales[:, None] * means


class _Problem:
    """The problem of `solve` without its bound, for all strengths at once.

    A `point` is an array of shape (strengths, 5): t, then the four c. Values are in nats.
    """

    def __init__(self, u: FloatArray, labels: IntArray, prior: FloatArray, strengths: FloatArray) -> None:
        self._u = u
        self._chosen = np.arange(len(labels)), labels
        self._prior = prior
        self._strengths = strengths
        self._counts = np.bincount(labels, minlength=_LABELS) + PSEUDO_COUNT
        self._slope_of_labels = float(u[self._chosen].sum())

    def minimised(self, point: FloatArray) -> FloatArray:
        """The minimum, by damped Newton steps (Boyd & Vandenberghe 2004, section 9.5)."""
        values, log_p = self._values(point)
        for _ in range(_MOST_STEPS):
            gradient, curvature = self._derivatives(point, log_p)
            step = -np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
            promised = -(gradient * step).sum(axis=1)
            if promised.max() < _CONVERGED:
                break
            length = np.ones((len(point), 1))
            while True:
                new_values, log_p = self._values(point + length * step)
                short = values - new_values < _LEAST_DECREASE * length[:, 0] * promised - _CONVERGED
                if not short.any():
                    break
                length[short] /= 2
            point, values = point + length * step, new_values
        return point

    def _values(self, point: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What is minimised, shape (strengths,), and the log-probabilities, (strengths, items + 1, 4).

        The last row is the average item: u = 0.
        """
        away = np.column_stack([point[:, 0], point[:, 1:] - self._prior])
        log_p = np.empty((len(point), len(self._u) + 1, _LABELS))
        log_p[:, :-1] = log_softmax(point[:, 0, None, None] * self._u + point[:, None, 1:])
        log_p[:, -1] = log_softmax(point[:, 1:])
        losses = -log_p[:, *self._chosen].sum(axis=1) - PSEUDO_COUNT * log_p[:, -1].sum(axis=1)
        return losses + self._strengths * (away**2).sum(axis=1), log_p

    def _derivatives(self, point: FloatArray, log_p: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gradient, shape (strengths, 5), and Hessian matrix, (strengths, 5, 5)."""
        p = np.exp(log_p)
        items, average = p[:, :-1], p[:, -1] * _LABELS * PSEUDO_COUNT
        expected = items.sum(axis=1) + average
        pu = items * self._u
        away = np.column_stack([point[:, 0], point[:, 1:] - self._prior])
        gradient = 2 * self._strengths[:, None] * away
        gradient[:, 0] += pu.sum(axis=(1, 2)) - self._slope_of_labels
        gradient[:, 1:] += expected - self._counts
        deviations = pu - items * pu.sum(axis=2, keepdims=True)
        curvature = 2 * self._strengths[:, None, None] * np.eye(1 + _LABELS)
        curvature[:, 0, 0] += (deviations * self._u).sum(axis=(1, 2))
        curvature[:, 0, 1:] = curvature[:, 1:, 0] = deviations.sum(axis=1)
        curvature[:, 1:, 1:] += expected[:, :, None] * np.eye(_LABELS)
        curvature[:, 1:, 1:] -= items.transpose(0, 2, 1) @ items + average[:, :, None] * p[:, -1][:, None, :]
        return gradient, curvature
