"""Headers that are sound, and headers with one thing wrong: each is refused with the place it is in."""

import dataclasses
import math
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from engine.core.errors import ModelFileError
from engine.models.checks import precheck
from engine.models.header import GgufHeader, HeaderValue, TensorInfo, read_header
from tests.engine.models.damaged import flipped, how_many_are_refused
from tests.small_models import FAMILIES

BYTES = [f"<0x{byte:02X}>".encode() for byte in range(256)]
TOKENS = [b"<unk>", b"<s>", b"</s>", *BYTES, b"a", b"b", b"ab"]
F32, F16, Q4_K, Q6_K, BF16, MXFP4 = 0, 1, 12, 14, 30, 39


def numbers(*values: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.array(values, dtype=np.int32)


METADATA: dict[str, HeaderValue] = {
    "general.architecture": "llama",
    "llama.block_count": 2,
    "llama.context_length": 4096,
    "llama.embedding_length": 256,
    "llama.feed_forward_length": 512,
    "llama.attention.head_count": 8,
    "llama.attention.head_count_kv": 2,
    "llama.attention.layer_norm_rms_epsilon": 1e-5,
    "llama.rope.dimension_count": 32,
    "llama.rope.freq_base": 10_000.0,
    "tokenizer.ggml.model": "llama",
    "tokenizer.ggml.tokens": TOKENS,
    "tokenizer.ggml.scores": np.zeros(len(TOKENS), dtype=np.float32),
    "tokenizer.ggml.token_type": numbers(2, 3, 3, *[6] * 256, 1, 1, 1),
    "tokenizer.ggml.bos_token_id": 1,
    "tokenizer.ggml.eos_token_id": 2,
}


RWKV: dict[str, HeaderValue] = {
    "tokenizer.ggml.model": "rwkv",
    "tokenizer.ggml.tokens": [
        *(b"<s>", b"\\t", b"\\n", b"\\r", b"\\\\", b"a word", b"three", b"more", b"of", b"them"),
        *(bytes((byte,)) for byte in range(32, 127) if byte != ord("\\")),
        *(b"\\x%02x" % byte for byte in range(256) if not 32 <= byte < 127 and byte not in b"\t\n\r"),
    ],
}
"""A token for each byte, spelt as the converter spells them."""


def tensor(name: str, shape: tuple[int, ...], type_id: int) -> TensorInfo:
    return TensorInfo(name, shape, type_id, 0, 0)


TENSORS = (
    tensor("token_embd.weight", (256, len(TOKENS)), Q6_K),
    tensor("blk.0.attn_norm.weight", (256,), F32),
    tensor("blk.0.attn_q.weight", (256, 256), Q4_K),
    tensor("blk.0.attn_q.bias", (256,), F32),
    tensor("rope_freqs.weight", (16,), F32),
)
SOUND = GgufHeader(3, METADATA, TENSORS, 0, 0, "model.gguf")


def changed(changes: Mapping[str, HeaderValue | None], *more: TensorInfo) -> GgufHeader:
    """The sound header with keys replaced, or left out where the value is None, and tensors added."""
    metadata = {key: value for key, value in {**METADATA, **changes}.items() if value is not None}
    return dataclasses.replace(SOUND, metadata=metadata, tensors=(*TENSORS, *more))


def as_architecture(name: str, changes: Mapping[str, HeaderValue | None]) -> GgufHeader:
    """The sound header under another architecture's name; `changes` are of that architecture's keys."""
    renamed = {key.replace("llama.", f"{name}.", 1): value for key, value in METADATA.items()}
    own = {f"{name}.{key}": value for key, value in changes.items()}
    metadata = renamed | {"general.architecture": name} | own
    kept = {key: value for key, value in metadata.items() if value is not None}
    return dataclasses.replace(SOUND, metadata=kept)


def refusal(header: GgufHeader) -> ModelFileError:
    with pytest.raises(ModelFileError) as caught:
        precheck(header)
    return caught.value


@pytest.mark.parametrize("family", FAMILIES)
def test_small_models_that_run_are_accepted(small_model: Callable[[str], Path], family: str) -> None:
    precheck(read_header(small_model(family)))


@pytest.mark.parametrize("name", ["llama-bpe", "llama-spm", "phi-3", "qwen2"])
def test_real_vocabularies_are_refused_only_for_want_of_a_model(shared_data: Path, name: str) -> None:
    header = read_header(shared_data / "vocabularies" / f"{name}.gguf")
    assert "vocabulary only" in refusal(header).problem
    tokens = header.metadata["tokenizer.ggml.tokens"]
    assert isinstance(tokens, list)
    embedding = tensor("token_embd.weight", (4096, len(tokens)), F16)
    precheck(dataclasses.replace(header, tensors=(embedding,)))


@pytest.mark.parametrize(
    "changes",
    [
        {"llama.attention.head_count_kv": None, "llama.rope.dimension_count": None},
        {"llama.attention.head_count_kv": numbers(2, 0), "llama.attention.head_count": numbers(8, 0)},
        {"llama.expert_count": 8, "llama.expert_used_count": 2},
        {"llama.expert_count": 8, "llama.expert_used_count": 2, "llama.expert_group_count": 1},
        {"llama.rope.scaling.type": "yarn", "llama.rope.scaling.factor": 4.0},
        {"llama.attention.key_length": 64, "llama.attention.value_length": 64},
        {"tokenizer.ggml.scores": None, "tokenizer.ggml.token_type": None},
        {"tokenizer.ggml.padding_token_id": 0xFFFFFFFF, "tokenizer.ggml.eot_token_id": 0xFFFFFFFF},
        {"tokenizer.ggml.padding_token_id": len(TOKENS)},
        {"tokenizer.ggml.tokens": [*TOKENS[:-2], b"", b""]},
        {**RWKV, "tokenizer.ggml.scores": None, "tokenizer.ggml.token_type": None},
        {"llama.pooling_type": 0, "llama.attention.causal": True},
        {"general.type": "model", "split.count": 1},
    ],
    ids=",".join,
)
def test_sound_variants_are_accepted(changes: dict[str, HeaderValue | None]) -> None:
    precheck(changed(changes))


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("qwen2", {"rope.dimension_count": None}),
        ("qwen3", {"attention.key_length": 32, "attention.value_length": 32}),
        ("gemma3", {"attention.key_length": 256, "rope.dimension_count": None}),
        ("mamba", {"attention.head_count": 0, "rope.dimension_count": 0}),
        ("nemotron_h", {"attention.head_count": numbers(0, 8), "attention.head_count_kv": numbers(0, 2)}),
        ("mpt", {"rope.dimension_count": 0}),
    ],
)
def test_other_architectures_are_accepted(name: str, changes: dict[str, HeaderValue | None]) -> None:
    precheck(as_architecture(name, changes))


