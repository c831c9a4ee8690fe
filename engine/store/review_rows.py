"""The rows of the run store on how far people are with items: only added, the newest counts.

Knows: the tables `review_mark`, `confirmation` and `item_note`. Does not know: transactions, runs, decisions.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from engine.core.errors import SetupError
from engine.core.items import Preference
from engine.core.judgments import Confirmation, ItemNote, NewReview, ReviewMark, ReviewState
from engine.store.override_rows import check_judged, checked_author, now
from engine.store.row_gate import DamagedError, Gate

_MOST_AT_ONCE = 500  # values in one statement


def add_review(db: sqlite3.Connection, run_id: int, new: NewReview) -> None:
    """Add what a person says of an item, in the caller's transaction.

    StoreError where the run has not judged the item; SetupError for no name.
    """
    check_judged(db, run_id, new.item_id)
    author, created = checked_author(new.author), now().isoformat()
    if new.state is not None:
        db.execute(
            "INSERT INTO review_mark (run_id, item_id, author, state, created) VALUES (?, ?, ?, ?, ?)",
            (run_id, new.item_id, author, new.state.value, created),
        )
    db.executemany(
        "INSERT INTO confirmation (run_id, item_id, criterion, preference, author, created)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        [
            (run_id, new.item_id, criterion, label.value, author, created)
            for criterion, label in new.confirmed.items()
        ],
    )


def mark_rows(db: sqlite3.Connection, run_id: int) -> list[ReviewMark]:
    """The marks of a run, the oldest first."""
    rows = db.execute(
        "SELECT item_id, author, state, created FROM review_mark WHERE run_id = ? ORDER BY id", (run_id,)
    )
    gate = Gate(f"Run {run_id}")
    return [
        ReviewMark(
            gate.text("item_id", item_id),
            gate.text("author", author),
            gate.one_of(ReviewState, "state", state),
            gate.time("created", created),
        )
        for item_id, author, state, created in rows
    ]


def confirmation_rows(db: sqlite3.Connection, run_id: int) -> list[Confirmation]:
    """The confirmed labels of a run, the oldest first."""
    rows = db.execute(
        "SELECT item_id, criterion, preference, author, created FROM confirmation WHERE run_id = ?"
        " ORDER BY id",
        (run_id,),
    )
    gate = Gate(f"Run {run_id}")
    return [
        Confirmation(
            gate.text("item_id", item_id),
            gate.text("criterion", criterion),
            gate.one_of(Preference, "preference", label),
            gate.text("author", author),
            gate.time("created", created),
        )
        for item_id, criterion, label, author, created in rows
    ]


def add_note(db: sqlite3.Connection, content_hash: str, text: str, tags: Iterable[str], author: str) -> None:
    """Let a note stand in the place of an item's last one, in the caller's transaction.

    White space around words and tags is left out, and a tag that is there already; a note without words
    and tags takes the last one back. SetupError for no name, and for a tag of several lines.
    """
    cleaned = list(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))
    if unprintable := [tag for tag in cleaned if not tag.isprintable()]:
        raise SetupError(f"{unprintable[0]!r} cannot be a tag.", "Write a tag in one line.")
    db.execute(
        "INSERT INTO item_note (content_hash, author, text, tags, created) VALUES (?, ?, ?, ?, ?)",
        (
            content_hash,
            checked_author(author),
            text.strip(),
            json.dumps(cleaned, ensure_ascii=False),
            now().isoformat(),
        ),
    )


def note_rows(db: sqlite3.Connection, content_hashes: Iterable[str]) -> dict[str, ItemNote]:
    """The last note of each item that has one, by the hash of its content."""
    wanted = list(dict.fromkeys(content_hashes))
    found: dict[str, tuple[Any, ...]] = {}
    for start in range(0, len(wanted), _MOST_AT_ONCE):
        part = wanted[start : start + _MOST_AT_ONCE]
        rows = db.execute(
            "SELECT content_hash, author, text, tags, created FROM item_note"
            f" WHERE content_hash IN ({', '.join('?' * len(part))}) ORDER BY id",
            part,
        )
        found |= {row[0]: row for row in rows}
    notes = {key: _note_or_damage(key, row) for key, row in found.items()}
    return {key: note for key, note in notes.items() if note.text or note.tags}


def _note(content_hash: str, author: object, text: object, tags: object, created: object) -> ItemNote:
    gate = Gate(f"The note of the item with the content {content_hash[:12]}")
    return ItemNote(
        content_hash,
        gate.text("author", author),
        gate.text("text", text),
        gate.texts("tags", gate.plain("tags", tags)),
        gate.time("created", created),
    )


def _note_or_damage(content_hash: str, row: tuple[Any, ...]) -> ItemNote:
    """A note; in the place of a damaged one what is wrong with it: a run must be read all the same."""
    try:
        return _note(*row)
    except DamagedError as error:
        return ItemNote(
            content_hash,
            "Tiebreak",
            f"The note is damaged. {error.problem}",
            (),
            datetime.fromtimestamp(0, UTC),
        )


def tag_rows(db: sqlite3.Connection) -> list[str]:
    """The tags of the last notes of all items, the most frequent first, of equal ones by the alphabet."""
    rows = db.execute(
        "SELECT tags FROM item_note WHERE id IN (SELECT max(id) FROM item_note GROUP BY content_hash)"
    )
    counts = Counter(tag for (tags,) in rows for tag in _tags(tags))
    return sorted(counts, key=lambda tag: (-counts[tag], tag))


def _tags(tags: object) -> tuple[str, ...]:
    """Of a damaged note none."""
    gate = Gate("The note of an item")
    with suppress(DamagedError):
        return gate.texts("tags", gate.plain("tags", tags))
    return ()
