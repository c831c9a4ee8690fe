"""How well a model kept to the format, by its newest run."""

import shutil
from pathlib import Path

import pytest

from engine.core.judgments import Judgment
from engine.results.health import newest_masses
from engine.results.run_results import load_results
from engine.store.run_store import RunStore

HASH = "d" * 64


def test_the_mean_over_the_criteria_of_the_newest_run_is_told(demo_store: Path) -> None:
    with RunStore(demo_store) as store:
        results = load_results(store, 1)
    masses = [
        judgment.answer_mass
        for column in results.judgments.values()
        for judgment in column
        if isinstance(judgment, Judgment) and judgment.answer_mass is not None
    ]
    (found,) = newest_masses(demo_store, {HASH, "e" * 64}).values()
    assert (found.run_id, found.items) == (1, len(results.judged))
    assert found.mass == pytest.approx(sum(masses) / len(masses))


def test_a_run_that_has_judged_nothing_does_not_count(demo_store: Path, tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    shutil.copy(demo_store, path)
    with RunStore(path) as store:
        identity = store.run(1).identity
        with store.begin(identity, fresh=True) as later:
            assert later.id == 2
    assert newest_masses(path, {HASH})[HASH].run_id == 1


def test_without_a_store_or_a_run_nothing_is_known(demo_store: Path, tmp_path: Path) -> None:
    assert newest_masses(tmp_path / "none.sqlite", {HASH}) == {}
    assert not (tmp_path / "none.sqlite").exists()
    assert newest_masses(demo_store, {"e" * 64}) == {}
