"""llama.cpp's own speed: a plain loop of llama_decode over the same prompts and texts, and nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import llama_cpp

from bench.peers.asked import AskedItem, NotComparableError, Text
from bench.peers.ways import Clock
from engine.llama.context import BATCH, SessionShape, new_context
from engine.llama.model import LlamaModel, common_prefix
from engine.llama.session import TokenBatch

_HELD = 1  # the sequence of what is read once


@dataclass(frozen=True)
class OwnSpeed:
    """`read`: prompt tokens in `reading` seconds; `written` in `writing`, in batches as this program's."""

    read: int
    reading: float
    written: int
    writing: float

    def seconds_for(self, read: int, written: int) -> float:
        """What so many tokens would take at this speed."""
        writing = self.writing * written / self.written if self.written else 0.0
        return self.reading * read / self.read + writing


class Bare:
    """A context like that of a session. Close it before its model."""

    def __init__(self, model: LlamaModel, shape: SessionShape, threads: int, clock: Clock) -> None:
        self._clock = clock
        self._context: Any = new_context(model, shape, threads)
        self._memory = llama_cpp.llama_get_memory(self._context)
        self._batch = TokenBatch(BATCH)

    def speed(self, items: Sequence[AskedItem], held: int = 0) -> OwnSpeed:
        """Of items that one cache holds; `held`: tokens that all begin with, read once beforehand."""
        prompts = [order[0].prompt for item in items for order in item.orders]
        llama_cpp.llama_memory_clear(self._memory, False)
        self._read(_HELD, prompts[0][:held], 0)
        started = self._clock()
        for prompt in prompts:
            llama_cpp.llama_memory_seq_rm(self._memory, 0, -1, -1)
            llama_cpp.llama_memory_seq_cp(self._memory, _HELD, 0, 0, held)
            self._read(0, prompt[held:], held)
        reading = self._clock() - started
        texts = [text for item in items for text in item.texts]
        writing = self._write(items) if texts else 0.0
        return OwnSpeed(
            sum(map(len, prompts)) - held * len(prompts), reading, sum(text.tokens for text in texts), writing
        )

    def _write(self, items: Sequence[AskedItem]) -> float:
        """Seconds for all texts together, after their prompts have been read."""
        llama_cpp.llama_memory_clear(self._memory, False)
        sequences: dict[int, Text] = {}
        for item in items:
            first = len(sequences)
            shared = common_prefix([text.prompt for text in item.texts])
            self._read(first, item.texts[0].prompt[:shared], 0)
            for text in item.texts:
                sequence = len(sequences)
                if sequence != first:
                    llama_cpp.llama_memory_seq_cp(self._memory, first, sequence, 0, shared)
                sequences[sequence] = text
            for sequence in range(first, len(sequences)):
                self._read(sequence, sequences[sequence].prompt[shared:], shared)
        started = self._clock()
        # The last token of a text is chosen and not read; which one is read makes no difference.
        for step in range(max(text.tokens for text in sequences.values()) - 1):
            active = [sequence for sequence, text in sequences.items() if step < text.tokens - 1]
            tokens = [sequences[sequence].prompt[step] for sequence in active]
            positions = [len(sequences[sequence].prompt) + step for sequence in active]
            self._decode(tokens, positions, active, [True] * len(active))
        return self._clock() - started

    def _read(self, sequence: int, tokens: Sequence[int], position: int) -> None:
        for start in range(0, len(tokens), BATCH):
            part = tokens[start : start + BATCH]
            last = start + len(part) == len(tokens)
            wanted = [False] * (len(part) - 1) + [last]
            positions = range(position + start, position + start + len(part))
            self._decode(part, positions, [sequence] * len(part), wanted)

    def _decode(
        self,
        tokens: Sequence[int],
        positions: Sequence[int],
        sequences: Sequence[int],
        wanted: Sequence[bool],
    ) -> None:
        code = llama_cpp.llama_decode(self._context, self._batch.filled(tokens, positions, sequences, wanted))
        if code:
            raise NotComparableError(f"llama_decode answers {code}: give a larger --context.")

    def close(self) -> None:
        llama_cpp.llama_free(self._context)

    def __enter__(self) -> "Bare":
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()
