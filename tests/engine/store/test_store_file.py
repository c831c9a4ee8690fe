"""The owner of a store: one file has one set of locks, who reads sees one state, opening writes nothing.

Where nothing can be written it is read whole, changes are refused, and nothing is left behind.
"""

import os
import shutil
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from filelock import FileLock

from engine.annotations.records import Undo, new_note, new_override, new_review
from engine.cli.shared.hints import OPTIONS
from engine.core.errors import EngineBug, RunBusyError, StoreError
from engine.core.items import Preference
from engine.core.judgments import JudgedItem, ReviewState
from engine.results.run_results import load_results, load_reviews
from engine.store import opening
from engine.store.opening import delete_kept
from engine.store.run_store import RunStore
from tests.able import NO_LINKS, makes_links, needs_links
from tests.judged import IDENTITY, judged_item, write_old_store
from tests.read_only import read_only
from tests.steps import refused

SAID = new_override("id 0", "safety", Preference.A, None, "Ada")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with a run of one item that is overridden, in a folder of its own."""
    path = tmp_path / "kept" / "runs.sqlite"
    with RunStore(path) as store, store.begin(IDENTITY) as run:
        store.add(run.id, [judged_item(0)])
        store.annotate(run.id, SAID)
        store.remember({"known": [0.5]})
    return path


@pytest.fixture
def link(path: Path, tmp_path: Path) -> Path:
    """Another name of that store."""
    if not makes_links():
        pytest.skip(NO_LINKS)
    link = tmp_path / "link.sqlite"
    link.symlink_to(path)
    return link


def test_a_store_is_read_while_another_program_writes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_BUSY_SECONDS", 0.05)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with RunStore(path) as store:
            assert len(load_results(store, 1).judged) == 1


def test_a_link_and_the_file_have_the_same_locks(path: Path, link: Path) -> None:
    with RunStore(path) as store, RunStore(link) as linked, store.hold(1):
        with pytest.raises(RunBusyError), linked.hold(1):
            pass
        with pytest.raises(RunBusyError):
            linked.delete([1], with_decisions=True)
        store.add(1, [judged_item(3)])
    assert [file.name for file in link.parent.iterdir() if file.is_file()] == [link.name]


@needs_links
def test_a_store_is_made_where_a_link_leads(tmp_path: Path) -> None:
    link, path = tmp_path / "link.sqlite", tmp_path / "elsewhere" / "runs.sqlite"
    link.symlink_to(path)
    with RunStore(link) as store, store.begin(IDENTITY), RunStore(path) as same:
        assert [run.id for run in same.runs()] == [1]
    assert link.is_symlink()


class DeletedMeanwhile(RunStore):
    """A store in which somebody else deletes a run just before its items are read."""

    def judged(self, run_id: int) -> Generator[JudgedItem, None, None]:
        with RunStore(self.path) as other:
            other.delete([run_id], with_decisions=True)
        return super().judged(run_id)


def test_a_run_that_is_deleted_while_it_is_read_is_read_whole(path: Path) -> None:
    with DeletedMeanwhile(path) as store:
        results = load_results(store, 1)
        assert (len(results.judged), results.overridden.labels) == (1, 1)
        with pytest.raises(StoreError, match="Run 1 was deleted on"):
            load_results(store, 1)


WRITES: dict[str, Callable[[RunStore], object]] = {
    "add": lambda store: store.add(1, [judged_item(3)]),
    "rewrite": lambda store: store.add_rewritten(1, {}),
    "describe": lambda store: store.describe(1, {}),
    "calibrate": lambda store: store.calibrate(1, None),
    "override": lambda store: store.annotate(1, SAID),
    "undo": lambda store: store.take_back(1, Undo("id 0", "", "Ada", datetime.now(UTC))),
    "review": lambda store: store.annotate(1, new_review("id 0", "Ada", ReviewState.DONE)),
    "name": lambda store: store.name(1, "night"),
    "note": lambda store: store.note_run(1, "slow"),
    "archive": lambda store: store.archive([1], "Ada"),
    "restore": lambda store: store.restore([1]),
    "hold": lambda store: store.hold(1).__enter__(),
    "delete": lambda store: store.delete([1]),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
def test_nothing_is_written_of_a_deleted_run(path: Path, write: Callable[[RunStore], object]) -> None:
    with RunStore(path) as store:
        store.delete([1], with_decisions=True)
        before = dump(path)
        refused(lambda: write(store), "Run 1 was deleted on")
    assert dump(path) == before
    assert list(path.parent.glob("*.lock")) == []


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as db:
        return list(db.iterdump())


def test_a_run_that_is_deleted_by_another_hand_while_it_is_judged_gets_no_orphans(path: Path) -> None:
    with RunStore(path) as store, store.hold(1):
        with closing(sqlite3.connect(path)) as other, other:
            other.execute("DELETE FROM run")
        with pytest.raises(StoreError, match="has no run 1"):
            store.add(1, [judged_item(3)])
        with RunStore(path) as second, pytest.raises(StoreError, match="has no run 1"), second.hold(1):
            pass


def test_opening_writes_nothing(path: Path) -> None:
    with RunStore(path) as store:
        store.annotate(None, new_note("c" * 64, "odd", [], "Ada"))
        before = path.read_bytes(), Path(f"{path}-wal").read_bytes()
        for _ in range(20):
            with RunStore(path) as again:
                load_reviews(again, 1)
        assert (path.read_bytes(), Path(f"{path}-wal").read_bytes()) == before


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_a_store_that_another_program_reads_is_read_and_written(path: Path, journal: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        assert other.execute(f"PRAGMA journal_mode = {journal}").fetchone() == (journal,)
        with RunStore(path) as store:
            store.annotate(None, new_note("c" * 64, "odd", [], "Ada"))
            assert len(list(store.judged(1))) == 1


def test_a_store_of_an_earlier_version_waits_for_nobody_but_to_be_brought_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "_BUSY_SECONDS", 0.05)
    path = tmp_path / "old.sqlite"
    write_old_store(path, 1)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert "Close that program" in str(refused(lambda: RunStore(path), "locked").hint)


def test_whoever_looks_whether_runs_are_held_makes_nobody_else_busy(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looking = threading.Event()

    class SlowLock(FileLock):
        """On a computer that takes its time between taking a lock and giving it back."""

        def release(self, force: bool = False) -> None:
            looking.set()
            time.sleep(0.1)
            super().release(force)

    def look() -> bool:
        with RunStore(path) as store:
            return store._file.any_held()

    with RunStore(path) as store, ThreadPoolExecutor() as other:
        with store.hold(1):
            assert look()
        assert not look()
        store._file.lock_path(1).touch()  # which Windows takes away with the lock
        monkeypatch.setattr("filelock.FileLock", SlowLock)
        looker = other.submit(look)
        looking.wait()
        with store.hold(1):
            assert not looker.result()


@needs_links
def test_the_room_that_is_kept_for_a_full_disk_is_made_where_no_link_leads_elsewhere(
    path: Path, tmp_path: Path
) -> None:
    reserve = path.with_name("runs.sqlite.reserve")
    assert reserve.stat().st_size == 1 << 20
    reserve.write_bytes(bytes(256 << 10))  # that of an earlier version
    with RunStore(path) as store, store.hold(1):
        assert reserve.stat().st_size == 1 << 20
    reserve.unlink()
    reserve.symlink_to(tmp_path / "another file")
    with RunStore(path) as store, store.hold(1):
        assert not (tmp_path / "another file").exists()


def test_a_change_within_what_is_read_as_one_state_is_a_fault(path: Path) -> None:
    with RunStore(path) as store, store.reading(), pytest.raises(EngineBug):
        store.annotate(None, new_note("c" * 64, "odd", [], "Ada"))


def test_a_log_that_comes_and_goes_meanwhile_is_no_fault(tmp_path: Path) -> None:
    """Another window makes it and takes it away, between any two looks."""
    path, log, ended = tmp_path / "runs.sqlite", tmp_path / "runs.sqlite-wal", threading.Event()
    path.write_bytes(b"store")

    def come_and_go() -> None:
        while not ended.is_set():
            log.write_bytes(b"log")
            log.unlink()

    with ThreadPoolExecutor() as other:
        other.submit(come_and_go)
        try:
            for _ in range(800):
                opening.files_mark(path)
                assert opening.size_on_disk(path) >= len(b"store")
        finally:
            ended.set()


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The system's folder for temporary files, which belongs to this test."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def nothing_is_left(temporary: Path) -> bool:
    """Whether no copy is left at the end of the program."""
    delete_kept()
    return not any(temporary.iterdir())


@contextmanager
def opened(path: Path) -> Iterator[RunStore]:
    """The store in a folder that is read-only, and must be as it was."""
    before = {file: file.read_bytes() for file in path.parent.iterdir()}
    with read_only(path.parent, *before), RunStore(path) as store:
        yield store
    assert {file: file.read_bytes() for file in path.parent.iterdir()} == before


def test_all_is_read_and_no_copy_is_left_and_no_measure_is_kept(path: Path, temporary: Path) -> None:
    with opened(path) as store:
        assert store.read_only
        (run,) = store.runs()
        assert list(store.judged(run.id)) == [judged_item(0)]
        store.remember({"new": [0.25]})
        assert store.recall(["known", "new"]) == {"known": (0.5,)}
        assert any(temporary.iterdir())
    assert nothing_is_left(temporary)


@pytest.mark.parametrize("protected", ["file", "folder"])
def test_a_file_or_a_folder_that_is_read_only_is_enough(path: Path, temporary: Path, protected: str) -> None:
    with read_only(path if protected == "file" else path.parent), RunStore(path) as store:
        assert store.read_only
        assert [run.judged for run in store.runs()] == [1]
    assert nothing_is_left(temporary)


@pytest.mark.parametrize(
    "change",
    [
        *WRITES.values(),
        lambda store: store.annotate(None, new_note("c", "look again", [], "Ada")),
        lambda store: store.begin(IDENTITY).__enter__(),
    ],
    ids=[*WRITES, "note of an item", "begin"],
)
def test_every_change_is_refused_with_the_way_out(
    path: Path, temporary: Path, change: Callable[[RunStore], object]
) -> None:
    with opened(path) as store:
        error = refused(lambda: change(store), r"Nothing can be changed in .*runs\.sqlite")
        assert "--store" in OPTIONS.of(error.hint)
    assert nothing_is_left(temporary)


def test_what_lies_in_the_write_ahead_log_alone_is_read_too(path: Path, tmp_path: Path) -> None:
    taken = tmp_path / "taken" / path.name
    taken.parent.mkdir()
    with RunStore(path) as writing, writing.begin(IDENTITY) as run:
        writing.add(run.id, [judged_item(1)])
        for end in ("", "-wal"):  # as a copy of a running system has them
            shutil.copyfile(f"{path}{end}", f"{taken}{end}")
    with opened(taken) as store:
        assert list(store.judged(run.id)) == [judged_item(0), judged_item(1)]


@needs_links
def test_a_link_leads_to_the_log_of_the_file_itself(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.sqlite"
    link.symlink_to(path)
    with RunStore(path) as writing, writing.begin(IDENTITY) as run:
        writing.add(run.id, [judged_item(1)])
        with read_only(path), RunStore(link) as store:
            assert store.positions(run.id) == {0, 1}


def test_an_older_store_is_upgraded_in_the_copy_alone(tmp_path: Path) -> None:
    path = tmp_path / "kept" / "old.sqlite"
    path.parent.mkdir()
    write_old_store(path, version=1)
    with opened(path) as store:
        assert [run.id for run in store.runs()] == [7]


def test_a_newer_store_is_refused_there_and_a_copy_that_would_fill_the_disk_is_not_made(
    path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as tight:
        tight.setattr("engine.store.opening._SPARE", 1 << 60)
        refused(lambda: opened(path).__enter__(), "has no space")
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 999")
    refused(lambda: opened(path).__enter__(), "a newer Tiebreak wrote it")
    assert nothing_is_left(temporary)


def test_a_store_that_another_program_goes_on_writing_is_not_read_half(
    path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = shutil.copyfile

    def copy_while_it_grows(source: Path, target: Path) -> None:
        copy(source, target)
        with Path(f"{path}-wal").open("ab") as log:
            log.write(b"0")

    monkeypatch.setattr(shutil, "copyfile", copy_while_it_grows)
    monkeypatch.setattr("engine.store.opening._SECONDS_BETWEEN", 0.01)
    with read_only(path):
        refused(lambda: RunStore(path), "being written by another program")
    assert nothing_is_left(temporary)


def test_a_store_that_is_nowhere_and_cannot_be_made(tmp_path: Path, temporary: Path) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    with read_only(folder):
        refused(lambda: RunStore(folder / "runs.sqlite"), "Cannot open the run store")
        with RunStore(folder / "runs.sqlite", or_none=True) as store:
            store.remember({"new": [0.25]})
            assert store.runs() == []
    assert not any(folder.iterdir())
    assert nothing_is_left(temporary)


def grow_old(path: Path, seconds: float = 60) -> None:
    """Let the last change of a store be some time ago."""
    then = time.time() - seconds
    for file in path.parent.iterdir():
        os.utime(file, (then, then))


def copies(temporary: Path) -> list[Path]:
    return sorted(temporary.iterdir())


def test_a_store_that_stays_as_it_is_is_copied_once(path: Path, temporary: Path) -> None:
    grow_old(path)
    seen = set()
    for _ in range(3):
        with opened(path) as one, RunStore(path) as two:
            assert [run.judged for run in one.runs()] == [run.judged for run in two.runs()] == [1]
        seen.update(copies(temporary))
    assert len(seen) == 1
    assert nothing_is_left(temporary)


def test_what_was_written_since_is_read_and_an_old_copy_unread_goes(path: Path, temporary: Path) -> None:
    grow_old(path)
    with opened(path) as store:
        assert store.positions(1) == {0}
    (first,) = copies(temporary)
    with read_only(path.parent, path):
        early = RunStore(path)
    with RunStore(path) as store, store.begin(IDENTITY) as run:
        store.add(run.id, [judged_item(1)])
    grow_old(path, seconds=30)
    with opened(path) as late:
        assert late.positions(1) == {0, 1}
        assert early.positions(1) == {0}
        assert len(copies(temporary)) == 2
    early.close()
    early.close()
    assert first not in copies(temporary)
    assert len(copies(temporary)) == 1
    assert nothing_is_left(temporary)


def test_a_store_that_was_changed_a_moment_ago_is_copied_each_time(path: Path, temporary: Path) -> None:
    """Another change in the same moment would not show in its times."""
    grow_old(path, seconds=0)
    with opened(path):
        pass
    assert not copies(temporary)
