"""The demo's world: instructions, pairs of responses with qualities switched on and off, and their labels.

Each response is good or bad on four qualities, apart from each other: relevance (it speaks of what was
asked), truthfulness (its claim is true), naturalness (it reads like a person) and safety (it neither harms
nor insults). Labels follow from that; overall quality from the weighted judge with WEIGHTS and TIE_THRESHOLD.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from random import Random

from engine.core.items import Gold, Item, Preference
from engine.ranking.weighted_judge import pairwise_preference_judge
from models.demo.topics import Topic, all_topics
from models.demo.wording import (
    ANNOUNCEMENTS,
    BROKEN,
    CLOSERS,
    DANGER_FRAMES,
    DANGEROUS_ACTS,
    FORMS,
    INSULT_ADJECTIVES,
    INSULT_FRAMES,
    INSULT_NOUNS,
    OPENERS,
    REQUESTS,
)

QUALITIES = ("relevance", "naturalness", "truthfulness", "safety")
OVERALL = "overall_quality"
# In tenths of a point for a response that has the quality.
WEIGHTS = {"safety": 4.0, "relevance": 3.0, "truthfulness": 2.0, "naturalness": 1.0}
TIE_THRESHOLD = 0.1
GOOD_ENOUGH = 0.85
"""Of 1: tied responses are both good where neither lacks more than naturalness, else both bad."""

_LABEL_SHARES = {
    Preference.A: 0.27,
    Preference.B: 0.27,
    Preference.BOTH_GOOD: 0.26,
    Preference.BOTH_BAD: 0.2,
}
_HELD_OUT_SHARE = 10  # one question in so many is never trained on


class Unnatural(StrEnum):
    """In which way a response is machine-like."""

    ANNOUNCES = "announces"
    FORM = "form"
    NOISE = "noise"
    REPEATS = "repeats"


class Harm(StrEnum):
    """In which way a response is unsafe."""

    INSULT = "insult"
    DANGER = "danger"


@dataclass(frozen=True)
class Response:
    """One response and why it is as it is. `act`: the dangerous act it urges, where it does. `friendly`:
    whether it opens or closes with a friendly word.
    """

    text: str
    topic: Topic
    told: str
    good: Mapping[str, bool]
    unnatural: Unnatural | None = None
    harm: Harm | None = None
    act: str = ""
    friendly: bool = False


@dataclass(frozen=True)
class Comparison:
    """An instruction on a topic with two responses, in the order in which they are shown."""

    question: str
    instruction: str
    topic: Topic
    first: Response
    second: Response

    @cached_property
    def preferences(self) -> Mapping[str, Preference]:
        """The label of every criterion."""
        labels = {
            quality: preference(self.first.good[quality], self.second.good[quality]) for quality in QUALITIES
        }
        return {**labels, OVERALL: overall_preference(self.first.good, self.second.good)}

    def item(self, item_id: str, explanations: Mapping[str, str] | None = None) -> Item:
        """The comparison as a labelled item."""
        gold = {
            criterion: Gold(preference, explanations[criterion] if explanations else None)
            for criterion, preference in self.preferences.items()
        }
        return Item(item_id, self.instruction, self.first.text, self.second.text, gold)


class World:
    """An endless supply of comparisons."""

    def __init__(self) -> None:
        self.topics = all_topics()

    def comparisons(self, random: Random, held_out: bool) -> Iterator[Comparison]:
        """Comparisons whose questions are all held out from training, or all not."""
        for topic, question in self.questions(random, held_out):
            yield self._comparison(random, topic, question)

    def questions(self, random: Random, held_out: bool) -> Iterator[tuple[Topic, str]]:
        """Topics with a question each, the same ones now and then; all held out from training, or all not."""
        while True:
            topic = self.topics.draw(random)
            question = random.choice(topic.questions)
            if is_held_out(question) is held_out:
                yield topic, question

    def _comparison(self, random: Random, topic: Topic, question: str) -> Comparison:
        first_good, second_good = _draw_qualities(random)
        return Comparison(
            question=question,
            instruction=random.choice(REQUESTS).format(question=question),
            topic=topic,
            first=self.response(random, topic, first_good),
            second=self.response(random, topic, second_good),
        )

    def response(self, random: Random, asked: Topic, good: Mapping[str, bool]) -> Response:
        """A response to a question on a topic that has some of QUALITIES and lacks the others."""
        topic = asked if good["relevance"] else self.topics.draw_other(random, asked)
        claim = topic.claim(random, good["truthfulness"])
        sentence = f"{claim.sentence[0].upper()}{claim.sentence[1:]}."
        harm, harmful, act = (None, "", "") if good["safety"] else _harm(random)
        unnatural = None if good["naturalness"] else random.choice(list(Unnatural))
        text, friendly = _announcements(random, sentence, harmful, unnatural)
        return Response(
            text=text,
            topic=topic,
            told=claim.told,
            good=good,
            unnatural=unnatural,
            harm=harm,
            act=act,
            friendly=friendly,
        )


def is_held_out(question: str) -> bool:
    """Whether a question, whatever stands around it, is kept for testing."""
    return hashlib.sha256(question.encode("utf-8")).digest()[0] % _HELD_OUT_SHARE == 0


def overall_preference(first: Mapping[str, bool], second: Mapping[str, bool]) -> Preference:
    """The label of overall quality: the weighted judge on what each response has, ties by their mean."""
    scores = [{quality: float(good[quality]) for quality in QUALITIES} for good in (first, second)]
    comparison = {"id": "", "scores_a": scores[0], "scores_b": scores[1]}
    winner = pairwise_preference_judge([comparison], WEIGHTS, TIE_THRESHOLD)["results"][0]["winner"]
    if winner != "tie":
        return Preference(winner)
    total = sum(WEIGHTS[quality] * (scores[0][quality] + scores[1][quality]) for quality in QUALITIES)
    good = total / 2 / sum(WEIGHTS.values()) > GOOD_ENOUGH
    return Preference.BOTH_GOOD if good else Preference.BOTH_BAD


def share_of_weight(good: Mapping[str, bool]) -> float:
    """The weights of the qualities that a response has, of 1."""
    return sum(WEIGHTS[quality] for quality in QUALITIES if good[quality]) / sum(WEIGHTS.values())


def preference(first: bool, second: bool) -> Preference:
    """The label where the responses are good or bad, each by itself."""
    if first is second:
        return Preference.BOTH_GOOD if first else Preference.BOTH_BAD
    return Preference.A if first else Preference.B


def _draw_qualities(random: Random) -> tuple[dict[str, bool], dict[str, bool]]:
    """What each response has, such that all labels of overall quality occur often."""
    labels, shares = list(_LABEL_SHARES), list(_LABEL_SHARES.values())
    (wanted,) = random.choices(labels, shares)
    while True:
        drawn = dict(zip(QUALITIES, random.choices(labels, shares, k=len(QUALITIES)), strict=True))
        good = (Preference.A, Preference.BOTH_GOOD), (Preference.B, Preference.BOTH_GOOD)
        first, second = ({name: label in wins for name, label in drawn.items()} for wins in good)
        if overall_preference(first, second) is wanted:
            return first, second


def _harm(random: Random) -> tuple[Harm, str, str]:
    """A kind of harm, its sentence and the act it urges."""
    if random.random() < 0.5:
        insult = f"a {random.choice(INSULT_ADJECTIVES)} {random.choice(INSULT_NOUNS)}"
        return Harm.INSULT, random.choice(INSULT_FRAMES).format(insult=insult), ""
    act = random.choice(DANGEROUS_ACTS)
    return Harm.DANGER, random.choice(DANGER_FRAMES).format(act=act), act


def _announcements(
    random: Random, sentence: str, harmful: str, unnatural: Unnatural | None
) -> tuple[str, bool]:
    """The response's text: its claim, with or without harm, as a person or a machine would put it; whether it
    opens or closes with a friendly word.
    """
    if unnatural is Unnatural.REPEATS:
        sentence = f"{sentence} {sentence}"
    parts = [sentence, harmful] if random.random() < 0.7 else [harmful, sentence]
    text = " ".join(part for part in parts if part)
    if unnatural is Unnatural.FORM:
        text = random.choice(FORMS).format(text=text)
    elif unnatural is Unnatural.NOISE:
        text = f"{text} {random.choice(BROKEN)}"
    opens = False
    if unnatural is Unnatural.ANNOUNCES:
        text = f"{random.choice(ANNOUNCEMENTS)} {text}"
    elif opens := random.random() < 0.4:
        text = f"{random.choice(OPENERS)} {text}"
    if closes := random.random() < 0.3:
        text = f"{text} {random.choice(CLOSERS)}"
    return text, opens or closes
