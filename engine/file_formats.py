"""Read the bytes of a data file and refuse what is not the format that its name claims.

Knows: suffixes, gzip, the marks by which formats are told apart. Does not know: what the rows hold.
"""

import gzip
import zlib
from enum import StrEnum
from pathlib import Path

from engine.errors import InputError, SetupError

UTF8_MARK = b"\xef\xbb\xbf"
_GZIP_MARK = b"\x1f\x8b"
_PARQUET_MARK = b"PAR1"
# Enough for any header; a comma or a tab beyond it decides nothing.
_HEADER_BYTES = 65_536

_SUFFIXES = "Use .tsv, .csv, .json, .jsonl, .ndjson or .parquet, each also followed by .gz."
_AS_UTF8 = "Save it as UTF-8 (in Excel: 'CSV UTF-8'; in Notepad: Save as, Encoding UTF-8)."


class FileFormat(StrEnum):
    """A format of data files; the value is its name in messages."""

    TSV = "TSV"
    CSV = "CSV"
    JSON = "JSON"
    JSON_LINES = "JSON Lines"
    PARQUET = "Parquet"


_BY_SUFFIX = {
    ".tsv": FileFormat.TSV,
    ".csv": FileFormat.CSV,
    ".json": FileFormat.JSON,
    ".jsonl": FileFormat.JSON_LINES,
    ".ndjson": FileFormat.JSON_LINES,
    ".parquet": FileFormat.PARQUET,
}

# First bytes that no table has, what they are, and what to do.
_STRANGERS = (
    (b"\xff\xfe", "is UTF-16 text", _AS_UTF8),
    (b"\xfe\xff", "is UTF-16 text", _AS_UTF8),
    (b"PK\x03\x04", "is a ZIP archive or an Excel workbook", "Unpack it, or export the sheet as CSV UTF-8."),
    (
        b"version https://git-lfs",
        "is a Git LFS pointer, not the data",
        "Fetch the data with 'git lfs pull', or download the file itself.",
    ),
    (b"<!doctype html", "is a web page, not the data", "Download the file itself (its 'raw' address)."),
    (b"<html", "is a web page, not the data", "Download the file itself (its 'raw' address)."),
)


def read_data_file(path: Path) -> tuple[FileFormat, bytes]:
    """The format that the name claims, and the bytes, unpacked where they are gzip-compressed.

    Raises SetupError where the file cannot be read, InputError where its content is plainly something
    else than its name says.
    """
    data_format, packed = _claimed_format(path)
    data = _read_bytes(path)
    if packed:
        data = _unpack(path, data)
    elif data.startswith(_GZIP_MARK):
        raise InputError(path, ["is gzip-compressed."], f"Rename it to {path.name}.gz.")
    _refuse_strangers(path, data)
    _refuse_other_format(path, data, data_format)
    return data_format, data


def _claimed_format(path: Path) -> tuple[FileFormat, bool]:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = suffixes[-1:] == [".gz"]
    suffix = "".join(suffixes[:-1][-1:] if packed else suffixes[-1:])
    if suffix not in _BY_SUFFIX:
        found = f"has the unknown suffix '{suffix}'." if suffix else "has no suffix that names its format."
        raise InputError(path, [found], _SUFFIXES)
    return _BY_SUFFIX[suffix], packed


def _read_bytes(path: Path) -> bytes:
    if path.is_dir():
        raise SetupError(f"{path} is a folder.", "Choose a file inside it.")
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise SetupError(f"{path} does not exist.", "Check the name and the folder.") from error
    except PermissionError as error:
        raise SetupError(f"No permission to read {path}.", "Change its permissions, or copy it.") from error
    except OSError as error:
        raise SetupError(
            f"{path} could not be read: {error.strerror or error}.", "Check the disk, or copy the file."
        ) from error


def _unpack(path: Path, data: bytes) -> bytes:
    if data and not data.startswith(_GZIP_MARK):
        raise InputError(path, ["is not gzip-compressed."], "Take .gz off its name.")
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            path, [f"the gzip compression is damaged or cut short ({error})."], "Download or pack it again."
        ) from error


def _refuse_strangers(path: Path, data: bytes) -> None:
    start = data[:64].removeprefix(UTF8_MARK).lstrip()
    if not start:
        raise InputError(path, ["is empty."], "Check that it was saved or downloaded completely.")
    for mark, found, remedy in _STRANGERS:
        if start.lower().startswith(mark.lower()):
            raise InputError(path, [f"{found}."], remedy)


def _refuse_other_format(path: Path, data: bytes, claimed: FileFormat) -> None:
    is_parquet = data.startswith(_PARQUET_MARK)
    if claimed is FileFormat.PARQUET:
        if not (is_parquet and data.endswith(_PARQUET_MARK)):
            found = "is a Parquet file cut short." if is_parquet else "is not a Parquet file (no PAR1 mark)."
            raise InputError(path, [found], "Download it again, or give it the suffix of what it is.")
        return
    header = data[:_HEADER_BYTES].removeprefix(UTF8_MARK).lstrip().splitlines()[0]
    shown = FileFormat.PARQUET if is_parquet else _text_format(header, claimed)
    if shown != claimed:
        raise InputError(
            path,
            [f"looks like {shown}, not {claimed}."],
            "Give it the suffix of what it is, or export it again.",
        )


def _text_format(header: bytes, claimed: FileFormat) -> str:
    """What the first line shows the text to be; `claimed` where it shows nothing else."""
    if header[:1] in (b"{", b"["):
        is_json_lines = header[:1] == b"{" and header.rstrip() != b"{"
        if claimed is FileFormat.JSON or (claimed is FileFormat.JSON_LINES and is_json_lines):
            return claimed
        return FileFormat.JSON
    delimiters = {b"\t": FileFormat.TSV, b",": FileFormat.CSV, b";": "text separated by semicolons"}
    found = [name for delimiter, name in delimiters.items() if delimiter in header]
    return claimed if claimed in found or not found else found[0]
