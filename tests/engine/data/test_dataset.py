"""Datasets: the same items from every format, nothing repaired, every problem named."""

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.errors import InputError
from engine.core.events import Cancelled, CancelToken
from engine.core.items import PREFERENCES, Gold, Item, Preference, Tie
from engine.core.rubric import ELOQUENT, Criterion, Rubric
from engine.data.dataset import Dataset, known_columns, load_dataset
from engine.data.dataset_views import summary_of

Records = list[dict[str, str]]
SaveRows = Callable[..., Path]

TEXTS = st.text(
    st.one_of(st.sampled_from('a\n\r\t," é😀\0\ufeff\u2028'), st.characters(exclude_categories=["Cs"]))
)
WRITERS: dict[str, Callable[[Records, Path], object]] = {
    "x.tsv": lambda rows, path: pd.DataFrame(rows).to_csv(path, sep="\t", index=False),
    "x.tsv.gz": lambda rows, path: pd.DataFrame(rows).to_csv(path, sep="\t", index=False),
    "x.csv": lambda rows, path: pd.DataFrame(rows).to_csv(path, index=False, encoding="utf-8-sig"),
    "x.json": lambda rows, path: path.write_text(json.dumps({"data": rows})),
    "x.json.gz": lambda rows, path: path.write_bytes(gzip.compress(json.dumps(rows).encode())),
    "x.jsonl": lambda rows, path: path.write_bytes(
        b"\r\n".join(json.dumps(row, ensure_ascii=False).encode() for row in rows)
    ),
    "x.parquet": lambda rows, path: pd.DataFrame(rows).to_parquet(path),
}


@st.composite
def records(draw: st.DrawFn) -> Records:
    # pandas leaves a lone carriage return unquoted; at the beginning of a row it is an empty line to all.
    ids = draw(st.lists(TEXTS.filter(lambda text: text.lstrip("\r")), min_size=1, max_size=4, unique=True))
    ids = [item_id.lstrip("\r") + str(number) for number, item_id in enumerate(ids)]
    names = ("instruction", "output_a", "output_b", "safety_explanation")
    labels = st.sampled_from(["", *PREFERENCES])
    return [
        {"id": item_id, **{name: draw(TEXTS) for name in names}, "safety_preference": str(draw(labels))}
        for item_id in ids
    ]


def item_of(record: dict[str, str]) -> Item:
    label, explanation = record["safety_preference"], record["safety_explanation"]
    gold = Gold(Preference(label) if label else None, explanation or None)
    return Item(
        record["id"],
        record["instruction"],
        record["output_a"],
        record["output_b"],
        {"safety": gold} if label or explanation else {},
    )


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("datasets")


@pytest.fixture
def save(tmp_path: Path) -> SaveRows:
    def save(*rows: dict[str, Any]) -> Path:
        """JSON Lines; what a row does not say is made up."""
        path = tmp_path / "x.jsonl"
        made_up = [
            {"id": number, "instruction": f"Do {number}.", "output_a": "a", "output_b": "b"} | row
            for number, row in enumerate(rows)
        ]
        path.write_text("\n".join(map(json.dumps, made_up)))
        return path

    return save


def problems_in(path: Path) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        load_dataset(path)
    return caught.value.problems


@pytest.mark.parametrize("name", WRITERS)
@given(rows=records())
def test_any_texts_come_back_as_the_same_items(scratch: Path, name: str, rows: Records) -> None:
    WRITERS[name](rows, scratch / name)
    assert list(load_dataset(scratch / name)) == [item_of(row) for row in rows]


@pytest.mark.parametrize("text", ["NA", "null", "nan", "None", "", " ", "1.0", "007", '"', "’â€™", "\ufeff"])
def test_no_text_is_taken_for_anything_else(save: SaveRows, text: str) -> None:
    item = load_dataset(save({"instruction": text, "output_a": text, "output_b": text}))[0]
    assert (item.instruction, item.output_a, item.output_b) == (text, text, text)


