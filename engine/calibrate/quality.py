"""How good probabilities of labels are against human ones.

Knows: accuracy, log-loss, how far sureness and accuracy are apart. Does not know: where probabilities come
from.
"""

from dataclasses import dataclass

import numpy as np

from engine.calibrate.scaling import is_right
from engine.core.items import HUMAN_LABELS, PREFERENCES, TIES, Tie
from engine.core.log_probs import FloatArray, IntArray
from engine.decisions.decision import likeliest

BINS = 10

_LEAST = np.finfo(np.float64).eps  # probabilities nearer to 0 or 1 are taken for this, as scikit-learn does


@dataclass(frozen=True)
class Quality:
    """How good probabilities are against human labels.

    `accuracy`: 0 to 1, of the most likely label. `log_loss`: mean of -ln p(human label), nats; the
    probability of a `tie` is that of both_good and both_bad together.
    `calibration_error`: 0 to 1, expected calibration error of the most likely label (see `quality`).
    """

    accuracy: float
    log_loss: float
    calibration_error: float


@dataclass(frozen=True)
class ReliabilityBin:
    """The items whose most likely label has a probability above `low`, at most `high`.

    `count` >= 1 items; `confidence`: the mean of those probabilities; `accuracy`: the share that is right.
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
    return Quality(
        accuracy=float(np.mean(is_right(chosen, labels))),
        log_loss=_log_loss(probabilities, labels),
        calibration_error=error,
    )


def _log_loss(probabilities: FloatArray, labels: IntArray) -> float:
    """The log-loss, where a tie takes the probability of both its labels together, as that of the first."""
    ties = labels == HUMAN_LABELS.index(Tie.TIE)
    good, bad = (PREFERENCES.index(label) for label in TIES)
    together = probabilities.copy()
    together[ties, good] += together[ties, bad]
    together[ties, bad] = 0
    of_labels = together[np.arange(len(labels)), np.where(ties, good, labels)]
    return float(-np.log(np.clip(of_labels, _LEAST, 1 - _LEAST)).mean())


def reliability(
    probabilities: FloatArray, labels: IntArray, bins: int = BINS, chosen: IntArray | None = None
) -> tuple[ReliabilityBin, ...]:
    """The items sorted by the probability of their most likely label into bins of equal width over 0 to 1.

    `probabilities`: shape (items, 4); `labels`: shape (items,); `chosen`: which of equally likely labels was
    given, shape (items,), else the first. A bin holds its upper edge, not its lower one (Guo et al. 2017,
    section 2). Empty bins are omitted.
    """
    edges = np.linspace(0, 1, bins + 1)
    confidences = probabilities.max(axis=1)
    right = is_right(probabilities.argmax(axis=1) if chosen is None else chosen, labels)
    # Rounding may lift a probability a little above 1.
    places = np.minimum(np.searchsorted(edges, confidences, side="left"), bins) - 1
    found = []
    for place in np.unique(places):
        inside = places == place
        found.append(
            ReliabilityBin(
                low=float(edges[place]),
                high=float(edges[place + 1]),
                count=int(inside.sum()),
                confidence=float(confidences[inside].mean()),
                accuracy=float(right[inside].mean()),
            )
        )
    return tuple(found)
