"""The one owner of a run store: where it really lies, how it may be written there, who holds its runs. All
that reads or writes goes through `reading` and `writing`: so nobody sees half of a change, and the same file
has the same locks by whatever name. Does not know: what runs hold.
"""

import os
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

from filelock import FileLock, Timeout

from engine.core.errors import EngineBug, Hint, RunBusyError, Step, StoreError
from engine.store import opening
from engine.store.run_table import has_run, no_run, run_ids
from engine.system.files import free_room
from engine.system.paths import PathKind, network_file_system, program_id, real_path, seen_at, shown

_Kinds = tuple[type[sqlite3.Error] | type[OSError], ...]
_OF_FILES: _Kinds = (sqlite3.Error, OSError)
# Bytes: what the file takes in from a log of 256 KiB and a transaction, and what deleting a part takes.
_RESERVE = 1 << 20
_TIGHT = 64 << 20  # bytes; where less is free, each change must be small


class StoreFile:
    """An open store. Where nothing can be written, or the disk is full, a copy is read, `writing` refused."""

    def __init__(self, path: Path, or_none: bool = False) -> None:
        self.named = path
        self._or_none = or_none
        self._copy: ExitStack | None = None  # which ends the use of the copy that is read
        self._process = os.getpid()
        with self._errors("open", _OF_FILES):
            try:
                there = opening.has_store(path)
                # Its journal and its locks lie next to the file itself, whatever links lead to it.
                self.path = real_path(path)
                self._network = network_file_system(self.path)
                self._db = self._open(there)
            except ValueError as error:
                raise StoreError(
                    f"{path} cannot be used as run store: {error}.", Hint(Step.USE_OTHER_STORE)
                ) from error

    def _open(self, there: bool) -> sqlite3.Connection:
        self._full = False
        # Not opened to try it: closing a file that SQLite has open, too, would end SQLite's locks.
        if not there or os.access(self.path, os.W_OK):
            try:
                return self._set_up(opening.open_in_place(self.path, self._network))
            except (sqlite3.Error, OSError) as error:
                self._full = opening.has_no_room(error, self.path)
                read_only = isinstance(error, OSError) or opening.plain_code(error) in opening.UNWRITABLE
                if not (self._full or read_only) or not (there or self._or_none):
                    raise
        why = "is on a full disk" if self._full else "is on read-only storage"
        self._copy = ExitStack()
        copy = self._copy.enter_context(opening.lent_copy(self.path if there else None, why))
        try:
            return self._set_up(opening.opened(copy)[0])
        except BaseException:
            self._copy.close()
            raise

    @staticmethod
    def _set_up(db: sqlite3.Connection) -> sqlite3.Connection:
        # What is no UTF-8 is refused by the gate, with the place where it stands.
        db.text_factory = partial(str, encoding="utf-8", errors="surrogateescape")
        # What is deleted is written over, so that it is gone also where the file stays as large as it was.
        db.execute("PRAGMA secure_delete = ON")
        return db

    def close(self) -> None:
        if os.getpid() != self._process:
            return  # https://sqlite.org/howtocorrupt.html#_carrying_an_open_database_across_a_fork_
        self._db.close()
        if self._copy is not None:
            self._copy.close()

    @property
    def refusal(self) -> StoreError | None:
        if self._copy is None:
            return None
        if self._full:
            return StoreError(
                f"Nothing can be changed in the run store {self.named}: its disk is full.",
                opening.make_room(self.path, " there"),
            )
        # What is written into a copy would be lost with it.
        return StoreError(
            f"Nothing can be changed in the run store {self.named}: the file, its folder or its disk is"
            " read-only.",
            Hint(Step.COPY_STORE),
        )

    @property
    def size(self) -> int:
        return opening.size_on_disk(self.path)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One state of the store for all that is read in the block; within another it is part of that."""
        self._check_process()
        with self._errors("read"):
            within = self._db.in_transaction
            if within:
                yield self._db
                return
            self._db.execute("BEGIN")
            try:
                yield self._db
            finally:
                if self._db.in_transaction:  # SQLite ends some by itself, such as on a full disk
                    self._db.execute("COMMIT")

    @contextmanager
    def writing(self, *runs: int) -> Iterator[sqlite3.Connection]:
        """Change the store: all of the block or nothing. StoreError where one of these runs is not there."""
        self._check_process()
        if self.refusal is not None:
            raise self.refusal
        self._check_no_transaction()
        with self._errors("write"):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                for run_id in runs:  # inside: one that was deleted a moment ago gets nothing any more
                    if not has_run(self._db, run_id):
                        raise no_run(self._db, run_id, self.named)
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def by_itself(self) -> Iterator[sqlite3.Connection]:
        """For what SQLite does in transactions of its own; it waits for nobody, and errors are SQLite's."""
        self._check_no_transaction()
        with self.patience(0.1):
            yield self._db

    @contextmanager
    def patience(self, seconds: float) -> Iterator[None]:
        """While something that can be done later as well waits so long at most for others."""
        (default,) = self._db.execute("PRAGMA busy_timeout").fetchone()
        self._db.execute(f"PRAGMA busy_timeout = {int(1000 * seconds)}")
        try:
            yield
        finally:
            self._db.execute(f"PRAGMA busy_timeout = {default}")

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise StoreError(
                f"The run store {shown(self.named)} was opened by the process that this one was forked from.",
                "Open it in this process.",
            )

    def _check_no_transaction(self) -> None:
        if self._db.in_transaction:
            raise EngineBug("the store is changed within another transaction of the same connection")

    @contextmanager
    def holding(self, runs: Sequence[int]) -> Iterator[None]:
        """Keep others from runs. RunBusyError where one is being judged, StoreError where one is missing."""
        with ExitStack() as held:
            # Locks are taken and looked at while nobody else writes: so a look makes nobody wait or fail.
            with self.writing(*runs) as db:
                for run_id in runs:
                    held.enter_context(self._locked(db, run_id))
                # Only for the message to whoever comes second; the lock is what keeps them out.
                db.executemany(
                    "UPDATE run SET worker = ? WHERE id = ?", [(program_id(), run) for run in runs]
                )
            self._keep_reserve()
            yield

    @contextmanager
    def _locked(self, db: sqlite3.Connection, run_id: int) -> Iterator[None]:
        # A lock of the system, not a row: it is gone with the process, however that ends.
        lock = FileLock(self.lock_path(run_id))
        with self._errors("lock", _OF_FILES):
            try:
                lock.acquire(blocking=False)
            except Timeout as error:
                (worker,) = db.execute("SELECT worker FROM run WHERE id = ?", (run_id,)).fetchone()
                by = "this program" if worker == program_id() else f"another process (process id {worker})"
                raise RunBusyError(
                    f"Run {run_id} is being judged by {by} already.",
                    "Wait until it ends, or stop it; then try again. All judgments are stored.",
                ) from error
        try:
            yield
        finally:
            lock.release()

    def any_held(self) -> bool:
        with self.writing() as db:
            for path in map(self.lock_path, run_ids(db)):
                if seen_at(path) is not PathKind.NOTHING:
                    try:
                        with FileLock(path, blocking=False):
                            pass
                    except (Timeout, OSError):
                        return True
        return False

    def lock_path(self, run_id: int) -> Path:
        return self.path.with_name(f"{self.path.name}.run-{run_id}.lock")

    @contextmanager
    def on_full_disk(self) -> Iterator[None]:
        """While runs are deleted: where the disk is full, the room that was kept for this is used."""
        # SQLite writes what it takes away.
        if self._free() < _RESERVE:
            with suppress(OSError):
                opening.reserve_of(self.path).unlink(missing_ok=True)
            if self._full and self._copy is not None:
                self._db.close()
                self._copy.close()
                self._copy = None
                with self._errors("open", _OF_FILES):
                    self._db = self._open(True)
            with suppress(sqlite3.Error), self.by_itself() as db:  # then the room of the log is free
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        yield
        self._keep_reserve()

    @property
    def is_tight(self) -> bool:
        return self._free() < _TIGHT

    def _keep_reserve(self) -> None:
        kept = opening.reserve_of(self.path)
        with suppress(OSError):
            # There is none, or only the small one of an earlier version.
            found = kept.lstat() if os.path.lexists(kept) else None
            wanting = found is None or (stat.S_ISREG(found.st_mode) and found.st_size < _RESERVE)
            if wanting and self._free() > 4 * _RESERVE:
                kept.unlink(missing_ok=True)
                with kept.open("xb") as file:  # x: where no link leads elsewhere
                    file.write(os.urandom(_RESERVE))  # which no file system can pack into less room

    def _free(self) -> int:
        return free_room(self.path.parent) or 0

    @contextmanager
    def _errors(self, action: str, kinds: _Kinds = (sqlite3.Error,)) -> Iterator[None]:
        try:
            yield
        except kinds as error:
            what = f"Cannot {action} the run store {shown(self.named)}"
            raise StoreError(f"{what}: {error}.", opening.hint_of(error, real_path(self.named))) from error