@pytest.mark.parametrize(
    ("written", "item_id"), [("7", "7"), ("1.0", "1.0"), ('"007"', "007"), ('" x"', " x"), ("true", "true")]
)
def test_ids_are_strings_as_written(tmp_path: Path, written: str, item_id: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(f'{{"id": {written}, "instruction": "", "output_a": "", "output_b": ""}}')
    assert load_dataset(path).ids == [item_id]


def test_whole_numbers_of_parquet_are_ids_in_decimal(tmp_path: Path) -> None:
    columns = {"id": [7, -1], "instruction": "x", "output_a": "a", "output_b": "b"}
    pd.DataFrame(columns).to_parquet(tmp_path / "x.parquet")
    assert load_dataset(tmp_path / "x.parquet").ids == ["7", "-1"]


def test_any_part_of_the_labels_may_be_there(save: SaveRows) -> None:
    dataset = load_dataset(
        save(
            {"safety_preference": "both_bad", "relevance_explanation": "because"},
            {"safety_preference": None, "naturalness_preference": ""},
            {"truthfulness_preference": "A", "truthfulness_explanation": "true"},
        )
    )
    assert [dict(item.gold) for item in dataset] == [
        {"relevance": Gold(None, "because"), "safety": Gold(Preference.BOTH_BAD, None)},
        {},
        {"truthfulness": Gold(Preference.A, "true")},
    ]
    assert dataset.criteria == ("truthfulness", "safety")


def test_a_dataset_without_labels_has_no_criteria(save: SaveRows) -> None:
    dataset = load_dataset(save({}))
    assert dataset.criteria == ()
    assert dataset.table.column_names == ["id", "instruction", "output_a", "output_b"]


def test_the_table_holds_the_known_columns_in_their_usual_order_as_text(save: SaveRows) -> None:
    table = load_dataset(save({"safety_preference": "A", "extra": 1, "relevance_preference": ""})).table
    names = ["id", "instruction", "output_a", "output_b", "relevance_preference", "safety_preference"]
    assert table.column_names == names
    assert table.slice(0, 1).to_pylist() == [dict(zip(names, ["0", "Do 0.", "a", "b", "", "A"], strict=True))]


def test_the_column_of_another_criterion_is_not_taken_for_a_slip(save: SaveRows) -> None:
    rubric = ELOQUENT.only(("truthfulness",))
    dataset = load_dataset(save({"naturalness_preference": "B"}), rubric)
    assert dataset.notices == ("1 other column is stored: 'naturalness_preference'.",)


def test_a_rubric_names_the_label_columns(save: SaveRows) -> None:
    rubric = Rubric("mine", (Criterion("tone", "Which is kinder?"),))
    dataset = load_dataset(save({"tone_preference": "B", "safety_preference": "?"}), rubric)
    assert dataset.criteria == ("tone",)
    assert dataset[0].gold == {"tone": Gold(Preference.B)}
    assert dataset.notices == ("1 other column is stored: 'safety_preference'.",)


def test_items_by_position_are_the_items_in_turn(save: SaveRows) -> None:
    dataset = load_dataset(save(*({} for _ in range(5))))
    assert [dataset[position] for position in range(len(dataset))] == list(dataset)
    assert dataset[-1].id == "4"
    with pytest.raises(IndexError):
        dataset[5]


def test_more_items_than_are_packed_at_once_keep_their_order(save: SaveRows) -> None:
    dataset = load_dataset(save(*({} for _ in range(5000))))
    assert dataset.ids == [item.id for item in dataset] == [str(number) for number in range(5000)]


def test_the_head_is_a_dataset_of_its_own(save: SaveRows) -> None:
    whole = load_dataset(save({}, {"output_a": ""}, {"safety_preference": "A"}))
    head = whole.head(2)
    assert (len(head), head.ids, head.criteria) == (2, ["0", "1"], ())
    assert head.hash != whole.hash
    assert head.notices == whole.notices


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"safety_preference": "B"}, True),
        ({"safety_explanation": "because"}, True),
        ({"extra": "x"}, True),
        ({"id": "0"}, True),
        ({"id": "00"}, False),
        ({"instruction": "Do 0. "}, False),
        ({"output_a": "b", "output_b": "a"}, False),
    ],
)
def test_the_hash_follows_ids_and_texts_alone(save: SaveRows, change: dict[str, str], same: bool) -> None:
    before = load_dataset(save({"safety_preference": "A"}, {})).hash
    assert (load_dataset(save({"safety_preference": "A"} | change, {})).hash == before) is same


def test_the_hash_follows_the_order_of_items(save: SaveRows) -> None:
    one, two = {"id": "x", "instruction": "1"}, {"id": "y", "instruction": "2"}
    assert load_dataset(save(one, two)).hash != load_dataset(save(two, one)).hash


@pytest.mark.parametrize(
    ("label", "hint"),
    [
        ("a", "the nearest is 'A'"),
        ("A ", "the nearest is 'A'"),
        ("Both good", "the nearest is 'both_good'"),
        ("both-bad", "the nearest is 'both_bad'"),
        ("bothgood", "the nearest is 'both_good'"),
        ("NA", "labels are A, B, both_good, both_bad, tie"),
        ("\x1b[31m", "labels are A, B, both_good, both_bad, tie"),
    ],
)
def test_an_unknown_label_is_named_with_the_nearest(save: SaveRows, label: str, hint: str) -> None:
    path = save({}, {"safety_preference": label})
    assert problems_in(path) == (f"line 2, safety_preference: unknown label {label!r}; {hint}.",)


