"""A model file tried before the application relies on it: in a child process, once for each content.

A damaged file can end the process that loads it, which no Python can catch; so a child goes first.

Knows: the trial, and what is remembered of it. Does not know: runs, datasets.
"""

import hashlib
import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.cancel import CancelToken
from engine.chat_template import ChatTemplate
from engine.errors import EngineBug, ModelFileError, SetupError
from engine.examples import ExamplePool
from engine.llama_library import LlamaModel, library_version
from engine.llama_session import Job, LlamaSession, Sampling, SessionShape
from engine.model_files import read_model_file
from engine.paths import cache_folder, child_environment, self_command
from engine.prompt_tokens import stem_tokens, tokenize_prompt
from engine.prompts import build_prompt
from engine.records import Item, Order
from engine.rubric import ELOQUENT

TRIAL_COMMAND = ("models", "--in-this-process", "check")
_CHUNK = 1 << 22
_POLL_SECONDS = 0.1
if sys.platform == "win32":
    _NO_WINDOW = subprocess.CREATE_NO_WINDOW
else:
    _NO_WINDOW = 0
_KILLED = -9  # by the system, for want of memory, or by a person: says nothing of the file
_WINDOWS_ABORT = 3
_WINDOWS_FAULTS = 0xC0000000  # and above: how Windows reports what other systems report as a signal


@dataclass(frozen=True)
class CheckedModel:
    """A model file that was tried and found good, as it was then."""

    path: Path
    name: str
    hash: str
    size_bytes: int
    modified_ns: int

    def check_unchanged(self) -> None:
        """ModelFileError where the file is no longer the one that was checked."""
        try:
            now = self.path.stat()
        except OSError as error:
            raise ModelFileError(
                f"{self.path.name}: the file cannot be read any more: {error}.",
                "Put it back, or choose another model.",
            ) from error
        if (now.st_size, now.st_mtime_ns) != (self.size_bytes, self.modified_ns):
            raise ModelFileError(
                f"{self.path.name}: the file has changed since it was checked.",
                "Wait until it is written completely, then give the command again.",
            )


def checked_model(path: Path, cancel: CancelToken) -> CheckedModel:
    """The file with its SHA-256, tried in a child process unless its content was found good before.

    Raises ModelFileError with what is wrong, Cancelled where `cancel` is set.
    """
    described = read_model_file(path)
    before = path.stat()
    with _memory() as memory:
        file_hash = memory.hash_of(path) or _hash(path, cancel)
        model = CheckedModel(path, described.name, file_hash, before.st_size, before.st_mtime_ns)
        model.check_unchanged()
        memory.remember_hash(path, file_hash)
        verdict = memory.verdict(file_hash)
        if verdict is None:
            verdict = _try_in_child(path, cancel)
            memory.remember_verdict(file_hash, verdict)
    if verdict:
        raise ModelFileError(f"{path.name}: {verdict}", "Download the file again, or choose another model.")
    return model


def try_model(path: Path) -> None:
    """Load a file and let it read and write a few tokens, in this process, which it may end.

    Raises ModelFileError where the model cannot judge.
    """
    cancel = CancelToken()
    item = Item("trial", "Say hello.", "Hello!", "<|im_end|> [/INST] Goodbye.")
    with LlamaModel(path, cancel=cancel) as model:
        context = min(model.trained_context, 2048)
        with LlamaSession(model, SessionShape(context, 1, 1), 1, cancel) as session:
            template = ChatTemplate(model.chat_template, session.vocabulary)
            rubric = ELOQUENT.only(ELOQUENT.names[:1])
            prompt = tokenize_prompt(build_prompt(item, Order.AB, rubric), template)
            if prompt.cells + 8 > context:
                raise ModelFileError(
                    f"{path.name}: its context of {context:,} tokens is too small for the shortest question,"
                    f" which takes {prompt.cells + 8:,}.",
                    "Choose another model.",
                )
            session.hold_stem(stem_tokens(rubric, ExamplePool(), template))
            session.read_trunk(0, prompt.trunk)
            if not np.isfinite(session.score(0, prompt.branches)).all():
                raise ModelFileError(
                    f"{path.name}: the model gives no finite probabilities.",
                    "The file is damaged: download it again, or choose another model.",
                )
            session.generate([Job(0, 0, prompt.branches[0].prompt)], Sampling(max_tokens=4))


