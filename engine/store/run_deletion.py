"""Runs taken out of the store for good, with all that hangs on them; what that frees.

Notes and tags stay: they belong to the texts of items, whichever run judges them. So do measures.

Knows: all tables that hold something of a run, pages of SQLite. Does not know: transactions, locks of runs.
"""

import sqlite3
from collections.abc import Iterable, Sequence

from engine.core.errors import SetupError
from engine.core.remedies import Remedy, Step
from engine.core.run_records import AnyRun, RunContents
from engine.core.said import now

_JUDGED = ("judged_item", "reading", "answer", "explanation", "rewritten_explanation", "unscored", "given")
_SAID = ("override", "review_mark", "confirmation")
_BEGUN = ("draft",)
_BYTES_OF_ROW = 14  # header, integers, pointer
_SHARE_OF_PAGE = 0.8  # that rows fill on average


def run_contents(db: sqlite3.Connection, run: AnyRun) -> RunContents:
    """What goes with a run."""
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
    authors = db.execute(
        " UNION ".join(f"SELECT author FROM {table} WHERE run_id = ?" for table in _SAID), place * len(_SAID)
    ).fetchall()
    return RunContents(
        run, _size(db, run.id), overrides, confirmed, marked, tuple(str(author) for (author,) in authors)
    )


def refuse_decided(contents: Iterable[RunContents]) -> None:
    """Raise SetupError where people decided something in one of these runs, naming it."""
    decided = [held for held in contents if held.decided]
    if decided:
        what = "; ".join(f"{held.run.called}: {held.decisions}" for held in decided)
        raise SetupError(
            f"People decided something that would be lost. {what[:1].upper()}{what[1:]}.",
            Remedy(Step.DELETE_DECISIONS),
        )


def delete_rows(db: sqlite3.Connection, run_ids: Sequence[int]) -> None:
    """Delete runs with all that hangs on them, in the caller's transaction; their numbers stay taken.

    What they held is written over, so that it is gone also where the file cannot be made smaller.
    """
    db.execute("PRAGMA secure_delete = ON")
    for run_id in run_ids:
        for table in (*_JUDGED, *_SAID, *_BEGUN):
            db.execute(f"DELETE FROM {table} WHERE run_id = ?", (run_id,))
        db.execute("DELETE FROM run WHERE id = ?", (run_id,))
        db.execute("INSERT INTO deleted_run VALUES (?, ?)", (run_id, now().isoformat()))


def free_bytes(db: sqlite3.Connection) -> int:
    """Bytes of the store's file that hold nothing."""
    (pages,) = db.execute("PRAGMA freelist_count").fetchone()
    (size,) = db.execute("PRAGMA page_size").fetchone()
    return int(pages * size)


def shrink(db: sqlite3.Connection) -> None:
    """Give what is free back to the disk, outside a transaction. sqlite3.Error where that cannot be now."""
    db.execute("VACUUM")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


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
