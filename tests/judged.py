"""Datasets and systems written out in a test: labels as lists, items numbered from 1."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from engine.core.items import Prediction, Preference
from engine.data.arrow_arrays import text_array
from engine.data.dataset import Dataset
from engine.data.submission import Submission, SubmissionRow
from engine.measure.matching import Matched, match
from engine.measure.systems import System

A, B, GOOD, BAD = Preference

Labels = Sequence[Preference | None]
Texts = Sequence[str | None]


def text_table(columns: Mapping[str, Sequence[str]]) -> pa.Table:
    """The table of a dataset with these texts."""
    return pa.table({name: text_array(texts) for name, texts in columns.items()})


def with_texts(dataset: Dataset, **columns: Sequence[str] | str) -> Dataset:
    """The same items with other texts in some columns: a text for each item, or one for all."""
    table = dataset.table
    for name, texts in columns.items():
        column = text_array([texts] * len(dataset) if isinstance(texts, str) else texts)
        table = table.set_column(table.column_names.index(name), name, column)
    return replace(dataset, table=table)


def dataset(
    human: Mapping[str, Labels],
    explanations: Mapping[str, Texts] | None = None,
    instructions: Sequence[str] | None = None,
    outputs: Sequence[tuple[str, str]] | None = None,
) -> Dataset:
    """A dataset with these labels by criterion; instructions differ and outputs are one letter by default."""
    count = len(next(iter(human.values())))
    columns: dict[str, Sequence[str]] = {
        "id": [str(number + 1) for number in range(count)],
        "instruction": instructions or [f"question {number + 1}" for number in range(count)],
        "output_a": [a for a, _ in outputs] if outputs else ["a"] * count,
        "output_b": [b for _, b in outputs] if outputs else ["b"] * count,
    }
    for name, labels in human.items():
        columns[f"{name}_preference"] = [label or "" for label in labels]
    for name, texts in (explanations or {}).items():
        columns[f"{name}_explanation"] = [text or "" for text in texts]
    return Dataset(Path("gold.tsv"), text_table(columns))


def system(
    labels: Mapping[str, Labels],
    explanations: Mapping[str, Texts] | None = None,
    name: str = "judge.tsv",
    ids: Sequence[str] | None = None,
) -> System:
    """A submission with these labels, for items 1, 2, 3 and so on unless `ids` are given."""
    count = len(next(iter(labels.values())))
    said = explanations or {}
    rows = tuple(
        SubmissionRow(
            item_id,
            {
                criterion: Prediction(column[place], said[criterion][place] if criterion in said else None)
                for criterion, column in labels.items()
            },
        )
        for place, item_id in enumerate(ids or [str(number + 1) for number in range(count)])
    )
    return System(name, Submission(rows, tuple(labels), bool(said)))


def matched(predicted: Labels, human: Labels, criterion: str = "safety", **more: Any) -> Matched:
    """One criterion's labels held against the human ones."""
    return match(system({criterion: predicted}), dataset({criterion: human}, **more))