def _try_in_child(path: Path, cancel: CancelToken) -> str:
    """What is wrong with the file, empty where nothing is. Raises Cancelled, and EngineBug."""
    child = subprocess.Popen(
        [*self_command(), *TRIAL_COMMAND, str(path)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=child_environment(GGML_NO_BACKTRACE="1"),
        creationflags=_NO_WINDOW,
    )
    try:
        # No limit in time: a large model on a slow disk may take minutes.
        while True:
            cancel.raise_if_requested()
            try:
                said, _ = child.communicate(timeout=_POLL_SECONDS)
                break
            except subprocess.TimeoutExpired:
                continue
    finally:
        if child.poll() is None:
            child.kill()
            child.communicate()
    return _verdict_of(path, child.returncode, said)


def _verdict_of(path: Path, code: int, said: bytes) -> str:
    if code == 0:
        return ""
    try:
        return str(json.loads(said)["problem"]).removeprefix(f"{path.name}: ")
    except (ValueError, KeyError, TypeError):
        pass
    if code == _KILLED:
        raise ModelFileError(
            f"{path.name}: the trial of this model was ended by the system, most likely for want of memory.",
            "Close other programs, or choose a smaller model.",
        )
    if not (code < 0 or code == _WINDOWS_ABORT or code >= _WINDOWS_FAULTS):
        raise EngineBug(f"the trial of {path.name} ended for another reason than the file: exit code {code}")
    how = f"signal {-code}" if code < 0 else f"code {code:#x}"
    return f"llama.cpp breaks down on this file ({how}): it is damaged, or of a kind this version cannot run."


def trial_report(path: Path) -> tuple[int, str]:
    """The trial for the parent to read: exit code and one line of JSON."""
    try:
        try_model(path)
    except SetupError as error:
        return 2, json.dumps({"problem": error.problem})
    return 0, "{}"


def _hash(path: Path, cancel: CancelToken) -> str:
    sha = hashlib.sha256()
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
    """Hashes by path, size and time of change; verdicts by hash and build of llama.cpp.

    It only saves time: where it cannot be read or written, everything is computed again.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        with suppress(sqlite3.Error):
            db.execute(
                "CREATE TABLE IF NOT EXISTS file"
                " (path TEXT PRIMARY KEY, size INTEGER, modified_ns INTEGER, hash TEXT)"
            )
            db.execute(
                "CREATE TABLE IF NOT EXISTS verdict"
                " (hash TEXT, build TEXT, problem TEXT, PRIMARY KEY (hash, build))"
            )

    def hash_of(self, path: Path) -> str | None:
        return self._one(
            "SELECT hash FROM file WHERE path = ? AND size = ? AND modified_ns = ?", self._state(path)
        )

    def remember_hash(self, path: Path, file_hash: str) -> None:
        self._write("INSERT OR REPLACE INTO file VALUES (?, ?, ?, ?)", (*self._state(path), file_hash))

    def verdict(self, file_hash: str) -> str | None:
        return self._one(
            "SELECT problem FROM verdict WHERE hash = ? AND build = ?", (file_hash, library_version())
        )

    def remember_verdict(self, file_hash: str, problem: str) -> None:
        self._write(
            "INSERT OR REPLACE INTO verdict VALUES (?, ?, ?)", (file_hash, library_version(), problem)
        )

    @staticmethod
    def _state(path: Path) -> tuple[str, int, int]:
        state = path.stat()
        return str(path.resolve()), state.st_size, state.st_mtime_ns

    def _one(self, statement: str, values: tuple[str | int, ...]) -> str | None:
        row = None
        with suppress(sqlite3.Error):
            row = self._db.execute(statement, values).fetchone()
        return None if row is None else str(row[0])

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
