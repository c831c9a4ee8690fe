"""Runs taken out of the store for good, with all that hangs on them; what that frees.

Notes and tags stay: they belong to the texts of items, whichever run judges them. So do measures, but for
those of the run itself.

Knows: all tables that hold something of a run, pages of SQLite. Does not know: locks of runs, full disks.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress

from engine.annotations.records import now
from engine.core.errors import Hint, SetupError, Step
from engine.settings.identity import AnyRun
from engine.settings.run_lists import RunContents
from engine.store.opening import rewrite_whole, shrinks
from engine.store.run_table import judged_count, key_with_run
from engine.store.store_file import StoreFile

_JUDGED = (
    *("judged_item", "reading", "answer", "panel_reading", "explanation", "rewritten_explanation"),
    *("unscored", "given"),
)
_SAID = ("override", "review_mark", "confirmation")
_BEGUN = ("draft",)
_BYTES_OF_ROW = 14  # header, integers, pointer
_SHARE_OF_PAGE = 0.8  # that rows fill on average
# Bytes that are deleted in one transaction, which writes three times as many.
_AT_ONCE, _AT_ONCE_ON_FULL_DISK = 4 << 20, 48 << 10


def run_contents(db: sqlite3.Connection, run: AnyRun) -> RunContents:
    place = (run.id,)
    (overrides,) = db.execute(
        "SELECT count(*) FROM override WHERE run_id = ? AND undone IS NULL", place
    ).fetchone()
    (confirmed,) = db.execute(
        "SELECT count(*) FROM"
        " (SELECT DISTINCT item_id, criterion, author FROM confirmation WHERE run_id = ?)",
        place,
    ).fetchone()
    (marked,) = db.execute(
        "SELECT count(*) FROM (SELECT DISTINCT item_id, author FROM review_mark WHERE run_id = ?)", place
    ).fetchone()
    (begun,) = db.execute("SELECT count(*) FROM draft WHERE run_id = ?", place).fetchone()
    tables = (*_SAID, *_BEGUN)
    authors = db.execute(
        " UNION ".join(f"SELECT author FROM {table} WHERE run_id = ?" for table in tables),
        place * len(tables),
    ).fetchall()
    annotators = tuple(str(author) for (author,) in authors)
    return RunContents(run, _size(db, run.id), overrides, confirmed, marked, begun, annotators)


def refuse_decided(contents: Iterable[RunContents]) -> None:
    """Raise SetupError where annotators decided something in one of these runs, naming it."""
    decided = [held for held in contents if held.decided]
    if decided:
        what = "; ".join(f"{held.run.called}: {held.decisions}" for held in decided)
        raise SetupError(
            f"Annotations would be lost. {what[:1].upper()}{what[1:]}.",
            Hint(Step.DELETE_DECISIONS),
        )


def strike(db: sqlite3.Connection, run_ids: Sequence[int]) -> None:
    """Take runs out of the list, in the caller's transaction: from then on they are deleted. Their numbers
    stay taken.

    What hangs on them goes by `sweep`.
    """
    db.executemany("DELETE FROM run WHERE id = ?", [(run_id,) for run_id in run_ids])
    db.executemany("DELETE FROM measured WHERE key GLOB ?", [(f"{key_with_run(id_)}*",) for id_ in run_ids])
    db.executemany(
        "INSERT INTO deleted_run VALUES (?, ?)", [(run_id, now().isoformat()) for run_id in run_ids]
    )


def sweep(file: StoreFile, run_ids: Sequence[int]) -> None:
    """Delete what hangs on runs that are struck, and on those that another program was about to sweep when it
    was ended.

    In parts, each for itself: others get their turn between them, and a full disk has room for one.
    """
    with file.reading() as db:
        struck = dict.fromkeys([*run_ids, *_unswept(db)])
        left = [(run_id, _items_of_part(db, run_id, _at_once(file))) for run_id in struck]
    for run_id, items in left:
        more = True
        while more:
            with file.writing() as db:
                more = _delete_part(db, run_id, items)
            with suppress(sqlite3.Error), file.by_itself() as db:  # the log may grow as well
                _begin_log_again(db)


def _unswept(db: sqlite3.Connection) -> list[int]:
    return [
        run_id
        for (run_id,) in db.execute(
            "SELECT id FROM deleted_run AS struck"
            " WHERE EXISTS (SELECT 1 FROM judged_item WHERE run_id = struck.id)"
        )
    ]


def _at_once(file: StoreFile) -> int:
    return _AT_ONCE_ON_FULL_DISK if file.is_tight else _AT_ONCE


def _items_of_part(db: sqlite3.Connection, run_id: int, n_bytes: int) -> int:
    return max(1, judged_count(db, run_id) * n_bytes // max(1, _size(db, run_id)))


def _delete_part(db: sqlite3.Connection, run_id: int, items: int) -> bool:
    """Delete what hangs on the first items of a run, in the caller's transaction; whether more is left.

    With the last part goes all that was said of the run, and what another hand may have left.
    """
    rows = db.execute(
        "SELECT position FROM judged_item WHERE run_id = ? ORDER BY position LIMIT ?", (run_id, items)
    ).fetchall()
    if len(rows) < items:
        for table in (*_SAID, *_BEGUN, *_JUDGED):
            db.execute(f"DELETE FROM {table} WHERE run_id = ?", (run_id,))
        return False
    for table in _JUDGED:
        db.execute(f"DELETE FROM {table} WHERE run_id = ? AND position <= ?", (run_id, *rows[-1]))
    return True


def shrink(file: StoreFile) -> None:
    """Give what is free back to the disk. sqlite3.Error where that cannot be now."""
    with file.by_itself() as db:
        if shrinks(db):
            (page,) = db.execute("PRAGMA page_size").fetchone()
            free, before = free_bytes(db), -1
            while free not in (0, before):
                # As a script: it has a row without columns for each page, and of those Python fetches one.
                db.executescript(f"PRAGMA incremental_vacuum({_at_once(file) // page})")
                _begin_log_again(db)
                free, before = free_bytes(db), free
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        elif not file.any_held():  # whoever judges must not wait until all is written once more
            rewrite_whole(db)


def free_bytes(db: sqlite3.Connection) -> int:
    (pages,) = db.execute("PRAGMA freelist_count").fetchone()
    (size,) = db.execute("PRAGMA page_size").fetchone()
    return int(pages * size)


def _begin_log_again(db: sqlite3.Connection) -> None:
    """Bring what is in the log into the file, so that the log stays as small as one part."""
    db.execute("PRAGMA wal_checkpoint(PASSIVE)")


def _size(db: sqlite3.Connection, run_id: int) -> int:
    """About how many bytes of the file the rows of a run take: their values, and what SQLite adds."""
    total = 0
    for table in (*_JUDGED, *_SAID, *_BEGUN):
        columns = [(name, kind) for _, name, kind, *_rest in db.execute(f"PRAGMA table_info({table})")]
        texts = [f"coalesce(length(CAST({name} AS BLOB)), 0)" for name, kind in columns if kind == "TEXT"]
        numbers = [name for name, kind in columns if kind == "REAL"]
        each = _BYTES_OF_ROW + 8 * len(numbers)
        (size,) = db.execute(
            f"SELECT total({' + '.join([str(each), *texts])}) FROM {table} WHERE run_id = ?", (run_id,)
        ).fetchone()
        total += size
    return int(total / _SHARE_OF_PAGE)
