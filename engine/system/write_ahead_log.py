"""The annotations, on the disk before they are shown as stored; they wait there until the store has them.
Each process appends to a file of its own, one JSON line an annotation, synced before it continues. The store
remembers up to which number it has those of each file, in the transaction that stores them.
"""

import errno
import json
import os
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.core.codec import plain_values
from engine.core.errors import Hint, SetupError, Step
from engine.system.files import Claim, all_of, claimed, left_by_the_dead, sync_folder
from engine.system.paths import PathKind, look_at, real_path, reason_of, refuse_impossible, shown

_SAID, _ENDING = ".said-", ".jsonl"
_HEAD = b'{"tiebreak_words": 1}\n'
_LONGEST_FILE = 1 << 28  # of which more is no write-ahead log
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True)
class LogEntry:
    """One annotation, as plain values. `number`: its place in its write-ahead log, from 1."""

    number: int
    values: Mapping[str, Any]


@dataclass(frozen=True)
class LogContents:
    name: str  # of its file
    words: Sequence[LogEntry] = ()
    damaged: bool = False  # something in it cannot be read, nor be lost


class WriteAheadLog:
    """The annotations of this process for one store. Any thread may use it; annotations are made on one."""

    def __init__(self, store: Path) -> None:
        # The file that they lie next to; nothing is made before the first annotation.
        self._store = store
        self._lock = threading.Lock()
        self._claim: Claim | None = None
        self._file = -1
        self._size = 0
        self._last = 0
        self._waiting: list[LogEntry] = []

    @property
    def name(self) -> str:
        """By which the store knows it; empty before the first annotation."""
        return self._claim.path.name if self._claim else ""

    @property
    def waiting(self) -> Sequence[LogEntry]:
        """What was said and is not in the store yet, in its order."""
        with self._lock:
            return tuple(self._waiting)

    @property
    def pending(self) -> LogContents:
        """The same with the name by which the store is to know it; nothing once it is closed."""
        with self._lock:
            return LogContents(self.name, tuple(self._waiting)) if self._claim else LogContents("")

    def say(self, values: Mapping[str, Any]) -> str:
        """Put an annotation on the disk; its own name, `file:number`. SetupError where that cannot be."""
        with self._lock:
            try:
                return self._append(values)
            except OSError as error:
                raise _not_kept(self._store, error) from error

    def stored(self, number: int) -> None:
        with self._lock:
            self._waiting = [word for word in self._waiting if word.number > number]
            if not self._waiting and self._file >= 0:
                # Only to keep it short: what is stored is known by its number.
                with suppress(OSError):
                    os.ftruncate(self._file, len(_HEAD))
                    self._size = len(_HEAD)

    def close(self) -> None:
        """Take no more annotations; those that wait are taken over by whoever opens the store next."""
        with self._lock:
            if self._claim is None:
                return
            os.close(self._file)
            self._file = -1
            if self._waiting:
                self._claim.close()
            else:
                with suppress(OSError):
                    self._claim.remove()
            self._claim = None

    def _append(self, values: Mapping[str, Any]) -> str:
        if self._claim is None or _is_gone(self._file):
            self._begin()
        number = self._last + 1
        line = _line(LogEntry(number, values))
        self._write(line)
        if _is_gone(self._file):
            self._begin()
            self._write(line)
        self._last = number
        self._waiting.append(LogEntry(number, values))
        return f"{self.name}:{number}"

    def _begin(self) -> None:
        """Begin a file, with the annotations that wait in it where there was one that somebody deleted."""
        if self._claim is not None:
            os.close(self._file)
            self._claim.close()
            self._claim = None
        store = real_path(self._store)
        refuse_impossible(store)
        # Annotations for a store that cannot be written would wait forever.
        if look_at(store) is PathKind.FILE and not os.access(store, os.W_OK):
            raise SetupError(
                f"Nothing can be changed in the run store {shown(store)}: the file, its folder or its disk is"
                " read-only.",
                Hint(Step.COPY_STORE),
            )
        self._claim = claim = claimed(store.parent, f"{store.name}{_SAID}", _ENDING)
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
            flags |= getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
            # Who may read the store may read what waits for it.
            mode = store.stat().st_mode & 0o666 if look_at(store) is PathKind.FILE else 0o600
            self._file, self._size = os.open(claim.path, flags, mode), 0
            self._write(_HEAD + b"".join(map(_line, self._waiting)))
            sync_folder(store.parent)
        except BaseException:
            if self._file >= 0:
                os.close(self._file)
                self._file = -1
            self._claim = None
            claim.remove()
            raise

    def _write(self, data: bytes) -> None:
        """Append to the file, all or nothing, and wait until it is on the disk."""
        begun = os.fstat(self._file).st_size
        if begun > self._size:
            data = b"\n" + data  # after what was not finished and could not be taken away
        try:
            left = memoryview(data)
            while left:
                left = left[os.write(self._file, left) :]
            os.fsync(self._file)
        except BaseException:
            with suppress(OSError):  # a line without its end is omitted when it is read
                os.ftruncate(self._file, self._size)
            raise
        self._size = begun + len(data)


