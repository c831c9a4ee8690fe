"""What people call a model file, and when the name in its header tells them more."""

from pathlib import Path

import pytest

from engine.models.model_file import called, says_more

REVISION = "models--bartowski--Llama-3.2-1B-Instruct-GGUF/snapshots/067b946cf014b7c697f3654f621d577a3e3afd1c"
BLOB = "sha256-" + "6" * 64


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("SmolLM2-135M-Instruct.Q4_1.gguf", "SmolLM2-135M-Instruct.Q4_1"),
        ("Llama-3.2-3B-Instruct-Q4_K_M.GGUF", "Llama-3.2-3B-Instruct-Q4_K_M"),
        ("publisher/repo/qwen2.5-7b-instruct-q4_k_m.gguf", "qwen2.5-7b-instruct-q4_k_m"),
        (f"{REVISION}/Llama-3.2-1B-Instruct-Q6_K.gguf", "Llama-3.2-1B-Instruct-Q6_K"),
        (f"{REVISION}/ggml-model-q4_k.gguf", "Llama-3.2-1B-Instruct-GGUF/ggml-model-q4_k"),
        ("Jan/models/Qwen3-8B-Q4_K_M/model.gguf", "Qwen3-8B-Q4_K_M/model"),
        ("my-judge/unsloth.Q4_K_M.gguf", "my-judge/unsloth.Q4_K_M"),
        ("Mistral-7B/gguf/Q4_K_M.gguf", "Mistral-7B/Q4_K_M"),
        ("Mistral-7B/Q8_0/f16.gguf", "Mistral-7B/f16"),
        ("16.gguf", "16"),
        ("models/model-of-mine.gguf", "model-of-mine"),
        (f"blobs/{BLOB}", BLOB),
        ("model.bin", "model.bin"),
    ],
)
def test_a_model_is_called_by_its_file(tmp_path: Path, path: str, name: str) -> None:
    assert called(tmp_path / path) == name


def test_no_folder_above_the_home_tells_what_a_model_is(private_home: Path) -> None:
    assert called(private_home / "models" / "model.gguf") == "model"


@pytest.mark.parametrize(
    ("title", "name", "more"),
    [
        ("Smollm2 135M 8k Lc100K Mix1 Ep2", "SmolLM2-135M-Instruct.Q4_1", True),
        ("Llama 3.2 3B Instruct", "llama3.2:latest", True),
        ("LLaMA v2", "llama-2-7b-chat.Q4_K_M", True),
        ("qwen2.5-7b-instruct", "Qwen2.5-7B-Instruct-Q4_K_M", False),
        ("Meta Llama 3.1 8B Instruct", "Meta-Llama-3.1-8B-Instruct-Q4_K_M", False),
        ("Llama 3.2 1B Instruct", "bartowski_Llama-3.2-1B-Instruct-GGUF_Llama-3.2-1B-Instruct-Q8_0", False),
        ("Models", "gemma-3-4b-it-Q4_K_M", False),
        ("model", "gemma-3-4b-it-Q4_K_M", False),
        (".", "granite-7b-lab", False),
        ("/workspace/hf/gemma", "gemma-3-4b-it-Q4_K_M", False),
        ("D:\\hf\\gemma", "gemma-3-4b-it-Q4_K_M", False),
        ("", "gemma-3-4b-it-Q4_K_M", False),
    ],
)
def test_a_header_says_more_only_where_its_name_is_another(title: str, name: str, more: bool) -> None:
    assert says_more(title, name) is more
