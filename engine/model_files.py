"""A GGUF model file: what it is, and how much memory it takes.

Knows: headers, a formula for memory. Does not know: where files are, llama.cpp, tensor data.
"""

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from engine.core.errors import ModelFileError
from engine.core.formatting import amount
from engine.core.settings import KvType
from engine.gguf_header import GgufHeader, read_header
from engine.gguf_precheck import precheck
from engine.gguf_values import HeaderValues
from engine.system.computer import Memory, available_memory

NOTICE_KEY = "tiebreak.notice"

_BYTES_PER_F16 = 2
_Q8_0_BLOCK = 32  # numbers, kept in 34 bytes
_BYTES_PER_LOGIT = 4
_PROCESS_BYTES = 45 << 20  # Python and the libraries, measured

_FILE_TYPES = {
    0: "F32",
    1: "F16",
    2: "Q4_0",
    3: "Q4_1",
    7: "Q8_0",
    8: "Q5_0",
    9: "Q5_1",
    10: "Q2_K",
    11: "Q3_K_S",
    12: "Q3_K_M",
    13: "Q3_K_L",
    14: "Q4_K_S",
    15: "Q4_K_M",
    16: "Q5_K_S",
    17: "Q5_K_M",
    18: "Q6_K",
    19: "IQ2_XXS",
    20: "IQ2_XS",
    21: "Q2_K_S",
    22: "IQ3_XS",
    23: "IQ3_XXS",
    24: "IQ1_S",
    25: "IQ4_NL",
    26: "IQ3_S",
    27: "IQ3_M",
    28: "IQ2_S",
    29: "IQ2_M",
    30: "IQ4_XS",
    31: "IQ1_M",
    32: "BF16",
    36: "TQ1_0",
    37: "TQ2_0",
    38: "MXFP4",
    39: "NVFP4",
    40: "Q1_0",
}
"""Names of llama.cpp's `llama_ftype` as people write them."""


@dataclass(frozen=True)
class ModelFile:
    """A model file as its header describes it.

    `parameters`: numbers in all tensors. `trained_context`: tokens. `kv_bytes_per_token`: of KV cache in
    f16, for one token of context. `kv_types`: what the KV cache can be kept in. `vocabulary_size`: tokens.
    `notice`: what a model made for this program has its users told, empty in others.
    """

    path: Path
    size_bytes: int
    name: str
    architecture: str
    quantisation: str
    parameters: int
    trained_context: int
    kv_bytes_per_token: int
    vocabulary_size: int
    has_chat_template: bool
    notice: str = ""
    kv_types: tuple[KvType, ...] = tuple(KvType)


def read_model_file(path: Path) -> ModelFile:
    """Read, check and describe a file by its header; ModelFileError where it cannot judge."""
    header = read_header(path)
    precheck(header)
    return describe(header, path)


def describe(header: GgufHeader, path: Path) -> ModelFile:
    """What a header that passed `precheck` says of its model."""
    values = HeaderValues(header)
    return ModelFile(
        path=path,
        size_bytes=header.file_size,
        name=model_name(values, path),
        architecture=values.architecture,
        quantisation=quantisation(header, values),
        parameters=sum(tensor.n_elements for tensor in header.tensors),
        trained_context=values.integer(values.key("context_length")) or 0,
        kv_bytes_per_token=_kv_bytes_per_token(values),
        vocabulary_size=len(values.tokens),
        has_chat_template=bool(values.get("tokenizer.chat_template")),
        notice=(values.text(NOTICE_KEY) or "").strip(),
        kv_types=_kv_types(values),
    )


def model_name(values: HeaderValues, path: Path) -> str:
    """The name that a file gives its model; the file's own where it gives none."""
    return (values.text("general.name") or "").strip() or path.stem


def quantisation(header: GgufHeader, values: HeaderValues) -> str:
    """How the weights are stored, `Q4_K_M`; the type of most bytes where the file does not say it."""
    file_type = values.integer("general.file_type")
    if file_type in _FILE_TYPES:
        return _FILE_TYPES[file_type]
    n_bytes: Counter[str] = Counter()
    for tensor in header.tensors:
        n_bytes[tensor.type_name] += tensor.n_bytes
    return n_bytes.most_common(1)[0][0]


def _kv_bytes_per_token(values: HeaderValues) -> int:
    """Bytes of KV cache for one token: over the layers, KV heads x (key length + value length) x 2.

    Sliding windows take less; recurrent states, which do not grow with the context, are left out.
    """
    kv_heads = values.per_layer(values.key("attention.head_count_kv")) or _heads(values)
    if len(kv_heads) == 1:
        kv_heads *= values.integer(values.key("block_count")) or 0
    return sum(kv_heads) * sum(_head_lengths(values)) * _BYTES_PER_F16


