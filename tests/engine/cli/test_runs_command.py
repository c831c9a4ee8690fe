"""`runs export --csv` and `runs rewrite` on runs of the demo judge."""

import hashlib
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from engine.annotations.records import new_override
from engine.core.items import Preference
from engine.data.dataset import load_dataset
from engine.results.exports import RUN_COLUMNS
from engine.settings.rows import JudgeSettings
from engine.store.run_store import RunStore
from engine.system.paths import demo_model
from tests.commands import refusal
from tests.engine.cli.in_process import give_runs
from tests.steps import judge, plan_with


def change(store: Path, column: str, value: Path) -> None:
    db = sqlite3.connect(store)
    db.execute(f"UPDATE run SET {column} = ?", (str(value),))
    db.commit()
    db.close()


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda path: path.unlink(), "is not there"),
        (
            lambda path: path.write_bytes(path.read_bytes().replace(b" the ", b" a ")),
            "does not have the items",
        ),
        (lambda path: path.write_bytes(b"id\n1\n"), "no column 'instruction'"),
    ],
    ids=["gone", "changed", "broken"],
)
def test_where_the_dataset_is_another_the_data_are_exported_without_it(
    demo_copy: Path,
    demo_gold: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    damage: Callable[[Path], object],
    reason: str,
) -> None:
    copy = Path(shutil.copy(demo_gold, tmp_path / "copy.tsv"))
    change(demo_copy, "dataset_path", copy)
    damage(copy)
    assert give_runs(demo_copy, "export", 1, "--csv", tmp_path / "all.csv") == 0
    printed = capsys.readouterr().err
    assert reason in printed
    assert "without texts and human labels" in printed
    assert tuple(pd.read_csv(tmp_path / "all.csv", nrows=1).columns) == RUN_COLUMNS


@pytest.fixture(scope="module")
def judged_once(demo_gold: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose run 1 are two items, judged by the demo model as `judge` would do it."""
    folder = tmp_path_factory.mktemp("judged")
    data = Path(shutil.copy(demo_gold, folder / "data.tsv"))
    settings = JudgeSettings(context=2048, max_explanation_tokens=20)
    plan = plan_with(demo_model(), load_dataset(data).head(2), settings)
    file_hash = hashlib.sha256(demo_model().read_bytes()).hexdigest()
    judge(replace(plan, model=replace(plan.model, hash=file_hash)), folder / "judged.sqlite")
    return folder / "judged.sqlite"


@pytest.fixture
def judged(judged_once: Path, tmp_path: Path) -> Path:
    store = Path(shutil.copy(judged_once, tmp_path))
    change(store, "dataset_path", Path(shutil.copy(judged_once.with_name("data.tsv"), tmp_path)))
    return store


def relabel(path: Path) -> Preference:
    with RunStore(path) as store:
        first = next(store.judged(1))
        written_for = first.explanations["safety"].preference
        label = next(other for other in Preference if other is not written_for)
        store.annotate(1, new_override(first.item_id, "safety", label, None, author="Ada"))
    return label


@pytest.mark.usefixtures("demo_tried")
def test_what_is_out_of_date_is_written_again_once(
    judged: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    label = relabel(judged)
    moved = (tmp_path / "data.tsv").rename(tmp_path / "moved.tsv")
    assert give_runs(judged, "rewrite", 1, "--dataset", moved, "--model", "mo-judge", "--threads", 1) == 0
    printed = capsys.readouterr()
    assert "1 of 1 stale explanations are regenerated" in printed.out
    assert f"mo-judge is {demo_model()}\n" in printed.err
    with RunStore(judged) as store:
        first = next(store.judged(1))
        assert first.explanations["safety"].preference is not label
        assert list(first.rewritten) == [("safety", label)]
    assert give_runs(judged, "rewrite", 1) == 0
    assert capsys.readouterr().out == "No explanation of run 1 is stale.\n"
    assert give_runs(judged, "show", 1) == 0
    assert "explanations: 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--dataset", "gone.tsv"), "is of data.tsv; gone.tsv is not there"),
        (("--model", "./gone.gguf"), "gone.gguf: there is no such file in"),
        (("--model", "gone.gguf"), "gone.gguf: there is no such file here, and no model"),
        (("--few-shot", 2), "--few-shot without --examples"),
        (("--few-shot-selection", "nearest"), "--few-shot-selection without --examples"),
    ],
)
def test_what_is_missing_is_named(judged: Path, words: tuple[object, ...], problem: str) -> None:
    relabel(judged)
    assert problem in refusal("runs", "rewrite", 1, *words, "--store", judged)
