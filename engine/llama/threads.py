"""How many threads a session computes with, batch by batch, while other programs want the processor too.

The threads of llama.cpp wait for each other by spinning, several times in each layer. Where one of them is on
no core, all others burn their time: two threads that share a core are many times slower than one. So a
session that may choose takes no more threads than it is given cores. Results do not depend on it, in any bit.

Knows: the clock and processor time. Does not know: llama.cpp's calls, models, batches.
"""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from engine.system.computer import idle_seconds

_WINDOW = 0.5  # seconds of computing between two looks
_GIVEN = 0.75  # of the cores asked for; with less, some threads wait for a core
_FREE = 0.7  # of a core must be idle for one thread more; with less there is none to be had
_FIRST_PATIENCE = 2.0  # seconds without a thread more, after there were too many
_MOST_PATIENCE = 60.0


class ThreadCount:
    """The threads of the next batch, `count`: at most `most`, and no more than there are cores for.

    `idle`: gives the seconds that all cores of the computer together have been idle until now; `clock`: those
    of the clock.
    """

    def __init__(
        self, most: int, idle: Callable[[], float] = idle_seconds, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.most = self.count = most
        self._idle, self._clock = idle, clock
        self._computed = self._processor = 0.0
        self._looked = (clock(), idle())
        self._since_change = math.inf
        self._patience = _FIRST_PATIENCE

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Around a batch that is computed with `count` threads; afterwards `count` may be another."""
        began, processor = self._clock(), time.process_time()
        yield
        self.saw(self._clock() - began, time.process_time() - processor)

    def saw(self, computed: float, processor: float) -> None:
        """Take in a batch: seconds of the clock, and of this process on all cores."""
        self._computed += computed
        self._processor += processor
        self._since_change += computed
        if self.most > 1 and self._computed >= _WINDOW:
            self._look(self._processor / self._computed, self._idle_cores())
            self._computed = self._processor = 0.0

    def _look(self, given: float, idle: float) -> None:
        """`given`: the cores that this process had; `idle`: those that nobody had."""
        # Where cores are idle, threads wait for something else: for a GPU, or for weights from the disk.
        if self.count > 1 and given < _GIVEN * self.count and idle < _FREE:
            # Too many again soon after there were more: cores were free for a moment only.
            soon = self._since_change < 2 * self._patience
            self._patience = min(_MOST_PATIENCE, 2 * self._patience) if soon else _FIRST_PATIENCE
            # A core of which three quarters were had counts as a whole one.
            self._change(max(1, int(given + 1 - _GIVEN)))
        elif self.count < self.most and idle >= _FREE and self._since_change >= self._patience:
            self._change(min(self.most, self.count + int(idle + 1 - _FREE)))

    def _change(self, count: int) -> None:
        self.count = count
        self._since_change = 0.0

    def _idle_cores(self) -> float:
        before, idle = self._looked
        now = (self._clock(), self._idle())
        self._looked = now
        return (now[1] - idle) / max(now[0] - before, 1e-9)
