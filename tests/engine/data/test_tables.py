"""Raw tables: text comes back as written, and every wrong file is named by place and remedy."""

import csv
import io
import json
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pyarrow import parquet

from engine.core.errors import InputError
from engine.core.formatting import listed, quoted
from engine.data.delimited import QuotingError, Splitter
from engine.data.json_records import JsonRecord, read_json_lines
from engine.data.tables import SourceRow, SourceTable, open_table

Save = Callable[[str, bytes], Path]

CELLS = st.text(
    st.one_of(st.sampled_from('a\n\r\t," é😀\0\ufeff\u2028'), st.characters(exclude_categories=["Cs"]))
)


def read(path: Path) -> tuple[SourceTable, list[SourceRow]]:
    table = open_table(path)
    return table, list(table.rows())


def problems_in(path: Path) -> list[str]:
    table, _ = read(path)
    return table.problems


def parquet_bytes(columns: dict[str, object]) -> bytes:
    sink = io.BytesIO()
    parquet.write_table(pa.table(columns), sink)
    return sink.getvalue()


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        (b"a\tb\n1\t2\n", [(2, "1", "2")]),
        (b"a\tb\n1\t2", [(2, "1", "2")]),
        (b"a\tb\n1\t", [(2, "1", "")]),
        (b"\xef\xbb\xbfa\tb\n1\t2\n", [(2, "1", "2")]),
        (b"a\tb\r\n1\t2\r\n", [(2, "1", "2")]),
        (b"a\tb\r1\t2\r3\t4\r", [(2, "1", "2"), (3, "3", "4")]),
        (b"a\tb\n\n1\t2\n\n3\t4\n\n", [(3, "1", "2"), (5, "3", "4")]),
        (b"a\tb\r\n\r\n1\t2\r\n", [(3, "1", "2")]),
        (b'a\tb\n"x\ny\n"\tz\n3\t4\n', [(2, "x\ny\n", "z"), (5, "3", "4")]),
        (b'a\tb\n"x\r\ny\tz"\t""\r\n', [(2, "x\r\ny\tz", "")]),
        (b'a\tb\n5" disk\tsay "hi"\n', [(2, '5" disk', 'say "hi"')]),
        (b'a\tb\n"say ""hi"""\t""""\n', [(2, 'say "hi"', '"')]),
        (b'a\tb\r1\t"x\ny"\r3\t4\r', [(2, "1", "x\ny"), (4, "3", "4")]),
        (b"a\tb\n1\t2\r\n3\t4\r\n", [(2, "1", "2"), (3, "3", "4")]),
        (b"a\tb\r\n1\t2\r3\t4\n", [(2, "1", "2"), (3, "3", "4")]),
        (b'a\tb\n"x\ry"\t"z\r"\r\n', [(2, "x\ry", "z\r")]),
        (b"a\tb\r\n1\tz\r", [(2, "1", "z")]),
        (b"a\tb\n 1 \tNA\n", [(2, " 1 ", "NA")]),
        (b"a\tb\n\0\tx\0y\n", [(2, "\0", "x\0y")]),
        ("a\tb\né\u2028\t\ufeff日\n".encode(), [(2, "é\u2028", "\ufeff日")]),
        (b'"a"\t"b"\n"1"\t2\n', [(2, "1", "2")]),
    ],
)
def test_tsv_cells_and_line_numbers(save: Save, data: bytes, rows: list[tuple[int, str, str]]) -> None:
    table, found = read(save("x.tsv", data))
    assert [(row.number, row.cells["a"], row.cells["b"]) for row in found] == rows
    assert table.problems == []


