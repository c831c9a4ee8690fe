"""A model file tried before the application relies on it: loaded and asked for one step in a child process,
once for each content. A damaged file can end the process that loads it, which no Python can catch.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.core.errors import EngineBug, Hint, ModelFileError, NoRoomError, ProcessEnded, SetupError
from engine.core.events import CancelToken
from engine.core.items import Item, Order
from engine.core.rubric import ELOQUENT
from engine.llama.context import SessionShape
from engine.llama.encoder import LONGEST, LlamaEncoder
from engine.llama.model import LlamaModel
from engine.llama.session import Continuation, LlamaSession, Sampling
from engine.models.encoder_file import EncoderFile
from engine.models.model_file import ModelFile
from engine.models.templates import SeenFiles, file_state, model_memory, template_of
from engine.prompt.examples import ExamplePool
from engine.prompt.judge_prompt import build_prompt
from engine.prompt.tokens import stem_tokens, tokenize_prompt
from engine.settings.rows import SMALLEST_CONTEXT
from engine.system.paths import CHILD, self_command
from engine.system.subprocess_worker import CRASHES, code_words, end_by_others, run_child

TRIAL_COMMAND = (CHILD, "try", "judge")
ENCODER_TRIAL_COMMAND = (CHILD, "try", "encoder")
GOOD, REFUSED, NO_ROOM = 0, 2, 4  # exit codes of the trial
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
    # Before the hash: a file that is written meanwhile is seen to have changed.
    files = path, *more_files = described.files
    before, seen = file_state(files), SeenFiles.now(files)
    with model_memory() as memory:
        file_hash = memory.hash_of(seen) or _hash(files, cancel)
        model = CheckedModel(path, described.name, file_hash, *before, tuple(more_files))
        model.check_unchanged()
        memory.remember_hash(seen, file_hash)
        # One memory for both kinds: what a file is, its content says.
        if not memory.found_good(file_hash):
            # No limit in time: a large model on a slow disk may take minutes.
            trial = ENCODER_TRIAL_COMMAND if isinstance(described, EncoderFile) else TRIAL_COMMAND
            code, printed = run_child([*self_command(), *trial, str(path)], cancel)
            cancel.raise_if_requested()
            _raise_what_was_found(path, code, printed)
            # Good ones alone: what was bad may have been the computer's doing, such as want of memory.
            memory.remember_good(file_hash)
    return model


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
            f"{path.name}: llama.cpp crashes on this file ({code_words(code)}): it is damaged, or of a kind"
            " that this version cannot run, or there is too little memory for it.",
            "Download the file again, close other programs, or choose another model.",
        )
    if how := end_by_others(code):
        raise NoRoomError(
            f"{path.name}: the trial of this model was {how}.",
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


# Of all scripts, with each byte that UTF-8 has: here a tokenizer shows that does not suit its vocabulary.
_CODES = (*range(1, 0x180), *range(0x180, 0xD800, 0x39), *range(0xE000, 0x110000, 0x1001))
_ANY_TEXT = "".join(map(chr, _CODES))


def try_model(path: Path) -> None:
    """Let a file read and write a little in this process, which it may end. ModelFileError if it cannot."""
    cancel = CancelToken()
    item = Item("trial", "Say hello.", "Hello!", "<|im_end|> [/INST] Goodbye.")
    with LlamaModel(path, cancel=cancel) as model:
        context = min(model.trained_context, 2048)
        with LlamaSession(model, SessionShape(context, 1, 1), 1, cancel) as session:
            session.vocabulary.tokenize(_ANY_TEXT)
            template = template_of(model, session.vocabulary, cancel)
            rubric = ELOQUENT.only(ELOQUENT.names[:1])
            prompt = tokenize_prompt(build_prompt(item, Order.AB, rubric), template)
            needed = max(prompt.cells + 8, SMALLEST_CONTEXT)
            if needed > context:
                raise ModelFileError(
                    f"{path.name}: its context of {context:,} tokens is too small: the shortest question"
                    f" takes {needed:,}.",
                    "Choose another model.",
                )
            session.hold_stem(stem_tokens(rubric, ExamplePool(), template))
            session.read_trunk(0, prompt.trunk)
            if not np.isfinite(session.score(0, prompt.branches)).all():
                raise ModelFileError(
                    f"{path.name}: the model gives no finite probabilities.",
                    "The file is damaged: download it again, or choose another model.",
                )
            session.generate([Continuation(0, 0, prompt.branches[0].prompt)], Sampling(max_tokens=4))


def try_encoder(path: Path) -> None:
    """Let an encoder read short, very long and strange texts likewise. ModelFileError if it cannot."""
    cancel = CancelToken()
    with LlamaModel(path, cancel=cancel) as model, LlamaEncoder(model, 1, cancel) as encoder:
        encoder.encode(["Hello!", "Hello! " * LONGEST, _ANY_TEXT])


def in_child(kind: str, path: str) -> int:
    """Try a file as a "judge" or an "encoder", and print what was found for the parent; the exit code."""
    code, report = trial_report(Path(path), kind == "encoder")
    print(report)
    return code


def trial_report(path: Path, as_encoder: bool = False) -> tuple[int, str]:
    try:
        if as_encoder:
            try_encoder(path)
        else:
            try_model(path)
    except SetupError as error:
        code = NO_ROOM if isinstance(error, NoRoomError) else REFUSED
        return code, json.dumps({"problem": error.problem, "remedy": error.hint.as_json()})
    return GOOD, "{}"
