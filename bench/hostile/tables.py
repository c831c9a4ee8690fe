"""Datasets in all formats, with texts that try the readers, as bytes."""

import gzip
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from bench.hostile.texts import LABELS, LONE_SURROGATE, STRANGE_LABELS, item_id, text
from engine.core.rubric import ELOQUENT

REQUIRED = ("id", "instruction", "output_a", "output_b")
LABEL_COLUMNS = tuple(f"{name}_preference" for name in ELOQUENT.names)
KNOWN = (*REQUIRED, *LABEL_COLUMNS, *(f"{name}_explanation" for name in ELOQUENT.names))
SUFFIXES = (".tsv", ".csv", ".json", ".jsonl", ".parquet")


class Raw(str):
    """A JSON number as it is to be written."""

    __slots__ = ()


Row = Mapping[str, Any]
"""A cell is a text; in JSON also a Raw number or None, which is read as empty, and in Parquet anything."""


@dataclass(frozen=True)
class Written:
    """A file. `why_refused`: why nothing of it may be taken; empty where all of `rows` must be."""

    suffix: str
    data: bytes
    rows: Sequence[Mapping[str, str]] = ()
    why_refused: str = ""
    tags: list[str] = field(default_factory=list)


def sound_table(random: Random) -> Written:
    """A file as a program may write it; some hold what must be refused."""
    suffix = random.choice(SUFFIXES)
    rows, why = _rows(random)
    data, coding_trouble = _WRITERS[suffix](rows, random)
    shown = [{name: _as_text(cell) for name, cell in row.items() if name in KNOWN} for row in rows]
    return packed(Written(suffix, data, shown, why or coding_trouble), random)


def packed(written: Written, random: Random) -> Written:
    """The same, one time in four compressed, sometimes in two members."""
    if random.random() < 0.75:
        return written
    at = random.choice((0, random.randrange(len(written.data) + 1)))
    members = [part for part in (written.data[:at], written.data[at:]) if part]
    data = b"".join(gzip.compress(part, random.choice((0, 1, 9)), mtime=0) for part in members)
    return Written(f"{written.suffix}.gz", data, written.rows, written.why_refused)


def _as_text(cell: Any) -> str:
    return "" if cell is None else str(cell)


def _rows(random: Random) -> tuple[list[dict[str, Any]], str]:
    """Records of a dataset, and why it must be refused where it must."""
    count = random.choice((1, 1, 2, 3, 5, 8, 20, 50))
    columns = list(REQUIRED)
    columns += random.sample(KNOWN[4:], random.choice((0, 0, 1, 3, len(KNOWN) - 4)))
    columns += random.sample(
        ("note", "Label", "x y", "日本", "source;url", "id2", "model"), random.choice((0, 0, 1, 3))
    )
    if random.random() < 0.5:
        random.shuffle(columns)
    rows = []
    for number in range(count):
        cells = {name: text(random) for name in columns}
        for name in LABEL_COLUMNS:
            if name in cells:
                cells[name] = random.choice((*LABELS, ""))
        cells["id"] = item_id(random, number)
        rows.append(cells)
    return rows, _spoil(rows, random) if random.random() < 0.2 else ""


def _spoil(rows: list[dict[str, Any]], random: Random) -> str:
    """Put one thing into the rows for which a dataset must be refused; what it is."""
    row = random.choice(rows)
    labels = [name for name in row if name in LABEL_COLUMNS]
    kind = random.choice(("twice", "empty", "label"))
    if kind == "twice" and len(rows) > 1:
        one, other = random.sample(rows, 2)
        one["id"] = other["id"]
        return "an id occurs twice"
    if kind == "label" and labels:
        row[random.choice(labels)] = random.choice(STRANGE_LABELS)
        return "an unknown label"
    row["id"] = ""
    return "an id is empty"


