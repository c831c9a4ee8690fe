"""The run store: what models and annotators gave, kept in one SQLite file; nothing judged is ever lost. Raw
predictions are stored, decisions are derived. Notes, tags and measures belong to the texts of items: they
stay when a run is deleted. Does not know: models, prompts, decisions.
"""

import sqlite3
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from engine.annotations.records import Annotation, annotations_in, checked_author, now
from engine.core.errors import Hint, SetupError, Step, StoreError
from engine.core.formatting import capitalised
from engine.core.judgments import JudgedItem
from engine.settings.identity import AnyRun, DamagedRun, RunIdentity, StoredRun, checked_name, checked_note
from engine.settings.run_lists import Deleted, RunContents
from engine.settings.sampling import checked_seed
from engine.store import annotation_rows, judged_rows, run_table
from engine.store.opening import StoreFile, rewrite_whole, shrinks
from engine.store.row_validator import DamagedError, numbers_of_row
from engine.system.files import OwnLock
from engine.system.write_ahead_log import LogEntry, all_words, left_words, put_aside

_JUDGED = (
    *("judged_item", "reading", "answer", "panel_reading", "explanation", "rewritten_explanation"),
    *("unscored", "given"),
)
_SAID = ("override", "review_mark", "confirmation", "repeated_label", "draft")
_BYTES_OF_ROW = 14  # header, integers, pointer
_SHARE_OF_PAGE = 0.8  # that rows fill on average
# Bytes that are deleted in one transaction, which writes three times as many.
_AT_ONCE, _AT_ONCE_ON_FULL_DISK = 4 << 20, 48 << 10


def run_contents(db: sqlite3.Connection, run: AnyRun) -> RunContents:
    def count(of: str) -> int:
        return int(db.execute(f"SELECT count(*) FROM {of}", (run.id,)).fetchone()[0])

    overrides = count("override WHERE run_id = ? AND undone IS NULL")
    confirmed = count("(SELECT DISTINCT item_id, criterion, author FROM confirmation WHERE run_id = ?)")
    marked = count("(SELECT DISTINCT item_id, author FROM review_mark WHERE run_id = ?)")
    begun = count("draft WHERE run_id = ?")
    authors = " UNION ".join(f"SELECT author FROM {table} WHERE run_id = ?" for table in _SAID)
    annotators = tuple(str(author) for (author,) in db.execute(authors, (run.id,) * len(_SAID)))
    return RunContents(run, _size(db, run.id), overrides, confirmed, marked, begun, annotators)


def strike(db: sqlite3.Connection, run_ids: Sequence[int]) -> None:
    """Take runs out of the list, in the caller's transaction; their numbers stay taken."""
    for run_id in run_ids:
        db.execute("DELETE FROM run WHERE id = ?", (run_id,))
        db.execute("DELETE FROM measured WHERE key GLOB ?", (f"{run_table.key_with_run(run_id)}*",))
        db.execute("INSERT INTO deleted_run VALUES (?, ?)", (run_id, now().isoformat()))


def sweep(file: StoreFile, run_ids: Sequence[int]) -> None:
    """Delete what hangs on struck runs, also on those that an ended program was about to sweep."""
    left = {}
    with file.reading() as db:
        unswept = db.execute(
            "SELECT id FROM deleted_run AS struck"
            " WHERE EXISTS (SELECT 1 FROM judged_item WHERE run_id = struck.id)"
        )
        for run_id in (*run_ids, *(run_id for (run_id,) in unswept.fetchall())):
            share = _at_once(file) / max(1, _size(db, run_id))
            left[run_id] = max(1, int(run_table.judged_count(db, run_id) * share))
    # In parts: others get their turn between them, and a full disk has room for one.
    for run_id, items in left.items():
        more = True
        while more:
            with file.writing() as db:
                more = _delete_part(db, run_id, items)
            with suppress(sqlite3.Error), file.by_itself() as db:  # the log stays as small as one part
                db.execute("PRAGMA wal_checkpoint(PASSIVE)")


def _at_once(file: StoreFile) -> int:
    return _AT_ONCE_ON_FULL_DISK if file.is_tight else _AT_ONCE


def _delete_part(db: sqlite3.Connection, run_id: int, items: int) -> bool:
    """Delete what hangs on the first items of a run, in the caller's transaction; whether more is left."""
    rows = db.execute(
        "SELECT position FROM judged_item WHERE run_id = ? ORDER BY position LIMIT ?", (run_id, items)
    ).fetchall()
    if len(rows) < items:  # with the last part goes all that was said, and what another hand may have left
        for table in (*_SAID, *_JUDGED):
            db.execute(f"DELETE FROM {table} WHERE run_id = ?", (run_id,))
        return False
    for table in _JUDGED:
        db.execute(f"DELETE FROM {table} WHERE run_id = ? AND position <= ?", (run_id, *rows[-1]))
    return True


