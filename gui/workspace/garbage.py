"""Python's garbage collector runs on the window's thread alone, and never while jobs make records: on a job's
thread it would end what is left of closed dialogs, and Qt breaks down or hangs. Records hold no cycles; those
of 100,000 items would stop all threads for a second, so they are kept out of its sight, and looked at once
after each large load and each run that is closed, when keys and mouse have been still. So is what lives on of
all else: a pass goes through what was made since the last one. Does not know: what is made.
"""

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtGui import QGuiApplication

_TICK_MS = 1000
_MANY = 200_000  # objects that the collector goes through in less than 50 ms (measured)
_FEW = 40_000  # objects, in 10 ms: as many are gone through at a time
_MOST_KEPT = 1_000_000  # objects that ticks put out of sight, until these are looked at
_EACH = 0.25e-6  # seconds for one of them
_STILL = 3.0  # seconds without a key or the mouse, after which a look at what was hidden may be taken;
_AS_LONG = 30  # and this many times as long as it takes: then hardly anybody comes back in its midst
_SHORT = 0.05  # seconds of a look that nobody notices
_Type = QEvent.Type
_TOUCHES = {
    *(_Type.KeyPress, _Type.InputMethod, _Type.Wheel),
    *(_Type.MouseButtonPress, _Type.MouseMove, _Type.TouchUpdate),
}


class _Switch:
    """Off as long as anybody has a reason; then as it was before."""

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


class _Hidden:
    """What is kept out of the collector's sight. `stale`: some of it may have been dropped meanwhile."""

    def __init__(self) -> None:
        self._seconds = 0.0  # that a look at it will take
        self._after_look = gc.get_freeze_count()  # how many objects
        self.stale = False

    def hide(self) -> None:
        self._seconds += _EACH * gc.get_count()[0]
        gc.freeze()
        self.stale = True

    def keep(self) -> None:
        """What lives on: very much of it may be dropped by now."""
        gc.freeze()
        if (many := gc.get_freeze_count()) > self._after_look + _MOST_KEPT:
            self._seconds, self.stale = _EACH * many, True

    def let_go(self) -> None:
        self.stale = self._seconds > 0

    @property
    def stillness(self) -> float:
        return max(_STILL, _AS_LONG * self._seconds)

    def look(self) -> None:
        self._seconds, self.stale = 0.0, False  # first: a job may hide something meanwhile
        gc.unfreeze()
        begun = time.monotonic()
        gc.collect()
        took = time.monotonic() - begun
        if took > _SHORT:
            gc.freeze()
            self._seconds += took
            self._after_look = gc.get_freeze_count()


_hidden = _Hidden()


def run_closed() -> None:
    """A run is no longer looked at: what was made for it is to be found, also where it is out of sight."""
    _hidden.let_go()


class Collector(QObject):
    """Runs the collector on the thread that made this, and lets it run nowhere else until `close`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._reason = object()
        self._made = 0
        self._touched: float | None = None  # when a key or the mouse was, while that counts
        self._timer = QTimer(self)
        self._timer.timeout.connect(self.tick)
        self._timer.start(_TICK_MS)
        _by_itself.turn_off(self._reason)

    def tick(self) -> None:
        if _under_way:
            return
        if _hidden.stale and self._nobody_was_at_work(_hidden.stillness):
            _hidden.look()
        young = gc.get_count()[0]
        self._made += young
        if self._made < _FEW:
            gc.collect(1)
            return
        if young < _FEW:
            gc.collect()
        _hidden.keep()
        self._made = 0

    def _nobody_was_at_work(self, seconds: float) -> bool:
        if self._touched is None:
            self._touched = time.monotonic()
        # The windows of the system, to which keys and mouse come first: were it the application, each event
        # of each widget would take a detour through Python. Some may be new since the last look.
        for window in QGuiApplication.allWindows():
            window.installEventFilter(self)
        still = time.monotonic() - self._touched >= seconds
        if still:
            self._touched = None
            self._watch_no_more()
        return still

    def _watch_no_more(self) -> None:
        for window in QGuiApplication.allWindows():
            window.removeEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _TOUCHES:
            self._touched = time.monotonic()
        return super().eventFilter(watched, event)

    def close(self) -> None:
        self._timer.stop()
        self._watch_no_more()
        _by_itself.let_on(self._reason)


@contextmanager
def many_records() -> Iterator[None]:
    """No collection until the last job inside has ended; very many records are then kept out of sight."""
    mark = object()
    _by_itself.turn_off(mark)
    _under_way.add(mark)
    try:
        yield
    finally:
        if gc.get_count()[0] > _MANY:
            # Else each later look takes a second for 100,000 items.
            _hidden.hide()
        _under_way.discard(mark)
        _by_itself.let_on(mark)
