"""The header of a GGUF file, read without the tensor data, and asked for values of the kinds that llama.cpp
expects. Every count is checked against the size of the file before anything is allocated.

Layout: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import functools
import math
import mmap
import re
import stat
import struct
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import ModelFileError
from engine.core.formatting import short_name, without_middle
from engine.system.paths import reason_of, refuse_impossible

HeaderValue = int | float | bool | str | NDArray[Any] | list[bytes]
"""A metadata value. Arrays of strings stay bytes, as llama.cpp compares them; single strings are text."""

DOWNLOAD_AGAIN = "Download the file again, or choose another model."
CHOOSE_GGUF = "Choose a model file in GGUF format; its name ends in .gguf."

CONVERT_AGAIN = "Download the file again, or convert the model again with a current llama.cpp."

_LONGEST_TITLE = 200  # characters
LONGEST_PROBLEM = 300  # characters of what is said of a header, whose names and texts may have any length

_MOST_HEADER_BYTES = 1 << 28  # the largest vocabularies take some 20 MiB
_MOST_DIMENSIONS = 4
_LARGEST_DIMENSION = 1 << 40
# The length of its name, its kind, a value of one byte.
_LEAST_KEY_BYTES = 8 + 4 + 1
# The length of its name, dimensions, one size, its type, its offset.
_LEAST_TENSOR_BYTES = 8 + 4 + 8 + 4 + 8
_DEFAULT_ALIGNMENT = 32


class TensorType(NamedTuple):
    """How ggml stores numbers: `block` of them in `size` bytes."""

    name: str
    block: int
    size: int


_TENSOR_TYPES = """
0 F32 1 4        1 F16 1 2        2 Q4_0 32 18     3 Q4_1 32 20     6 Q5_0 32 22     7 Q5_1 32 24
8 Q8_0 32 34     9 Q8_1 32 36     10 Q2_K 256 84   11 Q3_K 256 110  12 Q4_K 256 144  13 Q5_K 256 176
14 Q6_K 256 210  15 Q8_K 256 292  16 IQ2_XXS 256 66  17 IQ2_XS 256 74  18 IQ3_XXS 256 98  19 IQ1_S 256 50
20 IQ4_NL 32 18  21 IQ3_S 256 110  22 IQ2_S 256 82  23 IQ4_XS 256 136  24 I8 1 1       25 I16 1 2
26 I32 1 4       27 I64 1 8       28 F64 1 8       29 IQ1_M 256 56  30 BF16 1 2      34 TQ1_0 256 54
35 TQ2_0 256 66  39 MXFP4 32 17   40 NVFP4 64 36   41 Q1_0 128 18   42 Q2_0 64 18
"""
TENSOR_TYPES: Mapping[int, TensorType] = {
    int(number): TensorType(name, int(block), int(size))
    for number, name, block, size in re.findall(r"(\d+) (\w+) (\d+) (\d+)", _TENSOR_TYPES)
}
"""What ggml in llama.cpp of llama-cpp-python 0.3.36 knows, asked of the library itself."""


@dataclass(frozen=True)
class TensorInfo:
    """One tensor. `offset`: bytes from the start of the data. `n_bytes`: 0 for a type not in TENSOR_TYPES."""

    name: str
    shape: tuple[int, ...]
    type_id: int
    offset: int
    n_bytes: int

    @property
    def n_elements(self) -> int:
        return math.prod(self.shape)

    @property
    def type_name(self) -> str:
        """The type as users write it, `Q4_K`; its number where it is not known."""
        known = TENSOR_TYPES.get(self.type_id)
        return known.name if known else f"number {self.type_id}"


@dataclass(frozen=True)
class GgufHeader:
    """What stands before the tensor data. Asked for a value of another kind than expected: ModelFileError."""

    version: int
    metadata: Mapping[str, HeaderValue]
    tensors: tuple[TensorInfo, ...]
    data_offset: int
    file_size: int
    file_name: str

    @property
    def architecture(self) -> str:
        return self.text("general.architecture") or ""

    @property
    def title(self) -> str:
        name = self.get("general.name")
        return without_middle(" ".join(name.split()), _LONGEST_TITLE) if isinstance(name, str) else ""

    @property
    def file_type(self) -> int | None:
        """The number of llama.cpp's `llama_ftype`."""
        return self.integer("general.file_type")

    def refused(self, what: str, hint: str = CONVERT_AGAIN) -> ModelFileError:
        return ModelFileError(f"{self.file_name}: {without_middle(what, LONGEST_PROBLEM)}.", hint)

    def key(self, name: str) -> str:
        """The whole key of one of the architecture's own: `block_count` -> `llama.block_count`."""
        return f"{self.architecture}.{name}"

    def get(self, key: str) -> HeaderValue | None:
        return self.metadata.get(key)

    def text(self, key: str) -> str | None:
        value = self.get(key)
        if value is None or isinstance(value, str):
            return value
        raise self.refused(f"key {key!r} is not a text")

    def texts(self, key: str) -> list[bytes] | None:
        """An array of strings, each as llama.cpp sees it: up to its first zero byte."""
        value = self.get(key)
        if value is None:
            return None
        if isinstance(value, list):
            return [text.partition(b"\0")[0] if b"\0" in text else text for text in value]
        raise self.refused(f"key {key!r} is not a list of texts")

    @functools.cached_property
    def tokens(self) -> list[bytes]:
        return self.texts("tokenizer.ggml.tokens") or []

    def integer(self, key: str) -> int | None:
        value = self.get(key)
        if value is None or (isinstance(value, int) and not isinstance(value, bool)):
            return value
        raise self.refused(f"key {key!r} is not a whole number")

    def per_layer(self, key: str) -> list[int]:
        """A number for each layer; one where all layers share it, none where the key is missing."""
        value = self.get(key)
        if isinstance(value, np.ndarray) and value.dtype.kind in "iu":
            return [int(number) for number in value]
        number = self.integer(key)
        return [] if number is None else [number]


