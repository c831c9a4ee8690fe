"""Words of people that go from one run store to another: all of a run read, those of others added once.

Knows: which rows are words, what is kept of other stores and their people. Does not know: transactions,
files, whose words go where.
"""

import secrets
import sqlite3
from collections.abc import Hashable, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import chain

from engine.core.errors import StoreError
from engine.core.handed_words import HandedWords, StepKey, Turned, identity_of
from engine.core.judgments import Confirmation, ItemNote, Override
from engine.core.people import Reviews, Word
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
from engine.store.row_gate import Gate

MetPeople = Mapping[tuple[str, str], str]
"""By the id of another store and a name there, how that person is called here."""
WordsMark = Hashable
_ID_BYTES = 8


def read_id(db: sqlite3.Connection) -> str | None:
    """That of this store; None where none was drawn yet."""
    row = db.execute("SELECT id FROM own_store").fetchone()
    return None if row is None else Gate("The run store").text("id", row[0])


def drawn_id(db: sqlite3.Connection, keep: bool = True) -> str:
    """That of this store, drawn where there is none yet."""
    if (known := read_id(db)) is not None:
        return known
    drawn = secrets.token_hex(_ID_BYTES)
    if keep:
        db.execute("INSERT INTO own_store VALUES (?)", (drawn,))
    return drawn


def met_people(db: sqlite3.Connection) -> MetPeople:
    """As RunStore."""
    gate = Gate("A person of another run store")
    return {
        (gate.text("store", store), gate.text("name", name)): gate.text("called", called)
        for store, name, called in db.execute("SELECT store, name, called FROM met_person")
    }


def meet(db: sqlite3.Connection, met: MetPeople) -> None:
    """Keep how people of other stores are called here, in the caller's transaction."""
    rows = [(store, name, checked_author(called)) for (store, name), called in met.items()]
    db.executemany("INSERT OR REPLACE INTO met_person VALUES (?, ?, ?)", rows)


def handed_words(db: sqlite3.Connection, run_id: int) -> HandedWords:
    """All that people said of a run and noted of its items; numbers are of this store alone, and left out."""
    reviews = Reviews(
        tuple(replace(override, id=0) for override in override_rows(db, run_id)),
        tuple(mark_rows(db, run_id)),
        tuple(confirmation_rows(db, run_id)),
    )
    found = chain.from_iterable(note_rows(db, content_hashes(db, run_id).values()).values())
    notes = tuple(note for note in found if note.created != OF_DAMAGED)
    return HandedWords(reviews, notes, _redone(db, run_id))


def _redone(db: sqlite3.Connection, run_id: int) -> dict[StepKey, datetime]:
    """By step, when it was done again last; only what was."""
    gate = Gate(f"Run {run_id}")
    parts = [
        f"SELECT item_id, author, created, redone FROM {table} WHERE run_id = ? AND redone IS NOT NULL"
        for table in OF_RUN
    ]
    notes = "SELECT content_hash, author, created, redone FROM item_note WHERE redone IS NOT NULL"
    rows = db.execute(" UNION ALL ".join([*parts, notes]), (run_id,) * len(parts))
    return {
        (gate.text("item", place), gate.text("author", author), gate.time("created", created)): gate.time(
            "redone", redone
        )
        for place, author, created, redone in rows
    }


def add_handed(db: sqlite3.Connection, run: StoredRun, words: HandedWords) -> None:
    """As RunStore, in the caller's transaction."""
    here = handed_words(db, run.id).states
    hashes = content_hashes(db, run.id)
    contents = frozenset(hashes.values())
    for word in sorted(words.all, key=lambda word: word.created):
        is_here = word.content_hash in contents if isinstance(word, ItemNote) else word.item_id in hashes
        if not is_here:
            raise StoreError(f"Run {run.id} has not judged an item of these words.", "Read the file again.")
        turned, known = words.turned(word), here.get(identity_of(word))
        if known is None:
            if isinstance(word, Override | Confirmation):
                check_criterion(run.id, word.criterion, run.identity.criteria)
            insert_word(db, run.id, word, turned.redone)
            here[identity_of(word)] = turned
        elif turned.is_after(known):
            _turn(db, run.id, word, turned)


def _turn(db: sqlite3.Connection, run_id: int, word: Word, turned: Turned) -> None:
    """Let a word that is there be taken back, or stand again."""
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
