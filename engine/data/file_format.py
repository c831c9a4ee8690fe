"""Read the bytes of a data file and refuse what is not the format that its name claims.

How large a data file may be: more than any dataset, little enough to be read or refused in seconds.
"""

import codecs
import gzip
import io
import re
import zipfile
import zlib
from collections.abc import Collection, Iterator
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from engine.core.errors import InputError, SetupError
from engine.core.formatting import amount
from engine.settings.run_lists import amount_of_file
from engine.system.paths import PathKind, look_at, reading

MOST_COLUMNS = 10_000
MOST_TEXT = 4_000_000
"""Characters of a cell: about a million tokens."""
MOST_PROBLEMS = 10_000
"""Of one table: after this many of them nothing more is read."""
MOST_BYTES = 4 << 30
"""Of one file, unpacked."""

_MOST_NAME = 100_000  # characters of a column's name
# Text shrinks to a third or a tenth, tables of repeated rows to a fiftieth.
_MOST_TIMES = 200
_ALWAYS_UNPACKED = 64 << 20
_CHUNK = 1 << 20
_CHECK_HEADER = "Check that the file is a table, and its first line the header."


def too_many_columns(path: Path, found: int) -> InputError:
    """The error of a table with this many columns."""
    problem = f"has {found:,} columns; at most {MOST_COLUMNS:,} are read."
    return InputError(path, [problem], "Export the columns that are needed.")


def check_columns(path: Path, names: Collection[str], before: int = 0) -> None:
    """Raise InputError where there are too many columns, with those `before`, or a name is no name."""
    if before + len(names) > MOST_COLUMNS:
        raise too_many_columns(path, before + len(names))
    for number, name in enumerate(names, start=before + 1):
        if len(name) > _MOST_NAME:
            long = f"{len(name):,} characters; at most {_MOST_NAME:,} are read."
            raise InputError(path, [f"the name of column {number} has {long}"], _CHECK_HEADER)


def check_size(path: Path, size: int) -> None:
    """Raise InputError where a file is too large to be read."""
    if size > MOST_BYTES:
        raise InputError(
            path,
            [f"has {amount(size)}; at most {amount(MOST_BYTES)} are read."],
            "Split it into several files.",
        )


class Unpacking:
    """Counts what comes out of a packed file, so that it is refused before much of it is there.

    `hint`: what to do with a table that shrinks more than tables do.
    """

    def __init__(self, path: Path, packed: int, hint: str) -> None:
        self._path = path
        self._packed = packed
        self._hint = hint
        self._most = max(_ALWAYS_UNPACKED, _MOST_TIMES * packed)
        self._size = 0

    def add(self, size: int) -> None:
        """So many bytes more. InputError once it is more than any dataset has, or shrinks like no table."""
        self._size += size
        check_size(self._path, self._size)
        if self._size > self._most:
            found = (
                f"is {amount_of_file(self._packed)} and unpacks to more than {amount(self._most)}; at most"
                f" {_MOST_TIMES} times its size is read."
            )
            raise InputError(self._path, [found], f"Check what it holds. If it is a table, {self._hint}")


def _unpack(path: Path, packed: bytes) -> bytes:
    """What gzip has compressed. InputError where it is damaged, or shrinks like no table."""
    if not packed:
        return packed
    if not packed.startswith(_GZIP_MARK):
        raise InputError(path, ["is not gzip-compressed."], "Remove .gz from its name.")
    unpacking = Unpacking(path, len(packed), "unpack it and choose the unpacked file.")
    parts = []
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
            while part := file.read(_CHUNK):
                parts.append(part)
                unpacking.add(len(part))
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            path, [f"the gzip compression is damaged or cut short ({error})."], "Download or pack it again."
        ) from error
    if parts and parts[0].startswith(_GZIP_MARK):
        again = "Unpack it once, and name it with .gz at the end."
        raise InputError(path, ["is gzip-compressed twice."], again)
    return b"".join(parts)


UTF8_MARK = b"\xef\xbb\xbf"
SAVE_AS_UTF8 = "Save it as UTF-8 (in Excel: 'CSV UTF-8'; in Notepad: Save as, Encoding UTF-8)."

_GZIP_MARK = b"\x1f\x8b"
_PARQUET_MARK = b"PAR1"
# Enough for any header; a comma or a tab beyond it decides nothing.
_HEADER_BYTES = 65_536