@pytest.mark.parametrize("type_id", [0, 1, 2, 3, 6, 7, 8, *range(10, 15), *range(16, 24), 29, 30, 34, 35, 39])
def test_all_types_that_llama_cpp_computes_with_are_accepted(type_id: int) -> None:
    precheck(changed({}, tensor("blk.1.ffn_up.weight", (256, 512), type_id)))


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"general.type": "LoRA"}, "adapter"),
        ({"general.type": "mmproj"}, "projector"),
        ({"split.count": 3, "split.no": 1}, "part 2 of a model that was split into 3 files"),
        ({"general.architecture": None}, "'general.architecture' is missing"),
        ({"general.architecture": 7}, "'general.architecture' is not a text"),
        ({"general.architecture": "jina-bert-v3"}, "encoder"),
        ({"general.architecture": "t5encoder"}, "encoder"),
        ({"general.architecture": "t5"}, "encoder-decoder"),
        ({"general.architecture": "flux"}, "generator of images"),
        ({"llama.pooling_type": 4}, "reranker: it was not made to generate text"),
        ({"llama.attention.causal": False}, "bidirectional model"),
        ({"general.architecture": "zeta9"}, "'zeta9'"),
        ({"llama.block_count": None}, "'llama.block_count' is missing"),
        ({"llama.block_count": 0}, "'llama.block_count' is 0"),
        ({"llama.block_count": "two"}, "'llama.block_count' is not a whole number"),
        ({"llama.attention.head_count": None}, "'llama.attention.head_count' is missing or 0"),
        ({"llama.attention.head_count": 1 << 30}, "'llama.attention.head_count' is 1,073,741,824"),
        ({"llama.attention.head_count_kv": 3}, "8 heads"),
        ({"llama.attention.head_count_kv": numbers(2, 3)}, "cannot share 3"),
        ({"llama.attention.key_length": 0}, "'llama.attention.key_length' is 0"),
        ({"llama.rope.dimension_count": 0}, "'llama.rope.dimension_count' is 0"),
        ({"llama.rope.dimension_count": 31}, "'llama.rope.dimension_count' is 31"),
        ({"llama.rope.dimension_count": 64}, "'llama.rope.dimension_count' is 64"),
        ({"llama.expert_count": 8}, "'llama.expert_count' is 8, 0 are used"),
        ({"llama.expert_count": 2, "llama.expert_used_count": 4}, "expert counts"),
        ({"llama.expert_used_count": 2}, "expert counts"),
        ({"llama.expert_count": 5000, "llama.expert_used_count": 2}, "expert counts"),
        ({"llama.rope.scaling.type": "magic"}, "'llama.rope.scaling.type' is 'magic'"),
        ({"llama.attention.layer_norm_rms_epsilon": 0.0}, "epsilon' is 0"),
        ({"llama.rope.freq_base": math.nan}, "'llama.rope.freq_base' is nan"),
        ({"tokenizer.ggml.model": None}, "no tokenizer"),
        ({"tokenizer.ggml.tokens": None}, "no tokenizer"),
        ({"tokenizer.ggml.tokens": numbers(1, 2)}, "'tokenizer.ggml.tokens' is not a list of texts"),
        ({"tokenizer.ggml.scores": np.zeros(3, dtype=np.float32)}, "'tokenizer.ggml.scores' has 3 entries"),
        ({"tokenizer.ggml.scores": np.zeros(len(TOKENS))}, "'tokenizer.ggml.scores' is not a list of 4-byte"),
        ({"tokenizer.ggml.tokens": [*TOKENS[:-1], b"a\0x"]}, "token 'a' 2 times"),
        ({"tokenizer.ggml.merges": [b"a b", b""]}, "'tokenizer.ggml.merges' is empty at entry 1"),
        ({"tokenizer.ggml.tokens": [*TOKENS[:3], b"<0xZZ>", *TOKENS[4:]]}, "no token for byte <0x00>"),
        (
            {"tokenizer.ggml.token_type": numbers(2, 3, 3, *[6] * 256, 1, 1, 6)},
            "token 261 is marked as a byte",
        ),
        (
            {"tokenizer.ggml.bos_token_id": 262},
            "'tokenizer.ggml.bos_token_id' is 262, but there are 262 tokens",
        ),
        ({"tokenizer.ggml.model": "rwkv"}, "the tokenizer, 'rwkv', has no token for byte 0x00"),
    ],
)
def test_what_would_break_llama_cpp_or_cannot_judge_is_refused(
    changes: dict[str, HeaderValue | None], what: str
) -> None:
    error = refusal(changed(changes))
    assert error.problem.startswith("model.gguf: ")
    assert what in error.problem
    assert error.hint