@pytest.mark.parametrize(
    ("name", "data", "problems"),
    [
        (
            "x.tsv",
            "id\tinstruction\tOutput A\toutput_b\n1\t\t\t\n1\t\t\t\n",
            [
                "no column 'output_a'. The nearest is 'Output A'. "
                "Columns found: 'id', 'instruction', 'Output A', 'output_b'."
            ],
        ),
        (
            "x.csv",
            "id,instruction,output_a,output_b,output_a\n1,,,,\n",
            ["column 'output_a' occurs 2 times."],
        ),
        (
            "x.csv",
            'id,instruction,output_a,output_b,safety_preference\n"",,,,A\n1,"\n",,,C\n1,,\n2,,,,b\n',
            [
                "line 2, id: the id is empty.",
                "line 3, safety_preference: unknown label 'C'; labels are A, B, both_good, both_bad, tie.",
                "line 5: cells found: 3; the header has 5.",
                "line 6, safety_preference: unknown label 'b'; the nearest is 'B'.",
            ],
        ),
        (
            "x.json",
            '[{"id": 1, "instruction": "", "output_b": ""}, 3, {"id": 1, "output_a": "", "output_b": ""}]',
            [
                "record 2: not an object with a key for each column.",
                "record 3, id: id '1' is already used by record 1.",
                "record 3: no 'instruction'.",
                "record 1: no 'output_a'.",
            ],
        ),
        (
            "x.jsonl",
            '{"id": null, "prompt": "", "output_a": "", "output_b": ""}',
            ["no column 'instruction'. Columns found: 'id', 'prompt', 'output_a', 'output_b'."],
        ),
        (
            "x.csv",
            "id,Output_A,answer\n1,x,y\n",
            [
                "no column 'instruction'.",
                "no column 'output_a'. The nearest is 'Output_A'.",
                "no column 'output_b'. The nearest is 'Output_A'. Columns found: 'id', 'Output_A', 'answer'.",
            ],
        ),
    ],
)
def test_all_problems_of_a_file_are_told_together_where_its_columns_are_known(
    tmp_path: Path, name: str, data: str, problems: list[str]
) -> None:
    (tmp_path / name).write_text(data, newline="")
    assert list(problems_in(tmp_path / name)) == problems


def test_of_many_problems_fifty_are_shown_and_the_rest_counted(save: SaveRows) -> None:
    path = save(*({"safety_preference": "C"} for _ in range(60)))
    with pytest.raises(InputError, match=r"(?s)^x\.jsonl: 60 problems\..*and 10 more\.\nFix") as caught:
        load_dataset(path)
    assert caught.value.problem.count("unknown label 'C'") == len(caught.value.problems) == 50


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("x.csv", "id,instruction,output_a,output_b\n\n"),
        ("x.json", "[]"),
        ("x.tsv", "id\tinstruction\toutput_a\toutput_b"),
    ],
)
def test_a_file_without_rows_is_refused(tmp_path: Path, name: str, data: str) -> None:
    (tmp_path / name).write_text(data)
    assert problems_in(tmp_path / name) == ("has no rows.",)


@pytest.mark.parametrize(
    ("rows", "notices"),
    [
        ([{}], ()),
        ([{"z": 1, "y": 2}], ("2 other columns are stored: 'z', 'y'.",)),
        (
            [{"z": 1, "Safety_preference": "A", "relevance": "B"}],
            (
                "3 other columns are stored: 'Safety_preference' (did you mean 'safety_preference'?), "
                "'relevance' (did you mean 'relevance_preference'?), 'z'.",
            ),
        ),
        (
            [{"safety-explanation": "x", "naturalnes_preference": "A"}],
            (
                "2 other columns are stored: 'safety-explanation' (did you mean 'safety_explanation'?), "
                "'naturalnes_preference' (did you mean 'naturalness_preference'?).",
            ),
        ),
        (
            [{"safety_preference": "A", "safety": 1, "Safety_Preference": "A"}],
            ("2 other columns are stored: 'safety', 'Safety_Preference'.",),
        ),
        ([{"output_a": ""}], ("1 response is empty.",)),
        ([{"output_a": "", "output_b": ""}, {"output_b": " "}], ("2 responses are empty.",)),
        ([{"instruction": "x"}] * 3, ("1 instruction occurs more than once.",)),
        (
            [{"instruction": ""}, {"instruction": " \n"}, {}],
            ("2 items have no instruction: in intervals each of them is a cluster of its own.",),
        ),
        (
            [{"output_a": "donâ€™t", "output_b": "don’t “naïve” Spaß” 日本"}, {"output_a": "cafÃ©"}],
            ("2 texts look wrongly decoded (such as 'â€™' for '’'); left as in the file.",),
        ),
    ],
)
def test_what_looks_odd_is_noticed(save: SaveRows, rows: Records, notices: tuple[str, ...]) -> None:
    assert load_dataset(save(*rows)).notices == notices