def read_header(path: Path) -> GgufHeader:
    """ModelFileError: no such file, unreadable, not a GGUF (and what it is), damaged, incomplete."""
    try:
        refuse_impossible(path)
        state = path.stat()
        if stat.S_ISDIR(state.st_mode):
            raise ModelFileError(
                f"{path.name}: this is a folder, not a model file.", "Choose a .gguf file inside it."
            )
        if not stat.S_ISREG(state.st_mode):
            raise ModelFileError(f"{path.name}: this is a device or a pipe, not a file.", CHOOSE_GGUF)
        if state.st_size == 0:
            raise ModelFileError(f"{path.name}: the file is empty.", DOWNLOAD_AGAIN)
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _read(path.name, data)
    except FileNotFoundError as error:
        raise ModelFileError(
            f"{path.name}: there is no such file in {path.parent}.", "Check the name, or choose another file."
        ) from error
    except OSError as error:
        raise ModelFileError(
            f"{short_name(path.name)}: the file cannot be read: {reason_of(error)}.",
            "Check that you may read it and that its disk is connected.",
        ) from error


def _read(file_name: str, data: mmap.mmap) -> GgufHeader:
    _refuse_other_formats(file_name, data[:512])
    reader = _Reader(file_name, data)
    version = reader.version()
    n_tensors = reader.count(_LEAST_TENSOR_BYTES, "the number of tensors")
    n_keys = reader.count(_LEAST_KEY_BYTES, "the number of keys")
    metadata: dict[str, HeaderValue] = {}
    for _ in range(n_keys):
        key = reader.text("the name of a key")
        if key in metadata:
            raise reader.damaged(f"key {key!r} occurs twice")
        metadata[key] = reader.value(key)
    tensors = tuple(reader.tensor() for _ in range(n_tensors))
    for name, times in Counter(tensor.name for tensor in tensors).most_common(1):
        if times > 1:
            raise reader.damaged(f"tensor {name!r} occurs {times} times")
    alignment = metadata.get("general.alignment", _DEFAULT_ALIGNMENT)
    if not isinstance(alignment, int) or alignment <= 0 or alignment & (alignment - 1):
        found = f"{alignment:,}, " if isinstance(alignment, int) else ""
        raise reader.damaged(f"key 'general.alignment' is {found}not a power of two")
    data_offset = -(-reader.position // alignment) * alignment
    needed = data_offset + max((tensor.offset + tensor.n_bytes for tensor in tensors), default=0)
    if tensors and needed > len(data):
        raise ModelFileError(
            f"{file_name}: the download is incomplete: it has {len(data):,} of {needed:,} bytes.",
            "Finish the download, or download the file again.",
        )
    return GgufHeader(version, metadata, tensors, data_offset, len(data), file_name)


_OTHER_FORMATS: tuple[tuple[tuple[bytes, ...], str, str], ...] = (
    (
        (b"version https://git-lfs",),
        "a Git LFS pointer, a short text file in place of the model",
        "Fetch the model itself with `git lfs pull`, or download the file from the model's page.",
    ),
    (
        (b"<!doctype", b"<html", b"<?xml", b"<head"),
        "a web page that was saved instead of the model",
        "Use the download button of the model's page; some models require a request there first.",
    ),
    (
        (b"pk\x03\x04", b"pk\x05\x06"),
        "a zip archive or a PyTorch checkpoint",
        "Unpack it if it holds a .gguf file; otherwise choose the GGUF edition of this model.",
    ),
    (
        (b"\x1f\x8b", b"7z\xbc\xaf", b"rar!", b"\xfd7zxz", b"bzh", b"\x28\xb5\x2f\xfd"),
        "a compressed archive",
        "Unpack it and choose the .gguf file inside.",
    ),
    (
        tuple(bytes((0x80, protocol)) for protocol in range(2, 6)),
        "a Python pickle, perhaps a PyTorch checkpoint",
        "Choose the GGUF edition of this model.",
    ),
    (
        (b"lmgg", b"fmgg", b"tjgg", b"algg"),
        "a model in the old GGML format, which llama.cpp dropped in 2023",
        "Choose a newer edition of this model, in GGUF format.",
    ),
    (
        (b"\0\0\0\0",),
        "a file that begins with zeros, as an unfinished download does",
        "Finish the download, or download the file again.",
    ),
)


def _refuse_other_formats(file_name: str, start: bytes) -> None:
    """ModelFileError, saying what it is instead, unless the first bytes are those of a GGUF."""
    if start.startswith(b"GGUF"):
        return
    # Web pages begin with white space or a byte order mark.
    plain = start.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n").lower()
    for beginnings, what, hint in _OTHER_FORMATS:
        if plain.startswith(beginnings):
            raise ModelFileError(f"{file_name}: this is {what}.", hint)
    # safetensors: the length of a JSON header in eight bytes, then the header.
    if start[8:9] == b"{" and int.from_bytes(start[:8], "little") < _MOST_HEADER_BYTES:
        raise ModelFileError(
            f"{file_name}: this is a safetensors file, not a GGUF.", "Choose the GGUF edition of this model."
        )
    raise ModelFileError(
        f"{file_name}: this is not a GGUF file: it begins with {_in_words(start[:4])}.", CHOOSE_GGUF
    )


def _in_words(start: bytes) -> str:
    text = start.decode("latin-1")
    return f"the text {text!r}" if text.isascii() and text.isprintable() else f"the bytes {start.hex(' ')}"


# By the numbers of GGUF's kinds of values; 8 and 9 are texts and arrays.
_SCALARS: Mapping[int, struct.Struct] = {
    kind: struct.Struct(f"<{code}") for kind, code in enumerate("BbHhIif?__Qqd") if code != "_"
}
_TEXT = 8
_ARRAY = 9
_U32 = _SCALARS[4]
_U64 = _SCALARS[10]


class _Reader:
    """Walks through the bytes of a header. Nothing is read past the end of the file or of a sane header."""

    def __init__(self, file_name: str, data: mmap.mmap) -> None:
        self.position = len(b"GGUF")
        self._file_name = file_name
        self._data = data
        # So that a count in a damaged header cannot make us read, or hold, the whole of a large file.
        self._end = min(len(data), _MOST_HEADER_BYTES)

    def damaged(self, what: str) -> ModelFileError:
        shown = without_middle(what, LONGEST_PROBLEM)
        return ModelFileError(f"{self._file_name}: the header is damaged: {shown}.", DOWNLOAD_AGAIN)

    def version(self) -> int:
        version = self._integer(_U32, "the version")
        if version in (2, 3):
            return version
        if version == 1:
            raise ModelFileError(
                f"{self._file_name}: this is GGUF version 1, which llama.cpp no longer reads.",
                "Choose a newer edition of this model, or convert it again.",
            )
        # A small number read from the wrong end.
        if version & 0xFFFF == 0 and version:
            raise ModelFileError(
                f"{self._file_name}: this GGUF was written for big-endian machines.",
                "Choose the little-endian edition, which is the common one.",
            )
        raise ModelFileError(
            f"{self._file_name}: this is GGUF version {version}; versions 2 and 3 can be read.",
            "Choose another edition of this model.",
        )

    def count(self, least_bytes: int, what: str) -> int:
        """A count of things that take at least `least_bytes` each, and so must still fit into the file."""
        count = self._integer(_U64, what)
        self._need(count * least_bytes, what)
        return count

    def text(self, what: str) -> str:
        length = self.count(1, what)
        start, self.position = self.position, self.position + length
        return self._data[start : self.position].decode("utf-8", "replace")

    def value(self, key: str) -> HeaderValue:
        what = f"key {key!r}"
        kind = self._integer(_U32, what)
        if kind in _SCALARS:
            return self._scalar(_SCALARS[kind], what)
        if kind == _TEXT:
            return self.text(what)
        if kind != _ARRAY:
            raise self.damaged(f"{what} has a value of unknown kind {kind}")
        kind = self._integer(_U32, what)
        if kind in _SCALARS:
            form = _SCALARS[kind]
            count = self.count(form.size, what)
            start, self.position = self.position, self.position + count * form.size
            return np.frombuffer(self._data[start : self.position], dtype=np.dtype(form.format))
        if kind == _TEXT:
            return self._texts(what)
        raise self.damaged(f"{what} has an array of unknown kind {kind}")

    def tensor(self) -> TensorInfo:
        name = self.text("the name of a tensor")
        what = f"tensor {name!r}"
        n_dimensions = self._integer(_U32, what)
        if not 1 <= n_dimensions <= _MOST_DIMENSIONS:
            raise self.damaged(f"{what} has {n_dimensions} dimensions")
        shape = tuple(self._integer(_U64, what) for _ in range(n_dimensions))
        if not all(1 <= size <= _LARGEST_DIMENSION for size in shape):
            raise self.damaged(f"{what} has the impossible shape {shape}")
        type_id = self._integer(_U32, what)
        offset = self._integer(_U64, what)
        stored = TENSOR_TYPES.get(type_id)
        n_bytes = math.prod(shape) // stored.block * stored.size if stored else 0
        return TensorInfo(name, shape, type_id, offset, n_bytes)

    def _need(self, n_bytes: int, what: str) -> None:
        if n_bytes > self._end - self.position:
            raise self._cut_off(n_bytes, what)

    def _cut_off(self, n_bytes: int, what: str) -> ModelFileError:
        if self._end < len(self._data):
            return self.damaged(f"at {what} it grows larger than {_MOST_HEADER_BYTES:,} bytes")
        shown = without_middle(what, LONGEST_PROBLEM)
        return ModelFileError(
            f"{self._file_name}: the header is incomplete or damaged: {shown}, which begins at byte"
            f" {self.position:,} of {self._end:,}, is at least {n_bytes:,} bytes long.",
            DOWNLOAD_AGAIN,
        )

    def _scalar(self, form: struct.Struct, what: str) -> int | float:
        self._need(form.size, what)
        number: int | float = form.unpack_from(self._data, self.position)[0]
        self.position += form.size
        return number

    def _integer(self, form: struct.Struct, what: str) -> int:
        return int(self._scalar(form, what))

    def _texts(self, what: str) -> list[bytes]:
        count = self.count(_U64.size, what)
        texts = []
        data, position, end, length_at = self._data, self.position, self._end, _U64.unpack_from
        # Written out, not through `text`: a vocabulary and its merges are 400,000 of these.
        for _ in range(count):
            start = position + _U64.size
            position = start + length_at(data, position)[0] if start <= end else start
            if position > end:
                raise self._cut_off(position - self.position, what)
            texts.append(data[start:position])
        self.position = position
        return texts