@pytest.mark.parametrize(
    ("one", "what"),
    [
        (tensor("blk.1.attn_norm.weight", (256,), BF16), "one dimension and type BF16"),
        (tensor("blk.1.ffn_up.weight", (256, 8), 9), "has type Q8_1"),
        (tensor("blk.1.ffn_up.weight", (256, 8), 24), "has type I8"),
        (tensor("blk.1.ffn_up.weight", (256, 8), 999), "has type number 999"),
        (tensor("blk.1.ffn_up.weight", (250, 8), MXFP4), "rows of 250 numbers"),
    ],
)
def test_a_tensor_that_llama_cpp_cannot_compute_with_is_refused(one: TensorInfo, what: str) -> None:
    problem = refusal(changed({}, one)).problem
    assert repr(one.name) in problem
    assert what in problem


@pytest.mark.parametrize(
    ("type_id", "found", "hint"),
    [
        (31, "Q4_0_4_4 or similar, which llama.cpp dropped in 2024", "the Q4_0 edition"),
        (36, "IQ4_NL_4_4 or similar", "the IQ4_NL edition"),
        (139, "stored as only ik_llama.cpp can read", "llama.cpp itself"),
    ],
)
def test_types_of_other_times_and_programs_are_known(type_id: int, found: str, hint: str) -> None:
    error = refusal(changed({}, tensor("blk.1.ffn_up.weight", (256, 8), type_id)))
    assert found in error.problem
    assert hint in str(error.hint)


def test_an_encoder_a_split_model_and_a_vocabulary_are_told_what_they_are_for() -> None:
    assert "BERTScore" in str(refusal(changed({"general.architecture": "bert"})).hint)
    assert "BERTScore" not in str(refusal(changed({"general.architecture": "nomic-bert"})).hint)
    assert "llama-gguf-split --merge" in str(refusal(changed({"split.count": 2})).hint)
    assert "vocabulary only" in refusal(dataclasses.replace(SOUND, tensors=())).problem


@pytest.mark.parametrize(("shape", "rows"), [((256, 9), "9 rows"), ((256,), "no rows")])
def test_an_embedding_of_another_vocabulary_is_refused(shape: tuple[int, ...], rows: str) -> None:
    embedding = tensor("token_embd.weight", shape, F32)
    assert f"has {rows} for 262 tokens" in refusal(changed({}, embedding)).problem


@pytest.mark.parametrize("rotated", [16, 33, 64])
def test_qwen_rotates_whole_heads(rotated: int) -> None:
    header = as_architecture("qwen3", {"rope.dimension_count": rotated})
    assert f"is {rotated}, which does not match heads of size 32" in refusal(header).problem


def test_queries_of_qwen_have_the_size_of_its_heads() -> None:
    header = as_architecture("qwen2", {"attention.head_count": 4, "rope.dimension_count": None})
    precheck(header)
    narrow = tensor("blk.1.attn_q.weight", (256, 128), Q4_K)
    assert "'blk.1.attn_q.weight'" in refusal(dataclasses.replace(header, tensors=(*TENSORS, narrow))).problem


def test_random_changes_raise_nothing_but_a_model_file_error(
    small_model: Callable[[str], Path], tmp_path: Path
) -> None:
    path = small_model("instructions")
    changed_files = flipped(path, tmp_path / "changed.gguf", read_header(path).data_offset, 200)
    assert 0 < how_many_are_refused(lambda file: precheck(read_header(file)), changed_files) < 200
