"""The one flag that stops long work, shared between threads.

Knows: nothing but the flag. Whoever works asks it often; llama.cpp's abort callback asks it too.
"""

import threading


class Cancelled(Exception):
    """Raised where work stops because its CancelToken was set. Not an error: shown to nobody."""


class CancelToken:
    """A flag that any thread may set and any thread may ask."""

    def __init__(self) -> None:
        self._flag = threading.Event()

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
