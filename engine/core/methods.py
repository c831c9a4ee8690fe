"""All elicitation methods: the questions of a run, and the labels that follow from a model's answers."""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from statistics import fmean
from typing import Protocol

from engine.core.errors import SetupError
from engine.core.formatting import quoted, words
from engine.core.items import PREFERENCES, Method, Order, Preference, grouped
from engine.core.judgments import AnswerLogProbs, RawPrediction
from engine.core.rubric import PromptWording, put_in

LabelLogProbs = tuple[float, float, float, float]
"""Natural-log probabilities of the four labels, in the order of PREFERENCES, as the model saw the items."""


@dataclass(frozen=True)
class Question:
    """One branch of a prompt, asked of each criterion."""

    name: str  # under which its answer is stored, unique within its method
    text: str  # what follows the criterion's question on a line of its own
    lead: str  # how the reply begins
    answers: tuple[str, ...]  # the words that may follow it, one of which is read
    says: tuple[Preference | str, ...]
    """What each means: a label as the model sees the responses, or words, with {first} and {second}."""
    reasons: bool = False  # the model writes reasoning first; asked once for each reasoning sample

    @property
    def chooses(self) -> bool:
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
    """The same question of either response, named A and B, whose mark is in `text` and `says`."""
    questions = []
    for name, title, of in (("A", wording.response_a, "{first}"), ("B", wording.response_b, "{second}")):
        meant = tuple(put_in(each, response=of) for each in says)
        questions.append(Question(name, put_in(text, response=title), lead, answers, meant))
    return tuple(questions)


class ElicitationMethod(Protocol):
    """An elicitation method; the only place that defines its questions and what their answers mean."""

    @property
    def method(self) -> Method: ...
    @property
    def help(self) -> str: ...  # what the user should know before choosing it
    def questions(self, wording: PromptWording) -> tuple[Question, ...]:
        """What it asks of each criterion in each order, in this order."""

    def label_log_probs(self, answers: Sequence[AnswerLogProbs]) -> LabelLogProbs:
        """Out of its answers, one for each question; their total is the mean total of the answers."""


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
    """Labels in the proportions of `labels`, with the mean mass of `answers`; NaN for what is not finite."""
    held = log_sum([log_sum(answer.log_probs) for answer in answers]) - math.log(len(answers))
    total = log_sum(labels)
    a, b, both_good, both_bad = (value - total + held for value in labels)
    return a, b, both_good, both_bad


LETTERS = dict(zip(PREFERENCES, "ABCD", strict=True))
"""The letter of each label, except in the questions of PermutedLabels."""

_LABEL_OF = {letter: label for label, letter in LETTERS.items()}
_SHIFTS = tuple(PREFERENCES[shift:] + PREFERENCES[:shift] for shift in range(len(PREFERENCES)))


class LabelTokens:
    """One letter; its meanings are given before the item."""

    method = Method.LABEL_TOKENS
    help = "One token (A to D) for each criterion, one for each label. The fastest method."

    def questions(self, wording: PromptWording) -> tuple[Question, ...]:
        return (Question("", "", wording.verdict, tuple(LETTERS.values()), PREFERENCES),)

    def label_log_probs(self, answers: Sequence[AnswerLogProbs]) -> LabelLogProbs:
        (answer,) = answers
        a, b, both_good, both_bad = answer.log_probs
        return a, b, both_good, both_bad


class PermutedLabels:
    """One letter, asked once for each shift of the meanings. Models favour some letters whatever these mean;
    if each label has each letter once, a bias that is added to a letter's log-probability cancels out in the
    mean: a Latin square. The name of a question: the letters of the labels that A, B, C and D mean.
    """

    method = Method.PERMUTED_LABELS
    help = (
        "The label tokens with permuted meanings, which averages out label-token bias. Four questions for"
        " each criterion, each with the meanings."
    )

    def questions(self, wording: PromptWording) -> tuple[Question, ...]:
        letters = tuple(LETTERS.values())
        texts = [put_in(wording.permuted, letters=wording.letters(shift)) for shift in _SHIFTS]
        names = ["".join(LETTERS[label] for label in shift) for shift in _SHIFTS]
        asked = zip(names, texts, _SHIFTS, strict=True)
        return tuple(Question(name, text, wording.verdict, letters, shift) for name, text, shift in asked)

    def label_log_probs(self, answers: Sequence[AnswerLogProbs]) -> LabelLogProbs:
        rows = []
        for answer in answers:
            meant = [_LABEL_OF[letter] for letter in answer.question]
            values = among(answer)
            rows.append([values[meant.index(label)] for label in PREFERENCES])
        return of_mass(_means(rows), answers)


