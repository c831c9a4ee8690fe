"""Model files: what people call them, the quantisation that they are of, and models in several parts."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from engine.models import model_file
from engine.models.finder import find_models
from engine.models.header import TENSOR_TYPES, TensorInfo, read_header
from tests.small_models import SPLIT, split_model
from tests.steps import refused


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model in three parts."""
    return split_model(tmp_path_factory.mktemp("split")).parent


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Path:
    """The same, to be changed."""
    return Path(shutil.copytree(written, tmp_path / "parts"))


@pytest.mark.parametrize("part", SPLIT)
def test_any_part_leads_to_the_whole_model(written: Path, part: str) -> None:
    parts = [written / name for name in SPLIT]
    model = model_file.read_model_file(written / part)
    assert model.files == tuple(parts)
    assert model.name == "Split-1B-Instruct-F16"
    assert model.size_bytes == sum(path.stat().st_size for path in parts)
    tensors = [tensor for path in parts for tensor in read_header(path).tensors]
    assert model.parameters == sum(tensor.n_elements for tensor in tensors)
    assert len(tensors) > max(len(read_header(path).tensors) for path in parts)


def test_a_split_model_is_listed_once(written: Path) -> None:
    (found,) = find_models([written])
    assert found.path == written / SPLIT[0]
    assert found.name == "Split-1B-Instruct-F16"


@pytest.mark.parametrize("missing", SPLIT)
def test_a_missing_part_is_named_once(folder: Path, missing: str) -> None:
    (folder / missing).unlink()
    (found,) = find_models([folder])
    assert found.error is not None
    assert found.error.problem.startswith(f"{missing}: this part of a model of 3 parts is missing in")
    assert "all parts into one folder" in str(found.error.hint)
    assert found.name == "Split-1B-Instruct-F16"


def test_a_part_of_another_name_is_told_how_parts_are_called(folder: Path) -> None:
    renamed = (folder / SPLIT[1]).rename(folder / "part two.gguf")
    wrong = "this is part 2 of a model that was split into 3"
    error = refused(lambda: model_file.read_model_file(renamed), wrong)
    assert "NAME-00001-of-00003.gguf" in str(error.hint)


@pytest.mark.parametrize(
    ("part", "change", "said"),
    [
        (1, lambda data, _: data[:-100], r"00002-of-00003\.gguf: the download is incomplete"),
        (
            2,
            lambda _, folder: (folder / SPLIT[1]).read_bytes(),
            r"00003-of-00003\.gguf: this is not part 3 of 3",
        ),
        (0, lambda data, _: data.replace(b"0.attn_k.w", b"1.attn_k.w"), "its parts do not belong together"),
    ],
    ids=["unfinished", "in another's place", "of another model"],
)
def test_a_part_that_is_not_as_it_should_is_named(folder: Path, part: int, change: Any, said: str) -> None:
    path = folder / SPLIT[part]
    path.write_bytes(change(path.read_bytes(), folder))
    refused(lambda: model_file.read_model_file(folder / SPLIT[0]), said)


def test_the_names_of_parts() -> None:
    path = Path("folder") / SPLIT[1]
    assert model_file.part_name(path) == model_file.PartName("Split-1B-Instruct-F16", 2, 3, ".gguf")
    assert model_file.first_part(Path("X-00002-OF-00003.GGUF")) == Path("X-00001-of-00003.GGUF")
    assert model_file.first_part(path) == Path("folder") / SPLIT[0]
    assert model_file.part_name(Path("whole.gguf")) is None
    assert model_file.first_part(Path("whole.gguf")) == Path("whole.gguf")


# What people call a model file, and when the name in its header tells them more


