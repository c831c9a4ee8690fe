"""The words of outboxes, taken into the run store: each once, in their order, whatever ends the program.

Knows: which words are in the store already, what each kind of word changes, drafts. Does not know:
transactions, files, what shows the words.
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
from engine.store.row_gate import DamagedError, Gate
from engine.store.run_table import run_row
from engine.system.outbox import Word


@dataclass(frozen=True)
class RefusedWord:
    """A word that the store does not hold, and never will; `said`: None where it cannot be read."""

    number: int
    said: Said | None
    error: SetupError


def taken_of(db: sqlite3.Connection, outbox: str) -> int:
    """Up to which number the words of an outbox are in the store."""
    row = db.execute("SELECT taken FROM outbox WHERE name = ?", (outbox,)).fetchone()
    return Gate(f"Outbox {outbox}").count("taken", row[0]) if row else 0


def take_words(db: sqlite3.Connection, outbox: str, words: Sequence[Word]) -> list[RefusedWord]:
    """Take words in that are not in the store yet, in the caller's transaction; those that it refuses."""
    taken, refused = taken_of(db, outbox), []
    for word in words:
        if word.number > taken:
            taken = word.number
            if (error := _take(db, outbox, word)) is not None:
                refused.append(error)
    db.execute("INSERT OR REPLACE INTO outbox VALUES (?, ?)", (outbox, taken))
    return refused


def _take(db: sqlite3.Connection, outbox: str, word: Word) -> RefusedWord | None:
    said = None
    db.execute("SAVEPOINT word")
    try:
        said = said_of(word.values)
        _change(db, f"{outbox}:{word.number}", said)
    except (SetupError, ValueError) as error:
        db.execute("ROLLBACK TO word")
        why = error if isinstance(error, SetupError) else _unreadable(outbox, word, error)
        if said is not None:
            _keep_text(db, f"{outbox}:{word.number}", said)
        db.execute("RELEASE word")
        return RefusedWord(word.number, said, why)
    db.execute("RELEASE word")
    return None


def _unreadable(outbox: str, word: Word, error: ValueError) -> StoreError:
    return StoreError(
        f"{outbox}, word {word.number}: {error}.", "Another hand wrote that, or the disk is damaged."
    )


def _change(db: sqlite3.Connection, name: str, said: Said) -> None:
    """What a word comes to. SetupError where the store cannot hold it."""
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
    """Those of the run of a word. StoreError where it is not in the store, or another one of its number."""
    run = None if said.run_id is None else run_row(db, said.run_id)
    if run is None or said.made not in (None, run.created):
        raise StoreError(f"Run {said.run_id} is not in the run store any more.", "Open another run.")
    return run.identity.criteria


def _keep_text(db: sqlite3.Connection, name: str, said: Said) -> None:
    """What a person wrote is not lost with its word: an explanation becomes a draft, where its run is."""
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
    gate = Gate(f"Run {run_id}, a draft")
    found = []
    for name, item_id, criterion, author, text, created in rows:
        with suppress(DamagedError):
            found.append(
                Draft(
                    gate.text("id", name),
                    gate.text("item_id", item_id),
                    gate.text("criterion", criterion),
                    gate.text("author", author),
                    gate.text("text", text),
                    gate.time("created", created),
                )
            )
    return found
