"""The formats that a model's weights can be written in again, how large that is, and what it costs.

Knows: what llama.cpp's quantiser makes of each kind of tensor. Does not know: the quantiser, files.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from engine.gguf.header import TENSOR_TYPES, GgufHeader, TensorInfo
from engine.gguf.quantisation import layer_matrices

SMALL_BITS = 8.0
"""Weights of fewer bits each have lost much already: writing them again rounds what was rounded."""


class WeightFormat(StrEnum):
    """A format to write weights in. The value is how it is asked for."""

    Q8_0 = "q8_0"
    Q6_K = "q6_k"
    Q5_K_M = "q5_k_m"
    Q4_K_M = "q4_k_m"
    IQ4_NL = "iq4_nl"
    Q4_0 = "q4_0"
    BF16 = "bf16"
    F16 = "f16"

    @property
    def label(self) -> str:
        """How users write it: `Q4_K_M`."""
        return self.value.upper()

    @property
    def bits(self) -> float:
        """Of a weight in a layer, on average."""
        return _KINDS[self].bits

    @property
    def cost(self) -> str:
        """What is lost by it, in a sentence, of a source that is not smaller."""
        return _KINDS[self].cost


class _Kind(NamedTuple):
    """`odd_bits`: where rows are no whole blocks of the format, so that llama.cpp takes another one."""

    bits: float
    odd_bits: float
    cost: str


_LITTLE = "Almost no loss."
_SOME = "A small loss, larger for small models."
_MUCH = (
    "A noticeable loss; a small model may no longer judge: let both judge the same items and compare them"
    " before you rely on it."
)
_KINDS = {
    WeightFormat.Q8_0: _Kind(8.5, 8.5, _LITTLE),
    WeightFormat.Q6_K: _Kind(6.5625, 8.5, _LITTLE),
    WeightFormat.Q5_K_M: _Kind(6.0, 6.4, _SOME),
    WeightFormat.Q4_K_M: _Kind(5.2, 5.9, _MUCH),
    WeightFormat.IQ4_NL: _Kind(4.6, 4.6, _MUCH),
    WeightFormat.Q4_0: _Kind(4.6, 4.6, _MUCH),
    WeightFormat.BF16: _Kind(16.0, 16.0, _LITTLE),
    WeightFormat.F16: _Kind(16.0, 16.0, _LITTLE),
}
_ENDS = ("token_embd", "output", "per_layer_token_embd")  # of these more bits are stored
_BITS_OF_ENDS, _BITS_OF_ODD_ENDS = 6.5625, 8.5  # Q6_K, or Q8_0 where rows are no whole blocks
_BLOCK = 256


def bits_per_weight(tensors: Sequence[TensorInfo]) -> float:
    """Bits of a weight in the matrices of the layers, on average; of all tensors where there are none."""
    weights = layer_matrices(tensors)  # without the table of tokens, of which more bits are stored
    elements = sum(tensor.n_elements for tensor in weights)
    return 8 * sum(tensor.n_bytes for tensor in weights) / max(elements, 1)


def expected_bytes(header: GgufHeader, to: WeightFormat) -> int:
    """About how large a model is with its weights in a format: rather too much than too little."""
    values = sum(tensor.n_bytes for tensor in header.tensors)
    return header.file_size - values + int(sum(_bytes_in(tensor, to) for tensor in header.tensors))


def _bytes_in(tensor: TensorInfo, to: WeightFormat) -> float:
    stored = TENSOR_TYPES.get(tensor.type_id)
    if len(tensor.shape) < 2 or stored is None or "weight" not in tensor.name:
        return tensor.n_bytes
    odd = tensor.shape[0] % _BLOCK != 0
    bits = _KINDS[to].odd_bits if odd else to.bits
    if tensor.name.startswith(_ENDS):
        bits = max(bits, _BITS_OF_ODD_ENDS if odd else _BITS_OF_ENDS)
    return tensor.n_elements * bits / 8
