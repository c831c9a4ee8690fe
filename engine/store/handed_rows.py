"""Annotations that go from one run store to another: all of a run read, those of others added
once.

Knows: which rows are annotations, what is stored of other stores and their annotators. Does not know:
transactions, files, whose annotations go where.
"""

import secrets
import sqlite3
from collections.abc import Hashable, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import chain

from engine.core.errors import StoreError
from engine.core.handed_words import ImportedAnnotations, StepKey, UndoneStep, identity_of
from engine.core.judgments import Confirmation, ItemNote, Override
from engine.core.people import Annotation, Reviews
from engine.core.run_records import StoredRun
from engine.core.said import checked_author
from engine.store.judged_rows import content_hashes
from engine.store.people_rows import (
    OF_DAMAGED,
    OF_RUN,
    TABLES,
    check_criterion,
    confirmation_rows,
    content_of,
    insert_word,
    mark_rows,
    note_rows,
    override_rows,
    place_of,
)
from engine.store.row_gate import RowValidator

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
