"""What each elicitation method consists of: questions, and the sums that turn answers into labels.

Knows: the interface of a method, log-probabilities. Does not know: a single method, prompts, tokens, models.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from engine.core.formatting import words
from engine.core.items import Method, Order, Preference
from engine.core.judgments import AnswerLogProbs
from engine.core.rubric import PromptWording, put_in

LabelLogProbs = tuple[float, float, float, float]
"""Natural-log probabilities of the four labels, in the order of PREFERENCES, as the model saw the items."""


@dataclass(frozen=True)
class Question:
    """One branch of a prompt, asked of each criterion.

    `name`: under which its answer is stored, unique within its method. `text`: what follows the criterion's
    question on a line of its own; empty for nothing. `lead`: how the reply begins. `answers`: the words that
    may follow it, one of which is read. `says`: what each of them means: a label as the model sees the
    responses, or words, with {first} and {second} for the responses. `reasons`: the model writes reasoning
    before its reply; such a question is asked once for each reasoning sample of a run.
    """

    name: str
    text: str
    lead: str
    answers: tuple[str, ...]
    says: tuple[Preference | str, ...]
    reasons: bool = False

    @property
    def chooses(self) -> bool:
        """Whether each answer is a label."""
        return all(isinstance(each, Preference) for each in self.says)

    def said(self, answer: int, order: Order) -> str:
        """What an answer means for the item's own A and B: `both good`, `A is bad`, `B: 4 of 5`."""
        says = self.says[answer]
        if isinstance(says, Preference):
            return words(says if order is Order.AB else says.swapped)
        first, second = order.arrange("A", "B")
        return put_in(says, first=first, second=second)


def of_each_response(
    wording: PromptWording, text: str, lead: str, answers: tuple[str, ...], says: tuple[str, ...]
) -> tuple[Question, ...]:
    """The same question for the response shown first and for the second, named A and B; `text` and `says`
    have a response's mark.
    """
    shown = (("A", wording.response_a, "{first}"), ("B", wording.response_b, "{second}"))
    return tuple(
        Question(
            name=name,
            text=put_in(text, response=title),
            lead=lead,
            answers=answers,
            says=tuple(put_in(each, response=response) for each in says),
        )
        for name, title, response in shown
    )


class ElicitationMethod(Protocol):
    """An elicitation method; the only place that defines its questions and what their answers mean."""

    @property
    def method(self) -> Method:
        """Which one it is."""

    @property
    def help(self) -> str:
        """What the user should know before choosing it."""

    def questions(self, wording: PromptWording) -> tuple[Question, ...]:
        """What it asks of each criterion in each order, in this order."""

    def label_log_probs(self, answers: Sequence[AnswerLogProbs]) -> LabelLogProbs:
        """The four labels out of its answers, one for each question, in their order.

        Their total is the mean total of the answers: the answer mass stays that of the model.
        """


def log_sum(values: Sequence[float]) -> float:
    """The log of the sum of what these are logs of; NaN where one of them is not finite."""
    if not all(map(math.isfinite, values)):
        return math.nan
    highest = max(values)
    return highest + math.log(math.fsum(math.exp(value - highest) for value in values))


def among(answer: AnswerLogProbs) -> list[float]:
    """The log-probabilities of an answer's words, normalised over these words."""
    total = log_sum(answer.log_probs)
    return [value - total for value in answer.log_probs]


def of_mass(labels: Sequence[float], answers: Sequence[AnswerLogProbs]) -> LabelLogProbs:
    """Log-probabilities of the four labels, in the proportions of `labels`, with the mean answer mass of
    `answers` as their total. NaN if a number is not finite.
    """
    held = log_sum([log_sum(answer.log_probs) for answer in answers]) - math.log(len(answers))
    total = log_sum(labels)
    a, b, both_good, both_bad = (value - total + held for value in labels)
    return a, b, both_good, both_bad
