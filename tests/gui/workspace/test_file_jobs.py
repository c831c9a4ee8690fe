"""Datasets that were read for one rubric, and are needed for what was asked by another."""

import shutil
from pathlib import Path

from engine.core.events import CancelToken
from engine.core.rubric import ELOQUENT
from engine.data.dataset import load_dataset
from engine.data.rubrics.files import shipped_rubrics
from gui.compare.compare_jobs import CompareRequest, compare_systems
from gui.workspace.file_jobs import load, with_labels_for
from tests.gui.jobs import done

OTHER = shipped_rubrics()[1]


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
    choice = CompareRequest((1,), (demo_store.with_name("submission.tsv"),))
    compared = done(compare_systems(demo_store, choice, load_dataset(demo_gold, OTHER)))
    assert [len(evaluation.matched.system.criteria) for evaluation in compared.evaluations] == [5, 5]
    assert not compared.comparison.not_compared
