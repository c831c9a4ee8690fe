"""How good probabilities of labels are against human ones; scales and biases that make a judge's
log-probabilities fit these, each for a given shrinkage. Labels are places in HUMAN_LABELS. A `tie` says that
the label is one of two, so that its likelihood is the sum of their probabilities.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.core.items import HUMAN_LABELS, PREFERENCES, TIES, Tie
from engine.core.numeric import BoolArray, FloatArray, IntArray, log_softmax
from engine.results.decision import SWAPPED, likeliest

# Jeffreys' prior: half an item of each label, so that a label not seen is unlikely but never impossible.
PSEUDO_COUNT = 0.5

OTHER_PLACES = np.array([HUMAN_LABELS.index(label.swapped) for label in HUMAN_LABELS])
"""The place of each human label after the responses are swapped."""

_LABELS = len(PREFERENCES)
_TIE = HUMAN_LABELS.index(Tie.TIE)
_GOOD, _BAD = (PREFERENCES.index(label) for label in TIES)
_NO_SPREAD = 1e-9  # relative: raw predictions that differ by rounding only
_MOST_STEPS = 100  # 4 to 12 are usual
EXACT, NEAR = 1e-9, 1e-4
"""How far a solution may be from the minimum, in nats summed over all items; NEAR is enough to compare."""
_LEAST_DECREASE = 1e-4  # share of the promised decrease that a step must bring (Armijo's rule)


def log_likelihood(log_probs: FloatArray, labels: IntArray) -> FloatArray:
    """Ln p of what agrees with each label: (..., items or more, 4) and (items,) to (..., items)."""
    ties = np.flatnonzero(labels == _TIE)
    likely: FloatArray = log_probs[..., np.arange(len(labels)), np.where(labels == _TIE, _GOOD, labels)]
    if len(ties):
        likely[..., ties] = np.logaddexp(log_probs[..., ties, _GOOD], log_probs[..., ties, _BAD])
    return likely


def is_right(chosen: IntArray, labels: IntArray) -> BoolArray:
    """Which of the chosen places in PREFERENCES agree with the labels: shape (items,)."""
    return np.asarray((chosen == labels) | ((labels == _TIE) & ((chosen == _GOOD) | (chosen == _BAD))))


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
    return np.asarray(np.log(known / known.sum()))


@dataclass(frozen=True)
class Solved:
    """What decides: log_softmax(scale x + sum_k factor_k y_k + bias), for each of some strengths. `scales`:
    shape (strengths,), 0 or more; `factors`: (strengths, parts); `biases`: (strengths, 4).
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
    l2_strengths: Sequence[float],
    views: int = 1,
    *,
    parts: FloatArray | None = None,
    of_parts: Sequence[float] = (),
    alike: bool = False,
    within: float = EXACT,
) -> Solved:
    """The scale s >= 0, factors f and biases b of log_softmax(s x + sum_k f_k y_k + b) for each strength.

    `log_probs` x: shape (items, 4), at least one item, normalised; `labels`: shape (items,);
    `l2_strengths` > 0. `parts` y: what is looked at next to x, shape (items, parts, 4), none for None, with a
    strength of its own for each of `l2_strengths`: `of_parts` > 0. With u = (x - m) / sigma, where m is the
    mean of each column and sigma the root mean square of x - m, likewise v_k of y_k, the slope t = s sigma,
    the slopes d_k = f_k sigma_k and the offsets c minimise

        - sum log softmax(t u + sum_k d_k v_k + c)[label] - PSEUDO_COUNT sum_k log softmax(c)[k]
        + strength (t^2 + ||c - log_frequencies||^2) + strength_of_parts ||d||^2        subject to t >= 0.

    Without parts the model is temperature scaling with biases (Alexandari, Kundaje & Shrikumar 2020); the
    stronger the parts are shrunk, the nearer it comes to that. The second term is PSEUDO_COUNT average items
    of each label: with it, t = 0 and d = 0 give c = log_frequencies at every strength. Where nothing has any
    spread, or without parts the raw predictions speak against the labels (t < 0 were better), it is exactly
    that. For a tie, softmax(..)[label] is the sum over both_good and both_bad. Where several rows are `views`
    of one item, each counts as 1 / views of an item. `alike`: as if each item stood there once more with A
    and B exchanged, both as views of it; the biases of A and B are equal then. `within`: nats, EXACT or NEAR.
    """
    together = np.concatenate([log_probs[:, None], *(() if parts is None else (parts,))], axis=1)
    slopes = together.shape[1]
    means = together.mean(axis=0)
    if alike:
        means = (means + means[:, SWAPPED]) / 2
    centred = together - means
    sigmas = np.sqrt((centred**2).mean(axis=(0, 2)))
    sigmas[sigmas <= _NO_SPREAD * (1 + np.abs(together).max(axis=(0, 2)))] = np.inf
    # With A and B alike as if all items were there with these exchanged, too.
    every = np.concatenate([labels, OTHER_PLACES[labels]]) if alike else labels
    rest = np.concatenate([np.zeros(slopes), log_frequencies(every, 2 * views if alike else views)])
    solution = np.tile(rest, (len(l2_strengths), 1))
    if np.isfinite(sigmas).any():
        penalties = np.tile(np.array(l2_strengths, ndmin=2).T, len(rest))
        penalties[:, 1:slopes] = np.array(of_parts or 1.0, ndmin=2).T
        problem = _Problem(centred / sigmas[:, None], labels, rest, views, alike)
        solution = problem.minimised(penalties, within)
        # The least value that a given t allows is convex in t: from a minimum below 0 on, 0 is best.
        if (against := solution[:, 0] < 0).any():
            solution[against] = problem.minimised(penalties[against], within, level=True)
    factors = solution[:, :slopes] / sigmas
    return Solved(factors[:, 0], factors[:, 1:], solution[:, slopes:] - factors @ means)


