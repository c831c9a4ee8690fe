"""The jobs on runs and files: a run with its items, labels for what was asked, marks of what is measured."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from pytestqt.qtbot import QtBot

from engine.core.column_map import JudgeFile
from engine.core.events import CancelToken
from engine.core.rubric import ELOQUENT
from engine.data.dataset import Dataset, load_dataset
from engine.data.rubrics.files import shipped_rubrics
from engine.system.paths import demo_dataset
from gui.compare.compare_jobs import CompareRequest, compare_systems
from gui.review.notices import MissingDataset
from gui.workspace.file_jobs import load, with_labels_for
from gui.workspace.open_run import gold_mark
from gui.workspace.store_jobs import open_run
from gui.workspace.workspace import Workspace
from tests.conftest import DEMO_ITEMS
from tests.gui.jobs import done
from tests.gui.steps import run_of
from tests.judged import with_texts

OTHER = shipped_rubrics()[1]


def other_texts(gold: Path) -> Dataset:
    return with_texts(load_dataset(gold), output_a="Something else.")


def a_copy(gold: Path) -> Dataset:
    """Which may have other labels."""
    return load_dataset(Path(shutil.copy(gold, gold.with_name("copy.tsv"))))


def of_another_rubric(gold: Path) -> Dataset:
    other = load_dataset(gold, OTHER)
    assert other.criteria == ()
    return other


@pytest.mark.parametrize(
    "current",
    [
        load_dataset,
        lambda _gold: load_dataset(demo_dataset()),
        lambda gold: load_dataset(gold).head(3),
        *(other_texts, a_copy, of_another_rubric),
    ],
)
def test_a_run_comes_with_the_items_that_it_judged_out_of_its_own_file(
    demo_store: Path, demo_gold: Path, current: Callable[[Path], Dataset]
) -> None:
    opened = done(open_run(demo_store, 1, current(demo_gold)))
    results, dataset = opened.results, opened.dataset
    assert len(results.judged) == DEMO_ITEMS
    assert (dataset.path, dataset.criteria) == (demo_gold, ELOQUENT.names)
    assert dataset.hash == results.run.identity.dataset_hash


@pytest.fixture
def moved_away(demo_copy: Path) -> Path:
    """The store with a run whose dataset is not where it was."""
    with closing(sqlite3.connect(demo_copy)) as db, db:
        db.execute("UPDATE run SET dataset_path = ?", (str(demo_copy.with_name("gone.tsv")),))
    return demo_copy


def test_where_the_items_are_gone_those_at_hand_are_shown_or_none(moved_away: Path, demo_gold: Path) -> None:
    for current in (None, other_texts(demo_gold)):
        opened = done(open_run(moved_away, 1, current))
        assert (len(opened.results.judged), opened.dataset) == (DEMO_ITEMS, None)
    dataset = done(open_run(moved_away, 1, load_dataset(demo_gold))).dataset
    assert dataset.path == demo_gold


def test_the_right_dataset_opened_anywhere_is_taken_for_the_run(
    qtbot: QtBot, workspace: Workspace, moved_away: Path, demo_gold: Path
) -> None:
    workspace.store_path = moved_away
    missing = MissingDataset(workspace)
    qtbot.addWidget(missing)
    with qtbot.waitSignal(workspace.run_changed):
        workspace.open_run(1)
    assert run_of(workspace).dataset is None
    with qtbot.waitSignal(workspace.run_changed):
        workspace.open_dataset(demo_gold)
    assert run_of(workspace).dataset is workspace.dataset


def test_a_dataset_is_read_for_a_rubric(demo_gold: Path) -> None:
    assert done(load(demo_gold, rubric=OTHER)).rubric == OTHER
    assert done(load(demo_gold)).criteria == ELOQUENT.names


def test_labels_are_read_again_where_runs_asked_other_criteria(demo_gold: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copy(demo_gold, tmp_path / "copy.tsv"))
    part = load_dataset(copy, OTHER).head(5)
    found = with_labels_for(part, [ELOQUENT], CancelToken())
    assert (found.criteria, found.hash) == (ELOQUENT.names, part.hash)
    whole = load_dataset(copy)
    assert with_labels_for(whole, [ELOQUENT.only(("safety",))], CancelToken()) is whole
    assert with_labels_for(part, [], CancelToken()) is part
    copy.unlink()
    assert with_labels_for(part, [ELOQUENT], CancelToken()) is part


def test_systems_are_compared_by_what_they_were_asked_whatever_is_chosen_for_the_next_run(
    demo_store: Path, demo_gold: Path
) -> None:
    choice = CompareRequest((1,), (JudgeFile(demo_store.with_name("submission.tsv")),))
    compared = done(compare_systems(demo_store, choice, load_dataset(demo_gold, OTHER), None))
    assert [len(evaluation.matched.system.criteria) for evaluation in compared.evaluations] == [5, 5]
    assert not compared.comparison.not_compared


Save = Callable[[str, bytes], Path]

HEADER = b"id\tinstruction\toutput_a\toutput_b\tsafety_preference\tsafety_explanation\n"
ROWS = b"1\ti\ta\tb\tA\tBecause.\n2\ti\ta\tb\tB\tSo.\n"


def test_labels_that_are_read_again_are_the_same(save: Save) -> None:
    path = save("labels.tsv", HEADER + ROWS)
    assert gold_mark(load_dataset(path)) == gold_mark(load_dataset(path))
    assert gold_mark(load_dataset(path).head(1)) == gold_mark(load_dataset(path).head(1))
    assert gold_mark(None) != gold_mark(load_dataset(path))


def test_how_labels_lie_in_memory_is_no_difference(save: Save) -> None:
    whole = load_dataset(save("labels.tsv", HEADER + ROWS))
    parts = pa.concat_tables([whole.table.slice(0, 1), whole.table.slice(1)])
    assert gold_mark(replace(whole, table=parts)) == gold_mark(whole)


@pytest.mark.parametrize("other", [b"2\ti\ta\tb\tA\tSo.", b"2\ti\ta\tb\tB\tNo.", b"2\ti\ta\tc\tB\tSo.", b""])
def test_another_label_explanation_or_text_makes_other_labels(save: Save, other: bytes) -> None:
    first = gold_mark(load_dataset(save("labels.tsv", HEADER + ROWS)))
    rows = ROWS.replace(b"2\ti\ta\tb\tB\tSo.", other).strip() + b"\n"
    assert gold_mark(load_dataset(save("labels.tsv", HEADER + rows))) != first