@given(
    st.lists(st.lists(CELLS, min_size=2, max_size=4), min_size=1),
    st.sampled_from("\t,"),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_what_the_csv_module_writes_is_cut_into_the_same_cells(
    rows: list[list[str]], delimiter: str, end: str
) -> None:
    text = io.StringIO()
    # Before Python 3.13 it leaves line ends other than its own unquoted, unless it quotes everything.
    if {"\r", "\n"} & set("".join(cell for row in rows for cell in row)):
        writer = csv.writer(text, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL)
    else:
        writer = csv.writer(text, delimiter=delimiter, lineterminator=end)
    writer.writerows([["first", "line"], *rows])
    _, *records = Splitter(text.getvalue().encode(), delimiter.encode()).records()
    assert [[cell.text for cell in record.cells] for record in records] == rows


@given(st.text('a\n\r\t"', max_size=30))
def test_the_csv_module_in_strict_mode_agrees_on_any_table(text: str) -> None:
    expected: list[list[str]] | None = None
    found: list[list[str]] | None = None
    with suppress(csv.Error):
        lines = io.StringIO(text, newline="")
        expected = [row for row in csv.reader(lines, delimiter="\t", strict=True) if row]
    # What it cuts into rows of different lengths is read otherwise where that makes a table of it.
    assume("\r" not in text or (expected is not None and len({len(row) for row in expected}) < 2))
    with suppress(QuotingError):
        found = [[cell.text for cell in row.cells] for row in Splitter(text.encode(), b"\t").records()]
    assert found == expected


@pytest.mark.parametrize(
    ("data", "problems"),
    [
        (b"a\tb\n1\n1\t2\n1\t2\t3\n", ["line 2: cells found: 1; the header", "line 4: cells found: 3; the"]),
        (
            b"a\tb\nx\ry\tz\n1\n",
            [
                "line 2: cells found: 1; the header has 2. A carriage return ends this line: a cell that",
                "line 4: cells found: 1; the header has 2.",
            ],
        ),
        (b"a\tb\nx\xe9\t\xff\n", ["line 2, a: byte 0xe9 at offset 5 is not UTF-8", "line 2, b: byte 0xff"]),
        (b'\xef\xbb\xbfa\tb\n"x""\xe9"\t1\n', ["line 2, a: byte 0xe9 at offset 11"]),
        (b"\xe9\tb\n1\t2\n", ["line 1, column 1: byte 0xe9 at offset 0"]),
        (
            b'a\tb\n1\t2\n3\t"x\ny\n',
            ["line 3, b: a quote opens the cell and is never closed.", "Nothing after line 3"],
        ),
        (
            b'a\tb\n"x\n" y\t2\n',
            ["line 2, a: a quote opens the cell, closes on line 3, and text goes on", "Nothing after"],
        ),
        (b'a\tb\n"x\n"\t"y\n', ["line 3, b: a quote opens the cell and is never closed.", "Nothing after"]),
    ],
)
def test_tsv_problems_name_line_and_column(save: Save, data: bytes, problems: list[str]) -> None:
    found = problems_in(save("x.tsv", data))
    assert len(found) == len(problems)
    assert all(text.startswith(start) for text, start in zip(found, problems, strict=True))


def test_a_header_with_an_open_quote_is_refused(save: Save) -> None:
    with pytest.raises(InputError, match="line 1, column 2: a quote opens the cell and is never closed"):
        open_table(save("x.tsv", b'a\t"b\n1\t2\n'))


@pytest.mark.parametrize(
    ("name", "data", "problem", "hint"),
    [
        ("x.json", b'{"a": 1}\n{"a": 2}\n', r"line 2, column 1: a second value begins.*\.jsonl", "Fix"),
        ("x.parquet", b"PAR1" + b"\x07" * 99 + b"PAR1", "the Parquet file is damaged", "again"),
        ("x.json", b'[{"a": "caf\xe9"}]', "line 1: byte 0xe9 at offset 11 is not UTF-8", "Save it as UTF-8"),
    ],
)
def test_a_file_that_cannot_be_opened(save: Save, name: str, data: bytes, problem: str, hint: str) -> None:
    with pytest.raises(InputError, match=f"(?s){problem}.*{hint}") as caught:
        open_table(save(name, data))
    assert len(caught.value.problems) == 1


@pytest.mark.parametrize(
    ("name", "data", "hint"),
    [
        ("x.tsv", b"a\tb\nit\x92s\t\x93x\x94\n", "Save it as UTF-8"),
        ("x.jsonl", b'{"a": "it\x92s"}', "Save it as UTF-8"),
        ("x.tsv", b"a\tb\n1\n", "Fix the problems above"),
    ],
)
def test_the_remedy_is_that_of_the_problems(save: Save, name: str, data: bytes, hint: str) -> None:
    table, _ = read(save(name, data))
    with pytest.raises(InputError, match=f"\n{hint}"):
        table.raise_problems()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("7", "7"),
        ("1.0", "1.0"),
        ("-1.50e+07", "-1.50e+07"),
        ("NaN", "NaN"),
        ("9" * 5000, "9" * 5000),
        ("true", "true"),
        ("false", "false"),
        ("null", ""),
        ('""', ""),
        ('"null"', "null"),
        ('" x "', " x "),
        (r'"\u0000\r\n\ud83d\ude00"', "\0\r\n😀"),
        ('{"b": [1.0, "é\\n", null, true], "a": {}}', '{"b": [1.0, "é\\n", null, true], "a": {}}'),
    ],
)
@pytest.mark.parametrize("name", ["x.json", "x.jsonl"])
def test_a_json_value_as_text(save: Save, name: str, value: str, text: str) -> None:
    record = f'{{"a": {value}}}'
    _, rows = read(save(name, (f"[{record}]" if name == "x.json" else record).encode()))
    assert rows == [SourceRow(1, {"a": text}, ("a",) if value == "null" else ())]


