"""The quantisation that people say, of headers and file names that tell it, tell it wrong, or do not."""

from collections.abc import Sequence

import pytest

from engine.models.header import TENSOR_TYPES, TensorInfo
from engine.models.model_file import quantisation

TYPE_IDS = {stored.name: type_id for type_id, stored in TENSOR_TYPES.items()}
MILLION = 1 << 20


def weights(*parts: tuple[str, int], columns: int = 4096, name: str = "ffn_up") -> list[TensorInfo]:
    """Matrices of a layer; `parts`: the types and how many millions of bytes there are of each."""
    return [
        TensorInfo(f"blk.0.{name}.{index}.weight", (columns, 256), TYPE_IDS[kind], 0, size * MILLION)
        for index, (kind, size) in enumerate(parts)
    ]


EMBEDDING = TensorInfo("token_embd.weight", (4096, 256), TYPE_IDS["Q6_K"], 0, 5000 * MILLION)
MIXED = weights(("Q4_K", 75), ("Q6_K", 25))


@pytest.mark.parametrize(
    ("name", "file_type", "tensors", "expected"),
    [
        ("Llama-3.2-3B-Instruct-Q4_K_M", 15, MIXED, "Q4_K_M"),
        ("Llama-3.2-3B-Instruct-Q4_K_L", 15, MIXED, "Q4_K_L"),
        ("Qwen3-4B-UD-Q4_K_XL", 15, MIXED, "Q4_K_XL"),
        ("qwen2.5-7b-instruct-q4_k_m", None, MIXED, "Q4_K_M"),
        ("ggml-model-q4_k", 15, MIXED, "Q4_K_M"),
        ("llama3.2:3b-instruct-q4_K_S", 1024, MIXED, "Q4_K_S"),
        ("my-judge", 15, MIXED, "Q4_K_M"),
        ("my-judge", None, MIXED, "Q4_K"),
        ("my-judge", 1024, MIXED, "Q4_K"),
        ("my-judge", 1, MIXED, "Q4_K"),
        ("my-judge-f16", 1, MIXED, "Q4_K"),
        ("renamed-Q8_0", 15, MIXED, "Q4_K_M"),
        ("made-of-model-f16-Q4_K_S", None, MIXED, "Q4_K_S"),
        ("judge", 7, weights(("Q8_0", 100)), "Q8_0"),
        ("judge-Q8_K_XL", 7, weights(("Q8_0", 80), ("BF16", 20)), "Q8_K_XL"),
        ("judge-fp16", None, weights(("F16", 100)), "F16"),
        ("judge", 32, weights(("BF16", 100)), "BF16"),
        ("gpt-oss-20b-F16", 1, weights(("MXFP4", 89), ("F16", 11)), "MXFP4"),
        ("gpt-oss-20b-MXFP4_MOE", 38, weights(("MXFP4", 89), ("Q8_0", 11)), "MXFP4"),
        ("gpt-oss:20b", 4, weights(("MXFP4", 89), ("BF16", 11)), "MXFP4"),
        ("judge-IQ3_M", 27, weights(("IQ3_S", 80), ("Q4_K", 20)), "IQ3_M"),
        ("judge-IQ2_S", 28, weights(("IQ2_XS", 70), ("IQ3_S", 30)), "IQ2_S"),
        ("judge-IQ4_XS", 30, weights(("IQ4_XS", 90), ("Q5_K", 10)), "IQ4_XS"),
        ("judge-UD-TQ1_0", 24, weights(("IQ1_S", 80), ("Q4_K", 20)), "IQ1_S"),
        ("judge-TQ2_0", 37, weights(("TQ2_0", 100)), "TQ2_0"),
        ("qwen2.5-0.5b-Q4_K_M", 15, weights(("Q5_0", 80), ("Q8_0", 20), columns=896), "Q4_K_M"),
        ("qwen2.5-0.5b", 15, weights(("Q5_0", 80), ("Q8_0", 20)), "Q5_0"),
    ],
)
def test_what_the_tensors_bear_out_is_said(
    name: str, file_type: int | None, tensors: Sequence[TensorInfo], expected: str
) -> None:
    assert quantisation(tensors, file_type, name) == expected
    assert quantisation([*tensors, EMBEDDING], file_type, name) == expected


def test_without_layers_all_tensors_count() -> None:
    assert quantisation([EMBEDDING], None, "judge") == "Q6_K"
