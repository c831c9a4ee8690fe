"""Models in several parts: found by any of them, whole or refused with what is missing."""

import shutil
from pathlib import Path

import pytest

from engine.core.errors import ModelFileError
from engine.models.finder import find_models
from engine.models.header import read_header
from engine.models.model_file import PartName, first_part, part_name, read_model_file
from tests.small_models import SPLIT, split_model


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
    model = read_model_file(written / part)
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


def test_an_unfinished_part_is_named(folder: Path) -> None:
    whole = (folder / SPLIT[1]).read_bytes()
    (folder / SPLIT[1]).write_bytes(whole[:-100])
    with pytest.raises(ModelFileError, match=r"00002-of-00003\.gguf: the download is incomplete"):
        read_model_file(folder / SPLIT[0])


def test_a_part_of_another_name_is_told_how_parts_are_called(folder: Path) -> None:
    renamed = (folder / SPLIT[1]).rename(folder / "part two.gguf")
    with pytest.raises(ModelFileError, match="this is part 2 of a model that was split into 3") as caught:
        read_model_file(renamed)
    assert "NAME-00001-of-00003.gguf" in str(caught.value.hint)


def test_parts_in_each_others_place_are_refused(folder: Path) -> None:
    shutil.copyfile(folder / SPLIT[1], folder / SPLIT[2])
    with pytest.raises(ModelFileError, match=r"00003-of-00003\.gguf: this is not part 3 of 3"):
        read_model_file(folder / SPLIT[0])


def test_parts_of_different_models_are_refused(folder: Path) -> None:
    first = (folder / SPLIT[0]).read_bytes()
    (folder / SPLIT[0]).write_bytes(first.replace(b"blk.0.attn_k.weight", b"blk.1.attn_k.weight"))
    with pytest.raises(ModelFileError, match="its parts do not belong together"):
        read_model_file(folder / SPLIT[0])


def test_the_names_of_parts() -> None:
    path = Path("folder") / SPLIT[1]
    assert part_name(path) == PartName("Split-1B-Instruct-F16", 2, 3, ".gguf")
    assert first_part(Path("X-00002-OF-00003.GGUF")) == Path("X-00001-of-00003.GGUF")
    assert first_part(path) == Path("folder") / SPLIT[0]
    assert part_name(Path("whole.gguf")) is None
    assert first_part(Path("whole.gguf")) == Path("whole.gguf")
