"""Data files: what is not the format of its name is told apart in one sentence, before any row is read."""

import gzip
import io
import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from engine.core.errors import InputError, SetupError
from engine.data.file_format import FileFormat, read_data_file

Save = Callable[[str, bytes], Path]

not_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0,
    reason="root may read what is forbidden, and Windows forbids writing alone",
)


def parquet_bytes() -> bytes:
    sink = io.BytesIO()
    parquet.write_table(pa.table({"a": ["x"]}), sink)
    return sink.getvalue()


TSV = "id\tinstruction\n1\tNaïve – “x”\n"
GGUF = b"GGUF\x03\0\0\0" + bytes(range(256))
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256))
PDF = b"%PDF-1.4\n" + bytes(range(256))
PAGE = b"<!DOCTYPE html>\n<html><body>404, not found</body></html>"
PARQUET = parquet_bytes()
UNMARKED = "UTF-16 text without a byte-order mark"


def packed(data: bytes) -> bytes:
    """Gzip-compressed without the time, so that a test has the same name whenever it is collected."""
    return gzip.compress(data, mtime=0)


@pytest.mark.parametrize(
    ("name", "data", "problem", "hint"),
    [
        ("x.tsv", b"", "is empty", "saved or downloaded completely"),
        ("x.json", b"\xef\xbb\xbf \n", "is empty", "saved or downloaded completely"),
        ("x.csv.gz", packed(b""), "is empty", "saved or downloaded completely"),
        ("x.tsv", packed(b"a\tb\n"), "is gzip-compressed", r"Rename it to x\.tsv\.gz"),
        ("x.tsv.gz", b"a\tb\n", "is not gzip-compressed", r"Remove \.gz from"),
        ("x.tsv.gz", packed(b"a\tb\n" * 99)[:-9], "damaged or cut short", "again"),
        ("x.tsv.gz", b"\x1f\x8b\x08\0" + b"\xff" * 40, "damaged or cut short", "again"),
        ("x.tsv", b"a,b\n1,2\n", "looks like CSV, not TSV", "suffix"),
        ("x.csv", b"a\tb\n1\t2\n", "looks like TSV, not CSV", "suffix"),
        ("x.csv", b"a;b\n1;2\n", "looks like text separated by semicolons, not CSV", "Export it with commas"),
        ("x.tsv", b'[{"a": 1}]', "looks like JSON, not TSV", "suffix"),
        ("x.csv", b'{"a": 1}\n{"a": 2}\n', "looks like JSON, not CSV", "suffix"),
        ("x.json", b"a\tb\n1\t2\n", "looks like TSV, not JSON", "suffix"),
        ("x.jsonl", b'[\n{"a": 1}]', "looks like JSON, not JSON Lines", "suffix"),
        ("x.jsonl", b'{\n"a": [{"b": 1}]}', "looks like JSON, not JSON Lines", "suffix"),
        ("x.json", PARQUET, "looks like Parquet, not JSON", "suffix"),
        ("x.tsv", b"PAR1\x15\0\x15\0PAR1", "looks like Parquet, not TSV", "suffix"),
        ("x.parquet", b"a\tb\n", r"is not a Parquet file \(no PAR1 mark\)", "suffix"),
        ("x.parquet", PARQUET[:-20], "is a Parquet file cut short", "Download it again"),
        ("x.csv", "a,b\n".encode("utf-16"), "is UTF-16 text", "Save it as UTF-8"),
        ("x.csv", b"\xfe\xff" + "a,b\n".encode("utf-16-be"), "is UTF-16 text", "Save it as UTF-8"),
        ("x.csv", b"PK\x03\x04\x14\0", "an Excel workbook", "export the sheet as CSV UTF-8"),
        ("x.tsv", b"version https://git-lfs.github.com/spec/v1\noid", "is a Git LFS pointer", "git lfs pull"),
        ("x.tsv", PAGE, "is a web page", "Download the file itself"),
        ("x.parquet", PAGE, "is a web page", "Download the file itself"),
        ("x.xlsx", b"PK\x03\x04\x14\0", "is a workbook of a spreadsheet program", "Save its sheet as CSV"),
        ("x.docx", b"", r"unknown suffix '\.docx'", r"Use \.tsv, \.csv"),
        ("x.tsv.gz", packed(packed(b"a\tb\n")), "is gzip-compressed twice", "Unpack it once"),
        ("x.gguf", GGUF, "is a model, not a table", "A dataset is a table of instructions with two resp"),
        ("x.gguf.gz", b"", "is a model, not a table", "Use it as the model"),
        ("x.tsv", GGUF, "is a model, not a table", "Use it as the model"),
        ("x.tsv.gz", packed(GGUF), "is a model, not a table", "Use it as the model"),
        ("x.tsv", b"SQLite format 3\0\x10\0", "is an SQLite database", "Export the table in it"),
        ("x.tsv", TSV.encode("utf-16-le"), f"binary data, or {UNMARKED}", "Save it as UTF-8"),
        ("x.csv", TSV.encode("utf-16-be"), f"binary data, or {UNMARKED}", "Save it as UTF-8"),
        ("x.json", '[{"id": 1}]'.encode("utf-16-le"), UNMARKED, "Save it as UTF-8"),
        ("x.jsonl", '{"id": 1}\n'.encode("utf-16-be"), UNMARKED, "Save it as UTF-8"),
        ("x.tsv", PNG, "is binary data", "choose another file"),
        ("x.jsonl", PNG, "is binary data", "choose another file"),
        ("x.csv", PDF, "is binary data", "choose another file"),
        ("x.gz", b"", "no suffix for its format", r"Use \.tsv, \.csv"),
        ("x", b"", "no suffix for its format", r"Use \.tsv, \.csv"),
    ],
)
def test_a_file_that_its_name_belies(save: Save, name: str, data: bytes, problem: str, hint: str) -> None:
    with pytest.raises(InputError, match=f"(?s){problem}.*{hint}") as caught:
        read_data_file(save(name, data))
    assert len(caught.value.problems) == 1


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("x.tsv", b"id\tinstruction\n1\ta\0b\n"),
        ("x.tsv", b"id\tinstruction\n1\t" + b"\0" * 99),
        ("x.csv", b"id,instruction\n1,caf\xe9 \0\n"),
        ("x.tsv", b"GGUF\tid\n1\t2\n"),
        ("x.json", b'[{"a": "\0"}]'),
        ("x.parquet", PARQUET),
    ],
)
def test_a_nul_or_a_mark_in_the_text_does_not_make_it_binary(save: Save, name: str, data: bytes) -> None:
    assert read_data_file(save(name, data))[1] == data


@pytest.mark.parametrize("name", ["x.TSV", "x.Tsv.GZ", "two.parts.tsv"])
def test_the_suffix_decides_whatever_its_letter_case(save: Save, name: str) -> None:
    data = b"a\tb\n1\t2\n"
    path = save(name, packed(data) if name.endswith("GZ") else data)
    assert read_data_file(path) == (FileFormat.TSV, data)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"x\.tsv does not exist"):
        read_data_file(tmp_path / "x.tsv")


@pytest.mark.parametrize("name", ["x.tsv", "x"])
def test_a_folder_is_no_file(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(SetupError, match="is a folder"):
        read_data_file(tmp_path / name)


@pytest.mark.skipif(os.name == "nt", reason="no such devices there")
def test_only_regular_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "x.tsv").symlink_to(os.devnull)
    with pytest.raises(SetupError, match="is a device or a pipe"):
        read_data_file(tmp_path / "x.tsv")


@not_root
def test_a_forbidden_file_is_named(save: Save) -> None:
    path = save("x.tsv", b"a\tb\n")
    path.chmod(0)
    with pytest.raises(SetupError, match="No permission to read"):
        read_data_file(path)
