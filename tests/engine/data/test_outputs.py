"""Outputs of one candidate are read in the shapes in which they are published, and others by a map."""

import csv
import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from engine.core.column_map import RECORDS, ColumnMap
from engine.core.errors import ColumnsError, InputError
from engine.data.catalogue import Known, every_known
from engine.data.dataset import load_dataset
from engine.data.outputs import Response, read_instructions, read_outputs
from tests.commands import run_here
from tests.published_shapes import BAD, GOOD, QUESTIONS, SHAPES

Record = dict[str, Any]


def alpaca(number: int) -> Record:
    return {"dataset": "helpful_base", **plain(number), "generator": "llama"}


def plain(number: int) -> Record:
    return {"instruction": QUESTIONS[number], "output": GOOD[number]}


def with_input(number: int) -> Record:
    return {"id": f"q{number}", "input": "In short.", **plain(number)}


def arena_hard(number: int) -> Record:
    """Arena-Hard's answers of 2024: no instruction."""
    return {
        "question_id": f"{number:032x}",
        "answer_id": f"zzz{number}xxxxxxxxxxxxxxx",
        "model_id": "llama",
        "choices": [{"index": 0, "turns": [{"content": GOOD[number], "token_len": 7}]}],
        "tstamp": 1713043214.5,
    }


def mt_bench(number: int) -> Record:
    answered = [{"index": 0, "turns": [GOOD[number], "And more."]}]
    return {**arena_hard(number), "question_id": 81 + number, "choices": answered}


def arena_hard_2(number: int) -> Record:
    return {
        "uid": f"u{number}",
        "ans_id": f"zzz{number}xxxxxxxxxxxxxxx",
        "model": "llama",
        "messages": [
            {"role": "user", "content": QUESTIONS[number]},
            {"role": "assistant", "content": {"answer": GOOD[number]}},
        ],
        "tstamp": 1745000000.5,
        "metadata": {"token_len": 7},
    }


ROWS: dict[Callable[[int], Record], list[Record]] = {
    shape: [shape(number) for number in range(4)]
    for shape in (alpaca, plain, with_input, arena_hard, mt_bench, arena_hard_2)
}


def saved(path: Path, rows: Sequence[Record]) -> Path:
    """Some rows in the format that the suffix names."""
    match path.suffix:
        case ".jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        case ".json":
            path.write_text(json.dumps(rows), "utf-8")
        case ".gz":
            path.write_bytes(gzip.compress(json.dumps(rows).encode()))
        case ".parquet":
            parquet.write_table(pa.Table.from_pylist(list(rows)), path)
        case suffix:
            with path.open("w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, list(rows[0]), delimiter="\t" if suffix == ".tsv" else ",")
                writer.writeheader()
                writer.writerows(rows)
    return path


@pytest.mark.parametrize(
    ("shape", "name", "first"),
    [
        (alpaca, "llama", Response(None, QUESTIONS[0], GOOD[0])),
        (plain, "my model", Response(None, QUESTIONS[0], GOOD[0])),
        (with_input, "my model", Response("q0", f"{QUESTIONS[0]}\n\nIn short.", GOOD[0])),
        (arena_hard, "llama", Response("0" * 32, None, GOOD[0])),
        (mt_bench, "llama", Response("81", None, f"Assistant: {GOOD[0]}\n\nAssistant: And more.")),
        (arena_hard_2, "llama", Response("u0", QUESTIONS[0], GOOD[0])),
    ],
)
def test_published_shapes_are_read(
    shape: Callable[[int], Record], name: str, first: Response, tmp_path: Path
) -> None:
    read = read_outputs(saved(tmp_path / "my model.jsonl", ROWS[shape]))
    assert (read.candidate, read.responses[0], len(read.responses)) == (name, first, 4)


@pytest.mark.parametrize(
    "known", [pytest.param(known, id=known.slug) for known in every_known() if known.kind == "outputs"]
)
def test_known_outputs_are_read_as_they_are_known(known: Known, tmp_path: Path) -> None:
    path = tmp_path / ("x.json" if RECORDS in known.columns else "x.jsonl")
    path.write_text(known.rows.strip(), "utf-8")
    wanted = {name: source for name, source in known.columns.items() if name != RECORDS}
    assert read_outputs(path).columns == ColumnMap(tuple(wanted.items())).columns_text


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".json", ".jsonl", ".parquet", ".json.gz"])
def test_every_format_of_tables_is_read(suffix: str, tmp_path: Path) -> None:
    read = read_outputs(saved(tmp_path / f"gpt-4.1{suffix}", ROWS[plain]))
    assert read.candidate == "gpt-4.1"
    assert [one.output for one in read.responses] == list(GOOD)


