"""The rows of the run store that hold the annotations: only added; the newest that is not undone counts.

Knows: the tables `override`, `review_mark`, `confirmation` and `item_note`, and what an override must be.
Does not know: transactions, runs, decisions.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from engine.annotations.effective import Annotation
from engine.annotations.records import (
    NewNote,
    Undo,
    checked_author,
    checked_explanation,
    checked_tags,
    later,
    now,
)
from engine.core.errors import StoreError
from engine.core.items import Preference
from engine.core.judgments import (
    Confirmation,
    ItemNote,
    NewOverride,
    NewReview,
    Origin,
    Override,
    ReviewMark,
    ReviewState,
)
from engine.store.row_validator import DamagedError, RowValidator

_OVERRIDE = (
    "id, item_id, criterion, preference, explanation, author, created, undone, origin, seed, written_for,"
    " blind, settles"
)
_CONFIRMATION = "item_id, criterion, preference, author, created, origin, seed, blind, undone"
_OLDEST_FIRST = "ORDER BY created, author"
"""Not by number: annotations from elsewhere come into the store later than they were made. Annotations of one
annotator and one time are in the order of their content, so that it is the same in all stores.
"""
OF_DAMAGED = datetime.fromtimestamp(0, UTC)
"""When what is said of a damaged note was said: never."""
TABLES: Mapping[type[Annotation], str] = {
    Override: "override",
    Confirmation: "confirmation",
    ReviewMark: "review_mark",
    ItemNote: "item_note",
}
OF_RUN = [table for kind, table in TABLES.items() if kind is not ItemNote]
"""The tables of annotations on a run; notes are on an item in whichever run."""
_MOST_AT_ONCE = 500  # values in one statement


def add_override(
    db: sqlite3.Connection, run_id: int, new: NewOverride, at: datetime | None = None
) -> Override:
    """Add one, in the caller's transaction; white space around the texts is omitted. `at`: now if None.

    StoreError where the run has not judged the item; SetupError where it cannot be an override.
    """
    _check_judged(db, run_id, new.item_id)
    override = Override(
        id=0,
        item_id=new.item_id,
        criterion=new.criterion,
        preference=new.preference,
        explanation=checked_explanation(new.explanation),
        author=checked_author(new.author),
        created=at or now(_last_said(db, run_id, new.item_id)),
        origin=new.origin,
        seed=_seed(db, run_id, new),
        written_for=new.written_for,
        blind=new.blind,
        settles=new.settles,
    )
    return replace(override, id=insert_word(db, run_id, override))


def place_of(run_id: int | None, word: Annotation) -> dict[str, object]:
    """By column, where the row of an annotation is found; that of a note in whichever run."""
    place: dict[str, object] = {"author": word.author, "created": word.created.isoformat()}
    if isinstance(word, ItemNote):
        return place | {"content_hash": word.content_hash}
    place |= {"run_id": run_id, "item_id": word.item_id}
    return place if isinstance(word, ReviewMark) else place | {"criterion": word.criterion}


def content_of(word: Annotation) -> dict[str, object]:
    """By column, what an annotation says."""
    match word:
        case ItemNote():
            tags = json.dumps(checked_tags(word.tags), ensure_ascii=False)
            return {"text": word.text.strip(), "tags": tags}
        case ReviewMark():
            return {"state": word.state.value}
        case Confirmation():
            return {"preference": word.preference.value}
        case Override():
            label = word.preference and word.preference.value
            return {"preference": label, "explanation": checked_explanation(word.explanation)}


def insert_word(
    db: sqlite3.Connection, run_id: int | None, word: Annotation, redone: datetime | None = None
) -> int:
    """Add the row of an annotation, in the caller's transaction; its number. `redone`: when it was done again
    last.

    White space around texts is omitted. SetupError for no name, an explanation that a submission cannot
    hold, a tag of several lines.
    """
    word = replace(word, author=checked_author(word.author))
    values = place_of(run_id, word) | content_of(word)
    values |= {
        "undone": word.undone and word.undone.isoformat(),
        "redone": redone and redone.isoformat(),
    }
    if isinstance(word, Override | Confirmation):
        values |= {"origin": word.origin and word.origin.value, "seed": word.seed, "blind": word.blind}
    if isinstance(word, Override):
        values |= {"written_for": word.written_for and word.written_for.value, "settles": word.settles}
    columns, places = ", ".join(values), ", ".join("?" * len(values))
    table = TABLES[type(word)]
    added = db.execute(f"INSERT INTO {table} ({columns}) VALUES ({places})", tuple(values.values()))
    return added.lastrowid or 0


def take_back(db: sqlite3.Connection, run_id: int, step: Undo, at: datetime | None = None) -> bool:
    """Mark all annotations of one step as undone, or as redone, in the caller's transaction.

    False where there is no such step, or it is so already. `at`: now if None.
    """
    at = at or now(_last_said(db, run_id, step.item_id, step.content_hash))
    # Later than the state that it changes, for elsewhere the later of two states counts.
    turned = later(at, _last_said(db, run_id, step.item_id, step.content_hash, step)).isoformat()
    undone, redone = (None, turned) if step.again else (turned, None)
    now_so = "NOT NULL" if step.again else "NULL"
    where = f"author = ? AND created = ? AND undone IS {now_so}"
    said = (step.author, step.step.isoformat())
    changed = 0
    for name in OF_RUN:
        changed += db.execute(
            f"UPDATE {name} SET undone = ?, redone = coalesce(?, redone)"
            f" WHERE run_id = ? AND item_id = ? AND {where}",
            (undone, redone, run_id, step.item_id, *said),
        ).rowcount
    changed += db.execute(
        f"UPDATE item_note SET undone = ?, redone = coalesce(?, redone) WHERE content_hash = ? AND {where}",
        (undone, redone, step.content_hash, *said),
    ).rowcount
    return changed > 0


def _last_said(
    db: sqlite3.Connection,
    run_id: int | None,
    item_id: str | None,
    content_hash: str | None = None,
    step: Undo | None = None,
) -> datetime | None:
    """When anything was said last of an item of a run, taken back or done again, by whomever; None where
    nothing was. `content_hash`: of the item, looked up where None. `step`: in this step alone.
    """
    of_step = "" if step is None else " AND author = :author AND created = :created"
    last = "SELECT max(max(created, coalesce(undone, ''), coalesce(redone, ''))) FROM"
    parts = [f"{last} {table} WHERE run_id = :run AND item_id = :item{of_step}" for table in OF_RUN]
    notes = (
        f"{last} item_note WHERE content_hash = coalesce(:content,"
        f" (SELECT content_hash FROM judged_item WHERE run_id = :run AND item_id = :item)){of_step}"
    )
    place = {"run": run_id, "item": item_id, "content": content_hash}
    place |= {"author": step.author, "created": step.step.isoformat()} if step is not None else {}
    times = [at for (at,) in db.execute(" UNION ALL ".join([*parts, notes]), place) if at is not None]
    return RowValidator("The annotations").time("created", max(times)) if times else None


def override_rows(db: sqlite3.Connection, run_id: int) -> list[Override]:
    """Those of a run, the oldest first."""
    order = f"{_OLDEST_FIRST}, item_id, criterion, preference, explanation, id"
    rows = db.execute(f"SELECT {_OVERRIDE} FROM override WHERE run_id = ? {order}", (run_id,))
    validator = RowValidator(f"Run {run_id}")
    return [_override(validator, row) for row in rows]


def _override(validator: RowValidator, row: tuple[Any, ...]) -> Override:
    number, item_id, criterion, preference, explanation, author, created, undone, origin, seed, *rest = row
    written_for, blind, settles = rest
    made = partial(
        Override,
        id=validator.count("id", number),
        item_id=validator.text("item_id", item_id),
        criterion=validator.text("criterion", criterion),
        preference=None if preference is None else validator.one_of(Preference, "preference", preference),
        explanation=None if explanation is None else validator.text("explanation", explanation),
        author=validator.text("author", author),
        created=validator.time("created", created),
        undone=_undone(validator, undone),
        origin=_origin(validator, origin),
        seed=_stored_seed(validator, seed),
        written_for=None if written_for is None else validator.one_of(Preference, "written_for", written_for),
        blind=_blind(validator, blind),
        settles=validator.flag("settles", settles),
    )
    return validator.made("override", number, made)


def add_review(db: sqlite3.Connection, run_id: int, new: NewReview, at: datetime | None = None) -> None:
    """Add what an annotator says of an item, in the caller's transaction. `at`: now if None.

    StoreError where the run has not judged the item; SetupError for no name.
    """
    _check_judged(db, run_id, new.item_id)
    created = at or now(_last_said(db, run_id, new.item_id))
    how = (new.origin, _seed(db, run_id, new), new.blind)
    if new.state is not None:
        insert_word(db, run_id, ReviewMark(new.item_id, new.author, new.state, created))
    for criterion, label in new.confirmed.items():
        insert_word(db, run_id, Confirmation(new.item_id, criterion, label, new.author, created, *how))


def mark_rows(db: sqlite3.Connection, run_id: int) -> list[ReviewMark]:
    """The marks of a run, the oldest first."""
    rows = db.execute(
        "SELECT item_id, author, state, created, undone FROM review_mark WHERE run_id = ?"
        f" {_OLDEST_FIRST}, item_id, state, id",
        (run_id,),
    )
    validator = RowValidator(f"Run {run_id}")
    return [
        ReviewMark(
            validator.text("item_id", item_id),
            validator.text("author", author),
            validator.one_of(ReviewState, "state", state),
            validator.time("created", created),
            _undone(validator, undone),
        )
        for item_id, author, state, created, undone in rows
    ]


def confirmation_rows(db: sqlite3.Connection, run_id: int) -> list[Confirmation]:
    """The confirmed labels of a run, the oldest first."""
    rows = db.execute(
        f"SELECT {_CONFIRMATION} FROM confirmation WHERE run_id = ?"
        f" {_OLDEST_FIRST}, item_id, criterion, preference, id",
        (run_id,),
    )
    validator = RowValidator(f"Run {run_id}")
    return [
        Confirmation(
            validator.text("item_id", item_id),
            validator.text("criterion", criterion),
            validator.one_of(Preference, "preference", label),
            validator.text("author", author),
            validator.time("created", created),
            _origin(validator, origin),
            _stored_seed(validator, seed),
            _blind(validator, blind),
            _undone(validator, undone),
        )
        for item_id, criterion, label, author, created, origin, seed, blind, undone in rows
    ]


def _origin(validator: RowValidator, value: object) -> Origin | None:
    return None if value is None else validator.one_of(Origin, "origin", value)


def _undone(validator: RowValidator, value: object) -> datetime | None:
    return None if value is None else validator.time("undone", value)


def _blind(validator: RowValidator, value: object) -> bool | None:
    return None if value is None else validator.flag("blind", value)


def _stored_seed(validator: RowValidator, value: object) -> int | None:
    return None if value is None else validator.count("seed", value)


def _seed(db: sqlite3.Connection, run_id: int, new: NewOverride | NewReview) -> int | None:
    """Of the random sample that a label is given in, which may be drawn by another seed some day."""
    if new.origin is not Origin.RANDOM or new.seed is not None:
        return new.seed
    (seed,) = db.execute("SELECT review_seed FROM run WHERE id = ?", (run_id,)).fetchone()
    return int(seed)


def add_note(db: sqlite3.Connection, new: NewNote, at: datetime | None = None) -> None:
    """Let a note replace this annotator's last one of an item, in the caller's transaction.

    White space around text and tags is omitted, and a tag that is there already; a note without text and tags
    leaves nothing noted. SetupError for no name, and for a tag of several lines. `at`: now if None.
    """
    created = at or now(_last_said(db, None, None, new.content_hash))
    insert_word(db, None, ItemNote(new.content_hash, new.author, new.text, new.tags, created))


def note_rows(db: sqlite3.Connection, content_hashes: Iterable[str]) -> dict[str, tuple[ItemNote, ...]]:
    """All that annotators noted of each item of which anything was, the oldest first, by the hash of its
    content; also what is undone, or no more than history.
    """
    wanted = list(dict.fromkeys(content_hashes))
    found: dict[str, list[ItemNote]] = {}
    order = f"{_OLDEST_FIRST}, content_hash, text, tags, id"
    for start in range(0, len(wanted), _MOST_AT_ONCE):
        part = wanted[start : start + _MOST_AT_ONCE]
        rows = db.execute(
            "SELECT content_hash, author, text, tags, created, undone FROM item_note"
            f" WHERE content_hash IN ({', '.join('?' * len(part))}) {order}",
            part,
        )
        for row in rows:
            found.setdefault(row[0], []).append(_note_or_damage(row[0], row))
    return {key: tuple(notes) for key, notes in found.items()}


def _note(row: tuple[Any, ...]) -> ItemNote:
    content_hash, author, text, tags, created, undone = row
    validator = RowValidator(f"A note of the item with the content {content_hash[:12]}")
    return ItemNote(
        content_hash,
        validator.text("author", author),
        validator.text("text", text),
        validator.texts("tags", validator.plain("tags", tags)),
        validator.time("created", created),
        _undone(validator, undone),
    )


def _note_or_damage(content_hash: str, row: tuple[Any, ...]) -> ItemNote:
    """A note; in the place of a damaged one what is wrong with it: a run must be read all the same."""
    try:
        return _note(row)
    except DamagedError as error:
        return ItemNote(
            content_hash,
            row[1] if isinstance(row[1], str) else "Tiebreak",
            f"The note is damaged. {error.problem}",
            (),
            OF_DAMAGED,
        )


def tag_rows(db: sqlite3.Connection) -> list[str]:
    """The tags of the effective notes of all items, the most frequent first, of equal ones by the
    alphabet.
    """
    # The tags are those of the row with the largest time: https://sqlite.org/lang_select.html#bareagg
    rows = db.execute(
        "SELECT tags, max(created) FROM item_note WHERE undone IS NULL GROUP BY content_hash, author"
    )
    counts = Counter(tag for tags, _ in rows for tag in _tags(tags))
    return sorted(counts, key=lambda tag: (-counts[tag], tag))


def _tags(tags: object) -> tuple[str, ...]:
    """Of a damaged note none."""
    validator = RowValidator("The note of an item")
    with suppress(DamagedError):
        return validator.texts("tags", validator.plain("tags", tags))
    return ()


def check_criterion(run_id: int, criterion: str, criteria: Sequence[str]) -> None:
    """Raise StoreError where a run does not judge by a criterion; `criteria`: those that it does."""
    if criterion not in criteria:
        raise StoreError(f"Run {run_id} has no criterion {criterion}.", f"It has {', '.join(criteria)}.")


def _check_judged(db: sqlite3.Connection, run_id: int, item_id: str) -> None:
    """Raise StoreError where the run has not judged the item."""
    judged = db.execute(
        "SELECT count(*) FROM judged_item WHERE run_id = ? AND item_id = ?", (run_id, item_id)
    )
    if judged.fetchone() == (0,):
        raise StoreError(
            f"Run {run_id} has not judged the item {item_id!r}.", "Choose an item that it has judged."
        )
