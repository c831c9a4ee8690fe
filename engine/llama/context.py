"""A context of llama.cpp, made for a model; with how many threads a batch is computed in one. They wait for
each other by spinning: two threads that share a core are many times slower than one. So a session that may
choose takes no more threads than it is given cores. Results do not depend on it, in any bit.
"""

import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Self

import llama_cpp

from engine.core.errors import DeviceFailed, EngineBug, Hint, ModelFileError, NoRoomError, Setting, SetupError
from engine.core.events import Cancelled, CancelToken
from engine.llama.library import forget_errors, last_errors
from engine.llama.model import LlamaModel
from engine.settings.rows import DeviceKind, KvType
from engine.system.computer import idle_seconds

_WINDOW = 0.5  # seconds of computing between two looks
_GIVEN = 0.75  # of the cores asked for; with less, some threads wait for a core
_FREE = 0.7  # of a core must be idle for one thread more; with less there is none to be had
_FIRST_PATIENCE = 2.0  # seconds without a thread more, after there were too many
_MOST_PATIENCE = 60.0


class ThreadCount:
    """The threads of the next batch, `count`: `most` at most, and no more than there are cores for."""

    def __init__(
        self, most: int, idle: Callable[[], float] = idle_seconds, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.most = self.count = most
        # `idle` gives the seconds that all cores together have been idle until now.
        self._idle, self._clock = idle, clock
        self._computed = self._processor = 0.0
        self._looked = (clock(), idle())
        self._since_change = math.inf
        self._patience = _FIRST_PATIENCE

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Around a batch that is computed with `count` threads; afterwards `count` may be another."""
        began, processor = self._clock(), time.process_time()
        yield
        self.saw(self._clock() - began, time.process_time() - processor)

    def saw(self, computed: float, processor: float) -> None:
        """Take in a batch: seconds of the clock, and of this process on all cores."""
        self._computed += computed
        self._processor += processor
        self._since_change += computed
        if self.most > 1 and self._computed >= _WINDOW:
            before, idle = self._looked
            self._looked = now = (self._clock(), self._idle())
            idle_cores = (now[1] - idle) / max(now[0] - before, 1e-9)
            self._look(self._processor / self._computed, idle_cores)
            self._computed = self._processor = 0.0

    def _look(self, given: float, idle: float) -> None:
        """`given`: the cores that this process had; `idle`: those that nobody had."""
        # Where cores are idle, threads wait for something else: for a GPU, or for weights from the disk.
        if self.count > 1 and given < _GIVEN * self.count and idle < _FREE:
            # Too many again soon after there were more: cores were free for a moment only.
            soon = self._since_change < 2 * self._patience
            self._patience = min(_MOST_PATIENCE, 2 * self._patience) if soon else _FIRST_PATIENCE
            # A core of which three quarters were had counts as a whole one.
            self._change(max(1, int(given + 1 - _GIVEN)))
        elif self.count < self.most and idle >= _FREE and self._since_change >= self._patience:
            self._change(min(self.most, self.count + int(idle + 1 - _FREE)))

    def _change(self, count: int) -> None:
        self.count = count
        self._since_change = 0.0


SMALLER_CONTEXT = Hint("Use a smaller ", Setting.CONTEXT, ", or close other programs.")
BATCH = 512  # tokens in one call
OTHER_BATCH = 29
"""Tokens in one call where the same is read in another shape. Fewer than the 64 from which llama.cpp's flash
attention on the processor adds up in 32 bits and in tiles, and not in 16 bits and row by row; and fewer than
any prompt has of its own: with 160, half of the prompts were read as before and seemed free of rounding.
"""
# Only the processor can be interrupted in a batch, so a slow device that cannot shall have small ones.
_SMALL_BATCH = 128
_GGML_TYPES = {KvType.F16: llama_cpp.GGML_TYPE_F16, KvType.Q8_0: llama_cpp.GGML_TYPE_Q8_0}
_ABORTED = 2
_CACHE_WORDS = ("cache type", "V cache")  # in llama.cpp's reasons against a kind of cache
_computes_in: set[int] = set()  # the process in which llama.cpp computed, and those that it was forked from


@dataclass(frozen=True)
class SessionShape:
    context: int  # tokens in all
    slots: int  # items at once
    branches: int  # questions of each
    kv_type: KvType = KvType.F16
    batch: int = BATCH  # tokens in one call, at most

    @property
    def sequences(self) -> int:
        """The stem, what trunks share, trunks and branches, one for long labels, one for company."""
        return 4 + self.slots * (1 + self.branches)


class OwnContext:
    """Belongs to the thread that made it; close it before its model. SetupError after a fork."""

    def __init__(
        self, model: LlamaModel, make: Callable[[int], Any], threads: int | ThreadCount, cancel: CancelToken
    ) -> None:
        """`make`: llama.cpp's pointer to a context of so many threads. `threads`: these, or what is free."""
        self._owner = os.getpid(), threading.get_ident()
        _computes_in.add(os.getpid())
        if len(_computes_in) > 1:
            raise SetupError(
                "llama.cpp has computed in the process that this one was forked from. Its threads stayed"
                " there, and it would wait for them forever.",
                'Start this process by multiprocessing.get_context("spawn").',
            )
        self._cancel = cancel
        self._model = model
        self._threads = threads if isinstance(threads, ThreadCount) else None
        self._context = make(threads.count if isinstance(threads, ThreadCount) else threads)
        # llama.cpp keeps only the pointer: the callback lives as long as the context.
        self._abort = llama_cpp.ggml_abort_callback(lambda _data: cancel.requested)
        llama_cpp.llama_set_abort_callback(self._context, self._abort, None)

    def _check_owner(self) -> None:
        if self._owner != (os.getpid(), threading.get_ident()):
            raise EngineBug(
                f"{type(self).__name__} used from {threading.current_thread().name} of process {os.getpid()}"
            )

    def _computed(self, compute: Callable[[Any, Any], int], batch: Any) -> int:
        """What llama.cpp answers to a batch, 0 where all is well. Raises Cancelled."""
        forget_errors()
        with self._threads.watched() if self._threads else nullcontext():
            result = compute(self._context, batch)
        if self._threads:
            llama_cpp.llama_set_n_threads(self._context, self._threads.count, self._threads.count)
        if result == _ABORTED:
            raise Cancelled
        return result

    def close(self) -> None:
        if self._context and self._owner[0] == os.getpid():
            llama_cpp.llama_free(self._context)
            self._context = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()


def new_context(model: LlamaModel, shape: SessionShape, threads: int) -> Any:
    """llama.cpp's pointer. NoRoomError, DeviceFailed, ModelFileError for a cache that a model cannot have."""
    context = llama_cpp.llama_init_from_model(model.pointer, _params(model, shape, threads))
    if context:
        return context
    reason = last_errors() or "it gives no reason"
    if shape.kv_type is not KvType.F16 and any(words in reason for words in _CACHE_WORDS):
        raise ModelFileError(
            f"{model.path.name}: this model does not support the KV-cache type {shape.kv_type.value}"
            f" ({reason}).",
            Hint("Use f16 (", Setting.KV_TYPE.at("f16"), ")."),
        )
    if model.device is not None:
        raise DeviceFailed(
            model.device.title, f"it cannot allocate a context of {shape.context:,} tokens ({reason})"
        )
    raise NoRoomError(
        f"{model.path.name}: llama.cpp cannot allocate a context of {shape.context:,} tokens ({reason}).",
        SMALLER_CONTEXT,
    )


def _params(model: LlamaModel, shape: SessionShape, threads: int) -> Any:
    params = llama_cpp.llama_context_default_params()
    params.n_ctx = shape.context
    # Equal, so that llama.cpp does not cut a batch once more: the last digits depend on what is read
    # together. By the kind of device alone, for the same reason.
    fast = model.device is None or model.device.kind is DeviceKind.GPU
    params.n_batch = params.n_ubatch = min(BATCH if fast else _SMALL_BATCH, shape.batch)
    params.n_seq_max = shape.sequences
    # Logits are wanted of few tokens; the default makes room for those of a whole batch.
    params.n_outputs_max = min(params.n_batch, max(shape.sequences, 16))
    params.n_threads = params.n_threads_batch = threads
    # One cache for all: else each sequence has its own share of the context, and a shared prefix is copied.
    params.kv_unified = True
    # Flash attention, which a q8_0 cache needs, stays at llama.cpp's own choice: on wherever it can be.
    params.type_k = params.type_v = _GGML_TYPES[shape.kv_type]
    params.no_perf = True
    return params
