"""Annotations in the run store: read from rows, from lines of a write-ahead log and from annotation files.
Rows are only added; the newest that is not undone counts.
"""

import json
import secrets
import sqlite3
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from itertools import chain
from typing import Any

from engine.annotations import records
from engine.annotations.records import Annotation, AnnotationKind, AnyWord, Said
from engine.core.errors import SetupError, StoreError
from engine.core.items import grouped, written_label
from engine.core.judgments import Origin, ReviewState
from engine.settings.identity import StoredRun, checked_name, checked_note
from engine.settings.sampling import checked_seed
from engine.store.judged_rows import content_hashes
from engine.store.row_validator import DamagedError, RowValidator
from engine.store.run_table import run_row, set_value
from engine.system.write_ahead_log import LogEntry

# What an annotation says, and how it came about: columns, values of a log's line, values in a file.
CONTENT: Mapping[AnnotationKind, tuple[str, ...]] = {
    AnnotationKind.OVERRIDE: ("criterion", "preference", "explanation"),
    AnnotationKind.CONFIRMATION: ("criterion", "preference"),
    AnnotationKind.REPEAT: ("criterion", "preference"),
    AnnotationKind.STATE: ("state",),
    AnnotationKind.NOTE: ("text", "tags"),
    AnnotationKind.DRAFT: ("criterion", "text"),
}
CIRCUMSTANCES: Mapping[AnnotationKind, tuple[str, ...]] = {
    AnnotationKind.OVERRIDE: ("origin", "seed", "blind", "written_for", "settles"),
    AnnotationKind.CONFIRMATION: ("origin", "seed", "blind"),
    AnnotationKind.REPEAT: ("origin", "seed", "blind"),
}
OF_RUN = (
    *(AnnotationKind.OVERRIDE, AnnotationKind.CONFIRMATION, AnnotationKind.REPEAT),
    AnnotationKind.STATE,
)
"""Annotations on a run; notes are on an item in whichever run."""
_TURNS = ("undone", "redone")
_MOST_AT_ONCE = 500  # values in one statement
_LAST_YEAR = 8999  # that a store reads: an annotation of a file is refused before it cannot be read again


def _one_of(kind: type[StrEnum]) -> Callable[[RowValidator, str, object], StrEnum]:
    return lambda validator, field, value: validator.one_of(kind, field, value)


_READERS: Mapping[str, Callable[[RowValidator, str, object], Any]] = {
    **dict.fromkeys(("id", "item_id", "criterion", "author", "content_hash"), RowValidator.text),
    **dict.fromkeys(("explanation", "text"), RowValidator.text),
    **dict.fromkeys(("created", *_TURNS), RowValidator.time),
    **dict.fromkeys(("preference", "written_for"), RowValidator.label),
    "origin": _one_of(Origin),
    "state": _one_of(ReviewState),
    "seed": RowValidator.count,
    "blind": RowValidator.flag,
    "settles": RowValidator.flag,
    "tags": RowValidator.texts,
}
_MAY_LACK = {*_TURNS, "explanation", "origin", "seed", "blind", "written_for", "settles"}


def annotation_of(
    validator: RowValidator,
    kind: AnnotationKind,
    values: Mapping[str, object],
    called: Mapping[str, str] = {},
) -> Annotation:
    """An annotation by the names of its fields. `called`: other names of these, for errors. DamagedError."""
    read = {}
    for name, value in values.items():
        # None is no preference in an override, and nothing that is not known in any.
        lacks = name in _MAY_LACK or (name == "preference" and kind is AnnotationKind.OVERRIDE)
        if value is not None or not lacks:
            read[name] = _READERS[name](validator, called.get(name, name), value)
    return Annotation(kind, **read)


def said_of(values: Mapping[str, Any]) -> Said:
    """What `Said.as_values` gave. ValueError for anything else."""
    try:
        kind, given = values["kind"], values["what"]
        named = {name: given.get(name) for name in records.LOGGED[kind]}
        run_id, since = values.get("run"), values.get("made")
        if run_id is not None and (type(run_id) is not int or run_id < 1):
            raise ValueError(f"{run_id!r} is not a run")
        over = RowValidator("").texts("over", [*values.get("over", [])])
        at, made = datetime.fromisoformat(values["at"]), since and datetime.fromisoformat(since)
        return Said(_what_of(kind, named), at, run_id, made, over)
    except (AttributeError, KeyError, TypeError, SetupError) as error:
        raise ValueError(f"it is not an annotation: {error!r}") from error


