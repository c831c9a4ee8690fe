"""What the trial of a bundle reads of what the program prints."""

from pathlib import Path

from smoke_trial import judged_in

from tests.commands import run_here
from tests.conftest import DEMO_ITEMS


def test_the_trial_reads_how_many_items_a_run_holds(demo_store: Path, tmp_path: Path) -> None:
    assert judged_in(run_here("runs", "--store", demo_store).stdout) == DEMO_ITEMS
    assert judged_in(run_here("runs", "--store", tmp_path / "none.sqlite").stdout) == 0
