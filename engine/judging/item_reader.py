"""One item read by an open session: round after round of questions, in one order after the other. Meanwhile
it tells how far the group of items is, and measures how fast the model reads and writes.
"""

import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import TypeVar

import numpy as np

from engine.core.events import GroupUnderWay, JudgeEvent, Reports, TokensEvaluated
from engine.core.items import Item, Method, Order, digest
from engine.core.judgments import AnswerLogProbs, Explanation, RawPrediction, Shortening
from engine.core.methods import Question, raw_prediction_of
from engine.core.numeric import FloatArray
from engine.llama.model import BranchTokens, usable_prefix
from engine.llama.session import Continuation, LlamaSession, Sampling, Steps
from engine.prompt.template import ChatTemplate
from engine.prompt.tokens import PromptSizer, Round, SizedItem, after_what_fits, tokens_read

_LEAST_ITEMS = 4  # what fewer tell of the rest was up to 42 % off
_DEFAULT_LENGTH = 0.5  # of the longest explanation, before one is written


@dataclass
class TimeEstimate:
    """What was done since a session was opened, with the seconds that it took."""

    tokens_read: int = 0
    seconds_reading: float = 0.0
    tokens_written: int = 0
    seconds_writing: float = 0.0
    texts: int = 0
    items: int = 0  # that fit the context
    letters: int = 0  # in their texts
    tokens_of_items: int = 0
    first_orders: int = 0  # items of which one order could do
    second_orders: int = 0  # those of them read in both

    def read(self, tokens: int, seconds: float) -> None:
        self.tokens_read += tokens
        self.seconds_reading += seconds

    def wrote(self, tokens: int, texts: int, seconds: float) -> None:
        """Take in texts that were written together; what was read to begin them is part of it."""
        self.tokens_written += tokens
        self.texts += texts
        self.seconds_writing += seconds

    def sized(self, item: Item, tokens: int) -> None:
        self.items += 1
        self.letters += item.letters
        self.tokens_of_items += tokens

    def decided(self, second: int | None) -> None:
        """Take in whether one order was enough; else how many tokens there are to read in the other."""
        self.first_orders += 1
        if second is not None:
            self.second_orders += 1
            self.tokens_of_items += second

    @property
    def share_of_second_orders(self) -> float:
        return self.second_orders / self.first_orders if self.first_orders else 1.0

    @property
    def seconds_per_token_read(self) -> float | None:
        return self.seconds_reading / self.tokens_read if self.tokens_read else None

    @property
    def seconds_per_text(self) -> float | None:
        return self.seconds_writing / self.texts if self.texts else None

    def tokens_per_text(self, longest: int) -> float:
        return self.tokens_written / self.texts if self.texts else _DEFAULT_LENGTH * longest


class Remaining:
    """How long the items of a run take that come after a group, in proportion to their letters."""

    def __init__(self, letters_of_items: FloatArray, groups: Sequence[int], fixed: int, texts: int) -> None:
        """`letters_of_items`: shape (items,), those that are left, in the order of the run. `groups`: how
        many of them each group has. `fixed`: tokens that are read for an item without a letter. `texts`:
        explanations of each item.
        """
        self._ends = np.cumsum(groups)
        self._letters = np.concatenate([[0.0], np.cumsum(letters_of_items)])
        self._fixed = fixed
        self._texts = texts

    def after(self, group: int, time_estimate: TimeEstimate) -> float | None:
        """Seconds for all that comes after a group, None as long as something about it is not known."""
        end = int(self._ends[group])
        items, left = len(self._letters) - 1 - end, float(self._letters[-1] - self._letters[end])
        if not items:
            return 0.0
        reading, writing = time_estimate.seconds_per_token_read, time_estimate.seconds_per_text
        if reading is None or time_estimate.items < _LEAST_ITEMS or (self._texts and writing is None):
            return None
        # What every item takes is known; only what its texts add goes with their length.
        own = max(0.0, time_estimate.tokens_of_items - self._fixed * time_estimate.items)
        tokens = self._fixed * items + own * left / max(time_estimate.letters, 1)
        return tokens * reading + items * self._texts * (writing or 0.0)


_SECONDS_BETWEEN = 0.15
_LEAST_SHARE = 0.05  # of the explanations is left until their end is reported