def left_words(store: Path) -> list[tuple[Claim, LogContents]]:
    """The write-ahead logs of dead processes next to a store, ours from now on, the oldest first."""
    found = []
    for claim in left_by_the_dead(*_place(store)):
        try:
            kept = _read(claim.path)
        except (OSError, ValueError):
            claim.close()  # of a newer version, or not for us to read
            continue
        found.append((claim, kept))
    return sorted(found, key=lambda each: [str(word.values.get("at", "")) for word in each[1].words[:1]])


def all_words(store: Path) -> list[LogContents]:
    """What lies in all write-ahead logs next to a store that can be read, also of living processes."""
    found = []
    for path in all_of(*_place(store)):
        with suppress(OSError, ValueError):
            found.append(_read(path))
    return found


def put_aside(claim: Claim) -> None:
    """Let a write-ahead log in which something is damaged be taken no more; nothing of it is deleted."""
    with suppress(OSError):
        claim.path.replace(claim.path.with_name(f"{claim.path.name}.damaged"))
    claim.close()


def _place(store: Path) -> tuple[Path, str, str]:
    store = real_path(store)
    return store.parent, f"{store.name}{_SAID}", _ENDING


def _read(path: Path) -> LogContents:
    """The annotations of a file. OSError, ValueError for what is no write-ahead log of this version."""
    with path.open("rb") as file:
        data = file.read(_LONGEST_FILE + 1)
    head, _, rest = data.partition(b"\n")
    if not rest and not _HEAD.startswith(head):
        raise ValueError("is not a write-ahead log")
    if (rest and head + b"\n" != _HEAD) or len(data) > _LONGEST_FILE:
        raise ValueError("is not a write-ahead log of this version")
    # The last line is none without its end: its annotation was never confirmed to its writer.
    lines = [line for line in rest.split(b"\n")[:-1] if line]
    found = {word.number: word for word in map(_word, lines) if word}
    return LogContents(path.name, [found[number] for number in sorted(found)], len(found) < len(lines))


def _line(word: LogEntry) -> bytes:
    text = json.dumps({"n": word.number, **word.values}, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "replace") + b"\n"


def _word(line: bytes) -> LogEntry | None:
    with suppress(ValueError):
        values = plain_values(line)
        number = values.pop("n", None) if isinstance(values, dict) else None
        if type(number) is int and number > 0:
            return LogEntry(number, values)
    return None


def _is_gone(file: int) -> bool:
    """Whether somebody deleted a file that is open: what is written there is nowhere."""
    return sys.platform != "win32" and os.fstat(file).st_nlink == 0


def _not_kept(store: Path, error: OSError) -> SetupError:
    folder = shown(real_path(store).parent)
    if error.errno in _FULL:
        return SetupError(
            f"The disk with the folder {folder} is full.",
            "Free some space on it, then repeat the change. All your earlier annotations are stored.",
        )
    return SetupError(
        f"No file can be created in the folder {folder}: {reason_of(error)}.",
        "Check that it exists and that you may write in it, then repeat the change.",
    )
