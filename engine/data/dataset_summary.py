"""What a dataset holds, in numbers: labels, explanations, lengths.

Counted column by column, in well under a second for 100,000 items.

Knows: a dataset's columns. Does not know: how the numbers are shown.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from engine.core.items import HumanLabel, labels_beside
from engine.data.arrow_arrays import to_numpy
from engine.data.dataset import TEXT_COLUMNS, Dataset


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
    labels = {name: _label_counts(dataset, name) for name in names}
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
        lengths={name: _median_length(dataset, name) for name in TEXT_COLUMNS},
        notices=dataset.notices,
    )


def _label_counts(dataset: Dataset, criterion: str) -> dict[HumanLabel, int]:
    counts = dataset.label_counts(criterion)
    return {label: counts[label.value] for label in labels_beside(counts)}


def _empty(dataset: Dataset, column: str) -> npt.NDArray[np.bool_]:
    """Which items have no text in a column, shape (items,)."""
    empty: npt.NDArray[np.bool_] = to_numpy(pc.binary_length(dataset.texts(column))) == 0
    return empty


def _median_length(dataset: Dataset, column: str) -> float:
    lengths = dataset.lengths(column)
    return float(np.median(lengths)) if len(lengths) else 0.0