class ChainOfThought:
    """One letter after each reasoning sample: for reasoning models."""

    method = Method.CHAIN_OF_THOUGHT
    help = (
        "The model writes its reasoning before the label token. By far the slowest method; for models that"
        " reason."
    )

    def questions(self, wording: PromptWording) -> tuple[Question, ...]:
        return (Question("", "", wording.verdict, tuple(LETTERS.values()), PREFERENCES, reasons=True),)

    def label_log_probs(self, answers: Sequence[AnswerLogProbs]) -> LabelLogProbs:
        """The mean of the probabilities: all samples count alike, whatever their answer mass."""
        columns = zip(*map(among, answers), strict=True)
        return of_mass([log_sum(column) for column in columns], answers)


_YES, _NO = 0, 1


# A distracting feature changes a comparison far more often than a pointwise score: 35 % against 9 % (arXiv
# 2504.14716).
class PointwiseYesNo:
    """Two questions, for the response shown first and for the second."""

    method = Method.POINTWISE_YES_NO
    help = (
        "Is the response good on the criterion, yes or no? One short question for each of the two responses."
    )

    def questions(self, wording: PromptWording) -> tuple[Question, ...]:
        says = ("{response} is good", "{response} is bad")
        return of_each_response(wording, wording.absolute, wording.answer, (wording.yes, wording.no), says)

    def label_log_probs(self, answers: Sequence[AnswerLogProbs]) -> LabelLogProbs:
        a, b = map(among, answers)
        # As if the two answers were independent.
        labels = [a[_YES] + b[_NO], a[_NO] + b[_YES], a[_YES] + b[_YES], a[_NO] + b[_NO]]
        return of_mass(labels, answers)


GRADES = (1, 2, 3, 4, 5)
_MIDDLE = 3.0
_CLEARLY = 0.5  # grades by which a response must be better, so that preferring it is as likely as a tie
_SPREAD = 0.25  # grades over which that turns


class PointwiseGrade:
    """Two questions, for the response shown first and for the second. Read by the mean and not by the mode:
    it uses the whole distribution, and arXiv 2503.03064 finds it the better judge.
    """

    method = Method.POINTWISE_GRADE
    help = "A grade from 1 to 5 for each response, read as the mean of its distribution: two short questions."

    def questions(self, wording: PromptWording) -> tuple[Question, ...]:
        says = tuple(f"{{response}}: {grade} of {GRADES[-1]}" for grade in GRADES)
        return of_each_response(wording, wording.graded, wording.grade, tuple(map(str, GRADES)), says)

    def label_log_probs(self, answers: Sequence[AnswerLogProbs]) -> LabelLogProbs:
        """By the means only, as in an ordered logit with ties. With d the mean of A less that of B, g the
        mean of both, t half a grade and s a quarter: log-odds are d/s for A, -d/s for B, t/s for a tie; a tie
        is good with the log-odds (g - 3)/s.
        """
        first, second = map(mean_grade, answers)
        difference, middle = (first - second) / _SPREAD, ((first + second) / 2 - _MIDDLE) / _SPREAD
        tie = _CLEARLY / _SPREAD
        good, bad = tie - log_sum([0.0, -middle]), tie - log_sum([0.0, middle])
        return of_mass([difference, -difference, good, bad], answers)


def mean_grade(answer: AnswerLogProbs) -> float:
    return math.fsum(math.exp(value) * grade for value, grade in zip(among(answer), GRADES, strict=True))


