"""What each way of asking is made of: questions, and the sums by which their answers become labels.

Knows: the shape of a way, log-probabilities. Does not know: any one way, prompts, tokens, models.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from engine.core.formatting import words
from engine.core.items import Order, Preference, Way
from engine.core.judgments import RawAnswer
from engine.core.rubric import PromptWording, put_in

LabelLogProbs = tuple[float, float, float, float]
"""Natural-log probabilities of the four labels, in the order of PREFERENCES, as the model saw the items."""


@dataclass(frozen=True)
class Question:
    """One branch of a prompt, asked of each criterion.

    `name`: by which its answer is stored, one of its way's own. `text`: what follows the criterion's question
    on a line of its own; empty for nothing. `lead`: how the reply begins. `answers`: the words that may
    follow it, one of which is read. `says`: what each of them means: a label as the model sees the responses,
    or words, with {first} and {second} for the responses. `thinks`: the model writes a thought before its
    reply; such a question is asked once for each thought of a run.
    """

    name: str
    text: str
    lead: str
    answers: tuple[str, ...]
    says: tuple[Preference | str, ...]
    thinks: bool = False

    @property
    def chooses(self) -> bool:
        """Whether each answer is a label."""
        return all(isinstance(each, Preference) for each in self.says)

    def said(self, answer: int, order: Order) -> str:
        """What an answer says of the item's own A and B: `both good`, `A is bad`, `B: 4 of 5`."""
        says = self.says[answer]
        if isinstance(says, Preference):
            return words(says if order is Order.AB else says.swapped)
        first, second = order.arrange("A", "B")
        return put_in(says, first=first, second=second)


def of_each_response(
    wording: PromptWording, text: str, lead: str, answers: tuple[str, ...], says: tuple[str, ...]
) -> tuple[Question, ...]:
    """The same question of the response shown first and of the second, named A and B; `text` and `says` have
    a response's mark.
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


class WayOfAsking(Protocol):
    """A way of asking; the only place that says what one is, asks and means."""

    @property
    def way(self) -> Way:
        """Which one it is."""

    @property
    def title(self) -> str:
        """What it asks for, in a few words."""

    @property
    def help(self) -> str:
        """What a person should know before choosing it."""

    def questions(self, wording: PromptWording) -> tuple[Question, ...]:
        """What it asks of each criterion in each order, in this order."""

    def label_log_probs(self, answers: Sequence[RawAnswer]) -> LabelLogProbs:
        """The four labels out of its answers, one for each question, in their order.

        What the four hold together is the mean of what the answers held: the format mass stays that of the
        model.
        """


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
