"""A review list in the order of one of its columns.

Knows: what stands in the columns of the list. Does not know: why an item is uncertain, filters, windows.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from engine.core.items import PREFERENCES
from engine.core.judgments import ReviewState
from engine.core.review_filters import ListOrder
from engine.data.arrow_arrays import number_array, text_array
from engine.data.dataset import Dataset
from engine.data.item_search import sorted_places
from engine.review.doubt import ReviewItem, ReviewRow

_STATES = (ReviewState.TO_DO, ReviewState.SKIPPED, ReviewState.DONE)
_UNSCORED, _HIDDEN = len(PREFERENCES), len(PREFERENCES) + 1
_BACKWARDS = {
    ListOrder.DONE: ListOrder.TO_DO,
    ListOrder.ID_BACKWARDS: ListOrder.ID,
    ListOrder.LABELS_BACKWARDS: ListOrder.LABELS,
    ListOrder.MOST_MARKS: ListOrder.FEWEST_MARKS,
    ListOrder.INSTRUCTION_BACKWARDS: ListOrder.INSTRUCTION,
}
BY_COLUMN = frozenset({ListOrder.LEAST_UNCERTAINTY, *_BACKWARDS, *_BACKWARDS.values()})
"""The orders that `by_column` knows."""


def by_column(
    items: Sequence[ReviewItem],
    order: ListOrder,
    rows_of: Callable[[str], Sequence[ReviewRow]],
    states: Mapping[str, ReviewState],
    dataset: Dataset | None,
) -> list[ReviewItem]:
    """The items in one of BY_COLUMN; equal ones stay in the order in which they come.

    `rows_of`: the rows of an item as they are shown. `states`: by item id, TO_DO where one lacks. Labels come
    in the order of PREFERENCES, unscored ones after them, hidden ones last. Ids sort as numbers where all are
    some. Without a dataset all instructions are equal.
    """
    forwards, backwards = _BACKWARDS.get(order, order), order in _BACKWARDS
    if forwards in (ListOrder.ID, ListOrder.INSTRUCTION):
        is_id = forwards is ListOrder.ID
        texts = text_array([item.item_id for item in items]) if is_id else _instructions(items, dataset)
        return [items[place] for place in sorted_places(texts, as_numbers=is_id, descending=backwards)]
    keys: Mapping[ListOrder, Callable[[ReviewItem], Any]] = {
        ListOrder.LEAST_UNCERTAINTY: lambda item: item.uncertainty,
        ListOrder.TO_DO: lambda item: _STATES.index(states.get(item.item_id, ReviewState.TO_DO)),
        ListOrder.LABELS: lambda item: list(map(_rank, rows_of(item.item_id))),
        ListOrder.FEWEST_MARKS: lambda item: sum(map(_marks, rows_of(item.item_id))),
    }
    return sorted(items, key=keys[forwards], reverse=backwards)


def _instructions(items: Sequence[ReviewItem], dataset: Dataset | None) -> pa.ChunkedArray | pa.Array:
    if dataset is None:
        return text_array([""] * len(items))
    positions = np.array([item.position for item in items], np.int64)
    return dataset.texts("instruction").take(number_array(positions))


def _rank(row: ReviewRow) -> int:
    if row.hidden:
        return _HIDDEN
    return _UNSCORED if row.preference is None else PREFERENCES.index(row.preference)


def _marks(row: ReviewRow) -> int:
    judges = row.judges_differ or row.judges_missing > 0
    return bool(row.flipped) + judges + row.differs_from_human + row.overridden + row.stale
