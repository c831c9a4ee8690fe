"""One item read by an open session: round after round of questions, in one order after the other.

Knows: the way from prompts to raw predictions. Does not know: decisions, explanations, how items make a
group.
"""

import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import TypeVar

from engine.core.events import JudgeEvent, Reports
from engine.core.items import Item, Method, Order, digest
from engine.core.judgments import AnswerLogProbs, Explanation, RawPrediction, Shortening
from engine.core.methods import Question, raw_prediction_of
from engine.judging.progress import GroupWatch, TimeEstimate
from engine.llama.session import Continuation, LlamaSession, Sampling, Steps
from engine.llama.tokens import BranchTokens, usable_prefix
from engine.prompt.sizes import PromptSizer, SizedItem
from engine.prompt.template import ChatTemplate
from engine.prompt.tokens import Round, after_what_fits, label_token_round, tokens_read

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
    raw_predictions: dict[str, list[RawPrediction]] = field(default_factory=dict)
    explanations: dict[str, Explanation] = field(default_factory=dict)
    seconds: float = 0.0
    tokens_read: int = 0
    tokens_generated: int = 0
    second: int = 0  # tokens of the order that is read only where it is needed
    expected: int = 0  # as many of them as were counted on


@dataclass
class _ItemProgress:
    """An item while it is read in an order: what the session had done before, and what was written meanwhile.

    `tokens`: what there is to read.
    """

    slot: int
    work: ItemWork
    order: Order
    tokens: int
    read_before: int
    written_before: int
    started: float
    trunk: tuple[int, ...] = ()
    seconds_thinking: float = 0.0


@dataclass(frozen=True)
class _Thought:
    """The reasoning of a model before an answer."""

    text: str = ""
    cut: bool = False


