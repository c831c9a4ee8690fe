"""The models that Ollama keeps: each name has a manifest, which lists files, the blobs, and what each is. By
the sources of Ollama 0.33: manifest/, types/model/name.go, server/images.go.
"""

import re
from pathlib import Path
from typing import NamedTuple

from engine.core.codec import plain_values
from engine.system.paths import PathKind, seen_at

_BLOB = re.compile(r"sha256-[0-9a-f]{64}")
_OLLAMA_HOSTS = frozenset({"registry.ollama.ai", "ollama.com"})


class OllamaModel(NamedTuple):
    name: str  # as in `ollama list`
    path: Path  # the file of its weights; its manifest where it cannot be used
    fault: str = ""  # why that is, empty for what its file must tell


def is_blob(path: Path) -> bool:
    """Whether a file is named as Ollama names what it keeps: models, projectors, templates, licences."""
    return path.parent.name == "blobs" and _BLOB.fullmatch(path.name) is not None


def ollama_models(folder: Path) -> list[OllamaModel] | None:
    """All models whose files lie in this folder, by their names; None for other folders."""
    if folder.name != "blobs" or not any(folder.parent.glob("manifests*/")):
        return None
    found: list[OllamaModel] = []
    for manifest in sorted(folder.parent.glob("manifests*/*/*/*/*")):
        # What is no manifest is left out, as by Ollama.
        if (layers := _layers(manifest)) is not None:
            host, space, model, tag = manifest.parts[-4:]
            name = f"{model}:{tag}" if space == "library" else f"{space}/{model}:{tag}"
            name = name if host in _OLLAMA_HOSTS else f"{host}/{space}/{model}:{tag}"
            weights = [folder / digest.replace(":", "-") for kind, digest in layers if kind == "model"]
            fault = _fault({kind for kind, _ in layers}, weights)
            found.append(OllamaModel(name, manifest if fault else weights[0], fault))
    return found


def _layers(manifest: Path) -> list[tuple[str, str]] | None:
    try:
        layers = plain_values(manifest.read_bytes())["layers"] or []  # null for a model in the cloud
        return [(layer["mediaType"].rpartition(".")[2], str(layer["digest"])) for layer in layers]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _fault(kinds: set[str], weights: list[Path]) -> str:
    if "tensor" in kinds:
        return "Ollama keeps its weights in a format of its own, not in a GGUF file"
    if not weights:
        return "Ollama has no file of it on this computer: it runs in the cloud"
    if len(weights) > 1:
        return f"Ollama keeps it in {len(weights)} files, whose order their names do not tell"
    if "adapter" in kinds:
        return "it is another model with an adapter (LoRA), which cannot be added here"
    return "" if seen_at(weights[0]) is PathKind.FILE else f"its file {weights[0].name} is missing"
