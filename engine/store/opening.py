"""Open the database of a run store: in place, or as a private copy where nothing can be written or no room
is, for SQLite makes files next to a store in WAL mode to read it, and an older store must be upgraded first.
Opening writes nothing where the store is as it should be: who only reads must never wait for who writes.

StoreFile is the one owner of a store: where it really lies, how it may be written there, who holds its runs.
All that reads or writes goes through `reading` and `writing`: so nobody sees half of a change, and the same
file has the same locks by whatever name. Does not know: what runs hold.
"""

import errno
import os
import shutil
import sqlite3
import stat
import sys
import tempfile
import time
from collections.abc import Hashable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from weakref import finalize

from engine.core.errors import EngineBug, Hint, RunBusyError, Step, StoreError
from engine.core.formatting import amount
from engine.store.migrations import STEPS, upgrade
from engine.store.run_table import has_run, no_run, run_ids
from engine.system import paths
from engine.system.files import OwnLock, free_room, is_forked, when_forked
from engine.system.paths import PathKind, network_file_system, program_id, real_path, seen_at, shown

_BESIDE = ("", "-wal", "-journal")  # what a store consists of, by the ends of the names
_TRIES = 5
_SECONDS_BETWEEN = 0.3
_SPARE = 64 << 20  # bytes that are left free for others
_IN_MEMORY = "/dev/shm"  # Linux has it: where the disk is full, the default folder is mostly on the same one
_UNCHANGED_SECONDS = 3.0  # file systems tell the time of a change to two: until then another may not show

_State = dict[str, tuple[int, int]]  # size and time of the last change, by the ends of the names


class PrivateCopy:
    """A copy of the store at `path`, empty for None, in a folder that nobody else may read; it is deleted
    once nobody holds this any more. `why` it is not read in place, as a clause. StoreError without room for
    it, or where it is written all the time.
    """

    def __init__(self, path: Path | None, why: str) -> None:
        folder = tempfile.mkdtemp(prefix="tiebreak-store-", dir=_place_for(path, why))
        deletion = finalize(self, _remove, folder, os.getpid())
        self.path = Path(folder) / "runs.sqlite"
        self.state: _State = {}
        try:
            if path is not None:
                self._copy(path)
        except BaseException:
            deletion()
            raise

    def _copy(self, path: Path) -> None:
        for _ in range(_TRIES):
            before = _state(path)
            with suppress(FileNotFoundError):  # taken away meanwhile: no state like before
                for end in before:
                    shutil.copyfile(_beside(path, end), _beside(self.path, end))
            if _state(path) == before:
                self.state = before
                return
            for end in _BESIDE:
                _beside(self.path, end).unlink(missing_ok=True)
            time.sleep(_SECONDS_BETWEEN)
        raise StoreError(
            f"The run store {path} is being written by another program, and can only be read here.",
            "Try again when that program has ended.",
        )


def _remove(folder: str, owner: int) -> None:
    # At the end of a process, too, which may be a copy of the owner.
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def _place_for(store: Path | None, why: str) -> str:
    default = tempfile.gettempdir()
    if store is None:
        return default
    # Twice: what a -wal file holds is written into the copy once more.
    size = 2 * sum(size for size, _changed in _state(store).values())
    for place in (default, _IN_MEMORY):
        free = free_room(Path(place))
        if os.access(place, os.W_OK) and (free is None or free >= size + _SPARE):
            return place
    raise StoreError(
        f"The run store {store} {why}, so a copy of it must be read, and {default} has no space for that:"
        f" {amount(size)} are needed.",
        Hint("Free some space there. ", Step.COPY_STORE),
    )


_kept: dict[Path, PrivateCopy] = {}  # the newest of each store
_keeping = OwnLock()
when_forked(_kept.clear)


def copy_of(store: Path | None, why: str) -> PrivateCopy:
    """The copy of a store as it is now; the rest as for PrivateCopy."""
    if store is None:
        return PrivateCopy(None, why)
    with _keeping:
        kept = _kept.pop(store, None)
        # The system may have tidied up its folder for temporary files.
        if kept is None or paths.seen_at(kept.path) is not PathKind.FILE or kept.state != _state(store):
            del kept  # first, so that its room is free for the new one
            began = time.time()
            kept = PrivateCopy(store, why)
            changed = max(changed for _size, changed in kept.state.values()) / 1e9
            if is_forked() or began - changed <= _UNCHANGED_SECONDS:
                return kept
        _kept[store] = kept
        return kept


def delete_kept() -> None:
    """Delete all copies that are stored; those that are still read, when they are given back."""
    with _keeping:
        _kept.clear()


def _beside(path: Path, end: str) -> Path:
    return path.with_name(path.name + end)


