"""What people said: on the disk before it counts as said, in the store once, whatever ends the program."""

import json
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engine.annotations import records
from engine.core.items import Preference
from engine.core.judgments import Origin, ReviewState
from engine.store.annotation_rows import RefusedWord, said_of
from engine.store.run_store import RunStore
from engine.system.write_ahead_log import LogContents, WriteAheadLog, all_words
from tests.commands import ROOT
from tests.full_disk import disk_that_holds
from tests.judged import SURE_A, A, B, dataset, stored_run
from tests.read_only import read_only
from tests.steps import refused

AT = datetime(2026, 11, 23, 12, 0, 0, 5000, UTC)
THEN = AT + timedelta(seconds=1)
LABEL = records.new_override("1", "safety", B, None, "Ada")
WORDS = (
    records.Said(records.new_override("1", "safety", B, "It is safe.", "Ada"), AT, 1, AT, ("x:1",)),
    records.Said(records.Undo("1", "c" * 64, "Ada", AT, again=True), AT, 1),
    records.Said(
        records.new_review("1", "Ada", ReviewState.DONE, {"safety": A}, Origin.RANDOM, seed=7), AT, 1
    ),
    records.Said(records.new_note("c" * 64, "ä note\n", ("odd", "rare"), "Ada"), AT),
    records.Said(records.new_draft("1", "safety", "Ada", None), AT, 1, None, ("x:1", "x:2")),
    records.Said(records.RunWords("mine", "good"), AT, 1),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store whose run 1 says A of two items on safety."""
    stored_run(tmp_path, dataset({"safety": [A, A]}), {"safety": [SURE_A] * 2})
    return tmp_path / "runs.sqlite"


@pytest.fixture
def write_ahead_log(path: Path) -> Iterator[WriteAheadLog]:
    """That of this process."""
    made = WriteAheadLog(path)
    yield made
    made.close()


def word(
    what: object, run_id: int | None = 1, over: tuple[str, ...] = (), at: datetime = AT
) -> dict[str, object]:
    """As plain values, said now."""
    return records.Said(what, at, run_id, None, over).as_values()  # type: ignore[arg-type]


def label(item: str, given: Preference | None, text: str | None = None) -> dict[str, object]:
    """A word of Ada's on an item's safety."""
    return word(records.new_override(item, "safety", given, text, "Ada"), at=THEN)


def labels(path: Path) -> list[str]:
    with RunStore(path) as store:
        said = store.annotations(1, records.AnnotationKind.OVERRIDE)
    return [str(each.preference or each.explanation) for each in said]


def take(path: Path, *logs: WriteAheadLog) -> list[RefusedWord]:
    """Store what waits in write-ahead logs; what is refused of it."""
    with RunStore(path) as store:
        return [each for log in logs for each in store.take_words(log.name, log.waiting)]


def drafts(path: Path, run_id: int = 1) -> list[records.Annotation]:
    with RunStore(path) as store:
        return store.drafts(run_id)


def files(path: Path) -> list[str]:
    return sorted(each.name for each in path.parent.iterdir() if ".said-" in each.name)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Another program writes in the store."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        yield
        db.execute("ROLLBACK")


@pytest.mark.parametrize("said", WORDS)
def test_a_word_comes_back_as_it_was_said(said: records.Said) -> None:
    assert said_of(json.loads(json.dumps(said.as_values()))) == said


@pytest.mark.parametrize(
    "values",
    [
        *({}, {"kind": "odd"}, word(LABEL) | {"at": 7}, word(LABEL) | {"run": 0}, word(LABEL) | {"what": {}}),
        *(
            said | {"what": said["what"] | {"blind": "?"}}
            for said in map(records.Said.as_values, WORDS[:3:2])
        ),
    ],
)
def test_what_is_no_word_is_refused(values: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"not an annotation|not a run"):
        said_of(values)


@pytest.mark.parametrize(
    "what",
    [
        records.new_override("1", "safety", None, "nan", "Ada"),
        records.new_override("1", "safety", None, "  ", "Ada"),
        records.new_override("1", "safety", B, None, " "),
        records.new_note("c", "", ("two\nlines",), "Ada"),
        records.new_review("1", "", ReviewState.DONE),
        records.RunWords("n" * 1000, ""),
    ],
)
def test_what_the_store_would_refuse_is_refused_before_it_is_said(what: object) -> None:
    refused(lambda: records.refuse_unfit(what))  # type: ignore[arg-type]


def test_words_are_stored_once_in_their_order(path: Path, write_ahead_log: WriteAheadLog) -> None:
    assert write_ahead_log.say(word(LABEL)) == f"{write_ahead_log.name}:1"
    write_ahead_log.say(label("1", A))
    assert [take(path, write_ahead_log) for _ in range(2)] == [[], []]
    with RunStore(path) as store:
        first, second = store.annotations(1, records.AnnotationKind.OVERRIDE)
    assert (first.preference, second.preference, first.created) == (B, A, AT)


def test_what_is_stored_is_kept_no_longer(path: Path, write_ahead_log: WriteAheadLog) -> None:
    write_ahead_log.say(word(LABEL))
    with RunStore(path) as store:  # which leaves the words of a window that lives alone
        assert (store.annotations(1), store.waiting_words()) == ([], 1)
    take(path, write_ahead_log)
    write_ahead_log.stored(1)
    write_ahead_log.say(label("1", A))
    assert [each.number for kept in all_words(path) for each in kept.words] == [2]
    write_ahead_log.close()
    assert labels(path) == ["B", "A"]
    assert files(path) == []


def test_what_is_closed_gives_no_words_of_no_name(path: Path) -> None:
    write_ahead_log = WriteAheadLog(path)
    write_ahead_log.say(word(LABEL))
    pending = write_ahead_log.pending
    assert (pending.name, len(pending.words)) == (write_ahead_log.name, 1)
    write_ahead_log.close()
    assert write_ahead_log.pending == LogContents("")
    with RunStore(path) as store:  # which takes them in; a job that was at it comes second
        assert store.take_words(pending.name, pending.words) == []
    assert labels(path) == ["B"]


def test_words_for_a_store_that_another_program_holds_wait(path: Path) -> None:
    write_ahead_log = WriteAheadLog(path)
    with locked(path):
        write_ahead_log.say(word(LABEL))
        write_ahead_log.close()
    assert files(path) != []
    assert labels(path) == ["B"]
    assert files(path) == []


_SAY = """
import os, signal, sys
from pathlib import Path
from engine.system.write_ahead_log import WriteAheadLog
log = WriteAheadLog(Path(sys.argv[1]))
log.say({values})
print(log.name, flush=True)
{then}
os.kill(os.getpid(), signal.SIGKILL)
"""
_STORE = """
from engine.store.run_store import RunStore
with RunStore(Path(sys.argv[1])) as store:
    store.take_words(log.name, log.waiting)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGKILL")
@pytest.mark.parametrize("then", ["", _STORE], ids=["after it was said", "after it was stored"])
def test_a_kill_loses_no_word_and_doubles_none(path: Path, then: str) -> None:
    code = _SAY.format(values=repr(json.loads(json.dumps(word(LABEL)))), then=then)
    killed = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    for _ in range(2):
        assert labels(path) == ["B"]
    assert files(path) == []


@pytest.mark.parametrize(
    ("more", "damaged"),
    [(b'{"n": 2, "kind": "over', False), (b"\xff?\n" + b'{"n": 3, "kind": "odd"}\n', True)],
    ids=["not finished", "damaged"],
)
def test_a_line_that_is_none_takes_no_other_word_with_it(path: Path, more: bytes, damaged: bool) -> None:
    write_ahead_log = WriteAheadLog(path)
    write_ahead_log.say(word(LABEL))
    file = path.with_name(write_ahead_log.name)
    write_ahead_log.close()
    with file.open("ab") as opened:
        opened.write(more)
    assert labels(path) == ["B"]
    assert files(path) == ([f"{file.name}.damaged"] if damaged else [])  # what nobody finished was not said


def test_words_of_a_newer_version_are_left_alone(path: Path) -> None:
    newer = path.with_name(f"{path.name}.said-0123abcd.jsonl")
    newer.write_bytes(b'{"tiebreak_words": 2}\n{"n": 1}\n')
    assert labels(path) == []
    assert newer.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="has no limit for the size of files")
