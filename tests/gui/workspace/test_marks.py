"""Marks: equal where the same would be measured, other where anything of it is another."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from engine.data.dataset import load_dataset
from gui.workspace.open_run import gold_mark

Save = Callable[[str, bytes], Path]

HEADER = b"id\tinstruction\toutput_a\toutput_b\tsafety_preference\tsafety_explanation\n"
ROWS = b"1\ti\ta\tb\tA\tBecause.\n2\ti\ta\tb\tB\tSo.\n"


def test_labels_that_are_read_again_are_the_same(save: Save) -> None:
    path = save("labels.tsv", HEADER + ROWS)
    assert gold_mark(load_dataset(path)) == gold_mark(load_dataset(path))
    assert gold_mark(load_dataset(path).head(1)) == gold_mark(load_dataset(path).head(1))
    assert gold_mark(None) != gold_mark(load_dataset(path))


def test_how_labels_lie_in_memory_is_no_difference(save: Save) -> None:
    whole = load_dataset(save("labels.tsv", HEADER + ROWS))
    parts = pa.concat_tables([whole.table.slice(0, 1), whole.table.slice(1)])
    assert gold_mark(replace(whole, table=parts)) == gold_mark(whole)


@pytest.mark.parametrize("other", [b"2\ti\ta\tb\tA\tSo.", b"2\ti\ta\tb\tB\tNo.", b"2\ti\ta\tc\tB\tSo.", b""])
def test_another_label_explanation_or_text_makes_other_labels(save: Save, other: bytes) -> None:
    first = gold_mark(load_dataset(save("labels.tsv", HEADER + ROWS)))
    rows = ROWS.replace(b"2\ti\ta\tb\tB\tSo.", other).strip() + b"\n"
    assert gold_mark(load_dataset(save("labels.tsv", HEADER + rows))) != first
