"""Python's garbage collector runs on the thread of the window alone, never while jobs make records.

By itself it runs on whichever thread makes the next object. On a thread of a job it would end what is left
of closed dialogs there, and Qt then breaks down or waits for ever: parts of a window end on its own thread.
It also stops all threads, the longer the more records there are: a second for those of 100,000 items. Records
hold no cycles, so it has nothing to find among them.

Knows: the garbage collector, when it is due. Does not know: what is made.
"""

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QObject, QTimer, Slot

_TICK_MS = 1000
_MANY = 200_000  # objects that the collector goes through in less than 50 ms (measured)
_REST = 100  # times as long as it took to look at everything, until it does so again
_LEAST_REST = 30.0  # seconds
_LEAST_MADE = 10_000  # objects until everything is looked at again


class _Switch:
    """Off as long as anybody has a reason; then as it was before.

    Jobs turn it too, on their threads: adding a reason and taking one out are each done at once, and while
    there are such threads, a window has a reason of its own.
    """

    def __init__(self) -> None:
        self._reasons: set[object] = set()
        self._was_on = False

    def turn_off(self, reason: object) -> None:
        if not self._reasons:
            self._was_on = gc.isenabled()
        gc.disable()
        self._reasons.add(reason)

    def let_on(self, reason: object) -> None:
        self._reasons.discard(reason)
        if self._was_on and not self._reasons:
            gc.enable()


_by_itself = _Switch()
"""Whether the collector runs by itself."""

_under_way: set[object] = set()
"""A mark for each job that makes many records."""


class Collector(QObject):
    """Runs the collector on the thread that made this, and lets it run nowhere else until `close`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._reason = object()
        self._made = 0
        self._next_full = time.monotonic() + _LEAST_REST
        self._timer = QTimer(self)
        self._timer.timeout.connect(self.tick)
        self._timer.start(_TICK_MS)
        _by_itself.turn_off(self._reason)

    @Slot()
    def tick(self) -> None:
        """Look at what was made since the last time; at everything where that is due."""
        if _under_way:
            return
        self._made += gc.get_count()[0]
        begun = time.monotonic()
        if begun < self._next_full or self._made < _LEAST_MADE:
            # Young objects alone: that takes milliseconds, however many there are in all.
            gc.collect(1)
        else:
            gc.collect()
            ended = time.monotonic()
            self._made, self._next_full = 0, ended + max(_LEAST_REST, _REST * (ended - begun))

    def close(self) -> None:
        """Let the collector run by itself again: no other thread is left."""
        self._timer.stop()
        _by_itself.let_on(self._reason)


@contextmanager
def many_records() -> Iterator[None]:
    """Keep the collector from running until the last job inside has ended, and from ever looking at what was
    made where that is very much.

    Only then: what it never looks at is never cleared away either, where it has cycles.
    """
    mark = object()
    _by_itself.turn_off(mark)
    _under_way.add(mark)
    try:
        yield
    finally:
        if gc.get_count()[0] > _MANY:
            # Moves all that is there out of the collector's sight: else each later look takes a second for
            # 100,000 items.
            gc.freeze()
        _under_way.discard(mark)
        _by_itself.let_on(mark)
