"""Scale and biases that make a judge's log-probabilities fit human labels, each for a given shrinkage.

Labels are places in HUMAN_LABELS. A `tie` says that the label is one of two, so that its likelihood is the
sum of their probabilities.

Knows: one problem in five numbers, convex without such ties; its solution by Newton's method.
Does not know: which shrinkage is right, criteria, cross-validation, files.
"""

from collections.abc import Sequence

import numpy as np

from engine.core.items import HUMAN_LABELS, PREFERENCES, TIES, Tie
from engine.core.log_probs import BoolArray, FloatArray, IntArray, log_softmax

# Jeffreys' prior: half an item of each label, so that a label not seen is unlikely but never impossible.
PSEUDO_COUNT = 0.5

_LABELS = len(PREFERENCES)
_TIE = HUMAN_LABELS.index(Tie.TIE)
_GOOD, _BAD = (PREFERENCES.index(label) for label in TIES)
_NO_SPREAD = 1e-9  # relative: readings that differ by rounding only
_MOST_STEPS = 100  # 4 to 12 are usual
_CONVERGED = 1e-10  # nats
_LEAST_DECREASE = 1e-4  # share of the promised decrease that a step must bring (Armijo's rule)


def log_likelihood(log_probs: FloatArray, labels: IntArray) -> FloatArray:
    """Natural logs of the probability of what agrees with each label: shape (..., items).

    `log_probs`: shape (..., items or more, 4); `labels`: shape (items,).
    """
    ties = np.flatnonzero(labels == _TIE)
    likely: FloatArray = log_probs[..., np.arange(len(labels)), np.where(labels == _TIE, _GOOD, labels)]
    if len(ties):
        likely[..., ties] = np.logaddexp(log_probs[..., ties, _GOOD], log_probs[..., ties, _BAD])
    return likely


def is_right(chosen: IntArray, labels: IntArray) -> BoolArray:
    """Which of the chosen places in PREFERENCES agree with the labels: shape (items,)."""
    right: BoolArray = (chosen == labels) | ((labels == _TIE) & ((chosen == _GOOD) | (chosen == _BAD)))
    return right


def log_frequencies(labels: IntArray, views: int = 1) -> FloatArray:
    """Natural logs of the smoothed frequencies of the four labels, shape (4,); equal counts stay equal.

    frequency = (count + PSEUDO_COUNT) / (items + 4 PSEUDO_COUNT). A tie is shared between both_good and
    both_bad in the proportion of these counts, which is the likeliest. `labels`: shape (items,). `views`: so
    many of them are one item, each seen in another way, and count as one together.
    """
    counts = np.bincount(labels, minlength=len(HUMAN_LABELS)) / views
    known = counts[:_LABELS] + PSEUDO_COUNT
    if counts[_TIE]:
        known[[_GOOD, _BAD]] *= 1 + counts[_TIE] / (known[_GOOD] + known[_BAD])
    frequencies: FloatArray = np.log(known / known.sum())
    return frequencies


