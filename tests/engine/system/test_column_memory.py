"""Maps are remembered by the set of a file's columns."""

from pathlib import Path

import pytest

from engine.core.column_map import ColumnMap
from engine.data.dataset import load_dataset
from engine.data.recognition import forget, remember, remembered
from engine.system.paths import data_folder
from tests.published_shapes import llm_bar

ONE = ColumnMap.of({"id": "uid"}, {"1": "A"})
OTHER = ColumnMap.of({"id": "key"})


def test_a_map_is_remembered_by_the_set_of_columns() -> None:
    assert remembered(["a", "b"]) is None
    remember(["a", "b"], ONE)
    assert remembered(["b", "a"]) == ONE
    assert remembered(["a"]) is None
    remember(["b", "a"], OTHER)
    assert remembered(["a", "b"]) == OTHER
    forget(["a", "b"])
    assert remembered(["a", "b"]) is None


@pytest.mark.parametrize("text", ["", "3", "[1, null]", '[{"file": 3, "columns": {}, "labels": {}}]'])
def test_a_damaged_file_means_that_nothing_is_remembered(text: str) -> None:
    remember(["a"], ONE)
    (data_folder() / "columns.json").write_text(text, encoding="utf-8")
    assert remembered(["a"]) is None
    remember(["a"], ONE)
    assert remembered(["a"]) == ONE


def test_what_is_remembered_is_used_for_every_file_with_these_columns(tmp_path: Path) -> None:
    path = llm_bar(tmp_path)
    columns = ColumnMap.of({"instruction": "input", "output_a": "output_1", "output_b": "output_2"})
    remember(load_dataset(path, columns=columns).file_columns, columns)
    dataset = load_dataset(path)
    assert dataset.columns == columns
    assert "instruction is 'input'" in dataset.notices[0]