def _what_of(kind: str, values: dict[str, Any]) -> AnyWord:
    validator = RowValidator("")
    if values.get("seed") is not None:
        checked_seed(validator.count("seed", values["seed"]))
    if kind in records.LOGGED_KINDS:
        if kind == "draft":
            values["text"] = values["text"] or ""
        return annotation_of(validator, records.LOGGED_KINDS[kind], values)
    if kind == "review":
        confirmed = values.pop("confirmed").items()
        labels = {validator.text("criterion", name): written_label(label) for name, label in confirmed}
        said = ((name, value) for name, value in values.items() if value is not None)
        read = {name: _READERS[name](validator, name, value) for name, value in said}
        return records.new_review(confirmed=labels, **read)
    if kind == "run":
        named = (None if value is None else validator.text(name, value) for name, value in values.items())
        return records.RunWords(*named)
    step, again = datetime.fromisoformat(values.pop("step")), values.pop("again") or False
    texts = {name: validator.text(name, value) for name, value in values.items()}
    return records.Undo(**texts, step=step, again=validator.flag("again", again))


def rows_of_run(db: sqlite3.Connection, run_id: int, *kinds: AnnotationKind) -> list[Annotation]:
    """Of these kinds or of all but notes and drafts; also undone ones, of each kind the oldest first."""
    of = f"Run {run_id}"
    return [word for kind in kinds or OF_RUN for word in _rows(db, kind, "run_id = ?", (run_id,), of)]


def note_rows(db: sqlite3.Connection, hashes: Iterable[str]) -> dict[str, tuple[Annotation, ...]]:
    """All that annotators noted of items, the oldest first, by content hash; also what is undone."""
    wanted = list(dict.fromkeys(hashes))
    found: list[Annotation] = []
    for start in range(0, len(wanted), _MOST_AT_ONCE):
        part = wanted[start : start + _MOST_AT_ONCE]
        places = f"content_hash IN ({', '.join('?' * len(part))})"
        found += _rows(db, AnnotationKind.NOTE, places, part, "")
    by_item = grouped(found, key=lambda note: note.content_hash)
    return {content_hash: tuple(notes) for content_hash, notes in by_item.items()}


def _rows(
    db: sqlite3.Connection, kind: AnnotationKind, where: str, values: Sequence[object], of: str
) -> Iterable[Annotation]:
    place = "content_hash" if kind is AnnotationKind.NOTE else "item_id"
    columns = (place, "author", "created", *CONTENT[kind], *CIRCUMSTANCES.get(kind, ()), *_TURNS)
    # Not by number: annotations from elsewhere come into the store later than they were made. Those of one
    # annotator and one time are in the order of their content, so that it is the same in all stores.
    order = ", ".join(("created", "author", place, *CONTENT[kind], "id"))
    rows = db.execute(f"SELECT id, {', '.join(columns)} FROM {kind} WHERE {where} ORDER BY {order}", values)
    for number, *row in rows:
        read = dict(zip(columns, row, strict=True))
        validator = RowValidator(of or f"A note of the item with the content {row[0][:12]}")
        try:
            if kind is AnnotationKind.NOTE:
                read["tags"] = validator.plain("tags", read["tags"])
            yield validator.made(kind, number, partial(annotation_of, validator, kind, read))
        except DamagedError as error:
            if kind is not AnnotationKind.NOTE:
                raise
            # In its place what is wrong with it: a run must be read all the same.
            author = read["author"] if isinstance(read["author"], str) else "Tiebreak"
            damage = f"The note is damaged. {error.problem}"
            yield Annotation(kind, author=author, text=damage, content_hash=row[0])


def insert_word(db: sqlite3.Connection, run_id: int | None, word: Annotation) -> None:
    word = records.checked(word)
    names = (*_TURNS, *CIRCUMSTANCES.get(word.kind, ()))
    values = _place_of(run_id, word) | {name: _plain(getattr(word, name)) for name in names}
    columns, places = ", ".join(values), ", ".join("?" * len(values))
    db.execute(f"INSERT INTO {word.kind} ({columns}) VALUES ({places})", tuple(values.values()))


