"""A model file tried before the application relies on it: in a child process, once for each content. A
damaged file can end the process that loads it, which no Python can catch.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from engine.core.errors import EngineBug, Hint, ModelFileError, NoRoomError, ProcessEnded
from engine.core.events import CancelToken
from engine.models.encoder_file import EncoderFile
from engine.models.model_file import ModelFile
from engine.models.templates import SeenFiles, file_state, model_memory
from engine.models.trial import GOOD, NO_ROOM, REFUSED
from engine.system.paths import CHILD, self_command
from engine.system.subprocess_worker import CRASHES, run_child

TRIAL_COMMAND = (CHILD, "try", "judge")
ENCODER_TRIAL_COMMAND = (CHILD, "try", "encoder")
# 4 MiB: large enough for a disk, small enough that Stop is heard at once.
_CHUNK = 1 << 22


@dataclass(frozen=True)
class CheckedModel:
    """A model file that was tried and found good, as it was then."""

    path: Path
    name: str
    hash: str  # SHA-256 of its bytes, of all parts one after the other
    size_bytes: int  # of all parts
    modified_ns: int  # when the last of them changed
    more_files: tuple[Path, ...] = ()  # the parts after `path`, in order

    def check_unchanged(self) -> None:
        try:
            now = file_state((self.path, *self.more_files))
        except OSError as error:
            raise ModelFileError(
                f"{self.path.name}: the file can no longer be read: {error}.",
                "Put it back, or choose another model.",
            ) from error
        if now != (self.size_bytes, self.modified_ns):
            raise ModelFileError(
                f"{self.path.name}: the file has changed since it was checked.",
                "Wait until it is written completely, then try again.",
            )


def checked_model(described: ModelFile, cancel: CancelToken) -> CheckedModel:
    """With its SHA-256, tried in a child process unless found good before. ModelFileError, Cancelled."""
    return _checked(described.files, described.name, TRIAL_COMMAND, cancel)


def checked_encoder(described: EncoderFile, cancel: CancelToken) -> CheckedModel:
    return _checked((described.path,), described.name, ENCODER_TRIAL_COMMAND, cancel)


@contextmanager
def in_use(checked: CheckedModel) -> Iterator[None]:
    """While work with a model is done apart: ModelFileError where the process ended and the file has changed.
    llama.cpp reads the weights while it works; the system ends whoever reads on in a file that is cut short.
    """
    try:
        yield
    except ProcessEnded as ended:
        try:
            checked.check_unchanged()
        except ModelFileError as found:
            raise ModelFileError(
                f"{found.problem} {ended.problem}",
                Hint("All results so far are stored. ", *found.hint.parts),
            ) from ended
        raise


def _checked(files: Sequence[Path], name: str, trial: Sequence[str], cancel: CancelToken) -> CheckedModel:
    # Before the hash: a file that is written meanwhile is seen to have changed.
    before, seen, (path, *more_files) = file_state(files), SeenFiles.now(files), files
    with model_memory() as memory:
        file_hash = memory.hash_of(seen) or _hash(files, cancel)
        model = CheckedModel(path, name, file_hash, *before, tuple(more_files))
        model.check_unchanged()
        memory.remember_hash(seen, file_hash)
        # One memory for both kinds: what a file is, its content says.
        if not memory.found_good(file_hash):
            # No limit in time: a large model on a slow disk may take minutes.
            code, printed = run_child([*self_command(), *trial, str(path)], cancel)
            cancel.raise_if_requested()
            _raise_what_was_found(path, code, printed)
            # Good ones alone: what was bad may have been the computer's doing, such as want of memory.
            memory.remember_good(file_hash)
    return model


def _raise_what_was_found(path: Path, code: int, printed: bytes) -> None:
    """ModelFileError, NoRoomError, EngineBug, but nothing where the file is good."""
    if code == GOOD:
        return
    report = None
    with suppress(ValueError, KeyError, TypeError):  # it ended without one
        read = json.loads(printed)
        report = str(read["problem"]), Hint.of_json(read["remedy"])
    if report and code == REFUSED:
        raise ModelFileError(*report)
    if report and code == NO_ROOM:
        raise NoRoomError(*report)
    if code in CRASHES:
        raise ModelFileError(
            f"{path.name}: llama.cpp crashes on this file (code {code}): it is damaged, or of a kind that"
            " this version cannot run, or there is too little memory for it.",
            "Download the file again, close other programs, or choose another model.",
        )
    if code < 0:
        raise NoRoomError(
            f"{path.name}: the trial of this model was ended from outside (signal {-code}), most likely for"
            " lack of memory.",
            "Close other programs, or choose a smaller model.",
        )
    raise EngineBug(f"the trial of {path.name} ended for another reason than the file: exit code {code}")


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
