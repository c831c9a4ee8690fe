"""A generated explanation as one honest line of text."""

import pytest

from engine.judging.item_judge import tidy


@pytest.mark.parametrize(
    ("data", "cut", "expected"),
    [
        (b" Response A is kind.", False, "Response A is kind."),
        (b" Two\r lines\tand\x00 a NUL.", False, "Two lines and a NUL."),
        (b" First sentence. Second sent", True, "First sentence."),
        (b" No sentence ends he", True, "No sentence ends he"),
        (b" Is it? Yes! And mor", True, "Is it? Yes!"),
        (b" Version 2.5 is bett", True, "Version 2.5 is bett"),
        ("caf\u00e9".encode()[:-1], True, "caf"),
        (b"caf\xc3 good", False, "caf\ufffd good"),
        ("\u2028 line separator".encode(), False, "line separator"),
        (b"  ", False, ""),
        (b" None", False, ""),
        (b" 7", False, ""),
        (b" None of them is wrong.", False, "None of them is wrong."),
    ],
)
def test_tidy(data: bytes, cut: bool, expected: str) -> None:
    assert tidy(data, cut) == expected
