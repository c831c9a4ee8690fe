"""Pointwise grade: 1 to 5 for each response, read as the mean of its distribution, not as its mode.

Why the mean: it uses the whole distribution, and arXiv 2503.03064 finds it the better judge.

Knows: the two questions, grades, how two grades give the labels. Does not know: prompts, tokens, models.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import chain
from statistics import fmean

from engine.core.items import Method, Order
from engine.core.judgments import AnswerLogProbs, RawPrediction
from engine.core.rubric import PromptWording
from engine.core.ways.question import LabelLogProbs, Question, among, log_sum, of_each_response, of_mass

GRADES = (1, 2, 3, 4, 5)
_MIDDLE = 3.0
_CLEARLY = 0.5  # grades by which a response must be better, so that preferring it is as likely as a tie
_SPREAD = 0.25  # grades over which that turns


class PointwiseGrade:
    """Two questions, for the response shown first and for the second, named A and B."""

    method = Method.POINTWISE_GRADE
    help = "A grade from 1 to 5 for each response, read as the mean of its distribution: two short questions."

    def questions(self, wording: PromptWording) -> tuple[Question, ...]:
        """See ElicitationMethod."""
        says = tuple(f"{{response}}: {grade} of {GRADES[-1]}" for grade in GRADES)
        return of_each_response(wording, wording.graded, wording.grade, tuple(map(str, GRADES)), says)

    def label_log_probs(self, answers: Sequence[AnswerLogProbs]) -> LabelLogProbs:
        """See ElicitationMethod: by the means only, as in an ordered logit with ties.

        With d the mean of A less that of B, g the mean of both, t half a grade and s a quarter:
        log-odds are d/s for A, -d/s for B, t/s for a tie; a tie is good with the log-odds (g - 3)/s.
        """
        first, second = map(mean_grade, answers)
        difference, middle = (first - second) / _SPREAD, ((first + second) / 2 - _MIDDLE) / _SPREAD
        tie = _CLEARLY / _SPREAD
        good, bad = tie - log_sum([0.0, -middle]), tie - log_sum([0.0, middle])
        return of_mass([difference, -difference, good, bad], answers)


def mean_grade(answer: AnswerLogProbs) -> float:
    """The mean (1 to 5) of the distribution over the five grades."""
    return math.fsum(math.exp(value) * grade for value, grade in zip(among(answer), GRADES, strict=True))


def mean_grades(raw_predictions: Iterable[RawPrediction]) -> tuple[float, float] | None:
    """The mean grades (1 to 5) of the item's own A and B over the orders; None without grades, or if their
    probabilities are not finite.
    """
    grades: list[tuple[float, float]] = []
    for reading in raw_predictions:
        if reading.method is Method.POINTWISE_GRADE:
            first, second = map(mean_grade, reading.answers)
            grades.append((first, second) if reading.order is Order.AB else (second, first))
    if not grades or not all(map(math.isfinite, chain.from_iterable(grades))):
        return None
    return fmean(a for a, _ in grades), fmean(b for _, b in grades)