def _state(path: Path) -> _State:
    found: _State = {}
    for end in _BESIDE:
        file = _beside(path, end)
        if not end or paths.look_at(file) is not paths.PathKind.NOTHING:
            state = file.stat()
            found[end] = (state.st_size, state.st_mtime_ns)
    return found


SQLITE = f"SQLite {sqlite3.sqlite_version}"
"""The library that reads and writes stores: the one that this Python was linked with."""


_BUSY_SECONDS = 10.0
UNWRITABLE = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)
_WITHOUT_ROOM = (errno.ENOSPC, errno.EDQUOT)
_LEAST_ROOM = 128 << 10  # bytes that SQLite needs to read and to write a little
# Of 4 KiB: with SQLite's default 1,000 a full disk met a log of 4 MiB that the file had no room for, and then
# nothing can be deleted.
_PAGES_OF_LOG = 64


def has_store(path: Path) -> bool:
    """Whether there is a run store, or anything else. StoreError where the system does not let us see."""
    paths.refuse_impossible(path)
    try:
        return paths.look_at(path) is not paths.PathKind.NOTHING
    except OSError as error:
        raise StoreError(
            f"Cannot look for the run store {paths.shown(path)}: {paths.reason_of(error)}.",
            Hint(Step.MOVE_STORE),
        ) from error


def files_mark(path: Path) -> Hashable:
    """What changes with each change of the store at `path`, and is asked without opening it. None where that
    cannot be seen: on a network folder, whose times come late, and on Windows, which may write them late.
    """
    path = paths.real_path(path)
    if sys.platform == "win32" or paths.network_file_system(path) is not None:
        return None
    # The log is made and taken away with each reader; it counts once there is anything in it.
    found = []
    for file in (path, _beside(path, "-wal")):
        with suppress(OSError):  # it may go between two looks
            found.append(file.stat())
    kept = (each for each in found if stat.S_ISREG(each.st_mode) and each.st_size)
    return tuple((each.st_ino, each.st_size, each.st_mtime_ns) for each in kept)


def size_on_disk(path: Path) -> int:
    size = 0
    for file in (path, _beside(path, "-wal")):
        with suppress(FileNotFoundError, NotADirectoryError):
            size += file.stat().st_size
    return size


def open_in_place(path: Path, network: str | None) -> sqlite3.Connection:
    """The store at `path`, made where it is missing. `network`: its file system, where other computers may
    use it. Raises sqlite3.Error, OSError, ValueError, and StoreError where it is open elsewhere with a log.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    db, steps = opened(path, network)
    if steps < len(STEPS):
        # That of an earlier version is written whole, if that can be now: from then on it shrinks by steps.
        with suppress(sqlite3.Error, OSError):
            if not shrinks(db) and (free_room(path.parent) or 0) > 4 * size_on_disk(path):
                rewrite_whole(db)
    return db


def opened(path: Path, network: str | None = None) -> tuple[sqlite3.Connection, int]:
    """The database, and how many steps it had gone, as `upgrade`."""
    # Without Python's own transactions: each begins and ends where it is said.
    db = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
    try:
        if network is not None:
            _leave_shared_memory(db, path, network)
        steps = upgrade(db)
        if network is None and steps == 0:
            # Readers and a writer work at once, by a log and memory that the programs of a computer share.
            # Only a new store: of one with a journal this may be the server, and others have it open.
            db.execute("PRAGMA journal_mode = WAL")
        db.execute(f"PRAGMA wal_autocheckpoint = {_PAGES_OF_LOG}")
        # FULL: what was committed is on the disk, also when the battery ends. EXTRA: also that the journal is
        # gone, which would else take the last transaction back.
        db.execute(f"PRAGMA synchronous = {'FULL' if network is None else 'EXTRA'}")
    except BaseException:
        db.close()
        raise
    return db, steps


def _leave_shared_memory(db: sqlite3.Connection, path: Path, network: str) -> None:
    """Give a store that two computers may use a journal: the log needs memory that they do not share."""
    try:
        # Each would destroy what the other writes: https://sqlite.org/wal.html
        # By itself: then SQLite keeps what else is in the shared memory for itself.
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        (mode,) = db.execute("PRAGMA journal_mode").fetchone()
        if mode == "wal":
            db.execute("PRAGMA journal_mode = DELETE")
        db.execute("PRAGMA locking_mode = NORMAL")
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()  # only with this the lock ends
    except sqlite3.OperationalError as error:
        if plain_code(error) != sqlite3.SQLITE_BUSY:
            raise
        raise StoreError(
            f"The run store {paths.shown(path)} lies on a network folder ({network}) and is open elsewhere,"
            " by a program that treats the folder as a local disk: together they would destroy it.",
            "Close Tiebreak everywhere, then open it here.",
        ) from error


def shrinks(db: sqlite3.Connection) -> bool:
    """Whether a store can become smaller step by step; those of earlier versions must be written whole."""
    (kind,) = db.execute("PRAGMA auto_vacuum").fetchone()
    return int(kind) != 0


def rewrite_whole(db: sqlite3.Connection) -> None:
    """Write a store once more without what is free in it. sqlite3.Error where that cannot be now."""
    try:
        db.execute("PRAGMA auto_vacuum = INCREMENTAL")
        db.execute("VACUUM")
    finally:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def plain_code(error: sqlite3.Error) -> int:
    """SQLite's code for an error; the extended codes hold it in their last byte."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def has_no_room(error: sqlite3.Error | OSError, path: Path) -> bool:
    """Whether an error comes of a full disk: SQLite has many codes for that."""
    if isinstance(error, OSError):
        return error.errno in _WITHOUT_ROOM
    code = plain_code(error)
    if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN):
        free = free_room(path.parent)
        return free is not None and free < _LEAST_ROOM
    return code == sqlite3.SQLITE_FULL