def _place_of(run_id: int | None, word: Annotation) -> dict[str, object]:
    of_item = {"content_hash": word.content_hash} if word.kind is AnnotationKind.NOTE else {"run_id": run_id}
    of_run = () if word.kind is AnnotationKind.NOTE else ("item_id",)
    names = ("author", "created", *CONTENT[word.kind], *of_run)
    return of_item | {name: _plain(getattr(word, name)) for name in names}


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tuple):
        return json.dumps(value, ensure_ascii=False)
    return value.value if isinstance(value, StrEnum) else value


def add_words(
    db: sqlite3.Connection, run_id: int | None, words: Sequence[Annotation], at: datetime | None = None
) -> Sequence[Annotation]:
    """Add annotations of an item as one step; as stored. StoreError where it is not judged, SetupError."""
    added = []
    for word in words:
        drawn_by = word.seed
        if word.kind is not AnnotationKind.NOTE:
            judged = "SELECT count(*) FROM judged_item WHERE run_id = ? AND item_id = ?"
            if db.execute(judged, (run_id, word.item_id)).fetchone() == (0,):
                raise StoreError(
                    f"Run {run_id} has not judged the item {word.item_id!r}.",
                    "Choose an item that it has judged.",
                )
            if word.origin is Origin.RANDOM and word.seed is None:
                # That of now: the sample may be drawn by another seed some day.
                (seed,) = db.execute("SELECT review_seed FROM run WHERE id = ?", (run_id,)).fetchone()
                drawn_by = int(seed)
        at = at or records.now(_last_said(db, run_id, word.item_id, word.content_hash or None))
        added.append(records.checked(replace(word, created=at, seed=drawn_by)))
        insert_word(db, run_id, added[-1])
    return added


def take_back(db: sqlite3.Connection, run_id: int, step: records.Undo, at: datetime | None = None) -> bool:
    """Undo one step, or redo it if it has `again`; False where there is none, or it is so already."""
    at = at or records.now(_last_said(db, run_id, step.item_id, step.content_hash))
    # Later than the state that it changes, for elsewhere the later of two states counts.
    last = _last_said(db, run_id, step.item_id, step.content_hash, step)
    turned = records.later(at, last).isoformat()
    undone, redone = (None, turned) if step.again else (turned, None)
    change = "SET undone = ?, redone = coalesce(?, redone)"
    of_step = f"author = ? AND created = ? AND undone IS {'NOT NULL' if step.again else 'NULL'}"
    said = (step.author, step.step.isoformat())
    changed = 0
    for kind in OF_RUN:
        where = f"run_id = ? AND item_id = ? AND {of_step}"
        place = (run_id, step.item_id, *said)
        changed += db.execute(f"UPDATE {kind} {change} WHERE {where}", (undone, redone, *place)).rowcount
    changed += db.execute(
        f"UPDATE {AnnotationKind.NOTE} {change} WHERE content_hash = ? AND {of_step}",
        (undone, redone, step.content_hash, *said),
    ).rowcount
    return changed > 0


def _last_said(
    db: sqlite3.Connection,
    run_id: int | None,
    item_id: str | None,
    content_hash: str | None = None,
    step: records.Undo | None = None,
) -> datetime | None:
    """When anything was said last of an item of a run, undone or redone, or in this `step` alone."""
    of_step = "" if step is None else " AND author = :author AND created = :created"
    last = "SELECT max(max(created, coalesce(undone, ''), coalesce(redone, ''))) FROM"
    parts = [f"{last} {kind} WHERE run_id = :run AND item_id = :item{of_step}" for kind in OF_RUN]
    notes = (
        f"{last} {AnnotationKind.NOTE} WHERE content_hash = coalesce(:content,"
        f" (SELECT content_hash FROM judged_item WHERE run_id = :run AND item_id = :item)){of_step}"
    )
    place = {"run": run_id, "item": item_id, "content": content_hash}
    place |= {"author": step.author, "created": step.step.isoformat()} if step is not None else {}
    times = [at for (at,) in db.execute(" UNION ALL ".join([*parts, notes]), place) if at is not None]
    return RowValidator("The annotations").time("created", max(times)) if times else None


