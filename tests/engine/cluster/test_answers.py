"""What workers answer comes back exactly, and nothing else is believed."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from engine.cluster.answers import (
    PlacedItem,
    WrongAnswer,
    answer,
    item_json,
    judged_group,
    refusal,
    said_in,
    written_group,
)
from engine.core.errors import Hint, SetupError, Step
from engine.core.items import Item, Method, Order, Preference
from engine.core.judgments import AnswerLogProbs, Explanation, JudgedItem, RawPrediction, Shortening
from engine.core.methods import raw_prediction_of
from engine.core.rubric import ELOQUENT
from engine.judging.generation import GenerationSettings, ReadPrompt
from engine.settings.rows import JudgeSettings

ITEM = Item("7", "Why?", "so", "because")
ASKED = [PlacedItem(3, ITEM, in_series=False)]
SETTINGS = JudgeSettings(max_explanation_tokens=8)
NAMES = ELOQUENT.names
LOG_PROBS = (-0.1, -1 / 3, -1e-300, float("-inf"))
JUDGED = JudgedItem(
    position=3,
    item_id="7",
    content_hash=ITEM.content_hash,
    raw_predictions=dict.fromkeys(
        NAMES[1:], (RawPrediction(Order.BA, LOG_PROBS), RawPrediction(Order.AB, LOG_PROBS))
    ),
    explanations={NAMES[1]: Explanation("Because é.", Preference.BOTH_GOOD, cut=True)},
    unscored={NAMES[0]: "needs 9,000 tokens, the context holds 8,192"},
    shortening=Shortening(5, 0),
    seconds=0.1 + 0.2,
    tokens_read=12,
    tokens_generated=3,
    lengths=ITEM.lengths,
)


def test_a_judged_item_comes_back_exactly() -> None:
    said = said_in(answer([item_json(JUDGED)]))
    assert judged_group(said, ASKED, ELOQUENT, SETTINGS) == [JUDGED]
    assert list(judged_group(said, ASKED, ELOQUENT, SETTINGS)[0].raw_predictions) == list(
        JUDGED.raw_predictions
    )


def change(name: str, value: object) -> Callable[[dict[str, Any]], None]:
    return lambda said: said.update({name: value})


def reading(value: object) -> Callable[[dict[str, Any]], None]:
    return lambda said: said["readings"].update({NAMES[1]: value})


def explanation(value: object) -> Callable[[dict[str, Any]], None]:
    return lambda said: said["explanations"].update({NAMES[1]: value})


GOOD = [0.0, -1.0, -2.0, -3.0]


def letters(order: str, numbers: list[Any] = GOOD) -> list[Any]:
    return [order, "letters", [["", numbers, "", False]]]


def test_a_reading_of_this_shape_is_believed() -> None:
    said: dict[str, Any] = json.loads(json.dumps(item_json(JUDGED)))
    reading([letters("BA"), letters("AB")])(said)
    assert judged_group([said], ASKED, ELOQUENT, SETTINGS)


def test_readings_of_several_ways_come_back_exactly() -> None:
    settings = replace(
        SETTINGS,
        methods=(Method.LABEL_TOKENS, Method.POINTWISE_YES_NO, Method.CHAIN_OF_THOUGHT),
        reasoning_samples=2,
        max_reasoning_tokens=4,
    )
    yes_no = [AnswerLogProbs("A", (-0.1, -3.0)), AnswerLogProbs("B", (-2.0, -1 / 7))]
    said_after = (-1.0, -2.0, -3.0, -4.0)
    reasoning_samples = [
        AnswerLogProbs(str(place), said_after, f"So? {place}", cut=place == 1) for place in (1, 2)
    ]
    raw_predictions = tuple(
        made
        for order in (Order.BA, Order.AB)
        for made in (
            raw_prediction_of(Method.CHAIN_OF_THOUGHT, order, reasoning_samples),
            raw_prediction_of(Method.POINTWISE_YES_NO, order, yes_no),
            RawPrediction(order, LOG_PROBS),
        )
    )
    judged = replace(JUDGED, raw_predictions=dict.fromkeys(NAMES[1:], raw_predictions))
    said = said_in(answer([item_json(judged)]))
    assert judged_group(said, ASKED, ELOQUENT, settings) == [judged]
    with pytest.raises(WrongAnswer):
        judged_group(said, ASKED, ELOQUENT, replace(settings, reasoning_samples=1))
    with pytest.raises(WrongAnswer):
        judged_group(
            said, ASKED, ELOQUENT, replace(settings, methods=(Method.LABEL_TOKENS, Method.CHAIN_OF_THOUGHT))
        )


@pytest.mark.parametrize(
    "wrong",
    [
        change("position", 4),
        change("position", 3.0000001),
        change("id", "8"),
        change("content", "0" * 64),
        change("readings", None),
        change("readings", {}),
        change("unscored", {"beauty": "none"}),
        change("unscored", {NAMES[0]: "two\nlines"}),
        change("unscored", {NAMES[0]: ""}),
        change("unscored", {NAMES[0]: "x" * 2000}),
        change("seconds", -1),
        change("seconds", float("nan")),
        change("seconds", 1e308),
        change("seconds", 10**400),
        change("seconds", "1"),
        change("tokens", [1]),
        change("tokens", [1, -1]),
        change("tokens", [10**400, 1]),
        change("tokens", [True, 1]),
        change("shortening", [1, 2, 3]),
        reading([]),
        reading([letters("AB")]),
        reading([letters("AB"), letters("BA")]),
        reading([letters("BA"), ["AB", GOOD]]),
        reading([letters("BA"), letters("AB", GOOD[:3])]),
        reading([letters("BA"), letters("AB", [0.5, -1.0, -2.0, -3.0])]),
        reading([letters("BA"), letters("AB", [0, -1, -2, -3])]),
        reading([letters("BA"), letters("AB", [-1e308, -1.0, -2.0, -3.0])]),
        reading([letters("BA"), letters("AB", ["0", "-1", "-2", "-3"])]),
        reading([letters("BA"), letters("XY")]),
        reading([letters("BA"), ["AB", "letters", []]]),
        reading([letters("BA"), ["AB", "letters", [["B", GOOD, "", False]]]]),
        reading([letters("BA"), ["AB", "letters", [["", GOOD, "I think so.", False]]]]),
        reading(
            [letters("BA"), ["AB", "absolute", [["A", GOOD[:2], "", False], ["B", GOOD[:2], "", False]]]]
        ),
        reading([letters("BA"), ["AB", "guessing", [["", GOOD, "", False]]]]),
        explanation(["x", "A"]),
        explanation(["x", "C", False]),
        explanation(["two\tcells", "A", False]),
        explanation(["nan", "A", False]),
        explanation(["x" * 10_000, "A", False]),
        explanation([5, "A", False]),
    ],
)
def test_what_was_not_asked_is_not_believed(wrong: Callable[[dict[str, Any]], None]) -> None:
    said: dict[str, Any] = json.loads(json.dumps(item_json(JUDGED)))
    wrong(said)
    with pytest.raises(WrongAnswer):
        judged_group([said], ASKED, ELOQUENT, SETTINGS)


def test_another_number_of_items_is_not_believed() -> None:
    wrong: list[object] = [[], [item_json(JUDGED)] * 2, None, {}]
    for said in wrong:
        with pytest.raises(WrongAnswer):
            judged_group(said, ASKED, ELOQUENT, SETTINGS)


def test_one_order_is_believed_only_where_it_may_be_enough() -> None:
    said = [
        item_json(
            replace(JUDGED, raw_predictions={name: JUDGED.raw_predictions[name][1:] for name in NAMES[1:]})
        )
    ]
    with pytest.raises(WrongAnswer):
        judged_group(said, ASKED, ELOQUENT, SETTINGS)
    assert judged_group(said, ASKED, ELOQUENT, replace(SETTINGS, second_order_below=0.5))


@pytest.mark.parametrize(
    "data",
    [b"", b"\xff", b"[]", b"{}", b'{"refused": 5}', "text", None, b"[" * 100_000, b'{"said": ["\\ud800"]}'],
)
def test_what_is_no_answer_is_not_read(data: object) -> None:
    with pytest.raises(WrongAnswer):
        said_in(data)


def test_a_refusal_is_an_error_for_the_person_who_asked() -> None:
    refused = refusal(SetupError("No such model.", Hint(Step.NAME_WORKER_MODEL)))
    with pytest.raises(SetupError, match="No such model") as raised:
        said_in(refused)
    assert raised.value.hint == Hint(Step.NAME_WORKER_MODEL)


@pytest.mark.parametrize(
    "said",
    [[], [["Hi.", 2, False, 1.0]] * 2, [["Hi.", 9, True, 1.0]], [["x" * 600, 2, False, 1.0]]],
    ids=["none", "two", "tokens", "long"],
)
def test_responses_that_were_not_requested_are_refused(said: object) -> None:
    asked, settings = [ReadPrompt("p", (1, 2))], GenerationSettings(max_tokens=8)
    assert written_group([["Hi.", 2, False, 1.0]], asked, settings)[0].text == "Hi."
    with pytest.raises(WrongAnswer, match="not requested"):
        written_group(said, asked, settings)
    with pytest.raises(WrongAnswer, match="another shape"):
        written_group([["Hi.", "two", False, 1.0]], asked, settings)
