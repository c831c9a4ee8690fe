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


@pytest.mark.parametrize("search", ["", "  ", "x" * 5000])
def test_without_a_word_or_with_too_many_nothing_is_looked_for(search: str) -> None:
    assert search_pattern(search) == ""
