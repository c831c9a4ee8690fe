"""The review list in the order of one of its columns."""

import pytest

from engine.analysis.review_order import BY_COLUMN, ReviewItem, ReviewRow, by_column
from engine.annotations.records import ListOrder
from engine.core.items import Preference
from engine.core.judgments import ReviewState
from tests.judged import BAD, A, B, dataset

IDS = ["10", "9", "x1", "2"]
GOLD = dataset({"safety": [None] * 4}, instructions=["pear", "Apple", "apple", "fig"])
STATES = {"10": ReviewState.DONE, "x1": ReviewState.SKIPPED}
LABELS: dict[str, tuple[Preference | None, bool]] = {
    "10": (B, True),
    "9": (None, False),
    "x1": (A, True),
    "2": (BAD, False),
}


def rows_of(item_id: str) -> list[ReviewRow]:
    label, flipped = LABELS[item_id]
    return [ReviewRow(IDS.index(item_id), item_id, "safety", label, flipped=flipped)]


@pytest.mark.parametrize(
    ("order", "ids"),
    [
        (ListOrder.LEAST_UNCERTAINTY, ["2", "x1", "9", "10"]),
        (ListOrder.TO_DO, ["9", "2", "x1", "10"]),
        (ListOrder.DONE, ["10", "x1", "9", "2"]),
        (ListOrder.ID, ["10", "2", "9", "x1"]),
        (ListOrder.ID_BACKWARDS, ["x1", "9", "2", "10"]),
        (ListOrder.LABELS, ["x1", "10", "2", "9"]),
        (ListOrder.LABELS_BACKWARDS, ["9", "2", "10", "x1"]),
        (ListOrder.MOST_MARKS, ["10", "x1", "9", "2"]),
        (ListOrder.FEWEST_MARKS, ["9", "2", "10", "x1"]),
        (ListOrder.INSTRUCTION, ["9", "x1", "2", "10"]),
        (ListOrder.INSTRUCTION_BACKWARDS, ["10", "2", "9", "x1"]),
    ],
)
def test_equal_items_stay_in_the_order_of_the_dataset(order: ListOrder, ids: list[str]) -> None:
    items = [ReviewItem(place, item_id, 0.9 - place / 10) for place, item_id in enumerate(IDS)]
    assert order in BY_COLUMN
    assert [item.item_id for item in by_column(items, order, rows_of, STATES, GOLD)] == ids


def test_ids_that_are_numbers_sort_as_numbers_and_without_texts_there_is_no_order_of_them() -> None:
    items = [ReviewItem(place, item_id, 0.5) for place, item_id in enumerate(["10", "9", "2"])]
    assert [item.item_id for item in by_column(items, ListOrder.ID, rows_of, {}, None)] == ["2", "9", "10"]
    assert by_column(items, ListOrder.INSTRUCTION_BACKWARDS, rows_of, {}, None) == items
    assert by_column([], ListOrder.ID, rows_of, {}, None) == []