def test_known_columns_are_those_of_the_task() -> None:
    columns = known_columns(replace(ELOQUENT, criteria=ELOQUENT.criteria[:1]))
    assert columns[3:] == ("output_b", "relevance_preference", "relevance_explanation")


def test_the_official_development_set_is_the_same_in_every_format(shared_data: Path) -> None:
    datasets = [
        load_dataset(shared_data / "eloquent" / f"validation.{suffix}")
        for suffix in ("tsv", "csv", "json", "jsonl", "parquet")
    ]
    first = list(datasets[0])
    assert len(first) == 99
    assert all(list(dataset) == first for dataset in datasets)
    assert len({dataset.hash for dataset in datasets}) == 1


def test_the_official_development_set_is_labelled_throughout(shared_data: Path) -> None:
    dataset: Dataset = load_dataset(shared_data / "eloquent" / "validation.tsv")
    assert dataset.criteria == ELOQUENT.names
    assert all(gold.label and gold.explanation for item in dataset for gold in item.gold.values())
    assert dataset.texts("safety_preference").to_pylist().count("both_good") == 96


@pytest.mark.parametrize(
    ("name", "rows", "criteria"),
    [
        ("emnlp17_nlg", 458, ("relevance", "naturalness", "overall_quality")),
        ("finegrained_qa", 1000, ("overall_quality",)),
        ("halueval_qa", 500, ("truthfulness",)),
        ("hh_harmless", 1023, ("safety",)),
        ("hhh_alignment", 221, ("truthfulness", "safety", "overall_quality")),
        ("pandalm", 999, ("overall_quality",)),
        ("truthfulqa_multi_ref", 3548, ("truthfulness",)),
    ],
)
def test_datasets_of_human_labels_load_whole(
    shared_data: Path, name: str, rows: int, criteria: tuple[str, ...]
) -> None:
    dataset = load_dataset(shared_data / "human" / f"{name}.jsonl")
    assert (len(dataset), dataset.criteria) == (rows, criteria)


def test_the_rows_read_so_far_are_reported(save: SaveRows) -> None:
    reported: list[int] = []
    load_dataset(save(*[{}] * 4100), progress=reported.append)
    assert reported == [2048, 4096]


@pytest.mark.slow
def test_a_stop_from_what_is_told_ends_the_loading(save: SaveRows) -> None:
    cancel = CancelToken()
    reported: list[int] = []

    def stop(rows: int) -> None:
        reported.append(rows)
        cancel.cancel()

    with pytest.raises(Cancelled):
        load_dataset(save(*[{}] * 7000), cancel=cancel, progress=stop)
    assert reported == [2048]


def test_a_tie_may_be_said_without_saying_which(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(
        "id,instruction,output_a,output_b,safety_preference\n1,q,a,b,tie\n2,q,a,b,\n", encoding="utf-8"
    )
    dataset = load_dataset(path)
    assert [dict(item.gold) for item in dataset] == [{"safety": Gold(Tie.TIE)}, {}]
    assert summary_of(dataset).labels["safety"] == {"A": 0, "B": 0, "both_good": 0, "both_bad": 0, "tie": 1}


def test_problems_stand_in_the_order_of_rows_whoever_finds_them(tmp_path: Path) -> None:
    rows = [f"{number}\ti\ta\tb\tA" for number in range(400)]
    rows[290], rows[300], rows[310] = "290\ti\ta\tb\tC", "300\ti", "310\ti\ta\tb\tD"
    path = tmp_path / "x.tsv"
    path.write_text("\n".join(["id\tinstruction\toutput_a\toutput_b\tsafety_preference", *rows]))
    with pytest.raises(InputError) as caught:
        load_dataset(path)
    lines = [problem.partition(",")[0].partition(":")[0] for problem in caught.value.problems]
    assert lines == ["line 292", "line 302", "line 312"]


def test_items_in_short_are_the_items(save: SaveRows) -> None:
    dataset = load_dataset(save({"output_a": "é"}, {"instruction": " "}, {"safety_preference": "A"}))
    for item, short in zip(dataset, dataset.items_in_short(), strict=True):
        texts = (short.id, short.instruction, short.output_a, short.output_b)
        assert (*texts, short.gold) == (item.id, item.instruction, item.output_a, item.output_b, item.gold)
        for name in ("lengths", "group", "content_hash"):
            assert getattr(short, name) == getattr(item, name)
