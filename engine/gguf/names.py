"""What users call a model file: the name of the file, not the one that its header gives.

Headers name a base model, a training run, a folder of whoever converted it, or nothing (`LLaMA v2`, `.`,
`Models`).

Knows: how files are named by those who publish them, by Ollama and in the Hugging Face cache.
Does not know: what a header holds.
"""

import re
from pathlib import Path

from engine.gguf.quantisation import LABEL
from engine.gguf.split import part_name
from engine.system.paths import home
from engine.system.places import PathKind, seen_at
from engine.system.plain_json import plain_values

SUFFIX = ".gguf"

_SAYS_NOTHING = re.compile(
    r"|(ggml[-_.]?)?models?|ggml[-_.]?model[-_.].*|unsloth|weights|gguf", re.IGNORECASE
)
_NO_NAME_OF_A_FOLDER = re.compile(r"[0-9a-f]{16,}|snapshots|blobs", re.IGNORECASE)
# Deep enough for the cache of Hugging Face, whose folders in between say nothing.
_FOLDERS_UP = 4
_HUGGING_FACE = "models--"  # models--PUBLISHER--MODEL/snapshots/REVISION/FILE


def called(path: Path) -> str:
    """What users know a model file by, also one that cannot be read.

    The file's name without `.gguf`, and without the number of a part; Ollama's own name for its blobs; with
    the folder's name where the file's says nothing (`Qwen3-8B/model`).
    """
    if is_blob(path):
        return (ollama_names(path.parent) or {}).get(path.name, path.name)
    part = part_name(path)
    stem = part.stem if part else path.stem if path.suffix.lower() == SUFFIX else path.name
    if _says_something(stem):
        return stem
    folder = _telling_folder(path)
    return f"{folder}/{stem}" if folder else stem


def says_more(title: str, name: str) -> bool:
    """Whether a header's name for a model tells something that the name of its file does not."""
    words = _letters(title)
    # A path of whoever converted it, or nearly nothing.
    if len(words) < 3 or "/" in title or "\\" in title or not _says_something(title):
        return False
    return words not in _letters(name)


def _letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def _says_something(name: str) -> bool:
    return _SAYS_NOTHING.fullmatch(LABEL.sub("", name).strip("-_. ")) is None


def _telling_folder(path: Path) -> str:
    """The name of the nearest folder that says what is in it; empty where none near does."""
    for folder in path.absolute().parents[:_FOLDERS_UP]:
        if folder == home():
            break
        if folder.name.startswith(_HUGGING_FACE):
            return folder.name.rpartition("--")[2]
        if not _NO_NAME_OF_A_FOLDER.fullmatch(folder.name) and _says_something(folder.name):
            return folder.name
    return ""


_BLOB = re.compile(r"sha256-[0-9a-f]{64}")
_MODEL_LAYER = "application/vnd.ollama.image.model"
_OLLAMA_HOSTS = frozenset({"registry.ollama.ai", "ollama.com"})


def is_blob(path: Path) -> bool:
    """Whether a file is named as Ollama names what it keeps: models, projectors, templates, licences."""
    return path.parent.name == "blobs" and _BLOB.fullmatch(path.name) is not None


def ollama_names(folder: Path) -> dict[str, str] | None:
    """Name of the blob file -> name in `ollama list`, of all models there; None for other folders.

    Ollama keeps projectors and adapters as blobs too: only its manifests tell which is which.
    """
    manifests = [
        place for place in sorted(folder.parent.glob("manifests*")) if seen_at(place) is PathKind.FOLDER
    ]
    if folder.name != "blobs" or not manifests:
        return None
    names: dict[str, str] = {}
    for place in manifests:
        for manifest in sorted(place.glob("*/*/*/*")):
            for digest in _model_digests(manifest):
                name = _ollama_name(*manifest.relative_to(place).parts)
                names.setdefault(digest.replace(":", "-"), name)
    return names


def _ollama_name(host: str, space: str, model: str, tag: str) -> str:
    if host not in _OLLAMA_HOSTS:
        return f"{host}/{space}/{model}:{tag}"
    return f"{model}:{tag}" if space == "library" else f"{space}/{model}:{tag}"


def _model_digests(manifest: Path) -> list[str]:
    try:
        layers = plain_values(manifest.read_bytes())["layers"]
        return [str(layer["digest"]) for layer in layers if layer["mediaType"] == _MODEL_LAYER]
    except (OSError, ValueError, KeyError, TypeError):
        return []  # not a manifest: its blob is omitted, as Ollama leaves it out
