"""How the weights of a model are stored, in the word that users have for it: `Q4_K_M`.

A file's name claims one, its header's file type another. Publishers have kinds of their own, for which there
is no file type (`Q4_K_L`, `UD-Q4_K_XL` are `Q4_K_M` there); some file types are those of the model before it
was quantised. So the name is asked first, and what the tensors do not bear out is not believed.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from engine.models.header import TENSOR_TYPES, TensorInfo

LABEL = re.compile(
    r"(?<![A-Z0-9])(?:IQ[1-4]_(?:XXS|XS|S|M|NL)|Q[2-8]_K(?:_(?:XXL|XL|L|M|S|P))?|Q[1-8]_[01]|TQ[12]_0"
    r"|MXFP4|NVFP4|BF16|FP?16|FP?32)(?![A-Z0-9])",
    re.IGNORECASE,
)
"""How the name of a file tells the quantisation."""

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
    41: "Q2_0",
}
"""Names of llama.cpp's `llama_ftype` as users write them."""

# llama_ftype_get_default_type and tensor_type_fallback in llama.cpp's src/llama-quant.cpp.
_STORED_AS = {
    "IQ2_S": ("IQ2_XS", "IQ2_S"),
    "IQ2_M": ("IQ2_S",),
    "IQ3_XS": ("IQ3_S", "IQ3_XXS"),
    "IQ3_M": ("IQ3_S",),
    "Q8_K": ("Q8_0",),
}
_WITHOUT_WHOLE_BLOCKS = {
    **dict.fromkeys(("Q2_K", "Q3_K", "TQ1_0", "TQ2_0"), "Q4_0"),
    **dict.fromkeys(("IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ4_XS"), "IQ4_NL"),
    "Q4_K": "Q5_0",
    "Q5_K": "Q5_1",
    "Q6_K": "Q8_0",
}
_LEAST_SHARE = 0.2  # of the bytes: mixtures have more of what they are called by


def quantisation(tensors: Sequence[TensorInfo], file_type: int | None, name: str) -> str:
    """The quantisation of a model called `name`; the type of most bytes where no claim is borne out."""
    weights = _layer_matrices(tensors)
    claims = (_label(name), "" if file_type is None else _FILE_TYPES.get(file_type, ""))
    borne_out = [claim for claim in claims if claim and _share(weights, claim) >= _LEAST_SHARE]
    if not borne_out:
        return _sizes(weights).most_common(1)[0][0]
    first, last = borne_out[0], borne_out[-1]
    return last if last.startswith(first) else first  # Q4_K in the name, Q4_K_M in the header


def _label(name: str) -> str:
    """The last quantisation in a name, as it is usually written; empty where there is none."""
    found = LABEL.findall(name)
    return re.sub("^FP", "F", found[-1].upper()) if found else ""


def _layer_matrices(tensors: Sequence[TensorInfo]) -> list[TensorInfo]:
    """The matrices of the layers, which the format of weights is about; all tensors where there are none."""
    layers = [tensor for tensor in tensors if tensor.name.startswith("blk.") and len(tensor.shape) > 1]
    return layers or list(tensors)


def _sizes(tensors: Iterable[TensorInfo]) -> Counter[str]:
    n_bytes: Counter[str] = Counter()
    for tensor in tensors:
        n_bytes[tensor.type_name] += tensor.n_bytes
    return n_bytes


def _share(weights: Sequence[TensorInfo], claim: str) -> float:
    """How much of the bytes is stored as a claimed quantisation stores it, 0 to 1."""
    family = re.sub("(_K)_.*", r"\1", claim)
    types = _STORED_AS.get(family, (family,))
    there = sum(tensor.n_bytes for tensor in weights if _is_stored_as(tensor, types))
    return there / max(sum(tensor.n_bytes for tensor in weights), 1)


def _is_stored_as(tensor: TensorInfo, types: Sequence[str]) -> bool:
    if tensor.type_name in types:
        return True
    substitutes = {
        _WITHOUT_WHOLE_BLOCKS.get(stored.name)
        for stored in TENSOR_TYPES.values()
        if stored.name in types and tensor.shape[0] % stored.block
    }
    return tensor.type_name in substitutes
