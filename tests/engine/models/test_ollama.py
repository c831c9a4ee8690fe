"""The models that Ollama keeps, in folders as it writes them: by their names, and why some cannot be used."""

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from engine.cli.shared.arguments import model_file
from engine.core.errors import ModelFileError, SetupError
from engine.models.checked_model import REFUSED, trial_report
from engine.models.finder import FoundModel, find_models, model_places, models_named
from engine.models.model_file import read_model_file
from tests.random_models import CHATML, byte_level_bpe, write_random_model
from tests.small_models import CHATML_TOKENS
from tests.steps import refused, there

Keep = Callable[..., Path]
MODEL, OTHER, PROJECTOR, ADAPTER = ("sha256-" + digit * 64 for digit in "abce")
REGISTRY = "registry.ollama.ai/library"


@pytest.fixture
def folder(private_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where Ollama keeps models, empty."""
    monkeypatch.delenv("OLLAMA_MODELS", raising=False)
    return private_home / ".ollama" / "models"


@pytest.fixture
def keep(folder: Path, small_model: Callable[[str], Path]) -> Keep:
    """Keeps a model under a name, `HOST/SPACE/MODEL/TAG`, with layers, (kind, file), that are there."""

    def keep(name: str, *layers: tuple[str, str]) -> Path:
        listed: Sequence[tuple[str, str]] = layers or [("model", MODEL), ("template", "sha256-" + "d" * 64)]
        for _, blob in listed:
            (folder / "blobs").mkdir(parents=True, exist_ok=True)
            shutil.copyfile(small_model("chatml"), folder / "blobs" / blob)
        return write_manifest(folder / "manifests" / name, listed)

    return keep


def write_manifest(path: Path, layers: Sequence[tuple[str, str]] | None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    kind = "application/vnd.ollama.image."
    listed = [
        {"mediaType": f"{kind}{layer}", "digest": blob.replace("-", ":"), "size": 3}
        for layer, blob in layers or ()
    ]
    config = {"mediaType": "application/vnd.docker.container.image.v1+json", "digest": "", "size": 0}
    manifest = {"schemaVersion": 2, "config": config, "layers": listed if layers is not None else None}
    path.write_text(json.dumps(manifest), encoding="utf-8")
    return path


def listed(folder: Path) -> list[FoundModel]:
    return list(find_models([folder]))


NAMES = [
    (f"{REGISTRY}/tiny/1b", "tiny:1b"),
    (f"{REGISTRY}/tiny/latest", "tiny:latest"),
    ("registry.ollama.ai/mannix/judge/latest", "mannix/judge:latest"),
    ("hf.co/someone/small-GGUF/Q8_0", "hf.co/someone/small-GGUF:Q8_0"),
    *([("localhost:5000/team/tiny/1b", "localhost:5000/team/tiny:1b")] if sys.platform != "win32" else []),
]


@pytest.mark.parametrize(("manifest", "name"), NAMES)
def test_a_model_is_used_by_its_listed_name(keep: Keep, folder: Path, manifest: str, name: str) -> None:
    keep(manifest)
    (found,) = listed(folder)
    assert {found.name, there(found.model).name, read_model_file(found.path).name} == {name}
    blob = folder / "blobs" / MODEL
    assert found.path == blob
    for word in (name, name.upper(), name.removesuffix(":latest")):
        assert model_file(word) == blob


def test_a_later_form_of_the_folder_is_read_too(keep: Keep, folder: Path) -> None:
    keep(f"{REGISTRY}/tiny/1b")
    (folder / "manifests").rename(folder / "manifests-v2")
    (folder / "manifests-v2" / "registry.ollama.ai").rename(folder / "manifests-v2" / "ollama.com")
    assert [found.name for found in listed(folder)] == ["tiny:1b"]


def test_a_name_with_a_colon_can_be_used_on_windows_where_no_file_is_called_so(
    keep: Keep, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(f"{REGISTRY}/tiny/1b")
    # What Windows refuses as the name of a file is asked by the name of the system alone.
    monkeypatch.setattr("engine.operations.opening.default_folders", lambda: [folder])
    with monkeypatch.context() as on_windows:
        on_windows.setattr("engine.system.paths.windows_fault", lambda at, _: ":" in at.name and "a stream")
        on_windows.setattr("engine.system.paths.sys.platform", "win32")
        found = model_file("tiny:1b")
        with pytest.raises(SetupError, match="gone:1b: there is no such file here, and no model"):
            model_file("gone:1b")
    assert found == folder / "blobs" / MODEL


def test_each_name_of_one_file_leads_to_it_and_it_is_listed_once(keep: Keep, folder: Path) -> None:
    keep(f"{REGISTRY}/qwen3/8b")
    keep(f"{REGISTRY}/qwen3/latest")
    assert [found.name for found in listed(folder)] == ["qwen3:8b"]
    for word in ("qwen3:8b", "qwen3:latest", "qwen3", "WEN"):
        assert [place.path for place in models_named(word, [folder])] == [folder / "blobs" / MODEL]


def test_a_projector_and_what_no_manifest_names_are_left_out(keep: Keep, folder: Path) -> None:
    keep(f"{REGISTRY}/llava/7b", ("model", MODEL), ("projector", PROJECTOR))
    shutil.copyfile(folder / "blobs" / MODEL, folder / "blobs" / OTHER)
    (folder / "manifests" / REGISTRY / "llava" / "broken").write_text("{", encoding="utf-8")
    assert [found.name for found in listed(folder)] == ["llava:7b"]


FAULTS = [
    (None, "Ollama has no file of it on this computer: it runs in the cloud"),
    ([("model", MODEL), ("adapter", ADAPTER)], "it is another model with an adapter (LoRA)"),
    ([("model", MODEL), ("model", OTHER)], "Ollama keeps it in 2 files, whose order"),
    ([("tensor", MODEL), ("json", OTHER)], "Ollama keeps its weights in a format of its own"),
    ([("model", PROJECTOR)], f"its file {PROJECTOR} is missing"),
]


@pytest.mark.parametrize(("layers", "why"), FAULTS, ids=["cloud", "adapter", "parts", "safetensors", "gone"])
def test_what_cannot_be_used_says_why_when_it_is_listed_and_when_it_is_named(
    keep: Keep, folder: Path, layers: Sequence[tuple[str, str]] | None, why: str
) -> None:
    keep(f"{REGISTRY}/base/1b", ("model", MODEL), ("template", OTHER))
    manifest = write_manifest(folder / "manifests" / REGISTRY / "odd" / "7b", layers)
    base, odd = listed(folder)
    assert (base.name, base.error) == ("base:1b", None)
    assert (odd.name, odd.path, odd.model) == ("odd:7b", manifest, None)
    assert odd.reason.startswith(why)
    error = refused(lambda: model_file("odd:7b"), f"odd:7b: {why[:20]}")
    assert "GGUF" in str(error.hint)
    assert [place.name for place in model_places([folder])] == ["base:1b"]


def test_a_model_that_cannot_judge_has_its_name_and_blobs_without_manifests_are_listed(
    keep: Keep, folder: Path
) -> None:
    keep(f"{REGISTRY}/tiny/1b", ("model", MODEL), ("projector", PROJECTOR))
    (folder / "blobs" / MODEL).write_bytes(b"GGUF and no more")
    (found,) = listed(folder)
    assert (found.model, found.name) == (None, "tiny:1b")
    shutil.rmtree(folder / "manifests")
    assert [found.path.name for found in listed(folder)] == [MODEL, PROJECTOR]


@pytest.mark.parametrize(
    "tensor", ["v.blk.0.attn_q.weight", "mm.0.weight", "a.conv1.weight", "s.fc1.weight", "mtp.fc.weight"]
)
def test_a_file_of_ollamas_own_engine_is_told_from_its_header_and_llama_cpp_refuses_it(
    tmp_path: Path, tensor: str
) -> None:
    table = byte_level_bpe(CHATML_TOKENS, pre="qwen2")
    path = write_random_model(tmp_path / "vision.gguf", table, CHATML, more=[tensor])
    with pytest.raises(ModelFileError, match="of Ollama's own engine") as caught:
        read_model_file(path)
    assert "llama.cpp" in str(caught.value.hint)
    code, report = trial_report(path)
    assert code == REFUSED
    assert "wrong number of tensors" in report
