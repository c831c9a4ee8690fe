"""How foreign files are read: what is certain, what is asked, what speaks against it, what is left out."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from engine.core.column_map import ColumnMap
from engine.core.errors import ColumnsError, InputError
from engine.core.rubric import ELOQUENT
from engine.data.dataset import load_dataset
from engine.data.reading import FileReport, report_on
from engine.data.signs import SignKind, Signs

Save = Callable[[str, bytes], Path]

QUESTIONS = ("Name a river of Asia.", "Name a sea, please.", "Name a lake that is deep.", "Name a hill.")
GOOD = ("The Indus is one.", "The North Sea.", "Lake Baikal is.", "Arthur's Seat is one.")
BAD = ("The Rhine, perhaps.", "A pond, I think.", "A puddle is deep.", "I know of none at all.")


FOR_WHOM = "id\tinstruction\toutput_a\toutput_b\n1\tfür wen?\ta\tb\n"
SIDES = {"instruction": "prompt", "output_a": "response_a", "output_b": "response_b"}


def rows(**columns: list[Any]) -> list[dict[str, Any]]:
    """Records with a prompt and two responses, and these columns beside them."""
    texts = [
        {"prompt": asked, "response_a": one, "response_b": other}
        for asked, one, other in zip(QUESTIONS, GOOD, BAD, strict=True)
    ]
    return [{**text, **{name: cells[at] for name, cells in columns.items()}} for at, text in enumerate(texts)]


def saved(folder: Path, records: list[dict[str, Any]]) -> Path:
    path = folder / "x.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def labels(report: FileReport) -> list[str]:
    return [item.labels.get("overall_quality", "") for item in report.first]


@pytest.mark.parametrize(
    ("winner", "expected"),
    [
        (["A>>B", "B>A", "A=B", "B>>A"], ["A", "B", "tie", "B"]),
        (["Response 1", "Response 2", "Tie", "Response 1"], ["A", "B", "tie", "A"]),
        (["response_a", "response_b", "response_a", "tie"], ["A", "B", "A", "tie"]),
        (["model_a", "model_b", "tie (bothbad)", "model_a"], ["A", "B", "both_bad", "A"]),
    ],
)
def test_words_for_labels_are_understood(winner: list[str], expected: list[str], tmp_path: Path) -> None:
    report = report_on(saved(tmp_path, rows(winner=winner)))
    assert report.is_certain
    assert labels(report) == expected


def test_a_winner_that_is_a_model_s_name_is_compared_with_the_models_of_its_row(tmp_path: Path) -> None:
    models = {"model_a": ["gpt", "llama", "gpt", "qwen"], "model_b": ["llama", "gpt", "qwen", "gpt"]}
    report = report_on(saved(tmp_path, rows(**models, winner=["gpt", "gpt", "qwen", "tie"])))
    assert report.is_certain
    assert labels(report) == ["A", "B", "B", "tie"]


@pytest.mark.parametrize(
    ("preference", "about"),
    [([-3, 2, 0, 1], "labels"), ([1, 5, 3, 2], "labels"), ([1.25, 1.5, 1.75, 1.0], "direction")],
)
def test_of_numbers_one_asks_which_end_is_better(preference: list[float], about: str, tmp_path: Path) -> None:
    report = report_on(saved(tmp_path, rows(preference=preference)))
    assert not report.is_certain
    assert about in [question.about for question in report.questions]
    assert labels(report) == [""] * 4


def test_one_unknown_value_is_asked_about_and_drops_no_column(tmp_path: Path) -> None:
    report = report_on(saved(tmp_path, rows(winner=["model_a", "model_b", "skip", "model_a"])))
    (question,) = report.questions
    assert (question.about, question.column, dict(question.values)) == ("labels", "winner", {"skip": 1})
    assert labels(report) == ["A", "B", "", "A"]


def test_a_column_that_could_be_the_label_and_is_not_read_is_a_strong_sign(tmp_path: Path) -> None:
    path = saved(tmp_path, rows(strength_of_it=["x", "y", "x", "z"]))
    report = report_on(path, columns=ColumnMap.of(SIDES))
    assert [(sign.kind, sign.strong) for sign in report.signs] == [(SignKind.LABEL_NOT_READ, True)]


def test_rows_that_differ_in_the_annotator_alone_are_one_item(tmp_path: Path) -> None:
    records = [
        {**row, "worker": who, "winner": said}
        for row in rows()
        for who, said in (("ann", "model_a"), ("ben", "model_b"), ("cat", "model_a"))
    ]
    report = report_on(saved(tmp_path, records))
    assert (report.items, labels(report)) == (4, ["A"] * 4)
    assert report.first[0].annotators == {"overall_quality": {"ann": "A", "ben": "B", "cat": "A"}}


def test_exchanged_sides_of_another_annotator_are_turned_back(tmp_path: Path) -> None:
    row = rows()[0]
    other = {"prompt": row["prompt"], "response_a": row["response_b"], "response_b": row["response_a"]}
    records = [{**row, "who": "ann", "winner": "A"}, {**other, "who": "ben", "winner": "A"}]
    mapped = ColumnMap.of({**SIDES, "annotator": "who", "overall_quality_preference": "winner"})
    report = report_on(saved(tmp_path, records), columns=mapped)
    assert report.items == 1
    assert report.first[0].annotators == {"overall_quality": {"ann": "A", "ben": "B"}}


def test_scored_responses_in_the_rows_of_a_group_become_pairs(tmp_path: Path) -> None:
    records = [
        {"talk": talk, "user_prompt": QUESTIONS[talk], "reply": text, "score": score, "model": name}
        for talk in (0, 1)
        for text, score, name in ((BAD[talk], 1, "x"), (GOOD[talk], 7, "y"), ("A third one.", 1, "z"))
    ]
    sources = {"instruction": "user_prompt", "output": "reply", "score": "score", "group": "talk"}
    mapped = ColumnMap.of({**sources, "candidate": "model"}, {"equal": "tie"})
    report = report_on(saved(tmp_path, records), columns=mapped)
    assert report.items == 6
    better = {
        frozenset((item.output_a, item.output_b)): item.output_a if label == "A" else item.output_b
        for item, label in zip(report.first, labels(report), strict=True)
        if label != "tie"
    }
    assert {*better.values()} == {GOOD[0], GOOD[1]}
    assert labels(report).count("tie") == 2


def test_alternatives_become_pairs_of_a_chosen_and_a_rejected_one(tmp_path: Path) -> None:
    records = [{"prompt": QUESTIONS[0], "chosen": [GOOD[0]], "rejected": [BAD[0], BAD[1], BAD[2]]}] * 2
    report = report_on(saved(tmp_path, records))
    assert report.items == 6
    for item, label in zip(report.first, labels(report), strict=True):
        assert (item.output_a if label == "A" else item.output_b) == GOOD[0]


def test_annotations_that_do_not_count_are_none(tmp_path: Path) -> None:
    given = [{"by": "ann", "pick": "left", "status": "submitted"}]
    given += [{"by": "ben", "pick": "right", "status": "discarded"}]
    given += [{"by": "cat", "pick": "left", "status": "submitted"}]
    report = report_on(saved(tmp_path, rows(votes=[given] * 4)))
    assert report.first[0].annotators == {"overall_quality": {"ann": "A", "cat": "A"}}
    assert labels(report) == ["A"] * 4


@pytest.mark.parametrize(
    ("kind", "instruction", "output_a", "output_b"),
    [
        (SignKind.INSTRUCTION_EMPTY, " ", "One text.", "Two texts."),
        (SignKind.INSTRUCTION_DATE, "2025-05-05T10:00:00Z", "One text.", "Two texts."),
        (SignKind.INSTRUCTION_HASH, "8a4ed7f6e1658d403fc82b799fa2c8c6", "One text.", "Two texts."),
        (SignKind.INSTRUCTION_JSON, '{"text": "What?"}', "One text.", "Two texts."),
        (
            SignKind.INSTRUCTION_HOLDS_RESPONSES,
            "A: One text here. B: Two here.",
            "One text here.",
            "Two here.",
        ),
        (SignKind.RESPONSE_JSON, "What is it?", '{"text": "It is."}', '{"text": "It is not."}'),
        (SignKind.RESPONSE_LIST, "What is it?", '["It is.", "It was."]', '["It is not."]'),
        (SignKind.RESPONSE_HASH, "What is it?", "t3_1a2b3c", "8a4ed7f6e1658d403fc82b799fa2c8c6"),
        (SignKind.RESPONSE_VERDICT, "What is it?", "So I say [[A]]", "[PASS] It is."),
        (SignKind.ROLE_ON_ONE_SIDE, "What is it?", "assistant: It is.", "It is not."),
    ],
)
def test_non_items_are_a_strong_sign(kind: SignKind, instruction: str, output_a: str, output_b: str) -> None:
    signs = Signs()
    for at in range(8):
        more = f" {at}" if kind is SignKind.ROLE_ON_ONE_SIDE else ""
        asked = {"id": str(at), "instruction": instruction + more}
        signs.add({**asked, "output_a": output_a, "output_b": output_b})
    assert kind in [sign.kind for sign in signs.found() if sign.strong]


def test_sound_items_have_no_sign() -> None:
    signs = Signs()
    for asked, one, other in zip(QUESTIONS, GOOD, BAD, strict=True):
        signs.add({"id": asked, "instruction": asked, "output_a": one, "output_b": other})
    assert not [*signs.found()]


def test_rows_that_cannot_be_read_are_named_and_left_out_when_asked_to(tmp_path: Path) -> None:
    records = rows(winner=["A", "B", "A", "B"])
    del records[2]["response_b"]
    path = saved(tmp_path, records)
    report = report_on(path, columns=ColumnMap.of(SIDES))
    assert [(each.row, each.why) for each in report.skipped] == [(3, "no 'response_b'.")]
    with pytest.raises(ColumnsError, match="line 3: no 'response_b'"):
        load_dataset(path, columns=ColumnMap.of(SIDES))
    kept = load_dataset(path, columns=ColumnMap((*SIDES.items(),), (), skip_bad_rows=True))
    assert len(kept) == 3
    assert "1 row that cannot be read is left out: line 3: no 'response_b'." in kept.notices


def test_a_file_that_is_broken_off_is_refused_even_so(save: Save) -> None:
    path = save("x.tsv", b'id\tinstruction\toutput_a\toutput_b\n1\ti\ta\tb\n2\t"never closed\ta\tb\n')
    with pytest.raises(InputError, match="Nothing after line"):
        load_dataset(path, ELOQUENT, columns=ColumnMap(skip_bad_rows=True))


@pytest.mark.parametrize(
    ("name", "data", "notice"),
    [
        ("x.csv", FOR_WHOM.replace("\t", ";").encode(), "separated by semicolons"),
        ("x.csv", FOR_WHOM.replace("\t", ";").encode("cp1252"), "Windows-1252"),
        ("x.tsv", FOR_WHOM.encode("cp1252"), "Windows-1252"),
        ("x.tsv", FOR_WHOM.encode("utf-16"), "UTF-16"),
    ],
)
def test_spreadsheets_are_read_and_it_is_said_how(name: str, data: bytes, notice: str, save: Save) -> None:
    dataset = load_dataset(save(name, data))
    assert dataset[0].instruction == "für wen?"
    assert any(notice in each for each in dataset.notices)


def test_damaged_utf8_and_other_alphabets_are_not_taken_for_windows_1252(save: Save) -> None:
    for text in ("für wen €".encode()[:-1], "зачем это нужно".encode("cp1251")):
        path = save("x.tsv", b"id\tinstruction\toutput_a\toutput_b\n1\t" + text + b"\ta\tb\n")
        with pytest.raises(InputError, match="is not UTF-8"):
            load_dataset(path)


def test_numbers_of_classes_are_read_by_the_names_that_the_file_gives(tmp_path: Path) -> None:
    texts = {name: ["1", "2"] for name in ("id", "instruction", "output_a", "output_b")}
    table = pa.table({**texts, "overall_quality_preference": [0, 3]})
    names = ["A", "B", "both_good", "both_bad"]
    features = {"overall_quality_preference": {"names": names, "_type": "ClassLabel"}}
    described = json.dumps({"info": {"features": features}}).encode()
    path = tmp_path / "x.parquet"
    parquet.write_table(table.replace_schema_metadata({b"huggingface": described}), path)
    dataset = load_dataset(path)
    assert dataset.texts("overall_quality_preference").to_pylist() == ["A", "both_bad"]


def test_records_of_the_dataset_viewer_are_found_beside_its_features(tmp_path: Path) -> None:
    record = {"id": "1", "instruction": "i", "output_a": "a", "output_b": "b"}
    whole = {"features": [{"name": "id"}], "rows": [{"row_idx": 0, "row": record, "truncated_cells": []}]}
    path = tmp_path / "x.json"
    path.write_text(json.dumps(whole), encoding="utf-8")
    assert load_dataset(path)[0].output_b == "b"


def test_a_label_stands_beside_the_only_annotator_s(tmp_path: Path) -> None:
    records = rows(winner=["A", "B", "tie", "A"], votes=[[{"pick": "B"}]] * 4)
    sources = SIDES | {"overall_quality_preference": "winner", "overall_quality_preference|": "votes[].pick"}
    report = report_on(saved(tmp_path, records), columns=ColumnMap.of(sources))
    assert labels(report) == ["A", "B", "tie", "A"]


def test_a_submission_is_told_from_a_dataset(save: Save) -> None:
    report = report_on(save("x.tsv", b"id\tsafety_preference\n1\tA\n2\tB\n"))
    assert (report.kind, report.items, [*report.reading]) == ("submission", 2, ["id", "safety_preference"])
