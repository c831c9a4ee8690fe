"""The queue of runs, with the real demo model and a real store: one after another, kept, stopped."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from engine.core.errors import SetupError
from engine.core.events import RunEnded
from engine.settings.identity import StoredRun
from engine.settings.rows import ExampleKind, Mode
from engine.settings.run_setup import RunSetup
from engine.store.run_store import RunStore
from engine.system.paths import demo_model
from gui.judge.run_control import RunControl
from gui.runs.queue import QUEUE, Queued, QueueState, RunQueue
from gui.runs.run_desk import RUN, QueuePanel
from gui.runs.runs_dialog import RunNameDialog
from gui.workspace.state import State
from gui.workspace.workspace import Workspace
from tests.full_disk import disk_that_holds
from tests.gui.judge.pages import cut_off, plan_of, stop
from tests.gui.labels import text_of
from tests.gui.steps import shown
from tests.gui.windows import after_a_crash

SETUP = RunSetup(Path("data.tsv"), Path("model.gguf"))


def test_a_kept_run_comes_back() -> None:
    entry = Queued(SETUP, QueueState.DONE, 7, "all of it", 3.5, "night", "a note")
    assert Queued.of_json(entry.as_json(), SETUP) == entry


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("seconds", [10**400, 1e308, float("inf"), float("nan"), -1, True, "3", None, [[]]]),
        ("run", [-1, 0, True, 1.5, "7", [], {}]),
    ],
)
def test_impossible_values_are_none(name: str, values: list[Any]) -> None:
    for value in values:
        assert Queued.of_json({**Queued(SETUP).as_json(), name: value}, SETUP) == Queued(SETUP)


def test_an_impossible_setting_is_as_usual() -> None:
    values = {"temperature": 1e-9, "dataset_path": "a\0b", "second_order_below": 10**400}
    for name, value in (("temperature", 10**400), *values.items()):
        assert RunSetup.of_json({**SETUP.as_json(), name: value}, SETUP) == SETUP


WAITING, UNDER_WAY, DONE, FAILED, SKIPPED = QueueState

pytestmark = pytest.mark.usefixtures("demo_tried")


@pytest.fixture
def control(workspace: Workspace) -> RunControl:
    return RunControl(workspace)


@pytest.fixture
def queue(control: RunControl, workspace: Workspace) -> RunQueue:
    return RunQueue(control, workspace)


@pytest.fixture
def setup(demo_gold: Path) -> RunSetup:
    return RunSetup(demo_gold, demo_model(), items=2, mode=Mode.LABELS, both_orders=False, threads=1)


def long(setup: RunSetup) -> RunSetup:
    return replace(setup, items=None, mode=Mode.EXPLAIN, both_orders=True, max_explanation_tokens=20)


def states(queue: RunQueue) -> list[QueueState]:
    return [entry.state for entry in queue.entries]


def opened_again(control: RunControl, workspace: Workspace) -> RunQueue:
    """The queue as the disk holds it at this moment, which is all that a crash leaves."""
    again = Workspace(workspace.threads, after_a_crash(workspace.state), workspace.store_path)
    return RunQueue(control, again)


def begin_two(qtbot: QtBot, queue: RunQueue, control: RunControl, setup: RunSetup) -> None:
    queue.add(long(setup))
    queue.add(setup)
    queue.start()
    wait_for_items(qtbot, control)


def stored(workspace: Workspace, run_id: int) -> StoredRun:
    with RunStore(workspace.store_path) as store:
        return store.run(run_id)


def run_queue(qtbot: QtBot, queue: RunQueue) -> str:
    """Let a queue go to its end; what it says then."""
    with qtbot.waitSignal(queue.ended) as ended:
        queue.start()
    return str(ended.args[0])


def wait_for_items(qtbot: QtBot, control: RunControl, count: int = 1) -> None:
    qtbot.waitUntil(lambda: control.progress is not None and control.progress.judged >= count)


def test_runs_are_judged_one_after_another_and_one_that_fails_lets_the_next_begin(
    qtbot: QtBot, queue: RunQueue, setup: RunSetup, workspace: Workspace, tmp_path: Path
) -> None:
    queue.add(setup)
    queue.add(replace(setup, dataset_path=tmp_path / "gone.tsv"))
    queue.add(replace(setup, items=3))
    parts: list[tuple[int, int] | None] = []
    queue.changed.connect(lambda: parts.append(queue.part))
    summary = run_queue(qtbot, queue)
    assert states(queue) == [DONE, FAILED, DONE]
    assert [entry.run_id for entry in queue.entries] == [1, None, 2]
    assert "gone.tsv" in queue.entries[1].said
    assert ": ".join(queue.entries[0].outcome).startswith("done, run 1: 2 items")
    assert summary.startswith("The queue has ended after ")
    assert summary.endswith(": 2 done, 1 failed.")
    assert {(1, 3), (2, 3), (3, 3)} <= set(parts)
    assert (queue.going, queue.current) == (False, None)
    with RunStore(workspace.store_path) as store:
        assert [run.judged for run in store.runs()] == [2, 3]


def test_two_unfinished_runs_of_one_setup_both_wait_and_each_goes_on(
    qtbot: QtBot, queue: RunQueue, control: RunControl, setup: RunSetup, workspace: Workspace
) -> None:
    whole = replace(setup, items=3)
    first, second = (cut_off(plan_of(whole), workspace.store_path, 1, fresh) for fresh in (False, True))
    assert [stored(workspace, run_id).judged for run_id in (first, second)] == [1, 1]
    assert queue.add(replace(whole, resumes=second))
    assert queue.add(replace(whole, resumes=first))
    assert not queue.add(replace(whole, resumes=first, fresh=True))
    assert not queue.add(whole)  # the newest of its runs would go on, which waits
    run_queue(qtbot, queue)
    assert [(entry.state, entry.run_id) for entry in queue.entries] == [(DONE, second), (DONE, first)]
    with RunStore(workspace.store_path) as store:
        assert [run.judged for run in store.runs()] == [3, 3]


def test_a_run_that_waits_is_called_as_a_person_calls_it_from_its_beginning_on(
    qtbot: QtBot, queue: RunQueue, control: RunControl, setup: RunSetup, workspace: Workspace
) -> None:
    queue.add(setup)
    queue.call(0, " night,\nQ8 ", "with a larger cache\n")
    after = opened_again(control, workspace).entries
    assert after == queue.entries
    assert (after[0].name, after[0].note, after[0].setup) == ("night, Q8", "with a larger cache", setup)
    assert after[0].in_words.startswith("“night, Q8” first 2 of gold.tsv, ")
    with qtbot.waitSignal(control.judged):
        queue.start()
    run = stored(workspace, 1)
    assert (run.name, run.note) == ("night, Q8", "with a larger cache")
    qtbot.waitUntil(lambda: not queue.going)


def test_what_is_no_name_is_refused_before_the_run_begins(queue: RunQueue, setup: RunSetup) -> None:
    queue.add(setup)
    for name in ("n" * 256, "right\u202eleft"):
        with pytest.raises(SetupError, match="The name of the run has"):
            queue.call(0, name, "")
    assert queue.entries[0].name == ""


def test_a_run_is_renamed_while_it_is_prepared_or_begun_and_is_called_as_the_store_calls_it(
    qtbot: QtBot, queue: RunQueue, setup: RunSetup, workspace: Workspace
) -> None:
    queue.add(setup)
    queue.start()
    queue.call(0, "late", "")
    qtbot.waitUntil(lambda: not queue.going)
    qtbot.waitUntil(lambda: stored(workspace, 1).name == "late")
    queue.clear_ended()
    number = cut_off(plan_of(replace(setup, items=3)), workspace.store_path, 1)
    queue.add(replace(setup, items=3, resumes=number))
    queue.call(0, "first", "")
    qtbot.waitUntil(lambda: queue.entries[0].name == "first")
    assert stored(workspace, number).name == "first"
    with RunStore(workspace.store_path) as store:
        store.name(number, "other")
    workspace.refresh_runs()
    qtbot.waitUntil(lambda: queue.entries[0].name == "other")
    run_queue(qtbot, queue)
    assert stored(workspace, number).name == "other"


@pytest.mark.slow
def test_a_run_that_goes_on_is_not_called_again_as_at_its_beginning(
    qtbot: QtBot, queue: RunQueue, control: RunControl, setup: RunSetup, workspace: Workspace
) -> None:
    queue.add(replace(setup, items=None))
    queue.call(0, "first", "")
    queue.start()
    wait_for_items(qtbot, control)
    stop(qtbot, control)
    with RunStore(workspace.store_path) as store:
        store.name(1, "other")
    control.start(replace(control.unfinished, resumes=1))
    with qtbot.waitSignal(control.ended):
        pass
    assert stored(workspace, 1).name == "other"


def test_what_waits_does_so_once_and_is_moved_and_taken_out(queue: RunQueue, setup: RunSetup) -> None:
    assert [queue.add(replace(setup, items=items)) for items in (1, 1, 2, 3)] == [True, False, True, True]
    assert queue.waiting == 3

    def order() -> Sequence[int | None]:
        return [entry.setup.items for entry in queue.entries]

    assert queue.move(0, 1)
    assert order() == [2, 1, 3]
    assert not queue.move(0, -1)
    assert not queue.move(2, 1)
    queue.remove(1)
    assert order() == [2, 3]


def test_stop_stops_the_queue_and_a_run_that_is_skipped_lets_the_next_begin_and_may_wait_again(
    qtbot: QtBot, queue: RunQueue, control: RunControl, setup: RunSetup, workspace: Workspace
) -> None:
    begin_two(qtbot, queue, control, setup)
    assert states(queue) == [UNDER_WAY, WAITING]
    after = opened_again(control, workspace)  # as after a crash
    assert (after.going, states(after)) == (False, [WAITING, WAITING])
    first = after.entries[0]
    assert (first.run_id, first.said) == (1, "interrupted; will be resumed")
    assert (first.next_setup.resumes, first.setup) == (1, long(setup))
    stop(qtbot, control)
    assert (queue.going, states(queue)) == (False, [WAITING, WAITING])
    assert (queue.entries[0].run_id, queue.entries[0].said[:13]) == (1, "stopped after")
    queue.start()
    assert control.setup.resumes == 1
    with qtbot.waitSignal(queue.ended) as ended:
        queue.skip()
    assert states(queue) == [SKIPPED, DONE]
    assert str(ended.args[0]).endswith(": 1 done, 1 skipped.")
    queue.repeat(0)
    assert (states(queue)[0], queue.entries[0].run_id) == (WAITING, 1)
    queue.clear_ended()
    assert states(queue) == [WAITING]


@pytest.mark.slow
def test_resume_goes_on_with_a_run_before_those_that_wait(
    qtbot: QtBot, queue: RunQueue, control: RunControl, workspace: Workspace, setup: RunSetup
) -> None:
    panel = shown(qtbot, QueuePanel(queue, lambda: setup))
    begin_two(qtbot, queue, control, setup)
    with qtbot.waitSignal(queue.ended):
        queue.skip()
    queue.add(replace(setup, items=1))
    assert states(queue) == [SKIPPED, DONE, WAITING]
    panel.view.selectRow(1)
    assert not panel.resume_button.isVisible()
    panel.view.selectRow(0)
    assert panel.resume_button.isVisible()
    panel.resume_button.click()
    assert [entry.run_id for entry in queue.entries] == [2, 1, None]
    assert (queue.current, control.setup.resumes) == (1, 1)
    stop(qtbot, control)


def test_a_queue_that_is_started_during_a_run_begins_after_it(
    qtbot: QtBot, queue: RunQueue, control: RunControl, setup: RunSetup
) -> None:
    queue.add(replace(setup, items=3))
    received: list[object] = []
    control.ended.connect(received.append)
    control.start(setup)
    queue.start()
    assert (queue.going, queue.current, states(queue)) == (True, None, [WAITING])
    qtbot.waitUntil(lambda: len(received) == 2)
    assert [how.run_id for how in received if isinstance(how, RunEnded)] == [1, 2]
    qtbot.waitUntil(lambda: not queue.going)


def test_paused_or_to_stop_after_the_items_judged_now_no_other_run_begins(
    qtbot: QtBot, queue: RunQueue, control: RunControl, setup: RunSetup
) -> None:
    for each in (setup, replace(setup, mode=Mode.EXPLAIN), replace(setup, items=3)):
        queue.add(each)
    with qtbot.waitSignal(control.ended):
        queue.start()
        queue.pause()
    qtbot.wait(50)
    assert (control.running, states(queue)) == (False, [DONE, WAITING, WAITING])
    control.told.connect(lambda _event: None if control.ending else control.stop_soon())
    with qtbot.waitSignal(control.ended) as ended:
        queue.start()
    assert not ended.args[0].stopped
    qtbot.wait(50)
    assert (queue.going, control.running, states(queue)) == (False, False, [DONE, DONE, WAITING])


def test_a_run_that_was_deleted_elsewhere_is_begun_anew_when_it_is_repeated(
    qtbot: QtBot, queue: RunQueue, control: RunControl, setup: RunSetup, workspace: Workspace
) -> None:
    queue.add(setup)
    run_queue(qtbot, queue)
    queue.clear_ended()
    with RunStore(workspace.store_path) as store:
        store.delete([1], True)
    queue.add(replace(setup, resumes=1))
    run_queue(qtbot, queue)
    assert (states(queue), queue.entries[0].run_id) == ([FAILED], 1)
    qtbot.waitUntil(lambda: not queue.is_stored(0))
    queue.repeat(0)
    assert queue.entries[0].run_id is None
    run_queue(qtbot, queue)
    assert states(queue) == [DONE]
    queue.add(replace(setup, items=1, resumes=7))
    queue.forget_runs([7])  # deleted here
    assert queue.entries[1].next_setup == replace(setup, items=1)


def test_a_damaged_memory_is_an_empty_queue(control: RunControl, workspace: Workspace) -> None:
    for kept in ({}, {"entries": 3}, {"entries": [3, {"setup": 1}, {}]}):
        workspace.state.set_record(QUEUE, kept)
        assert RunQueue(control, workspace).entries == ()


def test_two_windows_keep_a_queue_each_and_the_next_one_has_both(
    control: RunControl, queue: RunQueue, workspace: Workspace, setup: RunSetup
) -> None:
    def next_window() -> Workspace:
        return Workspace(workspace.threads, State(workspace.state.path.parent), workspace.store_path)

    other = next_window()
    second = RunQueue(control, other)
    queue.add(setup)
    second.add(replace(setup, items=3))
    queue.add(replace(setup, items=4))
    assert [len(each.entries) for each in (queue, second)] == [2, 1]
    for each in (workspace, other):
        each.close()
    for _ in range(2):
        after = next_window()
        assert {entry.setup.items for entry in RunQueue(control, after).entries} == {2, 3, 4}
        after.close()


@pytest.mark.skipif(sys.platform == "win32", reason="has no limit for the size of files")
def test_a_run_that_the_disk_does_not_take_is_not_queued(
    qtbot: QtBot, queue: RunQueue, workspace: Workspace, setup: RunSetup
) -> None:
    queue.add(setup)
    with disk_that_holds(10), qtbot.waitSignal(workspace.problem, timeout=0):
        assert not queue.add(replace(setup, items=3))
    assert (len(queue.entries), queue.kept) == (1, False)
    assert len(opened_again(queue._control, workspace).entries) == 1
    with disk_that_holds(10), qtbot.waitSignal(workspace.problem, timeout=0):
        queue.call(0, "Mine", "")
    assert [entry.name for entry in queue.entries] == [""]


def test_the_panel_adds_moves_and_removes_by_keys(qtbot: QtBot, queue: RunQueue, setup: RunSetup) -> None:
    described = [replace(setup, items=items) for items in (1, 2, 3)]
    panel = QueuePanel(queue, lambda: described[len(queue.entries)] if len(queue.entries) < 3 else setup)
    assert panel.isHidden()
    notes: list[str] = []
    panel.added.connect(notes.append)
    for _ in range(4):
        panel.add_button.click()
    assert not panel.isHidden()
    assert len(queue.entries) == 3
    assert notes[-1].startswith("This run is in the queue already")
    assert "3 waiting" in text_of(shown(qtbot, panel))
    panel.view.setFocus()
    panel.view.selectRow(2)
    qtbot.keyClick(panel.view, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    assert [entry.setup.items for entry in queue.entries] == [1, 3, 2]
    assert panel.view.currentIndex().row() == 1
    qtbot.keyClick(panel.view, Qt.Key.Key_Delete)
    assert [entry.setup.items for entry in queue.entries] == [1, 2]


def test_f2_asks_for_name_and_note_and_says_whats_wrong(
    qtbot: QtBot, queue: RunQueue, setup: RunSetup
) -> None:
    panel = QueuePanel(queue, lambda: setup)
    panel.add_button.click()
    shown(qtbot, panel).view.setFocus()
    qtbot.keyClick(panel.view, Qt.Key.Key_F2)
    (dialog,) = panel.findChildren(RunNameDialog)
    dialog.name.insert("night\u202e")
    qtbot.keyClick(dialog.name, Qt.Key.Key_Return)
    assert dialog.isVisible()
    assert "characters that cannot be shown" in dialog.said.text()
    qtbot.keyClick(dialog.name, Qt.Key.Key_Backspace)
    dialog.note.setPlainText("with a larger cache")
    qtbot.keyPress(dialog.name, Qt.Key.Key_Return)  # of which the dialog is gone before a key is let go
    assert (queue.entries[0].name, queue.entries[0].note) == ("night", "with a larger cache")
    cell = panel.table.index(0, RUN)
    assert cell.data().startswith("“night” first 2 of gold.tsv\n")
    assert "with a larger cache" in cell.data(Qt.ItemDataRole.ToolTipRole)


def test_a_name_of_255_letters_widens_nothing(qtbot: QtBot, queue: RunQueue, setup: RunSetup) -> None:
    long_name = Path("/data") / ("n" * 251 + ".tsv")
    panel = QueuePanel(queue, lambda: replace(setup, dataset_path=long_name, model_path=long_name))
    qtbot.addWidget(panel)
    before = panel.minimumSizeHint().width()
    panel.add_button.click()
    queue.call(0, "n" * 255, "")
    assert panel.minimumSizeHint().width() <= max(before, 500)
    dialog = RunNameDialog(queue.entries[0], panel)
    assert dialog.minimumSizeHint().width() <= 700


def test_an_entry_says_what_differs_between_runs(setup: RunSetup) -> None:
    entry = Queued(replace(setup, context=8192, criteria=("safety",)))
    assert entry.what == "first 2 of gold.tsv"
    assert entry.how == "1 criterion, labels only, one order, context 8,192"
    assert entry.in_words.endswith(": waits")
    shots = replace(setup, examples_path=Path("gold.tsv"), shots=2)
    near = replace(shots, example_choice=ExampleKind.NEAR)
    hows = [Queued(each).how for each in (setup, shots, near, replace(near, examples_path=None))]
    assert ["example" in how for how in hows] == [False, True, True, False]
    assert hows[1].endswith(", 2 examples")
    assert hows[2].endswith(", 2 examples, the nearest")
