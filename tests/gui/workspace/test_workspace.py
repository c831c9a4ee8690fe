"""What pages share: runs opened and read again, annotations never lost, errors that end, other windows."""

import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from engine.annotations.records import Said, Undo, new_override, new_review, now
from engine.core.errors import EngineError, SetupError
from engine.core.health import HealthVerdict
from engine.core.items import Preference
from engine.core.judgments import JudgmentKey, ReviewState
from engine.store.opening import files_mark
from engine.store.run_store import RunStore
from gui.workspace.state import State
from gui.workspace.threads import EngineThreads, JobControl, LatestTask, ThreadName
from gui.workspace.workspace import Workspace
from tests.full_disk import disk_that_holds
from tests.gui.steps import gold_of, items_of, open_run, run_of

KEY = JudgmentKey("1", "safety")


@pytest.fixture
def judged(space: Workspace, qtbot: QtBot) -> Workspace:
    open_run(qtbot, space, 1)
    return space


def test_a_run_is_opened_with_its_judged_items_and_its_health(judged: Workspace, demo_gold: Path) -> None:
    assert items_of(judged).path == demo_gold
    assert judged.gold is run_of(judged).dataset
    assert run_of(judged).health.verdict is HealthVerdict.JUDGES


def test_an_override_is_in_the_results_at_once_and_undone_again(qtbot: QtBot, judged: Workspace) -> None:
    with qtbot.waitSignal(judged.overrides_changed):
        judged.override(KEY, Preference.BOTH_BAD, None)
    (override,) = run_of(judged).results.overrides.values()
    assert (override.key, override.preference) == (KEY, Preference.BOTH_BAD)
    with qtbot.waitSignal(judged.overrides_changed):
        [step] = judged.steps(run_of(judged).results.judged[0])
        judged.take_back(Undo("1", "", judged.author, step.at))
    assert run_of(judged).results.overrides == {}


def test_a_label_after_the_clock_was_set_back_counts_or_is_undone(qtbot: QtBot, judged: Workspace) -> None:
    before, after = Preference.BOTH_BAD, Preference.BOTH_GOOD
    ahead = Said(new_override(*KEY, before, None, judged.author), now() + timedelta(hours=1), 1)
    with qtbot.waitSignal(judged.overrides_changed):
        judged.words.say(ahead)  # by a clock that is an hour ahead
    for taken_back, label in ((False, after), (True, before)):
        with qtbot.waitSignal(judged.overrides_changed):
            step = judged.steps(run_of(judged).results.judged[0])[-1]
            if taken_back:
                judged.take_back(Undo(KEY.item_id, "", judged.author, step.at))
            else:
                judged.override(KEY, after, None)
        assert run_of(judged).results.overrides[KEY].preference is label


