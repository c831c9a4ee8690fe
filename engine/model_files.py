"""GGUF model files on disk: where they are, what they are, how much memory they take.

Knows: headers, the folders of other programs, a formula for memory. Does not know: llama.cpp, tensor data.
"""

import dataclasses
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import psutil

from engine.errors import ModelFileError
from engine.gguf_header import GgufHeader, read_header
from engine.gguf_precheck import HeaderValues, precheck
from engine.paths import environment, home, models_folder, project_models_folder

_BYTES_PER_F16 = 2
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
    f16, for one token of context. `vocabulary_size`: tokens.
    """

    path: Path
    size_bytes: int
    name: str
    architecture: str
    quantisation: str
    parameters: int
    trained_context: int
    layers: int
    kv_bytes_per_token: int
    vocabulary_size: int
    has_chat_template: bool


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
        name=(values.text("general.name") or "").strip() or path.stem,
        architecture=values.architecture,
        quantisation=_quantisation(header, values),
        parameters=sum(tensor.n_elements for tensor in header.tensors),
        trained_context=values.integer(values.key("context_length")) or 0,
        layers=values.integer(values.key("block_count")) or 0,
        kv_bytes_per_token=_kv_bytes_per_token(values),
        vocabulary_size=len(values.tokens),
        has_chat_template=bool(values.get("tokenizer.chat_template")),
    )


def _quantisation(header: GgufHeader, values: HeaderValues) -> str:
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
    heads = values.per_layer(values.key("attention.head_count"))
    kv_heads = values.per_layer(values.key("attention.head_count_kv")) or heads
    if len(kv_heads) == 1:
        kv_heads *= values.integer(values.key("block_count")) or 0
    head_size = (values.integer(values.key("embedding_length")) or 0) // max([*heads, 1])
    key_length = values.integer(values.key("attention.key_length")) or head_size
    value_length = values.integer(values.key("attention.value_length")) or head_size
    return sum(kv_heads) * (key_length + value_length) * _BYTES_PER_F16


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


class Memory(NamedTuple):
    """Main memory of this machine, in bytes: what can be had now, and all there is."""

    available: int
    total: int


class Fit(StrEnum):
    """Whether a model can run in this machine's memory."""

    FITS = "fits"
    TIGHT = "tight"
    DOES_NOT_FIT = "does not fit"


def memory_needed(model: ModelFile, context: int, batch: int = 512) -> MemoryEstimate:
    """Estimate for `context` tokens, read in batches of `batch` tokens.

    Weights = size of the file, which is mapped. KV cache = context x KV bytes per token, in f16. Buffers =
    batch x vocabulary x 4 bytes of logits, and 45 MiB for Python and the libraries. Source: growth of the
    process measured with llama.cpp of llama-cpp-python 0.3.36; the KV cache was within 6 MiB of it.
    """
    return MemoryEstimate(
        weights=model.size_bytes,
        kv_cache=context * model.kv_bytes_per_token,
        buffers=batch * model.vocabulary_size * _BYTES_PER_LOGIT + _PROCESS_BYTES,
    )


def available_memory() -> Memory:
    """The main memory of this machine now."""
    memory = psutil.virtual_memory()
    return Memory(memory.available, memory.total)


def fit(estimate: MemoryEstimate, available_bytes: int, total_bytes: int) -> Fit:
    """Whether an estimate fits into main memory.

    KV cache and buffers must fit into what is available now. The weights are mapped: what of them does not
    fit is read from the file again and again, which is slow but possible, hence tight. Where they are
    larger than the whole memory together with the rest, every token waits for the disk: that does not fit.
    """
    if estimate.kv_cache + estimate.buffers > available_bytes or estimate.total > total_bytes:
        return Fit.DOES_NOT_FIT
    return Fit.FITS if estimate.total <= available_bytes else Fit.TIGHT


