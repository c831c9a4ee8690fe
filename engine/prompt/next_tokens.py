"""What a model would write after a prompt: the likeliest next tokens, the labels among them, and the rest.

Knows: log-probabilities of a vocabulary, labels as tokens. Does not know: sessions, where this is shown.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.core.formatting import words
from engine.core.items import PREFERENCES, Order, Preference
from engine.core.judgments import Reading
from engine.core.log_probs import FloatArray
from engine.core.value_tables import Column, Kind, Row, Table
from engine.core.ways.letters import LETTERS
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


_LEAST = 0.0005  # what is less is shown as less
_COLUMNS = (
    Column("rank", "rank", Kind.COUNT, "1 for the likeliest of all tokens."),
    Column("token", "token", Kind.TEXT, "What it writes, between quotation marks."),
    Column(
        "probability", "probability", Kind.SHARE, "Its share of all probability, of the whole vocabulary."
    ),
    Column("letter", "letter", Kind.TEXT, "The letter of the verdict that begins with it."),
    Column("label", "label", Kind.TEXT, "What this letter says in this order of the responses."),
    Column("id", "id", Kind.COUNT, "Its number in the model's vocabulary."),
)


def next_table(found: NextTokens) -> Table:
    """The tokens, and below them what all others hold."""
    swapped = found.reading.order is Order.BA
    rows: list[Row] = []
    for token in found.tokens:
        labels = [label.swapped if swapped else label for label in token.labels]
        rows.append(
            (
                token.rank,
                json.dumps(token.piece, ensure_ascii=False),
                _share(token.probability),
                ", ".join(LETTERS[label] for label in token.labels),
                ", ".join(map(words, labels)),
                token.id,
            )
        )
    rows.append(("", "all other tokens", _share(found.rest), "", "", ""))
    return Table(_COLUMNS, rows)


def _share(probability: float) -> float | str:
    return probability if probability >= _LEAST else "<0.1 %"
