"""Files that one process owns while it lives, and that another takes over once it is dead.

What a process that is forked from this one must not share with it.

A fork copies this process as it stands: its pipes to other processes are open in both, its locks may be held
by threads that the copy has not, and what it is to clear away at its end the copy would clear away as well.
multiprocessing forks by default on Linux before Python 3.14, so pools of notebooks are such copies.

Two windows on one folder each write a file of their own, so that neither can overwrite what the other has.
A lock of the system next to the file says that its owner lives: it is gone with the process, however it ends.
"""

import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from weakref import WeakSet

from filelock import FileLock, Timeout

_children: "WeakSet[subprocess.Popen[bytes]]" = WeakSet()
_forked: list[bool] = []


def when_forked(do: Callable[[], object]) -> None:
    """Have something done first of all in each process that is forked from this one."""
    if sys.platform != "win32":  # which has no fork
        os.register_at_fork(after_in_child=do)


def is_forked() -> bool:
    """Whether this process was forked from one that knew this module: then it may end without its exit
    handlers, as those of multiprocessing before Python 3.13.
    """
    return bool(_forked)


class OwnLock:
    """A lock of a module, to be held in a `with` block; in a process that is forked meanwhile it is free."""

    def __init__(self) -> None:
        self._make()
        when_forked(self._make)

    def _make(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_error: object) -> None:
        self._lock.release()


def keep_to_this_process(child: "subprocess.Popen[bytes]") -> None:
    """Close the pipes to a process that this one started in each process that is forked from this one.

    Else it would not see that this one has ended, as long as any of those lives.
    """
    _children.add(child)


def _leave_children() -> None:
    _forked.append(True)
    for child in _children:
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                pipe.close()
        # The thread that waited for it may hold its lock for ever, and only its parent can wait for it.
        child.returncode = 0
    _children.clear()


when_forked(_leave_children)


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