def test_what_is_said_after_a_crash_comes_after_the_words_left_by_a_clock_that_was_ahead(
    path: Path, write_ahead_log: WriteAheadLog
) -> None:
    write_ahead_log.say(word(LABEL, at=datetime.now(UTC) + timedelta(hours=1)))
    write_ahead_log.close()
    with RunStore(path) as store:
        store.annotate(1, records.new_override("1", "safety", A, None, "Ada"))
    assert labels(path) == ["B", "A"]


def test_a_full_disk_is_said_and_takes_nothing_back(path: Path, write_ahead_log: WriteAheadLog) -> None:
    write_ahead_log.say(word(LABEL))
    size = path.with_name(write_ahead_log.name).stat().st_size
    with disk_that_holds(size + 20):
        error = refused(lambda: write_ahead_log.say(label("2", B)), "is full")
    assert str(path.parent) in error.problem
    assert path.with_name(write_ahead_log.name).stat().st_size == size
    write_ahead_log.say(label("2", A))
    write_ahead_log.close()
    assert labels(path) == ["B", "A"]


_FULL_TMPFS = """
import sys
from pathlib import Path
from engine.core.errors import SetupError
from engine.system.write_ahead_log import WriteAheadLog
folder = Path(sys.argv[1])
log = WriteAheadLog(folder / "runs.sqlite")
said = 0
try:
    while True:
        log.say({"kind": "draft", "text": "x" * 3000})
        said += 1
except SetupError as error:
    print(error.problem)
(folder / "ballast").unlink()
log.say({"kind": "draft", "text": "after there was room"})
kept = (folder / log.name).read_bytes().splitlines()
assert len(kept) == said + 2 > 2, (len(kept), said)
"""


