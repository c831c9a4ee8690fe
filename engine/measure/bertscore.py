"""BERTScore: how much of each of two texts stands in the other, by the vectors of their tokens.

Each token is compared by cosine with all tokens of the other text, of which the best match counts; the mean
over the candidate's tokens is precision, over the reference's recall. Special tokens can be a match, but
weigh nothing. This is what the package bert-score 0.3.13 computes without idf weights and without rescaling.

The scores of pairs are remembered, not the vectors of texts: those of 12,000 would be gigabytes.

Source: Zhang et al., BERTScore: Evaluating Text Generation with BERT, https://arxiv.org/abs/1904.09675

Knows: the formula, which scores are known already. Does not know: encoders, llama.cpp, what texts are about.
"""

from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager
from dataclasses import astuple, dataclass
from typing import Protocol

import numpy as np

from engine.core.cancel import CancelToken
from engine.core.events import MeasureProgress
from engine.core.items import digest
from engine.llama.encoder import Encoded
from engine.store.run_store import RunStore

BERTSCORE_VERSION = 1
"""Part of the key of a cached score: another formula needs another number."""

_STORED_AT_ONCE = 16  # pairs: some seconds of work with a large encoder
_MOST_HELD_BYTES = 1 << 28  # of vectors that are needed again later


class TextEncoder(Protocol):
    """What turns texts into vectors."""

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """The texts as vectors, in their order."""
        ...


@dataclass(frozen=True)
class BertScore:
    """How alike two texts are: 1 where they are the same; around 0, also below, where nothing is alike."""

    precision: float
    recall: float
    f1: float


_NOTHING = BertScore(0.0, 0.0, 0.0)


def score_pair(candidate: Encoded, reference: Encoded) -> BertScore:
    """Compare two texts of one encoder. All scores are 0 where one of them has no token that weighs."""
    if not candidate.weights.any() or not reference.weights.any():
        return _NOTHING
    similarity = candidate.vectors @ reference.vectors.T
    precision = float(np.average(similarity.max(axis=1), weights=candidate.weights))
    recall = float(np.average(similarity.max(axis=0), weights=reference.weights))
    both = precision + recall
    return BertScore(precision, recall, 2 * precision * recall / both if both else 0.0)


def bert_scores(
    pairs: Sequence[tuple[str, str]],
    encoder_hash: str,
    open_encoder: Callable[[], AbstractContextManager[TextEncoder]],
    store: RunStore,
    cancel: CancelToken,
) -> Generator[MeasureProgress, None, list[BertScore]]:
    """Score all pairs of a candidate and a reference; returns the scores in their order.

    White space around a text does not count; a pair with an empty text scores 0. What `store` knows is not
    computed again, and equal pairs once. `encoder_hash`: all that vectors depend on, the encoder's file and
    the build of llama.cpp. `open_encoder` is called only where something is left to score. A stopped
    measure raises Cancelled; the same call goes on where it was. Raises what `open_encoder` does, StoreError.
    """
    stripped = [(candidate.strip(), reference.strip()) for candidate, reference in pairs]
    keys = [digest(["bertscore", BERTSCORE_VERSION, encoder_hash, *pair]) for pair in stripped]
    counts = Counter(keys)
    found = {key: BertScore(*numbers) for key, numbers in store.recall(counts).items()}
    # An empty text scores 0 in bert-score, too; no encoder is asked.
    found |= {key: _NOTHING for key, pair in zip(keys, stripped, strict=True) if not all(pair)}
    done = sum(counts[key] for key in found)
    yield MeasureProgress(done, len(pairs))
    left = {key: pair for key, pair in zip(keys, stripped, strict=True) if key not in found}
    if left:
        with open_encoder() as encoder:
            scorer = _Scorer(encoder, list(left.values()))
            waiting = list(left)
            for start in range(0, len(waiting), _STORED_AT_ONCE):
                group = waiting[start : start + _STORED_AT_ONCE]
                for key in group:
                    cancel.raise_if_requested()
                    found[key] = scorer.score(*left[key])
                    done += counts[key]
                    yield MeasureProgress(done, len(pairs))
                # In parts: a measure that is stopped goes on from here.
                store.remember({key: astuple(found[key]) for key in group})
    return [found[key] for key in keys]


class _Scorer:
    """Scores one pair after another; the vectors of a text are kept until its last pair.

    Where those that wait take too much memory, the oldest are dropped, and their texts encoded once more.
    """

    def __init__(self, encoder: TextEncoder, pairs: Sequence[tuple[str, str]]) -> None:
        """`pairs`: all that will be scored."""
        self._encoder = encoder
        self._uses = Counter(text for pair in pairs for text in pair)
        self._held: dict[str, Encoded] = {}
        self._held_bytes = 0

    def score(self, candidate: str, reference: str) -> BertScore:
        """The scores of the next pair."""
        score = score_pair(self._encoded(candidate), self._encoded(reference))
        self._uses.subtract((candidate, reference))
        for text in {candidate, reference}:
            if not self._uses[text]:
                self._drop(text)
        while self._held_bytes > _MOST_HELD_BYTES:
            # The oldest: a dictionary keeps the order in which texts came.
            self._drop(next(iter(self._held)))
        return score

    def _encoded(self, text: str) -> Encoded:
        if text not in self._held:
            (self._held[text],) = self._encoder.encode([text])
            self._held_bytes += self._held[text].vectors.nbytes
        return self._held[text]

    def _drop(self, text: str) -> None:
        self._held_bytes -= self._held.pop(text).vectors.nbytes
