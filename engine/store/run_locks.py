"""The locks of runs: a file beside the store for each run, held by whoever judges it.

Knows: file locks, how they are called. Does not know: SQLite, what is done with a run.
"""

from collections.abc import Iterable
from pathlib import Path

from filelock import FileLock, Timeout

from engine.system.places import Found, seen_at


def lock_path(store: Path, run_id: int) -> Path:
    """The file of a run's lock."""
    return store.with_name(f"{store.name}.run-{run_id}.lock")


def any_held(store: Path, run_ids: Iterable[int]) -> bool:
    """Whether one of these runs is being judged now."""
    for run_id in run_ids:
        path = lock_path(store, run_id)
        if seen_at(path) is not Found.NOTHING:
            lock = FileLock(path)
            try:
                lock.acquire(blocking=False)
            except (Timeout, OSError):
                return True
            lock.release()
    return False
