"""Which items of a dataset a table shows, and in which order: found and sorted column by column.

What a dataset holds, in numbers: labels, explanations, lengths.

Counted column by column, in well under a second for 100,000 items.

Items are named by their rows: places in the dataset, from 0. Fast enough for 100,000 items, but not for the
thread of a window.
"""

import functools
import operator
from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from engine.core.events import CancelToken
from engine.core.items import HumanLabel, labels_beside
from engine.data.arrow_arrays import number_array, text_array, to_numpy
from engine.data.dataset import REQUIRED_COLUMNS, TEXT_COLUMNS, Dataset


@dataclass(frozen=True)
class Summary:
    """The numbers of one dataset. By criterion are all criteria of its rubric, in order.

    `labelled`: items with a human label. `labels`: items by label, 0 where one of the four never occurs;
    `tie` only where it does. `explained`: items with a human explanation. `any_label`: items with a label on
    at least one criterion. `equal_responses`: items whose two responses are the same text. `lengths`: the
    median of instruction, output_a and output_b each, in characters.
    """

    items: int
    labelled: Mapping[str, int]
    labels: Mapping[str, Mapping[HumanLabel, int]]
    explained: Mapping[str, int]
    any_label: int
    equal_responses: int
    lengths: Mapping[str, float]
    notices: tuple[str, ...]


def summary_of(dataset: Dataset) -> Summary:
    """Count all of a dataset's items; their lengths are 0 where it has none."""
    names = dataset.rubric.names
    counts_of = {name: dataset.label_counts(name) for name in names}
    labels = {
        name: {label: counts[label.value] for label in labels_beside(counts)}
        for name, counts in counts_of.items()
    }
    lacking = {name: _empty(dataset, f"{name}_preference") for name in names}
    return Summary(
        items=len(dataset),
        labelled={name: sum(counts.values()) for name, counts in labels.items()},
        labels=labels,
        explained={name: int((~_empty(dataset, f"{name}_explanation")).sum()) for name in names},
        any_label=int((~np.logical_and.reduce(list(lacking.values()))).sum()),
        equal_responses=int(
            pc.sum(pc.equal(dataset.texts("output_a"), dataset.texts("output_b"))).as_py() or 0
        ),
        lengths={
            name: float(np.median(dataset.lengths(name))) if len(dataset) else 0.0 for name in TEXT_COLUMNS
        },
        notices=dataset.notices,
    )


def _empty(dataset: Dataset, column: str) -> npt.NDArray[np.bool_]:
    """Which items have no text in a column, shape (items,)."""
    empty: npt.NDArray[np.bool_] = to_numpy(pc.binary_length(dataset.texts(column))) == 0
    return empty


Rows = npt.NDArray[np.int64]

_ROWS_AT_ONCE = 8192
_SORTED_CHARACTERS = 200


def matching_rows(
    dataset: Dataset,
    text: str,
    cancel: CancelToken | None = None,
    others: Sequence[str] = (),
    beside: Sequence[str] | None = None,
) -> Rows:
    """The rows, in order, in whose id, instruction, responses or `others` of the file's columns every word of
    `text` occurs, or in what is said `beside`, a text for each row.

    A word is what white space divides, and may occur inside another; upper and lower case are the same.
    Without a word all rows match. Raises Cancelled soon after `cancel` is set.
    """
    columns = [dataset.texts(name) for name in (*REQUIRED_COLUMNS, *others)]
    return matching(columns if beside is None else [*columns, text_array(beside)], text, cancel)


def matching(
    columns: Sequence[pa.ChunkedArray | pa.Array], text: str, cancel: CancelToken | None = None
) -> Rows:
    """The same of any columns of text, all of the same length."""
    words = text.split()
    # A typed word may hold half a character, and no dataset does.
    if any("\ud800" <= char <= "\udfff" for char in text):
        return np.empty(0, np.int64)
    table = pa.table(list(columns), names=[str(place) for place in range(len(columns))])
    if not words:
        return np.arange(table.num_rows, dtype=np.int64)
    found = [np.empty(0, np.int64)]
    for start in range(0, table.num_rows, _ROWS_AT_ONCE):
        if cancel is not None:
            cancel.raise_if_requested()
        found.append(start + _rows_with(words, table.slice(start, _ROWS_AT_ONCE)))
    return np.concatenate(found)


def rows_of(dataset: Dataset, rows: Rows, ids: Container[str]) -> Rows:
    """Those of some rows whose items have one of these ids."""
    known = dataset.ids
    found: Rows = np.array([row for row in rows.tolist() if known[row] in ids], np.int64)
    return found


def count_hits(dataset: Dataset, rows: Sequence[int], pattern: str) -> int:
    """How often a regular expression is found in ids, instructions and responses of some rows; upper and
    lower case are the same.
    """
    if not len(rows):
        return 0
    table = dataset.table.select(REQUIRED_COLUMNS).take(number_array(np.asarray(rows, np.int64)))
    counts = (
        pc.sum(pc.count_substring_regex(column, pattern, ignore_case=True)).as_py()
        for column in table.columns
    )
    return sum(count or 0 for count in counts)


def sorted_rows(dataset: Dataset, rows: Rows, column: str, descending: bool = False) -> Rows:
    """`rows` by the text of one column; those with equal texts stay in the order in which they came.

    Ids and columns that the file has besides sort as numbers where all of them are numbers. Else texts sort
    by the code points of their first 200 characters in lower case; a column that the dataset lacks is empty
    everywhere.
    """
    if column not in (*dataset.table.column_names, *dataset.other_columns):
        return rows
    as_numbers = column == "id" or column in dataset.other_columns
    keys = _sort_keys(dataset.texts(column), as_numbers).take(number_array(rows))
    sorted_: Rows = rows[_places(keys, descending)]
    return sorted_


def sorted_places(
    texts: pa.ChunkedArray | pa.Array, as_numbers: bool = False, descending: bool = False
) -> Rows:
    """The places of texts, from 0, in the order that `sorted_rows` has; `as_numbers`: where all are some."""
    return _places(_sort_keys(texts, as_numbers), descending)


def _sort_keys(texts: pa.ChunkedArray | pa.Array, as_numbers: bool) -> pa.ChunkedArray | pa.Array:
    for kind in (pa.int64(), pa.float64()) if as_numbers else ():  # whole ones exactly up to 18 digits
        with suppress(pa.ArrowInvalid):
            return texts.cast(kind)
    return pc.utf8_lower(pc.utf8_slice_codeunits(texts, 0, _SORTED_CHARACTERS))


def _places(keys: pa.ChunkedArray | pa.Array, descending: bool) -> Rows:
    direction = "descending" if descending else "ascending"
    places: Rows = to_numpy(pc.sort_indices(pa.table({"key": keys}), sort_keys=[("key", direction)]))
    return places


def _rows_with(words: list[str], part: pa.Table) -> Rows:
    """The rows of one part, from 0, that hold all words."""
    rows: Rows = np.arange(part.num_rows, dtype=np.int64)
    for word in words:
        hits = [pc.match_substring(column, word, ignore_case=True) for column in part.columns]
        hit_rows = np.flatnonzero(functools.reduce(operator.or_, map(to_numpy, hits)))
        rows, part = rows[hit_rows], part.take(number_array(hit_rows))
    return rows
