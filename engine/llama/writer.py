"""One text as it is written, token by token.

Knows: how a token is chosen, and where a text ends. Does not know: llama.cpp's context, what the text says.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from engine.core.log_probs import Logits, log_softmax
from engine.llama.model import Vocabulary

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
    """How tokens are chosen: greedy at temperature 0. At most `max_tokens` continue a prompt.

    `complete`: says of a growing text where it is to end, in characters; None while it may continue.
    `lines`: a text ends with its line. `ends`: further tokens that end it.
    """

    max_tokens: int
    temperature: float = 0.0
    complete: Callable[[str], int | None] | None = None
    lines: bool = True
    ends: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Generated:
    """The bytes that continue a prompt; `cut` where `max_tokens` ended it."""

    data: bytes
    cut: bool


class Writer:
    """The growing text of a continuation."""

    def __init__(self, continuation: Continuation, sampling: Sampling, vocabulary: Vocabulary) -> None:
        self.continuation = continuation
        self.tokens: list[int] = []
        self.done = False
        self.cut = False
        self._data = b""
        self._sampling = sampling
        self._vocabulary = vocabulary
        self._random = np.random.default_rng(continuation.seed)

    def write(self, logits: Logits) -> None:
        """Choose the next token and see whether it ends the text; `logits` are used up."""
        token = self._choose(logits)
        for _ in range(_FIRST_CHOICES):
            if self._has_begun() or not self._ends(token):
                break
            logits[token] = -np.inf
            token = self._choose(logits)
        self.tokens.append(token)
        if self._ends(token):
            # One token may hold the end of the text and the line end after it.
            self._data += self._vocabulary.piece(token).split(b"\n")[0]
            self.done = True
            return
        self._data += self._vocabulary.piece(token)
        if self._is_complete():
            self.done = True
        elif len(self.tokens) == self._sampling.max_tokens:
            self.done = self.cut = True

    def _is_complete(self) -> bool:
        """Whether the text is to end, and then without what goes beyond its end."""
        if self._sampling.complete is None:
            return False
        text = self._data.decode("utf-8", "ignore")
        length = self._sampling.complete(text)
        if length is not None:
            self._data = text[:length].encode()
        return length is not None

    def text(self) -> bytes:
        """The bytes written so far."""
        return self._data

    def _choose(self, scores: Logits) -> int:
        if self._sampling.temperature == 0:
            return int(np.argmax(scores))
        # In 64 bits: numpy refuses probabilities whose sum is as far from 1 as in 32 bits.
        probabilities = np.exp(log_softmax(scores.astype(np.float64) / self._sampling.temperature))
        return int(self._random.choice(len(scores), p=probabilities / probabilities.sum()))

    def _has_begun(self) -> bool:
        """True once a letter or a digit is written."""
        return any(char.isalnum() for char in self._data.decode("utf-8", "ignore"))

    def _ends(self, token: int) -> bool:
        if token in self._sampling.ends or self._vocabulary.ends_reply(token):
            return True
        return self._sampling.lines and b"\n" in self._vocabulary.piece(token)
