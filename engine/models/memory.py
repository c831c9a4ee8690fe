"""The memory that a model takes with a context, compared with that of this computer."""

from dataclasses import dataclass
from enum import StrEnum

from engine.core.errors import Hint, ModelFileError, Setting
from engine.core.formatting import amount
from engine.models.model_file import Q8_0_BLOCK, ModelFile
from engine.settings.rows import KvType
from engine.system.computer import Memory, available_memory

_BATCH = 512  # tokens, as llama.cpp reads by default
_BYTES_PER_LOGIT = 4
_PROCESS_BYTES = 45 << 20  # Python and the libraries, measured


@dataclass(frozen=True)
class MemoryEstimate:
    """Bytes that a model takes at one context. `weights` are mapped from the file, the rest is allocated."""

    weights: int
    kv_cache: int
    buffers: int

    @property
    def total(self) -> int:
        return self.weights + self.kv_cache + self.buffers


class Fit(StrEnum):
    FITS = "fits"
    TIGHT = "tight"
    DOES_NOT_FIT = "does not fit"
    NOT_KNOWN = "not known"


def memory_needed(model: ModelFile, context: int, kv_type: KvType = KvType.F16) -> MemoryEstimate:
    """Estimate for `context` tokens. Weights = size of the file, which is mapped. KV cache = context x KV
    bytes per token, in f16; q8_0 keeps 32 numbers in 34 bytes. Source: growth of the process measured with
    llama.cpp of llama-cpp-python 0.3.36; the KV cache was within 6 MiB of it.
    """
    kv_cache = context * model.kv_bytes_per_token
    if kv_type is KvType.Q8_0:
        kv_cache = kv_cache * 34 // 64
    return MemoryEstimate(
        weights=model.size_bytes, kv_cache=kv_cache, buffers=buffer_bytes(model.vocabulary_size)
    )


def buffer_bytes(vocabulary_size: int) -> int:
    """Bytes for the logits of a batch of tokens, and for Python and the libraries."""
    return _BATCH * vocabulary_size * _BYTES_PER_LOGIT + _PROCESS_BYTES


def memory_fit(estimate: MemoryEstimate, memory: Memory | None) -> Fit:
    """KV cache and buffers must fit into what is available now. What of the weights does not is read from the
    file again and again, which is slow but possible, hence tight.
    """
    if memory is None:
        return Fit.NOT_KNOWN
    if estimate.kv_cache + estimate.buffers > memory.available or estimate.total > memory.total:
        return Fit.DOES_NOT_FIT
    return Fit.FITS if estimate.total <= memory.available else Fit.TIGHT


def check_memory(
    model: ModelFile, context: int, memory: Memory | None = None, kv_type: KvType = KvType.F16
) -> str | None:
    """A notice where memory is tight; ModelFileError where the model does not fit, or takes no `kv_type`."""
    if kv_type not in model.kv_types:
        raise ModelFileError(
            f"{model.name}: this model does not support the KV-cache type {kv_type.value}: its attention head"
            f" size is not a multiple of {Q8_0_BLOCK}.",
            Hint("Use f16 (", Setting.KV_TYPE.at("f16"), ")."),
        )
    memory = memory or available_memory()
    estimate = memory_needed(model, context, kv_type=kv_type)
    verdict = memory_fit(estimate, memory)
    if memory is None or verdict is Fit.FITS:
        return None
    found = (
        f"{model.name} with a context of {context:,} tokens needs about {amount(estimate.total)}"
        f" (weights {amount(estimate.weights)}, KV cache {amount(estimate.kv_cache)}, buffers"
        f" {amount(estimate.buffers)}); {memory.in_words}"
    )
    if verdict is Fit.DOES_NOT_FIT:
        rounder = (", a KV cache in q8_0 (", Setting.KV_TYPE.at("q8_0"), ")")
        may_be_rounder = kv_type is KvType.F16 and KvType.Q8_0 in model.kv_types
        raise ModelFileError(
            f"{found}.",
            Hint(
                "Use a smaller context (",
                Setting.CONTEXT,
                ")",
                *(rounder if may_be_rounder else ()),
                " or a smaller quantisation of this model, or close programs.",
            ),
        )
    return f"{found}. It will run, but slowly if weights must be read from disk again."
