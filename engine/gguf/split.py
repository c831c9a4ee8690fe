"""A model in several files, as large ones are published: its parts by their names, their headers as one.

llama.cpp reads all parts when it is given the first, and finds the others by their names.

Knows: how the parts are named by `llama-gguf-split`, by llama.cpp's converters. Does not know: what a model
needs.
"""

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from engine.core.errors import ModelFileError
from engine.gguf.header import DOWNLOAD_AGAIN, GgufHeader, read_header
from engine.gguf.values import HeaderValues
from engine.system.places import PathKind, seen_at

_PART = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<parts>\d{5})(?P<suffix>\.gguf)", re.IGNORECASE)


class PartName(NamedTuple):
    """What the name of a file says: `stem`-00002-of-00003.gguf. `number`: from 1 to `parts`."""

    stem: str
    number: int
    parts: int
    suffix: str


class WholeModel(NamedTuple):
    """The header of a whole model, and its files: one, or its parts in order."""

    header: GgufHeader
    files: tuple[Path, ...]


def part_name(path: Path) -> PartName | None:
    """What a file's name says of the model that it is part of; None for a file that is none."""
    found = _PART.fullmatch(path.name)
    return (
        PartName(found["stem"], int(found["number"]), int(found["parts"]), found["suffix"]) if found else None
    )


def first_part(path: Path) -> Path:
    """The first part of the model that a file is part of, by its name; the file itself where it is none."""
    name = part_name(path)
    return _part(path, name, 1) if name else path


def _part(path: Path, name: PartName, number: int) -> Path:
    return path.with_name(f"{name.stem}-{number:05}-of-{name.parts:05}{name.suffix}")


def read_whole(path: Path) -> WholeModel:
    """The header of a model by its file, or by any of its parts; the other parts are read too.

    The tensors are those of all parts, the file size that of all, the rest is the first part's. Raises
    ModelFileError: what `read_header` raises; a part is missing, has another name, or is another model's.
    """
    header = read_header(path)
    values = HeaderValues(header)
    parts = values.integer("split.count") or 0
    if parts <= 1:
        return WholeModel(header, (path,))
    name = part_name(path)
    if name is None or name.parts != parts:
        raise values.refused(
            f"this is part {_number(values)} of a model that was split into {parts} files, which are"
            " identified by their names",
            f"Restore the published names of the parts: NAME-00001-of-{parts:05}.gguf and so on, in one"
            " folder.",
        )
    files = tuple(_part(path, name, number) for number in range(1, parts + 1))
    headers = [header if file == path else _part_header(file, parts) for file in files]
    for number, one in enumerate(headers, start=1):
        values = HeaderValues(one)
        if (_number(values), values.integer("split.count")) != (number, parts):
            raise values.refused(
                f"this is not part {number} of {parts}, although its name says so", DOWNLOAD_AGAIN
            )
    return WholeModel(_joined(headers), files)


def _number(values: HeaderValues) -> int:
    return (values.integer("split.no") or 0) + 1


def _part_header(path: Path, parts: int) -> GgufHeader:
    if seen_at(path) is PathKind.NOTHING:
        raise ModelFileError(
            f"{path.name}: this part of a model of {parts} parts is missing in {path.parent}.",
            "Download all parts into one folder.",
        )
    return read_header(path)


def _joined(headers: Sequence[GgufHeader]) -> GgufHeader:
    first = headers[0]
    tensors = tuple(tensor for header in headers for tensor in header.tensors)
    values = HeaderValues(first)
    expected, different = values.integer("split.tensors.count"), len({tensor.name for tensor in tensors})
    if different < len(tensors):
        raise values.refused(
            f"its parts do not belong together: {len(tensors) - different:,} tensors are in two of them",
            DOWNLOAD_AGAIN,
        )
    if expected not in (None, len(tensors)):
        raise values.refused(
            f"its parts do not belong together: they hold {len(tensors):,} tensors, and the header says"
            f" {expected:,}",
            DOWNLOAD_AGAIN,
        )
    # What is joined is one model: what follows must not refuse it as a part.
    metadata = {key: value for key, value in first.metadata.items() if not key.startswith("split.")}
    size = sum(header.file_size for header in headers)
    return dataclasses.replace(first, metadata=metadata, tensors=tensors, file_size=size)