def _delimited(delimiter: str) -> Callable[[Sequence[Row], Random], tuple[bytes, str]]:
    def write(rows: Sequence[Row], random: Random) -> tuple[bytes, str]:
        always = random.random() < 0.3
        ends = random.choice((["\n"], ["\n"], ["\r\n"], ["\r"], ["\n", "\r\n"], ["\n", "\r\n", "\r"]))

        def cell(value: str) -> str:
            needs = any(char in value for char in (delimiter, "\r", "\n")) or value.startswith('"')
            if always or needs or random.random() < 0.1:
                doubled = value.replace('"', '""')
                return f'"{doubled}"'
            return value

        lines = [delimiter.join(map(cell, line)) for line in ([*rows[0]], *(row.values() for row in rows))]
        parts = []
        for line in lines:
            # No blank line after the last: where a file ends with one is tried by cutting its end off.
            parts.append(line + random.choice(ends) * (2 if random.random() < 0.05 else 1))
        whole = "".join(parts)
        return _encoded(whole if random.random() < 0.7 else whole.rstrip("\r\n"), random)

    return write


def _encoded(whole: str, random: Random) -> tuple[bytes, str]:
    """The bytes of a text file, and why they are to be refused."""
    kind = random.random()
    if kind < 0.85:
        return whole.encode("utf-8"), ""
    if kind < 0.95:
        return b"\xef\xbb\xbf" + whole.encode("utf-8"), ""
    coding = random.choice(("utf-16", "utf-16-le", "utf-16-be", "cp1252"))
    data = whole.encode(coding, "replace")
    if coding == "cp1252" and _is_utf8(data):  # plain ASCII, or letters that happen to spell UTF-8
        return whole.encode("utf-8"), ""
    return data, f"it is {coding}"


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _json_value(value: Any, random: Random, ascii_only: bool) -> str:
    if isinstance(value, Raw):
        return str(value)
    return json.dumps(value, ensure_ascii=ascii_only)


def _json_row(row: Row, random: Random, ascii_only: bool, gap: str = "") -> str:
    cells = list(row.items())
    if random.random() < 0.1:
        random.shuffle(cells)
    members = [f"{json.dumps(name)}:{gap} {_json_value(cell, random, ascii_only)}" for name, cell in cells]
    return "{" + f",{gap} ".join(members) + "}"


def _typed(rows: Sequence[Row], random: Random) -> list[dict[str, Any]]:
    """Rows as JSON has them: some ids are numbers, some empty cells null."""
    typed, ids = [dict(row) for row in rows], {row["id"] for row in rows}
    if random.random() < 0.3 and len(ids) == len(rows) and all(ids):
        form = random.choice(("{}", "-{}", "{}.50", "{}e3", "123456789012345678901234567890{}", "1e99{:03}"))
        for number, row in enumerate(typed, start=1):
            row["id"] = Raw(form.format(number))
    for row in typed:
        for name, cell in row.items():
            if cell == "" and name != "id" and random.random() < 0.5:
                row[name] = None
    return typed


def _json_file(rows: Sequence[Row], random: Random) -> tuple[bytes, str]:
    """JSON: a list of records, or one in an object; by columns it is to be refused."""
    ascii_only = random.random() < 0.4
    gap = random.choice(("", "\n", "\r\n  ", "\t"))
    listed = "[" + f",{gap}".join(_json_row(row, random, ascii_only, gap) for row in rows) + "]"
    form = random.random()
    if form < 0.6:
        return _encoded(listed, random)
    if form < 0.9:
        before, after = random.choice(
            (("", ""), ('"version": 1, ', ""), ("", ', "tags": ["a", "b"], "more": {"x": null}'))
        )
        return _encoded(f'{{{before}"data": {gap}{listed}{after}}}', random)
    by_column = {name: [_as_text(row[name]) for row in rows] for name in rows[0]}
    return json.dumps(by_column).encode(), "it is written by columns"


def _json_lines(rows: Sequence[Row], random: Random) -> tuple[bytes, str]:
    ascii_only = random.random() < 0.4
    end = random.choice(("\n", "\n", "\r\n", "\n\n", "\n \t\n"))
    whole = end.join(_json_row(row, random, ascii_only) for row in rows)
    return _encoded(whole + random.choice(("", end)), random)


