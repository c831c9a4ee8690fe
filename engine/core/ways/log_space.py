"""Sums in log-probabilities that the ways share.

Knows: arithmetic. Does not know: what the numbers mean.
"""

from collections.abc import Sequence

import numpy as np

from engine.core.judgments import RawAnswer
from engine.core.log_probs import FloatArray, log_softmax
from engine.core.ways.question import LabelLogProbs


def among(answer: RawAnswer) -> FloatArray:
    """The log-probabilities of an answer's words among these words alone, shape (words,)."""
    return log_softmax(np.array(answer.log_probs, dtype=np.float64))


def log_mass(answers: Sequence[RawAnswer]) -> float:
    """The log of the mean share (0 to 1) of all probability that the answers hold."""
    totals = [np.logaddexp.reduce(answer.log_probs) for answer in answers]
    return float(np.logaddexp.reduce(totals) - np.log(len(totals)))


def of_mass(labels: FloatArray, answers: Sequence[RawAnswer]) -> LabelLogProbs:
    """Four log-probabilities, shape (4,), normalised, that hold together what the answers held."""
    a, b, both_good, both_bad = (float(value) for value in log_softmax(labels) + log_mass(answers))
    return a, b, both_good, both_bad
