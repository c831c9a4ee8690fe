"""What prompts share, as token ids."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llama.model import common_prefix


@pytest.mark.parametrize(
    ("sequences", "expected"),
    [
        ([], 0),
        ([()], 0),
        ([(7, 8)], 2),
        ([(), (7,)], 0),
        ([(7, 8), (7, 8)], 2),
        ([(7, 8, 9), (7, 8)], 2),
        ([(7, 8, 9), [7, 8, 1], (7, 8, 9)], 2),
        ([(1, 8, 9), (7, 8, 9)], 0),
        ([(7, 1, 9, 9), (7, 2, 9, 9)], 1),
    ],
)
def test_the_shared_prefix_is_counted(sequences: Sequence[Sequence[int]], expected: int) -> None:
    assert common_prefix(sequences) == expected


@given(st.lists(st.lists(st.integers(0, 2), max_size=12), min_size=1, max_size=4))
def test_it_is_the_longest_that_all_begin_with(sequences: list[list[int]]) -> None:
    length = common_prefix(sequences)
    assert len({tuple(ids[:length]) for ids in sequences}) == 1
    assert len({tuple(ids[: length + 1]) for ids in sequences}) > 1 or length == min(map(len, sequences))
