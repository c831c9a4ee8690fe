"""All ways of asking: what a run asks by them, and what a model's answers to one or several of them say.

Knows: every way. Does not know: prompts, tokens, models, decisions, what is stored.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from engine.core.errors import SetupError
from engine.core.formatting import quoted
from engine.core.items import Order, Way
from engine.core.judgments import RawAnswer, Reading
from engine.core.rubric import PromptWording
from engine.core.ways.absolute import Absolute
from engine.core.ways.graded import Graded
from engine.core.ways.letters import Letters, Permuted, Thinking
from engine.core.ways.question import Question, WayOfAsking, among, of_mass

_ALL: tuple[WayOfAsking, ...] = (Thinking(), Graded(), Absolute(), Permuted(), Letters())
WAYS: Mapping[Way, WayOfAsking] = {way: each for way in Way for each in _ALL if each.way is way}


@dataclass(frozen=True)
class Asked:
    """One question of a way, as often as a run asks it: with the name by which its answer is stored."""

    way: Way
    name: str
    question: Question


def asked_by(ways: Collection[Way], wording: PromptWording, thoughts: int) -> tuple[Asked, ...]:
    """All that some ways ask of each criterion in each order, in the order in which it is read.

    What thinks comes first, for its prompts may begin otherwise; the letters last, for the explanations go on
    from there.
    """
    chosen = [each for each in _ALL if each.way in ways]
    return tuple(
        Asked(each.way, f"{question.name}{number or ''}", question)
        for each in chosen
        for question in each.questions(wording)
        for number in (range(1, thoughts + 1) if question.thinks else (0,))
    )


def parse_ways(text: str) -> tuple[Way, ...]:
    """`letters,absolute` as ways, in their usual order. SetupError for anything else."""
    names = [name.strip() for name in text.split(",")]
    unknown = [name for name in names if name not in tuple(Way)]
    if unknown or len(set(names)) < len(names):
        wrong = f"no way of asking is called {quoted(unknown[0])}" if unknown else "one is named twice"
        raise SetupError(
            f"Ways of asking: cannot read {quoted(text)}: {wrong}.",
            f"Write some of {', '.join(Way)}, with commas.",
        )
    return tuple(way for way in Way if way.value in names)


def reading_of(way: Way, order: Order, answers: Sequence[RawAnswer]) -> Reading:
    """A reading out of a way's answers, one for each of its questions, in their order."""
    labels = WAYS[way].label_log_probs(answers)
    kept = () if way is Way.LETTERS else tuple(answers)
    return Reading(order, labels, way, kept)


def together(readings: Sequence[Reading]) -> tuple[Reading, ...]:
    """For each order, in which they come, the mean of the ways' log-probabilities, each way normalised first;
    of a panel that of its judges' ways, without labels alone, which nobody read in an order.

    Readings of one way of one judge are given back as they are. What the labels hold together is the mean of
    what they held in each way.
    """
    read = [reading for reading in readings if not reading.label_alone]
    if len({(reading.judge, reading.way) for reading in read}) < 2:
        return tuple(read)
    by_order: dict[Order, list[Reading]] = {}
    for reading in read:
        by_order.setdefault(reading.order, []).append(reading)
    return tuple(_mean(order, own) for order, own in by_order.items())


def _mean(order: Order, readings: Sequence[Reading]) -> Reading:
    """Each judge of a panel counts alike, and of a judge each way."""
    said = [RawAnswer("", reading.log_probs) for reading in readings]
    by_judge: dict[int, list[list[float]]] = {}
    for reading, answer in zip(readings, said, strict=True):
        by_judge.setdefault(reading.judge, []).append(among(answer))
    alone = [[fmean(column) for column in zip(*own, strict=True)] for own in by_judge.values()]
    return Reading(order, of_mass([fmean(column) for column in zip(*alone, strict=True)], said))
