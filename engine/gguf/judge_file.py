"""A GGUF model file: what it is, by its header.

Knows: headers, how much cache a token of context takes.
Does not know: where files are, llama.cpp, tensor data.
"""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from engine.core.settings import KvType
from engine.gguf.header import GgufHeader, read_header
from engine.gguf.precheck import precheck
from engine.gguf.values import HeaderValues

NOTICE_KEY = "tiebreak.notice"

_BYTES_PER_F16 = 2
Q8_0_BLOCK = 32
"""Numbers in a block of the Q8_0 format, kept in 34 bytes."""

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
    `notice`: what a model made for this program has to say to its users, empty in others.
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
    whole = all(length % Q8_0_BLOCK == 0 for length in _head_lengths(values))
    return tuple(KvType) if whole or not any(_heads(values)) else (KvType.F16,)


def _heads(values: HeaderValues) -> list[int]:
    return values.per_layer(values.key("attention.head_count"))


def _head_lengths(values: HeaderValues) -> tuple[int, int]:
    """Numbers in the key and in the value of one head."""
    head_size = (values.integer(values.key("embedding_length")) or 0) // max([*_heads(values), 1])
    key_length = values.integer(values.key("attention.key_length")) or head_size
    value_length = values.integer(values.key("attention.value_length")) or head_size
    return key_length, value_length
