"""A model at work: prompts that share prefixes, read into one KV cache; label scores; explanations.

Sequence 0 holds the stem, sequence 1 what several trunks have in common. Each slot (one item in one order)
has a trunk sequence and one for each branch; a prefix already held is copied, not read again, which takes no
room in a unified cache.

llama.cpp computes nothing of a single token alone: its attention would then share the cache out between the
threads, and the last digits would depend on how many there are. It has company for that moment.

What takes long is done in steps, one for each batch: `reading_trunk`, `scoring`, `writing` are generators.
"""

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar

import llama_cpp
import numpy as np
import numpy.typing as npt

from engine.core.errors import DeviceFailed, EngineBug
from engine.core.events import CancelToken, followed
from engine.core.numeric import FloatArray, Logits, log_softmax
from engine.llama.context import SMALLER_CONTEXT, OwnContext, SessionShape, ThreadCount, new_context
from engine.llama.library import last_errors
from engine.llama.model import BranchTokens, LlamaModel, Vocabulary, cannot_compute, usable_prefix

_FIRST_CHOICES = 64  # how many ends in a row are passed over before a text has begun


@dataclass(frozen=True)
class Continuation:
    """One text to generate: which branch it continues, the ids up to where it begins, its own seed."""

    slot: int
    branch: int
    prompt: tuple[int, ...]
    seed: int = 0


@dataclass(frozen=True)
class Sampling:
    """How tokens are chosen: greedy at temperature 0. At most `max_tokens` continue a prompt."""

    max_tokens: int
    temperature: float = 0.0
    complete: Callable[[str], int | None] | None = None
    """Of a growing text where it is to end, in characters; None while it may continue."""
    lines: bool = True  # a text ends with its line
    ends: frozenset[int] = frozenset()  # further tokens that end it
    top_p: float = 1.0  # the likeliest tokens with this much probability together, 0 to 1
    shown: Mapping[int, bytes] = field(default_factory=dict)  # control tokens that are part of the text
    may_be_empty: bool = False  # else ends are passed over until a letter or a digit is written


@dataclass(frozen=True)
class Generated:
    """The bytes that continue a prompt; `cut` where `max_tokens` ended it."""

    data: bytes
    cut: bool


class Writer:
    def __init__(self, continuation: Continuation, sampling: Sampling, vocabulary: Vocabulary) -> None:
        self.continuation = continuation
        self.tokens: list[int] = []
        self.done = False
        self.cut = False
        self.text = b""
        self._sampling = sampling
        self._vocabulary = vocabulary
        self._random = np.random.default_rng(continuation.seed)

    def write(self, logits: Logits) -> None:
        """Choose the next token and see whether it ends the text; `logits` are used up."""
        token = self._choose(logits)
        for _ in range(_FIRST_CHOICES):
            # Once a letter or a digit is written the text has begun, and may end.
            begun = self._sampling.may_be_empty or any(map(str.isalnum, self.text.decode("utf-8", "ignore")))
            if begun or not self._ends(token):
                break
            logits[token] = -np.inf
            token = self._choose(logits)
        self.tokens.append(token)
        if self._ends(token):
            # One token may hold the end of the text and the line end after it.
            self.text += self._vocabulary.piece(token).split(b"\n")[0]
            self.done = True
            return
        self.text += self._sampling.shown.get(token) or self._vocabulary.piece(token)
        text = self.text.decode("utf-8", "ignore")
        length = None if self._sampling.complete is None else self._sampling.complete(text)
        if length is not None:  # the text is to end, and then without what goes beyond its end
            self.text, self.done = text[:length].encode(), True
        elif len(self.tokens) == self._sampling.max_tokens:
            self.done = self.cut = True

    def _choose(self, scores: Logits) -> int:
        if self._sampling.temperature == 0:
            return int(np.argmax(scores))
        # In 64 bits: numpy refuses probabilities whose sum is as far from 1 as in 32 bits.
        probabilities = np.exp(log_softmax(scores.astype(np.float64) / self._sampling.temperature))
        if self._sampling.top_p < 1:
            order = np.argsort(-probabilities, kind="stable")
            before = np.cumsum(probabilities[order]) - probabilities[order]
            probabilities[order[before >= self._sampling.top_p]] = 0
        return int(self._random.choice(len(scores), p=probabilities / probabilities.sum()))

    def _ends(self, token: int) -> bool:
        if token in self._sampling.ends or self._vocabulary.ends_reply(token):
            return True
        return self._sampling.lines and b"\n" in self._vocabulary.piece(token)


Entry = tuple[int, int, int, bool, int]
"""A token to compute: its id, position, sequence, whether its logits are wanted, index of its feed."""


