"""Which run the pages show when one has ended, and that what is acted on is named where it is acted on."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from engine.core.items import Preference
from engine.core.judgments import JudgmentKey
from engine.settings.rows import Mode
from engine.settings.run_setup import RunSetup
from engine.system.paths import demo_model
from gui.results.export_jobs import Form
from gui.runs.queue import QueueState
from gui.window.main_content import MainContent
from gui.workspace.state import PageName
from tests.gui.steps import is_open, offered, run_of, whole_window

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("demo_tried")]
_FINISHED = "Run 2 has finished (gold.tsv, demo-judge)."


@pytest.fixture
def main(qtbot: QtBot, demo_copy: Path, demo_gold: Path) -> Iterator[MainContent]:
    """A window on a store with run 1, which is open, as it was when the last window was closed."""
    with whole_window(qtbot, demo_copy.parent, demo_gold, run=1) as made:
        yield made


@pytest.fixture
def setup(demo_gold: Path) -> RunSetup:
    return RunSetup(demo_gold, demo_model(), items=3, mode=Mode.LABELS, threads=1)


def judge(qtbot: QtBot, main: MainContent, setup: RunSetup, meanwhile: Callable[[], object]) -> None:
    """A run that a person starts on the Judge page; what he does until it ends."""
    main.frame.show_page(PageName.JUDGE)
    with qtbot.waitSignal(main.run_control.ended):
        main.run_control.start(setup)
        meanwhile()
    qtbot.waitUntil(lambda: any(run.id == 2 and run.complete for run in main.workspace.runs))
    qtbot.waitUntil(lambda: not main.workspace._opening.busy)


def offers(main: MainContent) -> list[str]:
    """The button at the head that shows a run that has ended, where there is one."""
    return [] if main.head.offered.isHidden() else [main.head.offered.text()]


def shows_run_2(qtbot: QtBot, main: MainContent) -> None:
    qtbot.waitUntil(lambda: is_open(main.workspace, 2))
    assert offers(main) == []
    assert main.notices.count == 0
    main.results.export(Form.LABELS)
    dialog = main.results.exporter.dialog
    assert dialog.windowTitle().startswith("Export run 2 (gold.tsv, demo-judge)")
    assert dialog.path.name == "run-2-gold-demo-judge-labels.tsv"
    dialog.close()
    assert (main.head.dataset.text(), main.head.run.text()) == ("gold.tsv", "Run 2: demo-judge")


def stays_with_run_1(main: MainContent) -> None:
    assert is_open(main.workspace, 1)
    still = "Results, Review, Ranking and exports still show run 1 (gold.tsv, demo-judge)."
    assert main.notices.text.startswith(f"{_FINISHED}\n{still}")
    assert offers(main) == ["Show run 2"]
    assert main.head.run.text() == "Run 1: demo-judge"


def test_a_run_that_ends_is_shown_if_nothing_was_chosen(
    qtbot: QtBot, main: MainContent, setup: RunSetup
) -> None:
    judge(qtbot, main, setup, lambda: main.frame.show_page(PageName.RESULTS))
    shows_run_2(qtbot, main)


def test_a_run_that_is_stopped_half_way_is_shown(qtbot: QtBot, main: MainContent, setup: RunSetup) -> None:
    control = main.run_control
    control.start(replace(setup, items=None, mode=Mode.EXPLAIN))
    qtbot.waitUntil(lambda: control.progress is not None and control.progress.judged > 1)
    with qtbot.waitSignal(control.ended):
        control.stop()
    qtbot.waitUntil(lambda: is_open(main.workspace, 2))
    assert not run_of(main.workspace).results.run.complete


def test_nothing_moves_under_the_hands_of_who_reviews_another_run(
    qtbot: QtBot, main: MainContent, setup: RunSetup
) -> None:
    judge(qtbot, main, setup, lambda: main.frame.show_page(PageName.REVIEW))
    stays_with_run_1(main)
    button = main.head.offered
    assert "Run 2 (gold.tsv, demo-judge) has ended" in button.toolTip().replace("\u200b", "")
    button.click()
    shows_run_2(qtbot, main)
    assert main.frame.page is PageName.REVIEW


def label(made: MainContent) -> None:
    made.workspace.override(JudgmentKey("1", "safety"), Preference.BOTH_BAD, None)


def choose_run_1(made: MainContent) -> None:
    [run] = [entry for text, entry in offered(made.head.run).items() if text.startswith("Run 1: ")]
    run.trigger()


def open_dataset(made: MainContent) -> None:
    made.workspace.open_dataset(run_of(made.workspace).results.run.identity.dataset_path)


@pytest.mark.parametrize("since", [label, choose_run_1, open_dataset])
def test_nothing_moves_once_somebody_works_with_what_is_open(
    qtbot: QtBot, main: MainContent, setup: RunSetup, since: Callable[[MainContent], None]
) -> None:
    judge(qtbot, main, setup, lambda: since(main))
    stays_with_run_1(main)


def test_an_open_list_or_dialog_is_not_taken_from_under_the_hands(
    qtbot: QtBot, main: MainContent, setup: RunSetup
) -> None:
    judge(qtbot, main, setup, lambda: main.results.exporter.export(Form.LABELS))
    assert main.results.exporter.dialog.windowTitle().startswith("Export run 1 (")
    main.results.exporter.dialog.close()
    stays_with_run_1(main)
    judge(qtbot, main, replace(setup, fresh=True), lambda: None)  # begun after all that: it is shown
    qtbot.waitUntil(lambda: is_open(main.workspace, 3))


def test_each_run_of_a_queue_is_shown_until_one_is_chosen(
    qtbot: QtBot, main: MainContent, setup: RunSetup
) -> None:
    queue, opened = main.runs.queue, list[int]()

    def follow() -> None:
        opened.append(run_of(main.workspace).id)
        if len(opened) == 2:
            main.workspace.open_run(1)  # a person looks something up while the third one is judged

    for items in (2, 3, 4):
        queue.add(replace(setup, items=items))
    main.workspace.run_changed.connect(follow)
    with qtbot.waitSignal(queue.ended):
        queue.start()
    assert [entry.state for entry in queue.entries] == [QueueState.DONE] * 3
    qtbot.waitUntil(lambda: not main.workspace._opening.busy)
    assert opened == [2, 3, 1]
    assert offers(main) == ["Show run 4"]


def test_a_run_of_another_program_moves_nothing(
    qtbot: QtBot, main: MainContent, demo_gold: Path, tmp_path: Path
) -> None:
    space = main.workspace
    command = ["judge", demo_gold, "--model", "demo", "--items", 2, "--mode", "labels"]
    command += ["--store", space.store_path, "--out", tmp_path / "out.tsv"]
    subprocess.run([sys.executable, "main.py", *map(str, command)], check=True, capture_output=True)
    space.refresh_runs()
    qtbot.waitUntil(lambda: [run.id for run in space.runs] == [2, 1])
    QTest.qWait(0)
    assert is_open(main.workspace, 1)
    assert not space._opening.busy
    assert offers(main) == []
    assert main.notices.count == 0


def test_the_offer_finds_room_in_a_small_window_and_goes_with_its_run(
    qtbot: QtBot, main: MainContent, setup: RunSetup
) -> None:
    judge(qtbot, main, setup, lambda: main.frame.show_page(PageName.REVIEW))
    button = main.head.offered
    for page in PageName:
        main.frame.show_page(page)
        assert button.isVisible()
        assert button.mapTo(main.frame, QPoint(button.width(), 0)).x() <= main.frame.width()
    main.workspace.forget_runs([2])
    assert offers(main) == []
