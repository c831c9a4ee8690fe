"""Files that one process owns while it lives, and that another takes over once it is dead.

Two windows on one folder each write a file of their own, so that neither can overwrite what the other has.
A lock of the system next to the file says that its owner lives: it is gone with the process, however it ends.

Knows: names of files, locks, folders. Does not know: what is in the files.
"""

import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from engine.system.forks import when_forked

_LOCK = ".lock"
_ours: set[Path] = set()  # where a lock counts by process, as on NFS, our own would seem to be free
when_forked(_ours.clear)  # filelock, too, leaves its locks to the process that took them


class Claim:
    """A file that this process owns until `close`, or until it ends; it need not exist."""

    def __init__(self, path: Path) -> None:
        """Raises Timeout where another owns it, OSError where no lock can be made there."""
        self.path = path
        # Not by thread: what the window's thread owns, the thread of a lane may let go of.
        self._lock = FileLock(_lock_of(path), thread_local=False)
        try:
            self._lock.acquire(blocking=False)
        except NotImplementedError as error:  # a file system without locks
            raise OSError(str(error)) from error
        _ours.add(path)

    def close(self) -> None:
        """Let another process take the file over; nothing is left where there is no file."""
        if self.path in _ours:
            _ours.discard(self.path)
            there = self.path.exists()
            self._lock.release()
            if not there:
                with suppress(OSError):  # no name is used twice, so nobody waits for it
                    _lock_of(self.path).unlink(missing_ok=True)

    def remove(self) -> None:
        """Delete the file, which nothing is lost with, and let go of it."""
        if self.path in _ours:
            self.path.unlink(missing_ok=True)
        self.close()


def claimed(folder: Path, before: str, after: str) -> Claim:
    """A new name `before`, eight letters or digits, `after` in a folder, owned by this process. OSError."""
    return Claim(folder / f"{before}{secrets.token_hex(4)}{after}")


def all_of(folder: Path, before: str, after: str) -> list[Path]:
    """The files of all processes, of those that are dead, too, in the order of their names."""
    found = []
    with suppress(OSError), os.scandir(folder) as entries:
        found = [entry.name for entry in entries if _is_of(entry.name, before, after)]
    return [folder / name for name in sorted(found)]


def left_by_the_dead(folder: Path, before: str, after: str) -> Iterator[Claim]:
    """The files whose owners are dead, each claimed as it comes: to be closed or removed."""
    for path in all_of(folder, before, after):
        if path in _ours:
            continue
        with suppress(Timeout, OSError):
            claim = Claim(path)
            if path.exists():  # another may just have taken it over
                yield claim
            else:
                claim.close()


def _is_of(name: str, before: str, after: str) -> bool:
    return name.startswith(before) and name.endswith(after) and len(name) == len(before) + 8 + len(after)


def _lock_of(path: Path) -> Path:
    return path.with_name(f"{path.name}{_LOCK}")
