"""Runs of a window that nobody looks at: the computer stays awake, the title says how far they are."""

import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from engine.core.judgments import JudgmentKey
from engine.settings.rows import Mode
from engine.settings.run_lists import run_in_a_line
from engine.settings.run_setup import RunSetup
from engine.store.run_store import RunStore
from engine.system.computer import KeepAwake
from engine.system.paths import demo_model
from gui.judge.judge_page import JudgePage
from gui.judge.run_control import UNFINISHED, RunControl
from gui.runs.queue import QueueState, RunQueue
from gui.runs.run_desk import KEEP_AWAKE, RunDesk
from gui.runs.runs_dialog import RunsDialog
from gui.window.dialogs import SettingsDialog
from gui.window.main_content import MainContent
from gui.workspace.state import PageName
from gui.workspace.workspace import Workspace
from tests.gui.judge.pages import plan_of
from tests.gui.labels import text_of
from tests.gui.steps import click, is_open, offered, pick, shown, whole_window
from tests.inhibitors import asked, inhibitor, runs

pytestmark = pytest.mark.usefixtures("demo_tried")
needs_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a program of Linux")


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A systemd-inhibit on PATH; the file in which it notes what it was asked."""
    with inhibitor(tmp_path) as made:
        monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
        yield made


@pytest.fixture
def main_content(qtbot: QtBot, demo_copy: Path, demo_gold: Path) -> Iterator[MainContent]:
    """A window on a store with the demo run, which is open."""
    with whole_window(qtbot, demo_copy.parent, demo_gold, run=1) as made:
        yield made


@pytest.fixture
def setup(demo_gold: Path) -> RunSetup:
    return RunSetup(demo_gold, demo_model(), items=4, mode=Mode.LABELS, threads=1)


def new_desk(qtbot: QtBot, workspace: Workspace) -> tuple[JudgePage, RunDesk]:
    page = shown(qtbot, JudgePage(workspace, RunControl(workspace)))
    return page, RunDesk(workspace, page, page)


def put_two(queue: RunQueue, setup: RunSetup) -> None:
    for items in (2, 3):
        queue.add(replace(setup, items=items))


@needs_linux
def test_the_computer_stays_awake_while_a_queue_goes_on_and_no_longer(
    qtbot: QtBot, workspace: Workspace, setup: RunSetup, told: Path
) -> None:
    page, desk = new_desk(qtbot, workspace)
    seen: set[bool] = set()
    put_two(desk.queue, setup)
    watch, panel = desk.watch, page.run_panel
    page.control.progressed.connect(lambda: seen.add(watch.awake))
    with qtbot.waitSignal(desk.queue.ended):
        desk.queue.start()
        qtbot.waitUntil(lambda: "stays awake" in text_of(panel))
    assert True in seen
    qtbot.waitUntil(lambda: not watch.awake)
    assert "stays awake" not in text_of(panel)
    assert len(asked(told)) == 1  # for both runs
    assert not runs(asked(told)[0])


@needs_linux
def test_the_computer_sleeps_where_a_person_lets_it(
    qtbot: QtBot, workspace: Workspace, setup: RunSetup, told: Path
) -> None:
    workspace.state.set_text(KEEP_AWAKE, KeepAwake.NO)
    page, _desk = new_desk(qtbot, workspace)
    with qtbot.waitSignal(page.control.ended):
        page.control.start(setup)
    assert not asked(told)


def test_settings_remember_when_the_computer_stays_awake(qtbot: QtBot, workspace: Workspace) -> None:
    dialog = SettingsDialog(workspace)
    qtbot.addWidget(dialog)
    (choice,) = [box for box in dialog.findChildren(QComboBox) if box.findData(KeepAwake.YES.value) >= 0]
    assert choice.currentData() == KeepAwake.MAINS
    with qtbot.waitSignal(dialog.power_changed):
        pick(choice, KeepAwake.NO.value)
    assert workspace.state.text(KEEP_AWAKE) == "no"


@pytest.mark.slow
def test_a_minimised_window_tells_its_queue(qtbot: QtBot, main_content: MainContent, setup: RunSetup) -> None:
    frame, notices, titles = main_content.frame, main_content.notices, set[str]()
    put_two(main_content.runs.queue, setup)
    frame.windowTitleChanged.connect(titles.add)
    frame.showMinimized()
    with qtbot.waitSignal(main_content.runs.queue.ended) as ended:
        main_content.runs.queue.start()
    assert frame.isMinimized()
    assert str(ended.args[0]).endswith(": 2 done.")
    with RunStore(main_content.workspace.store_path) as store:
        assert [run.judged for run in store.runs()[1:]] == [2, 3]
    assert any(title.endswith(" %, run 2 of 2 - gold.tsv - Tiebreak") for title in titles)
    assert frame.windowTitle() == "gold.tsv - Tiebreak"
    frame.showNormal()
    qtbot.waitUntil(partial(is_open, main_content.workspace, 3))
    assert notices.count == 1  # of a run that is shown nobody need be told
    assert notices.text.endswith(": 2 done.")
    assert notices.isHidden()  # nobody waits for it: it covers nothing


@pytest.mark.slow
def test_queued_runs_not_shown_are_told(qtbot: QtBot, main_content: MainContent, setup: RunSetup) -> None:
    frame, notices = main_content.frame, main_content.notices
    put_two(main_content.runs.queue, setup)
    with qtbot.waitSignal(main_content.runs.queue.ended):
        main_content.runs.queue.start()
        main_content.workspace.open_run(1)
    assert notices.count == 3
    assert notices.text.endswith(": 2 done.")
    assert is_open(main_content.workspace, 1)
    assert notices.isHidden()
    notices.toggle()
    click(notices, "›")
    click(notices, "Show run 3")
    qtbot.waitUntil(partial(is_open, main_content.workspace, 3))
    assert frame.page is PageName.RESULTS
    assert notices.count == 2


def test_the_page_adds_what_it_describes_by_its_key(qtbot: QtBot, main_content: MainContent) -> None:
    main_content.judge.dataset_line.set_items(2)
    with qtbot.waitActive(main_content.frame):
        main_content.frame.activateWindow()
    QTest.keySequence(main_content.frame, "Ctrl+Shift+R")
    (entry,) = main_content.runs.queue.entries
    assert (entry.setup.items, entry.state) == (2, QueueState.WAITING)
    main_content._forget()
    assert len(main_content.workspace.begun.entries("queue")) == 1


@pytest.mark.slow
def test_the_open_run_is_closed_where_it_is_deleted(qtbot: QtBot, main_content: MainContent) -> None:
    space = main_content.workspace
    main_content.review.session._drafts.keep(1, JudgmentKey("1", "safety"), "begun")
    space.begun.keep(UNFINISHED, [{"run": 1, "setup": {}}])
    main_content.runs.show_runs()
    (dialog,) = main_content.frame.findChildren(RunsDialog)
    qtbot.waitUntil(lambda: dialog.order.rowCount() == 1)
    with qtbot.waitSignal(space.runs_deleted):
        dialog._delete([1], with_decisions=True)
    assert space.run is None
    assert main_content.frame.state.number("last/run", 7) == 0
    assert main_content.review.session._drafts.of(1, JudgmentKey("1", "safety")) is None
    assert main_content.run_control.unfinished is None
    for page in main_content.pages:  # each can live without a run
        main_content.frame.show_page(page.NAME)
    qtbot.waitUntil(lambda: not space.runs)
    dialog.close()


def test_lists_call_a_run_by_its_name_and_lack_archived_ones(qtbot: QtBot, main_content: MainContent) -> None:
    space, head = main_content.workspace, main_content.head.run
    with RunStore(space.store_path) as store:
        store.name(1, "night")
    space.refresh_runs()
    qtbot.waitUntil(lambda: space.run is not None and space.run.results.run.name == "night")
    assert head.text() == "Run 1 “night”: demo-judge"
    with RunStore(space.store_path) as store:
        with store.begin(replace(store.run(1).identity, key="other")):
            pass
        store.archive([1, 2], "Ada")
    space.refresh_runs()
    qtbot.waitUntil(lambda: len(space.runs) == 2 and all(run.archived for run in space.runs))
    assert [text for text in offered(head) if text.startswith("Run ")] == [run_in_a_line(space.runs[1])]


def test_a_run_deleted_elsewhere_is_gone(qtbot: QtBot, space: Workspace) -> None:
    space.state.set_number("last/run", 1)
    with RunStore(space.store_path) as store:
        store.delete([1])
    with qtbot.waitSignal(space.problem) as problem:
        space.open_run(1)
    assert "Run 1 was deleted on 20" in problem.args[0].problem
    assert space.state.number("last/run", 7) == 0


@pytest.mark.slow
def test_resume_goes_on_at_once_or_queued(qtbot: QtBot, main_content: MainContent, setup: RunSetup) -> None:
    with RunStore(main_content.workspace.store_path) as store:
        for items in (1, 2):
            with store.begin(plan_of(replace(setup, items=items)).identity()):
                pass
    main_content.workspace.refresh_runs()
    qtbot.waitUntil(lambda: len(main_content.workspace.runs) == 3)
    main_content.frame.show_page(PageName.DATASET)
    main_content.runs.show_runs()
    (dialog,) = main_content.frame.findChildren(RunsDialog)
    with qtbot.waitSignal(main_content.run_control.started):
        dialog.choose(2)
        dialog.resume()
    assert dialog.isHidden()
    assert main_content.frame.page is PageName.JUDGE
    main_content.runs.show_runs()
    again = next(each for each in main_content.frame.findChildren(RunsDialog) if each.isVisible())
    again.choose(3)
    again.resume()
    assert [entry.run_id for entry in main_content.runs.queue.entries] == [3]
    assert again.said.text().startswith("In the queue: first 2 of gold.tsv")
    again.accept()
    qtbot.waitUntil(lambda: not main_content.run_control.running)
    with RunStore(main_content.workspace.store_path) as store:
        assert [run.judged for run in store.runs()] == [30, 1, 0]


def test_unfinished_runs_are_queued_in_turn(qtbot: QtBot, workspace: Workspace, setup: RunSetup) -> None:
    workspace.state.set_record(
        UNFINISHED, {"runs": [{"run": run, "setup": setup.as_json()} for run in (5, 6)]}
    )
    page, desk = new_desk(qtbot, workspace)
    for which, expected in (("The last run", [6]), ("An earlier run", [6, 5])):
        assert page.banner.isVisible()
        assert text_of(page.banner).startswith(f"{which}, of gold.tsv, was not finished")
        click(page.banner, "Add to queue")
        assert [entry.run_id for entry in desk.queue.entries] == expected
    assert not page.banner.isVisible()
    assert page.control.unfinished is None


def test_an_audit_that_is_described_waits_in_the_queue(qtbot: QtBot, main_content: MainContent) -> None:
    page, queue = main_content.judge, main_content.runs.queue
    qtbot.waitUntil(lambda: page.picker.path == demo_model())
    notes: list[str] = []
    page.workspace.note.connect(notes.append)
    with qtbot.waitSignal(queue.changed):
        page.audit()
    qtbot.waitUntil(lambda: len(notes) > 1)
    assert notes[-1].startswith("In the queue: ")
    assert "Perturbations that could not be made: " in notes[-1]
    (entry,) = queue.entries
    assert entry.setup.dataset_path.parent.name == "audits"
    assert entry.state is QueueState.WAITING
    assert str(entry.next_setup.name).startswith("audit with ")
