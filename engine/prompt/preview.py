"""What a model is shown of an item, to be looked at: whose each part of it is, where each token stands.

What a model would write after a prompt: the likeliest next tokens, the answers among them, and the rest.

Made of the same runs of text, of the same ids as the prompt itself, so that it cannot differ from it.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.core.items import Order
from engine.core.judgments import AnswerLogProbs
from engine.core.methods import MethodQuestion, Question
from engine.core.numeric import FloatArray
from engine.core.prompt_text import PlacedToken, Preview, Source, Span
from engine.core.tables import Column, Kind, Row, Table
from engine.llama.tokens import Pieces, PromptTokens, common_prefix, token_places
from engine.prompt.guard import Piece
from engine.prompt.judge_prompt import PromptTree
from engine.prompt.template import ChatTemplate


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


def text_alone(pieces: Sequence[Piece]) -> Preview:
    """A prompt of which nobody asks for the tokens."""
    return Preview("".join(text for text, _ in pieces), tuple(_spans(pieces, 0)), (), 0, 0, exact=True)


class Previewer:
    """Makes previews in one chat format; `stem`: the ids with which all prompts of the run begin."""

    def __init__(self, template: ChatTemplate, stem: Sequence[int]) -> None:
        self._template = template
        self._stem = stem
        self._pieces = template.tokens_written

    def preview(self, tree: PromptTree, question: Question, tokens: PromptTokens, branch: int) -> Preview:
        """What the model is shown for a question of one criterion; `tokens`: of this tree and question.

        Up to where its answer is read, or reasoning is to be written.
        """
        length, answer = len(tokens.branches[branch].prompt), ""
        if question.reasons:
            template = self._template.thinking or self._template
            conversation = tree.question(branch, text=question.text)
        else:
            template, answer = self._template, f" {question.answers[0]}"  # tokenized with it, no part of it
            conversation = tree.question(branch, f"{question.lead}{answer}", question.text)
        texts: list[str] = []
        spans: list[Span] = []
        placed: list[PlacedToken] = []
        exact, start = True, 0
        for run, ids in template.tokenized(conversation):
            text, inside = "".join(piece for piece, _ in run), _spans(run, start)
            places, fits = token_places(text, [self._pieces.written(token) for token in ids])
            exact = exact and fits
            for token, (begin, end) in zip(ids, places, strict=True):
                place = start + begin, start + end
                placed.append(PlacedToken(token, self._pieces.shown(token), *place, _sources(inside, *place)))
            texts.append(text)
            spans += inside
            start += len(text)
        # The answer that was tokenized with it begins after these.
        shown = tuple(placed[:length])
        last = max((token.end for token in shown), default=0) if exact else start - len(answer)
        shared = common_prefix([self._stem, tokens.trunk])
        return Preview(
            text="".join(texts)[:last],
            spans=tuple(replace(span, end=min(span.end, last)) for span in spans if span.start < last),
            tokens=shown,
            stem=shared,
            trunk=len(tokens.trunk) - shared,
            exact=exact,
        )


def _spans(run: Sequence[Piece], start: int) -> list[Span]:
    found: list[Span] = []
    for text, source in run:
        if not text:
            continue
        end = start + len(text)
        if found and found[-1].source is source:
            found[-1] = Span(found[-1].start, end, source)
        else:
            found.append(Span(start, end, source))
        start = end
    return found


def _sources(spans: Sequence[Span], begin: int, end: int) -> tuple[Source, ...]:
    """Whose text a stretch holds, each once, in the order of the text; of an empty one, where it is."""
    end = max(end, begin + 1)
    inside = [span.source for span in spans if span.start < end and span.end > begin]
    return tuple(dict.fromkeys(inside))
