"""All that the demo's world talks about: topics with questions, true claims and false ones."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from models.demo.advice import (
    ADVICE,
    ADVICE_QUESTIONS,
    ADVICE_STATEMENTS,
    HOW_TO,
    HOW_TO_QUESTIONS,
    HOW_TO_STATEMENTS,
    AdviceTopic,
)
from models.demo.facts import FACTS, FactTable

_ADDENDS = range(2, 10)
_FACTORS = range(2, 7)
_FALSE_SUM_OFFSETS = (-10, -3, -2, -1, 1, 2, 3, 10)
_SUM_QUESTIONS = (
    "What is {sum}?",
    "How much is {sum}?",
    "Work out {sum}.",
    "What do I get for {sum}?",
    "Can you calculate {sum}?",
    "Which number is {sum}?",
    "Give me the result of {sum}.",
    "What does {sum} make?",
)
_SUM_STATEMENTS = (
    "{sum} is {result}",
    "{sum} makes {result}",
    "{sum} equals {result}",
    "the result of {sum} is {result}",
)


@dataclass(frozen=True)
class Claim:
    """What a response holds: as a `sentence` without full stop, and `told` as what the response does."""

    sentence: str
    told: str


@dataclass(frozen=True)
class Topic:
    """Something to ask about. `family`: topics of one family are easily taken for each other."""

    family: str
    name: str
    questions: tuple[str, ...]
    true_claims: tuple[Claim, ...]
    false_claims: tuple[Claim, ...]

    def claim(self, random: Random, true: bool) -> Claim:
        """Any of the claims that are true, or false."""
        return random.choice(self.true_claims if true else self.false_claims)


@dataclass(frozen=True)
class TopicPool:
    """Topics by family, each kind drawn with a weight of its own."""

    kinds: tuple[tuple[float, tuple[tuple[Topic, ...], ...]], ...]

    @property
    def topics(self) -> tuple[Topic, ...]:
        """All topics."""
        return tuple(topic for _, families in self.kinds for family in families for topic in family)

    def draw(self, random: Random) -> Topic:
        """A topic: first its kind, then its family."""
        (kind,) = random.choices(self.kinds, [weight for weight, _ in self.kinds])
        return random.choice(random.choice(kind[1]))

    def draw_other(self, random: Random, topic: Topic) -> Topic:
        """Another topic, of the same family as often as not."""
        while True:
            other = random.choice(self._family(topic)) if random.random() < 0.5 else self.draw(random)
            if other.name != topic.name:
                return other

    def _family(self, topic: Topic) -> tuple[Topic, ...]:
        return next(
            family for _, families in self.kinds for family in families if family[0].family == topic.family
        )


def all_topics() -> TopicPool:
    """The whole world."""
    facts = tuple(tuple(_fact_topics(number, table)) for number, table in enumerate(FACTS))
    advice = tuple(_advice_topic("advice", topic, ADVICE_QUESTIONS, ADVICE_STATEMENTS) for topic in ADVICE)
    how_to = tuple(_advice_topic("how-to", topic, HOW_TO_QUESTIONS, HOW_TO_STATEMENTS) for topic in HOW_TO)
    return TopicPool(
        ((0.5, facts), (0.14, (tuple(_sums()),)), (0.21, (advice,)), (0.15, (how_to,))),
    )


def _fact_topics(number: int, table: FactTable) -> Iterator[Topic]:
    answers = sorted(set(table.answers.values()))
    for subject, right in table.answers.items():
        yield Topic(
            family=f"facts {number}",
            name=table.topic.format(subject=subject),
            questions=tuple(question.format(subject=subject) for question in table.questions),
            true_claims=tuple(_said(table.statements, subject=subject, answer=right)),
            false_claims=tuple(
                claim
                for answer in answers
                if answer != right
                for claim in _said(table.statements, subject=subject, answer=answer)
            ),
        )


def _sums() -> Iterator[Topic]:
    for first in _ADDENDS:
        for second in _ADDENDS:
            yield _sum_topic(f"{first} plus {second}", first + second)
    for first in _FACTORS:
        for second in _FACTORS:
            yield _sum_topic(f"{first} times {second}", first * second)


def _sum_topic(text: str, result: int) -> Topic:
    wrong = [result + offset for offset in _FALSE_SUM_OFFSETS if result + offset > 0]
    return Topic(
        family="sums",
        name=text,
        questions=tuple(question.format(sum=text) for question in _SUM_QUESTIONS),
        true_claims=tuple(_said(_SUM_STATEMENTS, sum=text, result=result)),
        false_claims=tuple(
            claim for number in wrong for claim in _said(_SUM_STATEMENTS, sum=text, result=number)
        ),
    )


def _advice_topic(
    family: str, advice: AdviceTopic, questions: tuple[str, ...], statements: tuple[str, ...]
) -> Topic:
    def claims(tips: tuple[str, ...]) -> tuple[Claim, ...]:
        return tuple(
            Claim(statement.format(topic=advice.topic, tip=tip), f"advises to {tip}")
            for tip in tips
            for statement in statements
        )

    return Topic(
        family=family,
        name=advice.topic,
        questions=tuple(question.format(topic=advice.topic) for question in questions),
        true_claims=claims(advice.sound),
        false_claims=claims(advice.wrong),
    )


def _said(statements: tuple[str, ...], **slots: object) -> Iterator[Claim]:
    for statement in statements:
        sentence = statement.format(**slots)
        yield Claim(sentence, f"says that {sentence}")
