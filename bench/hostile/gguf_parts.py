"""A GGUF file taken apart into values that can be changed one by one, and put together again.

Nothing is checked on the way back: what is written may be as wrong as it was made.

Knows: the byte layout of GGUF 3. Does not know: what keys mean, damage.
"""

import struct
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

TEXT, ARRAY = 8, 9
UINT32, INT32, FLOAT32, UINT64 = 4, 5, 6, 10
SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "B", 10: "Q", 11: "q", 12: "d"}
BOUNDS = {"B": 8, "H": 16, "I": 32, "Q": 64, "b": 8, "h": 16, "i": 32, "q": 64}


@dataclass(frozen=True)
class Field:
    """A key with its value. `kind`: the GGUF type. `of`: of an array, the type of its elements."""

    key: bytes
    kind: int
    value: Any
    of: int = 0


@dataclass(frozen=True)
class Tensor:
    """One entry of the list of tensors."""

    name: bytes
    shape: tuple[int, ...]
    type_id: int
    offset: int


@dataclass(frozen=True)
class DataSplit:
    """A whole file. `infos`: where in the bytes of the file the list of tensors began."""

    fields: tuple[Field, ...]
    tensors: tuple[Tensor, ...]
    data: bytes
    header_bytes: int = 0
    infos: int = 0

    def joined(self, alignment: int = 32) -> bytes:
        """The file that these parts make."""
        out = bytearray(b"GGUF" + struct.pack("<IQQ", 3, len(self.tensors), len(self.fields)))
        for each in self.fields:
            out += _text(each.key) + struct.pack("<I", each.kind) + _value(each)
        for tensor in self.tensors:
            out += _text(tensor.name) + struct.pack("<I", len(tensor.shape))
            out += b"".join(struct.pack("<Q", size & (1 << 64) - 1) for size in tensor.shape)
            out += struct.pack("<IQ", tensor.type_id & 0xFFFFFFFF, tensor.offset & (1 << 64) - 1)
        out += bytes(-len(out) % alignment)
        return bytes(out) + self.data

    def place(self, key: bytes) -> int:
        """Where a key stands in `fields`; -1 where it does not."""
        return next((at for at, each in enumerate(self.fields) if each.key == key), -1)

    def value(self, key: bytes) -> Any:
        """The value of a key, None where it is missing."""
        at = self.place(key)
        return None if at < 0 else self.fields[at].value

    def with_field(self, new: Field) -> "DataSplit":
        """The same with a value replaced or added."""
        at = self.place(new.key)
        fields = (*self.fields, new) if at < 0 else (*self.fields[:at], new, *self.fields[at + 1 :])
        return replace(self, fields=fields)

    def without(self, at: int) -> "DataSplit":
        """The same without a field."""
        return replace(self, fields=(*self.fields[:at], *self.fields[at + 1 :]))

    def with_tensor(self, at: int, *new: Tensor) -> "DataSplit":
        """The same with a tensor replaced by any number of others."""
        return replace(self, tensors=(*self.tensors[:at], *new, *self.tensors[at + 1 :]))


def _text(data: bytes) -> bytes:
    return struct.pack("<Q", len(data)) + data


def _scalar(kind: int, value: Any) -> bytes:
    code = SCALARS[kind]
    if code in BOUNDS:
        value = int(value) & ((1 << BOUNDS[code]) - 1)
        return int(value).to_bytes(BOUNDS[code] // 8, "little")
    try:
        return struct.pack(f"<{code}", value)
    except OverflowError:
        return struct.pack(f"<{code}", float("inf"))


def _value(each: Field) -> bytes:
    if each.kind == TEXT:
        return _text(each.value)
    if each.kind != ARRAY:
        return _scalar(each.kind, each.value)
    head = struct.pack("<IQ", each.of, len(each.value))
    if each.of == TEXT:
        return head + b"".join(map(_text, each.value))
    return head + b"".join(_scalar(each.of, value) for value in each.value)


def take_apart(path: Path) -> DataSplit:
    """The parts of a sound file without arrays in arrays."""
    reader = _Reader(path.read_bytes())
    _, tensors, fields = reader.unpack("<IQQ")
    found = tuple(reader.field() for _ in range(fields))
    infos = reader.at
    listed = tuple(reader.tensor() for _ in range(tensors))
    end = reader.at
    start = end + -end % 32
    return DataSplit(found, listed, reader.data[start:], end, infos)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 4

    def unpack(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return values

    def text(self) -> bytes:
        (length,) = self.unpack("<Q")
        self.at += length
        return self.data[self.at - length : self.at]

    def field(self) -> Field:
        key = self.text()
        (kind,) = self.unpack("<I")
        if kind == TEXT:
            return Field(key, kind, self.text())
        if kind != ARRAY:
            return Field(key, kind, self.unpack(f"<{SCALARS[kind]}")[0])
        of, count = self.unpack("<IQ")
        if of == TEXT:
            return Field(key, kind, [self.text() for _ in range(count)], of)
        return Field(key, kind, list(self.unpack(f"<{count}{SCALARS[of]}")), of)

    def tensor(self) -> Tensor:
        name = self.text()
        (dimensions,) = self.unpack("<I")
        shape = self.unpack(f"<{dimensions}Q")
        type_id, offset = self.unpack("<IQ")
        return Tensor(name, shape, type_id, offset)
