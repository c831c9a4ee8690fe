"""The store: whole groups or nothing, resume, one process to a run, and errors that say what to do."""

import math
import pickle
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from engine.annotations.effective import standing_notes
from engine.annotations.records import AnnotationKind, new_note, new_override
from engine.cli.shared.hints import OPTIONS
from engine.core.errors import RunBusyError, StoreError
from engine.core.items import HumanLabel, Order, Preference
from engine.core.judgments import Explanation, RawPrediction
from engine.store.migrations import APPLICATION_ID, STEPS
from engine.store.run_store import RunStore
from tests.judged import IDENTITY, judged_item, write_old_store
from tests.steps import refused


def test_what_is_stored_comes_back_exactly_also_what_is_not_a_number(store: RunStore) -> None:
    predictions = {"safety": (RawPrediction(Order.AB, (math.nan, -1.0, -1.0, -1.0)),)}
    with store.begin(IDENTITY) as run:
        store.add(run.id, [judged_item(1), judged_item(0)])
        assert list(store.judged(run.id)) == [judged_item(0), judged_item(1)]
        store.add(run.id, [replace(judged_item(2), raw_predictions=predictions)])
    *_, back = store.judged(run.id)
    assert math.isnan(back.raw_predictions["safety"][0].log_probs[0])


def test_rewritten_explanations_are_kept_beside_the_first_and_the_latest_for_a_label_counts(
    store: RunStore,
) -> None:
    new = Explanation("Response A is kind.", Preference.A)
    good = Explanation("Both are kind.", Preference.BOTH_GOOD, cut=True)
    with store.begin(IDENTITY) as run, store.begin(IDENTITY, fresh=True) as other:
        for begun in (run, other):
            store.add(begun.id, [judged_item(0), judged_item(1)])
        store.add_rewritten(run.id, {1: {"safety": replace(new, text="Response A is not cruel.")}})
        store.add_rewritten(run.id, {1: {"safety": new, "relevance": new}, 2: {"safety": new}})
        store.add_rewritten(run.id, {1: {"safety": good}})
    texts: dict[tuple[str, HumanLabel], Explanation] = {
        ("safety", Preference.A): new,
        ("safety", Preference.BOTH_GOOD): good,
    }
    assert list(store.judged(run.id)) == [judged_item(0), replace(judged_item(1), rewritten=texts)]
    assert list(store.judged(other.id)) == [judged_item(0), judged_item(1)]


def test_the_same_key_goes_on_with_the_same_run_another_one_and_a_fresh_start_do_not(store: RunStore) -> None:
    with store.begin(IDENTITY) as first:
        store.add(first.id, [judged_item(0)])
    with store.begin(IDENTITY) as second:
        assert (second.id, second.judged, second.identity) == (first.id, 1, IDENTITY)
    ids = []
    for identity, fresh in [(IDENTITY, False), (replace(IDENTITY, key="other"), False), (IDENTITY, True)]:
        with store.begin(identity, fresh) as run:
            ids.append(run.id)
    assert len(set(ids)) == 3
    with store.begin(IDENTITY) as run:
        assert run.id == ids[-1]


def test_a_group_is_stored_whole_or_not_at_all(store: RunStore) -> None:
    with store.begin(IDENTITY) as run:
        store.add(run.id, [judged_item(0)])
        with pytest.raises(StoreError, match="UNIQUE"):
            store.add(run.id, [judged_item(1), judged_item(0)])
        assert store.positions(run.id) == {0}


def test_a_run_is_held_by_one_process_until_it_ends(store: RunStore) -> None:
    with store.begin(IDENTITY) as run, RunStore(store.path) as other:
        for hold in (other.begin(IDENTITY), other.hold(run.id)):
            with pytest.raises(RunBusyError, match="judged by this program already"), hold:
                pass
        assert other.run(run.id).identity == IDENTITY
        store.calibrate(run.id, {"some": "calibration"})
    with RunStore(store.path) as other, other.begin(IDENTITY) as run:
        assert (run.judged, run.calibration) == (0, {"some": "calibration"})
    with pytest.raises(StoreError, match="has no run 7"):
        store.run(7)


