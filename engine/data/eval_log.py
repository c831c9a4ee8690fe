"""Logs of inspect_ai (.eval): a ZIP file with a JSON file for each sample, as one JSON object of samples.

Knows: how the members are packed. Does not know: what a sample holds.
"""

import io
import zipfile
import zlib
from pathlib import Path

import pyarrow as pa

from engine.core.errors import InputError
from engine.data.file_format import Unpacking

_ZSTANDARD = 93  # which zipfile knows from Python 3.14 on; inspect_ai 0.3.285 writes nothing else
_OF_HEADER = 30  # bytes of a member's own header before its name and its extra field
_HINT = "Write it again as JSON: inspect log convert --to json"


def samples_of_log(path: Path, packed: bytes) -> bytes:
    """`{"samples": [...]}` of a log. InputError where it is damaged, has no sample, or shrinks like none."""
    unpacking = Unpacking(path, len(packed), _HINT)
    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as log:
            members = [each for each in log.infolist() if each.filename.startswith("samples/")]
            samples = [
                _member(packed, each, unpacking) for each in members if each.filename.endswith(".json")
            ]
    except (zipfile.BadZipFile, zlib.error, pa.ArrowException, OSError, ValueError, IndexError) as error:
        raise InputError(path, [f"is no log of inspect_ai, or a damaged one ({error})."], _HINT) from error
    if not samples:
        raise InputError(path, ["has no samples."], "Choose the log of an evaluation that has begun.")
    return b'{"samples":[' + b",".join(samples) + b"]}"


def _member(packed: bytes, member: zipfile.ZipInfo, unpacking: Unpacking) -> bytes:
    unpacking.add(member.file_size)
    header = packed[member.header_offset : member.header_offset + _OF_HEADER]
    name, extra = (int.from_bytes(header[at : at + 2], "little") for at in (26, 28))
    start = member.header_offset + _OF_HEADER + name + extra
    data = packed[start : start + member.compress_size]
    if member.compress_type == zipfile.ZIP_STORED:
        return data
    if member.compress_type == zipfile.ZIP_DEFLATED:
        unpacked = zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, member.file_size)
    elif member.compress_type == _ZSTANDARD:
        unpacked = pa.decompress(data, member.file_size, codec="zstd", asbytes=True)
    else:
        raise ValueError(f"compression method {member.compress_type}")
    if zlib.crc32(unpacked) != member.CRC:
        raise ValueError(f"{member.filename} is not whole")
    return bytes(unpacked)
