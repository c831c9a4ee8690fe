"""Headers read from sound files, from damaged ones, and from what is no GGUF at all."""

import math
import random
import struct
import time
from pathlib import Path

import gguf
import numpy as np
import pytest

from engine.core.errors import ModelFileError
from engine.models.header import GgufHeader, read_header

TOKENS = ["<unk>", "é", "", "long" * 100]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a value of each kind, two tensors, and an alignment of 64 bytes."""
    path = tmp_path_factory.mktemp("gguf") / "sound.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_custom_alignment(64)
    writer.add_uint8("u8", 200)
    writer.add_int8("i8", -5)
    writer.add_uint16("u16", 60_000)
    writer.add_int16("i16", -30_000)
    writer.add_uint32("u32", 4_000_000_000)
    writer.add_int32("i32", -2_000_000_000)
    writer.add_uint64("u64", 1 << 63)
    writer.add_int64("i64", -(1 << 62))
    writer.add_float32("f32", 0.5)
    writer.add_float64("f64", 0.1)
    writer.add_bool("bool", True)
    writer.add_string("text", "naïve 中")
    writer.add_array("tokens", TOKENS)
    writer.add_array("numbers", [3, 1, 4])
    writer.add_array("scores", [0.25, -1.0])
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


def refusal(path: Path, data: bytes) -> ModelFileError:
    path.write_bytes(data)
    with pytest.raises(ModelFileError) as caught:
        read_header(path)
    return caught.value


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("u8", 200),
        ("i8", -5),
        ("u16", 60_000),
        ("i16", -30_000),
        ("u32", 4_000_000_000),
        ("i32", -2_000_000_000),
        ("u64", 1 << 63),
        ("i64", -(1 << 62)),
        ("f32", 0.5),
        ("f64", 0.1),
        ("bool", True),
        ("text", "naïve 中"),
        ("tokens", [token.encode() for token in TOKENS]),
    ],
)
def test_a_value_of_each_kind_is_read(header: GgufHeader, key: str, value: object) -> None:
    assert header.metadata[key] == value


@pytest.mark.parametrize(("key", "values"), [("numbers", [3, 1, 4]), ("scores", [0.25, -1.0])])
def test_an_array_of_numbers_is_read(header: GgufHeader, key: str, values: list[float]) -> None:
    array = header.metadata[key]
    assert isinstance(array, np.ndarray)
    assert array.tolist() == values


def test_tensors_have_name_shape_type_and_size(header: GgufHeader) -> None:
    described = [
        (tensor.name, tensor.shape, tensor.type_name, tensor.n_elements, tensor.n_bytes)
        for tensor in header.tensors
    ]
    assert described == [("whole", (4, 3), "F32", 12, 48), ("halves", (7,), "F16", 7, 14)]


def test_the_data_begins_where_the_gguf_package_says(sound: Path, header: GgufHeader) -> None:
    assert header.data_offset == gguf.GGUFReader(sound).data_offset
    assert header.data_offset % 64 == 0


def test_the_size_is_that_of_the_file(sound: Path, header: GgufHeader) -> None:
    assert (header.file_size, header.version) == (sound.stat().st_size, 3)


@pytest.mark.parametrize(
    ("start", "what"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "Git LFS pointer"),
        (b"\n<!DOCTYPE html><html><body>Sign in</body></html>", "web page"),
        (b"\xef\xbb\xbf<HTML>", "web page"),
        (b"PK\x03\x04\x14\x00\x00\x00", "zip archive"),
        (b"\x1f\x8b\x08\x00", "compressed archive"),
        (struct.pack("<Q", 20_000) + b'{"__metadata__":{}', "safetensors"),
        (b"\x80\x02}q\x00.", "pickle"),
        (b"tjgg\x03\x00\x00\x00", "old GGML format"),
        (b"lmgg\x00\x00\x00\x00", "old GGML format"),
        (bytes(4096), "begins with zeros"),
        (b"Entry not found", "not a GGUF"),
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


def test_a_missing_file_is_named_with_its_folder(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"gone\.gguf: there is no such file in "):
        read_header(tmp_path / "gone.gguf")


def test_a_folder_is_no_model_file(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="this is a folder"):
        read_header(tmp_path)


def test_an_incomplete_download_says_what_is_there_and_what_is_needed(sound: Path, tmp_path: Path) -> None:
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
def test_a_damaged_header_names_the_place(
    sound: Path, tmp_path: Path, old: bytes, new: bytes, what: str
) -> None:
    data = sound.read_bytes()
    assert data.count(old) == 1
    assert what in refusal(tmp_path / "damaged.gguf", data.replace(old, new)).problem


@pytest.mark.parametrize("place", ["n_tensors", "n_keys", "array", "text"])
def test_a_huge_count_is_refused_before_anything_is_allocated(
    sound: Path, tmp_path: Path, place: str
) -> None:
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


def test_random_changes_raise_nothing_but_a_model_file_error_and_end_soon(
    sound: Path, tmp_path: Path
) -> None:
    data, chance, path = sound.read_bytes(), random.Random(0), tmp_path / "changed.gguf"
    refused = 0
    start = time.process_time()
    for _ in range(500):
        changed = bytearray(data)
        for _ in range(chance.choice((1, 2, 8))):
            changed[chance.randrange(len(data))] = chance.choice((0, 255, chance.randrange(256)))
        path.write_bytes(changed)
        try:
            read_header(path)
        except ModelFileError:
            refused += 1
    assert 0 < refused < 500
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
    ("start", "said"),
    [
        (b"\x89PNG", "it begins with the bytes 89 50 4e 47."),
        (b"\xd0\x9f\xd1\x80", "it begins with the bytes d0 9f d1 80."),
        (b"it's", 'it begins with the text "it\'s".'),
    ],
)
def test_the_first_bytes_are_told_in_words(tmp_path: Path, start: bytes, said: str) -> None:
    assert refusal(tmp_path / "other.gguf", start + bytes(100)).problem.endswith(said)


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
