"""Which words a search of a review list looks for."""

import re

import pytest

from engine.annotations.records import search_pattern


@pytest.mark.parametrize(
    ("search", "text", "found"),
    [
        ("a an", "an apple", ["an", "a"]),
        ("c++ (x)", "C++ and (X)", ["C++", "(X)"]),
        (".", "a.b", ["."]),
        ("ß", "STRAßE", ["ß"]),
    ],
)
def test_every_word_is_found_as_it_is(search: str, text: str, found: list[str]) -> None:
    assert re.findall(search_pattern(search), text, re.IGNORECASE) == found
    assert [search_pattern(other) for other in ("", "  ", "x" * 5000)] == ["", "", ""]  # none, and too many
