"""Scales and biases that make a judge's log-probabilities fit human labels, each for a given shrinkage.

Labels are places in HUMAN_LABELS. A `tie` says that the label is one of two, so that its likelihood is the
sum of their probabilities.

Knows: one problem in five numbers and one more for each part, convex without such ties; its solution by
Newton's method. Does not know: which shrinkage is right, what a part is, criteria, cross-validation, files.
"""

from collections.abc import Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Solved:
    """What decides: log_softmax(scale x + sum_k factor_k y_k + bias), for each of some strengths.

    `scales`: shape (strengths,), 0 or more; `factors`: (strengths, parts); `biases`: (strengths, 4).
    """

    scales: FloatArray
    factors: FloatArray
    biases: FloatArray

    def log_probs(self, read: FloatArray, parts: FloatArray) -> FloatArray:
        """Natural-log probabilities by each strength, shape (strengths, items, 4); given as to `solve`."""
        weighed = self.scales[:, None, None] * read + self.biases[:, None]
        if parts.shape[1]:
            weighed = weighed + np.einsum("sk,ikl->sil", self.factors, parts)
        return log_softmax(weighed)


def solve(
    log_probs: FloatArray,
    labels: IntArray,
    strengths: Sequence[float],
    views: int = 1,
    *,
    parts: FloatArray | None = None,
    of_parts: Sequence[float] = (),
) -> Solved:
    """The scale s >= 0, factors f and biases b of log_softmax(s x + sum_k f_k y_k + b) for each strength.

    `log_probs` x: shape (items, 4), at least one item, normalised; `labels`: shape (items,);
    `strengths` > 0. `parts` y: what is looked at beside x, shape (items, parts, 4), none for None, with a
    strength of its own for each of `strengths`: `of_parts` > 0. With u = (x - m) / sigma, where m is the mean
    of each column and sigma the root mean square of x - m, likewise v_k of y_k, the slope t = s sigma, the
    slopes d_k = f_k sigma_k and the offsets c minimise

        - sum log softmax(t u + sum_k d_k v_k + c)[label] - PSEUDO_COUNT sum_k log softmax(c)[k]
        + strength (t^2 + ||c - log_frequencies||^2) + strength_of_parts ||d||^2        subject to t >= 0.

    Without parts the model is temperature scaling with biases (Alexandari, Kundaje & Shrikumar 2020); the
    stronger the parts are shrunk, the nearer it comes to that. The second term is PSEUDO_COUNT average items
    of each label: with it, t = 0 and d = 0 give c = log_frequencies at every strength. Readings without
    spread, or that speak against the labels (t < 0 were better), get exactly that, whatever the parts say.
    For a tie, softmax(..)[label] is the sum over both_good and both_bad. Where several rows are `views` of
    one item, each counts as 1 / views of an item.
    """
    beside = np.empty((len(labels), 0, _LABELS)) if parts is None else parts
    together = np.concatenate([log_probs[:, None], beside], axis=1)
    slopes = together.shape[1]
    means = together.mean(axis=0)
    centred = together - means
    sigmas = np.sqrt((centred**2).mean(axis=(0, 2)))
    spread = sigmas > _NO_SPREAD * (1 + np.abs(together).max(axis=(0, 2)))
    sigmas[~spread] = np.inf
    prior = log_frequencies(labels, views)
    rest = np.tile(np.concatenate([np.zeros(slopes), prior]), (len(strengths), 1))
    solution = rest
    if spread[0]:
        penalties = np.tile(np.asarray(strengths, dtype=np.float64)[:, None], rest.shape[1])
        if parts is not None:
            penalties[:, 1:slopes] = np.asarray(of_parts, dtype=np.float64)[:, None]
        found = _Problem(centred / sigmas[:, None], labels, prior, penalties, views).minimised(rest)
        # The least value that a given t allows is convex in t: from a minimum below 0 on, 0 is the best
        # t >= 0. The parts go with it: beside readings that speak against the labels none is to be trusted.
        solution = np.where(found[:, :1] > 0, found, rest)
    factors = solution[:, :slopes] / sigmas
    weighed = np.einsum("sk,kl->sl", factors, means)
    return Solved(factors[:, 0], factors[:, 1:], solution[:, slopes:] - weighed)


