"""The settings of a run as they are stored, and read again."""

from dataclasses import replace

import pytest

from engine.core.errors import SetupError
from engine.core.settings import JudgeSettings, KvType, Mode, settings_of


@pytest.mark.parametrize(
    "settings",
    [
        JudgeSettings(),
        JudgeSettings(max_explanation_sentences=None),
        JudgeSettings(mode=Mode.EXPLAIN, temperature=0.5, seed=3, kv_type=KvType.Q8_0),
    ],
)
def test_what_is_stored_is_read_again(settings: JudgeSettings) -> None:
    assert settings_of(settings.as_json()) == settings


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
