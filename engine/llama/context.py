"""A context of llama.cpp, made for a model.

Knows: llama_cpp's parameters of contexts, why it refuses them. Does not know: what is read in it.
"""

from dataclasses import dataclass
from typing import Any

import llama_cpp

from engine.core.errors import DeviceFailed, ModelFileError, NoRoomError, SetupError
from engine.core.remedies import Remedy, Setting
from engine.core.settings import DeviceKind, KvType
from engine.llama.library import last_errors
from engine.llama.model import LlamaModel

BATCH = 512  # tokens in one call
# Only the processor can be interrupted in a batch, so a slow device that cannot shall have small ones.
_SMALL_BATCH = 128
_GGML_TYPES = {KvType.F16: llama_cpp.GGML_TYPE_F16, KvType.Q8_0: llama_cpp.GGML_TYPE_Q8_0}
_CACHE_WORDS = ("cache type", "V cache")  # in llama.cpp's reasons against a kind of cache


@dataclass(frozen=True)
class SessionShape:
    """How large a session is: `context` tokens in all, `slots` items at once, `branches` questions each.

    `kv_type`: what its cache is kept in.
    """

    context: int
    slots: int
    branches: int
    kv_type: KvType = KvType.F16

    @property
    def sequences(self) -> int:
        """The stem, what trunks have in common, each slot's trunk and branches, one to try long labels in,
        one for a token's company.
        """
        return 4 + self.slots * (1 + self.branches)


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
    params.n_batch = params.n_ubatch = _batch_size(model)
    params.n_seq_max = shape.sequences
    # Logits are wanted of few tokens; the default makes room for those of a whole batch.
    params.n_outputs_max = min(params.n_batch, max(shape.sequences, 16))
    params.n_threads = params.n_threads_batch = threads
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
            f"{model.path.name}: this model cannot keep its cache in {shape.kv_type.value} ({reason}).",
            Remedy("Use f16 (", Setting.KV_TYPE.at("f16"), ")."),
        )
    if model.device is not None:
        return DeviceFailed(
            model.device.title, f"there is no room for a context of {shape.context:,} tokens ({reason})"
        )
    return NoRoomError(
        f"{model.path.name}: llama.cpp makes no room for a context of {shape.context:,} tokens ({reason}).",
        Remedy("Use a smaller ", Setting.CONTEXT, ", or close other programs."),
    )