def test_words_that_wait_stay_in_their_order_whatever_the_clock_says(qtbot: QtBot, judged: Workspace) -> None:
    ahead = Said(new_override(*KEY, Preference.B, None, judged.author), now() + timedelta(hours=1), 1)
    with closing(sqlite3.connect(judged.store_path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")  # another program writes in the store
        judged.words.say(ahead)
        judged.override(KEY, Preference.BOTH_BAD, None)
        [_, last] = judged.steps(run_of(judged).results.judged[0])
        assert last.words == (new_override(*KEY, Preference.BOTH_BAD, None, judged.author),)

    def is_last() -> bool:  # the first may be stored by itself, and counts for a moment
        found = run_of(judged).results.overrides.get(KEY)
        return found is not None and found.preference is Preference.BOTH_BAD

    qtbot.waitUntil(is_last)


def test_an_override_made_while_the_run_is_read_again_stays(qtbot: QtBot, judged: Workspace) -> None:
    validator = threading.Event()
    judged.threads.start(ThreadName.MEASURE, lambda _: validator.wait(10))
    before = run_of(judged).results
    judged.read_run_again()
    with qtbot.waitSignal(judged.overrides_changed):
        judged.override(KEY, Preference.BOTH_BAD, None)
    with qtbot.waitSignal(judged.run_changed):
        validator.set()
    assert run_of(judged).results is not before
    assert len(run_of(judged).results.overrides) == 1


def test_reading_again_does_not_drop_the_run_that_was_just_chosen(qtbot: QtBot, judged: Workspace) -> None:
    with RunStore(judged.store_path) as store, store.begin(store.run(1).identity, fresh=True) as second:
        number = second.id
    judged.open_run(number)
    with qtbot.waitSignal(judged.run_changed):
        judged.read_run_again()
    assert run_of(judged).id == number


def test_an_override_that_cannot_be_stored_is_told(qtbot: QtBot, judged: Workspace) -> None:
    with qtbot.waitSignal(judged.problem) as problem:
        judged.override(JudgmentKey("no such item", "safety"), Preference.A, None)
    assert isinstance(problem.args[0], SetupError)
    assert problem.args[0].problem.startswith("Item no such item, safety: your annotation is not stored.")


def test_the_dataset_of_last_time_is_not_asked_for_again_where_it_is_gone(
    qtbot: QtBot, workspace: Workspace, tmp_path: Path
) -> None:
    workspace.state.set_text("last/dataset", str(tmp_path / "gone.tsv"))
    with qtbot.waitSignal(workspace.dataset_failed) as failed:
        workspace.open_dataset(tmp_path / "gone.tsv")
    assert "gone.tsv" in failed.args[0].problem
    assert workspace.state.text("last/dataset") == ""


def test_labels_stay_with_the_runs_of_their_dataset(
    qtbot: QtBot, judged: Workspace, demo_gold: Path, tmp_path: Path
) -> None:
    other, labels = tmp_path / "other.tsv", tmp_path / "labels.tsv"
    for copy in (other, labels):
        copy.write_bytes(demo_gold.read_bytes())
    identity = run_of(judged).results.run.identity
    with RunStore(judged.store_path) as store:
        for made in (identity, replace(identity, key="other", dataset_path=other)):
            with store.begin(made, fresh=True):
                pass
    with qtbot.waitSignal(judged.gold_changed):
        judged.open_gold(labels)
    found = {}
    for run in (2, 3, 1):
        with qtbot.waitSignal(judged.run_changed):
            judged.open_run(run)
        found[run] = (gold_of(judged).name, judged.has_chosen_gold)
    assert found == {2: ("labels.tsv", True), 3: ("other.tsv", False), 1: ("labels.tsv", True)}
    judged.use_own_labels()
    assert judged.gold is judged.own_gold


def test_a_run_that_another_window_deletes_is_closed_and_it_is_said(qtbot: QtBot, judged: Workspace) -> None:
    judged.refresh_runs()
    qtbot.waitUntil(lambda: bool(judged.runs))
    with RunStore(judged.store_path) as store:
        store.delete([1])
    with qtbot.waitSignals([judged.note, judged.runs_deleted, judged.run_changed]):
        judged.refresh_runs()
    assert judged.run is None
    assert judged.state.number("last/run", 7) == 0


@pytest.fixture
def open_errors(workspace: Workspace) -> list[EngineError]:
    """Those that were told and are not over."""
    found: list[EngineError] = []
    workspace.problem.connect(found.append)
    workspace.failures.over.connect(found.remove)
    return found


def fails(_control: JobControl) -> None:
    raise SetupError("It is gone.", "Get it back.")


def succeeds(_control: JobControl) -> None:
    pass


def test_an_error_ends_with_a_success(
    qtbot: QtBot, workspace: Workspace, open_errors: list[EngineError]
) -> None:
    one, other = (LatestTask(workspace.threads, ThreadName.STORE, workspace) for _ in range(2))
    workspace.failures.follow(one)
    workspace.failures.follow(other)
    for work, job, left in ((one, fails, 1), (other, succeeds, 1), (one, fails, 1), (one, succeeds, 0)):
        with qtbot.waitSignal(work.busy_changed, check_params_cb=lambda busy: not busy):
            work.start(job)
        assert len(open_errors) == left


def test_works_of_one_kind_end_the_errors_of_each_other(
    qtbot: QtBot, workspace: Workspace, open_errors: list[EngineError]
) -> None:
    for job, left in ((fails, 1), (succeeds, 0)):
        task = workspace.threads.start(ThreadName.STORE, job)
        workspace.failures.follow(task, "an export")
        with qtbot.waitSignal(task.ended):
            pass
        assert len(open_errors) == left


def test_a_run_that_cannot_be_opened_is_no_matter_once_one_is(
    qtbot: QtBot, space: Workspace, open_errors: list[EngineError]
) -> None:
    with qtbot.waitSignal(space.problem):
        space.open_run(99)
    assert len(open_errors) == 1
    open_run(qtbot, space, 1)
    assert open_errors == []


@pytest.mark.skipif(sys.platform == "win32", reason="has no limit for the size of files")
def test_a_label_that_is_not_stored_is_told_of_until_one_of_the_same_judgment_is(
    qtbot: QtBot, judged: Workspace, open_errors: list[EngineError]
) -> None:
    with disk_that_holds(10):
        judged.override(KEY, Preference.A, None)
    assert len(open_errors) == 1
    for item, left in (("2", 1), ("1", 0)):
        with qtbot.waitSignal(judged.overrides_changed):
            judged.override(JudgmentKey(item, "safety"), Preference.B, None)
        assert len(open_errors) == left


SOON = 5000  # a busy computer takes its time; the look itself comes after 700 ms


@pytest.fixture
def windows(qtbot: QtBot, space: Workspace, threads: EngineThreads, tmp_path: Path) -> list[Workspace]:
    """Two workspaces on one store, each with the demo run open; Ada and Ben."""
    other = Workspace(threads, State(tmp_path / "other"), space.store_path)
    for window, name in ((space, "Ada"), (other, "Ben")):
        window.set_author(name)
        open_run(qtbot, window, 1)
    return [space, other]


def test_a_label_and_a_note_of_another_window_are_shown(qtbot: QtBot, windows: list[Workspace]) -> None:
    here, there = windows
    with qtbot.waitSignal(here.reviewed, timeout=SOON) as told:
        there.override(KEY, Preference.BOTH_BAD, None)
    assert told.args == ["1"]
    assert run_of(here).results.overrides[KEY].author == "Ben"
    [step] = there.steps(run_of(there).results.judged[0])
    with qtbot.waitSignal(here.overrides_changed, timeout=SOON):
        there.take_back(Undo("1", "", "Ben", step.at))
    assert KEY not in run_of(here).results.overrides

    content = run_of(here).results.judged[0].content_hash
    with qtbot.waitSignal(here.noted, timeout=SOON):
        there.note_item(content, "odd", ["rare"])
    assert [note.author for note in run_of(here).results.notes_on(content)] == ["Ben"]


def test_what_another_process_says_is_shown(qtbot: QtBot, windows: list[Workspace]) -> None:
    code = (
        "import sys; from pathlib import Path; from engine.store.run_store import RunStore;"
        "from engine.core.judgments import ReviewState; from engine.annotations.records import new_review;"
        "RunStore(Path(sys.argv[1])).annotate(1, new_review('2', 'Cy', ReviewState.DONE))"
    )
    here = windows[0]
    with qtbot.waitSignal(here.reviewed) as told:
        subprocess.run([sys.executable, "-c", code, str(here.store_path)], check=True)
    assert told.args == ["2"]
    assert run_of(here).results.reviews.state("2", "Cy") is ReviewState.DONE


def test_many_are_told_once(qtbot: QtBot, windows: list[Workspace], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gui.workspace.workspace._MOST_TOLD", 1)
    here = windows[0]
    with qtbot.waitSignal(here.run_changed, timeout=SOON), RunStore(here.store_path) as store:
        for item in ("1", "2", "3"):
            store.annotate(1, new_override(item, "safety", Preference.A, None, "Cy"))
    qtbot.waitUntil(lambda: here.run is not None and "Cy" in here.run.results.reviews.annotators)


def test_looking_changes_nothing_that_is_looked_at(space: Workspace) -> None:
    before = files_mark(space.store_path)
    assert before is None or before
    with RunStore(space.store_path) as store:
        mark = store.words_mark(1)
    assert files_mark(space.store_path) == before
    with RunStore(space.store_path) as store:
        store.annotate(1, new_review("1", "Cy", ReviewState.DONE))
        assert before is None or files_mark(space.store_path) != before
        assert store.words_mark(1) != mark