def test_a_disk_that_fills_loses_nothing_that_was_said(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    unshare = ["unshare", "-Urm", "sh", "-c"]
    mount = f"mount -t tmpfs -o size=64k none {small} && head -c 32k /dev/zero > {small}/ballast"
    try:
        subprocess.run([*unshare, mount], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("here no small disk can be made")
    inside = [*unshare, f'{mount} && exec "$@"', "sh", sys.executable, "-c", _FULL_TMPFS, str(small)]
    done = subprocess.run(inside, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"The disk with the folder {small} is full" in done.stdout


def test_a_file_that_somebody_deletes_is_begun_anew(path: Path, write_ahead_log: WriteAheadLog) -> None:
    write_ahead_log.say(word(LABEL))
    if sys.platform == "win32":
        pytest.skip("an open file cannot be deleted")
    path.with_name(write_ahead_log.name).unlink()
    write_ahead_log.say(label("2", A))
    write_ahead_log.close()
    assert labels(path) == ["B", "A"]


def test_a_store_that_cannot_be_written_takes_no_words(path: Path) -> None:
    with read_only(path):
        refused(lambda: WriteAheadLog(path).say(word(LABEL)), "read-only")
    assert files(path) == []


# What the store refuses


def test_a_refused_explanation_is_a_draft_and_the_others_are_stored(
    path: Path, write_ahead_log: WriteAheadLog
) -> None:
    write_ahead_log.say(label("1", None, "nan"))
    write_ahead_log.say(word(LABEL))
    (refused,) = take(path, write_ahead_log)
    assert "nan" in refused.error.problem
    assert [(draft.author, draft.text) for draft in drafts(path)] == [("Ada", "nan")]
    assert labels(path) == ["B"]


def test_a_word_of_another_run_of_that_number_is_refused(path: Path, write_ahead_log: WriteAheadLog) -> None:
    write_ahead_log.say(records.Said(LABEL, AT, 1, datetime(2020, 1, 1, tzinfo=UTC)).as_values())
    write_ahead_log.say(word(LABEL, run_id=7))
    assert [each.error.problem for each in take(path, write_ahead_log)] == [
        "Run 1 is no longer in the run store.",
        "Run 7 is no longer in the run store.",
    ]


# Drafts


def test_a_draft_ends_only_those_that_its_writer_saw(path: Path, write_ahead_log: WriteAheadLog) -> None:
    other = WriteAheadLog(path)
    first = write_ahead_log.say(word(records.new_draft("1", "safety", "Ada", "mine")))
    other.say(word(records.new_draft("1", "safety", "Ada", "mine in another window")))
    write_ahead_log.say(word(records.new_draft("1", "safety", "Ada", "mine, longer"), over=(first,)))
    take(path, write_ahead_log, other)
    assert {draft.text for draft in drafts(path)} == {"mine, longer", "mine in another window"}
    other.close()


def test_a_draft_of_a_note_is_of_the_item_as_the_note_is_in_whatever_run(
    path: Path, write_ahead_log: WriteAheadLog
) -> None:
    gold = dataset({"safety": [A, A, A]}, instructions=["new", "question 2", "question 1"])
    stored_run(path.parent, gold, {"safety": [SURE_A] * 3}, key="other")
    draft = write_ahead_log.say(word(records.new_draft("1", "", "Ada", '["half a thought"]')))
    write_ahead_log.say(word(records.new_draft("1", "safety", "Ada", "half a reason")))
    take(path, write_ahead_log)
    assert [each.key for each in drafts(path)] == [("1", ""), ("1", "safety")]
    assert [(each.key, each.id) for each in drafts(path, 2)] == [(("3", ""), draft)]
    write_ahead_log.say(word(records.new_draft("3", "", "Ada", None), 2, over=(draft,)))
    take(path, write_ahead_log)
    assert [each.criterion for each in drafts(path)] == ["safety"]


def test_a_run_in_which_something_is_begun_goes_only_where_that_may_go_too(
    path: Path, write_ahead_log: WriteAheadLog
) -> None:
    write_ahead_log.say(word(records.new_draft("1", "safety", "Ada", "half a reason")))
    write_ahead_log.say(word(records.new_draft("2", "", "Ben", '["half a thought"]')))
    take(path, write_ahead_log)
    with RunStore(path) as store:
        [held] = store.contents([1])
        assert held.decisions == "2 unsaved drafts, by Ada, Ben"
        refused(lambda: store.delete([1]), "2 unsaved drafts")
        store.delete([1], with_decisions=True)
        assert store.drafts(1) == []


def test_an_explanation_that_is_stored_ends_its_draft(path: Path, write_ahead_log: WriteAheadLog) -> None:
    draft = write_ahead_log.say(word(records.new_draft("1", "safety", "Ada", "It is")))
    write_ahead_log.say(word(records.new_override("1", "safety", None, "It is safe.", "Ada"), over=(draft,)))
    take(path, write_ahead_log)
    assert drafts(path) == []
