"""Model files described by their headers, and their memory estimated."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.cli.shared.hints import OPTIONS
from engine.models.header import GgufHeader, HeaderValue, TensorInfo, read_header
from engine.models.memory import Fit, MemoryEstimate, check_memory, memory_fit, memory_needed
from engine.models.model_file import ModelFile, describe, read_model_file
from engine.settings.rows import KvType
from engine.system.computer import Memory, available_memory
from tests.steps import refused, there

SmallModel = Callable[[str], Path]

GIB = 1 << 30
# Llama-3.1-8B as its published header has it, at 4.5 bits per weight.
LLAMA_8B: dict[str, HeaderValue] = {
    "general.architecture": "llama",
    "general.name": "Llama 3.1 8B",
    "general.file_type": 15,
    "llama.block_count": 32,
    "llama.context_length": 131_072,
    "llama.embedding_length": 4096,
    "llama.attention.head_count": 32,
    "llama.attention.head_count_kv": 8,
    "tokenizer.ggml.tokens": [b"%d" % number for number in range(128_256)],
    "tokenizer.chat_template": "{{ messages }}",
}
TENSORS = (
    TensorInfo("token_embd.weight", (4096, 128_256), 12, 0, 295_501_824),
    TensorInfo("output_norm.weight", (4096,), 0, 0, 16_384),
)


def described(**changes: HeaderValue | None) -> ModelFile:
    """Llama-3.1-8B with keys replaced (`__` for a dot), or left out where the value is None."""
    renamed = {key.replace("__", "."): value for key, value in changes.items()}
    metadata = {key: value for key, value in {**LLAMA_8B, **renamed}.items() if value is not None}
    header = GgufHeader(3, metadata, TENSORS, 0, 4_920_000_000, "llama.gguf")
    return describe(header, Path("llama.gguf"))


def test_a_model_is_described_by_its_header() -> None:
    assert described() == ModelFile(
        path=Path("llama.gguf"),
        size_bytes=4_920_000_000,
        name="llama",
        architecture="llama",
        quantisation="Q4_K_M",
        parameters=4096 * 128_256 + 4096,
        trained_context=131_072,
        kv_bytes_per_token=131_072,
        vocabulary_size=128_256,
        has_chat_template=True,
        title="Llama 3.1 8B",
        layers=32,
    )


def test_a_file_is_read_checked_and_described_and_a_tiny_model_fits_here(small_model: SmallModel) -> None:
    path = small_model("chatml")
    model = read_model_file(path)
    assert (model.path, model.size_bytes) == (path, path.stat().st_size)
    assert model.parameters == sum(tensor.n_elements for tensor in read_header(path).tensors)
    memory = there(available_memory())
    assert 0 < memory.available <= memory.total
    assert check_memory(read_model_file(small_model("chatml")), 256) is None


def test_a_file_that_cannot_judge_is_not_described(shared_data: Path) -> None:
    refused(lambda: read_model_file(shared_data / "vocabularies" / "phi-3.gguf"), "vocabulary only")


def test_a_model_says_what_it_is_for_how_many_experts_it_has_and_that_it_may_be_a_base_model() -> None:
    assert described(tiebreak__notice=" for trying only ").notice == "for trying only"
    assert described().size_in_words == "525.3 M"
    mixture = described(llama__expert_count=8, llama__expert_used_count=2)
    assert mixture.size_in_words == "525.3 M (2 of 8 experts at a time)"
    assert described().remarks == ()
    pairs = {"tokenizer__ggml__model": "gpt2"}  # a tokenizer that merges pairs inside what text is split into
    assert described(**pairs, tokenizer__ggml__pre="llama-bpe").remarks == ()
    assert described(tokenizer__ggml__model="llama").remarks == ()
    (remark,) = described(**pairs).remarks
    assert "tokenizer.ggml.pre" in remark
    (remark,) = described(tokenizer__chat_template=None).remarks
    assert remark.startswith("no chat template: ")
    assert "base model" in remark


@pytest.mark.parametrize("name", [None, "  ", 7])
def test_a_header_may_give_no_name(name: HeaderValue | None) -> None:
    model = described(general__name=name)
    assert (model.name, model.title, model.other_name) == ("llama", "", "")


@pytest.mark.parametrize("file_type", [None, 1024, 4])
def test_without_a_known_file_type_the_type_of_most_bytes_counts(file_type: int | None) -> None:
    assert described(general__file_type=file_type).quantisation == "Q4_K"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, 32 * 8 * (128 + 128) * 2),
        ({"llama__attention__head_count_kv": None}, 32 * 32 * (128 + 128) * 2),
        ({"llama__attention__head_count_kv": np.array([8, 0, 4, 4], "i4")}, 16 * (128 + 128) * 2),
        ({"llama__attention__key_length": 192}, 32 * 8 * (192 + 128) * 2),
        ({"llama__attention__head_count": None, "llama__attention__head_count_kv": None}, 0),
    ],
)
def test_kv_bytes_for_each_token(changes: dict[str, HeaderValue | None], expected: int) -> None:
    assert described(**changes).kv_bytes_per_token == expected


def test_the_memory_of_a_real_model_is_as_computed_by_hand() -> None:
    estimate = memory_needed(described(), context=8192)
    # 8192 x 128 KiB; 512 x 128,256 x 4 + 45 MiB
    assert estimate == MemoryEstimate(weights=4_920_000_000, kv_cache=GIB, buffers=262_668_288 + 47_185_920)
    assert estimate.total == 4_920_000_000 + 1_073_741_824 + 309_854_208
    rounder = memory_needed(described(), context=8192, kv_type=KvType.Q8_0)
    assert rounder == replace(estimate, kv_cache=GIB * 34 // 64)  # 34 bytes for 32 numbers


@pytest.mark.parametrize(
    ("changes", "whole_blocks"),
    [
        ({}, True),
        ({"llama__attention__key_length": 80}, False),
        ({"llama__attention__value_length": 80}, False),
        ({"llama__embedding_length": 32 * 48}, False),
        ({"llama__attention__head_count": None, "llama__attention__head_count_kv": None}, True),
    ],
)
def test_q8_0_is_for_heads_of_full_blocks(changes: dict[str, HeaderValue | None], whole_blocks: bool) -> None:
    assert (KvType.Q8_0 in described(**changes).kv_types) is whole_blocks
    assert KvType.F16 in described(**changes).kv_types


def test_a_cache_that_a_model_cannot_have_is_refused_and_a_smaller_one_can_make_it_fit() -> None:
    model, memory = described(llama__attention__key_length=80), Memory(64 * GIB, 64 * GIB)
    wrong = "does not support the KV-cache type q8_0"
    error = refused(lambda: check_memory(model, 8192, memory, KvType.Q8_0), wrong)
    assert "--kv-type f16" in OPTIONS.of(error.hint)
    memory = Memory(GIB, 16 * GIB)
    assert check_memory(described(), 8192, memory, KvType.Q8_0)
    assert "--kv-type q8_0" in OPTIONS.of(refused(lambda: check_memory(described(), 8192, memory)).hint)


@pytest.mark.parametrize(
    ("available", "total", "expected"),
    [
        (16, 32, Fit.FITS),
        (9, 32, Fit.TIGHT),
        (2, 32, Fit.DOES_NOT_FIT),
        (9, 10, Fit.TIGHT),
        (9, 9, Fit.DOES_NOT_FIT),
    ],
)
def test_weights_may_exceed_what_is_free_but_not_the_rest(available: int, total: int, expected: Fit) -> None:
    estimate = MemoryEstimate(weights=7, kv_cache=2, buffers=1)
    assert memory_fit(estimate, Memory(available, total)) is expected
    assert memory_fit(estimate, None) is Fit.NOT_KNOWN


def test_a_tight_model_is_announced_with_the_estimate_and_one_that_fits_needs_no_notice() -> None:
    assert check_memory(described(), 8192, Memory(12 * GIB, 16 * GIB)) is None
    notice = check_memory(described(), 8192, Memory(3 * GIB, 16 * GIB)) or ""
    assert "llama with a context of 8,192 tokens needs about 5.9 GiB (weights 4.6 GiB" in notice
    assert "KV cache 1.0 GiB, buffers 296 MiB); 3.0 GiB of 16.0 GiB are free" in notice


@pytest.mark.parametrize("memory", [Memory(GIB, 16 * GIB), Memory(4 * GIB, 5 * GIB)])
def test_a_model_that_does_not_fit_is_refused_with_a_remedy(memory: Memory) -> None:
    error = refused(lambda: check_memory(described(), 8192, memory), r"needs about 5\.9 GiB")
    assert "--context" in OPTIONS.of(error.hint)
