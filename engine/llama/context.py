"""A context of llama.cpp, made for a model; how a batch is computed in one.

Knows: llama_cpp's parameters of contexts, why it refuses them, how it is stopped.
Does not know: what is read in it.
"""

import os
import threading
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Self

import llama_cpp

from engine.core.cancel import Cancelled, CancelToken
from engine.core.errors import DeviceFailed, EngineBug, ModelFileError, NoRoomError, SetupError
from engine.core.remedies import Hint, Setting
from engine.core.settings import DeviceKind, KvType
from engine.llama.library import forget_errors, last_errors
from engine.llama.model import LlamaModel
from engine.llama.threads import ThreadCount

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
    """How large a session is: `context` tokens in all, `slots` items at once, `branches` questions each.

    `kv_type`: what its cache is stored in. `batch`: tokens in one call, at most.
    """

    context: int
    slots: int
    branches: int
    kv_type: KvType = KvType.F16
    batch: int = BATCH

    @property
    def sequences(self) -> int:
        """The stem, what trunks have in common, each slot's trunk and branches, one to try long labels in,
        one for a token's company.
        """
        return 4 + self.slots * (1 + self.branches)


class OwnContext:
    """A context at work. Belongs to the thread that made it; close it before its model.

    SetupError in a process that was forked from one in which there was a context.
    """

    def __init__(
        self, model: LlamaModel, make: Callable[[int], Any], threads: int | ThreadCount, cancel: CancelToken
    ) -> None:
        """`make`: gives llama.cpp's pointer to a context with this many threads.

        `threads`: this many for each batch, or as many as there are cores for at the moment.
        """
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
        """Give the memory back. May be called twice."""
        if self._context and self._owner[0] == os.getpid():
            llama_cpp.llama_free(self._context)
            self._context = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()


def new_context(model: LlamaModel, shape: SessionShape, threads: int) -> Any:
    """llama.cpp's pointer to a new context. NoRoomError where there is no room for it, DeviceFailed where the
    model's device has none, ModelFileError where the model's cache cannot be kept in the wanted type.
    """
    context = llama_cpp.llama_init_from_model(model.pointer, _params(model, shape, threads))
    if not context:
        raise _refusal(model, shape)
    return context


def _params(model: LlamaModel, shape: SessionShape, threads: int) -> Any:
    params = llama_cpp.llama_context_default_params()
    params.n_ctx = shape.context
    # Equal, so that llama.cpp does not cut a batch once more: the last digits depend on what is read
    # together.
    params.n_batch = params.n_ubatch = min(_batch_size(model), shape.batch)
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


def _batch_size(model: LlamaModel) -> int:
    """Of the kind of device alone: results depend on it, by rounding."""
    return BATCH if model.device is None or model.device.kind is DeviceKind.GPU else _SMALL_BATCH


def _refusal(model: LlamaModel, shape: SessionShape) -> SetupError:
    """Why llama.cpp made no context."""
    reason = last_errors() or "it gives no reason"
    if shape.kv_type is not KvType.F16 and any(words in reason for words in _CACHE_WORDS):
        return ModelFileError(
            f"{model.path.name}: this model does not support the KV-cache type {shape.kv_type.value}"
            f" ({reason}).",
            Hint("Use f16 (", Setting.KV_TYPE.at("f16"), ")."),
        )
    if model.device is not None:
        return DeviceFailed(
            model.device.title, f"it cannot allocate a context of {shape.context:,} tokens ({reason})"
        )
    return NoRoomError(
        f"{model.path.name}: llama.cpp cannot allocate a context of {shape.context:,} tokens ({reason}).",
        SMALLER_CONTEXT,
    )
