"""Arrow arrays and back: the same texts, the same numbers, and no pandas."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.data.arrow_arrays import number_array, text_array, to_numpy

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
ROOT = Path(__file__).resolve().parents[3]

LOOK_AT = """
import sys
from pathlib import Path
import numpy as np
from engine.core.events import CancelToken
from engine.data.dataset import load_dataset
from engine.data.dataset_views import summary_of
from engine.data.dataset_views import matching_rows, sorted_rows
from main import main

path = sys.argv[1]
dataset = load_dataset(Path(path))
summary_of(dataset)
for column in ("id", "output_a", "safety_preference"):
    sorted_rows(dataset, matching_rows(dataset, "the a", CancelToken()), column)
assert dataset.only({"1", "2"}).head(1)[0] == dataset[0] == next(iter(dataset))
assert main(["check", path]) == 0
assert "pandas" not in sys.modules, "pandas"
"""


@given(st.lists(TEXTS))
def test_texts_come_back(texts: list[str]) -> None:
    array = text_array(texts)
    array.validate(full=True)
    assert array.type == pa.large_string()
    assert array.to_pylist() == texts


def test_half_a_character_is_no_text() -> None:
    with pytest.raises(UnicodeEncodeError):
        text_array(["a", "\ud800"])


@pytest.mark.parametrize("numbers", [[], [3, 1, 2]])
def test_numbers_come_back(numbers: list[int]) -> None:
    array = number_array(np.array(numbers, np.int64))
    assert array.to_pylist() == numbers
    assert to_numpy(array).tolist() == numbers


def test_every_second_number_is_no_other_number() -> None:
    assert number_array(np.arange(6)[::2]).to_pylist() == [0, 2, 4]


@pytest.mark.parametrize("chunks", [[], [[]], [[True, False], [True]]])
def test_truth_values_in_parts_become_one_array(chunks: list[list[bool]]) -> None:
    found = to_numpy(pa.chunked_array(chunks, pa.bool_()))
    assert found.dtype == np.bool_
    assert found.tolist() == [truth for chunk in chunks for truth in chunk]


def test_a_part_of_an_array_is_that_part() -> None:
    assert to_numpy(pa.array([True, False, True]).slice(1)).tolist() == [False, True]
    assert to_numpy(pa.array([1, 2, 3]).slice(1, 1)).tolist() == [2]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["tsv", "parquet"])
def test_a_dataset_is_loaded_searched_and_checked_without_pandas(
    demo_file: Callable[[str], Path], suffix: str
) -> None:
    subprocess.run([sys.executable, "-c", LOOK_AT, str(demo_file(suffix))], cwd=ROOT, check=True)
