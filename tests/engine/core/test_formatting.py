"""Texts and numbers as people read them."""

import pytest

from engine.core.formatting import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 汉字 👩‍👩‍👧 \t\n", "plain é 汉字 👩‍👩‍👧 \t\n"),
        ("a\r\nb\rc", "a\nb\\rc"),
        ("\x00\x1b\x7f\x85", "\\x00\\x1b\\x7f\\x85"),
        ("\u202e\u2066\u200f", "\\u202e\\u2066\\u200f"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_is_invisible_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown
