"""The methods that read label tokens: at once, with permuted meanings, and after reasoning.

Models have label-token bias: they favour some letters whatever these mean. If each label has each letter
once, a bias that is added to a letter's log-probability cancels out in the mean: a Latin square of four
shifts.

Knows: which letter means which label. Does not know: prompts, tokens, models, reasoning blocks of templates.
"""

from collections.abc import Sequence
from statistics import fmean

from engine.core.items import PREFERENCES, Method
from engine.core.judgments import AnswerLogProbs
from engine.core.rubric import PromptWording, put_in
from engine.core.ways.question import LabelLogProbs, Question, among, log_sum, of_mass

LETTERS = dict(zip(PREFERENCES, "ABCD", strict=True))
"""The letter of each label, except in the questions of PermutedLabels."""

_LABEL_OF = {letter: label for label, letter in LETTERS.items()}
_SHIFTS = tuple(PREFERENCES[shift:] + PREFERENCES[:shift] for shift in range(len(PREFERENCES)))


class LabelTokens:
    """One letter; its meanings are given before the item."""

    method = Method.LABEL_TOKENS
    help = "One token (A to D) for each criterion, one for each label. The fastest method."

    def questions(self, wording: PromptWording) -> tuple[Question, ...]:
        """See ElicitationMethod: one, for the reply's first letter."""
        return (Question("", "", wording.verdict, tuple(LETTERS.values()), PREFERENCES),)

    def label_log_probs(self, answers: Sequence[AnswerLogProbs]) -> LabelLogProbs:
        """See ElicitationMethod: as they were read."""
        (answer,) = answers
        a, b, both_good, both_bad = answer.log_probs
        return a, b, both_good, both_bad


class PermutedLabels:
    """One letter, asked once for each shift of the meanings, which each question repeats.

    The name of a question: the letters in the order of the labels that it assigns to A, B, C and D.
    """

    method = Method.PERMUTED_LABELS
    help = (
        "The label tokens with permuted meanings, which averages out label-token bias. Four questions for"
        " each criterion, each with the meanings."
    )

    def questions(self, wording: PromptWording) -> tuple[Question, ...]:
        """See ElicitationMethod: four."""
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

    def label_log_probs(self, answers: Sequence[AnswerLogProbs]) -> LabelLogProbs:
        """See ElicitationMethod: the mean of each label's log-probabilities over the questions."""
        rows = []
        for answer in answers:
            meant = [_LABEL_OF[letter] for letter in answer.question]
            values = among(answer)
            rows.append([values[meant.index(label)] for label in PREFERENCES])
        return of_mass([fmean(column) for column in zip(*rows, strict=True)], answers)


class ChainOfThought:
    """One letter after each reasoning sample: for reasoning models."""

    method = Method.CHAIN_OF_THOUGHT
    help = (
        "The model writes its reasoning before the label token. By far the slowest method; for models that"
        " reason."
    )

    def questions(self, wording: PromptWording) -> tuple[Question, ...]:
        """See ElicitationMethod: one, asked after each reasoning sample."""
        return (Question("", "", wording.verdict, tuple(LETTERS.values()), PREFERENCES, reasons=True),)

    def label_log_probs(self, answers: Sequence[AnswerLogProbs]) -> LabelLogProbs:
        """See ElicitationMethod: the mean of the probabilities, as each sample may end with any label.
        All samples count alike, whatever their answer mass.
        """
        columns = zip(*map(among, answers), strict=True)
        return of_mass([log_sum(column) for column in columns], answers)