REVISION = "models--bartowski--Llama-3.2-1B-Instruct-GGUF/snapshots/067b946cf014b7c697f3654f621d577a3e3afd1c"
BLOB = "sha256-" + "6" * 64


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("SmolLM2-135M-Instruct.Q4_1.gguf", "SmolLM2-135M-Instruct.Q4_1"),
        (f"{REVISION}/Llama-3.2-1B-Instruct-Q6_K.gguf", "Llama-3.2-1B-Instruct-Q6_K"),
        (f"{REVISION}/ggml-model-q4_k.gguf", "Llama-3.2-1B-Instruct-GGUF/ggml-model-q4_k"),
        ("Jan/models/Qwen3-8B-Q4_K_M/model.gguf", "Qwen3-8B-Q4_K_M/model"),
        ("my-judge/unsloth.Q4_K_M.gguf", "my-judge/unsloth.Q4_K_M"),
        ("Mistral-7B/gguf/Q4_K_M.gguf", "Mistral-7B/Q4_K_M"),
        ("16.gguf", "16"),
        ("models/model-of-mine.gguf", "model-of-mine"),
        (f"blobs/{BLOB}", BLOB),
        ("model.bin", "model.bin"),
    ],
)
def test_a_model_is_called_by_its_file(tmp_path: Path, path: str, name: str) -> None:
    assert model_file.called(tmp_path / path) == name


def test_no_folder_above_the_home_tells_what_a_model_is(private_home: Path) -> None:
    assert model_file.called(private_home / "models" / "model.gguf") == "model"


@pytest.mark.parametrize(
    ("title", "name", "more"),
    [
        ("Smollm2 135M 8k Lc100K Mix1 Ep2", "SmolLM2-135M-Instruct.Q4_1", True),
        ("Llama 3.2 3B Instruct", "llama3.2:latest", True),
        ("Meta Llama 3.1 8B Instruct", "Meta-Llama-3.1-8B-Instruct-Q4_K_M", False),
        ("Llama 3.2 1B Instruct", "bartowski_Llama-3.2-1B-Instruct-GGUF_Llama-3.2-1B-Instruct-Q8_0", False),
        ("Models", "gemma-3-4b-it-Q4_K_M", False),
        ("/workspace/hf/gemma", "gemma-3-4b-it-Q4_K_M", False),
        ("D:\\hf\\gemma", "gemma-3-4b-it-Q4_K_M", False),
        ("", "gemma-3-4b-it-Q4_K_M", False),
    ],
)
def test_a_header_says_more_only_where_its_name_is_another(title: str, name: str, more: bool) -> None:
    assert model_file.says_more(title, name) is more


# The quantisation that people say, of headers and file names that tell it, tell it wrong, or do not


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
        ("qwen2.5-7b-instruct-q4_k_m", None, MIXED, "Q4_K_M"),
        ("llama3.2:3b-instruct-q4_K_S", 1024, MIXED, "Q4_K_S"),
        ("my-judge", 15, MIXED, "Q4_K_M"),
        ("my-judge", None, MIXED, "Q4_K"),
        ("my-judge", 1, MIXED, "Q4_K"),
        ("my-judge-f16", 1, MIXED, "Q4_K"),
        ("renamed-Q8_0", 15, MIXED, "Q4_K_M"),
        ("made-of-model-f16-Q4_K_S", None, MIXED, "Q4_K_S"),
        ("judge-Q8_K_XL", 7, weights(("Q8_0", 80), ("BF16", 20)), "Q8_K_XL"),
        ("judge-fp16", None, weights(("F16", 100)), "F16"),
        ("gpt-oss-20b-F16", 1, weights(("MXFP4", 89), ("F16", 11)), "MXFP4"),
        ("gpt-oss-20b-MXFP4_MOE", 38, weights(("MXFP4", 89), ("Q8_0", 11)), "MXFP4"),
        ("judge-IQ3_M", 27, weights(("IQ3_S", 80), ("Q4_K", 20)), "IQ3_M"),
        ("judge-IQ2_S", 28, weights(("IQ2_XS", 70), ("IQ3_S", 30)), "IQ2_S"),
        ("judge-UD-TQ1_0", 24, weights(("IQ1_S", 80), ("Q4_K", 20)), "IQ1_S"),
        ("qwen2.5-0.5b-Q4_K_M", 15, weights(("Q5_0", 80), ("Q8_0", 20), columns=896), "Q4_K_M"),
        ("qwen2.5-0.5b", 15, weights(("Q5_0", 80), ("Q8_0", 20)), "Q5_0"),
    ],
)
def test_what_the_tensors_bear_out_is_said(
    name: str, file_type: int | None, tensors: Sequence[TensorInfo], expected: str
) -> None:
    assert model_file.quantisation(tensors, file_type, name) == expected
    assert model_file.quantisation([*tensors, EMBEDDING], file_type, name) == expected
    assert model_file.quantisation([EMBEDDING], None, "judge") == "Q6_K"  # where there are no layers