class TokenBatch:
    def __init__(self, size: int) -> None:
        self._tokens = np.zeros(size, dtype=np.int32)
        self._positions = np.zeros(size, dtype=np.int32)
        self._sequences = np.zeros(size, dtype=np.int32)
        self._counts = np.ones(size, dtype=np.int32)
        self._wanted = np.zeros(size, dtype=np.int8)
        pointer = self._sequences.ctypes.data
        step = self._sequences.itemsize
        # Made once: llama.cpp wants a list of sequences for each token, and each of ours is in one.
        self._sequence_pointers = np.array([pointer + step * i for i in range(size)], dtype=np.uintp)
        self._struct = llama_cpp.llama_batch(
            n_tokens=0,
            token=_as(self._tokens, "token"),
            embd=None,
            pos=_as(self._positions, "pos"),
            n_seq_id=_as(self._counts, "n_seq_id"),
            seq_id=_as(self._sequence_pointers, "seq_id"),
            logits=_as(self._wanted, "logits"),
        )

    def filled(
        self,
        tokens: Sequence[int],
        positions: Sequence[int],
        sequences: Sequence[int],
        wanted: Sequence[bool],
    ) -> Any:
        """The batch that holds these tokens, all four of one length; valid until the next call."""
        count = len(tokens)
        self._tokens[:count] = tokens
        self._positions[:count] = positions
        self._sequences[:count] = sequences
        self._wanted[:count] = wanted
        self._struct.n_tokens = count
        return self._struct


def batches(entries: Sequence[Entry], size: int, equal: bool) -> Iterator[Sequence[Entry]]:
    """Batches that llama.cpp splits so that no token is alone; `equal`: it takes as many of each sequence."""
    for begin in range(0, len(entries), size):
        part = entries[begin : begin + size]
        lengths = Counter(entry[2] for entry in part).most_common(2)
        if equal and len(lengths) == 2 and lengths[0][1] - lengths[1][1] == 1:
            # A sequence that is one token longer than all others would leave that one.
            last = max(place for place, entry in enumerate(part) if entry[2] == lengths[0][0])
            yield [*part[:last], *part[last + 1 :]]
            yield [part[last]]
        else:
            yield part


_FIELD_TYPES: Mapping[str, Any] = {name: kind for name, kind, *_ in llama_cpp.llama_batch._fields_}


def _as(array: npt.NDArray[Any], field: str) -> Any:
    return array.ctypes.data_as(_FIELD_TYPES[field])


_STEM = 0
_COMMON = 1
_NO_ROOM_LEFT = 1
_ALL = -1


@dataclass(frozen=True)
class _Feed:
    """Tokens to append to a sequence; the logits after the last `wanted` of them are returned."""

    sequence: int
    tokens: Sequence[int]
    wanted: int = 1


Given = ParamSpec("Given")
Result = TypeVar("Result")
Steps = Generator[Sequence[Writer], None, Result]
"""Work with a model, batch by batch; each step gives the texts as far as they are written, if any are."""


def whole(steps: Callable[Given, Steps[Result]]) -> Callable[Given, Result]:
    """The same work at once, for whoever does not say in between how far it is."""

    @wraps(steps)
    def at_once(*args: Given.args, **named: Given.kwargs) -> Result:
        return followed(steps(*args, **named))

    return at_once


