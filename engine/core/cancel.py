"""The flags that stop long work, at once or where nothing is lost, shared between threads.

Knows: nothing but the flags. Whoever works asks them often; llama.cpp's abort callback asks, too.
"""

import threading
from contextlib import suppress


class Cancelled(Exception):
    """Raised where work stops because its CancelToken was set. Not an error: shown to nobody."""


class CancelToken:
    """A flag that any thread may set and any thread may ask; and one for work that may end what it began.

    Setting them is safe in a signal handler, also where a second signal comes in its midst: an Event is not,
    for its `set` holds a lock, and would wait for itself. Here are plain attributes, and a lock that is held
    until `cancel` lets go of it, by one call into C that no handler can interrupt.
    """

    def __init__(self) -> None:
        self._requested = False
        self._soon = False
        self._shut = threading.Lock()
        self._shut.acquire()

    def end_soon(self) -> None:
        """Ask for the work to end where it loses nothing: what knows no such place continues. As safe."""
        self._soon = True

    @property
    def ending(self) -> bool:
        """True once `end_soon` or `cancel` was called."""
        return self._soon or self._requested

    def cancel(self) -> None:
        """Ask for the work to stop. Safe from any thread and from a signal handler."""
        self._requested = True
        self._open()

    @property
    def requested(self) -> bool:
        """True once `cancel` was called."""
        return self._requested

    def wait(self, seconds: float) -> bool:
        """Wait, on a thread with nothing else to do, until `cancel` was called; False after so long."""
        if not self._requested and self._shut.acquire(timeout=seconds):
            self._open()  # for the next one who waits
        return self._requested

    def raise_if_requested(self) -> None:
        """Raise Cancelled once `cancel` was called."""
        if self._requested:
            raise Cancelled

    def _open(self) -> None:
        with suppress(RuntimeError):  # it was open
            self._shut.release()
