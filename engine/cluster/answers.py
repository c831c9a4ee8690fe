"""What workers answer, as JSON, and how much of it is believed: nothing that was not asked for.

An answer never is a pickle, and is checked against the question before anything of it is stored.

Knows: judged items as plain values, what a worker could have found. Does not know: Dask, sessions, stores.
"""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from engine.cluster.work import PlacedItem
from engine.core.cell_safety import unsafe_explanation
from engine.core.errors import SetupError
from engine.core.items import Method, Order, Preference
from engine.core.judgments import (
    AnswerLogProbs,
    Explanation,
    JudgedItem,
    RawPrediction,
    Shortening,
    is_log_prob,
    is_seconds,
)
from engine.core.remedies import Hint
from engine.core.rubric import Rubric
from engine.core.settings import JudgeSettings
from engine.core.ways.all_ways import MethodQuestion, asked_by, raw_prediction_of
from engine.system.plain_json import check_depth

_SAID = "said"
_REFUSED, _PROBLEM, _HINT = "refused", "problem", "remedy"
_MOST_BYTES = 1 << 26
_MOST_LETTERS = 1000  # of a reason or a problem
_LETTERS_OF_A_TOKEN = 256


class WrongAnswer(ValueError):
    """A worker answered something that it was not asked, or that no judge finds; the text says what."""


def answer(said: object) -> bytes:
    """An answer with plain values."""
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
            name: [_reading_json(reading) for reading in raw_predictions]
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


def _reading_json(reading: RawPrediction) -> list[Any]:
    """Its order, its way, and the raw answers of which it is made."""
    answers = reading.answers or (AnswerLogProbs("", reading.log_probs),)
    said = [[answer.question, list(answer.log_probs), answer.thought, answer.cut] for answer in answers]
    return [reading.order.value, reading.method.value, said]


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
