"""The settings of a run as they are stored, and read again."""

import json
from dataclasses import fields, replace

import pytest

from engine.core.errors import SetupError
from engine.core.items import Order, Way
from engine.core.settings import SETTINGS, JudgeSettings, KvType, Mode, rows_of, settings_of

USUAL = JudgeSettings()


@pytest.mark.parametrize(
    "settings",
    [
        JudgeSettings(),
        JudgeSettings(max_explanation_sentences=None),
        JudgeSettings(context=1024, max_explanation_tokens=7, temperature=0.5, seed=3, items_at_once=2),
        JudgeSettings(mode=Mode.LABELS, orders=(Order.AB,), shorten=True, kv_type=KvType.Q8_0),
        JudgeSettings(second_order_below=0.5),
        JudgeSettings(ways=(Way.GRADED, Way.THINKING), thoughts=3, thought_temperature=0.7, seed=1),
    ],
)
def test_what_is_stored_is_read_again(settings: JudgeSettings) -> None:
    assert settings_of(json.loads(json.dumps({**settings.as_json(), "examples": ""}))) == settings


@pytest.mark.parametrize(
    "damaged",
    [
        {"mode": "poem"},
        {"orders": "AB"},
        {"context": "8192"},
        {"context": None},
        {"seed": True},
        {"shorten": 1},
        {"kv_type": 8},
        {"temperature": float("nan")},
        {"ways": []},
        {"ways": None},
    ],
)
def test_damaged_settings_are_refused(damaged: dict[str, object]) -> None:
    with pytest.raises((TypeError, ValueError, SetupError)):
        settings_of({**JudgeSettings().as_json(), **damaged})


def test_every_setting_of_a_judge_has_a_row_with_words_of_its_own() -> None:
    rows = rows_of(JudgeSettings)
    assert {row.name for row in rows} == {each.name for each in fields(JudgeSettings)}
    assert len({row.words for row in SETTINGS}) == len(SETTINGS)


def test_every_choice_of_a_setting_has_words() -> None:
    assert all(set(row.choices) == set(type(choice)) for row in SETTINGS for choice in row.choices)


def test_a_run_from_before_there_was_a_limit_of_sentences_has_none() -> None:
    stored = JudgeSettings(max_explanation_sentences=None).as_json()
    assert "max_explanation_sentences" not in stored
    assert settings_of(stored).max_explanation_sentences is None
    assert JudgeSettings().as_json() == {**stored, "max_explanation_sentences": 3}


def test_labels_alone_depend_on_nothing_of_explanations() -> None:
    labels = JudgeSettings(mode=Mode.LABELS)
    other = replace(labels, max_explanation_tokens=7, max_explanation_sentences=1, temperature=0.5, seed=9)
    assert labels.as_json() == other.as_json()


def test_no_sentence_at_all_is_no_limit() -> None:
    with pytest.raises(SetupError, match="number of sentences of an explanation is 0"):
        JudgeSettings(max_explanation_sentences=0)


def test_a_cache_in_f16_is_not_named_so_that_runs_from_before_are_the_same() -> None:
    assert "kv_type" not in USUAL.as_json()
    assert replace(USUAL, kv_type=KvType.Q8_0).as_json()["kv_type"] == "q8_0"


def test_a_run_that_reads_all_in_both_orders_names_no_margin_so_that_runs_from_before_are_the_same() -> None:
    assert "second_order_below" not in USUAL.as_json()
    partly = replace(USUAL, second_order_below=0.5)
    assert partly.as_json() == {**USUAL.as_json(), "second_order_below": 0.5}


@pytest.mark.parametrize("margin", [0, -1, 1.01, float("nan")])
def test_a_margin_that_is_none_is_refused(margin: float) -> None:
    with pytest.raises(SetupError, match="The margin is"):
        replace(USUAL, second_order_below=margin)


def test_a_margin_for_one_order_is_refused() -> None:
    with pytest.raises(SetupError, match="one order only"):
        replace(USUAL, orders=(Order.AB,), second_order_below=0.5)
