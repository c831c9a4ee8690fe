"""Remedies in the words of Python: what they name can be typed."""

from ast import literal_eval

import pandas as pd
import pytest

import tiebreak
from engine.api.refused import PARAMETERS
from engine.cli.shared.hints import OPTIONS
from engine.core.column_map import ColumnMap, parse_columns, parse_labels
from engine.core.errors import Hint, Setting, Step


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (Setting.DEVICE.at("cpu"), "device='cpu'"),
        (Setting.CONTEXT.at(4096), "context=4096"),
        (Setting.EXPLANATION_TOKENS, "max_explanation_tokens"),
        (Setting.CHOICE, "few_shot_selection"),
        (Setting.PARTIAL, "partial=True"),
    ],
)
def test_a_setting_is_a_parameter(part: Setting, words: str) -> None:
    assert PARAMETERS.of(Hint(part)) == words


def test_columns_and_labels_are_dictionaries_as_the_options_read_them() -> None:
    asked = ColumnMap.of({"id": "a,b", "output_a": "x=y"}, {"1=1": "A", "a, b": "B"})
    columns = PARAMETERS.of(Hint(Setting.COLUMNS.at(asked.columns_text))).removeprefix("columns=")
    labels = PARAMETERS.of(Hint(Setting.LABELS.at(asked.labels_text))).removeprefix("labels=")
    assert literal_eval(columns) == parse_columns(asked.columns_text)
    assert literal_eval(labels) == parse_labels(asked.labels_text)


def test_no_option_is_named_where_there_is_a_parameter() -> None:
    commands_alone = {step for step in Step if PARAMETERS.steps[step] == OPTIONS.steps[step]}
    assert not any("--" in text for step, text in PARAMETERS.steps.items() if step not in commands_alone)
    assert {Step.NAME_CANDIDATES, Step.CHOOSE_STORE, Step.FIND_DATASET}.isdisjoint(commands_alone)


def test_a_frame_with_other_columns_is_read_by_what_the_remedy_says(judge: tiebreak.Judge) -> None:
    frame = pd.DataFrame({"uid": ["1"], "prompt": ["Say a."], "answer_1": ["x"], "answer_2": ["y"]})
    with pytest.raises(tiebreak.Refused) as met:
        judge.run(frame, progress=False)
    assert met.value.hint.startswith(
        "Rename the columns of the frame, or name the columns of the file: tiebreak.read(path, ...)"
    )
    assert "'output_a': 'answer_1'" in met.value.hint
    assert "--" not in met.value.hint
