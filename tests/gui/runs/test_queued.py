"""A run of the queue as it is kept, also where that was damaged."""

from pathlib import Path
from typing import Any

import pytest

from engine.settings.run_setup import RunSetup
from gui.runs.queue import Queued, QueueState

SETUP = RunSetup(Path("data.tsv"), Path("model.gguf"))


def test_a_kept_run_comes_back() -> None:
    entry = Queued(SETUP, QueueState.DONE, 7, "all of it", 3.5, "night", "a note")
    assert Queued.of_json(entry.as_json(), SETUP) == entry


@pytest.mark.parametrize("seconds", [10**400, 1e308, float("inf"), float("nan"), -1, True, "3", None, [[]]])
def test_impossible_seconds_are_none(seconds: Any) -> None:
    entry = Queued.of_json({**Queued(SETUP).as_json(), "seconds": seconds}, SETUP)
    assert entry is not None
    assert (entry.seconds, entry.in_words != "") == (0.0, True)


@pytest.mark.parametrize("run", [-1, 0, True, 1.5, "7", [], {}])
def test_impossible_numbers_of_runs_are_none(run: Any) -> None:
    entry = Queued.of_json({**Queued(SETUP).as_json(), "run": run}, SETUP)
    assert entry is not None
    assert entry.run_id is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", 10**400),
        ("temperature", 1e-9),
        ("dataset_path", "a\0b"),
        ("second_order_below", 10**400),
    ],
)
def test_an_impossible_setting_is_as_usual(name: str, value: Any) -> None:
    made = RunSetup.of_json({**SETUP.as_json(), name: value}, SETUP)
    assert getattr(made, name) == getattr(SETUP, name)
