"""Four candidate models of known quality in the demo's world, and the comparisons of `demo-candidates.tsv`.

A candidate's response has each quality with a chance of its own, apart from the others: so how often one wins
against another can be worked out.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product
from math import prod
from random import Random

from engine.core.items import Preference
from models.demo.wording import REQUESTS
from models.demo.world import QUALITIES, Comparison, World, overall_preference

CANDIDATES: Mapping[str, Mapping[str, float]] = {
    name: dict(zip(QUALITIES, chances, strict=True))
    for name, chances in {
        "rowan": (0.96, 0.90, 0.92, 0.97),
        "hazel": (0.90, 0.65, 0.80, 0.92),
        "maple": (0.85, 0.80, 0.70, 0.80),
        "alder": (0.60, 0.50, 0.55, 0.75),
    }.items()
}
"""The chance (0 to 1) of each of QUALITIES, by name."""

QUESTIONS = 40
LABELLED = 60
_SEED = 2027


@dataclass(frozen=True)
class DemoContest:
    """Two candidates' responses to one instruction. `labelled`: whether its labels are in the file."""

    names: tuple[str, str]
    comparison: Comparison
    labelled: bool


def candidate_contests() -> Iterator[DemoContest]:
    """Each candidate answers each question once; pairs are round robin, in random order."""
    random, world = Random(_SEED), World()
    asked: dict[str, list[DemoContest]] = {}
    for topic, question in world.questions(random, held_out=True):
        if question in asked:
            continue
        instruction = random.choice(REQUESTS).format(question=question)
        answers = {
            name: world.response(random, topic, {each: random.random() < chances[each] for each in QUALITIES})
            for name, chances in CANDIDATES.items()
        }
        asked[question] = []
        for pair in combinations(CANDIDATES, 2):
            one, other = pair if random.random() < 0.5 else pair[::-1]
            comparison = Comparison(question, instruction, topic, answers[one], answers[other])
            asked[question].append(DemoContest((one, other), comparison, labelled=False))
        if len(asked) == QUESTIONS:
            break
    contests = [contest for found in asked.values() for contest in found]
    labelled = set(random.sample(range(len(contests)), LABELLED))
    for place, contest in enumerate(contests):
        yield DemoContest(contest.names, contest.comparison, place in labelled)


def true_win_rates() -> dict[str, float]:
    """The expected win rate of each candidate, 0 to 1; a tie counts half."""
    names = list(CANDIDATES)
    return {
        name: sum(_wins(name, other) for other in names if other != name) / (len(names) - 1) for name in names
    }


def _wins(name: str, other: str) -> float:
    worth = {Preference.A: 1.0, Preference.B: 0.0}
    return sum(
        chance * chance_of_other * worth.get(overall_preference(good, good_of_other), 0.5)
        for good, chance in _responses(name)
        for good_of_other, chance_of_other in _responses(other)
    )


def _responses(name: str) -> Iterator[tuple[dict[str, bool], float]]:
    """What a response of a candidate may have, each with its chance."""
    chances = CANDIDATES[name]
    for has in product((True, False), repeat=len(QUALITIES)):
        good = dict(zip(QUALITIES, has, strict=True))
        yield good, prod(chances[each] if good[each] else 1 - chances[each] for each in QUALITIES)
