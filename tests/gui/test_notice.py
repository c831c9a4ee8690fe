"""Errors in the words of the window."""

import pytest

from engine.errors import SetupError
from gui.widgets.notice import problem_of


@pytest.mark.parametrize(
    ("remedy", "shown"),
    [
        ("Name another file for the run store (--store).", "Name another file for the run store."),
        ("Use a larger --context, or --shorten.", "Use a larger context, or shorten."),
        ("Use f16 (--kv-type f16).", "Use f16."),
        (
            "Calibrate a run of this judge: main.py calibrate RUN --gold FILE",
            "Calibrate a run of this judge.",
        ),
        ("Name the id of a run: see main.py runs", "Name the id of a run."),
    ],
)
def test_remedies_name_no_options_of_the_command_line(remedy: str, shown: str) -> None:
    assert problem_of(SetupError("Something is wrong.", remedy)) == ("Something is wrong.", shown)
