"""A private copy of a run store that lies where nothing can be written: made to be read, then thrown away.

Reading in place is no way out: SQLite makes files beside a store in WAL mode to read it; told that nothing
changes, it would leave out what still lies in the -wal file; and an older store must be upgraded first.

Knows: the files of an SQLite database, the system's folder for temporary files.
Does not know: what is in them.
"""

import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from engine.core.errors import StoreError
from engine.core.formatting import amount
from engine.core.remedies import Remedy, Step

_BESIDE = ("", "-wal", "-journal")  # what a store consists of, by the ends of the names
_TRIES = 5
_SECONDS_BETWEEN = 0.3
_SPARE = 64 << 20  # bytes that are left free for others

_State = dict[str, tuple[int, int]]  # size and time of the last change, by the ends of the names


class PrivateCopy:
    """A copy of the store at `path` in a folder that nobody else may read; `close` deletes it.

    None for a store that is nowhere: there will be an empty one. StoreError where there is no room for the
    copy, or where the store is written all the time; OSError.
    """

    def __init__(self, path: Path | None) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="tiebreak-store-", ignore_cleanup_errors=True)
        self.path = Path(self._folder.name) / "runs.sqlite"
        try:
            if path is not None:
                self._copy(path.resolve())  # SQLite's other files are beside the file that a link leads to
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Delete the copy. May be called twice."""
        self._folder.cleanup()

    def _copy(self, path: Path) -> None:
        """Copy all files of a store as they were at one moment."""
        for _ in range(_TRIES):
            before = _state(path)
            self._check_room(path, sum(size for size, _changed in before.values()))
            with suppress(FileNotFoundError):  # taken away meanwhile: no state like before
                for end in before:
                    shutil.copyfile(_beside(path, end), _beside(self.path, end))
            if _state(path) == before:
                return
            for end in _BESIDE:
                _beside(self.path, end).unlink(missing_ok=True)
            time.sleep(_SECONDS_BETWEEN)
        raise StoreError(
            f"The run store {path} is being written by another program, and can only be read here.",
            "Try again when that program has ended.",
        )

    def _check_room(self, path: Path, size: int) -> None:
        # Twice: what a -wal file holds is written into the copy once more.
        if shutil.disk_usage(self._folder.name).free < 2 * size + _SPARE:
            raise StoreError(
                f"The run store {path} lies where nothing can be written, so a copy of it must be read, and"
                f" {self.path.parent.parent} has no room for that: {amount(2 * size)} are needed.",
                Remedy("Make room there. ", Step.COPY_STORE),
            )


def _beside(path: Path, end: str) -> Path:
    return path.with_name(path.name + end)


def _state(path: Path) -> _State:
    found: _State = {}
    for end in _BESIDE:
        file = _beside(path, end)
        if not end or file.exists():
            state = file.stat()
            found[end] = (state.st_size, state.st_mtime_ns)
    return found
