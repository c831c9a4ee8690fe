"""Ctrl-C in the terminal, and the system's requests to end: heard while Qt waits for events.

Knows: signals, how they reach Qt's loop. Does not know: windows, what is done at the end.
"""

import os
import signal
import sys
import time
from types import FrameType

from PySide6.QtCore import QObject, QSocketNotifier, QTimer, Signal

# SIGHUP: the terminal is closed. SIGBREAK: Ctrl-Break, or the console is closed, on Windows.
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
_LOOK_MS = 200
_ONE_REQUEST = 1.0  # seconds; a terminal that closes sends two signals at once


class EndSignals(QObject):
    """Emits `wanted` when the user or the system asks the program to end; the next such signal ends it.

    Python runs its handlers only between its own instructions, and Qt's loop has none while it waits. So each
    signal is written to a pipe, too, which Qt watches; on Windows Qt watches no pipes, and a timer looks.
    A handler may come in the middle of anything, of itself, too: it keeps the time, the loop does the rest.
    """

    wanted = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
        if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
            self._numbers.remove(signal.SIGHUP)  # nohup: the program is to outlive its terminal
        self._received: float | None = None  # when the first signal came that was not told of yet
        self._pipe: tuple[int, int] | None = None
        if sys.platform == "win32":
            self._timer = QTimer(self)
            self._timer.timeout.connect(self._look_for_one)
            self._timer.start(_LOOK_MS)
        else:
            self._pipe = os.pipe()
            for end in self._pipe:
                # Python writes to it in the middle of anything: it must never wait.
                os.set_blocking(end, False)
            self._notifier = QSocketNotifier(self._pipe[0], QSocketNotifier.Type.Read, self)
            self._notifier.activated.connect(self._look_for_one)
            signal.set_wakeup_fd(self._pipe[1], warn_on_full_buffer=False)
        self.hear()

    def hear(self) -> None:
        """Let the next signal be heard, also after one that was."""
        for number in self._numbers:
            signal.signal(number, self._keep)

    def let_end(self) -> None:
        """From now on a signal ends the program at once."""
        for number in self._numbers:
            signal.signal(number, signal.SIG_DFL)

    def close(self) -> None:
        """Hear nothing more."""
        self.let_end()
        if self._pipe is not None:
            # Before the pipe is closed: its number may be another file's at once.
            signal.set_wakeup_fd(-1)
            self._notifier.setEnabled(False)
            for end in self._pipe:
                os.close(end)
            self._pipe = None

    def _keep(self, number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._received is None:
            self._received = now
        elif now - self._received > _ONE_REQUEST:  # Qt's loop does not come to it
            self.let_end()
            signal.raise_signal(number)

    def _look_for_one(self) -> None:
        # The numbers of all that came: Python may not have called `_keep` for them yet.
        numbers = os.read(self._pipe[0], 4096) if self._pipe is not None else b""
        if self._received is not None or any(number in self._numbers for number in numbers):
            self.let_end()  # first: what comes with it counts with it
            self._received = None
            self.wanted.emit()
