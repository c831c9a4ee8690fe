"""Pointwise yes/no: is each response good on the criterion; from the two answers the four labels.

A distracting feature of one response changes a comparison of the two far more often than a pointwise score:
35 % of comparisons against 9 % of pointwise scores in arXiv 2504.14716.

Knows: the two questions, and how their answers give the labels. Does not know: prompts, tokens, models.
"""

from collections.abc import Sequence

from engine.core.items import Method
from engine.core.judgments import AnswerLogProbs
from engine.core.rubric import PromptWording
from engine.core.ways.question import LabelLogProbs, Question, among, of_each_response, of_mass

_YES, _NO = 0, 1


class PointwiseYesNo:
    """Two questions, for the response shown first and for the second, named A and B."""

    method = Method.POINTWISE_YES_NO
    help = (
        "Is the response good on the criterion, yes or no? One short question for each of the two responses."
    )

    def questions(self, wording: PromptWording) -> tuple[Question, ...]:
        """See ElicitationMethod."""
        says = ("{response} is good", "{response} is bad")
        return of_each_response(wording, wording.absolute, wording.answer, (wording.yes, wording.no), says)

    def label_log_probs(self, answers: Sequence[AnswerLogProbs]) -> LabelLogProbs:
        """See ElicitationMethod: both good, both bad, or one good, as if the answers were independent."""
        a, b = map(among, answers)
        labels = [a[_YES] + b[_NO], a[_NO] + b[_YES], a[_YES] + b[_YES], a[_NO] + b[_NO]]
        return of_mass(labels, answers)
