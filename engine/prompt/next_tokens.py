"""What a model would write after a prompt: the likeliest next tokens, the answers among them, and the rest.

Knows: log-probabilities of a vocabulary, answers as tokens, what answers mean. Does not know: sessions, where
this is shown.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.core.items import Order
from engine.core.judgments import AnswerLogProbs
from engine.core.log_probs import FloatArray
from engine.core.value_tables import Column, Kind, Row, Table
from engine.core.ways.all_ways import MethodQuestion
from engine.llama.token_places import Pieces


@dataclass(frozen=True)
class NextToken:
    """A token that may come next. `rank`: 1 for the likeliest. `probability`: 0 to 1, among all tokens.

    `answers`: the places of the question's answers that begin with it.
    """

    id: int
    piece: str
    rank: int
    probability: float
    answers: tuple[int, ...]


@dataclass(frozen=True)
class NextTokens:
    """What comes after one question of a criterion in one order, the likeliest first.

    `tokens`: the likeliest, and below them those that begin an answer, wherever they stand. `rest`: what all
    other tokens hold together, 0 to 1. `said`: the answers as a run reads them; none where the model is to
    think first.
    """

    criterion: str
    order: Order
    asked: MethodQuestion
    tokens: tuple[NextToken, ...]
    rest: float
    said: AnswerLogProbs


class TokenRanking:
    """Ranks what may come next: the `most` likeliest tokens, and those that begin an answer."""

    def __init__(self, most: int, pieces: Pieces) -> None:
        self._most = most
        self._pieces = pieces

    def ranked(
        self, log_probs: FloatArray, answers: Sequence[Sequence[int]]
    ) -> tuple[tuple[NextToken, ...], float]:
        """The tokens, and what all others hold.

        `log_probs`: natural logarithms, shape (vocabulary,). `answers`: the ids of each.
        """
        begins: dict[int, tuple[int, ...]] = {}
        for place, ids in enumerate(answers):
            begins[ids[0]] = (*begins.get(ids[0], ()), place)
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
                answers=begins.get(token, ()),
            )
            for token, rank in sorted(ranks.items(), key=lambda ranked: ranked[1])
        )
        return found, max(0.0, 1.0 - sum(token.probability for token in found))


_LEAST = 0.0005  # what is less is shown as less
_TOKEN = (
    Column("rank", "rank", Kind.COUNT, "1 for the likeliest of all tokens."),
    Column("token", "token", Kind.TEXT, "Its text, in quotation marks."),
    Column("probability", "probability", Kind.SHARE, "Its probability over the whole vocabulary."),
)
_ID = Column("id", "id", Kind.COUNT, "Its number in the model's vocabulary.")
_LETTER = (
    Column("letter", "letter", Kind.TEXT, "The label token that begins with it."),
    Column("label", "label", Kind.TEXT, "The label of this token in this order of the responses."),
)
_ANSWER = (
    Column("answer", "answer", Kind.TEXT, "The answer that begins with it."),
    Column("says", "says", Kind.TEXT, "What this answer means for the item's own A and B."),
)


def next_table(found: NextTokens) -> Table:
    """The tokens, and below them what all others hold."""
    question = found.asked.question
    middle: tuple[Column, ...] = () if question.reasons else _LETTER if question.chooses else _ANSWER
    rows: list[Row] = []
    for token in found.tokens:
        said = (
            ", ".join(question.answers[place] for place in token.answers),
            ", ".join(question.said(place, found.order) for place in token.answers),
        )
        shown = json.dumps(token.piece, ensure_ascii=False)
        rows.append((token.rank, shown, _share(token.probability), *said[: len(middle)], token.id))
    rows.append(("", "all other tokens", _share(found.rest), *("" for _ in middle), ""))
    return Table((*_TOKEN, *middle, _ID), rows)


def _share(probability: float) -> float | str:
    return probability if probability >= _LEAST else "<0.1 %"
