"""The table of runs: rows added, named, noted, put away and taken out again.

Knows: the tables `run` and `deleted_run`. Does not know: transactions, what runs hold.
"""

import json
import sqlite3
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from engine.core.errors import StoreError
from engine.core.remedies import Remedy, Step
from engine.core.run_records import DamagedRun, RunIdentity, StoredRun, checked_name, checked_note
from engine.store.override_rows import checked_author, now
from engine.store.row_gate import DamagedError
from engine.store.run_rows import RUN_COLUMNS, run_of_row
from engine.system.paths import text_of_path
from engine.system.plain_json import LARGEST


def run_row(db: sqlite3.Connection, run_id: int) -> StoredRun | None:
    """One run; None where there is none. DamagedError where another hand wrote it."""
    row = None
    with suppress(OverflowError):  # no run has so large a number
        row = db.execute(
            f"SELECT {', '.join(RUN_COLUMNS)} FROM run WHERE id = ?",
            (run_id,),
        ).fetchone()
    if row is None:
        return None
    return run_of_row(run_id, dict(zip(RUN_COLUMNS, row, strict=True)), judged_count(db, run_id))


def judged_count(db: sqlite3.Connection, run_id: int) -> int:
    """How many items of a run are judged."""
    (judged,) = db.execute("SELECT count(*) FROM judged_item WHERE run_id = ?", (run_id,)).fetchone()
    return int(judged)


def damaged_run(db: sqlite3.Connection, run_id: int) -> DamagedRun | None:
    """What is wrong with a run; None where nothing is, or where there is none."""
    try:
        run_row(db, run_id)
    except DamagedError as error:
        return DamagedRun(run_id, judged_count(db, run_id), error.problem, error.remedy)
    return None


def run_ids(db: sqlite3.Connection) -> list[int]:
    """The numbers of all runs, the oldest first."""
    return [run_id for (run_id,) in db.execute("SELECT id FROM run ORDER BY id")]


def newest_of(db: sqlite3.Connection, key: str) -> int | None:
    """The latest run of an identity's key; None where there is none."""
    (run_id,) = db.execute("SELECT max(id) FROM run WHERE key = ?", (key,)).fetchone()
    return None if run_id is None else int(run_id)


def deleted_on(db: sqlite3.Connection, run_id: int) -> str:
    """The day on which a run of this number was deleted; empty where none was."""
    with suppress(OverflowError):
        row = db.execute("SELECT deleted FROM deleted_run WHERE id = ?", (run_id,)).fetchone()
        return str(row[0])[:10] if row else ""
    return ""


def add_run(db: sqlite3.Connection, identity: RunIdentity) -> int:
    """Add a run, in the caller's transaction; its number, which no run ever had, be it deleted by now."""
    (newest,) = db.execute(
        "SELECT max((SELECT coalesce(max(id), 0) FROM run), (SELECT coalesce(max(id), 0) FROM deleted_run))"
    ).fetchone()
    if newest >= LARGEST:
        raise StoreError(
            f"The run store holds a run with the number {newest}, after which there is none.",
            Remedy(Step.USE_OTHER_STORE),
        )
    db.execute(
        "INSERT INTO run (id, key, created, dataset_path, dataset_hash, items, model_path, model_name,"
        " model_hash, prompt_version, criteria, settings, kind, rubric)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            newest + 1,
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
            _json(identity.rubric.as_json()) if identity.rubric else None,
        ),
    )
    return int(newest + 1)


def name_run(db: sqlite3.Connection, run_id: int, name: str) -> None:
    """Give a run a name, empty for none, in the caller's transaction. SetupError for what is no name."""
    named = checked_name(name, f"run {run_id}")
    db.execute("UPDATE run SET name = ? WHERE id = ?", (named, run_id))


def note_run(db: sqlite3.Connection, run_id: int, note: str) -> None:
    """Note something of a run, empty for nothing, in the caller's transaction. SetupError where too long."""
    noted = checked_note(note, f"run {run_id}").encode("utf-8", "replace").decode()
    db.execute("UPDATE run SET note = ? WHERE id = ?", (noted, run_id))


def archive_run(db: sqlite3.Connection, run_id: int, by: str) -> None:
    """Put a run away, in the caller's transaction; one that is keeps its day. SetupError without a person."""
    db.execute(
        "UPDATE run SET archived = ?, archived_by = ? WHERE id = ? AND archived IS NULL",
        (now().isoformat(), checked_author(by), run_id),
    )


def restore_run(db: sqlite3.Connection, run_id: int) -> None:
    """Let a run stand in the lists again, in the caller's transaction."""
    db.execute("UPDATE run SET archived = NULL, archived_by = NULL WHERE id = ?", (run_id,))


def no_run(db: sqlite3.Connection, run_id: int, path: Path) -> StoreError:
    """What is said where the store at `path` has no run of a number."""
    day = deleted_on(db, run_id)
    return StoreError(
        f"Run {run_id} was deleted on {day}: the run store {path} holds nothing of it."
        if day
        else f"The run store {path} holds no run {run_id}.",
        "Choose one of the runs that it holds.",
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
