"""What the tests of the names for notebooks share: a judge that knows its model, a run that is judged."""

from pathlib import Path

import pytest

import tiebreak


@pytest.fixture
def judge(demo_tried: None, tmp_path: Path) -> tiebreak.Judge:
    """Labels alone, by the demo model, in a store of its own."""
    return tiebreak.Judge(mode="labels", threads=1, context=4096, store=tmp_path / "runs.sqlite")


@pytest.fixture
def run(demo_store: Path) -> tiebreak.Run:
    """Thirty items of the demo dataset, judged with explanations."""
    return tiebreak.Run(1, demo_store)
