"""A model file tried before the application relies on it: in a child process, once for each content.

A damaged file can end the process that loads it, which no Python can catch; so a child goes first.

Knows: the trial, and what is remembered of it. Does not know: runs, datasets.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from engine.core.cancel import CancelToken
from engine.core.errors import EngineBug, ModelFileError, NoRoomError
from engine.core.remedies import Remedy
from engine.gguf.encoder_file import EncoderFile
from engine.gguf.judge_file import ModelFile
from engine.llama.library import library_version
from engine.loading.trial import GOOD, NO_ROOM, REFUSED
from engine.system.child_process import broke_down, run_child
from engine.system.paths import cache_folder, self_command, text_of_path

TRIAL_COMMAND = ("models", "--in-this-process", "check")
ENCODER_TRIAL_COMMAND = ("models", "--in-this-process", "--as-encoder", "check")
_CHUNK = 1 << 22


@dataclass(frozen=True)
class CheckedModel:
    """A model file that was tried and found good, as it was then.

    `hash`: SHA-256 of its bytes; of a split model, of all parts' bytes one after the other. `size_bytes`: of
    all parts. `modified_ns`: when the last of them changed. `more_files`: the parts after `path`, in order.
    """

    path: Path
    name: str
    hash: str
    size_bytes: int
    modified_ns: int
    more_files: tuple[Path, ...] = ()

    def check_unchanged(self) -> None:
        """ModelFileError where the file is no longer the one that was checked."""
        try:
            now = _state((self.path, *self.more_files))
        except OSError as error:
            raise ModelFileError(
                f"{self.path.name}: the file cannot be read any more: {error}.",
                "Put it back, or choose another model.",
            ) from error
        if now != (self.size_bytes, self.modified_ns):
            raise ModelFileError(
                f"{self.path.name}: the file has changed since it was checked.",
                "Wait until it is written completely, then try again.",
            )


def checked_model(described: ModelFile, cancel: CancelToken) -> CheckedModel:
    """A model file with its SHA-256, tried in a child process unless its content was found good before.

    Raises ModelFileError with what is wrong, Cancelled where `cancel` is set.
    """
    return _checked(described.files, described.name, TRIAL_COMMAND, cancel)


def checked_encoder(described: EncoderFile, cancel: CancelToken) -> CheckedModel:
    """The same for the file of an encoder."""
    return _checked((described.path,), described.name, ENCODER_TRIAL_COMMAND, cancel)


def _checked(files: Sequence[Path], name: str, trial: Sequence[str], cancel: CancelToken) -> CheckedModel:
    before, (path, *more_files) = _state(files), files
    with _memory() as memory:
        file_hash = memory.hash_of(files) or _hash(files, cancel)
        model = CheckedModel(path, name, file_hash, *before, tuple(more_files))
        model.check_unchanged()
        memory.remember_hash(files, file_hash)
        # One memory for both kinds: what a file is, its content says.
        if not memory.found_good(file_hash):
            _try_in_child(path, trial, cancel)
            memory.remember_good(file_hash)
    return model


def _state(files: Sequence[Path]) -> tuple[int, int]:
    """The size of all files together, and when the last of them was changed, in ns."""
    states = [path.stat() for path in files]
    return sum(state.st_size for state in states), max(state.st_mtime_ns for state in states)


def _try_in_child(path: Path, trial: Sequence[str], cancel: CancelToken) -> None:
    """Try the file where it can do no harm. Raises ModelFileError, NoRoomError, Cancelled, EngineBug."""
    # No limit in time: a large model on a slow disk may take minutes.
    code, printed = run_child([*self_command(), *trial, str(path)], cancel)
    cancel.raise_if_requested()
    _raise_what_was_found(path, code, printed)


def _raise_what_was_found(path: Path, code: int, printed: bytes) -> None:
    if code == GOOD:
        return
    report = _read_report(printed)
    if report and code == REFUSED:
        raise ModelFileError(*report)
    if report and code == NO_ROOM:
        raise NoRoomError(*report)
    if broke_down(code):
        raise ModelFileError(
            f"{path.name}: llama.cpp breaks down on this file (code {code}): it is damaged, or of a kind that"
            " this version cannot run, or there is too little memory for it.",
            "Download the file again, close other programs, or choose another model.",
        )
    if code < 0:
        raise NoRoomError(
            f"{path.name}: the trial of this model was ended from outside (signal {-code}), most likely for"
            " want of memory.",
            "Close other programs, or choose a smaller model.",
        )
    raise EngineBug(f"the trial of {path.name} ended for another reason than the file: exit code {code}")


def _read_report(printed: bytes) -> tuple[str, Remedy] | None:
    """The problem and remedy in the child's line of JSON; None where it ended without one."""
    try:
        report = json.loads(printed)
        return str(report["problem"]), Remedy.of_json(report["remedy"])
    except (ValueError, KeyError, TypeError):
        return None


def _hash(files: Sequence[Path], cancel: CancelToken) -> str:
    sha = hashlib.sha256()
    for path in files:
        try:
            with path.open("rb") as file:
                while chunk := file.read(_CHUNK):
                    sha.update(chunk)
                    cancel.raise_if_requested()
        except OSError as error:
            raise ModelFileError(
                f"{path.name}: the file cannot be read: {error}.", "Check the disk, or choose another model."
            ) from error
    return sha.hexdigest()


class _TrialMemory:
    """Hashes by path, size and time of change; which contents a build of llama.cpp ran well.

    It only saves time: where it cannot be read or written, everything is done again. What was found bad
    is not kept: the reason may have been the computer's, and trying again costs seconds.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        with suppress(sqlite3.Error):
            db.execute(
                "CREATE TABLE IF NOT EXISTS file"
                " (path TEXT PRIMARY KEY, size INTEGER, modified_ns INTEGER, hash TEXT)"
            )
            db.execute("CREATE TABLE IF NOT EXISTS good (hash TEXT, build TEXT, PRIMARY KEY (hash, build))")

    def hash_of(self, files: Sequence[Path]) -> str | None:
        return self._first(
            "SELECT hash FROM file WHERE path = ? AND size = ? AND modified_ns = ?", self._key(files)
        )

    def remember_hash(self, files: Sequence[Path], file_hash: str) -> None:
        self._write("INSERT OR REPLACE INTO file VALUES (?, ?, ?, ?)", (*self._key(files), file_hash))

    def found_good(self, file_hash: str) -> bool:
        statement = "SELECT hash FROM good WHERE hash = ? AND build = ?"
        return self._first(statement, (file_hash, library_version())) is not None

    def remember_good(self, file_hash: str) -> None:
        self._write("INSERT OR REPLACE INTO good VALUES (?, ?)", (file_hash, library_version()))

    @staticmethod
    def _key(files: Sequence[Path]) -> tuple[str, int, int]:
        return text_of_path(files[0].resolve()), *_state(files)

    def _first(self, statement: str, values: tuple[str | int, ...]) -> str | None:
        row: tuple[str] | None = None
        with suppress(sqlite3.Error):
            row = self._db.execute(statement, values).fetchone()
        return row[0] if row else None

    def _write(self, statement: str, values: tuple[str | int, ...]) -> None:
        with suppress(sqlite3.Error):
            self._db.execute(statement, values)


@contextmanager
def _memory() -> Iterator[_TrialMemory]:
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(folder / "models.sqlite", isolation_level=None)
    except (OSError, sqlite3.Error):
        db = sqlite3.connect(":memory:", isolation_level=None)
    try:
        yield _TrialMemory(db)
    finally:
        db.close()
