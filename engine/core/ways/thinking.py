"""Thinking: for models that reason. They think first, then the letters are read; the mean over the thoughts.

Knows: how thoughts are put together. Does not know: how a template opens a thought, models.
"""

from collections.abc import Sequence

from engine.core.items import PREFERENCES, Way
from engine.core.judgments import RawAnswer
from engine.core.rubric import PromptWording
from engine.core.ways.letters import LETTERS
from engine.core.ways.log_space import log_sum, of_mass
from engine.core.ways.question import LabelLogProbs, Question


class Thinking:
    """One letter after each thought."""

    way = Way.THINKING
    title = "The letter after a thought"
    help = (
        "The model writes down what it thinks before its letter. By far the most work; for models that"
        " reason."
    )

    def questions(self, wording: PromptWording) -> tuple[Question, ...]:
        """See WayOfAsking: one, asked after each thought."""
        return (Question("", "", wording.verdict, tuple(LETTERS.values()), PREFERENCES, thinks=True),)

    def label_log_probs(self, answers: Sequence[RawAnswer]) -> LabelLogProbs:
        """See WayOfAsking: the mean of the probabilities, for a thought may settle on any label."""
        columns = zip(*(answer.log_probs for answer in answers), strict=True)
        return of_mass([log_sum(column) for column in columns], answers)