@pytest.mark.parametrize(
    "data",
    [
        b'[{"a": "1"}, {"a": "2"}]',
        b'\xef\xbb\xbf{"data": [{"a": "1"}, {"a": "2"}]}',
        b'{"version": 1, "tags": ["x"], "rows": [{"a": "1"}, {"a": "2"}]}',
        b'{"rows": [{"a": "1"}, {"a": "2"}], "about": {"authors": [{"name": "Ada"}]}}',
        b'{"rows": [{"a": "1"}, {"a": "2"}], "about": ' + b'{"x": ' * 800 + b"1" + b"}" * 801,
    ],
)
def test_json_records_stand_in_a_list_or_under_one_key(save: Save, data: bytes) -> None:
    _, rows = read(save("x.json", data))
    assert rows == [SourceRow(1, {"a": "1"}), SourceRow(2, {"a": "2"})]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b'[{"a": 1},\n {"a" 2}]', "line 2, column 7: invalid JSON"),
        (b'[{"a": "x\xe9"}]', "line 1: byte 0xe9 at offset 9 is not UTF-8"),
        (b'{"a": [{"b": 1}], "c": [{"d": 1}]}', r"contains 2 lists of records \(a, c\)"),
        (b'{"a": [{"b": 1}], "c": {"d": {"e": [{"b": 2, "f": 1}]}}}', r"2 lists of records \(a, c\.d\.e\)"),
        (b'{"id": {"0": 1}, "instruction": {"0": "x"}}', "without a list of records"),
        (b"[" * 200_000, "nested too deeply|invalid JSON"),
        (b'{"data": [{"a": 1}],\n "data": [{"a": 2}]}', "line 2: an object names the key 'data' twice"),
        (b'[{"a": 1},\n{"a": 1,\n"a": 2}]', "line 3: an object names the key 'a' twice"),
        (b'[{"a": {"b": "}\\"{", "c": [{"b": 1}], "b" :2}}]', "line 1: an object names the key 'b' twice"),
        (rb'[{"a": {"\u00e9": 1, "' + "é".encode() + b'": 2}}]', "line 1: an object names the key 'é' twice"),
    ],
)
def test_json_that_holds_no_list_of_records(save: Save, data: bytes, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        open_table(save("x.json", data))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"{\xe9}", "line 2: byte 0xe9 at offset 12 is not UTF-8."),
        (b'{"a" 1}', "line 2, column 6: invalid JSON (Expecting ':' delimiter)."),
        (b'{"a": "x\ty"}', "line 2, column 9: invalid JSON (Invalid control character at)."),
        (b'["a"]', "line 2: not an object with a key for each column."),
        (b'{"a": 1, "a": 2}', "line 2: an object names the key 'a' twice."),
        (b'{"a": {"b": 1, "b": 2}}', "line 2: an object names the key 'b' twice."),
        (rb'{"a": "x\ud800"}', r"line 2, a: \ud800 is half a character (a lone surrogate), not text."),
    ],
)
def test_a_wrong_json_line_is_named_and_the_others_are_read(save: Save, line: bytes, problem: str) -> None:
    table, rows = read(save("x.jsonl", b'{"a": "1"}\n' + line + b'\r\n\n{"a": "4"}'))
    assert table.problems == [problem]
    assert rows == [SourceRow(1, {"a": "1"}), SourceRow(4, {"a": "4"})]


