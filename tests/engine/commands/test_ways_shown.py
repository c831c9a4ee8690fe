"""How a run was asked, in what commands say of it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.asked import THINKING, judge_in_ways
from tests.commands import run_here


@pytest.mark.slow
def test_a_run_says_in_which_ways_it_was_asked(
    demo_gold: Path, tmp_path: Path, tried_model: Callable[[str], Path]
) -> None:
    store = tmp_path / "runs.sqlite"
    judge_in_ways(demo_gold, store, THINKING, tried_model("thinker"))
    shown = run_here("runs", "show", 1, "--store", store).stdout
    facts = {line[:40].split("  ")[0]: line.split("  ")[-1].strip() for line in shown.splitlines()}
    assert facts["ways of asking"] == "letters, thinking"
    assert facts["thoughts"] == "2"
    assert facts["longest thought, tokens"] == "12"
    assert facts["temperature of thoughts"] == "0.6"
