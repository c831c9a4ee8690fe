"""A model's chat template, rendered where it can do no harm: in child processes, once for each template. It
is a program inside a model file, and gets little time, little memory, and two processes of its own, which
must agree: what cannot be repeated could not be resumed, or checked by anybody else. Also what is remembered
of model files, which only saves time; what was found bad may have been the computer's doing, and is not kept.
"""

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, TypeVar

from engine.core.codec import plain, plain_values, record_of
from engine.core.errors import EngineBug, NoRoomError
from engine.core.events import CancelToken
from engine.core.formatting import listed
from engine.core.items import digest
from engine.llama.library import library_version
from engine.llama.model import LlamaModel, Vocabulary
from engine.prompt import conversation
from engine.prompt.template import ChatTemplate
from engine.system.paths import CHILD, cache_folder, real_path, self_command, text_of_path
from engine.system.subprocess_worker import CRASHES, end_by_others, run_child

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
        return self._first("SELECT hash FROM content WHERE path = ? AND state = ?", (seen.path, seen.state))

    def remember_hash(self, seen: SeenFiles, file_hash: str) -> None:
        self._write("INSERT OR REPLACE INTO content VALUES (?, ?, ?)", (seen.path, seen.state, file_hash))

    def found_good(self, file_hash: str) -> bool:
        statement = "SELECT hash FROM good WHERE hash = ? AND build = ?"
        return self._first(statement, (file_hash, library_version())) is not None

    def remember_good(self, file_hash: str) -> None:
        self._write("INSERT OR REPLACE INTO good VALUES (?, ?)", (file_hash, library_version()))

    def recall(self, kind: str, key: str, of: type[Made]) -> Made | None:
        """A `frame`, a `speed`, or `devices`; `key` says all that it depends on."""
        column = "trial" if kind == "devices" else kind
        text = self._first(f"SELECT {column} FROM {kind} WHERE key = ?", (key,))
        with suppress(ValueError):  # written by anybody: the cache is an open folder
            return record_of(plain_values(text), of) if isinstance(text, str) else None
        return None

    def remember(self, kind: str, key: str, made: object) -> None:
        self._write(f"INSERT OR REPLACE INTO {kind} VALUES (?, ?)", (key, json.dumps(plain(made))))

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


RENDER_COMMAND = (CHILD, "render")
_START_SECONDS = 50.0  # more, for a process to start on a slow and busy computer
_MOST_BYTES = 512 << 20
_TIMED_OUT = 1  # how faulthandler ends a process
_MARK_BYTES = (16, 1600)  # messages of two lengths: what stands around them must not depend on it

_rendered: dict[str, conversation.Frame] = {}  # by this process, which may have no cache


class _LimitReachedError(conversation.UnusableTemplateError):
    """A limit that a very busy computer might reach, too."""


def chat_template(
    source: str | None, vocabulary: Vocabulary, cancel: CancelToken, with_system: bool = True
) -> ChatTemplate:
    """The chat format for a model; plain text and a note where it has none of use. NoRoomError, Cancelled."""
    return ChatTemplate(_frame(source, vocabulary, cancel, with_system), vocabulary)


def template_of(
    model: LlamaModel, vocabulary: Vocabulary, cancel: CancelToken, with_system: bool = True
) -> ChatTemplate:
    """The chat format of a model, by its default template, or else by one for another use, as a note says.
    `with_system`: else that of conversations without a system message.
    """
    default, named = model.chat_template, model.named_templates
    if default is not None or not named:
        return chat_template(default, vocabulary, cancel, with_system)
    found = f"The model has no default chat template, only templates called {listed(tuple(named))}"
    frames = {name: _frame(source, vocabulary, cancel, with_system) for name, source in named.items()}
    usable = {name: frame for name, frame in frames.items() if not frame.is_plain}
    if not usable:
        reasons = " ".join(frame.note for frame in frames.values())
        return ChatTemplate(conversation.plain_frame(f"{found}. {reasons} So"), vocabulary)
    # Those that write more than turns, how to use documents for instance, have notes of their own.
    name, frame = min(usable.items(), key=lambda each: bool(each[1].note))
    note = f"{found}: {listed([name])} is used. {frame.note}".rstrip()
    return ChatTemplate(replace(frame, note=note), vocabulary)


def _frame(
    source: str | None, vocabulary: Vocabulary, cancel: CancelToken, with_system: bool
) -> conversation.Frame:
    if source is None:
        return conversation.plain_frame("The model has no chat template")
    asked = {"source": source, "bos": vocabulary.bos_text, "eos": vocabulary.eos_text}
    key = digest([conversation.FRAME_VERSION, asked, *([] if with_system else ["no system message"])])
    with model_memory() as memory:
        frame = _rendered.get(key) or memory.recall("frame", key, conversation.Frame)
        if frame is None:
            frame = _rendered_apart({**asked, "with_system": with_system}, cancel)
            memory.remember("frame", key, frame)
    _rendered[key] = frame
    return frame


def _rendered_apart(asked: Mapping[str, str | bool], cancel: CancelToken) -> conversation.Frame:
    try:
        given = {**asked, "seconds": conversation.RENDER_SECONDS}
        # Twice, with messages of different length: what cannot be repeated could not be resumed.
        frames = []
        for size in _MARK_BYTES:
            asked_so = {**given, "mark_bytes": size}
            try:
                frames.append(_frame_of_child(asked_so, cancel))
            except _LimitReachedError:  # once more, in the next process: this one may have been slow
                frames.append(_frame_of_child(asked_so, cancel))
        if frames[0] != frames[1]:
            raise conversation.UnusableTemplateError("its output changes each time, or with the messages")
    except conversation.UnusableTemplateError as error:
        return conversation.plain_frame(f"The model's chat template cannot be used ({error})")
    return frames[0]


def _frame_of_child(asked: Mapping[str, object], cancel: CancelToken) -> conversation.Frame:
    """Raises UnusableTemplateError, NoRoomError, Cancelled, EngineBug."""
    command = [*self_command(), *RENDER_COMMAND]
    given = json.dumps(asked).encode()
    began = time.monotonic()
    try:
        seconds = conversation.RENDER_SECONDS + _START_SECONDS
        code, printed = run_child(command, cancel, seconds=seconds, most_bytes=_MOST_BYTES, given=given)
    except TimeoutError as error:
        raise _not_now("not started in time") from error
    except MemoryError as error:
        raise _LimitReachedError(f"it takes more than {_MOST_BYTES >> 20} MB of memory") from error
    if code == _TIMED_OUT and time.monotonic() - began >= conversation.RENDER_SECONDS:
        raise _LimitReachedError(f"it takes more than {conversation.RENDER_SECONDS:.0f} seconds")
    if code in CRASHES:
        raise _LimitReachedError("it crashes the process that renders it")
    if how := end_by_others(code):
        raise _not_now(how)
    try:
        answer: Mapping[str, Any] = json.loads(printed)
        if "refused" in answer:
            raise conversation.UnusableTemplateError(str(answer["refused"]))
        return record_of(answer["frame"], conversation.Frame)
    except (ValueError, KeyError, TypeError) as error:
        raise EngineBug(f"rendering a chat template ended with exit code {code}") from error


def _not_now(why: str) -> NoRoomError:
    return NoRoomError(
        f"The model's chat template could not be rendered now: its process was {why}.",
        "Close other programs, then try again.",
    )
