"""Explanations written again: the jobs, and what pages show of them; with the demo model and a real store."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from engine.annotations.records import new_override
from engine.core.errors import SetupError
from engine.core.items import Preference
from engine.data.dataset import load_dataset
from engine.models.model_file import read_model_file
from engine.results.run_results import load_results
from engine.settings.run_setup import RunSetup
from engine.store.run_store import RunStore
from engine.system.paths import demo_model
from gui.judge.run_jobs import judge
from gui.results.results_page import ResultsPage
from gui.review.review_page import ReviewPage
from gui.workspace.open_run import OpenRun, UnderWay
from gui.workspace.rewriter import Rewriter, StaleLine
from gui.workspace.store_jobs import count_stale, rewrite
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace
from tests.gui.jobs import done
from tests.gui.steps import run_of, shown

ITEMS = 3


@pytest.fixture
def rewriter(workspace: Workspace) -> Rewriter:
    return Rewriter(workspace)


@pytest.fixture(scope="module")
def judged(demo_gold: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of a run with the explanation of one item out of date."""
    return judge_items(tmp_path_factory.mktemp("judged") / "runs.sqlite", demo_gold)


def judge_items(path: Path, gold: Path, model: Path | None = None, **more: Any) -> Path:
    """A store with a run of the first items, of which one has another label since."""
    setup = RunSetup(gold, model or demo_model(), items=ITEMS, threads=1, context=4096, **more)
    done(judge(replace(setup, max_explanation_tokens=20), path, None))
    with RunStore(path) as store:
        change_label(store, 0)
    return path


@pytest.fixture
def opened(qtbot: QtBot, workspace: Workspace, rewriter: Rewriter, judged: Path) -> Workspace:
    shutil.copy(judged, workspace.store_path)
    with qtbot.waitSignal(workspace.run_changed):
        workspace.open_run(1)
    qtbot.waitUntil(lambda: rewriter.stale == 1)
    return workspace


def change_label(store: RunStore, place: int) -> None:
    results = load_results(store, 1)
    judgment = results.judgments["safety"][place]
    other = next(label for label in Preference if label is not results.label(judgment))
    store.annotate(1, new_override(judgment.item_id, "safety", other, None, "Ada"))


def stale(workspace: Workspace) -> int:
    with RunStore(workspace.store_path) as store:
        return load_results(store, 1).stale


@pytest.mark.slow
@pytest.mark.apart
@pytest.mark.usefixtures("demo_tried")
def test_a_page_writes_again_what_is_out_of_date(qtbot: QtBot, opened: Workspace, rewriter: Rewriter) -> None:
    page = shown(qtbot, ReviewPage(opened, rewriter))
    assert page.stale.text.text() == "1 explanation was written for another label than the effective one."
    page.stale.button.setFocus()
    with (
        qtbot.waitSignal(opened.note, check_params_cb=lambda text: "again" in text) as note,
        qtbot.waitSignal(opened.run_changed),
    ):
        QTest.keyClick(page.stale.button, Qt.Key.Key_Space)
        assert page.stale.button.isHidden()
        assert not page.stale.busy.isHidden()
    assert note.args == ["Run 1: 1 of 1 explanations are written again."]
    qtbot.waitUntil(page.stale.isHidden)
    assert stale(opened) == 0


@pytest.mark.usefixtures("demo_tried")
def test_both_pages_show_the_work_and_can_stop_it(
    qtbot: QtBot, opened: Workspace, rewriter: Rewriter
) -> None:
    results, review = ResultsPage(opened, rewriter), ReviewPage(opened, rewriter)
    qtbot.addWidget(results)
    qtbot.addWidget(review)
    with RunStore(opened.store_path) as store:
        for place in range(1, ITEMS):
            change_label(store, place)
    with qtbot.waitSignal(opened.run_changed):
        opened.read_run_again()
    qtbot.waitUntil(lambda: rewriter.stale == ITEMS)
    assert results.stale.button.text() == "Write them again"
    results.stale.button.click()
    assert not review.stale.busy.isHidden()
    review.stale.busy.cancelled.emit()
    qtbot.waitUntil(lambda: not rewriter.busy)
    qtbot.waitUntil(lambda: not opened.threads.busy(ThreadName.MODEL))
    assert stale(opened) == ITEMS
    assert not results.stale.button.isHidden()


def without_dataset(space: Workspace) -> None:
    space.run = replace(space.run, dataset=None)
    space.run_changed.emit()


def shown_examples(space: Workspace) -> None:
    results = run_of(space).results
    identity = results.run.identity
    settings = {**identity.settings, "examples": "0123"}
    run = replace(results.run, identity=replace(identity, settings=settings))
    space.run = OpenRun(replace(results, run=run), run_of(space).dataset)
    space.run_changed.emit()


@pytest.mark.parametrize(
    ("hinder", "why"),
    [
        (lambda space: space.tell_judging(UnderWay(2, 1, 9)), "A run is being judged"),
        (without_dataset, "dataset of this run is not loaded"),
        (shown_examples, "has few-shot examples"),
    ],
)
@pytest.mark.usefixtures("demo_tried")
def test_a_button_that_cannot_work_says_why(
    qtbot: QtBot, opened: Workspace, rewriter: Rewriter, hinder: Callable[[Workspace], None], why: str
) -> None:
    line = StaleLine(rewriter, across=True)
    qtbot.addWidget(line)
    assert line.button.isEnabled()
    hinder(opened)
    assert not line.button.isEnabled()
    assert why in line.why_not.text()
    assert not line.why_not.isHidden()
    rewriter.start()
    assert not rewriter.busy


@pytest.mark.usefixtures("demo_tried")
def test_a_model_that_is_gone_is_told_and_the_line_stays(
    qtbot: QtBot, workspace: Workspace, rewriter: Rewriter, demo_gold: Path, tmp_path: Path
) -> None:
    model = Path(shutil.copy(read_model_file(demo_model()).path, tmp_path / "own.gguf"))
    judge_items(workspace.store_path, demo_gold, model)
    model.unlink()
    with qtbot.waitSignal(workspace.run_changed):
        workspace.open_run(1)
    qtbot.waitUntil(lambda: rewriter.stale == 1)
    with qtbot.waitSignal(workspace.problem) as problem:
        rewriter.start()
    assert "own.gguf: there is no such file" in str(problem.args[0])
    qtbot.waitUntil(lambda: not rewriter.busy)
    assert rewriter.stale == 1


@pytest.mark.usefixtures("demo_tried")
def test_what_is_out_of_date_is_counted_as_the_engine_counts(opened: Workspace) -> None:
    assert done(count_stale(run_of(opened).results)) == run_of(opened).results.stale == 1


@pytest.mark.usefixtures("demo_tried")
def test_a_run_that_was_shown_examples_is_refused(tmp_path: Path, demo_gold: Path) -> None:
    path = judge_items(tmp_path / "runs.sqlite", demo_gold, examples_path=demo_gold, shots=1)
    with pytest.raises(SetupError, match="used labelled examples"):
        done(rewrite(path, 1, load_dataset(demo_gold)))