class _Problem:
    """The problem of `solve` without its bound, for all strengths at once.

    A `point` is an array of shape (strengths, slopes + 4): t, each d, then the four c. `seen`: u and each v,
    shape (items, slopes, 4). `penalties`: of each number of a point. Values are in nats, times `views`: what
    stands beside the rows is multiplied by them, in the place of dividing the rows.
    """

    def __init__(
        self, seen: FloatArray, labels: IntArray, prior: FloatArray, penalties: FloatArray, views: int = 1
    ) -> None:
        self._seen = seen
        self._labels = labels
        self._slopes = seen.shape[1]
        self._rest = np.concatenate([np.zeros(self._slopes), prior])
        self._penalties = penalties * views
        self._pseudo_count = PSEUDO_COUNT * views
        self._ties = np.flatnonzero(labels == _TIE)
        known = np.flatnonzero(labels != _TIE)
        self._counts = np.bincount(labels[known], minlength=_LABELS) + self._pseudo_count
        self._slopes_of_labels = seen[known, :, labels[known]].sum(axis=0)

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

        The last row is the average item, of which nothing speaks.
        """
        slopes, offsets = point[:, : self._slopes], point[:, self._slopes :]
        log_p = np.empty((len(point), len(self._seen) + 1, _LABELS))
        log_p[:, :-1] = log_softmax(np.tensordot(slopes, self._seen, ([1], [1])) + offsets[:, None])
        log_p[:, -1] = log_softmax(offsets)
        likely = log_likelihood(log_p, self._labels).sum(axis=1)
        away = (self._penalties * (point - self._rest) ** 2).sum(axis=1)
        return away - likely - self._pseudo_count * log_p[:, -1].sum(axis=1), log_p

    def _derivatives(self, point: FloatArray, log_p: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gradient, shape (strengths, slopes + 4), and Hessian matrix, of as many rows and columns."""
        p = np.exp(log_p)
        items, average = p[:, :-1], p[:, -1] * _LABELS * self._pseudo_count
        cut = self._slopes
        # Of each item the means of u and v by its probabilities, (strengths, items, slopes), and what each
        # label is away from these.
        weighed = items[:, :, None] * self._seen
        means = weighed.sum(axis=3)
        deviations = weighed - items[:, :, None] * means[..., None]
        gradient = 2 * self._penalties * (point - self._rest)
        gradient[:, :cut] += means.sum(axis=1) - self._slopes_of_labels
        gradient[:, cut:] += items.sum(axis=1) + average - self._counts
        curvature = 2 * self._penalties[:, :, None] * np.eye(point.shape[1])
        of_slopes = deviations.transpose(0, 2, 1, 3).reshape(len(point), cut, -1)
        flat = self._seen.transpose(0, 2, 1).reshape(-1, cut)
        curvature[:, :cut, :cut] += of_slopes @ flat
        both = deviations.sum(axis=1)
        curvature[:, :cut, cut:] = both
        curvature[:, cut:, :cut] = both.transpose(0, 2, 1)
        curvature[:, cut:, cut:] += (items.sum(axis=1) + average)[:, :, None] * np.eye(_LABELS)
        curvature[:, cut:, cut:] -= (
            items.transpose(0, 2, 1) @ items + average[:, :, None] * p[:, -1][:, None, :]
        )
        return self._with_ties(gradient, curvature, log_p) if len(self._ties) else (gradient, curvature)

    def _with_ties(
        self, gradient: FloatArray, curvature: FloatArray, log_p: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """The same with the ties, whose labels are taken as far as they are probable now.

        What is not known of them takes curvature away. Where the rest is no longer positive definite it is
        left as it is: a bound, with which a step still leads down (expectation maximisation; Dempster, Laird
        & Rubin 1977).
        """
        cut = self._slopes
        both = log_p[:, self._ties][:, :, [_GOOD, _BAD]]
        shares = np.exp(both - np.logaddexp(both[:, :, :1], both[:, :, 1:]))
        seen = self._seen[self._ties][:, :, [_GOOD, _BAD]]
        gradient[:, :cut] -= np.einsum("sil,ikl->sk", shares, seen)
        gradient[:, [cut + _GOOD, cut + _BAD]] -= shares.sum(axis=1)
        directions = np.zeros((len(seen), cut + _LABELS))
        directions[:, :cut] = seen[:, :, 0] - seen[:, :, 1]
        directions[:, [cut + _GOOD, cut + _BAD]] = 1, -1
        unknown = np.einsum("si,ij,ik->sjk", shares.prod(axis=2), directions, directions)
        exact = curvature - unknown
        convex = np.linalg.eigvalsh(exact)[:, 0] > 0
        return gradient, np.where(convex[:, None, None], exact, curvature)
