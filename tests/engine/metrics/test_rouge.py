"""ROUGE-L is rouge-score's; the most typical text is the medoid."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.metrics.explanations import MOST_COMPARED, Typicality, rouge_l

WORDS = st.lists(st.sampled_from(["a", "B", "c-d", "4", "don't", "é"]), max_size=80).map(" ".join)


@pytest.mark.parametrize(
    ("candidate", "reference", "expected"),
    [
        ("the cat sat", "the cat sat", 1.0),
        ("the cat", "the dog sat on the cat", 0.5),  # P = 1, R = 2/6
        ("The CAT!", "the cat", 1.0),
        ("running", "run", 0.0),
        ("", "the cat", 0.0),
    ],
)
def test_rouge_l_without_stemming(candidate: str, reference: str, expected: float) -> None:
    assert rouge_l(candidate, reference) == pytest.approx(expected)


@given(one=WORDS | st.text(), other=WORDS | st.text())
def test_it_equals_that_of_rouge_score(one: str, other: str) -> None:
    from rouge_score.rouge_scorer import RougeScorer  # takes two seconds to load

    scorer = RougeScorer(["rougeL"], use_stemmer=False)
    assert rouge_l(one, other) == pytest.approx(scorer.score(other, one)["rougeL"].fmeasure)


def test_the_most_typical_text_is_the_one_most_like_the_others() -> None:
    texts = ["both are safe", "no harm in both", "both are safe and kind", "both are quite safe and kind"]
    assert Typicality(texts).most_typical(range(4)) == 2


def test_only_the_chosen_texts_count() -> None:
    texts = ["x y z", "a b c", "a b d", "a b e"]
    assert Typicality(texts).most_typical([0]) == 0
    assert Typicality(texts).most_typical([0, 2, 3]) == 2
    assert Typicality(texts).most_typical([]) is None


def test_many_texts_are_held_against_a_part_of_them() -> None:
    texts = ["odd one out"] * 3 + ["the usual words"] * (3 * MOST_COMPARED)
    found = Typicality(texts).most_typical(range(len(texts)))
    assert found is not None
    assert texts[found] == "the usual words"