class _Problem:
    """The problem of `solve` without its bound, for all strengths at once. A `point` is a row of numbers: t,
    each d, then the four c; `rest`: the one that penalties draw it to. `seen`: u and each v, shape (items,
    slopes, 4). Values are in nats, times `views`: what stands next to the rows is multiplied by them, in the
    place of dividing the rows.
    """

    def __init__(
        self, seen: FloatArray, labels: IntArray, rest: FloatArray, views: int = 1, alike: bool = False
    ) -> None:
        self._items, self._slopes, _ = seen.shape
        self._rest = rest
        self._views = views
        self._pseudo_count = PSEUDO_COUNT * views
        # A row for each label and item, label after label: all sums over items are products of matrices, and
        # sums over labels go along whole columns, which numpy does many times faster.
        self._rows = np.ascontiguousarray(seen.transpose(2, 0, 1)).reshape(-1, self._slopes)
        self._ties = np.flatnonzero(labels == _TIE)
        self._seen_of_ties = seen[self._ties][:, :, [_GOOD, _BAD]]
        self._known = np.flatnonzero(labels != _TIE)
        self._labels = labels[self._known]
        self._counts = np.bincount(self._labels, minlength=_LABELS) + self._pseudo_count
        self._slopes_of_labels = seen[self._known, :, self._labels].sum(axis=0)
        # In which directions a point may move: with A and B alike, their offsets move together.
        self._directions = np.eye(len(rest))
        if alike:
            self._directions[:, self._slopes] += self._directions[:, self._slopes + 1]
            self._directions = np.delete(self._directions, self._slopes + 1, axis=1)

    def minimised(
        self,
        penalties: FloatArray,
        within: float = EXACT,
        level: bool = False,
        start: FloatArray | None = None,
    ) -> FloatArray:
        """The minimum for each row of penalties of the numbers of a point, shape (strengths, slopes + 4), by
        damped Newton steps (Boyd & Vandenberghe 2004, section 9.5); `level`: where t is 0.
        """
        directions = self._directions[:, 1:] if level else self._directions
        found = np.tile(self._rest if start is None else start, (len(penalties), 1))
        left = np.arange(len(penalties))  # those that have not arrived
        point, weights = found, self._views * penalties
        values, log_p = self._values(point, weights)
        for _ in range(_MOST_STEPS):
            gradient, curvature = self._derivatives(point, weights, log_p)
            along = gradient @ directions
            turned = directions.T @ curvature @ directions
            step = -np.linalg.solve(turned, along[:, :, None])[:, :, 0] @ directions.T
            promised = -(gradient * step).sum(axis=1)
            going = promised >= within
            if not going.any():
                break
            left, point, weights, values = left[going], point[going], weights[going], values[going]
            point, values, log_p = self._shortened(point, step[going], weights, values, promised[going])
            found[left] = point
        return found

    def _shortened(
        self,
        point: FloatArray,
        step: FloatArray,
        weights: FloatArray,
        values: FloatArray,
        promised: FloatArray,
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The points after steps that are halved until they bring enough, their values, log-probabilities."""
        length = np.ones((len(point), 1))
        while True:
            new_values, log_p = self._values(point + length * step, weights)
            short = values - new_values < _LEAST_DECREASE * length[:, 0] * promised - EXACT
            if not short.any():
                return point + length * step, new_values, log_p
            length[short] /= 2

    def _values(self, point: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What is minimised, (strengths,), and log-probabilities, (strengths, 4, items + the average one)."""
        slopes, offsets = point[:, : self._slopes], point[:, self._slopes :]
        log_p = np.zeros((len(point), _LABELS, self._items + 1))
        log_p[:, :, :-1] = (slopes @ self._rows.T).reshape(-1, _LABELS, self._items)
        log_p += offsets[:, :, None]
        log_p -= log_p.max(axis=1, keepdims=True)
        log_p -= np.log(np.exp(log_p).sum(axis=1, keepdims=True))
        likely = log_p[:, self._labels, self._known].sum(axis=1)
        likely += self._pseudo_count * log_p[:, :, -1].sum(axis=1)
        if len(self._ties):
            likely += np.logaddexp(log_p[:, _GOOD, self._ties], log_p[:, _BAD, self._ties]).sum(axis=1)
        return (weights * (point - self._rest) ** 2).sum(axis=1) - likely, log_p

    def _derivatives(
        self, point: FloatArray, weights: FloatArray, log_p: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Gradient, shape (strengths, slopes + 4), and Hessian, of as many rows and columns: with p the
        probabilities of an item, v what it says and m = sum_l p_l v_l, the sum over items of
        sum_l p_l v_l v_l' - m m', where the offsets count as v that is 1 at one label.
        """
        p = np.exp(log_p)
        items, average = p[:, :, :-1], p[:, :, -1] * _LABELS * self._pseudo_count
        cut, l2_strengths = self._slopes, len(point)
        weighed = self._rows * items.reshape(l2_strengths, -1, 1)
        by_label = weighed.reshape(l2_strengths, _LABELS, self._items, cut)
        means = by_label.sum(axis=1)
        expected = items.sum(axis=2) + average
        gradient = 2 * weights * (point - self._rest)
        gradient[:, :cut] += means.sum(axis=1) - self._slopes_of_labels
        gradient[:, cut:] += expected - self._counts
        curvature = np.empty((l2_strengths, point.shape[1], point.shape[1]))
        curvature[:, :cut, :cut] = weighed.transpose(0, 2, 1) @ self._rows - means.transpose(0, 2, 1) @ means
        both = by_label.sum(axis=2) - items @ means
        curvature[:, cut:, :cut] = both
        curvature[:, :cut, cut:] = both.transpose(0, 2, 1)
        curvature[:, cut:, cut:] = -(items @ items.transpose(0, 2, 1))
        curvature[:, cut:, cut:] -= average[:, :, None] * p[:, None, :, -1]
        diagonal = 2 * weights
        diagonal[:, cut:] += expected
        curvature.reshape(l2_strengths, -1)[:, :: point.shape[1] + 1] += diagonal
        return self._with_ties(gradient, curvature, log_p) if len(self._ties) else (gradient, curvature)

    def _with_ties(
        self, gradient: FloatArray, curvature: FloatArray, log_p: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """The same with the ties, whose labels are taken as far as they are probable now."""
        # What is not known of them takes curvature away. Where the rest is no longer positive definite it is
        # left as it is: a bound, with which a step still leads down (expectation maximisation; Dempster,
        # Laird & Rubin 1977).
        cut = self._slopes
        both = log_p[:, [_GOOD, _BAD]][:, :, self._ties].transpose(0, 2, 1)
        shares = np.exp(both - np.logaddexp(both[:, :, :1], both[:, :, 1:]))
        seen = self._seen_of_ties
        gradient[:, :cut] -= np.einsum("sil,ikl->sk", shares, seen)
        gradient[:, [cut + _GOOD, cut + _BAD]] -= shares.sum(axis=1)
        apart = np.zeros((len(seen), cut + _LABELS))
        apart[:, :cut] = seen[:, :, 0] - seen[:, :, 1]
        apart[:, [cut + _GOOD, cut + _BAD]] = 1, -1
        exact = curvature - (apart.T * shares.prod(axis=2)[:, None]) @ apart
        convex = np.linalg.eigvalsh(exact)[:, 0] > 0
        return gradient, np.where(convex[:, None, None], exact, curvature)


BINS = 10

_LEAST = np.finfo(np.float64).eps  # probabilities nearer to 0 or 1 are taken for this, as scikit-learn does


@dataclass(frozen=True)
class Quality:
    """`accuracy` (0 to 1) of the most likely label; `log_loss`: mean of -ln p(human label), nats, where a
    `tie` has the probability of both its labels; `calibration_error`: the expected one, 0 to 1 (see
    `quality`).
    """

    accuracy: float
    log_loss: float
    calibration_error: float


@dataclass(frozen=True)
class ReliabilityBin:
    """The items whose most likely label has a probability above `low`, at most `high`: `count` >= 1;
    `confidence`: the mean of those probabilities; `accuracy`: the share that is right.
    """

    low: float
    high: float
    count: int
    confidence: float
    accuracy: float


def quality(log_probs: FloatArray, labels: IntArray, read: FloatArray | None = None) -> Quality:
    """The quality of natural-log probabilities, shape (items, 4), normalised, against labels, shape (items,).
    Of equally likely labels that is predicted which is likelier as it was `read`, shape (items, 4), else the
    first. The log-loss is scikit-learn's; it takes a probability below 2.2e-16 as that. The expected
    calibration error is the mean of |accuracy - confidence| over the bins of `reliability`, weighted by their
    counts (Guo et al. 2017, equation 3).
    """
    probabilities = np.exp(log_probs)
    chosen = likeliest(log_probs, log_probs if read is None else read)
    bins = reliability(probabilities, labels, chosen=chosen)
    error = sum(bin_.count * abs(bin_.accuracy - bin_.confidence) for bin_ in bins) / len(labels)
    ties = labels == _TIE
    of_labels = probabilities[np.arange(len(labels)), np.where(ties, _GOOD, labels)]
    of_labels[ties] += probabilities[ties, _BAD]
    return Quality(
        float(np.mean(is_right(chosen, labels))),
        float(-np.log(np.clip(of_labels, _LEAST, 1 - _LEAST)).mean()),
        error,
    )


def reliability(
    probabilities: FloatArray, labels: IntArray, bins: int = BINS, chosen: IntArray | None = None
) -> tuple[ReliabilityBin, ...]:
    """By the probability of the most likely label (`chosen` of equals) into bins of equal width over 0 to 1,
    each with its upper edge (Guo et al. 2017, section 2), the empty ones omitted.
    """
    edges = np.linspace(0, 1, bins + 1)
    confidences = probabilities.max(axis=1)
    right = is_right(probabilities.argmax(axis=1) if chosen is None else chosen, labels)
    # Rounding may lift a probability a little above 1.
    places = np.minimum(np.searchsorted(edges, confidences, side="left"), bins) - 1
    found = []
    for place in np.unique(places):
        inside = places == place
        ends, count = (float(edges[place]), float(edges[place + 1])), int(inside.sum())
        means = (float(each[inside].mean()) for each in (confidences, right))
        found.append(ReliabilityBin(*ends, count, *means))
    return tuple(found)
