"""The job that opens a run of the store, with the items that it judged."""

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from engine.core.rubric import ELOQUENT
from engine.data.dataset import Dataset, load_dataset
from engine.data.rubrics.files import shipped_rubrics
from engine.system.paths import demo_dataset
from gui.review.notices import MissingDataset
from gui.workspace.store_jobs import open_run
from gui.workspace.workspace import Workspace
from tests.conftest import DEMO_ITEMS
from tests.gui.jobs import done
from tests.judged import with_texts


def whole(_gold: Path) -> Dataset:
    return load_dataset(demo_dataset())


def other_texts(gold: Path) -> Dataset:
    return with_texts(load_dataset(gold), output_a="Something else.")


def too_few(gold: Path) -> Dataset:
    return load_dataset(gold).head(3)


@pytest.mark.parametrize("current", [load_dataset, whole, other_texts, too_few])
def test_a_run_comes_with_the_items_that_it_judged(
    demo_store: Path, demo_gold: Path, current: Callable[[Path], Dataset]
) -> None:
    opened = done(open_run(demo_store, 1, current(demo_gold)))
    results, dataset = opened.results, opened.dataset
    assert len(results.judged) == DEMO_ITEMS
    assert dataset is not None
    assert dataset.hash == results.run.identity.dataset_hash


def test_the_runs_own_file_comes_before_a_copy_that_may_have_other_labels(
    demo_store: Path, demo_gold: Path
) -> None:
    copy = Path(shutil.copy(demo_gold, demo_store.with_name("copy.tsv")))
    dataset = done(open_run(demo_store, 1, load_dataset(copy))).dataset
    assert dataset is not None
    assert dataset.path == demo_gold


def test_a_dataset_at_hand_that_was_read_by_another_rubric_hides_no_labels(
    demo_store: Path, demo_gold: Path
) -> None:
    other = load_dataset(demo_gold, shipped_rubrics()[1])
    assert other.criteria == ()
    dataset = done(open_run(demo_store, 1, other)).dataset
    assert dataset is not None
    assert dataset.criteria == ELOQUENT.names


@pytest.fixture
def moved_away(demo_store: Path, tmp_path: Path) -> Path:
    """The store with a run whose dataset is not where it was."""
    path = Path(shutil.copy(demo_store, tmp_path))
    db = sqlite3.connect(path)
    db.execute("UPDATE run SET dataset_path = ?", (str(tmp_path / "gone.tsv"),))
    db.commit()
    db.close()
    return path


def test_where_the_items_are_gone_the_run_comes_alone(moved_away: Path, demo_gold: Path) -> None:
    for current in (None, other_texts(demo_gold)):
        opened = done(open_run(moved_away, 1, current))
        results, dataset = opened.results, opened.dataset
        assert (len(results.judged), dataset) == (DEMO_ITEMS, None)


def test_the_right_dataset_opened_anywhere_is_taken_for_the_run(
    qtbot: QtBot, workspace: Workspace, moved_away: Path, demo_gold: Path
) -> None:
    workspace.store_path = moved_away
    missing = MissingDataset(workspace)
    qtbot.addWidget(missing)
    with qtbot.waitSignal(workspace.run_changed):
        workspace.open_run(1)
    assert workspace.run is not None
    assert workspace.run.dataset is None
    with qtbot.waitSignal(workspace.run_changed):
        workspace.open_dataset(demo_gold)
    assert workspace.run.dataset is workspace.dataset


def test_where_its_own_file_is_gone_the_items_at_hand_are_shown(moved_away: Path, demo_gold: Path) -> None:
    dataset = done(open_run(moved_away, 1, load_dataset(demo_gold))).dataset
    assert dataset is not None
    assert dataset.path == demo_gold
