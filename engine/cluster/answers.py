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
from engine.core.items import Order, Preference, Way
from engine.core.judgments import (
    Explanation,
    JudgedItem,
    RawAnswer,
    Reading,
    Shortening,
    is_log_prob,
    is_seconds,
)
from engine.core.remedies import Remedy
from engine.core.rubric import Rubric
from engine.core.settings import JudgeSettings
from engine.core.ways.all_ways import Asked, asked_by, reading_of
from engine.system.plain_json import check_depth

_SAID = "said"
_REFUSED, _PROBLEM, _REMEDY = "refused", "problem", "remedy"
_MOST_BYTES = 1 << 26
_MOST_LETTERS = 1000  # of a reason or a problem
_LETTERS_OF_A_TOKEN = 256


class WrongAnswer(ValueError):
    """A worker answered something that it was not asked, or that no judge finds; the text says what."""


def answer(said: object) -> bytes:
    """An answer with plain values."""
    return json.dumps({_SAID: said}).encode("ascii")


def refusal(error: SetupError) -> bytes:
    """The answer of a worker that cannot do what it was asked, for a reason that a person can mend there."""
    said = {_PROBLEM: error.problem[:_MOST_LETTERS], _REMEDY: error.remedy.as_json()}
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
        problem, remedy = str(refused[_PROBLEM]), Remedy.of_json(refused[_REMEDY])
    except (KeyError, TypeError) as error:
        raise WrongAnswer("neither an answer nor a reason") from error
    raise SetupError(problem[:_MOST_LETTERS], remedy)


def item_json(item: JudgedItem) -> dict[str, Any]:
    """A judged item as plain values; floats come back exactly."""
    short = item.shortening
    return {
        "position": item.position,
        "id": item.item_id,
        "content": item.content_hash,
        "readings": {
            name: [_reading_json(reading) for reading in readings] for name, readings in item.readings.items()
        },
        "explanations": {
            name: [each.text, each.preference.value, each.cut] for name, each in item.explanations.items()
        },
        "unscored": dict(item.unscored),
        "shortening": None if short is None else [short.left_out_a, short.left_out_b],
        "seconds": item.seconds,
        "tokens": [item.tokens_read, item.tokens_generated],
    }


def _reading_json(reading: Reading) -> list[Any]:
    """Its order, its way, and the raw answers of which it is made."""
    answers = reading.answers or (RawAnswer("", reading.log_probs),)
    said = [[answer.question, list(answer.log_probs), answer.thought, answer.cut] for answer in answers]
    return [reading.order.value, reading.way.value, said]


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
    readings = {
        name: _readings(rows, rubric, settings) for name, rows in _by_criterion(value.get("readings"), rubric)
    }
    unscored = {name: _reason(text) for name, text in _by_criterion(value.get("unscored"), rubric)}
    if set(readings) & set(unscored) or {*readings, *unscored} != set(rubric.names):
        raise WrongAnswer("criteria without readings and without a reason")
    explanations = {
        name: _explanation(text, settings) for name, text in _by_criterion(value.get("explanations"), rubric)
    }
    if not set(explanations) <= set(readings):
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
        readings=readings,
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
    """In the order of the answer, which is that of the judge: readings are stored in it."""
    own = _mapping(value)
    if not set(own) <= set(rubric.names):
        raise WrongAnswer("a criterion that was not asked")
    return list(own.items())


def _readings(rows: object, rubric: Rubric, settings: JudgeSettings) -> tuple[Reading, ...]:
    asked: dict[Way, list[Asked]] = {}
    for each in asked_by(settings.ways, rubric.wording, settings.thoughts):
        asked.setdefault(each.way, []).append(each)
    if not isinstance(rows, list) or not rows or len(rows) > len(settings.orders) * len(asked):
        raise WrongAnswer("another number of readings")
    readings = tuple(_reading(row, asked, settings) for row in rows)
    orders = settings.orders_as_read
    possible = [orders, *([orders[:1]] if settings.may_read_one_order else [])]
    found = [(reading.order, reading.way) for reading in readings]
    if found not in [[(order, way) for order in some for way in asked] for some in possible]:
        raise WrongAnswer("orders or ways that were not asked")
    return readings


def _reading(row: object, asked: Mapping[Way, Sequence[Asked]], settings: JudgeSettings) -> Reading:
    if not isinstance(row, list) or len(row) != 3 or not isinstance(row[2], list):
        raise WrongAnswer("a reading of another shape")
    order, way, said = row
    if order not in tuple(Order) or way not in tuple(Way) or Way(way) not in asked:
        raise WrongAnswer("an unknown order or way")
    questions = asked[Way(way)]
    if len(said) != len(questions):
        raise WrongAnswer("another number of answers")
    answers = [_answer(each, one, settings) for each, one in zip(said, questions, strict=True)]
    return reading_of(Way(way), Order(order), answers)


def _answer(value: object, asked: Asked, settings: JudgeSettings) -> RawAnswer:
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
    longest = _LETTERS_OF_A_TOKEN * settings.max_thought_tokens if asked.question.thinks else 0
    if not isinstance(thought, str) or len(thought) > longest or not isinstance(cut, bool):
        raise WrongAnswer("a thought that was not asked")
    return RawAnswer(question, tuple(numbers), thought, cut)


def _explanation(value: object, settings: JudgeSettings) -> Explanation:
    if not settings.explains or not isinstance(value, list) or len(value) != 3:
        raise WrongAnswer("an explanation that was not asked")
    text, preference, cut = value
    longest = _LETTERS_OF_A_TOKEN * settings.max_explanation_tokens
    if not isinstance(text, str) or len(text) > longest or not isinstance(cut, bool):
        raise WrongAnswer("an explanation of another shape")
    if unsafe_explanation(text) or any(letter in text for letter in "\r\n\t"):
        raise WrongAnswer("an explanation that no submission can hold")
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
