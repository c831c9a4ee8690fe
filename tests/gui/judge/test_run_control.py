"""The window's one run: started, stopped, followed; what is judged now and not kept yet."""

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from engine.core.errors import RunBusyError, SetupError
from engine.core.events import Cancelled, Drafted, GroupUnderWay, ItemJudged, LabelsRead, RunEnded
from engine.core.items import Preference
from engine.core.judgments import JudgedItem, Judgment
from engine.settings.rows import Mode
from engine.settings.run_setup import RunSetup
from engine.store.run_store import RunStore
from engine.system.paths import demo_dataset, demo_model
from gui.judge.run_control import RunControl
from gui.judge.run_panel import GroupPanel, LatestTableModel
from gui.workspace.threads import JobControl, ThreadName
from gui.workspace.workspace import Workspace
from tests.gui.judge.pages import cut_off, plan_of, stop
from tests.gui.labels import text_of
from tests.gui.steps import click, is_open, open_run
from tests.gui.windows import after_a_crash


@pytest.fixture
def setup(demo_gold: Path) -> RunSetup:
    return RunSetup(demo_gold, demo_model(), items=4, mode=Mode.LABELS, threads=1, max_explanation_tokens=20)


def run_to_the_end(qtbot: QtBot, control: RunControl, setup: RunSetup) -> Any:
    with qtbot.waitSignal(control.ended) as ended:
        control.start(setup)
    return ended.args[0]


def run_until(qtbot: QtBot, control: RunControl, setup: RunSetup, judged: int) -> None:
    control.start(setup)
    qtbot.waitUntil(lambda: so_far(control) >= judged)


def so_far(control: RunControl) -> int:
    return control.progress.judged if control.progress else 0


def test_a_run_tells_each_item_and_is_open_at_the_end(
    qtbot: QtBot, control: RunControl, setup: RunSetup, workspace: Workspace
) -> None:
    received: list[ItemJudged] = []
    control.judged.connect(received.append)
    ended = run_to_the_end(qtbot, control, setup)
    assert ended == RunEnded(run_id=1, items=4, judged=4, stopped=False)
    assert [item.judged.position for item in received] == list(range(4))
    assert all(len(item.judgments) == len(setup.criteria) for item in received)
    assert (control.progress.judged, control.progress.unscored) == (4, 0)
    assert control.unfinished is None
    qtbot.waitUntil(lambda: workspace.run is not None and bool(workspace.runs))


@pytest.mark.slow
@pytest.mark.apart
def test_a_stopped_run_answers_is_told_known_after_a_crash_and_goes_on_later(
    qtbot: QtBot, control: RunControl, setup: RunSetup, workspace: Workspace
) -> None:
    setup = replace(setup, mode=Mode.EXPLAIN, items=None)
    run_until(qtbot, control, replace(setup, fresh=True), judged=2)
    workspace.stay()
    with qtbot.waitSignal(workspace.notice) as told, qtbot.waitSignal(control.ended) as ended:
        control.stop()
        assert control.stopping
        assert control.note == "Stopping …"
    assert ended.args[0].stopped
    kept = ended.args[0].judged
    assert 2 <= kept < 30
    assert told.args[0].text.endswith(f"after {kept} of 30 items (gold.tsv, demo-judge).")
    after = Workspace(workspace.threads, after_a_crash(workspace.state), workspace.store_path)
    assert control.unfinished == RunControl(after).unfinished == replace(setup, resumes=1)
    control.start(setup)
    qtbot.waitUntil(lambda: so_far(control) > kept)
    assert (control.progress.run_id, control.progress.judged_before) == (1, kept)
    stop(qtbot, control)


def test_a_run_to_stop_soon_keeps_what_it_judges(qtbot: QtBot, control: RunControl, setup: RunSetup) -> None:
    previews: list[LabelsRead] = []

    def hear(event: object) -> None:
        if isinstance(event, LabelsRead):
            previews.append(event)
            control.stop_soon()

    control.told.connect(hear)
    ended = run_to_the_end(qtbot, control, replace(setup, mode=Mode.EXPLAIN, items=40))
    assert ended.stopped
    assert 2 <= ended.judged < 40
    assert ended.judged % 2 == 0
    assert previews
    assert control.unfinished.resumes == 1
    assert not control.ending


def test_what_cannot_run_says_why_and_the_next_run_works(
    qtbot: QtBot, control: RunControl, workspace: Workspace, setup: RunSetup
) -> None:
    for problem, wrong in (
        ("gone.tsv", replace(setup, dataset_path=Path("gone.tsv"))),
        ("gone.gguf", replace(setup, model_path=Path("gone.gguf"))),
        ("demo.tsv", replace(setup, model_path=demo_dataset())),
        ("trained with", replace(setup, context=10_000)),
        ("beauty", replace(setup, criteria=("beauty",))),
    ):
        with qtbot.waitSignal(workspace.problem) as shown:
            control.start(wrong)
        assert isinstance(shown.args[0], SetupError)
        assert problem in shown.args[0].problem
        assert not control.running
    assert isinstance(run_to_the_end(qtbot, control, replace(setup, items=1)), RunEnded)


@pytest.mark.slow
@pytest.mark.apart
def test_a_run_that_another_process_works_on_is_left_alone(
    qtbot: QtBot, control: RunControl, setup: RunSetup, workspace: Workspace
) -> None:
    cut_off(plan_of(setup), workspace.store_path)
    with RunStore(workspace.store_path) as store, store.hold(1):
        assert isinstance(run_to_the_end(qtbot, control, setup), RunBusyError)
    assert isinstance(run_to_the_end(qtbot, control, setup), RunEnded)


