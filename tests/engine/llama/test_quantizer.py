"""A model in Q8_0: the same answers but for rounding, texts of its own in the header, whole or not at all."""

import sys
from collections.abc import Callable
from pathlib import Path

import gguf
import numpy as np
import pytest

from engine.core.errors import ModelFileError, SetupError
from engine.llama.quantizer import write_q8_0
from engine.models.header import read_header
from engine.models.model_file import NOTICE_KEY, read_model_file
from engine.models.trial import try_model
from engine.system.paths import demo_model
from tests.full_disk import disk_that_holds

SmallModel = Callable[[str], Path]

TEXTS = {"general.name": "Sparrow", NOTICE_KEY: "it sings. " * 12}


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "sparrow.gguf"


def weights(path: Path) -> dict[str, tuple[str, np.ndarray]]:
    return {
        one.name: (one.tensor_type.name, gguf.quants.dequantize(one.data, one.tensor_type))
        for one in gguf.GGUFReader(path).tensors
    }


def test_weights_are_rounded_to_8_bits_and_the_model_works(target: Path) -> None:
    write_q8_0(demo_model(), target, {})
    before, after = weights(demo_model()), weights(target)
    assert before.keys() == after.keys()
    for name, (kind, values) in after.items():
        original = before[name][1]
        assert kind == ("Q8_0" if original.ndim > 1 else "F32")
        # Half a step of 8 bits; the scale of a block has 11 of its own, which adds a sixteenth at the ends.
        assert np.abs(values - original).max() <= np.abs(original).max() / 127 * 0.57
    assert read_model_file(target).quantisation == "Q8_0"
    try_model(target)


def test_texts_replace_and_join_the_keys_of_the_header(small_model: SmallModel, target: Path) -> None:
    write_q8_0(small_model("headers"), target, TEXTS)
    made = read_model_file(target)
    assert (made.title, made.notice) == ("Sparrow", TEXTS[NOTICE_KEY].strip())
    kept = read_header(small_model("headers")).metadata.keys()
    assert read_header(target).metadata.keys() == kept | TEXTS.keys() | {"general.quantization_version"}


@pytest.mark.slow
def test_what_is_quantised_already_gives_the_same_bytes_again(
    small_model: SmallModel, target: Path, tmp_path: Path
) -> None:
    write_q8_0(small_model("headers"), target, TEXTS)
    again = tmp_path / "again.gguf"
    write_q8_0(target, again, TEXTS)
    assert weights(again)["output.weight"][0] == "Q8_0"
    assert all((weights(again)[name][1] == values).all() for name, (_, values) in weights(target).items())
    first = target.read_bytes()
    write_q8_0(small_model("headers"), target, TEXTS)
    assert target.read_bytes() == first


@pytest.mark.parametrize("texts", [{"general.name": "é" * 64}, {"k" * 128: "text"}])
def test_a_text_without_room_is_refused(small_model: SmallModel, target: Path, texts: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="longer than 127 bytes"):
        write_q8_0(small_model("headers"), target, texts)
    assert not target.exists()


def test_a_damaged_file_is_refused_and_the_old_one_stays(
    small_model: SmallModel, target: Path, tmp_path: Path
) -> None:
    source = tmp_path / "cut.gguf"
    source.write_bytes(small_model("headers").read_bytes()[:-5000])
    target.write_bytes(b"old")
    with pytest.raises(ModelFileError, match=r"cut\.gguf: llama\.cpp cannot quantise this model: .*bounds"):
        write_q8_0(source, target, {})
    assert {path.name for path in tmp_path.iterdir() if path.is_file()} == {"cut.gguf", "sparrow.gguf"}
    assert target.read_bytes() == b"old"


def test_a_folder_that_is_not_there_is_refused(small_model: SmallModel, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="nowhere does not exist"):
        write_q8_0(small_model("headers"), tmp_path / "nowhere" / "sparrow.gguf", {})


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX limit")
def test_a_full_disk_is_named(target: Path, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="could not be written") as caught, disk_that_holds(1 << 20):
        write_q8_0(demo_model(), target, {})
    assert "disk" in str(caught.value.hint)
    assert not [path for path in tmp_path.iterdir() if path.is_file()]
