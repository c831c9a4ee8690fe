"""Data folders to work in: as a person left one, with a store of an earlier version, on a small disk."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from engine.store.migrations import APPLICATION_ID, STEPS

OLDEST = 3  # the first version with something of people in it
_INSIDE = "TIEBREAK_BENCH_MAY_MOUNT"
_BLOCK = 1 << 12
_NO_NAMESPACE = "a disk that fills needs Linux and `unshare -Urm`"


def write_old_store(now: Path, old: Path, version: int) -> None:
    """What a store holds as an earlier version of the program would have kept it."""
    with closing(sqlite3.connect(old)) as db, db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("ATTACH ? AS now", (str(now),))
        for statements in STEPS[:version]:
            db.executescript(statements)
        for (table,) in db.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'").fetchall():
            known = _columns(db, "now", table)
            columns = ", ".join(name for name in _columns(db, "main", table) if name in known)
            if columns:
                db.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM now.{table}")
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute(f"PRAGMA user_version = {version}")


def _columns(db: sqlite3.Connection, schema: str, table: str) -> Sequence[str]:
    return [row[1] for row in db.execute(f"PRAGMA {schema}.table_info({table})")]


def copy_of(home: Path, place: Path) -> Path:
    shutil.copytree(home, place, dirs_exist_ok=True)
    return place


@contextmanager
def held(store: Path) -> Iterator[None]:
    with closing(sqlite3.connect(store, timeout=30, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            db.execute("ROLLBACK")


# A small disk


def begin_again_where_one_may_mount(module: str) -> None:
    """Run this program once more, with the rights to mount; nothing where it has them or cannot have them."""
    if os.environ.get(_INSIDE) or why_no_small_disk():
        return
    os.environ[_INSIDE] = "yes"
    # The same arguments; -m keeps the folder of the project among the places of modules.
    os.execvp("unshare", ["unshare", "-Urm", sys.executable, "-m", module, *sys.argv[1:]])


def why_no_small_disk() -> str:
    """Why no small disk can be made here; empty where it can."""
    if os.environ.get(_INSIDE):
        return ""
    if not sys.platform.startswith("linux"):
        return _NO_NAMESPACE
    trial = ["unshare", "-Urm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    with suppress(OSError):
        return (
            "" if subprocess.run(trial, capture_output=True, check=False).returncode == 0 else _NO_NAMESPACE
        )
    return _NO_NAMESPACE


@contextmanager
def small_disk(place: Path, size: int) -> Iterator[Path]:
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(ballast: Path, left: int) -> None:
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while shutil.disk_usage(ballast.parent).free > left:
            file.write(bytes(_BLOCK))


def size_of(folder: Path) -> int:
    return sum(-(-file.stat().st_size // _BLOCK) * _BLOCK for file in folder.rglob("*") if file.is_file())
