"""A store on a disk without a free byte: it is read, the disk is named, and deleted runs make room.

`python -m tests.engine.store.test_full_disk FOLDER` takes the steps where a folder is a small disk,
and prints what was found in each as JSON.
"""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from engine.annotations.records import new_note
from engine.core.errors import StoreError
from engine.core.items import Preference
from engine.core.judgments import Explanation
from engine.results.run_results import load_results
from engine.store.run_store import RunStore
from tests.judged import IDENTITY, judged_item

ITEMS = 1500
MEGABYTES = 16
LOG_BYTES = 4_300_000  # a little more than SQLite lets its log grow to if nobody says anything


def make_store(path: Path) -> None:
    """Two runs."""
    with RunStore(path) as store:
        for key in ("one", "two"):
            with store.begin(replace(IDENTITY, key=key, items=ITEMS)) as run:
                store.add(run.id, [judged_item(position) for position in range(ITEMS)])


def fill(folder: Path) -> None:
    """Leave no byte free."""
    filler = os.open(folder / "filler", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for size in (1 << 20, 4096, 1):
        try:
            while True:
                os.write(filler, bytes(size))
        except OSError:
            pass
    os.close(filler)


def free(folder: Path) -> int:
    """Bytes."""
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def refused(change: Callable[[], object]) -> str:
    """What was said against a change; nothing where it was made."""
    try:
        change()
    except StoreError as error:
        return str(error)
    return ""


def closed(path: Path) -> dict[str, object]:
    """Nobody has the store open when the disk is full."""
    fill(path.parent)
    with RunStore(path) as store:
        found: dict[str, object] = {
            "free": free(path.parent),
            "judged": len(load_results(store, 1).judged),
            "refused": refused(lambda: store.annotate(None, new_note("c" * 64, "odd", [], "Ada"))),
        }
        found["freed"] = store.delete([1]).freed
    return found | after_deletion(path)


def opened(path: Path) -> dict[str, object]:
    """Somebody has it open."""
    with RunStore(path) as store:
        fill(path.parent)
        huge = "x" * (1 << 20)
        found: dict[str, object] = {
            "free": free(path.parent),
            "judged": len(load_results(store, 1).judged),
            "refused": refused(lambda: store.annotate(None, new_note("c" * 64, huge, [], "Ada"))),
        }
        found["freed"] = store.delete([1]).freed
    return found | after_deletion(path)


def without_reserve(path: Path) -> dict[str, object]:
    """A store for which no room was kept, such as one of an earlier version."""
    path.with_name(f"{path.name}.reserve").unlink()
    fill(path.parent)
    with RunStore(path) as store:
        found = {
            "judged": len(load_results(store, 1).judged),
            "refused": refused(lambda: store.delete([1])),
            "runs": [run.id for run in store.runs()],
        }
    (path.parent / "filler").unlink()
    with RunStore(path) as store:
        path.with_name(f"{path.name}.reserve").unlink(missing_ok=True)
        fill(path.parent)
        said = refused(lambda: store.annotate(None, new_note("c" * 64, "x" * (1 << 20), [], "Ada")))
        return found | {"refused while open": said}


def filled_by_judging(path: Path) -> dict[str, object]:
    """A run goes on until nothing more can be written, into a log that the file has no room to take in."""
    long = Explanation("x" * 4000, Preference.B)
    (path.parent / "filler").write_bytes(bytes(free(path.parent) - LOG_BYTES))
    with RunStore(path) as store, store.hold(2) as run:
        position, said = ITEMS, ""
        while not said:
            group = [judged_item(position + more) for more in range(8)]
            longer = [replace(each, explanations={"safety": long}) for each in group]
            position, said = position + len(group), refused(partial(store.add, run.id, longer))
    with RunStore(path) as store:
        found: dict[str, object] = {"refused": said, "judged": len(load_results(store, 1).judged)}
        found["freed"] = store.delete([1]).freed
    return found | {"free": 0} | after_deletion(path)


def after_deletion(path: Path) -> dict[str, object]:
    """What is there afterwards, and whether words are stored again."""
    with RunStore(path) as store:
        store.annotate(None, new_note("d" * 64, "even", [], "Ada"))
        other = load_results(store, 2)
        db = sqlite3.connect(path)
        rows = db.execute("SELECT count(*) FROM reading WHERE run_id = 1").fetchone()[0]
        sound = db.execute("PRAGMA integrity_check").fetchone()[0]
        db.close()
        runs = [run.id for run in store.runs()]
    free_now = free(path.parent)
    kept = len(other.judged[:ITEMS])
    return {"rows": rows, "sound": sound, "runs": runs, "other": kept, "free after": free_now}


def main(folder: Path) -> None:
    """Each step on an empty disk."""
    found = {}
    for step in (closed, opened, filled_by_judging, without_reserve):
        for file in folder.iterdir():
            file.unlink()
        make_store(folder / "runs.sqlite")
        found[step.__name__] = step(folder / "runs.sqlite")
    print(json.dumps(found))


_MOUNT = 'mount -t tmpfs -o size="$1m" tmpfs "$2" && shift 2 && exec "$@"'


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What was found in each step by a process in whose eyes a folder is a disk of its own."""
    folder = str(tmp_path_factory.mktemp("disk"))
    own = ["unshare", "-Urm", "sh", "-c", _MOUNT, "sh", str(MEGABYTES), folder]
    try:
        subprocess.run([*own, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no disk can be mounted here")
    command = [*own, sys.executable, "-m", "tests.engine.store.test_full_disk", folder]
    said = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    steps: dict[str, Any] = json.loads(said)
    return steps


@pytest.mark.slow
@pytest.mark.parametrize("step", ["closed", "opened", "filled_by_judging"])
def test_it_is_read_and_deleting_a_run_makes_room(found: dict[str, Any], step: str) -> None:
    seen = found[step]
    assert (seen["free"], seen["judged"]) == (0, ITEMS)
    assert "full" in seen["refused"]
    assert "permission" not in seen["refused"]
    assert "delete runs" in seen["refused"]
    assert (seen["runs"], seen["rows"], seen["other"], seen["sound"]) == ([2], 0, ITEMS, "ok")
    assert seen["freed"] > 200_000
    assert seen["free after"] > 200_000


@pytest.mark.slow
def test_where_no_room_was_kept_nothing_is_lost_and_the_disk_is_named(found: dict[str, Any]) -> None:
    seen = found["without_reserve"]
    assert (seen["judged"], seen["runs"]) == (ITEMS, [1, 2])
    assert "its disk is full" in seen["refused"]
    assert "Free some space there, then try again" in seen["refused"]
    assert "Free some space, then try again" in seen["refused while open"]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