def shrink(file: StoreFile) -> None:
    """Give what is free back to the disk. sqlite3.Error where that cannot be now."""
    with file.by_itself() as db:
        if shrinks(db):
            (page,) = db.execute("PRAGMA page_size").fetchone()
            free, before = free_bytes(db), -1
            while free not in (0, before):
                # As a script: it has a row without columns for each page, and of those Python fetches one.
                db.executescript(f"PRAGMA incremental_vacuum({_at_once(file) // page})")
                db.execute("PRAGMA wal_checkpoint(PASSIVE)")
                free, before = free_bytes(db), free
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        elif not file.any_held():  # whoever judges must not wait until all is written once more
            rewrite_whole(db)


def free_bytes(db: sqlite3.Connection) -> int:
    (pages,) = db.execute("PRAGMA freelist_count").fetchone()
    (size,) = db.execute("PRAGMA page_size").fetchone()
    return int(pages * size)


def _size(db: sqlite3.Connection, run_id: int) -> int:
    total = 0
    for table in (*_JUDGED, *_SAID):
        columns = [(name, kind) for _, name, kind, *_rest in db.execute(f"PRAGMA table_info({table})")]
        texts = [f"coalesce(length(CAST({name} AS BLOB)), 0)" for name, kind in columns if kind == "TEXT"]
        numbers = [name for name, kind in columns if kind == "REAL"]
        each = _BYTES_OF_ROW + 8 * len(numbers)
        (size,) = db.execute(
            f"SELECT total({' + '.join([str(each), *texts])}) FROM {table} WHERE run_id = ?", (run_id,)
        ).fetchone()
        total += size
    return int(total / _SHARE_OF_PAGE)


_taking_left_words = OwnLock()
_SECONDS_FOR_WORDS = 1.0  # that they wait for other programs before they are left where they are, for later


Given = ParamSpec("Given")
Result = TypeVar("Result")


def _reading(
    rows: Callable[Concatenate[sqlite3.Connection, Given], Result],
) -> Callable[Concatenate["RunStore", Given], Result]:
    """The method that reads by a function of an open database, and has its docstring."""

    @wraps(rows)
    def read(store: "RunStore", /, *args: Given.args, **named: Given.kwargs) -> Result:
        with store._file.reading() as db:
            return rows(db, *args, **named)

    return read


def _changing(
    change: Callable[Concatenate[sqlite3.Connection, int, Given], Result],
) -> Callable[Concatenate["RunStore", int, Given], Result]:
    """The same for what changes a run, by its number: all of it or none. StoreError for no run."""

    @wraps(change)
    def changed(store: "RunStore", run_id: int, /, *args: Given.args, **named: Given.kwargs) -> Result:
        with store._file.writing(run_id) as db:
            return change(db, run_id, *args, **named)

    return changed


