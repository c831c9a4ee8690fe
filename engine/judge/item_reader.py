"""One item read by an open session: round after round of questions, in one order after the other.

Knows: the way from prompts to readings. Does not know: decisions, explanations, how items make a group.
"""

import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import TypeVar

from engine.core.events import JudgeEvent, Reports
from engine.core.items import Item, Order, Way
from engine.core.judgments import Explanation, RawAnswer, Reading, Shortening
from engine.core.ways.all_ways import reading_of
from engine.judge.group_watch import GroupWatch
from engine.judge.pace import Pace
from engine.llama.session import LlamaSession, Steps
from engine.llama.token_tree import BranchTokens, usable_prefix
from engine.prompt.rounds import Round, letters_round, tokens_read
from engine.prompt.sizes import SizedItem

Result = TypeVar("Result")
Judging = Generator[JudgeEvent, None, Result]
"""Work that tells several times a second how far it is."""


@dataclass
class ItemWork:
    """One item on its way."""

    position: int
    original: Item
    sized: SizedItem
    shortening: Shortening | None = None
    readings: dict[str, list[Reading]] = field(default_factory=dict)
    explanations: dict[str, Explanation] = field(default_factory=dict)
    seconds: float = 0.0
    tokens_read: int = 0
    tokens_generated: int = 0
    second: int = 0  # tokens of the order that is read only where it is needed
    expected: int = 0  # as many of them as were counted on


class ItemReader:
    """Reads items with one session, each in a slot of its own.

    `criteria`: in the order of the branches. `stem`: what the session holds of every prompt.
    """

    def __init__(
        self,
        session: LlamaSession,
        criteria: Sequence[str],
        stem: Sequence[int],
        watch: GroupWatch,
        pace: Pace,
    ) -> None:
        self._session = session
        self._criteria = criteria
        self._stem = stem
        self._watch = watch
        self._pace = pace

    def read(self, slot: int, work: ItemWork, order: Order, beside: int | None = None) -> Judging[None]:
        """Read an item in an order, in all ways; `beside`: the slot that holds the other one."""
        started, before = time.perf_counter(), self._session.tokens_read
        rounds = work.sized.rounds[order]
        steps = _Steps(work, before, self._tokens(work, order, rounds))
        yield from self._hold(slot, order, steps, beside)
        answers: dict[str, list[tuple[Way, RawAnswer]]] = {criterion: [] for criterion in self._criteria}
        for each in rounds:
            scores = yield from self._told(self._session.scoring(slot, each.tokens.branches), steps)
            for criterion, row in zip(self._criteria, scores.tolist(), strict=True):
                answers[criterion].append((each.way, RawAnswer(each.question, tuple(row))))
        for criterion, said in answers.items():
            for way, own in groupby(said, key=itemgetter(0)):
                reading = reading_of(way, order, [answer for _, answer in own])
                work.readings.setdefault(criterion, []).append(reading)
        self._count(work, started, before)

    def hold(self, slot: int, work: ItemWork, branches: Sequence[BranchTokens]) -> Judging[None]:
        """Read some branches of AB for texts that go on from there."""
        started, before = time.perf_counter(), self._session.tokens_read
        letters = letters_round(work.sized.tokens[Order.AB])
        steps = _Steps(work, before, self._tokens(work, Order.AB, [letters]))
        yield from self._hold(slot, Order.AB, steps)
        yield from self._told(self._session.scoring(slot, branches), steps)
        self._count(work, started, before)

    def _tokens(self, work: ItemWork, order: Order, rounds: Sequence[Round]) -> int:
        """What there is to read where the stem alone is held."""
        trunk = work.sized.tokens[order].trunk
        own = len(trunk) - usable_prefix(self._stem, trunk, self._session.keeps_state)
        return own + tokens_read(rounds, self._session.keeps_state)

    def _hold(self, slot: int, order: Order, steps: "_Steps", beside: int | None = None) -> Judging[None]:
        """Read what the branches of an item share."""
        sized = steps.work.sized
        yield from self._told(self._session.holding_common(sized.apart), steps)
        yield from self._told(self._session.reading_trunk(slot, sized.tokens[order].trunk, beside), steps)

    def _count(self, work: ItemWork, started: float, before: int) -> None:
        seconds, count = time.perf_counter() - started, self._session.tokens_read - before
        work.seconds += seconds
        work.tokens_read += count
        self._pace.read(count, seconds)

    def _told(self, steps: Steps[Result], of: "_Steps") -> Judging[Result]:
        """Do the steps of a reading and tell how far they are, before the first of them too."""
        place = (of.work.position, of.work.original.id, of.before, of.tokens)
        yield from self._watch.reading(*place)
        reports = Reports(steps)
        for _ in reports:
            yield from self._watch.tokens()
            yield from self._watch.reading(*place)
        return reports.result


@dataclass(frozen=True)
class _Steps:
    """What is told of steps: of which item, what the session had read before, and what there is to read."""

    work: ItemWork
    before: int
    tokens: int
