"""Runs named, noted, put away and deleted: what stays, what goes, what is refused."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from engine.annotations.records import new_note, new_override, new_review
from engine.cli.shared.hints import OPTIONS
from engine.core.errors import RunBusyError
from engine.core.items import Preference
from engine.core.judgments import ReviewState
from engine.settings.identity import LONGEST_NAME, LONGEST_NOTE
from engine.store.migrations import STEPS
from engine.store.run_store import RunStore, strike
from tests.judged import IDENTITY, judged_item, write_old_store
from tests.steps import refused, there

TABLES_OF_RUNS = (
    *("judged_item", "reading", "explanation", "rewritten_explanation", "unscored", "given"),
    *("override", "review_mark", "confirmation"),
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    """A store with two runs of three items."""
    with RunStore(tmp_path / "runs.sqlite") as opened:
        for key in ("one", "two"):
            add_run(opened, key, 3)
        yield opened


def add_run(store: RunStore, key: str = "large", items: int = 2000) -> int:
    with store.begin(replace(IDENTITY, key=key, items=items)) as run:
        store.add(run.id, [judged_item(position) for position in range(items)])
    return run.id


def decide(store: RunStore, run_id: int) -> None:
    """Let people decide all that can be decided in a run."""
    store.annotate(run_id, new_override("id 0", "safety", Preference.A, None, "Ada"))
    store.annotate(run_id, new_review("id 1", "Ben", ReviewState.DONE, {"safety": Preference.B}))
    store.annotate(None, new_note("c" * 64, "odd", ["typo"], "Ada"))


def rows(store: RunStore, run_id: int) -> dict[str, int]:
    """How many rows each table has of a run, but for tables without any."""
    found = {}
    with closing(sqlite3.connect(store.path)) as db:
        for table in TABLES_OF_RUNS:
            counted = db.execute(f"SELECT count(*) FROM {table} WHERE run_id = ?", (run_id,))
            ((found[table],),) = counted
    return {table: count for table, count in found.items() if count}


def test_a_run_is_called_by_its_number_and_its_name_a_long_one_without_its_middle(store: RunStore) -> None:
    store.name(1, "  night,\n Q8 ")
    run = store.run(1)
    assert (run.name, run.title, run.called) == ("night, Q8", "Run 1 “night, Q8”", "run 1 “night, Q8”")
    for name in ("n" * (LONGEST_NAME + 1), "right\u202eleft", "bell\x07"):
        refused(partial(store.name, 1, name), "name of run 1")
    assert store.run(1).name == "night, Q8"
    store.name(1, " ")
    assert store.run(1).title == "Run 1"
    store.name(2, "n" * LONGEST_NAME)
    assert store.run(2).name == "n" * LONGEST_NAME
    assert len(store.run(2).title) < 80


def test_a_note_has_a_limit_and_the_number_of_a_deleted_run_is_never_given_again(store: RunStore) -> None:
    store.note_run(1, " first\nsecond \ud800")
    assert store.run(1).note == "first\nsecond ?"
    refused(lambda: store.note_run(1, "n" * (LONGEST_NOTE + 1)), "20,001 characters")
    store.delete([2])
    assert add_run(store, "two", 3) == 3
    refused(lambda: store.run(2), "Run 2 was deleted on 20")


def test_runs_are_put_away_by_somebody_all_or_none_and_taken_out_again(store: RunStore) -> None:
    refused(lambda: store.archive([1, 7], "Ada"), "has no run 7")
    assert store.run(1).archived is None
    store.archive([1, 2], "Ada")
    first = there(store.run(1).archived)
    store.archive([1], "Ben")
    assert (first.by, store.run(1).archived) == ("Ada", first)
    store.restore([1])
    assert [run.archived is None for run in store.runs()] == [True, False]


def test_words_find_a_run_by_all_that_is_known_of_it(store: RunStore) -> None:
    store.name(1, "Night")
    store.note_run(1, "with the larger cache")
    store.describe(1, {"llama_cpp": "b1234"})
    run = store.run(1)
    for text in ("night", "CACHE larger", "data.tsv explain", "a model", "safety", "b1234", ""):
        assert run.found_by(text), text
    assert not run.found_by("night zebra")


def test_a_deleted_run_is_gone_with_all_that_hangs_on_it_and_the_other_stays(store: RunStore) -> None:
    decide(store, 1)
    store.name(1, "a name that is secret")
    others = rows(store, 2)
    assert len(rows(store, 1)) > len(others)
    deleted = store.delete([1], with_decisions=True)
    assert deleted.ids == (1,)
    assert rows(store, 1) == {}
    assert (rows(store, 2), [run.id for run in store.runs()]) == (others, [2])
    assert list(store.judged(2)) == [judged_item(position) for position in range(3)]
    assert store.notes(["c" * 64])  # of the items' texts, whichever run judges them
    files = store.path.parent.glob(f"{store.path.name}*")
    assert not [path.name for path in files if b"a name that is secret" in path.read_bytes()]
    assert not store.path.with_name("runs.sqlite.run-1.lock").exists()


def test_what_people_decided_is_counted_and_deleted_only_where_that_is_said(store: RunStore) -> None:
    decide(store, 1)
    before = rows(store, 1), rows(store, 2)
    one, two = store.contents([1, 2])
    assert (one.overrides, one.confirmed, one.marked, one.authors) == (1, 1, 1, ("Ada", "Ben"))
    assert one.decisions == ("1 override, 1 accepted label and 1 item marked as done or skipped, by Ada, Ben")
    assert (two.decided, two.decisions) == (False, "")
    assert two.in_words.endswith("KiB; it has no annotations.")
    error = refused(lambda: store.delete([2, 1]), "Run 1: 1 override, 1 accepted label")
    assert "--with-decisions" in OPTIONS.of(error.hint)
    with RunStore(store.path) as other, other.hold(2), pytest.raises(RunBusyError):
        store.delete([1, 2])
    assert (rows(store, 1), rows(store, 2)) == before
    assert [run.id for run in store.runs()] == [1, 2]


def test_the_file_becomes_smaller_by_about_what_was_said(tmp_path: Path) -> None:
    with RunStore(tmp_path / "runs.sqlite") as store:
        add_run(store, "one", 3000)
        store.delete([add_run(store, "two", 3000)])  # what is not yet in the file is written there
        large = add_run(store, "two", 3000)
    with RunStore(tmp_path / "runs.sqlite") as store:
        (held,) = store.contents([large])
        deleted = store.delete([large])
    assert deleted.left == 0
    assert held.n_bytes / 2 < deleted.freed < held.n_bytes * 2


@pytest.mark.parametrize("version", [1, len(STEPS)])
def test_a_file_that_cannot_shrink_by_steps_keeps_its_size_while_a_run_is_judged(
    tmp_path: Path, version: int
) -> None:
    path = tmp_path / "old.sqlite"
    write_old_store(path, version)
    with RunStore(path) as store:  # which writes one of an earlier version whole, so that it can
        large = add_run(store)
        with RunStore(path) as other, other.hold(7):
            deleted = store.delete([large])
        if version == 1:
            assert deleted.left == 0
        else:
            assert deleted.left > 100_000
            assert "are reserved for later runs" in deleted.in_words
        assert store.delete([7]).left == 0  # nobody judges: it is written whole, and can shrink from then on


def test_what_is_left_of_runs_goes_while_another_is_judged_and_the_file_shrinks(store: RunStore) -> None:
    with store.begin(replace(IDENTITY, key="empty")) as run:
        pass
    with store._file.writing(run.id) as db:  # as another hand may leave it
        db.execute("INSERT INTO unscored VALUES (?, 0, 'safety', 'too long')", (run.id,))
    store.delete([run.id])
    assert rows(store, run.id) == {}
    large, ended = add_run(store), add_run(store, "ended")
    with store._file.writing(ended) as db:  # by a program that ended then
        strike(db, [ended])
    assert rows(store, ended)
    with RunStore(store.path) as other, other.hold(1):
        deleted = store.delete([large])
    assert rows(store, ended) == {}
    assert deleted.left == 0
    assert deleted.freed > 100_000
    assert len(list(store.judged(2))) == 3
