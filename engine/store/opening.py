"""Open the database of a run store: in place, or as a copy where nothing can be written.

Knows: SQLite's settings, how it says that it cannot write. Does not know: tables, what the store is read for.
"""

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.core.errors import StoreError
from engine.core.remedies import Remedy, Step
from engine.store.migrations import upgrade
from engine.store.private_copy import LentCopy
from engine.system.places import Found, look_at, reason_of, refuse_impossible, shown

DAMAGED = Remedy("The file is damaged or something else. ", Step.USE_OTHER_STORE)
_BUSY_SECONDS = 10.0
_UNWRITABLE = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)


def is_there(path: Path) -> bool:
    """Whether there is a run store, or anything else. StoreError where the system does not let us see."""
    refuse_impossible(path)
    try:
        return look_at(path) is not Found.NOTHING
    except OSError as error:
        raise StoreError(
            f"Cannot look for the run store {shown(path)}: {reason_of(error)}.", Remedy(Step.MOVE_STORE)
        ) from error


def plain_code(error: sqlite3.Error) -> int:
    """SQLite's code for an error; the extended codes hold it in their last byte."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def size_on_disk(path: Path) -> int:
    """Bytes of the store at `path`, with what is not yet written into its file."""
    files = (path, path.with_name(f"{path.name}-wal"))
    return sum(file.stat().st_size for file in files if look_at(file) is not Found.NOTHING)


def open_database(path: Path, or_none: bool) -> tuple[sqlite3.Connection, LentCopy | None]:
    """The store at `path`, made where it is missing, and the copy that is open in its place, if it is one.

    `or_none`: where it is missing and cannot be made, an empty one that will be thrown away. Raises
    sqlite3.Error, OSError, SetupError; ValueError as `upgrade`.
    """
    there = is_there(path)
    # Not opened to try it: closing a file that SQLite has open, too, would end SQLite's locks.
    if not there or os.access(path, os.W_OK):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            return _opened(path), None
        except (sqlite3.Error, OSError) as error:
            unwritable = isinstance(error, OSError) or plain_code(error) in _UNWRITABLE
            if not unwritable or not (there or or_none):
                raise
    copy = LentCopy(path if there else None)
    try:
        return _opened(copy.path), copy
    except BaseException:
        copy.close()
        raise


def _opened(path: Path) -> sqlite3.Connection:
    # Without Python's own transactions: each begins and ends where it is said.
    db = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
    try:
        upgrade(db)
        db.execute("PRAGMA journal_mode = WAL")
        # FULL: what was committed is on the disk, also when the battery ends.
        db.execute("PRAGMA synchronous = FULL")
    except BaseException:
        db.close()
        raise
    return db


@contextmanager
def patience(db: sqlite3.Connection, seconds: float) -> Iterator[None]:
    """While something waits for others at the most so long, because it can be done later as well."""
    db.execute(f"PRAGMA busy_timeout = {int(1000 * seconds)}")
    try:
        yield
    finally:
        db.execute(f"PRAGMA busy_timeout = {int(1000 * _BUSY_SECONDS)}")


def remedy_of(error: sqlite3.Error | OSError) -> Remedy:
    """The next step for what SQLite or the system said."""
    code = plain_code(error) if isinstance(error, sqlite3.Error) else error.errno
    if isinstance(error, sqlite3.Error) and code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Remedy("Another program holds it. Close that program, then try again.")
    if code == (errno.ENOSPC if isinstance(error, OSError) else sqlite3.SQLITE_FULL):
        return Remedy("The disk is full. Make room, then try again: what was judged is kept.")
    if isinstance(error, sqlite3.NotSupportedError):
        return DAMAGED
    if isinstance(error, sqlite3.Error) and code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return DAMAGED
    return Remedy(Step.MOVE_STORE)