def reserve_of(path: Path) -> Path:
    """The file that keeps room on a store's disk, with which runs can be deleted once it is full."""
    return _beside(path, ".reserve")


def make_room(path: Path, where: str = "") -> str:
    reserve = paths.seen_at(reserve_of(paths.real_path(path)))
    way_out = ", or delete runs" if reserve is paths.PathKind.FILE else ""
    return f"Free some space{where}{way_out}, then try again: all judgments are stored."


def hint_of(error: sqlite3.Error | OSError, path: Path) -> Hint:
    code = plain_code(error) if isinstance(error, sqlite3.Error) else None
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Hint("Another program has locked it. Close that program, then try again.")
    if has_no_room(error, path):
        return Hint(f"The disk is full. {make_room(path)}")
    if isinstance(error, sqlite3.NotSupportedError) or code in (
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_CORRUPT,
    ):
        return Hint("The file is damaged or of another kind. ", Step.USE_OTHER_STORE)
    return Hint(Step.MOVE_STORE)


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
        self._copy: PrivateCopy | None = None  # that is read
        self._process = os.getpid()
        with self._errors("open", _OF_FILES):
            try:
                there = has_store(path)
                # Its journal and its locks lie next to the file itself, whatever links lead to it.
                self.path = real_path(path)
                self._network = network_file_system(self.path)
                self._db = self._open(there)
            except ValueError as error:
                raise StoreError(
                    f"{path} cannot be used as run store: {error}.", Hint(Step.USE_OTHER_STORE)
                ) from error

    def _open(self, there: bool) -> sqlite3.Connection:
        self._full = self._is_copied = False
        # Not opened to try it: closing a file that SQLite has open, too, would end SQLite's locks.
        if not there or os.access(self.path, os.W_OK):
            try:
                return self._set_up(open_in_place(self.path, self._network))
            except (sqlite3.Error, OSError) as error:
                self._full = has_no_room(error, self.path)
                read_only = isinstance(error, OSError) or plain_code(error) in UNWRITABLE
                if not (self._full or read_only) or not (there or self._or_none):
                    raise
        why = "is on a full disk" if self._full else "is on read-only storage"
        self._is_copied = True
        self._copy = copy_of(self.path if there else None, why)
        try:
            return self._set_up(opened(self._copy.path)[0])
        except BaseException:
            self._copy = None
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
        self._copy = None

    @property
    def refusal(self) -> StoreError | None:
        if not self._is_copied:
            return None
        if self._full:
            return StoreError(
                f"Nothing can be changed in the run store {self.named}: its disk is full.",
                make_room(self.path, " there"),
            )
        # What is written into a copy would be lost with it.
        return StoreError(
            f"Nothing can be changed in the run store {self.named}: the file, its folder or its disk is"
            " read-only.",
            Hint(Step.COPY_STORE),
        )

    @property
    def size(self) -> int:
        return size_on_disk(self.path)

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
        from filelock import FileLock, Timeout  # noqa: PLC0415 - listing runs locks none

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
        from filelock import FileLock  # noqa: PLC0415

        with self.writing() as db:
            for path in map(self.lock_path, run_ids(db)):
                if seen_at(path) is not PathKind.NOTHING:
                    try:
                        with FileLock(path, blocking=False):
                            pass
                    except OSError:
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
                reserve_of(self.path).unlink(missing_ok=True)
            if self._full and self._is_copied:
                self.close()
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
        kept = reserve_of(self.path)
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
            raise StoreError(f"{what}: {error}.", hint_of(error, real_path(self.named))) from error
