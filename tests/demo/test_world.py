"""The demo's world: labels follow from what was switched on and off, wording is wide, nothing contradicts."""

from collections import Counter
from functools import cache
from itertools import islice
from random import Random

import pytest

from engine.core.items import PREFERENCES, Preference
from models.demo import wording, world
from models.demo.explanations import argued_label, explain
from models.demo.manners import FEW_WORDS, is_polite, manners
from models.demo.topics import all_topics

ALL_GOOD = dict.fromkeys(world.QUALITIES, True)


def drawn(count: int, held_out: bool = False) -> list[world.Comparison]:
    return list(islice(world.World().comparisons(Random(7), held_out), count))


@cache
def many() -> list[world.Comparison]:
    return drawn(1000)


@pytest.mark.parametrize(
    ("first", "second", "label"),
    [
        ([], [], "both_good"),
        (["naturalness"], [], "both_good"),
        (["truthfulness"], [], "B"),
        ([], ["truthfulness"], "A"),
        (["truthfulness"], ["naturalness"], "both_bad"),
        (["truthfulness"], ["truthfulness"], "both_bad"),
        (["relevance"], ["safety"], "both_bad"),
        (["relevance", "truthfulness"], ["safety"], "both_bad"),
        (["relevance", "truthfulness", "naturalness"], ["safety"], "B"),
        (["safety"], ["truthfulness"], "B"),
        (list(world.QUALITIES), list(world.QUALITIES), "both_bad"),
    ],
)
def test_overall_quality_follows_the_stated_weights(first: list[str], second: list[str], label: str) -> None:
    responses = [ALL_GOOD | dict.fromkeys(lacking, False) for lacking in (first, second)]
    assert world.overall_preference(responses[0], responses[1]) == label


def test_the_other_order_has_the_swapped_labels() -> None:
    for comparison in many()[:200]:
        swapped = world.Comparison(
            comparison.question,
            comparison.instruction,
            comparison.topic,
            first=comparison.second,
            second=comparison.first,
        )
        for criterion, label in comparison.preferences.items():
            assert swapped.preferences[criterion] is label.swapped


@pytest.mark.parametrize("criterion", [*world.QUALITIES, world.OVERALL])
def test_all_four_labels_are_frequent(criterion: str) -> None:
    counts = Counter(comparison.preferences[criterion] for comparison in many())
    assert min(counts[label] for label in PREFERENCES) > 100


def test_a_relevant_response_speaks_of_the_topic_and_another_does_not() -> None:
    for comparison in many()[:300]:
        for response in (comparison.first, comparison.second):
            assert (response.topic.name == comparison.topic.name) is response.good["relevance"]
            true = response.good["truthfulness"]
            claims = response.topic.true_claims if true else response.topic.false_claims
            assert response.told in {claim.told for claim in claims}


def test_the_text_shows_what_was_switched() -> None:
    insults = [f"{one} {other}" for one in wording.INSULT_ADJECTIVES for other in wording.INSULT_NOUNS]
    for comparison in many()[:500]:
        for response in (comparison.first, comparison.second):
            topic, text = response.topic, response.text
            counts = [
                text.count(claim.sentence[1:] + ".")
                for claim in (*topic.true_claims, *topic.false_claims)
                if claim.told == response.told
            ]
            assert max(counts) == (2 if response.unnatural is world.Unnatural.REPEATS else 1)
            assert (response.unnatural is None) is response.good["naturalness"]
            assert (response.harm is None) is response.good["safety"]
            announced = any(phrase in text for phrase in wording.ANNOUNCEMENTS)
            assert announced is (response.unnatural is world.Unnatural.ANNOUNCES)
            assert any(noise in text for noise in wording.BROKEN) is (
                response.unnatural is world.Unnatural.NOISE
            )
            assert any(insult in text for insult in insults) is (response.harm is world.Harm.INSULT)
            assert any(act in text for act in wording.DANGEROUS_ACTS) is (response.harm is world.Harm.DANGER)
            assert response.act in text


def test_no_claim_is_both_true_and_false() -> None:
    topics = all_topics().topics
    true = {claim.sentence for topic in topics for claim in topic.true_claims}
    false = {claim.sentence for topic in topics for claim in topic.false_claims}
    assert not true & false
    assert len({topic.name for topic in topics}) == len(topics)


def test_questions_belong_to_one_topic() -> None:
    asked = Counter(question for topic in all_topics().topics for question in set(topic.questions))
    assert [question for question, topics in asked.items() if topics > 1] == []


def test_wording_is_wide() -> None:
    questions = {question for topic in all_topics().topics for question in topic.questions}
    frames = (wording.REQUESTS, wording.OPENERS, wording.CLOSERS, wording.ANNOUNCEMENTS, wording.FORMS)
    harmful = (wording.BROKEN, wording.INSULT_FRAMES, wording.DANGER_FRAMES, wording.DANGEROUS_ACTS)
    assert len(questions) > 2000
    assert sum(map(len, (*frames, *harmful))) > 400
    texts = [comparison.first.text for comparison in many()]
    assert len(set(texts)) > 950


def test_about_a_tenth_of_the_questions_is_held_out() -> None:
    questions = [question for topic in all_topics().topics for question in topic.questions]
    share = sum(map(world.is_held_out, questions)) / len(questions)
    assert 0.08 < share < 0.12
    assert not any(world.is_held_out(comparison.question) for comparison in many()[:500])
    assert all(world.is_held_out(comparison.question) for comparison in drawn(100, held_out=True))


def test_the_same_seed_gives_the_same_items() -> None:
    first, second = ([one.item("1") for one in drawn(20)] for _ in range(2))
    assert first == second


CRITERIA = (*world.QUALITIES, world.OVERALL)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_an_explanation_argues_for_its_own_label_names_the_responses_and_varies(criterion: str) -> None:
    random, texts = Random(3), set[str]()
    for comparison in islice(world.World().comparisons(random, held_out=False), 400):
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
        (world.OVERALL, "Response A is better.", None),
        ("truthfulness", "Both are right: Response A rightly says x, and Response B wrongly says y.", None),
        ("relevance", "", None),
    ],
)
def test_only_whole_sentences_of_the_grammar_argue(criterion: str, text: str, label: str | None) -> None:
    assert argued_label(criterion, text) == (None if label is None else Preference(label))


# The second rubric of the demo's world: its labels are read out of the texts again


def insults(text: str) -> bool:
    return any(
        f"{word} {noun}" in text for word in wording.INSULT_ADJECTIVES for noun in wording.INSULT_NOUNS
    )


def test_polite_is_who_has_a_friendly_word_and_insults_nobody() -> None:
    for comparison in many()[:300]:
        text = comparison.first.text
        friendly = text.startswith(wording.OPENERS) or text.endswith(wording.CLOSERS)
        assert is_polite(comparison.first) is (friendly and not insults(text)), text


def test_brief_is_who_needs_far_fewer_words() -> None:
    for comparison in many()[:300]:
        first, second = (len(one.text.split()) for one in (comparison.first, comparison.second))
        label = manners(comparison)["brevity"]
        assert (label is Preference.A) is (first * 1.5 <= second)
        assert (label is Preference.B) is (second * 1.5 <= first)
        if label is Preference.BOTH_GOOD:
            assert first + second <= 2 * FEW_WORDS
        if label is Preference.BOTH_BAD:
            assert first + second > 2 * FEW_WORDS


def test_on_topic_is_who_speaks_of_what_was_asked() -> None:
    for comparison in many()[:300]:
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
    given = [manners(comparison)[criterion] for comparison in many()[:500]]
    assert min(given.count(label) for label in Preference) > 50
