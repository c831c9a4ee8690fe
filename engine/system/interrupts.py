"""Ctrl-C and termination signals: they set a token, and work ends where it loses nothing."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from engine.core.events import CancelToken


@contextmanager
def interruptible(
    tell: Callable[[str], None],
    loss: Callable[[], str] = lambda: "",
    at_last: "signal.Handlers | Callable[[int, FrameType | None], Any]" = signal.SIG_DFL,
) -> Iterator[CancelToken]:
    """A token that Ctrl-C or a termination signal sets; a further Ctrl-C runs `at_last`, which ends the
    program at once. `loss`: what a stop would lose, and when it would lose nothing; where there is something,
    the first Ctrl-C lets the work end there, and the second one stops it. `tell`: reports what happens then.
    """
    cancel = CancelToken()

    def stop(number: int, _frame: FrameType | None) -> None:
        lost = "" if cancel.ending or number != signal.SIGINT else loss()
        if lost:
            cancel.end_soon()
            text = f"{lost} Press Ctrl-C again to stop now."
        else:
            cancel.cancel()
            if number == signal.SIGINT:  # else an earlier Ctrl-C may arrive after the termination signal
                signal.signal(signal.SIGINT, at_last)
            text = "Stopping ..."
        # The signal may have come in the middle of another message, which must not be entered twice.
        with suppress(OSError, RuntimeError):
            tell(f"\n{text}")

    numbers = [signal.SIGINT, signal.SIGTERM]
    if sys.platform == "win32":
        numbers.append(signal.SIGBREAK)
    with _signals_noticed():
        before = {number: signal.signal(number, stop) for number in numbers}
        try:
            yield cancel
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


@contextmanager
def _signals_noticed() -> Iterator[None]:
    """Start a thread that wakes when a signal comes, so that the main thread checks for signals."""
    # Python before 3.13 forgets a pending signal if the system delivers the next one to another thread.
    if sys.platform == "win32":  # there, a pending signal is never forgotten
        yield
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)

    def read_to_end() -> None:
        while os.read(reading, 4096):
            pass

    waking = threading.Thread(target=read_to_end, name="wakes at signals", daemon=True)
    waking.start()
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(writing)
        waking.join()
        os.close(reading)