def tag_rows(db: sqlite3.Connection) -> list[str]:
    """The most frequent first, then by the alphabet."""
    # The tags are those of the row with the largest time: https://sqlite.org/lang_select.html#bareagg
    rows = db.execute(
        f"SELECT tags, max(created) FROM {AnnotationKind.NOTE} WHERE undone IS NULL"
        " GROUP BY content_hash, author"
    )
    validator, counts = RowValidator("The note of an item"), Counter[str]()
    for tags, _ in rows:
        with suppress(DamagedError):  # of a damaged note none
            counts.update(validator.texts("tags", validator.plain("tags", tags)))
    return sorted(counts, key=lambda tag: (-counts[tag], tag))


def check_criterion(run_id: int, criterion: str, criteria: Sequence[str]) -> None:
    """StoreError where a run does not judge by a criterion; `criteria`: those that it does."""
    if criterion not in criteria:
        raise StoreError(f"Run {run_id} has no criterion {criterion}.", f"It has {', '.join(criteria)}.")


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
    """Take in what is not in the store yet, in the caller's transaction; what it refuses."""
    taken, refused = taken_of(db, write_ahead_log), []
    for entry in words:
        if entry.number <= taken:
            continue
        taken, said = entry.number, None
        name = f"{write_ahead_log}:{taken}"
        db.execute("SAVEPOINT word")
        try:
            said = said_of(entry.values)
            _change(db, name, said)
        except (SetupError, ValueError) as error:
            db.execute("ROLLBACK TO word")
            why = error
            if not isinstance(why, SetupError):
                problem = f"{write_ahead_log}, entry {taken}: {error}."
                why = StoreError(problem, "Another program wrote that, or the disk is damaged.")
            refused.append(RefusedWord(taken, said, why))
            # What an annotator wrote is not lost with its annotation: it becomes a draft, where its run is.
            word = said.what if said is not None and isinstance(said.what, Annotation) else None
            if said is not None and word is not None and word.explanation and said.run_id is not None:
                run = db.execute("SELECT 1 FROM run WHERE id = ?", (said.run_id,)).fetchone()
                if run is not None:
                    _add_draft(db, name, said, replace(word, text=word.explanation))
        db.execute("RELEASE word")
    db.execute("INSERT OR REPLACE INTO outbox VALUES (?, ?)", (write_ahead_log, taken))
    return refused


def _change(db: sqlite3.Connection, name: str, said: Said) -> None:
    what, run_id, words = said.what, said.run_id, records.annotations_in(said.what)
    if any(word.kind is AnnotationKind.NOTE for word in words):
        add_words(db, None, words, said.at)
        return
    run = None if run_id is None else run_row(db, run_id)
    if run_id is None or run is None or said.made not in (None, run.created):
        raise StoreError(f"Run {run_id} is no longer in the run store.", "Open another run.")
    match what:
        case records.Undo():
            take_back(db, run_id, what, said.at)
        case records.RunWords():
            if what.name is not None:
                set_value(db, run_id, "name", checked_name(what.name))
            if what.note is not None:
                set_value(db, run_id, "note", checked_note(what.note))
        case Annotation(kind=AnnotationKind.DRAFT):
            if what.text:
                _add_draft(db, name, said, what)
        case _:
            if isinstance(what, Annotation):
                check_criterion(run_id, what.criterion, run.identity.criteria)
            add_words(db, run_id, words, said.at)
    db.executemany("DELETE FROM draft WHERE id = ?", [(each,) for each in said.over])


def _add_draft(db: sqlite3.Connection, name: str, said: Said, word: Annotation) -> None:
    place = (name, said.run_id, word.item_id, word.criterion, word.author)
    values = (*place, word.text, said.at.isoformat())
    db.execute("INSERT OR REPLACE INTO draft VALUES (?, ?, ?, ?, ?, ?, ?)", values)


