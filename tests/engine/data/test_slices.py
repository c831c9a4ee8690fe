"""Slices: every item is in exactly one, but for tags, and each says what its items have in common."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.column_map import ColumnMap
from engine.core.errors import SetupError
from engine.data import slices
from engine.data.dataset import Dataset, load_dataset

ROW = {"instruction": "What?", "output_a": "This.", "output_b": "That."}


def saved(folder: Path, *rows: dict[str, Any], name: str = "x.json") -> Dataset:
    path = folder / name
    path.write_text(json.dumps([{"id": str(number), **ROW, **row} for number, row in enumerate(rows)]))
    return load_dataset(path)


def parts(dataset: Dataset, by: str) -> dict[str, tuple[str, ...]]:
    return {part.name: part.ids for part in slices.slicing(dataset, by).slices}


CELLS = st.one_of(
    st.sampled_from(["", " ", "a", "b", "1", "1.0", "nan", "inf", "-3", "(empty)", "(all others)"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=3),
    st.floats().map(str),
    st.integers().map(str),
)
LABELS = st.sampled_from(["", "A", "B", "both_good", "both_bad"])


NAMES = ("instruction", "output_a", "output_b", "c")
ROWS = st.fixed_dictionaries({**dict.fromkeys(NAMES, CELLS), "relevance_preference": LABELS})


@given(st.lists(ROWS, min_size=1, max_size=60))
def test_every_item_is_in_exactly_one_slice(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, str]]
) -> None:
    dataset = saved(tmp_path_factory.mktemp("x"), *rows)
    for by in slices.divisions(dataset):
        found = slices.slicing(dataset, by).slices
        assert sorted(item_id for part in found for item_id in part.ids) == sorted(dataset.ids)
        assert all(part.ids for part in found)
        for part in found:
            assert [item_id for item_id in dataset.ids if item_id in part.known] == list(part.ids)


def test_a_column_has_a_slice_for_each_value(tmp_path: Path) -> None:
    dataset = saved(tmp_path, {"c": "b"}, {"c": "a"}, {"c": "b"}, {}, {"c": " "})
    assert parts(dataset, "c") == {"a": ("1",), "b": ("0", "2"), slices.EMPTY: ("3", "4")}


def test_few_numbers_are_values_in_their_order(tmp_path: Path) -> None:
    assert list(parts(saved(tmp_path, {"c": 10}, {"c": 9}, {"c": 2.5}), "c")) == ["2.5", "9", "10"]


def test_rare_values_are_one_slice(tmp_path: Path) -> None:
    rows = [
        {"c": f"v{number}"}
        for number in range(slices.MOST_VALUES + 5)
        for _ in range(2 if number < 20 else 1)
    ]
    division = slices.slicing(saved(tmp_path, *rows), "c")
    assert len(division.slices) == slices.MOST_VALUES + 1
    assert division.slices[-1].key == slices.OTHERS
    assert (division.slices[-1].name, len(division.slices[-1])) == ("(all others: 5 values)", 5)


def test_many_numbers_are_divided_by_quartiles(tmp_path: Path) -> None:
    found = parts(saved(tmp_path, *({"c": number} for number in range(1, 101)), {}), "c")
    assert {name: len(ids) for name, ids in found.items()} == {
        "up to 25": 25,
        "over 25 up to 50": 25,
        "over 50 up to 75": 25,
        "over 75": 25,
        slices.EMPTY: 1,
    }


def test_lengths_are_thirds_with_their_bounds(tmp_path: Path) -> None:
    dataset = saved(tmp_path, *({"output_a": "a" * size, "output_b": ""} for size in (5, 1, 9, 2, 8, 4)))
    assert parts(dataset, "length") == {
        "short: up to 2 characters": ("1", "3"),
        "middle: over 2 up to 5 characters": ("0", "5"),
        "long: over 5 characters": ("2", "4"),
    }


def test_equal_lengths_are_one_slice(tmp_path: Path) -> None:
    assert [len(ids) for ids in parts(saved(tmp_path, {}, {}, {}), "length").values()] == [3]


def test_which_response_is_longer(tmp_path: Path) -> None:
    sizes = ((100, 90), (100, 89), (89, 100), (0, 0))
    dataset = saved(tmp_path, *({"output_a": "a" * a, "output_b": "b" * b} for a, b in sizes))
    assert parts(dataset, "longer") == {
        "A is longer": ("1",),
        "about equal (within 10 %)": ("0", "3"),
        "B is longer": ("2",),
    }


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("Plain words, façade, 123!", "Latin"),
        ("Привет, как дела?", "Cyrillic"),
        ("你好世界", "Han"),
        ("これは日本語の文です", "Japanese"),
        ("السلام عليكم", "Arabic"),
        ("한국어 문장", "Hangul"),
        ("Привет means hello there", slices.MIXED),
        ("123 … 😀", slices.NONE),
        ("", slices.NONE),
        ("Use this:\n```python\nprint(1)\n```", slices.CODE),
        ("def f(x):\n    return x\n", slices.CODE),
        ("Dear all;\nthis is a letter (a short one).\nYours, Ada", "Latin"),
    ],
)
def test_the_script_of_a_text(text: str, script: str) -> None:
    assert slices.script_of([text]) == script


def test_a_human_label_divides(tmp_path: Path) -> None:
    dataset = saved(tmp_path, {"safety_preference": "B"}, {"safety_preference": "both_good"}, {})
    expected = {"B": ("0",), "both good": ("1",), "(no label)": ("2",)}
    assert parts(dataset, "label") == parts(dataset, "label:safety") == expected


def test_one_slice_is_chosen_by_its_value_its_key_or_its_name(tmp_path: Path) -> None:
    dataset = saved(tmp_path, {"c": "x=y", "a=b": "1"}, {"c": "z", "length": "7"})
    for request, ids in {
        "c=x=y": ("0",),
        "column:c=z": ("1",),
        "a=b=1": ("0",),
        "a=b=": ("1",),
        "column:length=7": ("1",),
        "longer=equal": ("0", "1"),
        "script=Latin": ("0", "1"),
    }.items():
        assert slices.select(dataset, request)[1].ids == ids


def test_a_rare_value_is_chosen_too(tmp_path: Path) -> None:
    dataset = saved(tmp_path, *({"c": f"v{number}"} for number in range(60)))
    assert slices.select(dataset, "c=v59")[1].ids == ("59",)


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ("subset=resoning", "no item with subset = 'resoning'. Did you mean reasoning? There are chat"),
        ("subst=chat", "cannot be sliced by 'subst': it has no such column. Did you mean subset?"),
        ("chat", "'chat' is not a slice"),
        ("label=A", "no human labels for 'label'. Criteria with labels: none."),
    ],
)
def test_a_slice_that_is_not_there_is_named_with_those_that_are(
    tmp_path: Path, wanted: str, says: str
) -> None:
    dataset = saved(tmp_path, {"subset": "reasoning"}, {"subset": "chat"})
    with pytest.raises(SetupError) as caught:
        slices.select(dataset, wanted)
    assert says in " ".join([caught.value.problem, str(caught.value.hint)])


# Tags of people

TAGS = slices.Noted({"0": ("hard", "odd"), "2": ("hard",), "9": ("not here",)})


def test_an_item_is_in_the_slice_of_each_of_its_tags(tmp_path: Path) -> None:
    dataset = saved(tmp_path, {}, {}, {})
    division = slices.slicing(dataset, slices.TAG, TAGS)
    assert division.title == "tag"
    found = [(part.key, part.name, part.ids) for part in division.slices]
    assert found == [("hard", "hard", ("0", "2")), ("odd", "odd", ("0",)), ("", slices.UNTAGGED, ("1",))]


def test_rare_tags_are_one_slice_and_an_item_is_in_it_once(tmp_path: Path) -> None:
    many = tuple(f"t{number:02}" for number in range(slices.MOST_VALUES + 3))
    division = slices.slicing(
        saved(tmp_path, {}, {}), slices.TAG, slices.Noted({"0": many, "1": many[: slices.MOST_VALUES]})
    )
    assert [part.ids for part in division.slices] == [("0", "1")] * slices.MOST_VALUES + [("0",)]
    assert division.slices[-1].name == "(all others: 3 tags)"


def test_by_tag_is_offered_where_any_item_has_one(tmp_path: Path) -> None:
    dataset = saved(tmp_path, {"tag": "own"})
    assert slices.TAG not in slices.divisions(dataset)
    assert slices.divisions(dataset, TAGS)[slices.TAG] == "tag"
    assert parts(dataset, "column:tag") == {"own": ("0",)}
    with pytest.raises(SetupError, match=r"No item of x\.json has a tag"):
        slices.slicing(dataset, slices.TAG)


def test_a_tag_is_chosen_also_where_it_is_rare(tmp_path: Path) -> None:
    dataset = saved(tmp_path, {}, {}, {})
    assert slices.select(dataset, "tag=odd", TAGS)[1].ids == ("0",)
    assert slices.select(dataset, "tag=", TAGS)[1].ids == ("1",)
    many = slices.Noted({"0": tuple(f"t{number:02}" for number in range(60))})
    assert slices.select(dataset, "tag=t59", many)[1].ids == ("0",)
    with pytest.raises(SetupError, match="no item with tag = 'hrd'"):
        slices.select(dataset, "tag=hrd", TAGS)


# Random samples of people


def test_a_tag_of_a_persons_own_is_kept_apart_from_the_random_sample(tmp_path: Path) -> None:
    dataset = saved(tmp_path, {}, {}, {}, {"random-sample": "own"})
    noted = slices.Noted({"0": ("random sample",)}, sampled=frozenset("12"), skipped=frozenset("3"))
    assert [part.ids for part in slices.slicing(dataset, slices.TAG, noted).slices] == [
        ("0",),
        ("1", "2", "3"),
    ]
    found = slices.slicing(dataset, slices.RANDOM_SAMPLE, noted).slices
    assert [(part.key, part.ids) for part in found] == [
        ("labelled", ("1", "2")),
        ("skipped", ("3",)),
        ("others", ("0",)),
    ]
    assert [bool(part.caveat) for part in found] == [True, False, False]
    assert slices.select(dataset, "tag=random sample", noted)[1].ids == ("0",)
    assert slices.select(dataset, "random-sample=labelled", noted)[1].ids == ("1", "2")
    assert slices.RANDOM_SAMPLE not in slices.divisions(dataset, TAGS)
    with pytest.raises(SetupError, match="was labelled in a random sample"):
        slices.slicing(dataset, slices.RANDOM_SAMPLE, TAGS)


# What a dataset keeps


def test_other_columns_stay_with_their_items(tmp_path: Path) -> None:
    dataset = saved(tmp_path, {"c": "x", "n": None}, {"c": [1, {"y": "z"}]}, {"late": True})
    assert dataset.other_columns == ("c", "n", "late")
    assert dataset.texts("c").to_pylist() == ["x", '[1, {"y": "z"}]', ""]
    assert dataset.texts("late").to_pylist() == ["", "", "true"]
    assert dataset.only({"2", "1"}).texts("late").to_pylist() == ["", "true"]
    assert dataset.head(1).texts("c").to_pylist() == ["x"]


def test_other_columns_take_no_part_in_the_hash(tmp_path: Path) -> None:
    assert saved(tmp_path, {"c": "x"}, name="a.json").hash == saved(tmp_path, {}, name="b.json").hash


def test_a_column_that_comes_late_is_empty_before(tmp_path: Path) -> None:
    dataset = saved(tmp_path, *([{}] * 2500), {"late": "x"})
    assert dataset.texts("late").to_pylist() == [*[""] * 2500, "x"]


def test_what_is_no_text_in_another_column_keeps_nothing_from_loading(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_bytes(b"id\tinstruction\toutput_a\toutput_b\tnote\n1\ti\ta\tb\tcaf\x81\n")
    assert load_dataset(path).texts("note").to_pylist() == ["caf\ufffd"]


def test_pictures_in_a_parquet_file_are_left_out_and_named(tmp_path: Path) -> None:
    import pandas as pd

    path = tmp_path / "x.parquet"
    rows = [{"id": "1", **ROW, "picture": {"bytes": b"\x89PNG"}, "raw": b"\xff", "tags": ["x", "y"]}]
    pd.DataFrame(rows).to_parquet(path)
    dataset = load_dataset(path)
    assert dataset.other_columns == ("tags",)
    assert dataset.notices[1] == ("2 columns were omitted (they contain bytes, not text): 'picture', 'raw'.")


def test_columns_of_one_name_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_text("id\tinstruction\toutput_a\toutput_b\tn\tn\n1\ti\ta\tb\t2\t3\n")
    dataset = load_dataset(path)
    assert dataset.other_columns == ()
    assert dataset.notices == ("1 column was omitted (several have the same name): 'n'.",)


def test_a_mapped_file_keeps_its_other_columns_too(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"prompt,first,second,subset,raw\nWhat?,This.,That.,chat,caf\x81\nWhy?,So.,No.,code,\n")
    mapped = ColumnMap.of({"instruction": "prompt", "output_a": "first", "output_b": "second"}, {})
    dataset = load_dataset(path, columns=mapped)
    assert dataset.other_columns == ("subset", "raw")
    assert dataset.texts("raw").to_pylist() == ["caf\ufffd", ""]
    assert parts(dataset, "subset") == {"chat": ("1",), "code": ("2",)}
