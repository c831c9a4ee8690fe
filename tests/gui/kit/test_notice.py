"""Errors in the words of the window."""

import pytest

from engine.core.errors import SetupError
from engine.system.paths import program
from gui.kit.notice import problem_of


@pytest.mark.parametrize(
    ("remedy", "shown"),
    [
        ("Name another file for the run store (--store).", "Name another file for the run store."),
        ("Use a larger --context, or --shorten.", "Use a larger context, or shorten."),
        ("Use f16 (--kv-type f16).", "Use f16."),
        (
            f"Calibrate a run of this judge: {program()} calibrate RUN --gold FILE",
            "Calibrate a run of this judge.",
        ),
        (f"Name the id of a run: see {program()} runs", "Name the id of a run."),
    ],
)
def test_remedies_name_no_options_of_the_command_line(remedy: str, shown: str) -> None:
    assert problem_of(SetupError("Something is wrong.", remedy)) == ("Something is wrong.", shown)
