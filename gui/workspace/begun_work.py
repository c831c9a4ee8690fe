"""Work that the user has begun in this window, kept on the disk at once: runs that wait, runs not finished.

What has failed in a window, until the same succeeds: an error that is over is not shown any longer.

Each window has a file of its own, so that two cannot overwrite each other. What a window leaves, however it
ended, the next one takes over.
"""

import json
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import QObject, Signal, SignalInstance

from engine.core.codec import plain_values
from engine.core.errors import EngineError, SetupError
from engine.system.files import Claim, claimed, left_by_the_dead, make_folder, sync_folder, write_whole

if TYPE_CHECKING:
    from gui.workspace.state import State


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


_BEFORE, _AFTER = "begun-", ".json"
_LARGEST = 1 << 26  # bytes of a file; 500 long runs take one in sixty
_IN_STATE = {"queue": "entries", "unfinished": "runs"}
"""Where earlier versions kept these, in the memory of the window: the name, and that of the list in it."""


class BegunWork:
    """Lists of plain values by name; what is damaged counts as not begun. Read when it is first asked for."""

    def __init__(self, state: "State") -> None:
        self._state, self._folder = state, state.path.parent
        self._lists: dict[str, list[Any]] | None = None
        self._claim: Claim | None = None
        self._taken: list[Claim] = []  # of others, removed as soon as this window's own file has it all

    def entries(self, name: str) -> Sequence[Any]:
        """What is kept by a name; nothing where nothing is."""
        return tuple(self._kept.get(name, ()))

    def keep(self, name: str, entries: Sequence[Any]) -> None:
        """Keep these by a name from now on, on the disk when this returns.

        SetupError where that is not possible: then those of before are kept.
        """
        before = self._kept.get(name, [])
        self._kept[name] = list(entries)
        try:
            self._write()
        except SetupError:
            self._kept[name] = before
            raise

    def close(self) -> None:
        """Leave it to the next window."""
        for claim in (*self._taken, *([self._claim] if self._claim else [])):
            claim.close()
        self._taken, self._claim, self._lists = [], None, None

    @property
    def _kept(self) -> dict[str, list[Any]]:
        if self._lists is None:
            self._lists = {}
            self._take_over()
        return self._lists

    def _take_over(self) -> None:
        """Have what windows that are gone have left, and what an earlier version has."""
        old = {name: self._state.record(name).get(part) for name, part in _IN_STATE.items()}
        self._join({name: entries for name, entries in old.items() if isinstance(entries, list)})
        for claim in left_by_the_dead(self._folder, _BEFORE, _AFTER):
            self._join(_read(claim.path))
            self._taken.append(claim)
        if any(old.values()) or self._taken:
            with suppress(SetupError):  # told as soon as something is begun
                self._write()

    def _join(self, others: Mapping[str, list[Any]]) -> None:
        assert self._lists is not None
        for name, entries in others.items():
            own = self._lists.setdefault(name, [])
            own += [entry for entry in entries if entry not in own]

    def _write(self) -> None:
        kept = {name: entries for name, entries in (self._lists or {}).items() if entries}
        make_folder(self._folder)
        try:
            if self._claim is None:
                self._claim = claimed(self._folder, _BEFORE, _AFTER)
            if kept:
                write_whole(self._claim.path, json.dumps(kept).encode("utf-8"))
            else:
                self._claim.path.unlink(missing_ok=True)
            sync_folder(self._folder)
        except OSError as error:
            raise SetupError(
                f"The folder {self._folder} takes no file: {error.strerror or error}.",
                "Make sure that it exists and that you can write in it.",
            ) from error
        while self._taken:
            with suppress(OSError):
                self._taken.pop().remove()
        for name in _IN_STATE:
            self._state.forget(name)


def _read(path: Path) -> dict[str, list[Any]]:
    """The lists in a file; none where it is damaged."""
    with suppress(OSError, ValueError):
        if path.stat().st_size <= _LARGEST:
            values = plain_values(path.read_bytes())
            if isinstance(values, dict):
                return {name: entries for name, entries in values.items() if isinstance(entries, list)}
    return {}
