"""Model files as they are in the world: headers as published files have them, over tensors of a few bytes.

They can be listed and described, not loaded. The fields are those that llama.cpp logged of such files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import gguf
import numpy as np

from models.demo.gguf_files import add_vocabulary, written
from tests.random_models import CHATML, add_value, byte_level_bpe

Value = str | int | bool | Sequence[str]

_TABLE = byte_level_bpe(("<|endoftext|>", "<|im_end|>"), pre="qwen2")
_COLUMNS, _ROWS = 256, 256
Q4_K_M = ("Q4_K", "Q4_K", "Q4_K", "Q6_K")


@dataclass(frozen=True)
class PublishedFile:
    """A file to be written. `keys`: of the header; `.` at the beginning stands for the architecture.

    `types`: of the matrices of the one layer. `tensors_per_part`: more than 0 for a split model. `more`:
    names of further tensors.
    """

    path: str
    architecture: str = "llama"
    keys: Mapping[str, Value] = field(default_factory=dict)
    types: Sequence[str | int] = Q4_K_M
    template: bool = True
    context: int = 8192
    tensors_per_part: int = 0
    big_endian: bool = False
    more: Sequence[str] = ()

    def write(self, folder: Path) -> Path:
        """Write it into a folder; the path that was asked for."""
        path = folder / self.path
        path.parent.mkdir(parents=True, exist_ok=True)
        endian = gguf.GGUFEndian.BIG if self.big_endian else gguf.GGUFEndian.LITTLE
        writer = gguf.GGUFWriter(
            path, self.architecture, endianess=endian, split_max_tensors=self.tensors_per_part
        )
        for key, value in self.keys.items():
            add_value(writer, f"{self.architecture}{key}" if key.startswith(".") else key, value)
        writer.add_block_count(1)
        writer.add_context_length(self.context)
        writer.add_embedding_length(_COLUMNS)
        writer.add_head_count(4)
        writer.add_head_count_kv(2)
        add_vocabulary(writer, _TABLE, CHATML if self.template else None)
        if self.types:
            embedding = np.zeros((len(_TABLE.tokens), _COLUMNS), np.float16)
            writer.add_tensor("token_embd.weight", embedding)
        for number, kind in enumerate(self.types):
            _add_matrix(writer, f"blk.0.matrix_{number}.weight", kind)
        for name in self.more:
            _add_matrix(writer, name, "F16")
        return written(writer, path)


def _add_matrix(writer: gguf.GGUFWriter, name: str, kind: str | int) -> None:
    if isinstance(kind, int):  # a type that the package does not know
        writer.add_tensor(name, np.zeros((_ROWS, _COLUMNS), np.float16), raw_dtype=kind)  # type: ignore[arg-type]
        return
    stored = gguf.GGMLQuantizationType[kind]
    block, size = gguf.GGML_QUANT_SIZES[stored]
    writer.add_tensor(name, np.zeros((_ROWS, _COLUMNS // block * size), np.uint8), raw_dtype=stored)


def named(name: str, file_type: int | None = 15, **general: Value | None) -> dict[str, Value]:
    """The general keys as converters write them; fewer where a value is None."""
    told: dict[str, Value | None] = {"type": "model", "name": name, "file_type": file_type, **general}
    return {f"general.{key}": value for key, value in told.items() if value is not None}


@dataclass(frozen=True)
class Listed:
    """What the lists show of a file: the columns that tell what it is, and what is said beside them."""

    name: str
    quantisation: str
    context: str = "8,192"
    remarks: tuple[str, ...] = ()


_REPOSITORY = "hub/models--ggml-org--gemma-3-4b-it-GGUF/snapshots/d0976223747697cb51e056d85c532013931fe52e"

JUDGES: Sequence[tuple[PublishedFile, Listed]] = [
    (
        PublishedFile(
            "SmolLM2-135M-Instruct.Q4_1.gguf",
            keys=named(
                "Smollm2 135M 8k Lc100K Mix1 Ep2",
                file_type=3,
                finetune="8k-lc100k-mix1-ep2",
                basename="smollm2",
                size_label="135M",
                languages=["en"],
            ),
            types=["Q4_1"] * 3,
        ),
        Listed(
            "SmolLM2-135M-Instruct.Q4_1",
            "Q4_1",
            remarks=("called Smollm2 135M 8k Lc100K Mix1 Ep2 in its header",),
        ),
    ),
    (
        PublishedFile(
            "llama-2-7b-chat.Q4_K_M.gguf",
            keys=named("LLaMA v2", type=None),
            template=False,
            context=4096,
        ),
        Listed(
            "llama-2-7b-chat.Q4_K_M",
            "Q4_K_M",
            "4,096",
            ("called LLaMA v2 in its header", "no chat template: plain text is used"),
        ),
    ),
    (
        PublishedFile(
            "qwen2.5-7b-instruct-q4_k_m.gguf",
            "qwen2",
            named("qwen2.5-7b-instruct", finetune="qwen2.5-7b-instruct", size_label="7.6B", version="v0.1"),
            context=131_072,
            tensors_per_part=3,
        ),
        Listed("qwen2.5-7b-instruct-q4_k_m", "Q4_K_M", "131,072"),
    ),
    (
        PublishedFile(
            "Qwen3-4B-UD-Q4_K_XL.gguf",
            "qwen3",
            named("Qwen3-4B", basename="Qwen3-4B", quantized_by="Unsloth", size_label="4B"),
            context=40_960,
        ),
        Listed("Qwen3-4B-UD-Q4_K_XL", "Q4_K_XL", "40,960"),
    ),
    (
        PublishedFile(
            "Qwen3-30B-A3B-Q6_K.gguf",
            "qwen3moe",
            named("Qwen3 30B A3B", file_type=18, size_label="30B-A3B")
            | {".expert_count": 128, ".expert_used_count": 8},
            ["Q6_K"] * 3,
        ),
        Listed("Qwen3-30B-A3B-Q6_K", "Q6_K"),
    ),
    (
        PublishedFile(
            f"{_REPOSITORY}/gemma-3-4b-it-Q8_0.gguf", "gemma3", named("Gemma 3 4b It", 7), ["Q8_0"]
        ),
        Listed("gemma-3-4b-it-Q8_0", "Q8_0"),
    ),
    (
        PublishedFile(f"{_REPOSITORY}/ggml-model-q4_k.gguf", "gemma3", named("Models")),
        Listed("gemma-3-4b-it-GGUF/ggml-model-q4_k", "Q4_K_M"),
    ),
    (
        PublishedFile("Jan/models/Phi-3.5-mini-instruct_Q4_K_M/model.gguf", "phi3", named("Phi 3.5 Mini")),
        Listed("Phi-3.5-mini-instruct_Q4_K_M/model", "Q4_K_M"),
    ),
    (
        PublishedFile(
            "gpt-oss-20b-F16.gguf",
            "gpt-oss",
            named("Gpt-Oss-20B", 1),
            [*["MXFP4"] * 20, "F16"],
            context=131_072,
        ),
        Listed("gpt-oss-20b-F16", "MXFP4", "131,072"),
    ),
    (
        PublishedFile(
            "Mistral-Small-3.2-24B-Instruct-2506-IQ4_XS.gguf", "mistral3", named("Models", 30), ["IQ4_XS"]
        ),
        Listed("Mistral-Small-3.2-24B-Instruct-2506-IQ4_XS", "IQ4_XS"),
    ),
    (
        PublishedFile("granite-7b-lab.gguf", keys=named(".", None, type=None)),
        Listed("granite-7b-lab", "Q4_K"),
    ),
    (
        PublishedFile("merge-of-mine.gguf", keys=named("/workspace/merges/out", 1), types=["Q5_K"] * 2),
        Listed("merge-of-mine", "Q5_K"),
    ),
    (PublishedFile("nameless.Q2_K.gguf", types=["Q2_K", "Q3_K"]), Listed("nameless.Q2_K", "Q2_K")),
    (
        PublishedFile(
            "Falcon3-1B-Instruct-1.58bit-TQ2_0.gguf", keys=named("Falcon3 1B", 37), types=["TQ2_0"]
        ),
        Listed("Falcon3-1B-Instruct-1.58bit-TQ2_0", "TQ2_0"),
    ),
]
"""Files that can judge, and how they are listed."""

OTHERS: Sequence[tuple[PublishedFile, str, str]] = [
    (
        PublishedFile(
            "nomic-embed-text-v1.5.f16.gguf",
            "nomic-bert",
            {".pooling_type": 1, ".attention.causal": False},
        ),
        "nomic-embed-text-v1.5.f16",
        "is an encoder, which cannot generate text",
    ),
    (
        PublishedFile("Qwen3-Embedding-0.6B-Q8_0.gguf", "qwen3", {".pooling_type": 3}),
        "Qwen3-Embedding-0.6B-Q8_0",
        "this is an embedding model: it was not made to generate text",
    ),
    (
        PublishedFile(
            "Qwen3-Reranker-0.6B.gguf",
            "qwen3",
            {".pooling_type": 4, ".classifier.output_labels": ["yes", "no"]},
        ),
        "Qwen3-Reranker-0.6B",
        "this is a reranker",
    ),
    (
        PublishedFile("my-lora-f16.gguf", keys={"general.type": "adapter", "adapter.type": "lora"}),
        "my-lora-f16",
        "this is an adapter (LoRA) for another model",
    ),
    (
        PublishedFile("vision-f16.gguf", "clip", {"general.type": "mmproj"}),
        "vision-f16",
        "this is the image projector of another model",
    ),
    (
        PublishedFile("Qwen3-8B.imatrix.gguf", "imatrix", {"general.type": "imatrix"}),
        "Qwen3-8B.imatrix",
        "this is an importance matrix",
    ),
    (PublishedFile("vocabulary.gguf", types=[]), "vocabulary", "a vocabulary only"),
    (PublishedFile("EAGLE3-Llama-3.1-8B.gguf", "eagle3"), "EAGLE3-Llama-3.1-8B", "a draft model"),
    (PublishedFile("flux1-dev-Q4_0.gguf", "flux"), "flux1-dev-Q4_0", "a generator of images"),
    (PublishedFile("Llama-3-8B-be.gguf", big_endian=True), "Llama-3-8B-be", "for big-endian machines"),
    (PublishedFile("L3-Q4_0_4_4.gguf", types=[31]), "L3-Q4_0_4_4", "which llama.cpp dropped in 2024"),
    (PublishedFile("L3-IQ4_K.gguf", types=[139]), "L3-IQ4_K", "only ik_llama.cpp can read"),
    (
        PublishedFile("gemma3-4b.gguf", "gemma3", more=["mm.mm_input_projection.weight", "v.post_ln.weight"]),
        "gemma3-4b",
        "'mm.mm_input_projection.weight' is one of Ollama's own engine",
    ),
    (
        PublishedFile("qwen3.5.gguf", "qwen35", more=["mtp.fc.weight"]),
        "qwen3.5",
        "'mtp.fc.weight' is one of Ollama's own engine",
    ),
    (
        PublishedFile("gpt-oss.gguf", "gptoss"),
        "gpt-oss",
        "its architecture 'gptoss' is one of Ollama's own engine, which llama.cpp cannot load",
    ),
    (
        PublishedFile("tomorrow-9B-Q4_K_M.gguf", "tomorrow9"),
        "tomorrow-9B-Q4_K_M",
        "'tomorrow9' is not supported for text generation by this version of llama.cpp",
    ),
]
"""Files that cannot judge: how they are called, and why they cannot."""