class LlamaSession(OwnContext):
    def __init__(
        self, model: LlamaModel, shape: SessionShape, threads: int | ThreadCount, cancel: CancelToken
    ) -> None:
        """Make room for `shape`; raises what `new_context` raises. `threads`: see OwnContext."""
        super().__init__(model, partial(new_context, model, shape), threads, cancel)
        self.vocabulary = Vocabulary(model)
        self.shape = shape
        self.tokens_read = 0
        self.tokens_generated = 0
        self._memory = llama_cpp.llama_get_memory(self._context)
        # llama.cpp makes batches no larger than the context.
        self._batch_size = int(llama_cpp.llama_n_batch(self._context))
        self._batch = TokenBatch(self._batch_size)
        self._held: dict[int, list[int]] = {}

    @property
    def keeps_state(self) -> bool:
        return self._model.keeps_state

    def raise_if_cancelled(self) -> None:
        self._cancel.raise_if_requested()

    def holding_stem(self, tokens: Sequence[int]) -> Steps[None]:
        """Read what all prompts begin with, once."""
        self._forget(_COMMON)
        self._forget(_STEM)
        yield from self._read([_Feed(_STEM, tokens)] if tokens else [])

    hold_stem = whole(holding_stem)

    def holding_common(self, tokens: Sequence[int]) -> Steps[None]:
        """Read what the next trunks begin with, unless just that is held."""
        if self._held.get(_COMMON) == list(tokens):
            return
        start = self._copy(_STEM, _COMMON, tokens)
        yield from self._read([_Feed(_COMMON, tokens[start:])] if tokens[start:] else [])

    hold_common = whole(holding_common)

    @property
    def common(self) -> tuple[int, ...]:
        return tuple(self._held.get(_COMMON, ()))

    def drop_common(self) -> None:
        self._forget(_COMMON)

    def reading_trunk(self, slot: int, tokens: Sequence[int], beside: int | None = None) -> Steps[None]:
        """Read what the branches of a slot share, after what is held of it: there too, in another order.
        `beside`: another slot that holds the same item in another order, and continues holding it.
        """
        trunk = self._trunk(slot)
        sources = [trunk, _COMMON, _STEM, *([] if beside is None else [self._trunk(beside)])]
        for index in range(self.shape.branches):
            self._forget(self._branch(slot, index))
        source = max(sources, key=lambda source: self._usable(source, tokens))
        start = self._cut_back(trunk, tokens) if source == trunk else self._copy(source, trunk, tokens)
        yield from self._read([_Feed(trunk, tokens[start:])] if tokens[start:] else [])

    read_trunk = whole(reading_trunk)

    def scoring(
        self, slot: int, branches: Sequence[BranchTokens], goes_on: bool = False
    ) -> Steps[FloatArray]:
        """Natural-log probabilities of each branch's labels: shape (branches, labels). `goes_on`: each branch
        may continue from what it holds; then the last digits depend on what was asked before.
        """
        scores, _ = yield from self._scoring_among_all(slot, branches, goes_on)
        return scores

    score = whole(scoring)

    def _scoring_among_all(
        self, slot: int, branches: Sequence[BranchTokens], goes_on: bool = False
    ) -> Steps[tuple[FloatArray, list[FloatArray]]]:
        """The same, and after each branch those of the whole vocabulary: shape (vocabulary,) each."""
        feeds = []
        for index, branch in enumerate(branches):
            sequence = self._branch(slot, index)
            hold = self._go_on if goes_on else self._copy
            start = hold(self._trunk(slot), sequence, branch.prompt[:-1])
            feeds.append(_Feed(sequence, branch.prompt[start:]))
        rows = yield from self._read(feeds)
        log_probs, scores = [log_softmax(row[-1]) for row in rows], []
        for index, (branch, row) in enumerate(zip(branches, log_probs, strict=True)):
            for label in branch.labels:
                rest = yield from self._rest(self._branch(slot, index), branch.prompt, label)
                scores.append(row[label[0]] + rest)
        return np.array(scores).reshape(len(branches), -1), log_probs

    score_among_all = whole(_scoring_among_all)

    def _rest(self, sequence: int, prompt: Sequence[int], label: Sequence[int]) -> Steps[float]:
        """Log-probability of a label's tokens after its first; 0 for one of one token."""
        if len(label) == 1:
            return 0.0
        # The last sequence but one; the last is a lone token's company.
        scratch = self.shape.sequences - 2
        start = self._copy(sequence, scratch, prompt)
        tokens = [*prompt[start:], *label[:-1]]
        (rows,) = yield from self._read([_Feed(scratch, tokens, wanted=len(label) - 1)])
        self._forget(scratch)
        return float(sum(log_softmax(row)[token] for row, token in zip(rows, label[1:], strict=True)))

    def writing(self, continuations: Sequence[Continuation], sampling: Sampling) -> Steps[list[Generated]]:
        """Write all of them together, each until it ends its turn or its line, is complete, or is cut."""
        writers = [Writer(each, sampling, self.vocabulary) for each in continuations]
        feeds = []
        for continuation in continuations:
            sequence = self._branch_of(continuation)
            start = self._go_on(self._trunk(continuation.slot), sequence, continuation.prompt[:-1])
            feeds.append(_Feed(sequence, continuation.prompt[start:]))
        logits = yield from self._read(feeds)
        active = writers
        while active:
            for writer, rows in zip(active, logits, strict=True):
                writer.write(rows[-1])
            self.tokens_generated += len(active)
            yield writers
            active = [writer for writer in active if not writer.done]
            chosen = [_Feed(self._branch_of(each.continuation), [each.tokens[-1]]) for each in active]
            logits = yield from self._read(chosen, written=True)
        return [Generated(writer.text, writer.cut) for writer in writers]

    generate = whole(writing)

    def release(self, slots: Iterable[int]) -> None:
        for slot in slots:
            for sequence in range(self._trunk(slot), self._trunk(slot) + 1 + self.shape.branches):
                self._forget(sequence)

    def _trunk(self, slot: int) -> int:
        return 2 + slot * (1 + self.shape.branches)

    def _branch(self, slot: int, index: int) -> int:
        return self._trunk(slot) + 1 + index

    def _branch_of(self, continuation: Continuation) -> int:
        return self._branch(continuation.slot, continuation.branch)

    def _copy(self, source: int, target: int, tokens: Sequence[int]) -> int:
        """Let `target` share the prefix of `tokens` that `source` holds; how many tokens that is."""
        shared = self._usable(source, tokens)
        self._forget(target)
        if shared:
            llama_cpp.llama_memory_seq_cp(self._memory, source, target, 0, shared)
            self._held[target] = list(tokens[:shared])
        return shared

    def _go_on(self, trunk: int, branch: int, tokens: Sequence[int]) -> int:
        """Let a branch hold what it or its trunk holds of `tokens`, whichever is more; how many that is."""
        if self._usable(branch, tokens) > self._usable(trunk, tokens):
            return self._cut_back(branch, tokens)
        return self._copy(trunk, branch, tokens)

    def _cut_back(self, sequence: int, tokens: Sequence[int]) -> int:
        """Remove from `sequence` what does not begin `tokens`; how many tokens stay."""
        shared = self._usable(sequence, tokens)
        held = self._held.get(sequence, [])
        if not shared:
            self._forget(sequence)
        elif shared < len(held):
            llama_cpp.llama_memory_seq_rm(self._memory, sequence, shared, _ALL)
            self._held[sequence] = held[:shared]
        return shared

    def _usable(self, sequence: int, tokens: Sequence[int]) -> int:
        return usable_prefix(self._held.get(sequence, []), tokens, self._model.keeps_state)

    def _forget(self, sequence: int) -> None:
        if self._held.pop(sequence, None):
            llama_cpp.llama_memory_seq_rm(self._memory, sequence, _ALL, _ALL)

    def _read(self, feeds: Sequence[_Feed], written: bool = False) -> Steps[list[list[Logits]]]:
        """Append tokens; the wanted logits of each feed, (vocabulary,) each, valid until more is read."""
        self._check_owner()
        entries = []
        for index, feed in enumerate(feeds):
            start = len(self._held.get(feed.sequence, []))
            first_wanted = len(feed.tokens) - feed.wanted
            for offset, token in enumerate(feed.tokens):
                entries.append((token, start + offset, feed.sequence, offset >= first_wanted, index))
            self._held.setdefault(feed.sequence, []).extend(feed.tokens)
        try:
            rows = yield from self._evaluate(entries, written)
        except BaseException:
            # Some of it may be in the cache: nothing there can be relied on.
            self._held.clear()
            llama_cpp.llama_memory_clear(self._memory, True)
            raise
        return [rows[index] for index in range(len(feeds))]

    def _evaluate(self, entries: Sequence[Entry], written: bool) -> Steps[dict[int, list[Logits]]]:
        rows: dict[int, list[Logits]] = {}
        for part in batches(entries, self._batch_size, self._model.keeps_state):
            # llama.cpp writes those of the next part over these.
            rows = {index: [row.copy() for row in before] for index, before in rows.items()}
            self._decode(part)
            for place, (*_, wanted, index) in enumerate(part):
                if wanted:
                    rows.setdefault(index, []).append(self._logits(place))
            if not written:
                self.tokens_read += len(part)
                yield ()
        return rows

    def _decode(self, entries: Sequence[Entry]) -> None:
        self._cancel.raise_if_requested()
        company = self.shape.sequences - 1
        alone = len(entries) == 1
        if alone:
            entries = [*entries, (entries[0][0], 0, company, False, -1)]
        tokens, positions, sequences, wanted, _ = zip(*entries, strict=True)
        batch = self._batch.filled(tokens, positions, sequences, wanted)
        result = self._computed(llama_cpp.llama_decode, batch)
        if result == _NO_ROOM_LEFT:
            # What is read was counted before, so this is our fault.
            raise EngineBug(f"no room in the cache for {len(entries)} tokens: {last_errors()}")
        if result != 0:
            raise cannot_compute(self._model, result, SMALLER_CONTEXT)
        if alone:
            llama_cpp.llama_memory_seq_rm(self._memory, company, _ALL, _ALL)

    def _logits(self, place: int) -> Logits:
        """Those after a token of the last batch, where llama.cpp keeps them: until the next batch."""
        row = llama_cpp.llama_get_logits_ith(self._context, place)
        scores = np.ctypeslib.as_array(row, shape=(self.vocabulary.size,))
        # Some drivers give NaN for batches of some sizes. On the processor NaN is the model's own, and its
        # item stays unscored.
        if self._model.device is not None and np.isnan(scores.max()):
            raise DeviceFailed(self._model.device.title, "its results are not finite numbers")
        return scores
