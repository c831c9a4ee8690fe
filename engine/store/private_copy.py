"""A private copy of a run store where nothing can be written or no room is: to be read, then thrown away.

All who read a store in one process share a copy for as long as the store does not change.

Reading in place is no way out: SQLite makes files next to a store in WAL mode to read it; told that nothing
changes, it would omit what still lies in the -wal file; and an older store must be upgraded first.

Knows: the files of an SQLite database, the system's folders for temporary files.
Does not know: what is in them.
"""

import atexit
import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from weakref import finalize

from engine.core.errors import StoreError
from engine.core.formatting import amount
from engine.core.remedies import Hint, Step
from engine.system.files import free_room
from engine.system.forks import OwnLock, is_forked, when_forked
from engine.system.places import PathKind, look_at, seen_at

_BESIDE = ("", "-wal", "-journal")  # what a store consists of, by the ends of the names
_TRIES = 5
_SECONDS_BETWEEN = 0.3
_SPARE = 64 << 20  # bytes that are left free for others
_IN_MEMORY = "/dev/shm"  # Linux has it: where the disk is full, the default folder is mostly on the same one
_SETTLED_SECONDS = (
    3.0  # file systems tell the time of a change to two seconds; until then another may not show
)

_State = dict[str, tuple[int, int]]  # size and time of the last change, by the ends of the names


class PrivateCopy:
    """A copy of the store at `path` in a folder that nobody else may read; `delete` ends it.

    `state`: that of the store when it was copied. None for a store that is nowhere: there will be an empty
    one. `why` it is not read in place, as a clause of a sentence on the store. StoreError where there is no
    room for the copy, or where the store is written all the time; OSError.
    """

    def __init__(self, path: Path | None, why: str) -> None:
        folder = tempfile.mkdtemp(prefix="tiebreak-store-", dir=_place_for(path, why))
        self._deletion = finalize(self, _remove, folder, os.getpid())
        self.path = Path(folder) / "runs.sqlite"
        self.state: _State = {}
        self.users = 0
        try:
            if path is not None:
                self._copy(path)
        except BaseException:
            self.delete()
            raise

    def delete(self) -> None:
        """Delete the copy. May be called twice."""
        self._deletion()

    def _copy(self, path: Path) -> None:
        """Copy all files of a store as they were at one moment."""
        for _ in range(_TRIES):
            before = _state(path)
            with suppress(FileNotFoundError):  # taken away meanwhile: no state like before
                for end in before:
                    shutil.copyfile(_beside(path, end), _beside(self.path, end))
            if _state(path) == before:
                self.state = before
                return
            for end in _BESIDE:
                _beside(self.path, end).unlink(missing_ok=True)
            time.sleep(_SECONDS_BETWEEN)
        raise StoreError(
            f"The run store {path} is being written by another program, and can only be read here.",
            "Try again when that program has ended.",
        )


def _remove(folder: str, owner: int) -> None:
    # At the end of a process, too, which may be a copy of the owner.
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def _place_for(store: Path | None, why: str) -> str:
    """The folder for temporary files that has room for a copy of a store."""
    default = tempfile.gettempdir()
    if store is None:
        return default
    # Twice: what a -wal file holds is written into the copy once more.
    size = 2 * sum(size for size, _changed in _state(store).values())
    for place in (default, _IN_MEMORY):
        free = free_room(Path(place))
        if os.access(place, os.W_OK) and (free is None or free >= size + _SPARE):
            return place
    raise StoreError(
        f"The run store {store} {why}, so a copy of it must be read, and {default} has no space for that:"
        f" {amount(size)} are needed.",
        Hint("Free some space there. ", Step.COPY_STORE),
    )


_kept: dict[Path, PrivateCopy] = {}  # the newest of each store
_keeping = OwnLock()
when_forked(_kept.clear)


class LentCopy:
    """The copy of a store as it is now, at `path`, until `close`; the rest as for PrivateCopy."""

    def __init__(self, store: Path | None, why: str) -> None:
        self._store = store
        with _keeping:
            self._copy = _newest(self._store, why)
            self._copy.users += 1
        self.path = self._copy.path
        self._open = True

    def close(self) -> None:
        """Give it back. May be called twice."""
        with _keeping:
            if self._open:
                self._open = False
                self._copy.users -= 1
                _delete_unused(self._store, self._copy)


def _newest(store: Path | None, why: str) -> PrivateCopy:
    """The copy that is stored where the store is as it was, else a new one."""
    if store is None:
        return PrivateCopy(None, why)
    kept = _kept.get(store)
    # The system may have tidied up its folder for temporary files.
    if kept is not None and seen_at(kept.path) is PathKind.FILE and kept.state == _state(store):
        return kept
    if kept is not None:
        del _kept[store]  # first, so that its room is free for the new one
        _delete_unused(store, kept)
    began = time.time()
    copy = PrivateCopy(store, why)
    adjudicated = began - max(changed for _size, changed in copy.state.values()) / 1e9 > _SETTLED_SECONDS
    if adjudicated and not is_forked():
        _kept[store] = copy
    return copy


def _delete_unused(store: Path | None, copy: PrivateCopy) -> None:
    if copy.users == 0 and (store is None or _kept.get(store) is not copy):
        copy.delete()


@atexit.register
def delete_kept() -> None:
    """Delete all copies that are stored; those that are still read, when they are given back."""
    with _keeping:
        kept = dict(_kept)
        _kept.clear()
        for store, copy in kept.items():
            _delete_unused(store, copy)


def _beside(path: Path, end: str) -> Path:
    return path.with_name(path.name + end)


def _state(path: Path) -> _State:
    found: _State = {}
    for end in _BESIDE:
        file = _beside(path, end)
        if not end or look_at(file) is not PathKind.NOTHING:
            state = file.stat()
            found[end] = (state.st_size, state.st_mtime_ns)
    return found