def check_memory(model: ModelFile, context: int, memory: Memory | None = None) -> str | None:
    """A notice where memory is tight, None where it is not; ModelFileError where the model does not fit.

    `memory`: that of this machine, now, unless given.
    """
    memory = memory or available_memory()
    estimate = memory_needed(model, context)
    verdict = fit(estimate, *memory)
    if verdict is Fit.FITS:
        return None
    found = (
        f"{model.path.name} with a context of {context:,} tokens needs about {_amount(estimate.total)}"
        f" (weights {_amount(estimate.weights)}, KV cache {_amount(estimate.kv_cache)}, buffers"
        f" {_amount(estimate.buffers)}); {_amount(memory.available)} of {_amount(memory.total)} are free"
    )
    if verdict is Fit.DOES_NOT_FIT:
        raise ModelFileError(
            f"{found}.",
            "Use a smaller context (--context) or a smaller quantisation of this model, or close programs.",
        )
    return f"{found}. It will run, but slowly where the weights must be read from the disk again."


def _amount(n_bytes: int) -> str:
    return f"{n_bytes / (1 << 30):,.1f} GiB" if n_bytes >= 1 << 30 else f"{n_bytes / (1 << 20):,.0f} MiB"


@dataclass(frozen=True)
class FoundModel:
    """A model file that was found, or a file or folder that cannot be used, with the reason.

    `source`: the program whose folder it is in, `LM Studio`; else the name of the folder searched.
    """

    path: Path
    model: ModelFile | None
    error: ModelFileError | None
    source: str


def usual_folders() -> list[Path]:
    """Folders in which this program and others keep model files, those that exist."""
    return [folder for _, folder in _usual_places(sys.platform) if _is_folder(folder)]


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


class _SystemFolders(NamedTuple):
    """Where programs keep what they configure, what they own, and what they can fetch again."""

    settings: Path
    data: Path
    cache: Path


def _system_folders(platform: str) -> _SystemFolders:
    if platform == "win32":
        roaming = _folder_from("APPDATA", home() / "AppData" / "Roaming")
        local = _folder_from("LOCALAPPDATA", home() / "AppData" / "Local")
        return _SystemFolders(roaming, local, local)
    if platform == "darwin":
        support = home() / "Library" / "Application Support"
        return _SystemFolders(support, support, home() / "Library" / "Caches")
    return _SystemFolders(
        _folder_from("XDG_CONFIG_HOME", home() / ".config"),
        _folder_from("XDG_DATA_HOME", home() / ".local" / "share"),
        _folder_from("XDG_CACHE_HOME", home() / ".cache"),
    )


def _folder_from(variable: str, default: Path) -> Path:
    named = environment(variable)
    return Path(named) if named else default


def _usual_places(platform: str) -> Iterator[tuple[str, Path]]:
    """Name of a program and a folder where it keeps models, on the system that `sys.platform` names."""
    settings, data, cache = _system_folders(platform)
    yield "Tiebreak", models_folder()
    yield "Tiebreak", project_models_folder()
    yield "LM Studio", home() / ".lmstudio" / "models"
    yield "LM Studio", home() / ".cache" / "lm-studio" / "models"
    for jan in (settings / "Jan" / "data", data / "Jan" / "data", home() / "jan"):
        yield "Jan", jan / "llamacpp" / "models"
        yield "Jan", jan / "models"
    yield "GPT4All", data / "nomic.ai" / "GPT4All"
    yield "Ollama", _folder_from("OLLAMA_MODELS", home() / ".ollama" / "models")
    if platform == "linux":
        yield "Ollama", Path("/usr/share/ollama/.ollama/models")
    hugging_face = _folder_from("HF_HOME", home() / ".cache" / "huggingface")
    yield "Hugging Face", _folder_from("HF_HUB_CACHE", hugging_face / "hub")
    yield "llama.cpp", _folder_from("LLAMA_CACHE", cache / "llama.cpp")