def test_columns_of_json_are_the_keys_met_so_far(save: Save) -> None:
    table, _ = read(save("x.ndjson", b'{"b": 1}\n{"a": 1, "b": 2}\n'))
    assert table.columns == ["b", "a"]


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (pa.array([7, None, -1]), ["7", "", "-1"]),
        (pa.array([1.0, 0.1]), ["1.0", "0.1"]),
        (pa.array([0.1, None, 3, 1e-7], pa.float32()), ["0.1", "", "3.0", "1e-07"]),
        (pa.array(np.array([0.1, np.nan], np.float16)), ["0.1", "nan"]),
        (pa.array([[0.1, None]], pa.list_(pa.float32())), ["[0.1, null]"]),
        (
            pa.array([{"s": 0.7, "n": 1}], pa.struct([("s", pa.float32()), ("n", pa.int8())])),
            ['{"s": 0.7, "n": 1}'],
        ),
        (pa.array([[("s", 0.1)]], pa.map_(pa.string(), pa.float32())), ['[["s", 0.1]]']),
        (pa.array([True, None]), ["true", ""]),
        (pa.array(["NA", "", None, "x\0\r\n"]), ["NA", "", "", "x\0\r\n"]),
        (pa.array(["é", "é"], pa.large_string()), ["é", "é"]),
        (pa.array(["A", "B", "A"]).dictionary_encode(), ["A", "B", "A"]),
        (pa.array([b"x"]), ["x"]),
        (pa.array([["é", None]]), ['["é", null]']),
        (pa.array([{"k": [1], "on": True}]), ['{"k": [1], "on": true}']),
        (pa.array([[date(2025, 3, 9)]]), ['["2025-03-09"]']),
        (pa.array([date(2025, 3, 9)]), ["2025-03-09"]),
        (pa.array([Decimal("1.50")]), ["1.50"]),
        (pa.nulls(1), [""]),
    ],
)
def test_a_parquet_value_as_text(save: Save, values: pa.Array, texts: list[str]) -> None:
    _, rows = read(save("x.parquet", parquet_bytes({"a": values})))
    assert [row.cells["a"] for row in rows] == texts


def test_bad_utf8_in_parquet_is_named_by_row_and_column(save: Save) -> None:
    broken = pa.array([b"fine", b"caf\xe9"]).view(pa.string())
    assert problems_in(save("x.parquet", parquet_bytes({"a": broken}))) == [
        "row 2, a: byte 0xe9 at offset 3 is not UTF-8."
    ]


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (pa.array([0, 2**31 - 1], pa.int32()).view(pa.date32()), "its value cannot be read"),
        (pa.array([0, 2**62]).view(pa.duration("s")), "its value cannot be read"),
        (
            pa.ListArray.from_arrays(pa.array([0, 1, 2]), pa.array([b"x", b"\xff"]).view(pa.string())),
            "byte 0xff at offset 0 is not UTF-8",
        ),
        (pa.array([["x"], [b"\xff"]], pa.list_(pa.binary())), "byte 0xff at offset 0 is not UTF-8"),
    ],
)
def test_a_parquet_value_that_python_cannot_hold_is_named(save: Save, values: pa.Array, problem: str) -> None:
    (found,) = problems_in(save("x.parquet", parquet_bytes({"a": values})))
    assert found.startswith(f"row 2, a: {problem}")