class RunStore:
    """An open store, of the thread that made it. One on read-only storage or on a full disk is read by way of
    a copy: each change is a StoreError then, but for `remember`, and for `delete` on a full disk.
    """

    def __init__(self, path: Path, or_none: bool = False) -> None:
        """StoreError where it cannot be opened or made. `or_none`: one that cannot be made is empty."""
        self.path = path
        self._file = StoreFile(path, or_none)
        if not self.read_only:
            # What dead processes have left unsaid is stored; where that is not possible now, it waits. One
            # thread at a time: who opens the store meanwhile is to see what the other one takes in.
            with _taking_left_words:
                for claim, kept in left_words(self._file.path):
                    try:
                        refused = self.take_words(kept.name, kept.words)
                        if kept.damaged or any(word.said is None for word in refused):
                            put_aside(claim)
                        else:
                            claim.remove()
                    except (StoreError, OSError):
                        claim.close()

    @property
    def refusal(self) -> StoreError | None:
        """What is said to whoever wants to change something; None where that can be done."""
        return self._file.refusal

    @property
    def read_only(self) -> bool:
        return self.refusal is not None

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> "RunStore":
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One state of the store for all that is read in the block, whoever changes it meanwhile."""
        with self._file.reading():
            yield

    @contextmanager
    def begin(self, identity: RunIdentity, fresh: bool = False) -> Iterator[StoredRun]:
        """Start a run, or resume the latest of the same key unless `fresh`, and hold it. RunBusyError."""
        with self._file.writing() as db:
            run_id = None if fresh else run_table.newest_of(db, identity.key)
            run_id = run_table.add_run(db, identity) if run_id is None else run_id
        with self.hold(run_id) as run:
            yield run

    @contextmanager
    def hold(self, run_id: int) -> Iterator[StoredRun]:
        """Keep others from a run. RunBusyError where it is being judged, StoreError for no run."""
        self.run(run_id)
        with self._file.holding([run_id]):
            yield self.run(run_id)

    add = _changing(judged_rows.add_items)
    add_rewritten = _changing(judged_rows.add_rewritten)
    take_back = _changing(annotation_rows.take_back)
    _set = _changing(run_table.set_value)
    efforts = _reading(judged_rows.item_efforts)
    positions = _reading(judged_rows.judged_positions)
    shared_items = _reading(judged_rows.shared_items)
    content_hashes = _reading(judged_rows.content_hashes)
    notes = _reading(annotation_rows.note_rows)
    tags = _reading(annotation_rows.tag_rows)
    annotations = _reading(annotation_rows.rows_of_run)
    drafts = _reading(annotation_rows.draft_rows)
    known_id = _reading(annotation_rows.read_id)
    imported_annotators = _reading(annotation_rows.imported_annotators)

    def describe(self, run_id: int, manifest: Mapping[str, Any]) -> None:
        self._set(run_id, "manifest", run_table.as_json(manifest))

    def calibrate(self, run_id: int, calibration: Mapping[str, Any] | None) -> None:
        """Store what a run's decisions are calibrated with from now on; None for nothing."""
        self._set(run_id, "calibration", None if calibration is None else run_table.as_json(calibration))

    def annotate(self, run_id: int | None, what: Annotation | tuple[Annotation, ...]) -> Annotation:
        """Store what is said of an item, in one step; the first of it as it is stored. No run: a note.
        StoreError where the run has not judged the item (on this criterion), SetupError.
        """
        words = annotations_in(what)
        with self._file.writing(*([] if run_id is None else [run_id])) as db:
            if run_id is not None and isinstance(what, Annotation):
                annotation_rows.check_criterion(run_id, what.criterion, self.run(run_id).identity.criteria)
            return annotation_rows.add_words(db, run_id, words)[0]

    def own_id(self) -> str:
        """By what other stores know this one: drawn when it is first asked for, and kept if it can be."""
        with self._file.reading() if self.read_only else self._file.writing() as db:
            return annotation_rows.drawn_id(db, keep=not self.read_only)

    def all_annotations(self, run_id: int) -> list[Annotation]:
        """All annotations of a run and noted of its items. StoreError for no run."""
        with self._file.reading() as db:
            self.run(run_id)
            return annotation_rows.all_annotations(db, run_id)

    def add_imported(
        self, run_id: int, words: Iterable[Annotation], met: annotation_rows.ImportedAnnotators
    ) -> None:
        """Add what was said elsewhere of items, and how who said it is called here: all or none. What is
        there already is undone or redone where that is later. StoreError for what the run has not judged.
        """
        with self._file.writing(run_id) as db:
            annotation_rows.add_imported(db, self.run(run_id), words, met)

    def words_mark(self, run_id: int) -> annotation_rows.WordsMark:
        with self._file.reading() as db:
            self.run(run_id)
            return annotation_rows.words_mark(db, run_id)

    def take_words(
        self, write_ahead_log: str, words: Sequence[LogEntry]
    ) -> list[annotation_rows.RefusedWord]:
        """Store what is new in a write-ahead log; what cannot be. StoreError where all of it must wait."""
        with self._file.reading() as db:
            if not words or words[-1].number <= annotation_rows.taken_of(db, write_ahead_log):
                return []
        with self._file.patience(_SECONDS_FOR_WORDS), self._file.writing() as db:
            return annotation_rows.take_words(db, write_ahead_log, words)

    def waiting_words(self) -> int:
        """How many annotations wait next to the store, for lack of a disk or a store to write to."""
        with self._file.reading() as db:
            return sum(
                word.number > annotation_rows.taken_of(db, kept.name)
                for kept in all_words(self._file.path)
                for word in kept.words
            )

    def runs(self) -> list[StoredRun]:
        found = []
        with self._file.reading() as db:
            for run_id in run_table.run_ids(db):
                with suppress(DamagedError):  # see `damaged_runs`
                    found.append(run_table.run_row(db, run_id))
        return [run for run in found if run is not None]

    def damaged_runs(self) -> list[DamagedRun]:
        with self._file.reading() as db:
            found = [run_table.damaged_run(db, run_id) for run_id in run_table.run_ids(db)]
        return [run for run in found if run is not None]

    def run(self, run_id: int) -> StoredRun:
        with self._file.reading() as db:
            run = run_table.run_row(db, run_id)
            if run is None:
                raise run_table.no_run(db, run_id, self.path)
        return run

    def name(self, run_id: int, name: str) -> None:
        """Give a run a name, empty for none. StoreError for no run, SetupError for what is no name."""
        self._set(run_id, "name", checked_name(name, f"run {run_id}"))

    def note_run(self, run_id: int, note: str) -> None:
        """Note something of a run, empty for nothing. StoreError for no run, SetupError where too long."""
        noted = checked_note(note, f"run {run_id}").encode("utf-8", "replace").decode()
        self._set(run_id, "note", noted)

    def draw_sample_by(self, run_id: int, seed: int) -> None:
        """Draw the random sample of a run by another seed from now on. StoreError, SetupError."""
        self._set(run_id, "review_seed", checked_seed(seed))

    def archive(self, numbers: Sequence[int], by: str) -> None:
        """Put runs away, all or none; one that is keeps its day. StoreError, SetupError for no name."""
        with self._file.writing(*numbers) as db:
            db.executemany(
                "UPDATE run SET archived = ?, archived_by = ? WHERE id = ? AND archived IS NULL",
                [(now().isoformat(), checked_author(by), run_id) for run_id in numbers],
            )

    def restore(self, numbers: Sequence[int]) -> None:
        """Let runs that were put away stand in the lists again. StoreError for no run."""
        taken_out = "UPDATE run SET archived = NULL, archived_by = NULL WHERE id = ?"
        with self._file.writing(*numbers) as db:
            db.executemany(taken_out, [(run_id,) for run_id in numbers])

    def contents(self, numbers: Iterable[int]) -> list[RunContents]:
        """What would go with runs that are deleted, and what that frees. StoreError for no run."""
        with self._file.reading() as db:
            runs = [run_table.damaged_run(db, run_id) or self.run(run_id) for run_id in numbers]
            return [run_contents(db, run) for run in runs]

    def delete(self, numbers: Sequence[int], with_decisions: bool = False) -> Deleted:
        """Delete runs with all that hangs on them but notes of items: all of them or none. RunBusyError,
        StoreError for no run, SetupError where annotators decided something in them unless `with_decisions`.
        """
        wanted = tuple(dict.fromkeys(numbers))
        with self._file.on_full_disk():
            before = self._file.size
            with self._file.holding(wanted):
                with self._file.writing(*wanted) as db:
                    decided = (
                        [] if with_decisions else [each for each in self.contents(wanted) if each.decided]
                    )
                    if decided:
                        what = capitalised(
                            "; ".join(f"{each.run.called}: {each.decisions}" for each in decided)
                        )
                        raise SetupError(f"Annotations would be lost. {what}.", Hint(Step.DELETE_DECISIONS))
                    strike(db, wanted)
                sweep(self._file, wanted)
            for run_id in wanted:
                with suppress(OSError):
                    self._file.lock_path(run_id).unlink(missing_ok=True)
            with suppress(sqlite3.Error):  # no room for a copy, or somebody reads: the file keeps its size
                shrink(self._file)
            with self._file.reading() as db:
                left = free_bytes(db)
        return Deleted(wanted, max(0, before - self._file.size), left)

    def find(self, key: str) -> StoredRun | None:
        with self._file.reading() as db:
            run_id = run_table.newest_of(db, key)
            return None if run_id is None else self.run(run_id)

    def judged(self, run_id: int) -> Generator[JudgedItem, None, None]:
        """The judged items of a run, in the order of its dataset, all of one state of the store."""
        with self._file.reading() as db:
            run = run_table.run_row(db, run_id)
            yield from judged_rows.item_rows(db, run_id, run.judges_of_labels if run else ())

    def recall(self, keys: Iterable[str]) -> dict[str, tuple[float, ...]]:
        """What was measured before under these keys; what is not known, or damaged, is omitted."""
        found = {}
        with self._file.reading() as db:
            for key in keys:
                row = db.execute("SELECT numbers FROM measured WHERE key = ?", (key,)).fetchone()
                with suppress(DamagedError):  # it can be measured again
                    if row:
                        found[key] = numbers_of_row(row[0])
        return found

    def remember(self, measured: Mapping[str, Sequence[float]]) -> None:
        """Keep numbers that took long to measure: all of them or none. A key says all they depend on."""
        if self.read_only:
            return
        rows = [(key, run_table.as_json(list(numbers))) for key, numbers in measured.items()]
        with self._file.writing() as db:
            db.executemany("INSERT OR REPLACE INTO measured VALUES (?, ?)", rows)