class GroupWatch:
    def __init__(self, session: LlamaSession, time_estimate: TimeEstimate, longest_text: int) -> None:
        """`longest_text`: tokens that an explanation or reasoning sample may have."""
        self._session = session
        self.time_estimate = time_estimate
        self._longest = longest_text
        self._reported = session.tokens_read + session.tokens_generated
        self._told = float("-inf")
        self._first = self._last = self._to_read = self._texts = 0
        self._began = 0.0
        self._read_before = 0

    def begin(self, first: int, last: int, to_read: int, texts: int) -> None:
        """A group begins: its first and last place in the dataset, tokens to read, texts to write."""
        self._first, self._last, self._to_read, self._texts = first, last, to_read, texts
        self._began = time.perf_counter()
        self._read_before = self._session.tokens_read

    def thought(self, texts: int) -> None:
        self._texts -= texts

    def expect(self, tokens: int) -> None:
        self._to_read += tokens

    def reading(self, position: int, item_id: str, read_before: int, tokens: int) -> Iterator[GroupUnderWay]:
        """Tell of an item of which `tokens` are to be read, since the session had read `read_before`."""
        if self._is_time():
            done = self._session.tokens_read - read_before
            left = self._left_from_reading()
            yield self._far(position, item_id, writing=False, done=min(done, tokens), total=tokens, left=left)

    def writing(
        self, position: int, item_id: str, written_before: int, began: float
    ) -> Iterator[GroupUnderWay]:
        """Tell of explanations written together since `began`, when this many tokens were written."""
        if self._is_time():
            done = self._session.tokens_generated - written_before
            tokens = max(done, round(self._texts * self.time_estimate.tokens_per_text(self._longest)))
            left = None
            if done:
                seconds = (time.perf_counter() - began) / done
                left = seconds * max(tokens - done, _LEAST_SHARE * tokens)
            yield self._far(position, item_id, writing=True, done=done, total=tokens, left=left)

    def tokens(self) -> Iterator[TokensEvaluated]:
        now = self._session.tokens_read + self._session.tokens_generated
        tokens, self._reported = now - self._reported, now
        if tokens:
            yield TokensEvaluated(tokens)

    def _is_time(self) -> bool:
        now = time.perf_counter()
        if now - self._told < _SECONDS_BETWEEN:
            return False
        self._told = now
        return True

    def _far(
        self, position: int, item_id: str, *, writing: bool, done: int, total: int, left: float | None
    ) -> GroupUnderWay:
        place, seconds = (self._first, self._last, position), time.perf_counter() - self._began
        return GroupUnderWay(*place, item_id, writing, done, total, seconds, left)

    def _left_from_reading(self) -> float | None:
        """Seconds until the group is judged, while it is read; None before that can be known."""
        read = self._session.tokens_read - self._read_before
        seconds = time.perf_counter() - self._began
        text = self.time_estimate.seconds_per_text
        if not read or (self._texts and text is None):
            return None
        rate = self.time_estimate.seconds_per_token_read or seconds / read
        return rate * max(0, self._to_read - read) + self._texts * (text or 0.0)


Result = TypeVar("Result")
Judging = Generator[JudgeEvent, None, Result]  # work that tells several times a second how far it is


@dataclass
class ItemWork:
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
    """An item while it is read in an order: what the session had done before, and what there is to read."""

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
    text: str = ""
    cut: bool = False


