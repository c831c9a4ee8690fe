"""The flags that stop long work, at once or where nothing is lost, shared between threads.

Knows: nothing but the flags. Whoever works asks them often; llama.cpp's abort callback asks, too.
"""

import threading


class Cancelled(Exception):
    """Raised where work stops because its CancelToken was set. Not an error: shown to nobody."""


class CancelToken:
    """A flag that any thread may set and any thread may ask; and one for work that may end what it began."""

    def __init__(self) -> None:
        self._flag = threading.Event()
        self._soon = threading.Event()

    def end_soon(self) -> None:
        """Ask for the work to end where it loses nothing: what knows no such place goes on. As safe."""
        self._soon.set()

    @property
    def ending(self) -> bool:
        """True once `end_soon` or `cancel` was called."""
        return self._soon.is_set() or self._flag.is_set()

    def cancel(self) -> None:
        """Ask for the work to stop. Safe from any thread and from a signal handler."""
        self._flag.set()

    @property
    def requested(self) -> bool:
        """True once `cancel` was called."""
        return self._flag.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait, on a thread with nothing else to do, until `cancel` was called; False after so long."""
        return self._flag.wait(seconds)

    def raise_if_requested(self) -> None:
        """Raise Cancelled once `cancel` was called."""
        if self._flag.is_set():
            raise Cancelled