def test_a_parquet_column_whose_name_is_no_text_is_refused(save: Save) -> None:
    data = parquet_bytes({"abcd": ["x"]}).replace(b"abcd", b"ab\xf5d")
    with pytest.raises(InputError, match="the Parquet file is damaged"):
        open_table(save("x.parquet", data))


def test_bad_utf8_in_a_parquet_dictionary_is_refused(save: Save) -> None:
    broken = pa.array([b"fine", b"caf\xe9"]).view(pa.string())
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1]), broken)
    path = save("x.parquet", parquet_bytes({"a": column}))
    # Older releases of pyarrow hand the bytes out, newer ones refuse the column.
    with pytest.raises(InputError, match=r"UTF-?8"):
        read(path)[0].raise_problems()


def test_only_the_wanted_columns_are_read(save: Save) -> None:
    data = {"a": ["1"], "b": ["2"], "c": ["3"]}
    for path in (
        save("x.parquet", parquet_bytes(dict(data))),
        save("x.json", json.dumps([{"a": "1", "b": "2", "c": "3"}]).encode()),
        save("x.csv", b"a,b,c\n1,2,3\n"),
    ):
        table = open_table(path)
        assert [row.cells for row in table.rows(["c", "a", "z"])] == [{"a": "1", "c": "3"}]
        assert table.columns == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["id", "two words", " x", "a, b", "", "\x1b"], "id, two words, ' x', 'a, b', '', '\\x1b'"),
        (["a", "b", "c", "d"], "a, b, c and 1 more"),
        (["x" * 41, "x" * 40], f"{'x' * 40}…, {'x' * 40}"),
        ([f"{number}" for number in range(2003)], "0, 1, 2 and 2,000 more"),
    ],
)
def test_the_first_few_names_are_listed(names: list[str], shown: str) -> None:
    assert listed(names, most=6 if len(names) == 6 else 3) == shown


def test_a_text_is_quoted_and_cut_short() -> None:
    assert quoted("\n" + "x" * 50) == "'\\n" + "x" * 39 + "…'"


def test_a_column_name_of_any_kind_is_named_in_a_problem(save: Save) -> None:
    name = "\x1b[31m" + "x" * 9000
    (problem,) = problems_in(save("x.tsv", f"{name}\tb\n".encode() + b"\x81\t\n"))
    assert problem.startswith("line 2, '\\x1b[31mxxx")
    assert len(problem) < 120


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (rb'{"a": "x", "a": "y"}', "line 1: an object names the key 'a' twice."),
        (rb'{"a": "\"", "b": "", "a": "y"}', "line 1: an object names the key 'a' twice."),
        (rb'{"a": "x\\", "a": "y"}', "line 1: an object names the key 'a' twice."),
        (rb'{"a": "x\\\", \"a\": \"y"}', ""),
        (rb'{"a": "x\u0022y\\"}', ""),
        (rb'{"\"": "x"}', ""),
        (b"{}", ""),
    ],
)
def test_lines_of_texts_alone_are_read_as_json_reads_them(save: Save, line: bytes, problem: str) -> None:
    table, rows = read(save("x.jsonl", line))
    assert table.problems == ([problem] if problem else [])
    assert [row.cells for row in rows] == ([] if problem else [json.loads(line)])


@given(st.lists(st.dictionaries(CELLS, CELLS, max_size=3), min_size=1), st.integers(1, 40))
def test_json_lines_are_the_same_in_blocks_of_any_length(records: list[dict[str, str]], size: int) -> None:
    data = b"\xef\xbb\xbf" + "\n".join(map(json.dumps, records)).encode()
    blocks = [data[at : at + size] for at in range(3, len(data), size)]
    found = [record for record in read_json_lines([data[:3], *blocks], 3) if isinstance(record, JsonRecord)]
    assert found == [*enumerate(records, start=1)]
