"""Where a text repeats itself, and where it has said enough."""

import pytest

from engine.results.health import complete_length, repeats_a_sentence, without_half_sentence


@pytest.mark.parametrize(
    ("text", "repeats"),
    [
        ("It is natural. It is natural!", True),
        ("The answer is not a lie.\nThe answer is not a lie.", True),
        ("Response A is clear. Response B is clear.", False),
        ("Yes. Yes. Yes.", False),
        ("", False),
    ],
)
def test_repeated_sentences(text: str, repeats: bool) -> None:
    assert repeats_a_sentence(text) is repeats


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("A is polite. B is rude", None),
        ("A is polite. B is rude. A is", None),
        ("One is short. Two is long. Three is fine. Four", "One is short. Two is long. Three is fine."),
        ("It is very clear. It is very clear. It", "It is very clear."),
        ("It is very clear. It is very", None),  # it may become another one
        ("It is better than A. It is better than B. It", None),
        ("B names Paris, e.g. the city, i.e. the capital, vs. Rome, etc. and that is right", None),
        ("日本の首都は東京です。日本の首都は東京です。二", None),  # a sentence without spaces is one word
        ("1. A is good. 2. B is bad. 3. So A wins. It", "1. A is good. 2. B is bad. 3. So A wins."),
        ("It names St. Petersburg, the U.S. capital, and Dr. Who. So", None),
        ("", None),
    ],
)
def test_a_growing_text_ends_before_it_repeats_itself_or_says_too_much(text: str, kept: str | None) -> None:
    length = complete_length(text, most_sentences=3)
    assert (None if length is None else text[:length]) == kept


def test_of_a_text_that_has_ended_the_last_sentence_counts_too() -> None:
    text = "It is very clear. It is very clear."
    assert complete_length(text, 3) is None
    assert complete_length(text, 3, ended=True) == len("It is very clear.")
    assert complete_length("A is fine. B is not.", 3, ended=True) is None


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("A is fine. B is", "A is fine."),
        ("A is fine. B is not.", "A is fine. B is not."),
        ('A says "yes". B', 'A says "yes".'),
        ("A lives in St. Petersburg and", "A lives in St. Petersburg and"),
        ("", ""),
    ],
)
def test_a_cut_text_loses_its_half_sentence(text: str, kept: str) -> None:
    assert without_half_sentence(text) == kept