def mean_grades(raw_predictions: Iterable[RawPrediction]) -> tuple[float, float] | None:
    """Of the item's own A and B (1 to 5) over the orders; None without finite grades."""
    grades: list[tuple[float, float]] = []
    for reading in raw_predictions:
        if reading.method is Method.POINTWISE_GRADE:
            first, second = map(mean_grade, reading.answers)
            grades.append((first, second) if reading.order is Order.AB else (second, first))
    if not grades or not all(map(math.isfinite, chain.from_iterable(grades))):
        return None
    return fmean(a for a, _ in grades), fmean(b for _, b in grades)


# Chain of thought comes first, for its prompts may begin otherwise; the label tokens last, for the
# explanations continue from there.
_KINDS = (ChainOfThought, PointwiseGrade, PointwiseYesNo, PermutedLabels, LabelTokens)
_ALL: tuple[ElicitationMethod, ...] = tuple(kind() for kind in _KINDS)
METHODS = {method: each for method in Method for each in _ALL if each.method is method}


@dataclass(frozen=True)
class MethodQuestion:
    """One question of a method, with the name under which its answer is stored."""

    method: Method
    name: str
    question: Question


def asked_by(
    methods: Collection[Method], wording: PromptWording, reasoning_samples: int
) -> tuple[MethodQuestion, ...]:
    """All that these methods ask of each criterion in each order, in the order in which it is read."""
    return tuple(
        MethodQuestion(each.method, f"{question.name}{number or ''}", question)
        for each in _ALL
        if each.method in methods
        for question in each.questions(wording)
        for number in (range(1, reasoning_samples + 1) if question.reasons else (0,))
    )


def parse_methods(text: str) -> tuple[Method, ...]:
    """`label-tokens,pointwise-yes-no` as methods, in their default order. SetupError for anything else."""
    names = [name.strip() for name in text.split(",")]
    options = [method.option for method in Method]
    unknown = [name for name in names if name not in options]
    if unknown or len(set(names)) < len(names):
        wrong = f"there is no method {quoted(unknown[0])}" if unknown else "one is named twice"
        raise SetupError(
            f"Elicitation methods: cannot read {quoted(text)}: {wrong}.",
            f"Write some of {', '.join(options)}, with commas.",
        )
    return tuple(method for method in Method if method.option in names)


def parse_method(text: str) -> Method:
    """`pointwise-grade` as a method. ValueError for anything else."""
    for method in Method:
        if method.option == text:
            return method
    raise ValueError(f"{text!r} is no elicitation method")


def raw_prediction_of(method: Method, order: Order, answers: Sequence[AnswerLogProbs]) -> RawPrediction:
    labels = METHODS[method].label_log_probs(answers)
    kept = () if method is Method.LABEL_TOKENS else tuple(answers)
    return RawPrediction(order, labels, method, kept)


def together(raw_predictions: Sequence[RawPrediction]) -> tuple[RawPrediction, ...]:
    """For each order the mean of the methods' log-probabilities, each method (and judge of a jury) normalised
    first. Raw predictions of one method of one judge are returned as they are, labels alone left out.
    """
    read = [reading for reading in raw_predictions if not reading.label_alone]
    if len({(reading.judge, reading.method) for reading in read}) < 2:
        return tuple(read)
    by_order = grouped(read, key=lambda reading: reading.order)
    return tuple(_mean(order, own) for order, own in by_order.items())


def _mean(order: Order, raw_predictions: Sequence[RawPrediction]) -> RawPrediction:
    """Each judge of a jury counts alike, and each method of a judge."""
    said = [(reading.judge, AnswerLogProbs("", reading.log_probs)) for reading in raw_predictions]
    by_judge = grouped(said, key=itemgetter(0))
    alone = [_means(among(answer) for _, answer in own) for own in by_judge.values()]
    return RawPrediction(order, of_mass(_means(alone), [answer for _, answer in said]))


def _means(rows: Iterable[Sequence[float]]) -> list[float]:
    return [fmean(column) for column in zip(*rows, strict=True)]
