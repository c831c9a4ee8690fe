"""What is nearest neighbours: rare words count more than frequent ones, and equals have a fixed order."""

import subprocess
import sys

import pytest

from engine.prompt.examples import WordLikeness
from tests.commands import ROOT

TEXTS = [
    "how do i bake a cake",
    "how do i write a poem",
    "how do i bake bread with little salt",
    "why is the sea salt",
    "how do i bake a cake",
]


@pytest.mark.parametrize(
    ("text", "count", "expected"),
    [
        ("bake a cake", 2, [0, 4]),
        ("a poem", 1, [1]),
        ("salt", 2, [3, 2]),
        ("salt of the sea", 9, [3, 2, 0, 1, 4]),
        ("xylophone", 3, [0, 1, 2]),
        ("", 2, [0, 1]),
    ],
    ids=["equals in their order", "one", "shorter", "all", "no word in common", "nothing"],
)
def test_the_nearest_come_first(text: str, count: int, expected: list[int]) -> None:
    assert WordLikeness(TEXTS).nearest(text, count) == expected


@pytest.mark.parametrize(
    ("texts", "text"),
    [
        (["日本の首都はどこですか", "猫はなぜ水が嫌いですか"], "猫の水"),
        (["Γιατί η θάλασσα;", "Πώς ψήνω ψωμί;"], "ψωμί"),
        (["Is it 1990 or x?", "Is it 2000 or y?"], "2000 y"),
    ],
    ids=["without spaces", "Greek", "numbers and single letters"],
)
def test_words_are_found_in_other_scripts(texts: list[str], text: str) -> None:
    assert WordLikeness(texts).nearest(text, 1) == [1]


def test_texts_without_a_word_are_all_alike() -> None:
    assert WordLikeness(["?!", "", "..."]).nearest("?!", 2) == [0, 1]


@pytest.mark.slow
def test_only_who_asks_loads_scikit_learn() -> None:
    code = "import sys, engine.prompt.examples, engine.judging.prepare; print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