class ItemReader:
    """Reads items with one session, each in a slot of its own, as `sizer` makes their prompts.

    `watch`, `time_estimate`: told how far that is, and how fast it goes.
    """

    def __init__(
        self,
        session: LlamaSession,
        template: ChatTemplate,
        sizer: PromptSizer,
        watch: GroupWatch,
        time_estimate: TimeEstimate,
    ) -> None:
        self._session = session
        self._template = template
        self._sizer = sizer
        self._criteria = sizer.rubric.names
        self._watch = watch
        self._time_estimate = time_estimate

    def read(self, slot: int, work: ItemWork, order: Order, beside: int | None = None) -> Judging[None]:
        """Read an item in an order, in all methods; `beside`: the slot that holds the other one."""
        rounds = work.sized.rounds[order]
        reading = self._begun(slot, work, order, rounds)
        answers: dict[str, list[tuple[Method, AnswerLogProbs]]] = {
            criterion: [] for criterion in self._criteria
        }
        for each in rounds:
            yield from self._hold(reading, each.tokens.trunk, beside)
            branches: Sequence[BranchTokens] = each.tokens.branches
            reasoning_samples = [_Thought()] * len(branches)
            if each.thought_for is not None:
                written = yield from self._think(reading, each)
                reasoning_samples, branches = self._after(reading, each, each.thought_for, written)
            scores = yield from self._told(self._session.scoring(slot, branches, goes_on=True), reading)
            for criterion, row, thought in zip(
                self._criteria, scores.tolist(), reasoning_samples, strict=True
            ):
                answer = AnswerLogProbs(each.question, tuple(row), thought.text, thought.cut)
                answers[criterion].append((each.method, answer))
        for criterion, said in answers.items():
            for method, own in groupby(said, key=itemgetter(0)):
                made = raw_prediction_of(method, order, [answer for _, answer in own])
                work.raw_predictions.setdefault(criterion, []).append(made)
        self._ended(reading)

    def hold(self, slot: int, work: ItemWork, branches: Sequence[BranchTokens]) -> Judging[None]:
        """Read some branches of AB for texts that continue from there."""
        letters = work.sized.tokens[Order.AB]
        reading = self._begun(slot, work, Order.AB, [label_token_round(letters)])
        yield from self._hold(reading, letters.trunk)
        yield from self._told(self._session.scoring(slot, branches), reading)
        self._ended(reading)

    def _begun(self, slot: int, work: ItemWork, order: Order, rounds: Sequence[Round]) -> _ItemProgress:
        keeps_state, trunk = self._session.keeps_state, rounds[0].tokens.trunk
        own = len(trunk) - usable_prefix(self._sizer.stem, trunk, keeps_state)
        return _ItemProgress(
            slot=slot,
            work=work,
            order=order,
            tokens=own + tokens_read(rounds, keeps_state).total(),
            read_before=self._session.tokens_read,
            written_before=self._session.tokens_generated,
            started=time.perf_counter(),
        )

    def _ended(self, reading: _ItemProgress) -> None:
        """Count what was done."""
        seconds, work = time.perf_counter() - reading.started, reading.work
        count = self._session.tokens_read - reading.read_before
        work.seconds += seconds
        work.tokens_read += count
        work.tokens_generated += self._session.tokens_generated - reading.written_before
        self._time_estimate.read(count, seconds - reading.seconds_thinking)

    def _hold(
        self, reading: _ItemProgress, trunk: tuple[int, ...], beside: int | None = None
    ) -> Judging[None]:
        """Read what the branches of a round share, unless just that is held."""
        if trunk == reading.trunk:
            return
        reading.trunk = trunk
        yield from self._told(self._session.holding_common(reading.work.sized.apart), reading)
        yield from self._told(self._session.reading_trunk(reading.slot, trunk, beside), reading)

    def _think(self, reading: _ItemProgress, each: Round) -> Judging[list[_Thought]]:
        """Write reasoning after each prompt of a round, all of them together."""
        started, before = time.perf_counter(), self._session.tokens_generated
        key = (self._sizer.settings.seed, reading.work.original.content_hash)
        of_thought = (reading.order, Method.CHAIN_OF_THOUGHT, each.question)
        continuations = [
            Continuation(reading.slot, branch, tokens.prompt, seed_of(*key, criterion, *of_thought))
            for branch, (criterion, tokens) in enumerate(
                zip(self._criteria, each.tokens.branches, strict=True)
            )
        ]
        written = yield from self._told(self._session.writing(continuations, self._sampling), reading)
        seconds = time.perf_counter() - started
        reading.seconds_thinking += seconds
        self._time_estimate.wrote(self._session.tokens_generated - before, len(written), seconds)
        self._watch.thought(len(written))
        # A text that was cut may end within a character.
        texts = (each.data.decode("utf-8", "ignore" if each.cut else "replace") for each in written)
        return [_Thought(text.strip(), each.cut) for text, each in zip(texts, written, strict=True)]

    @cached_property
    def _sampling(self) -> Sampling:
        """How reasoning samples are written: to the mark that closes them, which may begin with a control
        token.
        """
        settings, thinking = self._sizer.settings, self._template.thinking
        mark = thinking.frame.pieces[-2].strip() if thinking else ""
        special = self._session.vocabulary.special_tokens
        ends = {token.id for token in special if token.control and mark.startswith(token.text)}
        return Sampling(
            settings.max_reasoning_tokens,
            settings.reasoning_temperature,
            complete=_place_of(mark),
            lines=False,
            ends=frozenset(ends),
        )

    def _after(
        self,
        reading: _ItemProgress,
        each: Round,
        question: Question,
        reasoning_samples: Sequence[_Thought],
    ) -> tuple[list[_Thought], list[BranchTokens]]:
        """The reasoning samples as far as there is room for them, and the branches after them."""
        tree, kept, branches = reading.work.sized.trees[reading.order], [], []
        for place, (thought, tokens) in enumerate(zip(reasoning_samples, each.tokens.branches, strict=True)):
            most = len(tokens.prompt) + self._sizer.thought_cells
            text, answered = after_what_fits(tree, place, question, thought.text, self._template, most=most)
            kept.append(_Thought(text, thought.cut or text != thought.text))
            branches.append(answered)
        return kept, branches

    def _told(self, steps: Steps[Result], of: _ItemProgress) -> Judging[Result]:
        """Do the steps of a raw prediction and tell how far they are, before the first of them too."""
        place = (of.work.position, of.work.original.id, of.read_before, of.tokens)
        yield from self._watch.reading(*place)
        reports = Reports(steps)
        for _ in reports:
            yield from self._watch.tokens()
            yield from self._watch.reading(*place)
        return reports.result


def seed_of(*key: object) -> int:
    """The seed of a text: each has its own, so that it does not depend on what else is written with it."""
    return int(digest(list(key))[:15], 16)


def _place_of(mark: str) -> Callable[[str], int | None]:
    """Finds where a growing text ends: where the mark begins."""

    def place(text: str) -> int | None:
        found = text.find(mark)
        return found if found >= 0 else None

    return place