@pytest.mark.parametrize("shape", [alpaca, arena_hard, mt_bench, arena_hard_2])
def test_opened_as_a_dataset_it_is_told_what_pairs_do(shape: Callable[[int], Record], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"contains the outputs of one candidate \(llama\)") as caught:
        load_dataset(saved(tmp_path / "x.jsonl", ROWS[shape]))
    assert "Make pairs from the outputs" in str(caught.value.hint)


@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".parquet"])
@pytest.mark.parametrize(
    ("of_output", "nothing"),
    [
        ({}, {"output": None}),
        ({"output": "said.text"}, {"said": {"text": None}}),
        ({}, {"choices": [{"turns": [None]}]}),
        ({}, {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": None}]}),
    ],
)
def test_a_null_is_not_empty(of_output: dict[str, str], nothing: Record, suffix: str, tmp_path: Path) -> None:
    (name,) = nothing
    said: dict[str, Any] = json.loads(json.dumps(nothing).replace("null", '"said"'))
    empty: dict[str, Any] = json.loads(json.dumps(nothing).replace("null", '""'))
    rows = [{"instruction": f"q{n}", name: one[name]} for n, one in enumerate([nothing, said, empty])]
    read = read_outputs(saved(tmp_path / f"x{suffix}", rows), of_output)
    assert [one.output for one in read.responses] == ["said", ""]
    assert read.nulls == 1


def test_nulls_alone_are_no_outputs(tmp_path: Path) -> None:
    rows = [{"instruction": f"q{n}", "output": None} for n in range(2)]
    with pytest.raises(InputError, match="contains no outputs: 'output' is empty in all 2 records"):
        read_outputs(saved(tmp_path / "x.json", rows), {"output": "output"})


def test_other_columns_are_read_by_a_map(tmp_path: Path) -> None:
    rows = [{"frage": q, "gut": g, "schlecht": b} for q, g, b in zip(QUESTIONS, GOOD, BAD, strict=True)]
    path = saved(tmp_path / "x.csv", rows)
    with pytest.raises(InputError, match="no column looks like the responses") as caught:
        read_outputs(path)
    assert "columns: output=…" in str(caught.value.hint)
    read = read_outputs(path, {"instruction": "frage", "output": "schlecht"})
    assert read.responses[3] == Response(None, QUESTIONS[3], BAD[3])


def test_the_name_of_the_file_counts_where_it_is_asked_for(tmp_path: Path) -> None:
    assert read_outputs(saved(tmp_path / "x.json", ROWS[alpaca]), {"candidate": ""}).candidate == "x"


def test_a_version_in_the_column_of_the_model_is_no_name(tmp_path: Path) -> None:
    rows = [{**alpaca(number), "generator": f"llama, try {number}"} for number in range(4)]
    assert read_outputs(saved(tmp_path / "llama.json", rows)).candidate == "llama"


def test_several_candidates_one_below_the_other_are_refused(tmp_path: Path) -> None:
    rows = [{**alpaca(number // 2), "generator": f"m{number % 2}"} for number in range(8)]
    with pytest.raises(InputError, match=r"2 candidates \(m0, m1\) in long format"):
        read_outputs(saved(tmp_path / "both.json", rows))


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if "ultra_feedback" not in shape.__name__])
def test_published_pairs_are_no_outputs(shape: Callable[[Path], Path], tmp_path: Path) -> None:
    with pytest.raises(InputError):
        read_outputs(shape(tmp_path))


@pytest.mark.parametrize(("texts", "found"), [(["", " \n"], "all 2 lines"), ([" "], "its 1 line")])
def test_a_file_of_empty_outputs_holds_none(texts: Sequence[str], found: str, tmp_path: Path) -> None:
    path = tmp_path / "silent.jsonl"
    lines = [json.dumps({"instruction": f"q{place}", "output": text}) for place, text in enumerate(texts)]
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_outputs(path, {"output": "output"})
    assert f"silent.jsonl: contains no outputs: 'output' is empty in {found}." in str(error.value)
    path.write_text("\n".join([*lines, json.dumps({"instruction": "q", "output": "x"})]), encoding="utf-8")
    assert len(read_outputs(path, {"output": "output"}).responses) == len(texts) + 1


def test_what_a_row_lacks_is_named(tmp_path: Path) -> None:
    path = saved(tmp_path / "x.jsonl", [*ROWS[plain], {"instruction": "Why?"}])
    with pytest.raises(InputError, match="line 5: no 'output'"):
        read_outputs(path)


@pytest.mark.parametrize(
    "record",
    [
        {"question_id": "a", "category": "arena-hard", "turns": [{"content": "Why is it?"}]},
        {"question_id": "a", "category": "writing", "turns": ["Why is it?"]},
        {"uid": "a", "category": "hard_prompt", "prompt": "Why is it?"},
    ],
)
def test_questions_of_their_own_file_are_read(record: Record, tmp_path: Path) -> None:
    rows = [record, {**record, next(iter(record)): "b"}]
    assert read_instructions(saved(tmp_path / "question.jsonl", rows)) == dict.fromkeys("ab", "Why is it?")


def test_ids_that_repeat_are_ids_and_an_empty_one_is_none(tmp_path: Path) -> None:
    rows = [{"id": each, "output": "It is so."} for each in ("a", "b", "a", " ")]
    read = read_outputs(saved(tmp_path / "m.json", rows))
    assert [one.id for one in read.responses] == ["a", "b", "a", None]
    asked = [{"id": each, "instruction": f"Why {place}?"} for place, each in enumerate(("a", "b", "a", ""))]
    assert read_instructions(saved(tmp_path / "q.json", asked)) == {"a": "Why 0?", "b": "Why 1?"}


TEXTS = [f"What is the {word} of all this, and why?" for word in ("aim", "cost", "age", "name", "size")]
SINGLE = [
    {"dataset": "helpful", "instruction": text, "output": text[::-1], "generator": "m"} for text in TEXTS
]


@pytest.mark.parametrize("name", ["gpt4", "vicuna-7b-v1.5"])
def test_real_outputs_are_told_with_their_system(shared_data: Path, name: str) -> None:
    path = shared_data / "ranking" / f"outputs_{name}.json"
    says = rf"contains the outputs of one candidate \({name}\): one response \('output'\) to each instruction"
    for command in (["check", path], ["judge", path, "--model", "demo", "--plan"]):
        refused = run_here(*command)
        assert refused.returncode == 2
        assert says.replace("\\", "") in refused.stderr
        assert "Tiebreak judges pairs" in refused.stderr
    with pytest.raises(InputError, match=says) as caught:
        load_dataset(path)
    assert not isinstance(caught.value, ColumnsError)  # there is nothing to ask


@pytest.mark.parametrize(
    ("change", "whose"),
    [
        (lambda row, _: row, "one candidate (m)"),
        (lambda row, number: {**row, "generator": f"m{number % 2}"}, "2 candidates (m0, m1) in long format"),
        (
            lambda row, number: {"id": f"a{number}", "prompt": row["instruction"], "response": row["output"]},
            "one candidate",
        ),
        (lambda row, _: {**row, "other": row["output"].upper()}, None),
        (lambda row, _: {"instruction": row["instruction"], "Output_A": row["output"]}, None),
        (lambda row, _: {"instruction": row["instruction"], "text": row["output"]}, None),
        (lambda row, _: {"messages": [{"role": "user", "content": row["instruction"]}]}, None),
        (
            lambda row, _: {
                "messages": [
                    {"role": "user", "content": row["instruction"]},
                    {"role": "assistant", "content": row["output"]},
                ]
            },
            "one candidate",
        ),
    ],
)
def test_what_else_holds_texts_may_be_the_other_response(
    tmp_path: Path, change: Callable[[dict[str, str], int], dict[str, Any]], whose: str | None
) -> None:
    path = saved(tmp_path / "outputs.json", [change(row, number) for number, row in enumerate(SINGLE)])
    with pytest.raises(InputError) as caught:
        load_dataset(path)
    assert isinstance(caught.value, ColumnsError) == (whose is None)
    assert whose is None or f"contains the outputs of {whose}" in caught.value.problem
