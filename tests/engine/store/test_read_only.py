"""A store where nothing can be written: it is read whole, changes are refused, and nothing is left behind."""

import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.annotations.records import Undo, new_note, new_override, new_review
from engine.cli.shared.hints import OPTIONS
from engine.core.errors import StoreError
from engine.core.items import Preference
from engine.core.judgments import ReviewState
from engine.store.opening import delete_kept
from engine.store.run_store import RunStore
from tests.judged import IDENTITY, judged_item, write_old_store
from tests.read_only import read_only


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The system's folder for temporary files, which belongs to this test."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with one run and an item, in a folder of its own."""
    path = tmp_path / "kept" / "runs.sqlite"
    with RunStore(path) as store, store.begin(IDENTITY) as run:
        store.add(run.id, [judged_item(0)])
        store.remember({"known": [0.5]})
    return path


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


def test_all_of_it_is_read_and_no_copy_is_left(path: Path, temporary: Path) -> None:
    with opened(path) as store:
        assert store.read_only
        (run,) = store.runs()
        assert list(store.judged(run.id)) == [judged_item(0)]
        assert store.recall(["known"]) == {"known": (0.5,)}
        assert any(temporary.iterdir())
    assert nothing_is_left(temporary)


@pytest.mark.parametrize("protected", ["file", "folder"])
def test_a_file_or_a_folder_that_is_read_only_is_enough(path: Path, temporary: Path, protected: str) -> None:
    with read_only(path if protected == "file" else path.parent), RunStore(path) as store:
        assert store.read_only
        assert [run.judged for run in store.runs()] == [1]
    assert nothing_is_left(temporary)


CHANGES: dict[str, Callable[[RunStore], object]] = {
    "override": lambda store: store.annotate(1, new_override("item 0", "safety", Preference.A, None, "Ada")),
    "undo": lambda store: store.take_back(1, Undo("item 0", "", "Ada", datetime.now(UTC))),
    "review": lambda store: store.annotate(1, new_review("item 0", "Ada", ReviewState.DONE)),
    "note": lambda store: store.annotate(None, new_note("c", "look again", [], "Ada")),
    "calibrate": lambda store: store.calibrate(1, None),
    "begin": lambda store: store.begin(IDENTITY).__enter__(),
    "hold": lambda store: store.hold(1).__enter__(),
    "add": lambda store: store.add(1, [judged_item(1)]),
    "rewrite": lambda store: store.add_rewritten(1, {}),
    "describe": lambda store: store.describe(1, {}),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_every_change_is_refused_with_the_way_out(
    path: Path, temporary: Path, change: Callable[[RunStore], object]
) -> None:
    with opened(path) as store:
        with pytest.raises(StoreError, match=r"Nothing can be changed in .*runs\.sqlite") as caught:
            change(store)
        assert "--store" in OPTIONS.of(caught.value.hint)
    assert nothing_is_left(temporary)


def test_what_was_measured_is_not_kept_and_nobody_is_troubled(path: Path) -> None:
    with opened(path) as store:
        store.remember({"new": [0.25]})
        assert store.recall(["new"]) == {}


def test_what_lies_in_the_write_ahead_log_alone_is_read_too(path: Path, tmp_path: Path) -> None:
    taken = tmp_path / "taken" / path.name
    taken.parent.mkdir()
    with RunStore(path) as writing, writing.begin(IDENTITY) as run:
        writing.add(run.id, [judged_item(1)])
        for end in ("", "-wal"):  # as a copy of a running system has them
            shutil.copyfile(f"{path}{end}", f"{taken}{end}")
    with opened(taken) as store:
        assert list(store.judged(run.id)) == [judged_item(0), judged_item(1)]


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


def test_a_newer_store_is_refused_there_as_everywhere(path: Path, temporary: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 999")
    db.close()
    with pytest.raises(StoreError, match="a newer Tiebreak wrote it"), opened(path):
        pass
    assert nothing_is_left(temporary)


def test_a_copy_that_would_fill_the_disk_is_not_made(
    path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.store.opening._SPARE", 1 << 60)
    with pytest.raises(StoreError, match="has no space"), opened(path):
        pass
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
    with read_only(path), pytest.raises(StoreError, match="being written by another program"):
        RunStore(path)
    assert nothing_is_left(temporary)


def test_a_store_that_is_nowhere_and_cannot_be_made(tmp_path: Path, temporary: Path) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    with read_only(folder):
        with pytest.raises(StoreError, match="Cannot open the run store"), RunStore(folder / "runs.sqlite"):
            pass
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


def test_what_was_written_since_is_read_and_the_old_copy_goes(path: Path, temporary: Path) -> None:
    grow_old(path)
    with opened(path) as store:
        assert store.positions(1) == {0}
    (first,) = copies(temporary)
    with RunStore(path) as store, store.begin(IDENTITY) as run:
        store.add(run.id, [judged_item(1)])
    grow_old(path, seconds=30)
    with opened(path) as store:
        assert store.positions(1) == {0, 1}
        assert first not in copies(temporary)
        assert len(copies(temporary)) == 1
    assert nothing_is_left(temporary)


def test_an_old_copy_stays_while_it_is_read(path: Path, temporary: Path) -> None:
    grow_old(path)
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
    assert len(copies(temporary)) == 1
    assert nothing_is_left(temporary)


def test_a_store_that_was_changed_a_moment_ago_is_copied_each_time(path: Path, temporary: Path) -> None:
    """Another change in the same moment would not show in its times."""
    grow_old(path, seconds=0)
    with opened(path):
        pass
    assert not copies(temporary)
