"""How a run was asked, in what commands say of it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands import run_here
from tests.steps import CHAIN_OF_THOUGHT, judge_in_methods


@pytest.mark.slow
def test_a_run_says_in_which_ways_it_was_asked(
    demo_gold: Path, tmp_path: Path, tried_model: Callable[[str], Path]
) -> None:
    store = tmp_path / "runs.sqlite"
    judge_in_methods(demo_gold, store, CHAIN_OF_THOUGHT, tried_model("thinker"))
    shown = run_here("runs", "show", 1, "--store", store).stdout
    facts = {line[:40].split("  ")[0]: line.split("  ")[-1].strip() for line in shown.splitlines()}
    assert facts["elicitation methods"] == "label tokens, chain of thought"
    assert facts["reasoning samples"] == "2"
    assert facts["longest reasoning, tokens"] == "12"
    assert facts["temperature of the reasoning"] == "0.6"