_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_HIGH = bytes(range(0x80, 0x100))
_LETTERS = re.compile(rb"[A-Za-z]")
_OF_UTF8 = re.compile(rb"[\xc3-\xf4][\x80-\xbf]")
_NOT_1252 = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
_MOST_HIGH = 0.15  # of the letters: German and French texts have 1 to 5 %, Polish 8, Russian 100
_SUFFIXES = (
    "Use .tsv, .csv, .json, .jsonl, .ndjson or .parquet, each also followed by .gz, or .eval (a log of"
    " inspect_ai)."
)
_SEMICOLONS = "text separated by semicolons"
_MODEL = "is a model, not a table of data."
_WHAT_A_DATASET_IS = (
    "Use it as the model. A dataset is a table of instructions with two responses each: "
    ".tsv, .csv, .json, .jsonl or .parquet."
)


def text_start(data: bytes) -> int:
    """Where the text begins in UTF-8, after its mark."""
    return len(UTF8_MARK) if data.startswith(UTF8_MARK) else 0


class FileFormat(StrEnum):
    """A format of data files; the value is its name in messages."""

    TSV = "TSV"
    CSV = "CSV"
    JSON = "JSON"
    JSON_LINES = "JSON Lines"
    PARQUET = "Parquet"


_LOG = ".eval"  # of inspect_ai: a ZIP file with a JSON file for each sample
_ZSTANDARD = 93  # which zipfile knows from Python 3.14 on; inspect_ai 0.3.285 writes nothing else
_OF_HEADER = 30  # bytes of a member's own header before its name and its extra field
_LOG_HINT = "Write it again as JSON: inspect log convert --to json"
_BY_SUFFIX = {
    ".tsv": FileFormat.TSV,
    ".csv": FileFormat.CSV,
    ".json": FileFormat.JSON,
    ".jsonl": FileFormat.JSON_LINES,
    ".ndjson": FileFormat.JSON_LINES,
    _LOG: FileFormat.JSON,
    ".parquet": FileFormat.PARQUET,
}

_WORKBOOKS = (".xlsx", ".xls", ".xlsm", ".ods")
_SAVE_AS_CSV = "Save its sheet as CSV (in Excel: File > Save as, 'CSV UTF-8'), and open that file."

# First bytes that no table has, in lower case, what they are, and what to do.
_STRANGERS = (
    ((b"\xff\xfe", b"\xfe\xff"), "is UTF-16 text.", SAVE_AS_UTF8),
    (
        (b"pk\x03\x04",),
        "is a ZIP archive or an Excel workbook.",
        "Unpack it, or export the sheet as CSV UTF-8.",
    ),
    (
        (b"version https://git-lfs",),
        "is a Git LFS pointer, not the data.",
        "Fetch the data with 'git lfs pull', or download the file itself.",
    ),
    (
        (b"<!doctype html", b"<html"),
        "is a web page, not the data.",
        "Download the file itself (its 'raw' address).",
    ),
    # With the first byte of the version: a column may be called GGUF.
    ((b"gguf\0", b"gguf\1", b"gguf\2", b"gguf\3"), _MODEL, _WHAT_A_DATASET_IS),
    ((b"sqlite format 3\0",), "is an SQLite database.", "Export the table in it as CSV or TSV."),
)


class TableBytes(NamedTuple):
    """`data` is UTF-8; `notices`: what was understood of a file that is written in another way. `rest`: of
    JSON Lines that are not packed `data` is but the beginning, and this the file.
    """

    data_format: FileFormat
    data: bytes
    notices: tuple[str, ...] = ()
    delimiter: bytes = b","
    rest: Path | None = None

    def blocks(self) -> Iterator[bytes]:
        """All bytes in order, in parts: a file is held whole only where it has to be."""
        if self.rest is None:
            yield self.data
            return
        with reading(self.rest), self.rest.open("rb") as file:
            while block := file.read(_CHUNK):
                yield block


def read_table_file(path: Path, *, exact: bool = False) -> TableBytes:
    """A file of data as `read_data_file` gives it; unless `exact`, TSV and CSV also as spreadsheets write
    them: UTF-16 with its mark, Windows-1252, cells between semicolons.
    """
    data_format, data, rest = _bytes_of(path)
    notices: tuple[str, ...] = ()
    delimiter = b"\t" if data_format is FileFormat.TSV else b","
    if data_format in (FileFormat.TSV, FileFormat.CSV) and not exact:
        data, notices = _as_utf8(data)
    _refuse_strangers(path, data)
    header = data[:_HEADER_BYTES].removeprefix(UTF8_MARK).lstrip().split(b"\n", 1)[0]
    is_of_semicolons = header.count(b";") > header.count(b",") and b"\t" not in header
    if data_format is FileFormat.CSV and is_of_semicolons and not exact:
        return TableBytes(data_format, data, (*notices, "Its cells are separated by semicolons."), b";")
    _refuse_other_format(path, data, data_format)
    return TableBytes(data_format, data, notices, delimiter, rest)


