"""The run store: what models and people said, kept in one SQLite file; nothing judged is ever lost.

Raw readings are stored, decisions are derived. One transaction holds one group of items.

Knows: runs, judged items, SQLite, the lock of a run. Does not know: models, prompts, decisions.
"""

import errno
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from engine.core.errors import RunBusyError, StoreError
from engine.core.judgments import (
    Confirmation,
    Explanation,
    ItemNote,
    JudgedItem,
    NewOverride,
    NewReview,
    Override,
    ReviewMark,
)
from engine.core.remedies import Remedy, Step
from engine.core.run_records import Effort, RunIdentity, StoredRun
from engine.store.judged_rows import add_items, add_rewritten, item_rows, judged_positions, shared_items
from engine.store.opening import open_database, plain_code
from engine.store.override_rows import add_override, override_rows, undo_newest
from engine.store.review_rows import add_note, add_review, confirmation_rows, mark_rows, note_rows, tag_rows
from engine.store.run_rows import run_of_row, without_bytes
from engine.system.paths import text_of_path

_DAMAGED = Remedy("The file is damaged or something else. ", Step.USE_OTHER_STORE)


class RunStore:
    """An open store. A connection belongs to the thread that made it; close it when done.

    One that lies where nothing can be written is read by way of a PrivateCopy: then each change is refused
    with a StoreError, but for what `remember` is given, which is not kept.
    """

    def __init__(self, path: Path, or_none: bool = False) -> None:
        """Open the store, made where it is missing. StoreError where that is not possible.

        `or_none`: a store that is missing and cannot be made is as good as an empty one, which keeps nothing.
        """
        self.path = path
        with self._errors("open"):
            try:
                self._db, self._copy = open_database(path, or_none)
            except ValueError as error:
                raise StoreError(
                    f"{path} cannot be used as run store: {error}.", Remedy(Step.USE_OTHER_STORE)
                ) from error
        self._db.row_factory = without_bytes

    @property
    def read_only(self) -> bool:
        """True where the store lies where nothing can be written."""
        return self._copy is not None

    def close(self) -> None:
        """Close the connection. May be called twice."""
        self._db.close()
        if self._copy is not None:
            self._copy.close()

    def __enter__(self) -> "RunStore":
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    @contextmanager
    def begin(self, identity: RunIdentity, fresh: bool = False) -> Iterator[StoredRun]:
        """Start a run, or go on with the latest of the same key unless `fresh`, and keep others from it.

        RunBusyError where it is being judged already.
        """
        with self.hold(self._find_or_add(identity, fresh)) as run:
            yield run

    @contextmanager
    def hold(self, run_id: int) -> Iterator[StoredRun]:
        """Keep others from a run. RunBusyError where it is being judged, StoreError for no run."""
        self.run(run_id)
        self._refuse_where_read_only()
        lock = FileLock(self._lock_path(run_id))
        with self._errors("lock"):
            try:
                lock.acquire(blocking=False)
            except Timeout as error:
                raise self._busy(run_id) from error
        try:
            with self._transaction():
                self._db.execute("UPDATE run SET worker = ? WHERE id = ?", (os.getpid(), run_id))
            yield self.run(run_id)
        finally:
            lock.release()

    def add(self, run_id: int, judged: Sequence[JudgedItem]) -> None:
        """Store a group of items: all of them or none."""
        with self._transaction():
            add_items(self._db, run_id, judged)

    def add_rewritten(self, run_id: int, written: Mapping[int, Mapping[str, Explanation]]) -> None:
        """Store explanations, by position and criterion, beside the first ones: all of them or none.

        One for a label that was written for before takes the place of that one. Where there is no first one,
        none is added.
        """
        with self._transaction():
            add_rewritten(self._db, run_id, written)

    def describe(self, run_id: int, manifest: Mapping[str, Any]) -> None:
        """Store how a run is made: versions, template, threads."""
        with self._transaction():
            self._db.execute("UPDATE run SET manifest = ? WHERE id = ?", (_json(manifest), run_id))

    def calibrate(self, run_id: int, calibration: Mapping[str, Any] | None) -> None:
        """Store what a run's decisions are calibrated with from now on; None for nothing."""
        text = None if calibration is None else _json(calibration)
        with self._transaction():
            self._db.execute("UPDATE run SET calibration = ? WHERE id = ?", (text, run_id))

    def override(self, run_id: int, new: NewOverride) -> Override:
        """Put a person's label, explanation or both in the place of the model's, whose own stay stored.

        None, or an explanation without words, leaves that part the model's. The run may go on meanwhile.
        StoreError where the run has not judged the item on this criterion; SetupError for an override that
        changes nothing or names no author, and for an explanation that a submission cannot hold.
        """
        run = self.run(run_id)
        if new.criterion not in run.identity.criteria:
            criteria = ", ".join(run.identity.criteria)
            raise StoreError(f"Run {run_id} has no criterion {new.criterion}.", f"It has {criteria}.")
        with self._transaction():
            return add_override(self._db, run_id, new)

    def undo_override(
        self, run_id: int, item_id: str, criterion: str, author: str | None = None
    ) -> Override | None:
        """Undo the override that is in force and return it, undone; None where there is none.

        With `author` the last one of this person, whether in force or not. It stays in the history; the one
        before it, where there is one, is in force again.
        """
        with self._transaction():
            return undo_newest(self._db, run_id, item_id, criterion, author)

    def overrides(self, run_id: int) -> list[Override]:
        """All overrides of a run, those that are undone too, the oldest first."""
        with self._errors("read"):
            return override_rows(self._db, run_id)

    def review(self, run_id: int, new: NewReview) -> None:
        """Store how far a person is with an item, and which labels he confirms: all of it or none.

        StoreError where the run has not judged the item; SetupError where no person is named.
        """
        self.run(run_id)
        with self._transaction():
            add_review(self._db, run_id, new)

    def marks(self, run_id: int) -> list[ReviewMark]:
        """How far people were with the items of a run, the oldest mark first."""
        with self._errors("read"):
            return mark_rows(self._db, run_id)

    def confirmations(self, run_id: int) -> list[Confirmation]:
        """The labels that people confirmed in a run, the oldest first."""
        with self._errors("read"):
            return confirmation_rows(self._db, run_id)

    def note(self, content_hash: str, text: str, tags: Iterable[str], author: str) -> None:
        """Note words and tags of an item, for all runs; nothing of both takes the last note back.

        SetupError where no person is named, and for a tag of several lines.
        """
        with self._transaction():
            add_note(self._db, content_hash, text, tags, author)

    def notes(self, content_hashes: Iterable[str]) -> dict[str, ItemNote]:
        """The notes of the items that have one, by the hash of their content."""
        with self._errors("read"):
            return note_rows(self._db, content_hashes)

    def tags(self) -> list[str]:
        """The tags that items have by their last notes, the most frequent first."""
        with self._errors("read"):
            return tag_rows(self._db)

    def runs(self) -> list[StoredRun]:
        """All runs, the oldest first."""
        with self._errors("read"):
            rows = self._db.execute("SELECT id FROM run ORDER BY id").fetchall()
        return [self.run(run_id) for (run_id,) in rows]

    def run(self, run_id: int) -> StoredRun:
        """One run. StoreError where the store does not hold it."""
        row = None
        with self._errors("read"), suppress(OverflowError):  # no run has so large a number
            row = self._db.execute(
                "SELECT created, key, dataset_path, dataset_hash, items, model_path, model_name, model_hash,"
                " prompt_version, criteria, settings, kind, manifest, calibration,"
                " (SELECT count(*) FROM judged_item WHERE run_id = run.id) FROM run WHERE id = ?",
                (run_id,),
            ).fetchone()
        if row is None:
            raise StoreError(
                f"The run store {self.path} holds no run {run_id}.", "Choose one of the runs that it holds."
            )
        with self._errors("read"):
            return run_of_row(run_id, row)

    def find(self, key: str) -> StoredRun | None:
        """The latest run of an identity's key; None where there is none."""
        with self._errors("read"):
            (run_id,) = self._db.execute("SELECT max(id) FROM run WHERE key = ?", (key,)).fetchone()
        return None if run_id is None else self.run(run_id)

    def efforts(self, run_id: int) -> list[Effort]:
        """What each item of a run took that a model has read; those that did not fit are left out."""
        with self._errors("read"):
            rows = self._db.execute(
                "SELECT seconds, tokens_read, tokens_generated FROM judged_item"
                " WHERE run_id = ? AND tokens_read > 0",
                (run_id,),
            ).fetchall()
        return [Effort(*row) for row in rows]

    def positions(self, run_id: int) -> set[int]:
        """Places in the dataset whose items are judged."""
        with self._errors("read"):
            return judged_positions(self._db, run_id)

    def judged(self, run_id: int) -> Iterator[JudgedItem]:
        """The judged items of a run, in the order of its dataset."""
        with self._errors("read"):
            yield from item_rows(self._db, run_id)

    def shared_items(self, run_id: int) -> dict[int, int]:
        """By the id of each other run that judged items of this one, with the same texts: how many."""
        with self._errors("read"):
            return shared_items(self._db, run_id)

    def recall(self, keys: Iterable[str]) -> dict[str, tuple[float, ...]]:
        """What was measured before under these keys; keys that are not known are left out."""
        found = {}
        with self._errors("read"):
            for key in keys:
                row = self._db.execute("SELECT numbers FROM measured WHERE key = ?", (key,)).fetchone()
                if row:
                    found[key] = tuple(json.loads(row[0]))
        return found

    def remember(self, measured: Mapping[str, Sequence[float]]) -> None:
        """Keep numbers that took long to measure: all of them or none. A key says all they depend on."""
        if self.read_only:
            return
        rows = [(key, _json(list(numbers))) for key, numbers in measured.items()]
        with self._transaction():
            self._db.executemany("INSERT OR REPLACE INTO measured VALUES (?, ?)", rows)

    def _find_or_add(self, identity: RunIdentity, fresh: bool) -> int:
        with self._transaction():
            found = self._db.execute("SELECT max(id) FROM run WHERE key = ?", (identity.key,)).fetchone()
            if found[0] is not None and not fresh:
                return int(found[0])
            added = self._db.execute(
                "INSERT INTO run (key, created, dataset_path, dataset_hash, items, model_path, model_name,"
                " model_hash, prompt_version, criteria, settings, kind)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    identity.key,
                    datetime.now(UTC).isoformat(timespec="seconds"),
                    text_of_path(identity.dataset_path),
                    identity.dataset_hash,
                    identity.items,
                    text_of_path(identity.model_path),
                    identity.model_name,
                    identity.model_hash,
                    identity.prompt_version,
                    _json(identity.criteria),
                    _json(identity.settings),
                    identity.kind.value,
                ),
            )
            return int(added.lastrowid or 0)

    def _lock_path(self, run_id: int) -> Path:
        return self.path.with_name(f"{self.path.name}.run-{run_id}.lock")

    def _busy(self, run_id: int) -> RunBusyError:
        (worker,) = self._db.execute("SELECT worker FROM run WHERE id = ?", (run_id,)).fetchone()
        by = "this program" if worker == os.getpid() else f"another process (process id {worker})"
        return RunBusyError(
            f"Run {run_id} is being judged by {by} already.",
            "Wait until it ends, or stop it; then try again. What is judged is kept.",
        )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._refuse_where_read_only()
        with self._errors("write"):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def _refuse_where_read_only(self) -> None:
        """What is written into a copy would be lost with it."""
        if self.read_only:
            raise StoreError(
                f"Nothing can be changed in the run store {self.path}: the file, its folder or its disk is"
                " read-only.",
                Remedy(Step.COPY_STORE),
            )

    @contextmanager
    def _errors(self, action: str) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"Cannot {action} the run store {self.path}: {error}.", _remedy(error)
            ) from error
        except (ValueError, TypeError) as error:
            # Only what is read is not our own doing: it was written by another hand, or the disk is bad.
            if action != "read":
                raise
            raise StoreError(
                f"Cannot read the run store {self.path}: it holds a value that Tiebreak does not write.",
                _DAMAGED,
            ) from error


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _remedy(error: sqlite3.Error | OSError) -> Remedy:
    """The next step for what SQLite or the system said."""
    code = plain_code(error) if isinstance(error, sqlite3.Error) else error.errno
    if isinstance(error, sqlite3.Error) and code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Remedy("Another program holds it. Close that program, then try again.")
    if code == (errno.ENOSPC if isinstance(error, OSError) else sqlite3.SQLITE_FULL):
        return Remedy("The disk is full. Make room, then try again: what was judged is kept.")
    if isinstance(error, sqlite3.NotSupportedError):
        return _DAMAGED
    if isinstance(error, sqlite3.Error) and code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return _DAMAGED
    return Remedy(Step.MOVE_STORE)
