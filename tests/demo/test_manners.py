"""The second rubric of the demo's world: its labels are read out of the texts again."""

from functools import cache
from itertools import islice
from random import Random

import pytest

from engine.core.items import Preference
from models.demo import wording
from models.demo.manners import FEW_WORDS, is_polite, manners
from models.demo.world import Comparison, World


@cache
def many() -> list[Comparison]:
    return list(islice(World().comparisons(Random(13), held_out=False), 500))


def drawn(count: int) -> list[Comparison]:
    return many()[:count]


def insults(text: str) -> bool:
    return any(
        f"{word} {noun}" in text for word in wording.INSULT_ADJECTIVES for noun in wording.INSULT_NOUNS
    )


def test_polite_is_who_has_a_friendly_word_and_insults_nobody() -> None:
    for comparison in drawn(300):
        text = comparison.first.text
        friendly = text.startswith(wording.OPENERS) or text.endswith(wording.CLOSERS)
        assert is_polite(comparison.first) is (friendly and not insults(text)), text


def test_brief_is_who_needs_far_fewer_words() -> None:
    for comparison in drawn(300):
        first, second = (len(one.text.split()) for one in (comparison.first, comparison.second))
        label = manners(comparison)["brevity"]
        assert (label is Preference.A) is (first * 1.5 <= second)
        assert (label is Preference.B) is (second * 1.5 <= first)
        if label is Preference.BOTH_GOOD:
            assert first + second <= 2 * FEW_WORDS
        if label is Preference.BOTH_BAD:
            assert first + second > 2 * FEW_WORDS


def test_on_topic_is_who_speaks_of_what_was_asked() -> None:
    for comparison in drawn(300):
        first, second = (one.topic == comparison.topic for one in (comparison.first, comparison.second))
        expected = {
            (True, True): "both_good",
            (True, False): "A",
            (False, True): "B",
            (False, False): "both_bad",
        }
        assert manners(comparison)["on_topic"] == expected[first, second]


@pytest.mark.parametrize("criterion", ["politeness", "brevity", "on_topic"])
def test_all_labels_occur_often(criterion: str) -> None:
    given = [manners(comparison)[criterion] for comparison in drawn(500)]
    assert min(given.count(label) for label in Preference) > 50