def _as_utf8(data: bytes) -> tuple[bytes, tuple[str, ...]]:
    """The same text as UTF-8, and in which encoding it was. What is plainly neither UTF-16 nor Windows-1252
    stays as it is: the reader names the byte that is no text.
    """
    if data.startswith(_UTF16_MARKS):
        try:
            return data.decode("utf-16").encode(), ("It is UTF-16 text.",)
        except UnicodeError:
            return data, ()
    text = codecs.getincrementaldecoder("utf-8")()
    try:
        for at in range(0, len(data), _CHUNK):  # for the text of a whole file may take four times its room
            text.decode(data[at : at + _CHUNK])
        text.decode(b"", final=True)
    except UnicodeDecodeError:
        letters = len(_LETTERS.findall(data))
        high = len(data) - len(data.translate(None, _HIGH))
        # A sequence of UTF-8 shows a damaged file; many such bytes show another alphabet.
        if not _OF_UTF8.search(data) and high < _MOST_HIGH * letters and not _NOT_1252.search(data):
            return data.decode("cp1252").encode(), ("It is read as Windows-1252 text, for it is not UTF-8.",)
    return data, ()


def read_data_file(path: Path) -> tuple[FileFormat, bytes]:
    """The format that the name claims, and the bytes, unpacked where they are gzip-compressed.

    Raises SetupError where the file cannot be read, InputError where its content is plainly something
    else than its name says, or too large.
    """
    read = read_table_file(path, exact=True)
    return read.data_format, b"".join(read.blocks())


def _bytes_of(path: Path) -> tuple[FileFormat, bytes, Path | None]:
    """The format that the name claims, and the bytes, unpacked; what they are is not looked at. Also the file
    where it is read line by line: then they are its first ones.
    """
    with reading(path):
        _refuse_folders_and_devices(path)
        data_format, packed = _claimed_format(path)
        check_size(path, path.stat().st_size)
        rest = path if data_format is FileFormat.JSON_LINES and not packed else None
        with path.open("rb") as file:
            data = file.read(-1 if rest is None else _HEADER_BYTES)
    if packed:
        return data_format, _unpack(path, data), None
    if path.suffix.lower() == _LOG:
        return data_format, _samples_of_log(path, data), None
    if data.startswith(_GZIP_MARK):
        raise InputError(path, ["is gzip-compressed."], f"Rename it to {path.name}.gz.")
    return data_format, data, rest


def _samples_of_log(path: Path, packed: bytes) -> bytes:
    """`{"samples": [...]}` of a log. InputError where it is damaged, has no sample, or shrinks like none."""
    import pyarrow as pa  # noqa: PLC0415 - only such a log needs it

    unpacking = Unpacking(path, len(packed), _LOG_HINT)
    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as log:
            members = [each for each in log.infolist() if each.filename.startswith("samples/")]
            samples = [
                _member(log, packed, each, unpacking) for each in members if each.filename.endswith(".json")
            ]
    except (
        *(zipfile.BadZipFile, zlib.error, pa.ArrowException),
        *(OSError, EOFError, ValueError, RuntimeError),
    ) as error:
        raise InputError(
            path, [f"is no log of inspect_ai, or a damaged one ({error})."], _LOG_HINT
        ) from error
    if not samples:
        raise InputError(path, ["has no samples."], "Choose the log of an evaluation that has begun.")
    return b'{"samples":[' + b",".join(samples) + b"]}"


def _member(log: zipfile.ZipFile, packed: bytes, member: zipfile.ZipInfo, unpacking: Unpacking) -> bytes:
    unpacking.add(member.file_size)
    if member.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return log.read(member)
    if member.compress_type != _ZSTANDARD:  # of others zipfile raises errors of each of their libraries
        raise ValueError(f"compression method {member.compress_type}")
    import pyarrow as pa  # noqa: PLC0415

    header = packed[member.header_offset : member.header_offset + _OF_HEADER]
    name, extra = (int.from_bytes(header[at : at + 2], "little") for at in (26, 28))
    start = member.header_offset + _OF_HEADER + name + extra
    data = packed[start : start + member.compress_size]
    unpacked = pa.decompress(data, member.file_size, codec="zstd", asbytes=True)
    if zlib.crc32(unpacked) != member.CRC:
        raise ValueError(f"{member.filename} is not whole")
    return bytes(unpacked)


