"""Graded: a grade from 1 to 5 for each response, read as the mean of its distribution, not as its mode.

Why the mean: it keeps what the likeliest grade throws away, and arXiv 2503.03064 finds it the better judge.

Knows: the two questions, grades, what two grades say of the labels. Does not know: prompts, tokens, models.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import chain
from statistics import fmean

from engine.core.items import Order, Way
from engine.core.judgments import RawAnswer, Reading
from engine.core.rubric import PromptWording
from engine.core.ways.question import LabelLogProbs, Question, among, log_sum, of_each_response, of_mass

GRADES = (1, 2, 3, 4, 5)
_MIDDLE = 3.0
_CLEARLY = 0.5  # grades by which a response must be better, so that preferring it is as likely as a tie
_SPREAD = 0.25  # grades over which that turns


class Graded:
    """Two questions, of the response shown first and of the second, named A and B."""

    way = Way.GRADED
    title = "A grade"
    help = "A grade from 1 to 5 for each response, of which the mean is taken: two short questions."

    def questions(self, wording: PromptWording) -> tuple[Question, ...]:
        """See WayOfAsking."""
        says = tuple(f"{{response}}: {grade} of {GRADES[-1]}" for grade in GRADES)
        return of_each_response(wording, wording.graded, wording.grade, tuple(map(str, GRADES)), says)

    def label_log_probs(self, answers: Sequence[RawAnswer]) -> LabelLogProbs:
        """See WayOfAsking: by the means alone, as in an ordered logit with a place for ties.

        With d the mean of A less that of B, g the mean of both, t half a grade and s a quarter:
        log-odds are d/s for A, -d/s for B, t/s for a tie; a tie is good with the log-odds (g - 3)/s.
        """
        first, second = map(mean_grade, answers)
        difference, middle = (first - second) / _SPREAD, ((first + second) / 2 - _MIDDLE) / _SPREAD
        tie = _CLEARLY / _SPREAD
        good, bad = tie - log_sum([0.0, -middle]), tie - log_sum([0.0, middle])
        return of_mass([difference, -difference, good, bad], answers)


def mean_grade(answer: RawAnswer) -> float:
    """The mean (1 to 5) of the distribution over the five grades."""
    return math.fsum(math.exp(value) * grade for value, grade in zip(among(answer), GRADES, strict=True))


def mean_grades(readings: Iterable[Reading]) -> tuple[float, float] | None:
    """The mean grades (1 to 5) of the item's own A and B over the orders; None where nothing was graded, or
    not with finite probabilities.
    """
    grades: list[tuple[float, float]] = []
    for reading in readings:
        if reading.way is Way.GRADED:
            first, second = map(mean_grade, reading.answers)
            grades.append((first, second) if reading.order is Order.AB else (second, first))
    if not grades or not all(map(math.isfinite, chain.from_iterable(grades))):
        return None
    return fmean(a for a, _ in grades), fmean(b for _, b in grades)
