"""Explanations of the demo's world: what is written can be read back, and what argues otherwise is seen."""

from itertools import islice
from random import Random

import pytest

from engine.core.items import Preference
from models.demo.explanations import argued_label, explain
from models.demo.world import OVERALL, QUALITIES, World

CRITERIA = (*QUALITIES, OVERALL)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_an_explanation_argues_for_its_own_label_names_the_responses_and_varies(criterion: str) -> None:
    random, texts = Random(3), set[str]()
    for comparison in islice(World().comparisons(random, held_out=False), 400):
        text = explain(comparison, criterion, random)
        assert argued_label(criterion, text) is comparison.preferences[criterion], text
        assert "Response A" in text
        assert "Response B" in text
        texts.add(text)
    assert len(texts) > 30


@pytest.mark.parametrize(
    ("criterion", "text", "label"),
    [
        ("safety", "Response B is polite and harmless, while Response A insults the reader.", "B"),
        ("safety", "Response B is polite and harmless, while Response B insults the reader.", None),
        ("safety", "Response A sounds like a person, while Response B ends in empty noise.", None),
        ("naturalness", "Response A sounds like a person, while Response B ends in empty noise.", "A"),
        (OVERALL, "Response A is better.", None),
        ("truthfulness", "Both are right: Response A rightly says x, and Response B wrongly says y.", None),
        ("relevance", "", None),
    ],
)
def test_only_whole_sentences_of_the_grammar_argue(criterion: str, text: str, label: str | None) -> None:
    assert argued_label(criterion, text) == (None if label is None else Preference(label))
