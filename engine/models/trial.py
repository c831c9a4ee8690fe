"""A model file tried for real: loaded, and asked for one step. This is what runs in the child process."""

import json
from pathlib import Path

import numpy as np

from engine.core.errors import ModelFileError, NoRoomError, SetupError
from engine.core.events import CancelToken
from engine.core.items import Item, Order
from engine.core.rubric import ELOQUENT
from engine.llama.context import SessionShape
from engine.llama.encoder import LONGEST, LlamaEncoder
from engine.llama.model import LlamaModel
from engine.llama.session import Continuation, LlamaSession, Sampling
from engine.models.templates import chat_template
from engine.prompt.examples import ExamplePool
from engine.prompt.judge_prompt import build_prompt
from engine.prompt.tokens import stem_tokens, tokenize_prompt
from engine.settings.rows import SMALLEST_CONTEXT

# Of all scripts, with each byte that UTF-8 has: here a tokenizer shows that does not suit its vocabulary.
_CODES = (*range(1, 0x180), *range(0x180, 0xD800, 0x39), *range(0xE000, 0x110000, 0x1001))
_ANY_TEXT = "".join(map(chr, _CODES))

GOOD, REFUSED, NO_ROOM = 0, 2, 4  # exit codes of the trial


def try_model(path: Path) -> None:
    """Let a file read and write a little in this process, which it may end. ModelFileError if it cannot."""
    cancel = CancelToken()
    item = Item("trial", "Say hello.", "Hello!", "<|im_end|> [/INST] Goodbye.")
    with LlamaModel(path, cancel=cancel) as model:
        context = min(model.trained_context, 2048)
        with LlamaSession(model, SessionShape(context, 1, 1), 1, cancel) as session:
            session.vocabulary.tokenize(_ANY_TEXT)
            template = chat_template(model.chat_template, session.vocabulary, cancel)
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