def solve(
    log_probs: FloatArray, labels: IntArray, strengths: Sequence[float], views: int = 1
) -> tuple[FloatArray, FloatArray]:
    """The scale s >= 0 and biases b of log_softmax(s x + b) for each strength: shapes (strengths,), (.., 4).

    `log_probs` x: shape (items, 4), at least one item, normalised; `labels`: shape (items,);
    `strengths` > 0. With u = (x - m) / sigma, where m is the mean of each column and sigma the root mean
    square of x - m, the slope t = s sigma and offsets c = b + s m minimise

        - sum log softmax(t u + c)[label] - PSEUDO_COUNT sum_k log softmax(c)[k]
        + strength (t^2 + ||c - log_frequencies||^2)        subject to t >= 0.

    The model is temperature scaling with biases (Alexandari, Kundaje & Shrikumar 2020). The second term is
    PSEUDO_COUNT average items of each label: with it, t = 0 gives c = log_frequencies at every strength.
    Readings without spread, or that speak against the labels (t < 0 were better), get exactly that. For a
    tie, softmax(..)[label] is the sum over both_good and both_bad. Where several rows are `views` of one
    item, each counts as 1 / views of an item.
    """
    means = log_probs.mean(axis=0)
    centred = log_probs - means
    sigma = float(np.sqrt(np.mean(centred**2)))
    prior = log_frequencies(labels, views)
    slopes = np.zeros(len(strengths))
    offsets = np.tile(prior, (len(strengths), 1))
    if sigma <= _NO_SPREAD * (1 + float(np.abs(log_probs).max())):
        return slopes, offsets
    problem = _Problem(centred / sigma, labels, prior, np.asarray(strengths, dtype=np.float64), views)
    solution = problem.minimised(np.column_stack([slopes, offsets]))
    # The least value that a given t allows is convex in t: from a minimum below 0 on, 0 is the best t >= 0.
    positive = solution[:, 0] > 0
    scales = np.where(positive, solution[:, 0], 0.0) / sigma
    offsets = np.where(positive[:, None], solution[:, 1:], offsets)
    return scales, offsets - scales[:, None] * means


class _Problem:
    """The problem of `solve` without its bound, for all strengths at once.

    A `point` is an array of shape (strengths, 5): t, then the four c. Values are in nats, times `views`: what
    stands beside the rows is multiplied by them, in the place of dividing the rows.
    """

    def __init__(
        self, u: FloatArray, labels: IntArray, prior: FloatArray, strengths: FloatArray, views: int = 1
    ) -> None:
        self._u = u
        self._labels = labels
        self._prior = prior
        self._strengths = strengths * views
        self._pseudo_count = PSEUDO_COUNT * views
        self._ties = np.flatnonzero(labels == _TIE)
        known = np.flatnonzero(labels != _TIE)
        self._counts = np.bincount(labels[known], minlength=_LABELS) + self._pseudo_count
        self._slope_of_labels = float(u[known, labels[known]].sum())

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
        losses = -log_likelihood(log_p, self._labels).sum(axis=1) - self._pseudo_count * log_p[:, -1].sum(
            axis=1
        )
        return losses + self._strengths * (away**2).sum(axis=1), log_p

    def _derivatives(self, point: FloatArray, log_p: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gradient, shape (strengths, 5), and Hessian matrix, (strengths, 5, 5)."""
        p = np.exp(log_p)
        items, average = p[:, :-1], p[:, -1] * _LABELS * self._pseudo_count
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
        return self._with_ties(gradient, curvature, log_p) if len(self._ties) else (gradient, curvature)

    def _with_ties(
        self, gradient: FloatArray, curvature: FloatArray, log_p: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """The same with the ties, whose labels are taken as far as they are probable now.

        What is not known of them takes curvature away. Where the rest is no longer positive definite it is
        left as it is: a bound, with which a step still leads down (expectation maximisation; Dempster, Laird
        & Rubin 1977).
        """
        both = log_p[:, self._ties][:, :, [_GOOD, _BAD]]
        shares = np.exp(both - np.logaddexp(both[:, :, :1], both[:, :, 1:]))
        u = self._u[self._ties][:, [_GOOD, _BAD]]
        gradient[:, 0] -= (shares * u).sum(axis=(1, 2))
        gradient[:, [1 + _GOOD, 1 + _BAD]] -= shares.sum(axis=1)
        directions = np.zeros((len(u), 1 + _LABELS))
        directions[:, 0] = u[:, 0] - u[:, 1]
        directions[:, [1 + _GOOD, 1 + _BAD]] = 1, -1
        unknown = np.einsum("si,ij,ik->sjk", shares.prod(axis=2), directions, directions)
        exact = curvature - unknown
        convex = np.linalg.eigvalsh(exact)[:, 0] > 0
        return gradient, np.where(convex[:, None, None], exact, curvature)