def _kv_types(values: HeaderValues) -> tuple[KvType, ...]:
    """f16 in any case; q8_0 where a head's numbers fill whole blocks, or where there are no heads."""
    whole = all(length % _Q8_0_BLOCK == 0 for length in _head_lengths(values))
    return tuple(KvType) if whole or not any(_heads(values)) else (KvType.F16,)


def _heads(values: HeaderValues) -> list[int]:
    return values.per_layer(values.key("attention.head_count"))


def _head_lengths(values: HeaderValues) -> tuple[int, int]:
    """Numbers in the key and in the value of one head."""
    head_size = (values.integer(values.key("embedding_length")) or 0) // max([*_heads(values), 1])
    key_length = values.integer(values.key("attention.key_length")) or head_size
    value_length = values.integer(values.key("attention.value_length")) or head_size
    return key_length, value_length


@dataclass(frozen=True)
class MemoryEstimate:
    """Bytes that a model takes at one context. `weights` are mapped from the file, the rest is allocated."""

    weights: int
    kv_cache: int
    buffers: int

    @property
    def total(self) -> int:
        """All three together."""
        return self.weights + self.kv_cache + self.buffers


class Fit(StrEnum):
    """Whether a model can run in this machine's memory."""

    FITS = "fits"
    TIGHT = "tight"
    DOES_NOT_FIT = "does not fit"


def memory_needed(
    model: ModelFile, context: int, batch: int = 512, kv_type: KvType = KvType.F16
) -> MemoryEstimate:
    """Estimate for `context` tokens, read in batches of `batch` tokens.

    Weights = size of the file, which is mapped. KV cache = context x KV bytes per token, which is in f16;
    q8_0 keeps 32 numbers in 34 bytes instead of 64. Buffers = batch x vocabulary x 4 bytes of logits, and
    45 MiB for Python and the libraries. Source: growth of the process measured with llama.cpp of
    llama-cpp-python 0.3.36; the KV cache was within 6 MiB of it.
    """
    kv_cache = context * model.kv_bytes_per_token
    if kv_type is KvType.Q8_0:
        kv_cache = kv_cache * 34 // 64
    return MemoryEstimate(
        weights=model.size_bytes,
        kv_cache=kv_cache,
        buffers=buffer_bytes(model.vocabulary_size, batch),
    )


def buffer_bytes(vocabulary_size: int, batch: int = 512) -> int:
    """Bytes for the logits of a batch of `batch` tokens, and for Python and the libraries."""
    return batch * vocabulary_size * _BYTES_PER_LOGIT + _PROCESS_BYTES


def fit(estimate: MemoryEstimate, available_bytes: int, total_bytes: int) -> Fit:
    """Whether an estimate fits into main memory.

    KV cache and buffers must fit into what is available now. The weights are mapped: what of them does not
    fit is read from the file again and again, which is slow but possible, hence tight. Where they are
    larger than the whole memory together with the rest, every token waits for the disk: that does not fit.
    """
    if estimate.kv_cache + estimate.buffers > available_bytes or estimate.total > total_bytes:
        return Fit.DOES_NOT_FIT
    return Fit.FITS if estimate.total <= available_bytes else Fit.TIGHT


def check_memory(
    model: ModelFile, context: int, memory: Memory | None = None, kv_type: KvType = KvType.F16
) -> str | None:
    """A notice where memory is tight, None where it is not; ModelFileError where the model does not fit.

    `memory`: that of this machine, now, unless given. ModelFileError too where the model's cache cannot be
    kept in `kv_type`.
    """
    if kv_type not in model.kv_types:
        raise ModelFileError(
            f"{model.path.name}: this model cannot keep its cache in {kv_type.value}: the numbers of its"
            f" attention heads do not fill blocks of {_Q8_0_BLOCK}.",
            "Use f16 (--kv-type f16).",
        )
    memory = memory or available_memory()
    estimate = memory_needed(model, context, kv_type=kv_type)
    verdict = fit(estimate, *memory)
    if verdict is Fit.FITS:
        return None
    found = (
        f"{model.path.name} with a context of {context:,} tokens needs about {amount(estimate.total)}"
        f" (weights {amount(estimate.weights)}, KV cache {amount(estimate.kv_cache)}, buffers"
        f" {amount(estimate.buffers)}); {amount(memory.available)} of {amount(memory.total)} are free"
    )
    if verdict is Fit.DOES_NOT_FIT:
        rounder = kv_type is KvType.F16 and KvType.Q8_0 in model.kv_types
        raise ModelFileError(
            f"{found}.",
            f"Use a smaller context (--context){', a cache in q8_0 (--kv-type q8_0)' if rounder else ''}"
            " or a smaller quantisation of this model, or close programs.",
        )
    return f"{found}. It will run, but slowly where the weights must be read from the disk again."
