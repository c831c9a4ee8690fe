"""Annotations that go from one run store to another: all of a run read, those of others added
once.

The annotations of write-ahead logs, taken into the run store: each once, in their order, whatever ends the
program.
"""

import secrets
import sqlite3
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain

from engine.annotations.effective import (
    Annotation,
    ImportedAnnotations,
    Reviews,
    StepKey,
    UndoneStep,
    identity_of,
)
from engine.annotations.records import NewDraft, NewNote, RunWords, Said, Undo, checked_author, said_of
from engine.core.errors import SetupError, StoreError
from engine.core.judgments import Confirmation, Draft, ItemNote, NewOverride, NewReview, Override
from engine.settings.identity import StoredRun, checked_name, checked_note
from engine.store.annotation_rows import (
    OF_DAMAGED,
    OF_RUN,
    TABLES,
    add_note,
    add_override,
    add_review,
    check_criterion,
    confirmation_rows,
    content_of,
    insert_word,
    mark_rows,
    note_rows,
    override_rows,
    place_of,
    take_back,
)
from engine.store.judged_rows import content_hashes
from engine.store.row_validator import DamagedError, RowValidator
from engine.store.run_table import run_row
from engine.system.write_ahead_log import LogEntry


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


ImportedAnnotators = Mapping[tuple[str, str], str]
"""By the id of another store and a name there, how that annotator is called here."""
WordsMark = Hashable
_ID_BYTES = 8


def read_id(db: sqlite3.Connection) -> str | None:
    """That of this store; None where none was drawn yet."""
    row = db.execute("SELECT id FROM own_store").fetchone()
    return None if row is None else RowValidator("The run store").text("id", row[0])


def drawn_id(db: sqlite3.Connection, keep: bool = True) -> str:
    """That of this store, drawn where there is none yet."""
    if (known := read_id(db)) is not None:
        return known
    drawn = secrets.token_hex(_ID_BYTES)
    if keep:
        db.execute("INSERT INTO own_store VALUES (?)", (drawn,))
    return drawn


def imported_annotators(db: sqlite3.Connection) -> ImportedAnnotators:
    """As RunStore."""
    validator = RowValidator("An annotator of another run store")
    return {
        (validator.text("store", store), validator.text("name", name)): validator.text("called", called)
        for store, name, called in db.execute("SELECT store, name, called FROM met_person")
    }


def meet(db: sqlite3.Connection, met: ImportedAnnotators) -> None:
    """Keep how annotators of other stores are called here, in the caller's transaction."""
    rows = [(store, name, checked_author(called)) for (store, name), called in met.items()]
    db.executemany("INSERT OR REPLACE INTO met_person VALUES (?, ?, ?)", rows)


def imported_annotations(db: sqlite3.Connection, run_id: int) -> ImportedAnnotations:
    """All annotations of a run and noted of its items; numbers are of this store alone, and omitted."""
    reviews = Reviews(
        tuple(replace(override, id=0) for override in override_rows(db, run_id)),
        tuple(mark_rows(db, run_id)),
        tuple(confirmation_rows(db, run_id)),
    )
    found = chain.from_iterable(note_rows(db, content_hashes(db, run_id).values()).values())
    notes = tuple(note for note in found if note.created != OF_DAMAGED)
    return ImportedAnnotations(reviews, notes, _redone(db, run_id))


def _redone(db: sqlite3.Connection, run_id: int) -> dict[StepKey, datetime]:
    """By step, when it was done again last; only what was."""
    validator = RowValidator(f"Run {run_id}")
    parts = [
        f"SELECT item_id, author, created, redone FROM {table} WHERE run_id = ? AND redone IS NOT NULL"
        for table in OF_RUN
    ]
    notes = "SELECT content_hash, author, created, redone FROM item_note WHERE redone IS NOT NULL"
    rows = db.execute(" UNION ALL ".join([*parts, notes]), (run_id,) * len(parts))
    return {
        (
            validator.text("item", place),
            validator.text("author", author),
            validator.time("created", created),
        ): validator.time("redone", redone)
        for place, author, created, redone in rows
    }


def add_imported(db: sqlite3.Connection, run: StoredRun, words: ImportedAnnotations) -> None:
    """As RunStore, in the caller's transaction."""
    here = imported_annotations(db, run.id).states
    hashes = content_hashes(db, run.id)
    contents = frozenset(hashes.values())
    for word in sorted(words.all, key=lambda word: word.created):
        is_here = word.content_hash in contents if isinstance(word, ItemNote) else word.item_id in hashes
        if not is_here:
            raise StoreError(
                f"Run {run.id} has not judged an item of these annotations.", "Read the file again."
            )
        turned, known = words.turned(word), here.get(identity_of(word))
        if known is None:
            if isinstance(word, Override | Confirmation):
                check_criterion(run.id, word.criterion, run.identity.criteria)
            insert_word(db, run.id, word, turned.redone)
            here[identity_of(word)] = turned
        elif turned.is_after(known):
            _turn(db, run.id, word, turned)


def _turn(db: sqlite3.Connection, run_id: int, word: Annotation, turned: UndoneStep) -> None:
    """Undo or redo an annotation that is there."""
    place = place_of(run_id, word) | content_of(word)
    where = " AND ".join(f"{name} IS ?" for name in place)
    db.execute(
        f"UPDATE {TABLES[type(word)]} SET undone = ?, redone = ? WHERE {where}",
        (
            turned.undone and turned.undone.isoformat(),
            turned.redone and turned.redone.isoformat(),
            *place.values(),
        ),
    )


def words_mark(db: sqlite3.Connection, run_id: int) -> WordsMark:
    """As RunStore: of each table how many rows, the last, and which are taken back.

    Not when: a clock that was set back tells earlier times than the last one.
    """
    marks = "count(*), max(id), group_concat(CASE WHEN undone IS NOT NULL THEN id END)"
    found = [
        db.execute(f"SELECT {marks} FROM {table} WHERE run_id = ?", (run_id,)).fetchone() for table in OF_RUN
    ]
    return (*found, db.execute(f"SELECT {marks} FROM item_note").fetchone())