def test_a_run_that_waits_for_other_work_stops_at_once(
    qtbot: QtBot, control: RunControl, setup: RunSetup, workspace: Workspace
) -> None:
    go_on = threading.Event()

    def other(job: JobControl) -> None:
        while not job.cancel.requested and not go_on.wait(0.01):
            pass
        raise Cancelled

    workspace.threads.start(ThreadName.MODEL, other)
    control.start(setup)
    assert "Waiting" in control.note
    with qtbot.waitSignal(control.ended) as ended:
        control.stop()
    assert ended.args == [None]
    go_on.set()
    assert isinstance(run_to_the_end(qtbot, control, setup), RunEnded)


def test_a_run_that_is_looked_at_is_read_again_when_it_ends_and_not_forgotten_after_a_short_one(
    qtbot: QtBot, control: RunControl, setup: RunSetup, workspace: Workspace
) -> None:
    long = replace(setup, mode=Mode.EXPLAIN, items=None)
    run_until(qtbot, control, long, judged=2)
    open_run(qtbot, workspace, 1)
    read_again = [control.ended, workspace.run_changed]
    with qtbot.assertNotEmitted(workspace.notice), qtbot.waitSignals(read_again):
        control.stop()
    assert is_open(workspace, 1)
    run_to_the_end(qtbot, control, setup)
    assert control.unfinished == replace(long, resumes=1)
    with RunStore(workspace.store_path) as store:
        first, second = store.runs()
    assert control.going_on_with(first) == replace(long, resumes=1)  # with the threads that were asked for
    gone = replace(first.identity, dataset_path=Path("gone.tsv"))
    with pytest.raises(SetupError, match=r"Run 7 cannot be resumed: gone\.tsv does not exist any more"):
        control.going_on_with(replace(first, id=7, identity=gone))
    with pytest.raises(SetupError, match="Run 2 cannot be resumed: all its 4 items are judged"):
        control.going_on_with(second)


# Of the first two items, in seconds and tokens: 40 s done, 80 s left.
GROUP = GroupUnderWay(0, 1, 0, "x7", writing=False, done=512, total=1200, seconds=40, seconds_left=80)
HOSTILE = "<b>x</b>" + 255 * "W"


@pytest.fixture
def shown(qtbot: QtBot) -> GroupPanel:
    panel = GroupPanel()
    qtbot.addWidget(panel)
    panel.resize(400, 100)
    return panel


def test_a_slow_group_is_shown_with_what_a_stop_would_lose(qtbot: QtBot, shown: GroupPanel) -> None:
    shown.show_group(replace(GROUP, seconds=0.2), ending=False)
    assert not shown.isVisible()
    shown.show_group(GROUP, ending=False)
    assert shown.isVisible()
    assert "Reading item x7: 512 of 1,200 tokens" in text_of(shown)
    lost = "Stopping now loses 40 s of work on the 2 items judged now; in about 80 s it is stored."
    assert lost in text_of(shown)
    with qtbot.waitSignal(shown.soon_wanted):
        click(shown, "Stop after these items")
    shown.show_group(GROUP, ending=True)
    assert "The run stops after the 2 items judged now, in about 80 s." in text_of(shown)
    shown.end()
    assert not shown.isVisible()


def test_an_explanation_grows_and_widens_nothing(shown: GroupPanel) -> None:
    shown.show_group(replace(GROUP, item_id=HOSTILE), ending=False)
    wide = shown.minimumSizeHint().width()
    shown.show_group(replace(GROUP, writing=True), ending=False)
    shown.show_draft(Drafted("x7", "overall_quality", Preference.A, f"Response A is {HOSTILE} kind"))
    assert "Writing explanations: 512 of about 1,200 tokens" in text_of(shown)
    assert "Overall quality, A: …" in text_of(shown)
    assert text_of(shown).count("kind") == 1
    assert shown.minimumSizeHint().width() <= wide < 400


def judgment(item_id: str, label: Preference) -> Judgment:
    return Judgment(item_id, "safety", label, (0.7, 0.1, 0.1, 0.1), False, 0.9, ())


def kept(position: int) -> ItemJudged:
    item_id = str(position)
    return ItemJudged(JudgedItem(position, item_id, "", {}), (judgment(item_id, Preference.A),))


def read(position: int, whole: bool, label: Preference = Preference.A) -> LabelsRead:
    return LabelsRead(position, str(position), (judgment(str(position), label),), whole)


def ids(table: LatestTableModel) -> list[str]:
    return [table.item_id(row) for row in range(table.rowCount())]


def test_items_that_are_read_are_on_top_in_italics_until_they_are_kept(qtbot: QtBot) -> None:
    table = LatestTableModel()
    table.begin(("safety",))
    table.add([kept(0), kept(1)])
    table.preview([read(2, False, Preference.B), read(3, False), read(2, True)])
    assert ids(table) == ["3", "2", "1", "0"]
    assert [table.is_preview(row) for row in range(4)] == [True, True, False, False]
    assert table.index(1, 1).data() == "A"
    assert table.index(1, 1).data(Qt.ItemDataRole.FontRole).italic()
    assert table.index(2, 1).data(Qt.ItemDataRole.FontRole) is None
    assert "one order" in table.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert "stored once" in table.index(1, 0).data(Qt.ItemDataRole.ToolTipRole)
    # The next items are read by the time that the window hears of these.
    table.preview([read(4, False)])
    table.add([kept(2), kept(3)])
    assert ids(table) == ["4", "3", "2", "1", "0"]
    table.drop_previews()
    assert ids(table) == ["3", "2", "1", "0"]
