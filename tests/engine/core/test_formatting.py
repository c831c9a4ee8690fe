"""Texts and numbers as people read them."""

import pytest

from engine.core.formatting import duration, visible


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


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "1 s"),
        (89, "89 s"),
        (150, "2 min"),
        (5390, "1 h 30 min"),
        (5340, "89 min"),
        (36_000, "10 h 0 min"),
    ],
)
def test_a_time_is_said_as_people_say_it(seconds: float, words: str) -> None:
    assert duration(seconds) == words
