"""What has failed in a window, until the same succeeds: an error that is over is not shown any longer.

Knows: kinds of work, their ends. Does not know: what they do, where errors are shown.
"""

from collections.abc import Hashable
from functools import partial
from typing import Protocol

from PySide6.QtCore import QObject, Signal, SignalInstance

from engine.core.errors import EngineError


class ObservedTask(Protocol):
    """What ends well or with an error: a task, a reader."""

    finished: SignalInstance
    failed: SignalInstance


class Failures(QObject):
    """The last error of each kind of work that has not succeeded since."""

    told = Signal(object)  # an EngineError
    over = Signal(object)  # the same, once what failed has succeeded

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._last: dict[Hashable, EngineError] = {}

    def follow(self, work: ObservedTask, kind: Hashable = None) -> None:
        """Tell of an error of this work until it succeeds, or until another work of the same `kind` does."""
        kind = object() if kind is None else kind
        work.failed.connect(partial(self.fail, kind))
        work.finished.connect(partial(self.end, kind))

    def fail(self, kind: Hashable, error: EngineError) -> None:
        """Tell of an error in the place of the one before of this kind."""
        self.end(kind)
        self._last[kind] = error
        self.told.emit(error)

    def end(self, kind: Hashable, _result: object = None) -> None:
        """Work of this kind has succeeded."""
        error = self._last.pop(kind, None)
        if error is not None:
            self.over.emit(error)
