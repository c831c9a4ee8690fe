"""A dataset in numbers; and which of its items a table shows, in which order."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from engine.core.events import Cancelled, CancelToken
from engine.core.items import PREFERENCES
from engine.core.rubric import ELOQUENT
from engine.data.dataset import Dataset, load_dataset
from engine.data.dataset_views import count_hits, matching_rows, sorted_rows, summary_of
from engine.system.paths import demo_dataset
from tests.judged import GOOD, A, B, dataset, text_table, with_texts

GOLD = replace(
    dataset(
        {"relevance": [A, A, GOOD, None], "safety": [None, B, None, None]},
        explanations={"relevance": ["why", None, "so", "alone"]},
        instructions=["one", "two", "one", "one"],
        outputs=[("", ""), ("long text", "b"), ("é汉😀", "é汉😀"), ("x", "")],
    ),
    notices=("3 responses are empty.",),
)


def test_labels_and_explanations_are_counted_for_every_criterion() -> None:
    found = summary_of(GOLD)
    assert found.items == 4
    assert found.labels["relevance"] == {A: 2, B: 0, GOOD: 1, PREFERENCES[3]: 0}
    assert found.labelled == {**dict.fromkeys(ELOQUENT.names, 0), "relevance": 3, "safety": 1}
    assert found.explained == {**dict.fromkeys(ELOQUENT.names, 0), "relevance": 3}
    assert found.any_label == 3


def test_equal_responses_are_counted_and_the_notices_are_kept() -> None:
    found = summary_of(GOLD)
    assert found.equal_responses == 2
    assert found.notices == GOLD.notices


def test_lengths_are_medians_in_characters() -> None:
    assert summary_of(GOLD).lengths == {"instruction": 3, "output_a": 2, "output_b": 0.5}


def test_no_items_is_no_error() -> None:
    found = summary_of(GOLD.head(0))
    assert (found.items, found.any_label, found.lengths["output_a"]) == (0, 0, 0)


@pytest.fixture(scope="module")
def demo() -> Dataset:
    return load_dataset(demo_dataset())


def test_a_file_is_counted_as_its_items_are(demo: Dataset) -> None:
    found, items = summary_of(demo), list(demo)
    for name in demo.rubric.names:
        labels = [item.gold[name].label for item in items if name in item.gold]
        assert found.labels[name] == {label: labels.count(label) for label in PREFERENCES}
        assert found.explained[name] == sum(name in i.gold and bool(i.gold[name].explanation) for i in items)


# Searching and sorting the items of a dataset


SEARCHED = dataset(
    {"safety": [B, None, A, B]},
    instructions=["Spell CAFÉ (please).", "tell me a joke", "Tell me of 10", "apple"],
    outputs=[("c-a-f-é", "no"), ("no joke", "Yes"), ("a", "b"), ("ΣΟΦΟΣ", "a.c")],
)


def with_ids(*ids: str) -> Dataset:
    texts = ["x"] * len(ids)
    columns = {"id": list(ids), "instruction": texts, "output_a": texts, "output_b": texts}
    return Dataset(Path("x.tsv"), text_table(columns))


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("", [0, 1, 2, 3]),
        (" \t ", [0, 1, 2, 3]),
        ("café", [0]),
        ("TELL", [1, 2]),
        ("tell joke", [1]),
        ("joke  yes", [1]),
        ("4", [3]),
        ("a.c", [3]),
        ("(please)", [0]),
        ("σοφοσ", [3]),
        ("nowhere", []),
        ("tell nowhere", []),
        ("\ud800", []),
        ("\0", []),
    ],
)
def test_rows_match_where_every_word_occurs(text: str, rows: list[int]) -> None:
    found = matching_rows(SEARCHED, text)
    assert found.tolist() == rows
    assert found.dtype == np.int64


@pytest.mark.slow
def test_a_search_is_the_same_in_many_parts() -> None:
    gold = load_dataset(demo_dataset())
    many = Dataset(gold.path, pa.concat_tables([gold.table] * 200))
    expected = [row for row, item in enumerate(many) if "the" in item.output_a.lower()]
    one_column = with_texts(many, id="", instruction="", output_b="")
    assert matching_rows(one_column, "THE").tolist() == expected
    assert len(many) > 2 * 8192


def test_in_no_items_nothing_is_found() -> None:
    assert matching_rows(SEARCHED.only([]), "tell").tolist() == []
    assert matching_rows(SEARCHED.head(0), "").tolist() == []


def test_a_search_stops_when_asked() -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        matching_rows(SEARCHED, "x", cancel)


@pytest.mark.parametrize(
    ("column", "descending", "rows"),
    [
        ("instruction", False, [3, 0, 1, 2]),
        ("instruction", True, [2, 1, 0, 3]),
        ("safety_preference", False, [1, 2, 0, 3]),
        ("safety_preference", True, [0, 3, 2, 1]),
        ("relevance_preference", True, [0, 1, 2, 3]),
        ("relevance_preference", False, [0, 1, 2, 3]),
    ],
)
def test_equal_texts_keep_their_order(column: str, descending: bool, rows: list[int]) -> None:
    assert sorted_rows(SEARCHED, np.arange(4), column, descending).tolist() == rows


def test_only_the_given_rows_are_sorted() -> None:
    assert sorted_rows(SEARCHED, np.array([2, 1, 3]), "instruction").tolist() == [3, 1, 2]
    assert sorted_rows(SEARCHED, np.array([], np.int64), "instruction").tolist() == []


@pytest.mark.parametrize(
    ("ids", "in_order"),
    [
        (["10", "9", "007"], ["007", "9", "10"]),
        (["-1", "2.5", "10"], ["-1", "2.5", "10"]),
        (["123456789012345679", "123456789012345678"], ["123456789012345678", "123456789012345679"]),
        (["10", "9", "x"], ["10", "9", "x"]),
        (["b", "A", "c"], ["A", "b", "c"]),
    ],
)
def test_ids_sort_as_numbers_where_all_are_numbers(ids: list[str], in_order: list[str]) -> None:
    rows = sorted_rows(with_ids(*ids), np.arange(len(ids)), "id")
    assert [ids[row] for row in rows] == in_order


def test_one_word_among_all_ids_makes_them_texts_even_if_it_is_not_shown() -> None:
    gold = with_ids("10", "9", "x")
    assert sorted_rows(gold, np.array([1, 0]), "id").tolist() == [0, 1]


@pytest.mark.parametrize(
    ("pattern", "rows", "hits"),
    [("tell", [1, 2], 2), ("tell|joke", [1], 3), ("a", [0, 3], 5), ("café", [0, 1, 2, 3], 1), ("a", [], 0)],
)
def test_hits_are_counted_in_all_texts_of_the_rows(pattern: str, rows: list[int], hits: int) -> None:
    assert count_hits(SEARCHED, rows, pattern) == hits


def test_a_word_is_found_in_what_is_said_beside_also_where_the_others_are_elsewhere() -> None:
    beside = ["", "Rather odd", "", "odd"]
    assert matching_rows(SEARCHED, "ODD", beside=beside).tolist() == [1, 3]
    assert matching_rows(SEARCHED, "odd joke", beside=beside).tolist() == [1]
