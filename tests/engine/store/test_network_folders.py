"""A store in a folder that two computers use: none destroys what the other was told is stored."""

import sqlite3
import subprocess
import sys
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from engine.annotations.records import new_note
from engine.store import opening
from engine.store.run_store import RunStore
from engine.system import paths
from tests.judged import IDENTITY, judged_item
from tests.other_computer import ITEMS
from tests.steps import refused


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "shared" / "runs.sqlite"


@pytest.fixture
def mounts(path: Path) -> Path:
    """A table of mounts by which the store lies on a server."""
    table = path.parent.parent / "mountinfo"
    place = str(path.parent).replace(" ", r"\040")
    table.write_text(
        "22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n"
        f"97 22 0:48 / {place} rw,relatime shared:52 - nfs4 files.example.org:/lab rw,vers=4.2,hard\n",
        encoding="utf-8",
    )
    return table


def lie_on_network(patch: pytest.MonkeyPatch, table: Path) -> None:
    """Let this table of mounts count in this process; another system than Linux is asked what it says."""
    patch.setattr(paths, "_MOUNTS", table)
    asked = {"win32": "_of_windows", "darwin": "_of_macos"}.get(sys.platform)
    if asked is not None:
        said = "nfs4" if table.name == "mountinfo" else None
        patch.setattr(paths, asked, lambda _path: said)


@pytest.fixture
def on_network(mounts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process, too."""
    lie_on_network(monkeypatch, mounts)
    monkeypatch.setattr(opening, "_BUSY_SECONDS", 0.05)


def journal_of(path: Path) -> str:
    with closing(sqlite3.connect(path)) as db:
        return str(db.execute("PRAGMA journal_mode").fetchone()[0])


def items_by_two_computers(path: Path, *more: Path) -> list[str]:
    """Let two computers add the items of a run each; how many each was told are stored."""
    pipe = subprocess.PIPE
    with ExitStack() as ended:
        computers = []
        for key in ("one", "two"):
            command = [sys.executable, "-m", "tests.other_computer", str(path), key, *map(str, more)]
            computer = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
            computers.append(ended.enter_context(computer))
        if [answer_of(computer) for computer in computers] != ["begun", "begun"]:
            pytest.skip("SQLite of this Python cannot be told how to map memory")
        return [answer_of(computer, "go\n") for computer in computers]


def answer_of(computer: subprocess.Popen[str], word: str = "") -> str:
    assert computer.stdin
    assert computer.stdout
    computer.stdin.write(word)
    computer.stdin.flush()
    return computer.stdout.readline().strip()


def what_is_stored(path: Path) -> object:
    try:
        with closing(sqlite3.connect(path)) as db:
            sound = db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            counts = db.execute("SELECT count(*) FROM judged_item GROUP BY run_id").fetchall()
            return [count for (count,) in counts] if sound else "damaged"
    except sqlite3.DatabaseError as error:
        return str(error)


@pytest.mark.parametrize("known", [True, False])
def test_two_computers_lose_nothing_where_the_folder_is_known_for_what_it_is(
    path: Path, mounts: Path, known: bool
) -> None:
    """Else they destroy a store with a log, though both were told that all is stored."""
    assert items_by_two_computers(path, *([mounts] if known else [])) == [str(ITEMS)] * 2
    assert (what_is_stored(path) == [ITEMS, ITEMS]) is known


def test_a_store_that_was_moved_there_gets_a_journal_and_keeps_it(
    path: Path, mounts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with RunStore(path) as store, store.begin(IDENTITY) as run:
        store.add(run.id, [judged_item(0)])
    assert journal_of(path) == "wal"
    for table in (mounts, mounts, path):  # the last one: on the server itself it is on a disk
        lie_on_network(monkeypatch, table)
        with RunStore(path) as store:
            assert list(store.judged(run.id)) == [judged_item(0)]
        assert journal_of(path) == "delete"


@pytest.mark.usefixtures("on_network")
def test_one_that_another_program_uses_with_a_log_is_refused_there(path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("CREATE TABLE run (id)")
        error = refused(lambda: RunStore(path), r"network folder \(nfs4\) and is open elsewhere")
    assert "Close Tiebreak everywhere" in str(error.hint)


@pytest.mark.usefixtures("on_network")
def test_several_work_at_once_there(path: Path) -> None:
    with RunStore(path) as one, one.begin(IDENTITY) as run, RunStore(path) as two:
        one.add(run.id, [judged_item(0)])
        assert two.positions(run.id) == {0}
        two.annotate(None, new_note("c" * 64, "odd", [], "Ada"))
        assert [note.text for note in one.notes(["c" * 64])["c" * 64]] == ["odd"]
        assert one._file._db.execute("PRAGMA synchronous").fetchone() == (3,)  # EXTRA
