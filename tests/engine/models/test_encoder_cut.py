"""An encoder cut to its first layers: the same bytes, fewer of them."""

from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest

from engine.core.errors import ModelFileError, SetupError
from engine.core.events import Cancelled, CancelToken
from engine.models.encoder_file import cut_encoder, read_encoder_file
from engine.models.header import HeaderValue, read_header
from tests.encoders.rewritten import FAMILIES, FOLDER, rewritten

families = pytest.mark.parametrize("family", FAMILIES)


def cut(source: Path, layers: int, target: Path) -> Path:
    return cut_encoder(read_encoder_file(source), layers, target, CancelToken()).path


def keys(path: Path) -> dict[str, Any]:
    return {key: plain(value) for key, value in read_header(path).metadata.items()}


def plain(value: HeaderValue) -> object:
    """A value, and the type of its elements, that can be compared."""
    return (value.dtype.str, value.tolist()) if isinstance(value, np.ndarray) else value


def tensors(path: Path) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
    return {
        tensor.name: (tensor.tensor_type.name, tuple(tensor.shape.tolist()), tensor.data.tobytes())
        for tensor in gguf.GGUFReader(path).tensors
    }


@families
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_the_number_of_layers_is_all_that_changes(family: str, layers: int, tmp_path: Path) -> None:
    source = FOLDER / f"{family}.gguf"
    target = cut(source, layers, tmp_path / "cut.gguf")
    assert keys(target) == {**keys(source), "bert.block_count": layers}
    left_out = tuple(f"blk.{number}." for number in range(layers, 3))
    kept = {name: tensor for name, tensor in tensors(source).items() if not name.startswith(left_out)}
    assert tensors(target) == kept
    assert len(kept) == 5 + 16 * layers


@pytest.mark.parametrize("kind", ["F16", "Q8_0", "BF16"])
def test_quantised_layers_keep_their_bytes(kind: str, tmp_path: Path) -> None:
    stored_as = gguf.GGMLQuantizationType[kind]
    source = rewritten(FOLDER / "bert.gguf", tmp_path / "quantised.gguf", stored_as=stored_as)
    target = cut(source, 1, tmp_path / "cut.gguf")
    assert tensors(target)["blk.0.ffn_up.weight"][0] == kind
    assert tensors(target).items() <= tensors(source).items()


def test_a_file_with_another_alignment_keeps_it(tmp_path: Path) -> None:
    source = rewritten(FOLDER / "bert.gguf", tmp_path / "wide.gguf", alignment=128)
    target = cut(source, 2, tmp_path / "cut.gguf")
    assert keys(target)["general.alignment"] == 128
    assert {tensor.offset % 128 for tensor in read_header(target).tensors} == {0}
    assert tensors(target).items() <= tensors(source).items()


@pytest.mark.parametrize("layers", [-1, 0, 4])
def test_a_number_of_layers_that_does_not_fit_is_refused(layers: int, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=rf"roberta\.gguf has 3 layers: it has no first {layers}") as caught:
        cut(FOLDER / "roberta.gguf", layers, tmp_path / "cut.gguf")
    assert str(caught.value.hint) == "Choose a number between 1 and 3."
    assert not list(tmp_path.glob("*.gguf"))


def test_a_stopped_cut_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    target, cancel = tmp_path / "cut.gguf", CancelToken()
    target.write_bytes(b"old")
    cancel.cancel()
    with pytest.raises(Cancelled):
        cut_encoder(read_encoder_file(FOLDER / "bert.gguf"), 2, target, cancel)
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["cut.gguf"]
    assert target.read_bytes() == b"old"


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="nowhere does not exist"):
        cut(FOLDER / "bert.gguf", 2, tmp_path / "nowhere" / "cut.gguf")


def test_a_header_that_is_no_text_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "odd.gguf"
    source.write_bytes(
        (FOLDER / "bert.gguf").read_bytes().replace(b"small random", b"small \xff\xfe\xfd\xfc\xfb\xfa")
    )
    with pytest.raises(ModelFileError, match=r"odd\.gguf: it cannot be copied: .*utf-8"):
        cut(source, 2, tmp_path / "cut.gguf")
