"""What the pages share: runs opened and read again, overrides that are never lost on the way."""

import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from engine.annotations.records import Said, Undo, now
from engine.core.errors import SetupError
from engine.core.health import HealthVerdict
from engine.core.items import Preference
from engine.core.judgments import JudgmentKey, NewOverride
from engine.store.run_store import RunStore
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace


@pytest.fixture
def judged(space: Workspace, qtbot: QtBot) -> Workspace:
    """A workspace with a run of the demo model open."""
    with qtbot.waitSignal(space.run_changed):
        space.open_run(1)
    return space


def test_a_run_is_opened_with_the_items_that_it_judged(judged: Workspace, demo_gold: Path) -> None:
    assert judged.run is not None
    assert judged.run.dataset is not None
    assert judged.run.dataset.path == demo_gold
    assert judged.gold is judged.run.dataset


def test_an_override_is_in_the_results_at_once_and_undone_again(qtbot: QtBot, judged: Workspace) -> None:
    with qtbot.waitSignal(judged.overrides_changed):
        judged.override(JudgmentKey("1", "safety"), Preference.BOTH_BAD, None)
    assert judged.run is not None
    (override,) = judged.run.results.overrides.values()
    assert (override.item_id, override.criterion, override.preference) == ("1", "safety", Preference.BOTH_BAD)
    with qtbot.waitSignal(judged.overrides_changed):
        [step] = judged.steps(judged.run.results.judged[0])
        judged.take_back(Undo("1", "", judged.author, step.at))
    assert judged.run.results.overrides == {}


def test_a_label_after_the_clock_was_set_back_counts_and_is_the_one_taken_back(
    qtbot: QtBot, judged: Workspace
) -> None:
    key, before, after = JudgmentKey("1", "safety"), Preference.BOTH_BAD, Preference.BOTH_GOOD
    ahead = Said(NewOverride(*key, before, None, judged.author), now() + timedelta(hours=1), 1)
    with qtbot.waitSignal(judged.overrides_changed):
        judged.words.say(ahead)  # by a clock that is an hour ahead
    assert judged.run is not None
    for taken_back, label in ((False, after), (True, before)):
        with qtbot.waitSignal(judged.overrides_changed):
            step = judged.steps(judged.run.results.judged[0])[-1]
            if taken_back:
                judged.take_back(Undo(key.item_id, "", judged.author, step.at))
            else:
                judged.override(key, after, None)
        assert judged.run.results.overrides[key].preference is label


def test_words_that_wait_stay_in_their_order_whatever_the_clock_says(qtbot: QtBot, judged: Workspace) -> None:
    key = JudgmentKey("1", "safety")
    assert judged.run is not None
    with closing(sqlite3.connect(judged.store_path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")  # another program writes in the store
        judged.words.say(
            Said(NewOverride(*key, Preference.B, None, judged.author), now() + timedelta(hours=1), 1)
        )
        judged.override(key, Preference.BOTH_BAD, None)
        [_, last] = judged.steps(judged.run.results.judged[0])
        assert last.words == (NewOverride(*key, Preference.BOTH_BAD, None, judged.author),)
    qtbot.waitUntil(lambda: key in judged.run.results.overrides)  # type: ignore[union-attr]
    assert judged.run.results.overrides[key].preference is Preference.BOTH_BAD


def test_an_override_made_while_the_run_is_read_again_stays(qtbot: QtBot, judged: Workspace) -> None:
    validator = threading.Event()
    judged.threads.start(ThreadName.MEASURE, lambda _: validator.wait(10))
    assert judged.run is not None
    before = judged.run.results
    judged.read_run_again()
    with qtbot.waitSignal(judged.overrides_changed):
        judged.override(JudgmentKey("1", "safety"), Preference.BOTH_BAD, None)
    with qtbot.waitSignal(judged.run_changed):
        validator.set()
    assert judged.run.results is not before
    assert len(judged.run.results.overrides) == 1


def test_reading_again_does_not_drop_the_run_that_was_just_chosen(qtbot: QtBot, judged: Workspace) -> None:
    with RunStore(judged.store_path) as store, store.begin(store.run(1).identity, fresh=True) as second:
        number = second.id
    judged.open_run(number)
    with qtbot.waitSignal(judged.run_changed):
        judged.read_run_again()
    assert judged.run is not None
    assert judged.run.id == number


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
    assert judged.run is not None
    identity = judged.run.results.run.identity
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
        assert judged.gold is not None
        found[run] = (judged.gold.name, judged.has_chosen_gold)
    assert found == {2: ("labels.tsv", True), 3: ("other.tsv", False), 1: ("labels.tsv", True)}
    judged.use_own_labels()
    assert judged.gold is judged.own_gold


def test_a_run_comes_with_its_health(judged: Workspace) -> None:
    assert judged.run is not None
    assert judged.run.health.verdict is HealthVerdict.JUDGES


def test_a_run_that_another_window_deletes_is_closed_and_it_is_said(qtbot: QtBot, judged: Workspace) -> None:
    judged.refresh_runs()
    qtbot.waitUntil(lambda: bool(judged.runs))
    with RunStore(judged.store_path) as store:
        store.delete([1])
    with qtbot.waitSignals([judged.note, judged.runs_deleted, judged.run_changed]):
        judged.refresh_runs()
    assert judged.run is None
    assert judged.state.number("last/run", 7) == 0
