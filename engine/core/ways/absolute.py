"""Absolute: is each response good on the criterion, yes or no; from the two answers the four labels.

What draws a model's eye in one response moves its choice between the two far more often than its opinion of
one alone: in 35 % of comparisons against 9 % of absolute scores in arXiv 2504.14716.

Knows: the two questions and what their answers say of the labels. Does not know: prompts, tokens, models.
"""

from collections.abc import Sequence

from engine.core.items import Way
from engine.core.judgments import RawAnswer
from engine.core.rubric import PromptWording
from engine.core.ways.question import LabelLogProbs, Question, among, of_each_response, of_mass

_YES, _NO = 0, 1


class Absolute:
    """Two questions, of the response shown first and of the second, named A and B."""

    way = Way.ABSOLUTE
    title = "Yes or no"
    help = "Is a response good on the criterion, yes or no? Asked of each response: two short questions."

    def questions(self, wording: PromptWording) -> tuple[Question, ...]:
        """See WayOfAsking."""
        says = ("{response} is good", "{response} is bad")
        return of_each_response(wording, wording.absolute, wording.answer, (wording.yes, wording.no), says)

    def label_log_probs(self, answers: Sequence[RawAnswer]) -> LabelLogProbs:
        """See WayOfAsking: both good, both bad, or the good one alone, as if the answers were independent."""
        a, b = map(among, answers)
        labels = [a[_YES] + b[_NO], a[_NO] + b[_YES], a[_YES] + b[_YES], a[_NO] + b[_NO]]
        return of_mass(labels, answers)
