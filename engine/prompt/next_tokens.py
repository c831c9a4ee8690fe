"""What a model would write after a prompt: the likeliest next tokens, the labels among them, and the rest.

Knows: log-probabilities of a vocabulary, labels as tokens. Does not know: sessions, how they are shown.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.core.items import PREFERENCES, Preference
from engine.core.judgments import Reading
from engine.core.log_probs import FloatArray
from engine.prompt.preview import Pieces


@dataclass(frozen=True)
class NextToken:
    """A token that may come next. `rank`: 1 for the likeliest. `probability`: 0 to 1, among all tokens.

    `labels`: the labels that begin with it, as the model sees the responses: A is the first one shown.
    """

    id: int
    piece: str
    rank: int
    probability: float
    labels: tuple[Preference, ...]


@dataclass(frozen=True)
class NextTokens:
    """What comes after the prompt of one criterion in one order, the likeliest first.

    `tokens`: the likeliest, and below them those that begin a label, wherever they stand. `rest`: what all
    other tokens hold together, 0 to 1. `reading`: the labels as a run reads them.
    """

    criterion: str
    tokens: tuple[NextToken, ...]
    rest: float
    reading: Reading


class Ranking:
    """Ranks what may come next: the `most` likeliest tokens, and those that begin a label."""

    def __init__(self, most: int, pieces: Pieces) -> None:
        self._most = most
        self._pieces = pieces

    def next_tokens(
        self, criterion: str, reading: Reading, log_probs: FloatArray, labels: Sequence[Sequence[int]]
    ) -> NextTokens:
        """`log_probs`: natural logarithms, shape (vocabulary,). `labels`: the ids of each of PREFERENCES."""
        begins: dict[int, tuple[Preference, ...]] = {}
        for label, ids in zip(PREFERENCES, labels, strict=True):
            begins[ids[0]] = (*begins.get(ids[0], ()), label)
        order = np.argsort(-log_probs, kind="stable")
        ranks = {int(token): rank for rank, token in enumerate(order[: self._most], start=1)}
        for token in begins:
            ranks.setdefault(token, int(np.flatnonzero(order == token)[0]) + 1)
        found = tuple(
            NextToken(
                id=token,
                piece=self._pieces.shown(token),
                rank=rank,
                probability=float(np.exp(log_probs[token])),
                labels=begins.get(token, ()),
            )
            for token, rank in sorted(ranks.items(), key=lambda ranked: ranked[1])
        )
        rest = max(0.0, 1.0 - sum(token.probability for token in found))
        return NextTokens(criterion, found, rest, reading)
