"""A model found by a part of its name: of its file's name first, then of the name in its header."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.gguf import model_search
from engine.gguf.model_search import models_named

SmallModel = Callable[[str], Path]

IN_HEADER = b"random weights"


@pytest.fixture
def put(small_model: SmallModel, tmp_path: Path) -> Callable[..., Path]:
    """Puts a sound model into the folder `tree`; `header`: the name that it gives itself, 14 letters."""

    def put(name: str, header: bytes = IN_HEADER) -> Path:
        assert len(header) == len(IN_HEADER)
        path = tmp_path / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(small_model("chatml").read_bytes().replace(IN_HEADER, header))
        return path

    return put


Put = Callable[..., Path]


@pytest.fixture
def named(tmp_path: Path) -> Callable[[str], list[Path]]:
    """The files of the models in `tree` that are called so."""
    return lambda text: [place.path for place in models_named(text, [tmp_path / "tree"])]


Named = Callable[[str], list[Path]]


@pytest.fixture
def no_header(monkeypatch: pytest.MonkeyPatch) -> None:
    """No header is read."""

    def read(path: Path) -> None:
        raise AssertionError(f"{path} was read")

    monkeypatch.setattr(model_search, "read_model_file", read)


@pytest.mark.parametrize("text", ["sparrow", "SPARROW", "Quiet-Sp", "w-1b-Q8", "quiet-sparrow-1b-q8.gguf"])
def test_a_part_of_one_files_name_finds_it_without_its_header(
    put: Put, named: Named, no_header: None, text: str
) -> None:
    sparrow = put("deep/er/Quiet-Sparrow-1b-Q8.gguf")
    put("Loud-Goose-7b-Q4.gguf")
    assert named(text) == [sparrow]


def test_a_folder_that_names_its_model_finds_it(put: Put, named: Named, no_header: None) -> None:
    sparrow = put("Quiet-Sparrow-1b-Q8/model.gguf")
    put("Loud-Goose-7b-Q4/model.gguf")
    assert named("sparrow") == [sparrow]


def test_a_part_that_several_names_have_finds_them_all(put: Put, named: Named) -> None:
    models = [put("one/a-1b.gguf"), put("one/b-1b.gguf"), put("two/a-1b.gguf")]
    put("two/a-7b.gguf")
    assert named("1b") == models


def test_a_whole_name_goes_before_a_part_of_a_longer_one(put: Put, named: Named, no_header: None) -> None:
    short, _ = put("sparrow.gguf"), put("sparrow-7b.gguf")
    assert named("Sparrow") == named("sparrow.gguf") == [short]


def test_the_name_in_a_header_counts_where_no_files_name_fits(put: Put, named: Named) -> None:
    put("model-00.gguf")
    sparrow = put("model-01.gguf", b"Quiet Sparrow!")
    assert named("sparrow") == [sparrow]
    assert named("model-01") == [sparrow]
    (found,) = models_named("sparrow", [sparrow.parent])
    assert found.name == "Quiet Sparrow!"


def test_of_several_those_that_can_judge_are_meant(put: Put, named: Named) -> None:
    whole, cut = put("sparrow-q8.gguf"), put("sparrow-q4.gguf")
    cut.write_bytes(cut.read_bytes()[:5000])
    assert named("sparrow") == [whole]
    assert named("sparrow-q4") == [cut]


def test_where_none_of_several_can_judge_all_are_meant(put: Put, named: Named) -> None:
    models = [put("sparrow-a.gguf"), put("sparrow-b.gguf")]
    for model in models:
        model.write_bytes(b"<html>")
    assert named("sparrow") == models


def test_a_split_model_counts_once_by_its_first_part(put: Put, named: Named, no_header: None) -> None:
    parts = [put(f"one/sparrow-0000{number}-of-00003.gguf") for number in (1, 2, 3)]
    goose = put("goose-00001-of-00001.gguf")
    assert named("sparrow") == parts[:1]
    assert named("goose") == [goose]


def test_a_model_of_ollama_has_the_name_of_its_manifest(put: Put, named: Named, no_header: None) -> None:
    blob = put("ollama/blobs/sha256-" + "a" * 64)
    manifest = blob.parent.parent / "manifests" / "example.org" / "library" / "sparrow" / "1b"
    manifest.parent.mkdir(parents=True)
    layer = {"mediaType": "application/vnd.ollama.image.model", "digest": blob.name.replace("-", ":")}
    manifest.write_text(json.dumps({"layers": [layer]}), encoding="utf-8")
    assert named("sparrow:1b") == named("PARROW") == [blob]


def test_nothing_is_found_where_nothing_fits_and_broken_files_do_no_harm(
    put: Put, named: Named, tmp_path: Path
) -> None:
    put("goose.gguf").write_bytes(b"<html>")
    assert named("sparrow") == []
    assert models_named("sparrow", [tmp_path / "nowhere"]) == []
