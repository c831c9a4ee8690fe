"""What a process that is forked from this one must not share with it.

A fork copies this process as it stands: its pipes to other processes are open in both, its locks may be held
by threads that the copy has not, and what it is to clear away at its end the copy would clear away as well.
multiprocessing forks by default on Linux before Python 3.14, so pools of notebooks are such copies.

Knows: forks, processes that this one started, locks. Does not know: what they are for.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from weakref import WeakSet

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
