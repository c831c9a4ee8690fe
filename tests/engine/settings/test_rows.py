"""The settings of a run as they are stored, and read again."""

import json
import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from engine.core.errors import SetupError
from engine.core.items import Method, Order
from engine.settings import rows
from engine.settings.run_setup import RunSetup
from tests.steps import refused

DEFAULT = rows.JudgeSettings()


@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {"max_explanation_sentences": None},
        {"context": 1024, "max_explanation_tokens": 7, "temperature": 0.5, "seed": 3, "items_at_once": 2},
        {"mode": rows.Mode.LABELS, "orders": (Order.AB,), "shorten": True, "kv_type": rows.KvType.Q8_0},
        {"second_order_below": 0.5},
        {"methods": (Method.POINTWISE_GRADE, Method.CHAIN_OF_THOUGHT), "reasoning_samples": 3},
    ],
)
def test_what_is_stored_is_read_again(chosen: dict[str, Any]) -> None:
    settings = rows.JudgeSettings(**chosen)
    assert rows.settings_of(json.loads(json.dumps({**settings.as_json(), "examples": ""}))) == settings


@pytest.mark.parametrize(
    "damaged",
    [
        {"mode": "poem"},
        {"orders": "AB"},
        {"context": "8192"},
        {"seed": True},
        {"kv_type": 8},
        {"temperature": float("nan")},
        {"ways": []},
    ],
)
def test_damaged_settings_are_refused(damaged: dict[str, object]) -> None:
    with pytest.raises((TypeError, ValueError, SetupError)):
        rows.settings_of({**rows.JudgeSettings().as_json(), **damaged})


def test_every_setting_of_a_judge_has_a_row_and_every_row_and_choice_words_of_its_own() -> None:
    assert {row.name for row in rows.rows_of(rows.JudgeSettings)} == {
        each.name for each in fields(rows.JudgeSettings)
    }
    assert len({row.words for row in rows.SETTINGS}) == len(rows.SETTINGS)
    assert all(set(row.choices) == set(type(choice)) for row in rows.SETTINGS for choice in row.choices)


EXAMPLES = {"examples_path": Path("e.tsv"), "shots": 2, "example_choice": rows.ExampleKind.NEAR}


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({}, ""),
        ({"mode": rows.Mode.LABELS, "temperature": 0.5}, "labels only"),
        ({"both_orders": False, "temperature": 0.5}, "one order, temperature 0.5"),
        ({"context": 8192, "kv_type": rows.KvType.Q8_0}, "context 8,192, KV cache q8_0"),
        ({"second_order_below": 0.5}, "second order below a margin of 0.5"),
        (
            {"methods": (Method.LABEL_TOKENS, Method.CHAIN_OF_THOUGHT), "reasoning_samples": 1200},
            "method: label tokens, chain of thought (1,200 reasoning samples)",
        ),
        ({"methods": (Method.POINTWISE_GRADE,), "reasoning_samples": 4}, "method: pointwise grade"),
        (EXAMPLES, "2 examples, the nearest"),
        ({**EXAMPLES, "examples_path": None}, ""),
    ],
    ids=lambda case: "" if isinstance(case, str) else "+".join(case) or "default",
)
def test_a_list_says_of_settings_what_is_not_the_default(chosen: dict[str, Any], words: str) -> None:
    assert rows.settings_in_words(RunSetup(Path("d.tsv"), Path("m.gguf"), **chosen)) == words


def test_settings_of_a_run_are_said_as_those_of_its_setup() -> None:
    assert rows.settings_in_words(DEFAULT) == ""
    # The context is that of the model, unless somebody chose it.
    other = replace(DEFAULT, orders=(Order.AB,), context=512, max_explanation_tokens=7)
    assert rows.settings_in_words(other) == "one order"


def test_a_run_from_before_there_was_a_limit_of_sentences_has_none_and_labels_know_no_texts() -> None:
    stored = rows.JudgeSettings(max_explanation_sentences=None).as_json()
    assert rows.settings_of(stored).max_explanation_sentences is None
    assert DEFAULT.as_json() == {**stored, "max_explanation_sentences": 3}
    labels = rows.JudgeSettings(mode=rows.Mode.LABELS)
    other = replace(labels, max_explanation_tokens=7, max_explanation_sentences=1, temperature=0.5, seed=9)
    assert labels.as_json() == other.as_json()


@pytest.mark.parametrize(("name", "other"), [("kv_type", rows.KvType.Q8_0), ("second_order_below", 0.5)])
def test_what_came_later_is_named_where_it_is_not_as_before_so_that_older_runs_are_the_same(
    name: str, other: object
) -> None:
    chosen: dict[str, Any] = {name: other}
    assert name not in DEFAULT.as_json()
    assert replace(DEFAULT, **chosen).as_json() == DEFAULT.as_json() | chosen


@pytest.mark.parametrize(
    ("wrong", "refusal"),
    [
        ({"context": 100}, "The context is 100.\nUse 256 or more."),
        ({"max_explanation_tokens": 0}, "The longest explanation is 0.\nUse 1 or more."),
        ({"max_explanation_sentences": 0}, "The number of sentences of an explanation is 0.\nUse 1 or more."),
        ({"temperature": -1.0}, "The temperature is -1.0.\nUse 0 (greedy), or 0.01 or more."),
        ({"temperature": 1e-310}, "The temperature is 1e-310.\nUse 0 (greedy), or 0.01 or more."),
        ({"seed": -(2**63)}, "The seed has 19 digits.\nUse 18 or fewer."),
        ({"reasoning_samples": 1001}, "The number of reasoning samples is 1001.\nUse 1000 or fewer."),
        ({"max_reasoning_tokens": 0}, "The longest reasoning is 0.\nUse 1 or more."),
        ({"methods": ()}, "The elicitation methods are none.\nName each once: some of label tokens, "),
        (
            {"methods": (Method.LABEL_TOKENS, Method.LABEL_TOKENS)},
            "The elicitation methods are label tokens, label tokens.\nName each once: ",
        ),
        ({"orders": (Order.BA,)}, "The orders lack AB.\nUse AB alone, or AB and BA."),
        ({"second_order_below": 1.01}, "The margin threshold is 1.01.\nUse more than 0 and at most 1"),
        ({"second_order_below": float("nan")}, "The margin threshold is nan."),
        (
            {"second_order_below": 0.5, "orders": (Order.AB,)},
            "There is a margin threshold for the second order, but",
        ),
        ({"threads": 0}, "The number of threads is 0.\nUse 1 or more."),
        ({"threads": 100_000}, "The number of threads is 100000.\nUse 512 or fewer."),
        ({"threads": 1, "gpu_layers": -5}, "The number of GPU layers is -5.\nUse 0 or more."),
    ],
)
def test_what_cannot_be_is_refused_with_what_can(wrong: dict[str, Any], refusal: str) -> None:
    kind = rows.MachineSettings if "threads" in wrong else rows.JudgeSettings
    refused(lambda: kind(**wrong), re.escape(refusal))
