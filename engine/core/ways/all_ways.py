"""All elicitation methods: the questions of a run, and the labels that follow from a model's answers.

Knows: every method. Does not know: prompts, tokens, models, decisions, what is stored.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from engine.core.errors import SetupError
from engine.core.formatting import quoted
from engine.core.items import Method, Order
from engine.core.judgments import AnswerLogProbs, RawPrediction
from engine.core.rubric import PromptWording
from engine.core.ways.absolute import PointwiseYesNo
from engine.core.ways.graded import PointwiseGrade
from engine.core.ways.letters import ChainOfThought, LabelTokens, PermutedLabels
from engine.core.ways.question import ElicitationMethod, Question, among, of_mass

_ALL: tuple[ElicitationMethod, ...] = (
    ChainOfThought(),
    PointwiseGrade(),
    PointwiseYesNo(),
    PermutedLabels(),
    LabelTokens(),
)
METHODS: Mapping[Method, ElicitationMethod] = {
    method: each for method in Method for each in _ALL if each.method is method
}


@dataclass(frozen=True)
class MethodQuestion:
    """One question of a method, as often as a run asks it: with the name under which its answer is stored."""

    method: Method
    name: str
    question: Question


def asked_by(
    methods: Collection[Method], wording: PromptWording, reasoning_samples: int
) -> tuple[MethodQuestion, ...]:
    """All that these methods ask of each criterion in each order, in the order in which it is read.

    Chain of thought comes first, for its prompts may begin otherwise; the label tokens last, for the
    explanations continue from there.
    """
    chosen = [each for each in _ALL if each.method in methods]
    return tuple(
        MethodQuestion(each.method, f"{question.name}{number or ''}", question)
        for each in chosen
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
    """A raw prediction out of a method's answers, one for each of its questions, in their order."""
    labels = METHODS[method].label_log_probs(answers)
    kept = () if method is Method.LABEL_TOKENS else tuple(answers)
    return RawPrediction(order, labels, method, kept)


def together(raw_predictions: Sequence[RawPrediction]) -> tuple[RawPrediction, ...]:
    """For each order, the mean of the methods' log-probabilities, each method normalised first; for a jury
    over its judges' methods, without labels that have no probabilities and no order.

    Raw predictions of one method of one judge are returned as they are. The answer mass is the mean over the
    methods.
    """
    read = [reading for reading in raw_predictions if not reading.label_alone]
    if len({(reading.judge, reading.method) for reading in read}) < 2:
        return tuple(read)
    by_order: dict[Order, list[RawPrediction]] = {}
    for reading in read:
        by_order.setdefault(reading.order, []).append(reading)
    return tuple(_mean(order, own) for order, own in by_order.items())


def _mean(order: Order, raw_predictions: Sequence[RawPrediction]) -> RawPrediction:
    """Each judge of a jury counts alike, and each method of a judge."""
    said = [AnswerLogProbs("", reading.log_probs) for reading in raw_predictions]
    by_judge: dict[int, list[list[float]]] = {}
    for reading, answer in zip(raw_predictions, said, strict=True):
        by_judge.setdefault(reading.judge, []).append(among(answer))
    alone = [[fmean(column) for column in zip(*own, strict=True)] for own in by_judge.values()]
    return RawPrediction(order, of_mass([fmean(column) for column in zip(*alone, strict=True)], said))
