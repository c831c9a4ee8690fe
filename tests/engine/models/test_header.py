"""Headers read from sound files, from damaged ones, and from what is no GGUF at all."""

import math
import struct
import time
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest

from engine.core.errors import ModelFileError, SetupError
from engine.models.header import GgufHeader, read_header
from tests.engine.models.damaged import flipped, how_many_are_refused
from tests.steps import refused

TOKENS = ["<unk>", "é", "", "long" * 100]
VALUES: dict[str, tuple[str, Any]] = {
    "u8": ("uint8", 200),
    "i8": ("int8", -5),
    "u16": ("uint16", 60_000),
    "i16": ("int16", -30_000),
    "u32": ("uint32", 4_000_000_000),
    "i32": ("int32", -2_000_000_000),
    "u64": ("uint64", 1 << 63),
    "i64": ("int64", -(1 << 62)),
    "f32": ("float32", 0.5),
    "f64": ("float64", 0.1),
    "bool": ("bool", True),
    "text": ("string", "naïve 中"),
    "tokens": ("array", TOKENS),
    "numbers": ("array", [3, 1, 4]),
    "scores": ("array", [0.25, -1.0]),
}
"""By key, the kind of a value and the value."""


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a value of each kind, two tensors, and an alignment of 64 bytes."""
    path = tmp_path_factory.mktemp("gguf") / "sound.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_custom_alignment(64)
    for key, (kind, value) in VALUES.items():
        getattr(writer, f"add_{kind}")(key, value)
    writer.add_tensor("whole", np.ones((3, 4), dtype=np.float32))
    writer.add_tensor("halves", np.ones(7, dtype=np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture(scope="module")
def header(sound: Path) -> GgufHeader:
    return read_header(sound)


def refusal(path: Path, data: bytes) -> SetupError:
    path.write_bytes(data)
    error = refused(lambda: read_header(path))
    assert isinstance(error, ModelFileError)
    return error


@pytest.mark.parametrize("key", VALUES)
def test_a_value_of_each_kind_is_read(header: GgufHeader, key: str) -> None:
    found, (_, value) = header.metadata[key], VALUES[key]
    if key == "tokens":
        assert found == [token.encode() for token in TOKENS]
    else:
        assert (found.tolist() if isinstance(found, np.ndarray) else found) == value


def test_tensors_have_name_shape_type_and_size(sound: Path, header: GgufHeader) -> None:
    described = [
        (tensor.name, tensor.shape, tensor.type_name, tensor.n_elements, tensor.n_bytes)
        for tensor in header.tensors
    ]
    assert described == [("whole", (4, 3), "F32", 12, 48), ("halves", (7,), "F16", 7, 14)]
    assert (header.file_size, header.version) == (sound.stat().st_size, 3)
    assert header.data_offset == gguf.GGUFReader(sound).data_offset
    assert header.data_offset % 64 == 0


@pytest.mark.parametrize(
    ("start", "what"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "Git LFS pointer"),
        (b"\n<!DOCTYPE html><html><body>Sign in</body></html>", "web page"),
        (b"PK\x03\x04\x14\x00\x00\x00", "zip archive"),
        (b"\x1f\x8b\x08\x00", "compressed archive"),
        (struct.pack("<Q", 20_000) + b'{"__metadata__":{}', "safetensors"),
        (b"\x80\x02}q\x00.", "pickle"),
        (b"tjgg\x03\x00\x00\x00", "old GGML format"),
        (bytes(4096), "begins with zeros"),
        (b"\x89PNG" + bytes(100), "not a GGUF file: it begins with the bytes 89 50 4e 47."),
        (b"it's" + bytes(100), 'not a GGUF file: it begins with the text "it\'s".'),
        (b"GG", "not a GGUF"),
        (b"", "empty"),
        (b"GGUF", "incomplete"),
        (b"GGUF" + struct.pack("<I", 1), "version 1"),
        (b"GGUF" + struct.pack(">I", 3), "big-endian"),
        (b"GGUF" + struct.pack("<I", 77), "version 77"),
    ],
)
def test_what_is_no_gguf_is_named(tmp_path: Path, start: bytes, what: str) -> None:
    error = refusal(tmp_path / "model.gguf", start)
    assert error.problem.startswith("model.gguf: ")
    assert what in error.problem
    assert error.hint


def test_a_missing_file_a_folder_and_an_incomplete_download_are_named(tmp_path: Path, sound: Path) -> None:
    refused(lambda: read_header(tmp_path / "gone.gguf"), r"gone\.gguf: there is no such file in ")
    refused(lambda: read_header(tmp_path), "this is a folder")
    whole = sound.read_bytes()
    needed = read_header(sound).data_offset + 64 + 14
    error = refusal(tmp_path / "part.gguf", whole[: needed - 1])
    assert f"it has {needed - 1:,} of {needed:,} bytes" in error.problem
    assert "incomplete" in error.problem


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        (struct.pack("<Q", 2) + b"u8", struct.pack("<Q", 2) + b"i8", "'i8' occurs twice"),
        (b"u8" + struct.pack("<I", 0), b"u8" + struct.pack("<I", 13), "unknown kind 13"),
        (
            b"tokens" + struct.pack("<II", 9, 8),
            b"tokens" + struct.pack("<II", 9, 9),
            "array of unknown kind 9",
        ),
        (b"whole" + struct.pack("<I", 2), b"whole" + struct.pack("<I", 5), "'whole' has 5 dimensions"),
        (b"whole" + struct.pack("<IQ", 2, 4), b"whole" + struct.pack("<IQ", 2, 0), "impossible shape (0, 3)"),
        (
            b"alignment" + struct.pack("<II", 4, 64),
            b"alignment" + struct.pack("<II", 4, 0),
            "not a power of two",
        ),
        (struct.pack("<Q", 6) + b"halves", struct.pack("<Q", 5) + b"whole", "'whole' occurs 2 times"),
    ],
)
def test_damage_to_headers_is_placed(sound: Path, tmp_path: Path, old: bytes, new: bytes, what: str) -> None:
    data = sound.read_bytes()
    assert data.count(old) == 1
    assert what in refusal(tmp_path / "damaged.gguf", data.replace(old, new)).problem


@pytest.mark.parametrize("place", ["n_tensors", "n_keys", "array", "text"])
def test_a_huge_count_is_refused_before_anything_is_taken(sound: Path, tmp_path: Path, place: str) -> None:
    data = bytearray(sound.read_bytes())
    position = {
        "n_tensors": 8,
        "n_keys": 16,
        "array": data.index(b"numbers") + len(b"numbers") + 8,
        "text": data.index(b"text") + len(b"text") + 4,
    }[place]
    data[position : position + 8] = struct.pack("<Q", (1 << 64) - 1)
    assert "incomplete or damaged" in refusal(tmp_path / "huge.gguf", bytes(data)).problem


def test_a_file_cut_anywhere_raises_nothing_but_a_model_file_error(sound: Path, tmp_path: Path) -> None:
    data = sound.read_bytes()
    needed = read_header(sound).data_offset + 64 + 14
    for length in [*range(48), *range(48, needed, 5), needed - 1]:
        refusal(tmp_path / "cut.gguf", data[:length])


def test_random_changes_raise_nothing_but_model_file_errors_and_end_soon(sound: Path, tmp_path: Path) -> None:
    start, end = time.process_time(), sound.stat().st_size
    changed_files = flipped(sound, tmp_path / "changed.gguf", end, 500, least=0)
    assert 0 < how_many_are_refused(read_header, changed_files) < 500
    assert time.process_time() - start < 30


@pytest.mark.parametrize(
    ("name", "tokens", "merges"),
    [
        ("llama-bpe", 128_256, 280_147),
        ("llama-spm", 32_000, 0),
        ("phi-3", 32_064, 0),
        ("qwen2", 151_936, 151_387),
    ],
)
def test_real_vocabularies_are_read(shared_data: Path, name: str, tokens: int, merges: int) -> None:
    metadata = read_header(shared_data / "vocabularies" / f"{name}.gguf").metadata
    lengths = []
    for key in ("tokens", "merges"):
        texts = metadata.get(f"tokenizer.ggml.{key}", [])
        assert isinstance(texts, list)
        lengths.append(len(texts))
    assert lengths == [tokens, merges]


@pytest.mark.parametrize(
    "kind_and_value",
    [
        struct.pack("<IIQQ", 9, 8, 1, 2) + b"\xff\xfe",
        struct.pack("<IIQ3i", 9, 5, 3, 1, -2, 3),
        struct.pack("<IIQ2f", 9, 6, 2, 1.5, math.nan),
        struct.pack("<IQ", 8, 100_000) + b"x" * 100_000,
        struct.pack("<If", 6, math.inf),
    ],
    ids=["texts", "numbers", "floats", "long text", "infinity"],
)
def test_a_value_of_a_wrong_kind_is_told_without_python(tmp_path: Path, kind_and_value: bytes) -> None:
    key = b"general.alignment"
    header = b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, len(key)) + key + kind_and_value
    problem = refusal(tmp_path / "hostile.gguf", header).problem
    assert problem.endswith("key 'general.alignment' is not a power of two.")


def test_a_name_of_any_length_gives_a_short_problem(tmp_path: Path) -> None:
    key = "ключ".encode() * 20_000
    once = struct.pack("<Q", len(key)) + key + struct.pack("<II", 5, 1)
    problem = refusal(tmp_path / "hostile.gguf", b"GGUF" + struct.pack("<IQQ", 3, 0, 2) + 2 * once).problem
    assert len(problem) < 400
    assert problem.endswith("occurs twice.")
