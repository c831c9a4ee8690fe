"""Ids that pandas gives back otherwise."""

import pytest

from engine.data.submission import rewritten_ids


@pytest.mark.parametrize(
    ("ids", "rewritten"),
    [
        (["007", "8", "1.0"], ["007", "8"]),
        (["007", "8", "x"], []),
        (["007", "8", "NA"], ["007"]),
        (["true", "False"], ["true"]),
        ([" ", "x"], []),
        ([], []),
        (["NA", "x\ud800"], []),
    ],
)
def test_ids_that_plain_pandas_gives_back_otherwise_are_known(ids: list[str], rewritten: list[str]) -> None:
    assert rewritten_ids(ids) == rewritten


def test_a_long_column_of_ids_is_read_as_one() -> None:
    assert rewritten_ids(["007", *map(str, range(300_000)), "x"]) == []
