"""What is remembered of model files: hashes, contents that ran well, frames, speeds, trials of devices.

It only saves time: where it cannot be read or written, everything is done again. What was found bad is not
kept: the reason may have been the computer's, and trying again costs seconds.

Knows: the file of this memory in the cache folder. Does not know: how models are tried, templates rendered.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

from engine.llama.device_trial import DeviceTrial
from engine.llama.library import library_version
from engine.llama.speed import ModelSpeed
from engine.prompt.frame import Frame
from engine.system.paths import cache_folder, text_of_path
from engine.system.places import real_path

Made = TypeVar("Made")
_TABLES = (
    "CREATE TABLE IF NOT EXISTS content (path TEXT PRIMARY KEY, state TEXT, hash TEXT)",
    "CREATE TABLE IF NOT EXISTS good (hash TEXT, build TEXT, PRIMARY KEY (hash, build))",
    "CREATE TABLE IF NOT EXISTS frame (key TEXT PRIMARY KEY, frame TEXT)",
    "CREATE TABLE IF NOT EXISTS speed (key TEXT PRIMARY KEY, speed TEXT)",
    "CREATE TABLE IF NOT EXISTS devices (key TEXT PRIMARY KEY, trial TEXT)",
)


def file_state(files: Sequence[Path]) -> tuple[int, int]:
    """The size of all files together, and when the last of them was changed, in ns."""
    states = [path.stat() for path in files]
    return sum(state.st_size for state in states), max(state.st_mtime_ns for state in states)


@dataclass(frozen=True)
class SeenFiles:
    """Files at one moment. `path`: of the first, without links. `state`: changes with the content of any."""

    path: str
    state: str

    @classmethod
    def now(cls, files: Sequence[Path]) -> Self:
        """As they are now. OSError where one cannot be asked."""
        found = [path.stat() for path in files]
        # Whoever copies or unpacks a file may set its time, but not its number, nor when that was done. Only
        # on Windows, which tells the birth of the file for it, is what is written in place not seen so.
        states = [(each.st_size, each.st_mtime_ns, each.st_ctime_ns, each.st_ino) for each in found]
        return cls(text_of_path(real_path(files[0])), json.dumps(states))


class ModelMemory:
    """The memory, open. Made by `model_memory`."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        for statement in _TABLES:
            self._write(statement, ())

    def hash_of(self, seen: SeenFiles) -> str | None:
        """The SHA-256 of files that have not changed since it was remembered."""
        statement = "SELECT hash FROM content WHERE path = ? AND state = ?"
        return self._first(statement, (seen.path, seen.state))

    def remember_hash(self, seen: SeenFiles, file_hash: str) -> None:
        """Keep the SHA-256 of files as they were seen before it was computed."""
        self._write("INSERT OR REPLACE INTO content VALUES (?, ?, ?)", (seen.path, seen.state, file_hash))

    def found_good(self, file_hash: str) -> bool:
        """Whether this build of llama.cpp ran a content well."""
        statement = "SELECT hash FROM good WHERE hash = ? AND build = ?"
        return self._first(statement, (file_hash, library_version())) is not None

    def remember_good(self, file_hash: str) -> None:
        """Keep that this build of llama.cpp ran a content well."""
        self._write("INSERT OR REPLACE INTO good VALUES (?, ?)", (file_hash, library_version()))

    def frame(self, key: str) -> Frame | None:
        """A rendered chat template; `key` says all that it depends on."""
        return self._made("SELECT frame FROM frame WHERE key = ?", key, Frame.of_json)

    def remember_frame(self, key: str, frame: Frame) -> None:
        """Keep a rendered chat template."""
        self._write("INSERT OR REPLACE INTO frame VALUES (?, ?)", (key, json.dumps(frame.as_json())))

    def speed(self, key: str) -> ModelSpeed | None:
        """What was measured; `key` says all that it depends on."""
        return self._made("SELECT speed FROM speed WHERE key = ?", key, ModelSpeed.of_json)

    def remember_speed(self, key: str, speed: ModelSpeed) -> None:
        """Keep what was measured, in place of what was before."""
        self._write("INSERT OR REPLACE INTO speed VALUES (?, ?)", (key, json.dumps(speed.as_json())))

    def devices(self, key: str) -> DeviceTrial | None:
        """What a trial of this computer's devices found; `key` says all that it depends on but drivers."""
        return self._made("SELECT trial FROM devices WHERE key = ?", key, DeviceTrial.of_json)

    def remember_devices(self, key: str, trial: DeviceTrial) -> None:
        """Keep what a trial found, in place of what was before."""
        self._write("INSERT OR REPLACE INTO devices VALUES (?, ?)", (key, json.dumps(trial.as_json())))

    def _made(self, statement: str, key: str, of_json: Callable[[Any], Made]) -> Made | None:
        text = self._first(statement, (key,))
        with suppress(ValueError, KeyError, TypeError):  # written by anybody: the cache is an open folder
            return of_json(json.loads(text)) if text else None
        return None

    def _first(self, statement: str, values: tuple[str | int, ...]) -> str | None:
        row: tuple[str] | None = None
        with suppress(sqlite3.Error):
            row = self._db.execute(statement, values).fetchone()
        return row[0] if row else None

    def _write(self, statement: str, values: tuple[str | int, ...]) -> None:
        with suppress(sqlite3.Error):
            self._db.execute(statement, values)


@contextmanager
def model_memory() -> Iterator[ModelMemory]:
    """The memory in the cache folder; one that forgets, where there can be no such file."""
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(folder / "models.sqlite", isolation_level=None)
    except (OSError, sqlite3.Error):
        # Forgetting costs seconds; refusing to judge because a cache cannot be written would cost more.
        db = sqlite3.connect(":memory:", isolation_level=None)
    try:
        yield ModelMemory(db)
    finally:
        db.close()