class ItemReader:
    """Reads items with one session, each in a slot of its own, as `sizer` makes their prompts."""

    def __init__(
        self, session: LlamaSession, template: ChatTemplate, sizer: PromptSizer, watch: GroupWatch
    ) -> None:
        self._session = session
        self._template = template
        self._sizer = sizer
        self._criteria = sizer.rubric.names
        self._watch = watch

    def read(self, slot: int, work: ItemWork, order: Order, beside: int | None = None) -> Judging[None]:
        """Read an item in an order, in all methods; `beside`: the slot that holds the other one."""
        rounds = work.sized.rounds[order]
        reading = self._begun(slot, work, order, rounds)
        answers: dict[str, list[tuple[Method, AnswerLogProbs]]] = {name: [] for name in self._criteria}
        for each in rounds:
            yield from self._hold(reading, each.tokens.trunk, beside)
            branches: Sequence[BranchTokens] = each.tokens.branches
            reasoning_samples = [_Thought()] * len(branches)
            if each.thought_for is not None:
                written = yield from self._think(reading, each)
                reasoning_samples, branches = self._after(reading, each, each.thought_for, written)
            scores = yield from self._told(self._session.scoring(slot, branches, goes_on=True), reading)
            for name, row, thought in zip(self._criteria, scores.tolist(), reasoning_samples, strict=True):
                answer = AnswerLogProbs(each.question, tuple(row), thought.text, thought.cut)
                answers[name].append((each.method, answer))
        for criterion, said in answers.items():
            for method, own in groupby(said, key=itemgetter(0)):
                made = raw_prediction_of(method, order, [answer for _, answer in own])
                work.raw_predictions.setdefault(criterion, []).append(made)
        self._ended(reading)

    def hold(self, slot: int, work: ItemWork, branches: Sequence[BranchTokens]) -> Judging[None]:
        letters = work.sized.tokens[Order.AB]
        reading = self._begun(slot, work, Order.AB, [Round(Method.LABEL_TOKENS, "", letters)])
        yield from self._hold(reading, letters.trunk)
        yield from self._told(self._session.scoring(slot, branches), reading)
        self._ended(reading)

    def _begun(self, slot: int, work: ItemWork, order: Order, rounds: Sequence[Round]) -> _ItemProgress:
        keeps_state, trunk = self._session.keeps_state, rounds[0].tokens.trunk
        own = len(trunk) - usable_prefix(self._sizer.stem, trunk, keeps_state)
        tokens = own + tokens_read(rounds, keeps_state).total()
        before = self._session.tokens_read, self._session.tokens_generated
        return _ItemProgress(slot, work, order, tokens, *before, started=time.perf_counter())

    def _ended(self, reading: _ItemProgress) -> None:
        seconds, work = time.perf_counter() - reading.started, reading.work
        count = self._session.tokens_read - reading.read_before
        work.seconds += seconds
        work.tokens_read += count
        work.tokens_generated += self._session.tokens_generated - reading.written_before
        self._watch.time_estimate.read(count, seconds - reading.seconds_thinking)

    def _hold(
        self, reading: _ItemProgress, trunk: tuple[int, ...], beside: int | None = None
    ) -> Judging[None]:
        if trunk == reading.trunk:
            return
        reading.trunk = trunk
        yield from self._told(self._session.holding_common(reading.work.sized.apart), reading)
        yield from self._told(self._session.reading_trunk(reading.slot, trunk, beside), reading)

    def _think(self, reading: _ItemProgress, each: Round) -> Judging[list[_Thought]]:
        started, before = time.perf_counter(), self._session.tokens_generated
        key = (self._sizer.settings.seed, reading.work.original.content_hash)
        of_thought = (reading.order, Method.CHAIN_OF_THOUGHT, each.question)
        asked = enumerate(zip(self._criteria, each.tokens.branches, strict=True))
        continuations = [
            Continuation(reading.slot, branch, tokens.prompt, seed_of(*key, criterion, *of_thought))
            for branch, (criterion, tokens) in asked
        ]
        written = yield from self._told(self._session.writing(continuations, self._sampling), reading)
        seconds = time.perf_counter() - started
        reading.seconds_thinking += seconds
        self._watch.time_estimate.wrote(self._session.tokens_generated - before, len(written), seconds)
        self._watch.thought(len(written))
        # A text that was cut may end within a character.
        texts = (each.data.decode("utf-8", "ignore" if each.cut else "replace") for each in written)
        return [_Thought(text.strip(), each.cut) for text, each in zip(texts, written, strict=True)]

    @cached_property
    def _sampling(self) -> Sampling:
        """Reasoning samples are written to the mark that closes them, or a control token that begins it."""
        settings, thinking = self._sizer.settings, self._template.thinking
        mark = thinking.frame.pieces[-2].strip() if thinking else ""
        special = self._session.vocabulary.special_tokens
        ends = {token.id for token in special if token.control and mark.startswith(token.text)}
        return Sampling(
            settings.max_reasoning_tokens,
            settings.reasoning_temperature,
            complete=lambda text: place if (place := text.find(mark)) >= 0 else None,
            lines=False,
            ends=frozenset(ends),
        )

    def _after(
        self, reading: _ItemProgress, each: Round, question: Question, written: Sequence[_Thought]
    ) -> tuple[list[_Thought], list[BranchTokens]]:
        """The reasoning samples as far as there is room for them, and the branches after them."""
        tree, kept, branches = reading.work.sized.trees[reading.order], [], []
        for place, (thought, tokens) in enumerate(zip(written, each.tokens.branches, strict=True)):
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
