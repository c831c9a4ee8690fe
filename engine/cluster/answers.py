"""What workers answer, as JSON, and how much of it is believed: nothing that was not asked for.

What a worker must know to judge: of the run, once; of the items, with each task.

An answer never is a pickle, and is checked against the question before anything of it is stored.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from engine.core.errors import Hint, SetupError
from engine.core.items import Item, Method, Order, Preference, digest, unsafe_explanation
from engine.core.judgments import (
    AnswerLogProbs,
    Explanation,
    JudgedItem,
    RawPrediction,
    Shortening,
    is_log_prob,
    is_seconds,
)
from engine.core.methods import MethodQuestion, asked_by, raw_prediction_of
from engine.core.rubric import Rubric
from engine.judging.plan import RunPlan
from engine.prompt.examples import ExamplePool
from engine.results.calibration import Calibration
from engine.settings.rows import JudgeSettings
from engine.system.files import check_depth

ITEMS_OF_A_TASK = 8
"""Items that a worker is given at a time, where nobody says otherwise."""


@dataclass(frozen=True)
class JudgeWork:
    """What all items of a run are judged with. No path: each worker finds the model by its content.

    `model_hash`: SHA-256 of its files, `model_bytes` of them; `model_name`: for messages.
    """

    model_name: str
    model_hash: str
    model_bytes: int
    rubric: Rubric
    settings: JudgeSettings
    examples: ExamplePool
    calibration: Calibration | None

    @cached_property
    def key(self) -> str:
        """What a worker knows it by: all that can change what it judges."""
        calibrated = self.calibration.hash if self.calibration is not None else ""
        return digest(
            [self.model_hash, self.rubric.asked, self.settings.as_json(), self.examples.hash, calibrated]
        )


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
    """What travels with a task: the items' ids and texts, without human labels."""
    return [
        [
            PlacedItem(position, replace(plan.dataset[position], gold={}), position in plan.dataset.series)
            for position in group
        ]
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


def item_json(item: JudgedItem) -> dict[str, Any]:
    """A judged item as plain values; floats come back exactly."""
    short = item.shortening
    return {
        "position": item.position,
        "id": item.item_id,
        "content": item.content_hash,
        "readings": {
            name: [
                [
                    each.order.value,
                    each.method.value,
                    [  # the raw answers of which it is made
                        [answer.question, list(answer.log_probs), answer.thought, answer.cut]
                        for answer in each.answers or (AnswerLogProbs("", each.log_probs),)
                    ],
                ]
                for each in raw_predictions
            ]
            for name, raw_predictions in item.raw_predictions.items()
        },
        "explanations": {
            name: [each.text, each.preference.value, each.cut] for name, each in item.explanations.items()
        },
        "unscored": dict(item.unscored),
        "shortening": None if short is None else [short.left_out_a, short.left_out_b],
        "seconds": item.seconds,
        "tokens": [item.tokens_read, item.tokens_generated],
    }


def judged_group(
    said: object, asked: Sequence[PlacedItem], rubric: Rubric, settings: JudgeSettings
) -> list[JudgedItem]:
    """A judged group as a worker answered it. WrongAnswer unless it is one of exactly these items."""
    if not isinstance(said, list) or len(said) != len(asked):
        raise WrongAnswer("another number of items")
    return [_item(value, placed, rubric, settings) for value, placed in zip(said, asked, strict=True)]


def _item(value: object, asked: PlacedItem, rubric: Rubric, settings: JudgeSettings) -> JudgedItem:
    value = _mapping(value)
    found = (value.get("position"), value.get("id"), value.get("content"))
    if found != (asked.position, asked.item.id, asked.item.content_hash):
        raise WrongAnswer("another item")
    raw_predictions = {
        name: _raw_predictions(rows, rubric, settings)
        for name, rows in _by_criterion(value.get("readings"), rubric)
    }
    unscored = {name: _reason(text) for name, text in _by_criterion(value.get("unscored"), rubric)}
    if set(raw_predictions) & set(unscored) or {*raw_predictions, *unscored} != set(rubric.names):
        raise WrongAnswer("criteria without raw predictions and without a reason")
    explanations = {
        name: _explanation(text, settings) for name, text in _by_criterion(value.get("explanations"), rubric)
    }
    if not set(explanations) <= set(raw_predictions):
        raise WrongAnswer("an explanation of nothing")
    read, generated = _counts(value.get("tokens"))
    seconds = value.get("seconds")
    if not is_seconds(seconds):
        raise WrongAnswer("impossible seconds")
    short = value.get("shortening")
    return JudgedItem(
        position=asked.position,
        item_id=asked.item.id,
        content_hash=asked.item.content_hash,
        raw_predictions=raw_predictions,
        explanations=explanations,
        unscored=unscored,
        shortening=None if short is None else Shortening(*_counts(short)),
        seconds=float(seconds),
        tokens_read=read,
        tokens_generated=generated,
        lengths=asked.item.lengths,
    )


def _mapping(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise WrongAnswer("no record")
    return value


def _by_criterion(value: object, rubric: Rubric) -> list[tuple[str, Any]]:
    """In the order of the answer, which is that of the judge: raw predictions are stored in it."""
    own = _mapping(value)
    if not set(own) <= set(rubric.names):
        raise WrongAnswer("a criterion that was not requested")
    return list(own.items())


def _raw_predictions(rows: object, rubric: Rubric, settings: JudgeSettings) -> tuple[RawPrediction, ...]:
    asked: dict[Method, list[MethodQuestion]] = {}
    for each in asked_by(settings.methods, rubric.wording, settings.reasoning_samples):
        asked.setdefault(each.method, []).append(each)
    if not isinstance(rows, list) or not rows or len(rows) > len(settings.orders) * len(asked):
        raise WrongAnswer("another number of raw predictions")
    raw_predictions = tuple(_reading(row, asked, settings) for row in rows)
    orders = settings.orders_as_read
    possible = [orders, *([orders[:1]] if settings.may_read_one_order else [])]
    found = [(reading.order, reading.method) for reading in raw_predictions]
    if found not in [[(order, method) for order in some for method in asked] for some in possible]:
        raise WrongAnswer("orders or methods that were not requested")
    return raw_predictions


def _reading(
    row: object, asked: Mapping[Method, Sequence[MethodQuestion]], settings: JudgeSettings
) -> RawPrediction:
    if not isinstance(row, list) or len(row) != 3 or not isinstance(row[2], list):
        raise WrongAnswer("a raw prediction of another shape")
    order, method, said = row
    if order not in tuple(Order) or method not in tuple(Method) or Method(method) not in asked:
        raise WrongAnswer("an unknown order or method")
    questions = asked[Method(method)]
    if len(said) != len(questions):
        raise WrongAnswer("another number of answers")
    answers = [_answer(each, one, settings) for each, one in zip(said, questions, strict=True)]
    return raw_prediction_of(Method(method), Order(order), answers)


def _answer(value: object, asked: MethodQuestion, settings: JudgeSettings) -> AnswerLogProbs:
    if not isinstance(value, list) or len(value) != 4 or not isinstance(value[1], list):
        raise WrongAnswer("an answer of another shape")
    question, numbers, thought, cut = value
    if question != asked.name or len(numbers) != len(asked.question.answers):
        raise WrongAnswer("an answer to another question")
    # A model may give no finite number, which is stored and said of its label.
    if not all(
        isinstance(number, float) and (math.isnan(number) or is_log_prob(number)) for number in numbers
    ):
        raise WrongAnswer("numbers that are no log-probabilities")
    longest = _LETTERS_OF_A_TOKEN * settings.max_reasoning_tokens if asked.question.reasons else 0
    if not isinstance(thought, str) or len(thought) > longest or not isinstance(cut, bool):
        raise WrongAnswer("reasoning that was not requested")
    return AnswerLogProbs(question, tuple(numbers), thought, cut)


def _explanation(value: object, settings: JudgeSettings) -> Explanation:
    if not settings.explains or not isinstance(value, list) or len(value) != 3:
        raise WrongAnswer("an explanation that was not requested")
    text, preference, cut = value
    longest = _LETTERS_OF_A_TOKEN * settings.max_explanation_tokens
    if not isinstance(text, str) or len(text) > longest or not isinstance(cut, bool):
        raise WrongAnswer("an explanation of another shape")
    if unsafe_explanation(text) or any(letter in text for letter in "\r\n\t"):
        raise WrongAnswer("an explanation that no submission can contain")
    if preference not in tuple(Preference):
        raise WrongAnswer("an explanation for an unknown label")
    return Explanation(text, Preference(preference), cut)


def _reason(value: object) -> str:
    if not isinstance(value, str) or not value or len(value) > _MOST_LETTERS or not value.isprintable():
        raise WrongAnswer("a reason that is none")
    return value


def _counts(value: object) -> tuple[int, int]:
    if not isinstance(value, list) or len(value) != 2:
        raise WrongAnswer("numbers of another shape")
    if not all(type(number) is int and 0 <= number < 1 << 53 for number in value):
        raise WrongAnswer("impossible numbers")
    return value[0], value[1]