@pytest.mark.parametrize(
    ("name", "statements", "problem"),
    [
        (
            "newer.sqlite",
            [f"PRAGMA application_id = {APPLICATION_ID}", f"PRAGMA user_version = {len(STEPS) + 1}"],
            "a newer Tiebreak wrote it",
        ),
        ("bookmarks.sqlite", ["CREATE TABLE bookmarks (url TEXT)"], "the database of another program"),
        ("notes.txt", [], r"notes\.txt: file is not a database"),
        ("folder/runs.sqlite", [], "Cannot open the run store"),
    ],
)
def test_what_is_no_store_of_this_version_is_refused_and_left_alone(
    tmp_path: Path, name: str, statements: list[str], problem: str
) -> None:
    path = tmp_path / name
    file = path if path.parent == tmp_path else path.parent  # a file where a folder would have to be
    if statements:
        with closing(sqlite3.connect(path)) as db, db:
            for statement in statements:
                db.execute(statement)
    else:
        file.write_text("my notes " * 500, encoding="utf-8")
    before = file.read_bytes()
    assert "--store" in OPTIONS.of(refused(lambda: RunStore(path), problem).hint)
    assert file.read_bytes() == before


@pytest.mark.slow
def test_two_processes_can_make_the_same_store_at_once(tmp_path: Path) -> None:
    program = "from pathlib import Path; from engine.store.run_store import RunStore;"
    command = [sys.executable, "-c", f"{program} RunStore(Path({str(tmp_path / 'runs.sqlite')!r})).close()"]
    children = [subprocess.Popen(command) for _ in range(4)]
    assert [child.wait() for child in children] == [0, 0, 0, 0]


def test_a_full_disk_is_said_and_loses_nothing(store: RunStore) -> None:
    with store.begin(IDENTITY) as run:
        store.add(run.id, [judged_item(0)])
        (pages,) = store._file._db.execute("PRAGMA page_count").fetchone()
        store._file._db.execute(f"PRAGMA max_page_count = {pages}")
        huge = replace(judged_item(1), explanations={"safety": Explanation("x" * 100_000, Preference.A)})
        error = refused(lambda: store.add(run.id, [huge]), "full")
        assert "all judgments are stored" in str(error.hint)
        assert list(store.judged(run.id)) == [judged_item(0)]


def test_a_store_locked_by_another_program_is_said(store: RunStore) -> None:
    store._file._db.execute("PRAGMA busy_timeout = 50")
    with closing(sqlite3.connect(store.path, isolation_level=None)) as blocker:
        blocker.execute("BEGIN IMMEDIATE")
        error = refused(lambda: store.begin(IDENTITY).__enter__(), "locked")
    assert "Close that program" in str(error.hint)


@pytest.mark.parametrize("version", range(1, len(STEPS)))
def test_a_store_of_an_earlier_version_is_brought_up_with_all_its_runs(tmp_path: Path, version: int) -> None:
    path = tmp_path / "old.sqlite"
    write_old_store(path, version)
    with RunStore(path) as store:
        (run,) = store.runs()
        assert (run.id, run.judged, run.calibration, run.identity.rubric) == (7, 1, None, None)
        assert (run.name, run.note, run.archived) == ("", "", None)
        (item,) = store.judged(7)
        assert item.raw_predictions["safety"][0].log_probs == (-1.0, -2.0, -3.0, -4.0)
        assert item.rewritten == {}
        store.remember({"key": [0.5]})
        assert store.recall(["key", "other"]) == {"key": (0.5,)}
        made = store.annotate(7, new_override("one", "safety", Preference.BOTH_BAD, None, "Ada"))
    with RunStore(path) as again:
        assert again.annotations(7, AnnotationKind.OVERRIDE) == [made]


