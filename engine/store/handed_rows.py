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
from typing import Any

from engine.core.errors import StoreError
from engine.core.handed_words import HandedWords, StepKey, Turned, identity_of
from engine.core.judgments import Confirmation, ItemNote, Override, ReviewMark
from engine.core.people import Reviews, Word
from engine.core.run_records import StoredRun
from engine.core.said import checked_author, checked_explanation
from engine.store.judged_rows import content_hashes
from engine.store.people_rows import (
    OF_DAMAGED,
    confirmation_rows,
    insert_note,
    mark_rows,
    note_rows,
    override_rows,
)
from engine.store.row_gate import Gate

MetPeople = Mapping[tuple[str, str], str]
"""By the id of another store and a name there, how that person is called here."""
WordsMark = Hashable
_OF_RUN = ("override", "confirmation", "review_mark")
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
        for table in _OF_RUN
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
            _insert(db, run, word, turned)
            here[identity_of(word)] = turned
        elif turned.is_after(known):
            _turn(db, run.id, word, turned)


def _insert(db: sqlite3.Connection, run: StoredRun, word: Word, turned: Turned) -> None:
    said: dict[str, Any] = {
        "author": checked_author(word.author),
        "created": word.created.isoformat(),
        **_plain(turned),
    }
    if isinstance(word, ItemNote):
        insert_note(db, {"content_hash": word.content_hash, "text": word.text, **said}, word.tags)
        return
    said |= {"run_id": run.id, "item_id": word.item_id}
    if isinstance(word, ReviewMark):
        _add(db, "review_mark", said | {"state": word.state.value})
        return
    if word.criterion not in run.identity.criteria:
        raise StoreError(
            f"Run {run.id} has no criterion {word.criterion}.", f"It has {', '.join(run.identity.criteria)}."
        )
    said |= {
        "criterion": word.criterion,
        "preference": word.preference and word.preference.value,
        "origin": word.origin and word.origin.value,
        "seed": word.seed,
        "blind": word.blind,
    }
    if isinstance(word, Confirmation):
        _add(db, "confirmation", said)
        return
    of_text = {
        "explanation": checked_explanation(word.explanation),
        "written_for": word.written_for and word.written_for.value,
        "settles": word.settles,
    }
    _add(db, "override", said | of_text)


def _add(db: sqlite3.Connection, table: str, values: Mapping[str, object]) -> None:
    places = ", ".join("?" * len(values))
    db.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({places})", tuple(values.values()))


def _turn(db: sqlite3.Connection, run_id: int, word: Word, turned: Turned) -> None:
    """Let a word that is there be taken back, or stand again."""
    where: dict[str, object] = {"author": word.author, "created": word.created.isoformat()}
    match word:
        case ItemNote():
            table, where = "item_note", where | {"content_hash": word.content_hash}
        case ReviewMark():
            table, where = "review_mark", where | {"run_id": run_id, "item_id": word.item_id}
        case Override() | Confirmation():
            table = "override" if isinstance(word, Override) else "confirmation"
            where |= {"run_id": run_id, "item_id": word.item_id, "criterion": word.criterion}
    states = _plain(turned)
    db.execute(
        f"UPDATE {table} SET undone = ?, redone = ? WHERE {' AND '.join(f'{name} = ?' for name in where)}",
        (*states.values(), *where.values()),
    )


def _plain(turned: Turned) -> dict[str, str | None]:
    return {
        "undone": turned.undone.isoformat() if turned.undone else None,
        "redone": turned.redone.isoformat() if turned.redone else None,
    }


def words_mark(db: sqlite3.Connection, run_id: int) -> WordsMark:
    """As RunStore: of each table how many rows, the last, and when one was taken back or done again last."""
    marks = "count(*), max(id), max(undone), max(redone)"
    found = [
        db.execute(f"SELECT {marks} FROM {table} WHERE run_id = ?", (run_id,)).fetchone() for table in _OF_RUN
    ]
    return (*found, db.execute(f"SELECT {marks} FROM item_note").fetchone())