def read_text_file(path: Path) -> bytes:
    """The bytes of a file of lines, whatever its suffix; unpacked where that ends with .gz.

    Raises SetupError where it cannot be read, InputError where it is plainly no such file.
    """
    with reading(path):
        _refuse_folders_and_devices(path)
        check_size(path, path.stat().st_size)
        data = path.read_bytes()
    if path.suffix.lower() == ".gz":
        data = _unpack(path, data)
    _refuse_strangers(path, data)
    return data


def _refuse_folders_and_devices(path: Path) -> None:
    found = look_at(path)
    if found is PathKind.FOLDER:
        raise SetupError(f"{path} is a folder.", "Choose a file inside it.")
    if found is PathKind.OTHER:
        # Reading a pipe that nobody writes to would never end.
        found_here = f"{path} is a device or a pipe, not a file."
        raise SetupError(found_here, "Save its output to a file, and choose that.")


def _claimed_format(path: Path) -> tuple[FileFormat, bool]:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = suffixes[-1:] == [".gz"]
    suffix = "".join(suffixes[:-1][-1:] if packed else suffixes[-1:])
    if suffix == ".gguf":
        raise InputError(path, [_MODEL], _WHAT_A_DATASET_IS)
    if suffix in _WORKBOOKS:
        raise InputError(path, ["is a workbook of a spreadsheet program."], _SAVE_AS_CSV)
    if suffix not in _BY_SUFFIX:
        found = f"has the unknown suffix '{suffix}'." if suffix else "has no suffix for its format."
        raise InputError(path, [found], _SUFFIXES)
    return _BY_SUFFIX[suffix], packed


def _refuse_strangers(path: Path, data: bytes) -> None:
    start = data[:64].removeprefix(UTF8_MARK).lstrip()
    if not start:
        raise InputError(path, ["is empty."], "Check that it was saved or downloaded completely.")
    for marks, found, hint in _STRANGERS:
        if start.lower().startswith(marks):
            raise InputError(path, [found], hint)


def _refuse_other_format(path: Path, data: bytes, claimed: FileFormat) -> None:
    is_parquet = data.startswith(_PARQUET_MARK)
    if claimed is FileFormat.PARQUET:
        if not (is_parquet and data.endswith(_PARQUET_MARK)):
            found = "is a Parquet file cut short." if is_parquet else "is not a Parquet file (no PAR1 mark)."
            raise InputError(path, [found], "Download it again, or use the suffix of its real format.")
        return
    start = data[:_HEADER_BYTES].removeprefix(UTF8_MARK).lstrip()
    header = start.splitlines()[0]
    if not is_parquet and _is_binary(start, header, claimed):
        raise InputError(
            path,
            ["is binary data, or UTF-16 text without a byte-order mark."],
            f"{SAVE_AS_UTF8} If it is not text, choose another file.",
        )
    shown = FileFormat.PARQUET if is_parquet else _text_format(header, claimed)
    if shown != claimed:
        hint = "Use the suffix of its real format, or export it again."
        if shown == _SEMICOLONS:
            hint = "Export it with commas (.csv) or tabs (.tsv) between the cells."
        raise InputError(path, [f"looks like {shown}, not {claimed}."], hint)


def _is_binary(start: bytes, header: bytes, claimed: FileFormat) -> bool:
    """Whether NULs show that this is no UTF-8 text; one inside a cell of a text shows nothing."""
    if b"\0" not in start:
        return False
    # All of a JSON file may be one line; in UTF-16 its bracket alone has a NUL.
    never_nul = header if claimed in (FileFormat.TSV, FileFormat.CSV) else header[:2]
    undecodable = len(start) - len(start.decode("utf-8", "ignore").encode("utf-8"))
    return b"\0" in never_nul or undecodable > len(start) // 10


def _text_format(header: bytes, claimed: FileFormat) -> str:
    """What the first line shows the text to be; `claimed` where it shows nothing else."""
    if header[:1] in (b"{", b"["):
        is_json_lines = header[:1] == b"{" and header.rstrip() != b"{"
        if claimed is FileFormat.JSON or (claimed is FileFormat.JSON_LINES and is_json_lines):
            return claimed
        return FileFormat.JSON
    delimiters = {b"\t": FileFormat.TSV, b",": FileFormat.CSV, b";": _SEMICOLONS}
    found = [name for delimiter, name in delimiters.items() if delimiter in header]
    return claimed if claimed in found or not found else found[0]


def plain_stem(path: Path) -> str:
    """The name of a file without its suffixes: `gpt-4.1.json.gz` is gpt-4.1."""
    plain = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return plain.stem