def _with_json_kinds(
    write: Callable[[Sequence[Row], Random], tuple[bytes, str]],
) -> Callable[[Sequence[Row], Random], tuple[bytes, str]]:
    """Records with numbers and null for texts; the rows that were given are changed to what is to be read."""

    def writer(rows: Sequence[Row], random: Random) -> tuple[bytes, str]:
        typed = _typed(rows, random)
        for row, kept in zip(typed, rows, strict=True):
            assert isinstance(kept, dict)
            kept.update({name: _as_text(cell) for name, cell in row.items()})
        if random.random() < 0.04:
            random.choice(typed)["output_a"] = f"half {LONE_SURROGATE} a character"
            data, other = write([_surrogate_escaped(row) for row in typed], random)
            return data, other or "half a character"
        return write(typed, random)

    return writer


def _surrogate_escaped(row: Row) -> dict[str, Any]:
    """The same with all but ASCII escaped, as a lone surrogate can be written only so."""
    return {
        name: Raw(json.dumps(cell)) if isinstance(cell, str) and not isinstance(cell, Raw) else cell
        for name, cell in row.items()
    }


def _parquet(rows: Sequence[Row], random: Random) -> tuple[bytes, str]:
    arrays = {}
    for name in rows[0]:
        cells = [row[name] for row in rows]
        if name not in ("id", *LABEL_COLUMNS) and random.random() < 0.2:
            cells = [cell or None for cell in cells]
        kind = random.choice((pa.string(), pa.string(), pa.large_string(), pa.binary(), pa.large_binary()))
        if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            cells = [cell if cell is None else cell.encode("utf-8") for cell in cells]
        array = pa.array(cells, kind)
        # pyarrow writes no dictionary without any value.
        arrays[name] = (
            array.dictionary_encode() if random.random() < 0.2 and array.null_count < len(array) else array
        )
    return parquet_bytes(pa.table(arrays), random), ""


def parquet_bytes(table: pa.Table, random: Random) -> bytes:
    """A Parquet file of a table, in row groups and a compression as chance has it."""
    file = io.BytesIO()
    parquet.write_table(
        table,
        file,
        row_group_size=random.choice((1, 7, 1000)),
        compression=random.choice(("none", "snappy", "gzip", "zstd")),
        use_dictionary=random.random() < 0.5,
        data_page_version=random.choice(("1.0", "2.0")),
    )
    return file.getvalue()


_WRITERS: Mapping[str, Callable[[Sequence[Row], Random], tuple[bytes, str]]] = {
    ".tsv": _delimited("\t"),
    ".csv": _delimited(","),
    ".json": _with_json_kinds(_json_file),
    ".jsonl": _with_json_kinds(_json_lines),
    ".parquet": _parquet,
}


def oddly_typed(random: Random) -> Written:
    """JSON or Parquet whose cells are anything; what of it is taken, the independent reader says."""
    rows, _ = _rows(random)
    for row in rows:
        for name in list(row):
            if random.random() < 0.1:
                row[name] = random.choice(_ODD_JSON)(random)
            if random.random() < 0.02:
                del row[name]
    suffix = random.choice((".json", ".jsonl"))
    lines = [_odd_row(row, random) for row in rows]
    whole = "\n".join(lines) if suffix == ".jsonl" else _odd_nesting(f"[{','.join(lines)}]", random)
    return packed(Written(suffix, whole.encode("utf-8", "surrogatepass")), random)


def _odd_row(row: Row, random: Random) -> str:
    members = [f"{json.dumps(name)}: {_json_value(cell, random, True)}" for name, cell in row.items()]
    if members and random.random() < 0.03:
        members.insert(random.randrange(len(members) + 1), random.choice(members))
    return "{" + ", ".join(members) + "}"


def _odd_nesting(listed: str, random: Random) -> str:
    forms = (
        *('{{"data": {0}}}', '{{"data": {0}, "more": {0}}}', '{{"a": {{"b": {0}}}}}', "[{0}]", "{0}{0}"),
        *('{{"data": {0}, "n": []}}', '{{"data": {0}, "data": {0}}}', '{{"rows": [{0}]}}', "{0}\n"),
        '{{"data": {0}, "test": {{"data": {0}}}}}',
    )
    return listed if random.random() < 0.5 else random.choice(forms).format(listed)