def _source_of(folder: Path) -> str:
    for program, place in _usual_places(sys.platform):
        if folder.absolute().is_relative_to(place):
            return program
    return folder.name or str(folder)


def find_models(folders: Iterable[Path]) -> Iterator[FoundModel]:
    """Model files in the folders, at any depth, each file once; one by one, as headers take time to read.

    Links are followed. Unfinished downloads and image projectors are left out. What cannot be read, a
    file or a folder, comes with its error.
    """
    seen: set[Path] = set()
    for folder in folders:
        source = _source_of(folder)
        pending = [folder]
        while pending:
            here = pending.pop()
            try:
                files, inner = _listing(here, seen)
            except OSError as error:
                yield FoundModel(here, None, _unreadable_folder(here, error), source)
                continue
            pending.extend(reversed(inner))
            names = _ollama_names(here)
            for path in files:
                if names is None or path.name in names:
                    yield _found(path, source, names)


def _listing(folder: Path, seen: set[Path]) -> tuple[list[Path], list[Path]]:
    """The model files and the folders in a folder that were not seen before, by name."""
    entries = sorted(folder.iterdir())
    files = [path for path in entries if path.is_file() and _may_be_model(path) and _is_new(path, seen)]
    return files, [path for path in entries if path.is_dir() and _is_new(path, seen)]


def _is_new(path: Path, seen: set[Path]) -> bool:
    target = path.resolve()
    if target in seen:
        return False
    seen.add(target)
    return True


_OLLAMA_BLOB = re.compile(r"sha256-[0-9a-f]{64}")
_OLLAMA_MODEL_LAYER = "application/vnd.ollama.image.model"


def _may_be_model(path: Path) -> bool:
    # "._" begins the notes that macOS leaves beside each file on foreign disks.
    if path.name.lower().startswith(("incomplete", "mmproj", "._")):
        return False
    return path.suffix.lower() == ".gguf" or (_is_blob(path) and _begins_as_gguf(path))


def _is_blob(path: Path) -> bool:
    return path.parent.name == "blobs" and _OLLAMA_BLOB.fullmatch(path.name) is not None


def _begins_as_gguf(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(4) == b"GGUF"
    except OSError:
        return True  # reading it will say why not


def _ollama_names(folder: Path) -> dict[str, str] | None:
    """Name of the blob file -> `model:tag`, of all models that Ollama lists; None for other folders.

    Ollama keeps projectors and adapters as blobs too: only its manifests tell which is which.
    """
    manifests = folder.parent / "manifests"
    if folder.name != "blobs" or not _is_folder(manifests):
        return None
    names: dict[str, str] = {}
    for manifest in sorted(manifests.glob("*/*/*/*")):
        for digest in _model_digests(manifest):
            _, space, model, tag = manifest.relative_to(manifests).parts
            name = f"{model}:{tag}" if space == "library" else f"{space}/{model}:{tag}"
            names.setdefault(digest.replace(":", "-"), name)
    return names


def _model_digests(manifest: Path) -> list[str]:
    try:
        layers = json.loads(manifest.read_bytes())["layers"]
        return [str(layer["digest"]) for layer in layers if layer["mediaType"] == _OLLAMA_MODEL_LAYER]
    except (OSError, ValueError, KeyError, TypeError):
        return []  # not a manifest: its blob is left out, as Ollama leaves it out


def _found(path: Path, source: str, names: dict[str, str] | None) -> FoundModel:
    try:
        model = read_model_file(path)
    except ModelFileError as error:
        return FoundModel(path, None, error, source)
    if names:
        model = dataclasses.replace(model, name=names[path.name])
    return FoundModel(path, model, None, source)


def _unreadable_folder(folder: Path, error: OSError) -> ModelFileError:
    return ModelFileError(
        f"{folder}: the folder cannot be read: {error.strerror or error}.",
        "Check its name and your permission, or choose another folder.",
    )
