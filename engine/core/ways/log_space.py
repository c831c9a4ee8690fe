"""Sums of log-probabilities that the ways share.

Knows: arithmetic. Does not know: what the numbers mean.
"""

import math
from collections.abc import Sequence

from engine.core.judgments import RawAnswer
from engine.core.ways.question import LabelLogProbs


def log_sum(values: Sequence[float]) -> float:
    """The log of the sum of what these are logs of; NaN where one of them is not finite."""
    if not all(map(math.isfinite, values)):
        return math.nan
    highest = max(values)
    return highest + math.log(math.fsum(math.exp(value - highest) for value in values))


def among(answer: RawAnswer) -> list[float]:
    """The log-probabilities of an answer's words among these words alone."""
    total = log_sum(answer.log_probs)
    return [value - total for value in answer.log_probs]


def of_mass(labels: Sequence[float], answers: Sequence[RawAnswer]) -> LabelLogProbs:
    """Log-probabilities of the four labels as they are to each other in `labels`, that hold together the mean
    share of all probability that the answers held. NaN where a number is not finite.
    """
    held = log_sum([log_sum(answer.log_probs) for answer in answers]) - math.log(len(answers))
    total = log_sum(labels)
    a, b, both_good, both_bad = (value - total + held for value in labels)
    return a, b, both_good, both_bad
