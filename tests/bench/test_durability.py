"""A small part of the bench of kills: one kill."""

import sys
from pathlib import Path

import pytest

from bench.durability.trials import Bench, Situation


@pytest.mark.models  # a second process lives a window through and is killed
@pytest.mark.skipif(sys.platform == "win32", reason="without forks each window takes seconds to start")
def test_what_a_killed_window_had_shown_as_stored_is_there(demo_store: Path, tmp_path: Path) -> None:
    bench = Bench(tmp_path / "bench", demo_store)
    outcome = bench.try_once("label", Situation.ONE, "1", tmp_path / "label")
    assert (outcome.missing, outcome.silent) == ([], [])
    assert outcome.shown