def draft_rows(db: sqlite3.Connection, run_id: int) -> list[Annotation]:
    """The unsaved drafts of a run, the oldest first; a damaged one counts as none."""
    # One of a note, which is of no criterion, is here wherever the run has its item, as the note itself: who
    # saved it in another run would find the old draft in its place. CROSS: in this order, for drafts are few.
    rows = db.execute(
        "SELECT id, item_id, criterion, author, text, created FROM draft WHERE run_id = :run"
        " UNION SELECT id, here.item_id, criterion, author, text, created FROM draft"
        " CROSS JOIN judged_item AS there ON there.run_id = draft.run_id AND there.item_id = draft.item_id"
        " CROSS JOIN judged_item AS here ON here.run_id = :run AND here.content_hash = there.content_hash"
        " WHERE criterion = '' ORDER BY created, id",
        {"run": run_id},
    )
    validator = RowValidator(f"Run {run_id}, a draft")
    columns, found = ("id", "item_id", "criterion", "author", "text", "created"), []
    for row in rows:
        with suppress(DamagedError):
            found.append(annotation_of(validator, AnnotationKind.DRAFT, dict(zip(columns, row, strict=True))))
    return found


ImportedAnnotators = Mapping[tuple[str, str], str]
"""By the id of another store and a name there, how that annotator is called here."""
WordsMark = Hashable
_ID_BYTES = 8


def read_id(db: sqlite3.Connection) -> str | None:
    """By what other stores know this one, where it was drawn."""
    row = db.execute("SELECT id FROM own_store").fetchone()
    return None if row is None else RowValidator("The run store").text("id", row[0])


def drawn_id(db: sqlite3.Connection, keep: bool = True) -> str:
    if (known := read_id(db)) is not None:
        return known
    drawn = secrets.token_hex(_ID_BYTES)
    if keep:
        db.execute("INSERT INTO own_store VALUES (?)", (drawn,))
    return drawn


def imported_annotators(db: sqlite3.Connection) -> ImportedAnnotators:
    validator = RowValidator("An annotator of another run store")
    return {
        (validator.text("store", store), validator.text("name", name)): validator.text("called", called)
        for store, name, called in db.execute("SELECT store, name, called FROM met_person")
    }


def all_annotations(db: sqlite3.Connection, run_id: int) -> list[Annotation]:
    """All annotations of a run, and those noted of its items, but for damaged ones."""
    notes = chain.from_iterable(note_rows(db, content_hashes(db, run_id).values()).values())
    return [*rows_of_run(db, run_id), *(note for note in notes if note.created != records.NEVER)]


def add_imported(
    db: sqlite3.Connection, run: StoredRun, words: Iterable[Annotation], met: ImportedAnnotators
) -> None:
    called = [(store, name, records.checked_author(here)) for (store, name), here in met.items()]
    db.executemany("INSERT OR REPLACE INTO met_person VALUES (?, ?, ?)", called)
    here = {word.identity: word for word in all_annotations(db, run.id)}
    hashes = content_hashes(db, run.id)
    contents = frozenset(hashes.values())
    for word in sorted(words, key=lambda word: word.created):
        if word.place not in (contents if word.kind is AnnotationKind.NOTE else hashes):
            raise StoreError(
                f"Run {run.id} has not judged an item of these annotations.", "Read the file again."
            )
        known = here.get(word.identity)
        if known is None:
            if "criterion" in CONTENT[word.kind]:
                check_criterion(run.id, word.criterion, run.identity.criteria)
            insert_word(db, run.id, word)
            here[word.identity] = word
        elif word.turned_after(known):
            place = _place_of(run.id, records.checked(word))
            turns = [_plain(getattr(word, name)) for name in _TURNS]
            where = " AND ".join(f"{name} IS ?" for name in place)
            statement = f"UPDATE {word.kind} SET undone = ?, redone = ? WHERE {where}"
            db.execute(statement, (*turns, *place.values()))


def words_mark(db: sqlite3.Connection, run_id: int) -> WordsMark:
    """As RunStore: of each table how many rows, the last, and which are taken back."""
    # Not when: a clock that was set back tells earlier times than the last one.
    marks = "count(*), max(id), group_concat(CASE WHEN undone IS NOT NULL THEN id END)"
    of_run = [db.execute(f"SELECT {marks} FROM {kind} WHERE run_id = ?", (run_id,)) for kind in OF_RUN]
    notes = db.execute(f"SELECT {marks} FROM {AnnotationKind.NOTE}")
    return tuple(rows.fetchone() for rows in (*of_run, notes))


def time_in_file(validator: RowValidator, field: str, value: object) -> datetime:
    """A time in UTC that the store reads again."""
    at = validator.time(field, value).astimezone(UTC)
    if at.year >= _LAST_YEAR:
        validator.refuse(field, value, "an earlier time")
    return at
