"""The ways that read one letter for each label: at once, with their meanings permuted, after a thought.

A model leans to letters by themselves, whatever they mean. Where each label stands once at each letter, a
lean that is added to a letter's log-probability falls out of the mean (Latin square of the four shifts).

Knows: which letter means which label. Does not know: prompts, tokens, models, how a template opens a thought.
"""

from collections.abc import Sequence
from statistics import fmean

from engine.core.items import PREFERENCES, Way
from engine.core.judgments import RawAnswer
from engine.core.rubric import PromptWording, put_in
from engine.core.ways.question import LabelLogProbs, Question, among, log_sum, of_mass

LETTERS = dict(zip(PREFERENCES, "ABCD", strict=True))
"""The letter of each label, but in questions of Permuted."""

_LABEL_OF = {letter: label for label, letter in LETTERS.items()}
_SHIFTS = tuple(PREFERENCES[shift:] + PREFERENCES[:shift] for shift in range(len(PREFERENCES)))


class Letters:
    """One letter, whose meanings stand before the item."""

    way = Way.LETTERS
    title = "The letter"
    help = "A letter for each criterion, one for each label. The least work."

    def questions(self, wording: PromptWording) -> tuple[Question, ...]:
        """See WayOfAsking: one, the reply's first letter."""
        return (Question("", "", wording.verdict, tuple(LETTERS.values()), PREFERENCES),)

    def label_log_probs(self, answers: Sequence[RawAnswer]) -> LabelLogProbs:
        """See WayOfAsking: as they were read."""
        (answer,) = answers
        a, b, both_good, both_bad = answer.log_probs
        return a, b, both_good, both_bad


class Permuted:
    """One letter, asked once for each shift of the meanings, which each question says again.

    The name of a question: the letters of `letters` in the order in which it gives them meanings.
    """

    way = Way.PERMUTED
    title = "Letters with other meanings"
    help = (
        "The letters with their meanings changed round, so that a lean to a letter falls out. Four questions"
        " for each criterion, which say the meanings again."
    )

    def questions(self, wording: PromptWording) -> tuple[Question, ...]:
        """See WayOfAsking: four."""
        letters = tuple(LETTERS.values())
        return tuple(
            Question(
                name="".join(LETTERS[label] for label in shift),
                text=put_in(wording.permuted, letters=wording.letters(shift)),
                lead=wording.verdict,
                answers=letters,
                says=shift,
            )
            for shift in _SHIFTS
        )

    def label_log_probs(self, answers: Sequence[RawAnswer]) -> LabelLogProbs:
        """See WayOfAsking: the mean of the log-probabilities that each label had at its letters."""
        rows = []
        for answer in answers:
            meant = [_LABEL_OF[letter] for letter in answer.question]
            values = among(answer)
            rows.append([values[meant.index(label)] for label in PREFERENCES])
        return of_mass([fmean(column) for column in zip(*rows, strict=True)], answers)


class Thinking:
    """One letter after each thought: for models that reason."""

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
        """See WayOfAsking: the mean of the probabilities, for a thought may settle on any label; each thought
        counts alike, however much of all probability its letters hold.
        """
        columns = zip(*map(among, answers), strict=True)
        return of_mass([log_sum(column) for column in columns], answers)
