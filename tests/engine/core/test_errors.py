"""Remedies in parts: worded whole, readable in a log, and the same after a way through JSON."""

import json

import pytest

from engine.core.errors import FileKind, Hint, Setting, SetupError, Step, Wording

HINT = Hint(
    *("Use ", Setting.CONTEXT.at(512), ", or ", Setting.SHORTEN, ". {0} ", Step.RESUME, ". ", FileKind.MODEL)
)
SETTINGS = {setting: f"<{setting.name}>" for setting in Setting}
STEPS = {step: step.name.lower() for step in Step}
KINDS = {kind: f"open the {kind.name}" for kind in FileKind}


def test_each_part_is_worded_and_comes_back_from_json() -> None:
    worded = Wording(SETTINGS, STEPS, KINDS, "{0}={1}").of(HINT)
    assert worded == "Use <CONTEXT>=512, or <SHORTEN>. {0} resume. open the MODEL"
    assert Hint.of_json(json.loads(json.dumps(HINT.as_json()))) == HINT


def test_a_wording_lacks_nothing() -> None:
    with pytest.raises(ValueError, match="no words for CONTEXT"):
        Wording(
            {name: text for name, text in SETTINGS.items() if name is not Setting.CONTEXT}, STEPS, KINDS, ""
        )
    with pytest.raises(ValueError, match="no words for ALLOW_MIXED_BUILDS, ALLOW_PLAIN_TCP, "):
        Wording(SETTINGS, {}, KINDS, "")
    with pytest.raises(ValueError, match="no words for DATASET, SUBMISSION, "):
        Wording(SETTINGS, STEPS, {}, "")


def test_an_error_as_text_is_plain_words() -> None:
    assert str(SetupError("It does not fit.", HINT)) == (
        "It does not fit.\nUse context: 512, or shortened responses. {0} Resume the run. Use it as what it"
        " is: a model."
    )
    assert str(SetupError("It does not fit.", "Close programs.")) == "It does not fit.\nClose programs."


@pytest.mark.parametrize(
    "value", [None, "Close it.", [3], [{}], [{"step": "DANCE"}], [{"setting": "SIZE"}], [{"kind": "ODD"}]]
)
def test_what_is_no_remedy_is_refused(value: object) -> None:
    with pytest.raises((KeyError, TypeError)):
        Hint.of_json(value)