_ODD_JSON: tuple[Callable[[Random], Any], ...] = (
    lambda _: None,
    lambda _: True,
    lambda random: Raw(
        random.choice(("0", "-0", "1e999", "-1E-999", "NaN", "Infinity", "-Infinity", "1.10", "12" * 300))
    ),
    lambda random: [text(random), None, 1, [True]],
    lambda random: {"text": text(random), "n": 1.5},
    lambda random: [[]] * random.randint(0, 3),
    lambda _: Raw("[" * 3_000 + "]" * 3_000),
    lambda _: Raw('{"a":' * 200 + "1" + "}" * 200),
    lambda _: Raw('{"a": 1, "a": 2}'),
    lambda _: Raw('"\\ud800"'),
    lambda _: Raw('"\\ud83d\\ude42 \\u0000"'),
)


def odd_parquet(random: Random) -> Written:
    """Parquet whose columns have any type that it knows, and names that occur twice or differ by case."""
    count = random.choice((1, 3, 10))
    names = list(REQUIRED) + random.sample(KNOWN[4:], random.choice((0, 2)))
    if random.random() < 0.15:
        names += [random.choice(names), random.choice(names).upper(), " id"][: random.randint(1, 3)]
    arrays = []
    for name in names:
        if random.random() < 0.5:
            arrays.append(pa.array([item_id(random, number) for number in range(count)]))
        elif name in LABEL_COLUMNS:
            labels = [random.choice(LABELS), *(random.choice((*LABELS, None)) for _ in range(count - 1))]
            arrays.append(pa.array(labels).dictionary_encode())
        else:
            arrays.append(random.choice(_ODD_ARRAYS)(count, random))
    table = pa.Table.from_arrays(arrays, names=names)
    return packed(Written(".parquet", parquet_bytes(table, random)), random)


def _cast(first: int, step: int, kind: pa.DataType) -> Callable[[int, Random], pa.Array]:
    return lambda count, _: pa.array([first + step * each for each in range(count)], pa.int64()).cast(kind)


def _bad_utf8(count: int, _random: Random) -> pa.Array:
    good = pa.array([b"\xff\xfe bad"] + [b"good"] * (count - 1), pa.binary())
    return pa.Array.from_buffers(pa.string(), count, good.buffers())


_ODD_ARRAYS: tuple[Callable[[int, Random], pa.Array], ...] = (
    lambda count, _: pa.array(range(count)),
    lambda count, _: pa.array([None] * count, pa.int64()),
    lambda count, _: pa.nulls(count),
    lambda count, _: pa.array([float(number) / 3 for number in range(count)]),
    lambda count, _: pa.array([float("nan"), *[1e300] * (count - 1)]),
    lambda count, _: pa.array([date(2024, 2, 29) + timedelta(number) for number in range(count)]),
    _cast(9_000_000_000_000, 1, pa.timestamp("s")),
    _cast(1 << 62, 1, pa.timestamp("us")),
    _cast(0, 86_400_000_007, pa.timestamp("ns", "UTC")),
    lambda count, _: pa.array([timedelta(number, 1.5) for number in range(count)]),
    _cast(1 << 62, 1, pa.duration("us")),
    lambda count, _: pa.array([Decimal(number) / 8 for number in range(count)], pa.decimal128(30, 5)),
    lambda count, _: pa.array([number % 2 == 0 for number in range(count)]),
    lambda count, random: pa.array(
        [[text(random, nul=False), None] for _ in range(count)], pa.list_(pa.string())
    ),
    lambda count, random: pa.array(
        [{"text": text(random, nul=False), "n": number} for number in range(count)]
    ),
    lambda count, _: pa.array([[("k", number)] for number in range(count)], pa.map_(pa.string(), pa.int64())),
    lambda count, _: pa.array([b"\xff\xfe", *[b"fine"] * (count - 1)]),
    lambda count, _: pa.array([b"0123456789abcdef"] * count, pa.binary(16)),
    _cast(0, 1_000_007, pa.time64("us")),
    lambda count, _: pa.array(["same"] * count).dictionary_encode(),
    lambda count, _: pa.array([[1, 2], *[[]] * (count - 1)], pa.list_(pa.int32())),
    _bad_utf8,
)
