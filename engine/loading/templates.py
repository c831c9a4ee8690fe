"""A model's chat template, rendered where it can do no harm: in child processes, once for each template.

A template is a program inside a model file. It gets little time, little memory, and two processes of its own,
which must agree: what cannot be repeated could not be resumed, or checked by anybody else.

Knows: the limits of rendering, what is remembered of it. Does not know: runs, what a session is asked.
"""

import json
import time
from collections.abc import Mapping
from typing import Any

from engine.core.cancel import CancelToken
from engine.core.errors import EngineBug, NoRoomError
from engine.core.items import digest
from engine.llama.vocabulary import Vocabulary
from engine.loading.model_memory import model_memory
from engine.prompt.chat_template import ChatTemplate
from engine.prompt.frame import FRAME_VERSION, RENDER_SECONDS, Frame, UnusableTemplateError, plain_frame
from engine.system.child_process import CRASHES, run_child
from engine.system.paths import CHILD, self_command

RENDER_COMMAND = (CHILD, "render")
_START_SECONDS = 50.0  # more, for a process to start on a slow and busy computer
_MOST_BYTES = 512 << 20
_TIMED_OUT = 1  # how faulthandler ends a process
_FAULT = 3  # how this program ends at a fault of its own; on Windows abort(), too
_MARK_BYTES = (16, 1600)  # messages of two lengths: what stands around them must not depend on it

_rendered: dict[str, Frame] = {}  # by this process, which may have no cache


class _LimitReachedError(UnusableTemplateError):
    """A limit that a very busy computer might reach, too."""


def chat_template(source: str | None, vocabulary: Vocabulary, cancel: CancelToken) -> ChatTemplate:
    """The chat format of a template for the model of `vocabulary`.

    Plain text, and a note, where `source` is None or cannot be used. Raises NoRoomError where the computer
    cannot render it now, Cancelled where `cancel` is set.
    """
    return ChatTemplate(_frame(source, vocabulary, cancel), vocabulary)


def _frame(source: str | None, vocabulary: Vocabulary, cancel: CancelToken) -> Frame:
    if source is None:
        return plain_frame("The model has no chat template")
    asked = {"source": source, "bos": vocabulary.bos_text, "eos": vocabulary.eos_text}
    key = digest([FRAME_VERSION, asked])
    with model_memory() as memory:
        frame = _rendered.get(key) or memory.frame(key)
        if frame is None:
            frame = _rendered_apart(asked, cancel)
            memory.remember_frame(key, frame)
    _rendered[key] = frame
    return frame


def _rendered_apart(asked: Mapping[str, str], cancel: CancelToken) -> Frame:
    try:
        given = {**asked, "seconds": RENDER_SECONDS}
        # Twice, with messages of different length: what cannot be repeated could not be resumed.
        first, second = (_frame_of_children({**given, "mark_bytes": size}, cancel) for size in _MARK_BYTES)
        if first != second:
            raise UnusableTemplateError("its output changes each time, or with the messages")
    except UnusableTemplateError as error:
        return plain_frame(f"The model's chat template cannot be used ({error})")
    return first


def _frame_of_children(asked: Mapping[str, object], cancel: CancelToken) -> Frame:
    """What a child process makes of a template, or the next one where that reached a limit."""
    try:
        return _frame_of_child(asked, cancel)
    except _LimitReachedError:
        return _frame_of_child(asked, cancel)


def _frame_of_child(asked: Mapping[str, object], cancel: CancelToken) -> Frame:
    """Raises UnusableTemplateError, NoRoomError, Cancelled, EngineBug."""
    command = [*self_command(), *RENDER_COMMAND]
    given = json.dumps(asked).encode()
    began = time.monotonic()
    try:
        seconds = RENDER_SECONDS + _START_SECONDS
        code, printed = run_child(command, cancel, seconds=seconds, most_bytes=_MOST_BYTES, given=given)
    except TimeoutError as error:
        raise _not_now("not started in time") from error
    except MemoryError as error:
        raise _LimitReachedError(f"it takes more than {_MOST_BYTES >> 20} MB of memory") from error
    if code == _TIMED_OUT and time.monotonic() - began >= RENDER_SECONDS:
        raise _LimitReachedError(f"it takes more than {RENDER_SECONDS:.0f} seconds")
    # 3 may be a fault of ours, which is reported as one below.
    if code in CRASHES and code != _FAULT:
        raise _LimitReachedError("it crashes the process that renders it")
    if code < 0:
        raise _not_now("ended from outside")
    return _frame_of_answer(code, printed)


def _not_now(why: str) -> NoRoomError:
    return NoRoomError(
        f"The model's chat template could not be rendered now: its process was {why}.",
        "Close other programs, then try again.",
    )


def _frame_of_answer(code: int, printed: bytes) -> Frame:
    try:
        answer: Mapping[str, Any] = json.loads(printed)
        if "refused" in answer:
            raise UnusableTemplateError(str(answer["refused"]))
        return Frame.of_json(answer["frame"])
    except (ValueError, KeyError, TypeError) as error:
        raise EngineBug(f"rendering a chat template ended with exit code {code}") from error
