"""The annotations of write-ahead logs, taken into the run store: each once, in their order, whatever ends the
program.

Knows: which annotations are in the store already, what each kind of annotation changes, drafts. Does not
know: transactions, files, what shows the annotations.
"""

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from engine.core.errors import SetupError, StoreError
from engine.core.judgments import Draft, NewOverride, NewReview
from engine.core.run_records import checked_name, checked_note
from engine.core.said import NewDraft, NewNote, RunWords, Said, Undo, said_of
from engine.store.people_rows import add_note, add_override, add_review, check_criterion, take_back
from engine.store.row_gate import DamagedError, RowValidator
from engine.store.run_table import run_row
from engine.system.outbox import LogEntry


@dataclass(frozen=True)
class RefusedWord:
    """An annotation that the store does not hold, and never will; `said`: None where it cannot be read."""

    number: int
    said: Said | None
    error: SetupError


def taken_of(db: sqlite3.Connection, write_ahead_log: str) -> int:
    """Up to which number the annotations of a write-ahead log are in the store."""
    row = db.execute("SELECT taken FROM outbox WHERE name = ?", (write_ahead_log,)).fetchone()
    return RowValidator(f"Write-ahead log {write_ahead_log}").count("taken", row[0]) if row else 0


def take_words(db: sqlite3.Connection, write_ahead_log: str, words: Sequence[LogEntry]) -> list[RefusedWord]:
    """Take annotations in that are not in the store yet, in the caller's transaction; those that it
    refuses.
    """
    taken, refused = taken_of(db, write_ahead_log), []
    for word in words:
        if word.number > taken:
            taken = word.number
            if (error := _take(db, write_ahead_log, word)) is not None:
                refused.append(error)
    db.execute("INSERT OR REPLACE INTO outbox VALUES (?, ?)", (write_ahead_log, taken))
    return refused


def _take(db: sqlite3.Connection, write_ahead_log: str, word: LogEntry) -> RefusedWord | None:
    said = None
    db.execute("SAVEPOINT word")
    try:
        said = said_of(word.values)
        _change(db, f"{write_ahead_log}:{word.number}", said)
    except (SetupError, ValueError) as error:
        db.execute("ROLLBACK TO word")
        why = error if isinstance(error, SetupError) else _unreadable(write_ahead_log, word, error)
        if said is not None:
            _keep_text(db, f"{write_ahead_log}:{word.number}", said)
        db.execute("RELEASE word")
        return RefusedWord(word.number, said, why)
    db.execute("RELEASE word")
    return None


def _unreadable(write_ahead_log: str, word: LogEntry, error: ValueError) -> StoreError:
    return StoreError(
        f"{write_ahead_log}, entry {word.number}: {error}.",
        "Another program wrote that, or the disk is damaged.",
    )


def _change(db: sqlite3.Connection, name: str, said: Said) -> None:
    """What an annotation comes to. SetupError where the store cannot hold it."""
    what, run_id = said.what, said.run_id
    if isinstance(what, NewNote):
        add_note(db, what, said.at)
        return
    criteria = _criteria_of(db, said)
    assert run_id is not None
    match what:
        case NewOverride():
            check_criterion(run_id, what.criterion, criteria)
            add_override(db, run_id, what, said.at)
        case Undo():
            take_back(db, run_id, what, said.at)
        case NewReview():
            add_review(db, run_id, what, said.at)
        case RunWords():
            if what.name is not None:
                db.execute("UPDATE run SET name = ? WHERE id = ?", (checked_name(what.name), run_id))
            if what.note is not None:
                db.execute("UPDATE run SET note = ? WHERE id = ?", (checked_note(what.note), run_id))
        case NewDraft() if what.text:
            _add_draft(db, name, said, what.author, what.text)
    db.executemany("DELETE FROM draft WHERE id = ?", [(each,) for each in said.over])


def _criteria_of(db: sqlite3.Connection, said: Said) -> Sequence[str]:
    """Those of the run of an annotation. StoreError where it is not in the store, or another one of its
    number.
    """
    run = None if said.run_id is None else run_row(db, said.run_id)
    if run is None or said.made not in (None, run.created):
        raise StoreError(f"Run {said.run_id} is no longer in the run store.", "Open another run.")
    return run.identity.criteria


def _keep_text(db: sqlite3.Connection, name: str, said: Said) -> None:
    """What an annotator wrote is not lost with its annotation: an explanation becomes a draft, where its
    run is.
    """
    what = said.what
    if isinstance(what, NewOverride) and what.explanation and said.run_id is not None:
        run = db.execute("SELECT 1 FROM run WHERE id = ?", (said.run_id,)).fetchone()
        if run is not None:
            _add_draft(db, name, said, what.author, what.explanation)


def _add_draft(db: sqlite3.Connection, name: str, said: Said, author: str, text: str) -> None:
    what = said.what
    assert isinstance(what, NewOverride | NewDraft)
    db.execute(
        "INSERT OR REPLACE INTO draft VALUES (?, ?, ?, ?, ?, ?, ?)",
        (name, said.run_id, what.item_id, what.criterion, author, text, said.at.isoformat()),
    )


def draft_rows(db: sqlite3.Connection, run_id: int) -> list[Draft]:
    """The drafts of a run, the oldest first; a damaged one counts as none.

    One of a note, which is of no criterion, is here wherever the run has its item, as the note itself: who
    saved it in another run would find the old draft in its place.
    """
    # CROSS: in this order. Drafts are few, items are many.
    rows = db.execute(
        "SELECT id, item_id, criterion, author, text, created FROM draft WHERE run_id = :run"
        " UNION SELECT id, here.item_id, criterion, author, text, created FROM draft"
        " CROSS JOIN judged_item AS there ON there.run_id = draft.run_id AND there.item_id = draft.item_id"
        " CROSS JOIN judged_item AS here ON here.run_id = :run AND here.content_hash = there.content_hash"
        " WHERE criterion = '' ORDER BY created, id",
        {"run": run_id},
    )
    validator = RowValidator(f"Run {run_id}, a draft")
    found = []
    for name, item_id, criterion, author, text, created in rows:
        with suppress(DamagedError):
            found.append(
                Draft(
                    validator.text("id", name),
                    validator.text("item_id", item_id),
                    validator.text("criterion", criterion),
                    validator.text("author", author),
                    validator.text("text", text),
                    validator.time("created", created),
                )
            )
    return found