DEEP = "[" * 5000 + "]" * 5000
DAMAGES = [
    ("UPDATE judged_item SET item_id = x'ff00'", "Run 1, item 1: item id: found 2 bytes"),
    ("UPDATE judged_item SET position = -1", "Run 1: position: found -1"),
    ("UPDATE explanation SET preference = 'C'", "preference: found 'C', expected one of A, B, both_good"),
    ("UPDATE reading SET log_a = 9e18", "reading: found 9e+18, expected the logarithm of a probability"),
    ("UPDATE judged_item SET item_id = CAST(x'ff41' AS TEXT)", "item id: found '\\udcffA'"),
    ("UPDATE run SET settings = '7'", "Run 1: settings: found '7', expected a record"),
    ("UPDATE run SET settings = '{}'", "Run 1: settings: found '{}', and 'mode' is missing"),
    (f"UPDATE run SET settings = '{DEEP}'", "Run 1: settings: it is nested too deeply"),
    ("UPDATE run SET manifest = '{\"continued_with\": 3}'", "Run 1: manifest: found 3"),
    ("UPDATE run SET items = 9e999", "Run 1: items: found inf"),
    ("UPDATE run SET created = '2026-01-01'", "Run 1: created: found '2026-01-01'"),
    ("UPDATE run SET dataset_path = 'a' || char(0)", "Run 1: dataset path"),
    ("UPDATE run SET name = 'a' || char(27)", "Run 1: name"),
    ("UPDATE run SET rubric = '{}'", "Run 1: rubric: found '{}', and 'name' is missing"),
]


@pytest.mark.parametrize(("change", "said"), DAMAGES)
def test_what_another_hand_wrote_is_told_by_run_and_field(tmp_path: Path, change: str, said: str) -> None:
    path = tmp_path / "runs.sqlite"
    with RunStore(path) as store, store.begin(IDENTITY) as run:
        store.add(run.id, [judged_item(0)])
    with sqlite3.connect(path) as db:
        db.execute(change)
    db.close()
    with RunStore(path) as store:
        error = refused(lambda: (store.run(1), list(store.judged(1))))
    assert said in error.problem
    assert len(error.problem) < 300
    assert "runs delete ID" in OPTIONS.of(error.hint)
    assert pickle.loads(pickle.dumps(error)).problem == error.problem


def test_a_damaged_run_is_listed_apart_and_can_be_deleted(store: RunStore) -> None:
    for fresh in (False, True):
        with store.begin(IDENTITY, fresh) as run:
            store.add(run.id, [judged_item(0)])
    store._file._db.execute("UPDATE run SET settings = '{}' WHERE id = 1")
    (damaged,) = store.damaged_runs()
    assert (damaged.id, damaged.judged, damaged.problem[:16]) == (1, 1, "Run 1: settings:")
    assert [run.id for run in store.runs()] == [2]
    assert list(store.judged(2)) == [judged_item(0)]
    assert "Run 1 (damaged): 1 judged item" in store.contents([1])[0].in_words
    assert store.delete([1]).ids == (1,)
    assert (store.damaged_runs(), [run.id for run in store.runs()]) == ([], [2])


def test_a_damaged_note_says_so_and_what_is_damaged_is_measured_again(store: RunStore) -> None:
    store.annotate(None, new_note("c" * 64, "Odd.", ["odd"], "Ada"))
    store._file._db.execute("UPDATE item_note SET tags = '[1]'")
    [damaged] = store.notes(["c" * 64])["c" * 64]
    assert damaged.text.startswith("The note is damaged.")
    assert store.tags() == []
    store.annotate(None, new_note("c" * 64, "Even.", ["even"], "Ada"))
    assert [note.text for note in standing_notes(store.notes(["c" * 64])["c" * 64])] == ["Even."]
    store.remember({"one": [0.5], "two": [1.5]})
    store._file._db.execute("UPDATE measured SET numbers = '[null]' WHERE key = 'one'")
    assert store.recall(["one", "two"]) == {"two": (1.5,)}
