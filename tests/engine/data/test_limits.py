"""What is too large is refused in seconds, with the number found and the limit; what is large is read."""

import gzip
import json
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from engine.core.errors import InputError
from engine.core.events import Cancelled, CancelToken
from engine.data.dataset import load_dataset
from engine.data.file_format import MOST_COLUMNS
from engine.data.submission import read_submission
from engine.data.tables import open_table

HEADER = "id\tinstruction\toutput_a\toutput_b\n"
ROW = {"id": "1", "instruction": "Count.", "output_a": "One.", "output_b": "Two."}


def wide(more: int) -> dict[str, str]:
    """A row with so many columns more."""
    return {**ROW, **{f"column {number}": "x" for number in range(more)}}


def write_delimited(path: Path, row: dict[str, str]) -> None:
    lines = ("\t".join(cells) for cells in (row.keys(), row.values()))
    path.write_text("\n".join(lines).replace("\t", "," if ".csv" in path.name else "\t"), encoding="utf-8")


def write_json(path: Path, row: dict[str, str]) -> None:
    path.write_text(json.dumps(row if path.suffix == ".jsonl" else [row]), encoding="utf-8")


def write_packed(path: Path, row: dict[str, str]) -> None:
    write_delimited(path, row)
    path.write_bytes(gzip.compress(path.read_bytes()))


def write_parquet(path: Path, row: dict[str, str]) -> None:
    parquet.write_table(pa.table({name: [text] for name, text in row.items()}), path)


WRITERS: dict[str, Callable[[Path, dict[str, str]], None]] = {
    "d.tsv": write_delimited,
    "d.csv": write_delimited,
    "d.tsv.gz": write_packed,
    "d.json": write_json,
    "d.jsonl": write_json,
    "d.parquet": write_parquet,
}


@pytest.mark.parametrize("name", WRITERS)
def test_too_many_columns_are_refused_in_every_format(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    WRITERS[name](path, wide(MOST_COLUMNS))
    with pytest.raises(InputError, match=r"has 10,004 columns; at most 10,000 are read"):
        load_dataset(path)


@pytest.mark.parametrize("name", WRITERS)
def test_as_many_columns_as_the_limit_are_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    WRITERS[name](path, wide(MOST_COLUMNS - len(ROW)))
    dataset = load_dataset(path)
    assert dataset.ids == ["1"]
    assert "100 other columns are stored" in dataset.notices[0]
    assert "9,896 columns were omitted (at most 100 are stored): 'column 100', " in dataset.notices[1]


def test_keys_of_all_records_together_are_columns(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    records = [{**ROW, "id": str(number), f"key {number}": "x"} for number in range(MOST_COLUMNS)]
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    with pytest.raises(InputError, match="has 10,001 columns"):
        load_dataset(path)


def test_a_row_without_an_end_is_named_and_ends_the_reading(tmp_path: Path) -> None:
    path = tmp_path / "d.tsv"
    path.write_text(f"{HEADER}1\ti\ta\tb\n2" + "\tx" * 1_000_000 + "\n3\ti\ta\tb\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_dataset(path)
    assert caught.value.problems == (
        "line 3: cells found: 1,000,001; the header has 4.",
        "Nothing after line 3 was read.",
    )


@pytest.mark.parametrize("name", ["d.tsv", "d.jsonl"])
def test_after_many_problems_nothing_more_is_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(HEADER + "1\n" * 300_000 if name == "d.tsv" else f"{json.dumps(ROW)}\n" + "1\n" * 300_000)
    with pytest.raises(InputError, match="10,000 problems were found, and nothing after them was read"):
        load_dataset(path)


@pytest.mark.parametrize("name", WRITERS)
def test_a_cell_that_is_too_long_is_named(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    WRITERS[name](path, {**ROW, "output_a": "a" * 4_000_001, "output_b": "b" * 4_000_000})
    with pytest.raises(InputError, match="output_a: 4,000,001 characters; at most 4,000,000") as caught:
        load_dataset(path)
    assert len(caught.value.problems) == 1


def test_a_text_in_the_place_of_a_columns_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "d.tsv"
    path.write_text("x" * 1_000_000, encoding="utf-8")
    with pytest.raises(InputError, match="name of column 1 has 1,000,000 characters; at most 100,000"):
        load_dataset(path)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_million_blank_lines_cost_little_and_are_counted(end: str, tmp_path: Path) -> None:
    path = tmp_path / "d.tsv"
    lines = [HEADER.strip(), "1\ti\ta\tb", *[""] * 1_000_000, "2\ti\ta\tb", "3\ti"]
    path.write_bytes(end.join(lines).encode())
    with pytest.raises(InputError, match="line 1000004: cells found: 2"):
        load_dataset(path)


def test_blank_lines_between_records_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_bytes(b"\n" * 3 + json.dumps(ROW).encode() + b"\n" + b" \r\n" * 1_000_000 + b"{\n  ")
    with pytest.raises(InputError, match="line 1000005, column 2: invalid JSON"):
        load_dataset(path)


@pytest.mark.parametrize("read", [load_dataset, read_submission])
def test_what_unpacks_like_no_table_is_refused(
    read: Callable[[Path], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.system.sandbox._is_reader", True)
    monkeypatch.setattr("engine.data.file_format._ALWAYS_UNPACKED", 4 << 20)
    path = tmp_path / "d.tsv.gz"
    path.write_bytes(gzip.compress(HEADER.encode() + b"\n" * (8 << 20)))
    with pytest.raises(InputError, match="unpacks to more than 4 MiB; at most 200 times its size"):
        read(path)


@pytest.mark.slow
@pytest.mark.parametrize("is_dictionary", [False, True], ids=["texts", "dictionary"])
def test_a_parquet_file_of_a_text_many_rows_share_is_refused(is_dictionary: bool, tmp_path: Path) -> None:
    path = tmp_path / "d.parquet"
    shared = pa.DictionaryArray.from_arrays(pa.array([0] * 20_000, pa.int32()), pa.array(["a" * 1_000_000]))
    parquet.write_table(pa.table(dict.fromkeys(ROW, shared)), path, store_schema=is_dictionary)
    assert path.stat().st_size < 300_000  # for 74 GiB
    begun = time.monotonic()
    with pytest.raises(InputError, match="unpacks to more than 64 MiB; at most 200 times its size"):
        load_dataset(path)
    assert time.monotonic() - begun < 20  # half a second where nothing else works; minutes, if it was read


def test_a_parquet_file_whose_pages_shrink_like_no_table_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "d.parquet"
    table = pa.table({name: ["a" * 1_000_000] * 30 for name in ROW})
    parquet.write_table(table, path, use_dictionary=False, compression="zstd")
    with pytest.raises(InputError, match="unpacks to more than 64 MiB"):
        open_table(path)


def test_a_file_beyond_the_limit_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.system.sandbox._is_reader", True)
    monkeypatch.setattr("engine.data.file_format.MOST_BYTES", 2 << 20)
    path = tmp_path / "d.tsv"
    path.write_text(f"{HEADER}1\ti\ta\t" + "b" * (3 << 20), encoding="utf-8")
    with pytest.raises(InputError, match="has 3 MiB; at most 2 MiB are read"):
        load_dataset(path)


def test_unpacking_can_be_stopped(tmp_path: Path) -> None:
    path = tmp_path / "d.tsv.gz"
    path.write_bytes(gzip.compress(f"{HEADER}1\ti\ta\tb\n".encode()))
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        load_dataset(path, cancel=cancel)
