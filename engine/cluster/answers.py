"""What a worker must know to judge, or to respond: of the whole, once; of the items, with each task. What
workers answer, as JSON, and how much of it is believed: an answer never is a pickle, and is checked against
the question before anything of it is stored.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, NamedTuple

import msgspec

from engine.core import judgments
from engine.core.codec import check_depth, plain, record_of
from engine.core.errors import Hint, SetupError
from engine.core.items import Item, Method, Order, Preference, digest, grouped, unsafe_explanation
from engine.core.methods import MethodQuestion, asked_by, raw_prediction_of
from engine.core.rubric import Rubric
from engine.judging.generation import GenerationSettings, RawResponse, ReadPrompt
from engine.judging.plan import RunPlan
from engine.llama.context import SessionShape
from engine.prompt.examples import ExamplePool
from engine.results.calibration import Calibration
from engine.settings.rows import JudgeSettings

ITEMS_OF_A_TASK = 8  # items that a worker is given at a time, where nobody says otherwise


@dataclass(frozen=True)
class ModelWork:
    """Done with a model. No path: each worker finds the model by its content."""

    model_name: str  # for messages
    model_hash: str  # SHA-256 of its files
    model_bytes: int


@dataclass(frozen=True)
class JudgeWork(ModelWork):
    """What all items of a run are judged with."""

    rubric: Rubric
    settings: JudgeSettings
    examples: ExamplePool
    calibration: Calibration | None

    @cached_property
    def key(self) -> str:
        calibrated = self.calibration.hash if self.calibration is not None else ""
        return digest(
            [self.model_hash, self.rubric.asked, self.settings.as_json(), self.examples.hash, calibrated]
        )


@dataclass(frozen=True)
class WriteWork(ModelWork):
    """What all responses of a candidate are written with. `shape`: of the session, as one computer has it."""

    settings: GenerationSettings
    shape: SessionShape

    @cached_property
    def key(self) -> str:
        return digest([self.model_hash, plain(self.settings), plain(self.shape)])


def work_of(plan: RunPlan) -> JudgeWork:
    model = plan.model
    return JudgeWork(
        model.name, model.hash, model.size_bytes, plan.rubric, plan.settings, plan.examples, plan.calibration
    )


@dataclass(frozen=True)
class PlacedItem:
    """An item to judge. `in_series`: a neighbour in the dataset has its instruction."""

    position: int
    item: Item
    in_series: bool


@dataclass(frozen=True)
class ItemTask:
    """Groups of positions that one worker judges one after the other; each is stored by itself."""

    number: int
    groups: tuple[range, ...]

    @property
    def items(self) -> int:
        return sum(map(len, self.groups))

    @property
    def in_words(self) -> str:
        """`items 17 to 24`, counted from 1 as users do."""
        first, last = self.groups[0].start + 1, self.groups[-1].stop
        return f"item {first:,}" if first == last else f"items {first:,} to {last:,}"


def tasks_of(groups: Sequence[range], items: int = ITEMS_OF_A_TASK) -> list[ItemTask]:
    """Groups in their order, as many together as have about this many items, at least one."""
    tasks: list[ItemTask] = []
    own: list[range] = []
    for group in groups:
        if own and sum(map(len, own)) + len(group) > items:
            tasks.append(ItemTask(len(tasks), tuple(own)))
            own = []
        own.append(group)
    return [*tasks, ItemTask(len(tasks), tuple(own))] if own else tasks


def placed_items(plan: RunPlan, task: ItemTask) -> list[list[PlacedItem]]:
    items, series = plan.dataset, plan.dataset.series
    return [
        [PlacedItem(each, replace(items[each], gold={}), each in series) for each in group]
        for group in task.groups
    ]


_SAID = "said"
_REFUSED, _PROBLEM, _HINT = "refused", "problem", "remedy"
_MOST_BYTES = 1 << 26
_MOST_LETTERS = 1000  # of a reason or a problem
_LETTERS_OF_A_TOKEN = 256


class WrongAnswer(ValueError):
    """A worker answered something that it was not asked, or that no judge finds; the text says what."""


def answer(said: object) -> bytes:
    return json.dumps({_SAID: said}).encode("ascii")


def refusal(error: SetupError) -> bytes:
    """The answer of a worker that cannot do what it was asked, for a reason that the user can fix there."""
    said = {_PROBLEM: error.problem[:_MOST_LETTERS], _HINT: error.hint.as_json()}
    return json.dumps({_REFUSED: said}).encode("ascii")


def said_in(data: object) -> Any:
    """What an answer says. SetupError where the worker refused, WrongAnswer for what is no answer."""
    if not isinstance(data, bytes) or len(data) > _MOST_BYTES:
        raise WrongAnswer("no answer of a reasonable size")
    try:
        check_depth(data)
        read = json.loads(data)
        if b"\\u" in data:  # of a half character no store and no file can be made
            json.dumps(read, ensure_ascii=False).encode("utf-8")
    except ValueError as error:
        raise WrongAnswer("no JSON") from error
    if isinstance(read, dict) and _SAID in read:
        return read[_SAID]
    try:
        refused = read[_REFUSED]
        problem, hint = str(refused[_PROBLEM]), Hint.of_json(refused[_HINT])
    except (KeyError, TypeError) as error:
        raise WrongAnswer("neither an answer nor a reason") from error
    raise SetupError(problem[:_MOST_LETTERS], hint)


class _Answer(NamedTuple):
    """To one question: numbers that may be none, which a model may give, and what it reasoned before."""

    question: str
    log_probs: tuple[Any, ...]
    thought: str
    cut: bool


class _Prediction(NamedTuple):
    order: Order
    method: Method
    answers: tuple[_Answer, ...]


class _Explanation(NamedTuple):
    text: str
    preference: Preference
    cut: bool


_Count = Annotated[int, msgspec.Meta(ge=0, lt=1 << 53)]


class _Item(msgspec.Struct):
    position: int
    id: str
    content: str
    readings: dict[str, tuple[_Prediction, ...]]
    explanations: dict[str, _Explanation]
    unscored: dict[str, Annotated[str, msgspec.Meta(min_length=1, max_length=_MOST_LETTERS)]]
    shortening: tuple[_Count, _Count] | None
    seconds: Any
    tokens: tuple[_Count, _Count]


def item_json(item: judgments.JudgedItem) -> dict[str, Any]:
    short = item.shortening
    said = _Item(
        position=item.position,
        id=item.item_id,
        content=item.content_hash,
        readings={name: tuple(map(_said_reading, each)) for name, each in item.raw_predictions.items()},
        explanations={
            name: _Explanation(each.text, Preference(each.preference), each.cut)
            for name, each in item.explanations.items()
        },
        unscored=dict(item.unscored),
        shortening=None if short is None else (short.left_out_a, short.left_out_b),
        seconds=item.seconds,
        tokens=(item.tokens_read, item.tokens_generated),
    )
    values: dict[str, Any] = plain(said)
    return values


def _said_reading(reading: judgments.RawPrediction) -> _Prediction:
    answers = reading.answers or (judgments.AnswerLogProbs("", reading.log_probs),)
    said = tuple(_Answer(each.question, each.log_probs, each.thought, each.cut) for each in answers)
    return _Prediction(reading.order, reading.method, said)


def written_group(
    said: object, asked: Sequence[ReadPrompt], settings: GenerationSettings
) -> list[RawResponse]:
    """The responses of a group as a worker answered them. WrongAnswer unless they can be these."""
    try:
        found = record_of(said, list[RawResponse])
    except ValueError as error:
        raise WrongAnswer(f"another shape: {error}") from error
    if len(found) != len(asked) or not all(
        0 <= each.tokens <= settings.max_tokens
        and len(each.text) <= _LETTERS_OF_A_TOKEN * each.tokens
        and judgments.is_seconds(each.seconds)
        for each in found
    ):
        raise WrongAnswer("responses that were not requested")
    return found


def judged_group(
    said: object, asked: Sequence[PlacedItem], rubric: Rubric, settings: JudgeSettings
) -> list[judgments.JudgedItem]:
    """A judged group as a worker answered it. WrongAnswer unless it is one of exactly these items."""
    try:
        items = record_of(said, list[_Item])
    except ValueError as error:
        raise WrongAnswer(f"another shape: {error}") from error
    if len(items) != len(asked):
        raise WrongAnswer("another number of items")
    return [_item(item, placed, rubric, settings) for item, placed in zip(items, asked, strict=True)]


def _item(said: _Item, asked: PlacedItem, rubric: Rubric, settings: JudgeSettings) -> judgments.JudgedItem:
    if (said.position, said.id, said.content) != (asked.position, asked.item.id, asked.item.content_hash):
        raise WrongAnswer("another item")
    if not {*said.readings, *said.unscored, *said.explanations} <= set(rubric.names):
        raise WrongAnswer("a criterion that was not requested")
    if set(said.readings) & set(said.unscored) or {*said.readings, *said.unscored} != set(rubric.names):
        raise WrongAnswer("criteria without raw predictions and without a reason")
    if not set(said.explanations) <= set(said.readings):
        raise WrongAnswer("an explanation of nothing")
    if not all(reason.isprintable() for reason in said.unscored.values()):
        raise WrongAnswer("a reason that is none")
    if not judgments.is_seconds(said.seconds):
        raise WrongAnswer("impossible seconds")
    return judgments.JudgedItem(
        position=asked.position,
        item_id=asked.item.id,
        content_hash=asked.item.content_hash,
        # In the order of the answer, which is that of the judge: raw predictions are stored in it.
        raw_predictions={
            name: _raw_predictions(rows, rubric, settings) for name, rows in said.readings.items()
        },
        explanations={name: _explanation(each, settings) for name, each in said.explanations.items()},
        unscored=said.unscored,
        shortening=None if said.shortening is None else judgments.Shortening(*said.shortening),
        seconds=float(said.seconds),
        tokens_read=said.tokens[0],
        tokens_generated=said.tokens[1],
        lengths=asked.item.lengths,
    )


def _raw_predictions(
    rows: Sequence[_Prediction], rubric: Rubric, settings: JudgeSettings
) -> tuple[judgments.RawPrediction, ...]:
    questions = asked_by(settings.methods, rubric.wording, settings.reasoning_samples)
    asked = grouped(questions, key=lambda question: question.method)
    orders = settings.orders_as_read
    possible = [orders, *([orders[:1]] if settings.may_read_one_order else [])]
    found = [(reading.order, reading.method) for reading in rows]
    if found not in [[(order, method) for order in some for method in asked] for some in possible]:
        raise WrongAnswer("orders or methods that were not requested")
    raw_predictions = []
    for order, method, said in rows:
        if len(said) != len(asked[method]):
            raise WrongAnswer("another number of answers")
        answers = [_answer(each, one, settings) for each, one in zip(said, asked[method], strict=True)]
        raw_predictions.append(raw_prediction_of(method, order, answers))
    return tuple(raw_predictions)


def _answer(said: _Answer, asked: MethodQuestion, settings: JudgeSettings) -> judgments.AnswerLogProbs:
    if said.question != asked.name or len(said.log_probs) != len(asked.question.answers):
        raise WrongAnswer("an answer to another question")
    # A model may give no finite number, which is stored and said of its label.
    if not all(
        isinstance(number, float) and (math.isnan(number) or judgments.is_log_prob(number))
        for number in said.log_probs
    ):
        raise WrongAnswer("numbers that are no log-probabilities")
    if len(said.thought) > _LETTERS_OF_A_TOKEN * settings.max_reasoning_tokens * asked.question.reasons:
        raise WrongAnswer("reasoning that was not requested")
    return judgments.AnswerLogProbs(*said)


def _explanation(said: _Explanation, settings: JudgeSettings) -> judgments.Explanation:
    if not settings.explains or len(said.text) > _LETTERS_OF_A_TOKEN * settings.max_explanation_tokens:
        raise WrongAnswer("an explanation that was not requested")
    if unsafe_explanation(said.text) or any(letter in said.text for letter in "\r\n\t"):
        raise WrongAnswer("an explanation that no submission can contain")
    return judgments.Explanation(*said)
