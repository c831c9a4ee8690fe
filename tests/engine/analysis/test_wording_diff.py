import random
from collections.abc import Sequence

import pytest

from engine.analysis import wording_diff as module
from engine.analysis.wording_diff import Span, wording_diff
from engine.core.events import Cancelled, CancelToken


def pieces(text: str, spans: Sequence[Span]) -> list[str]:
    return [text[start:end] for start, end in spans]


@pytest.mark.parametrize(
    ("a", "b", "shared_of_a", "own_a", "own_b"),
    [
        ("", "", [], [], []),
        ("", "Paris", [], [], ["Paris"]),
        ("Paris.", "  paris!", ["Paris"], [], []),
        ("It is Paris, France.", "It is Lyon, France.", ["It is", "France"], ["Paris"], ["Lyon"]),
        ("red green blue", "blue red green", ["red green"], ["blue"], ["blue"]),
        ("cats of Rome", "dogs of Oslo", [], ["cats of Rome"], ["dogs of Oslo"]),
        ("cats near Rome", "dogs near Oslo", ["near"], ["cats", "Rome"], ["dogs", "Oslo"]),
        ("No, it is", "No, he has", ["No"], ["it is"], ["he has"]),
        ("... !!", "?", [], [], []),
        ("我喜欢苹果", "我喜欢香蕉", ["我喜欢"], ["苹果"], ["香蕉"]),
        ("a long\n\nway home", "A long, way off", ["a long", "way"], ["home"], ["off"]),
    ],
)
def test_the_passages_of_two_texts(
    a: str, b: str, shared_of_a: list[str], own_a: list[str], own_b: list[str]
) -> None:
    diff = wording_diff(a, b)
    assert pieces(a, diff.a.shared) == shared_of_a
    assert pieces(a, diff.a.own) == own_a
    assert pieces(b, diff.b.own) == own_b
    assert (diff.share == 1, diff.share == 0) == (bool(shared_of_a) and not own_b, not shared_of_a)


def longest_common(a: Sequence[str], b: Sequence[str]) -> int:
    """The textbook table."""
    above = [0] * (len(b) + 1)
    for one in a:
        row = [0]
        for place, other in enumerate(b):
            row.append(above[place] + 1 if one == other else max(above[place + 1], row[-1]))
        above = row
    return above[-1]


@pytest.mark.parametrize("seed", range(30))
def test_as_many_words_as_possible_are_shared(seed: int) -> None:
    chance = random.Random(seed)
    a, b = (chance.choices(["alpha", "bravo", "gamma", "delta"], k=chance.randrange(40)) for _ in "ab")
    diff = wording_diff(" ".join(a), " ".join(b))
    shared = [pieces(" ".join(words), spans) for words, spans in ((a, diff.a.shared), (b, diff.b.shared))]
    assert shared[0] == shared[1]
    assert sum(len(piece.split()) for piece in shared[0]) == longest_common(a, b)


def test_words_that_repeat_without_end_do_not_make_it_slow() -> None:
    # difflib needs two minutes for a quarter of this.
    diff = wording_diff("first later " * 5000, "later other first " * 3333)
    assert diff.share > 0.4


def test_only_the_first_words_of_a_long_text_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WORDS", 3)
    a, b = "one two three four five", "one two three"
    diff = wording_diff(a, b)
    assert pieces(a, diff.a.shared) == ["one two three"]
    assert (diff.a.own, diff.a.compared) == ((), len("one two three "))
    assert diff.b.compared == len(b)


def test_a_comparison_can_be_cancelled() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        wording_diff("one", "two", token)
