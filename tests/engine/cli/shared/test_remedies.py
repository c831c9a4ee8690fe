"""Remedies as the commands print them, and that they name what the commands have."""

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.cli.shared.console import guarded
from engine.cli.shared.hints import OPTIONS
from engine.core.errors import Setting
from engine.system.paths import program
from tests.refusals import REFUSALS, Bench, refusal
from tests.test_layout import command_line

PRINTED = {
    "cache of a session": "Use f16 (--kv-type f16).",
    "room of a session": "Use a smaller --context, or close other programs.",
    "memory of a batch": "Use a smaller --context, or close other programs.",
    "cache by the header": "Use f16 (--kv-type f16).",
    "memory": (
        "Use a smaller context (--context) or a smaller quantisation of this model, or close programs."
    ),
    "memory, rounder": (
        "Use a smaller context (--context), a KV cache in q8_0 (--kv-type q8_0) or a smaller quantisation of"
        " this model, or close programs."
    ),
    "no examples": "Use 1 or more, or omit --examples.",
    "too few examples": "Use --few-shot 2 or fewer, or a file with more labelled items.",
    "stem": "Use a larger --context, fewer --few-shot or shorter examples.",
    "trained context": "Use --context 1024 or less.",
    "no item fits": "Use a larger --context, or --shorten.",
    "newer store": "Name another file for the run store (--store).",
    "no store": "The file is damaged or of another kind. Name another file for the run store (--store).",
    "store in a file": "Name a file for the run store in a folder where you may write (--store).",
    "store of a run": "Name the right store with --store, or a submission file: ./3",
    "other judge": f"Calibrate a run of this judge: {program()} calibrate RUN --gold LABELLED-DATASET",
    "no calibration": "Make it again with the command calibrate.",
    "impossible calibration": "Make it again with the command calibrate.",
    "moved dataset": "Put the dataset back there, or name its file with --dataset.",
    "unlabelled run": (
        "Label or accept some first, on the page Review; or export the judge's own labels as well:"
        " --with-judge."
    ),
    "examples too many": "Leave --examples out.",
    "examples missing": (
        "Name the same file with --examples, the same number with --few-shot, and the same selection with"
        " --few-shot-selection."
    ),
    "other ids": "Name the dataset that was judged, or score what both have with --partial.",
    "incomplete run": (
        "The run is not complete: 1 of 2 items are judged. Resume with the same judge command, or score what"
        " both have with --partial."
    ),
    "other texts": (
        "Name the dataset that was judged. If its texts were only saved in another format, write the run's"
        " submission with `runs export` and use that."
    ),
    "submission calibrated": f"Name the id of a run: see {program()} runs",
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_remedy_is_printed_with_the_options_of_the_commands(
    name: str, tmp_path: Path, small_model: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    error = refusal(Bench(tmp_path, small_model), name)

    def fail() -> int:
        raise error

    capsys.readouterr()
    assert guarded(fail) == 2
    assert capsys.readouterr().err == f"{error.problem}\n{PRINTED[name]}\n"


def test_every_setting_is_an_option() -> None:
    assert all(command_line().fullmatch(OPTIONS.settings[setting]) for setting in Setting)
