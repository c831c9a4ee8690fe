"""How good a system's explanations are, compared with human ones: ROUGE-L, BERTScore, LLM agreement."""

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import astuple, dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt
from rouge_score.tokenize import tokenize

from engine.core.events import CancelToken, MeasureProgress
from engine.core.items import Preference, agree, digest
from engine.core.judgments import Agreement, Unscored
from engine.metrics.accuracy import mean, most_frequent_by_fold
from engine.metrics.intervals import Interval, OverInstructions, grouped_folds
from engine.metrics.matching import Matched, Pair
from engine.store.run_store import RunStore

if TYPE_CHECKING:
    from engine.llama.encoder import Encoded

MOST_COMPARED = 256  # texts that each candidate for the most typical one is compared with


# ROUGE-L of Lin, ROUGE: A Package for Automatic Evaluation of Summaries (2004), as the task's script has it:
# words of the rouge-score package, no stemming, F-measure. Its scorer, to which the tests hold this one, is
# not imported: that takes two seconds (nltk, scikit-learn, pandas), at each start of a command.
@lru_cache(maxsize=1 << 16)  # a window scores the same texts again after each change of a label
def rouge_l(candidate: str, reference: str) -> float:
    """The F-measure (0 to 1) of ROUGE-L; 0 where either text has no words."""
    words = _words(candidate)
    return _f_measure(_places(words), words, _words(reference))


class Typicality:
    """Which text is most like the others by mean ROUGE-L with MOST_COMPARED of them, evenly spread."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        words = [_words(text) for text in texts]
        step = -(-len(texts) // MOST_COMPARED) if texts else 1
        self._compared = np.arange(0, len(texts), step)
        self._likeness = _likeness(words, [words[index] for index in self._compared])

    def most_typical(self, indices: Sequence[int]) -> int | None:
        """Out of `indices` the text most like the others, of equals the first; None without indices."""
        if not len(indices):
            return None
        chosen = np.asarray(indices)
        columns = np.flatnonzero(np.isin(self._compared, chosen))
        if not len(columns):
            return int(chosen[0])
        likeness = self._likeness[np.ix_(chosen, columns)]
        # A text is not compared with itself, which would favour those that are among the columns.
        itself = chosen[:, None] == self._compared[columns][None, :]
        counts = np.maximum((~itself).sum(axis=1), 1)
        return int(chosen[int(np.argmax((likeness * ~itself).sum(axis=1) / counts))])


Words = tuple[str, ...]


@lru_cache(maxsize=1 << 12)  # a text is split for each measure; 5 MB
def _words(text: str) -> Words:
    return tuple(tokenize(text, None))


def _likeness(texts: Sequence[Words], others: Sequence[Words]) -> npt.NDArray[np.float64]:
    """ROUGE-L F-measures, shape (texts, others)."""
    rows: dict[Words, list[float]] = {}
    for text in dict.fromkeys(texts):
        places = _places(text)
        alike = {other: _f_measure(places, text, other) for other in dict.fromkeys(others)}
        rows[text] = [alike[other] for other in others]
    return np.array([rows[text] for text in texts]).reshape(len(texts), len(others))


def _places(words: Words) -> dict[str, int]:
    """For each word the places where it stands, as bits."""
    places: dict[str, int] = {}
    for place, word in enumerate(words):
        places[word] = places.get(word, 0) | 1 << place
    return places


def _f_measure(places: dict[str, int], words: Words, other: Words) -> float:
    """ROUGE-L by a longest common subsequence in bits, some 50 times as fast as by a table (Hyyrö,
    Bit-Parallel LCS-length Computation Revisited, 2004). A zero bit of `open_places` marks where the
    subsequence grew.
    """
    if not words or not other:
        return 0.0
    every = (1 << len(words)) - 1
    open_places = every
    for word in other:
        met = open_places & places.get(word, 0)
        open_places = ((open_places + met) | (open_places - met)) & every
    common = len(words) - open_places.bit_count()
    return 2 * common / (len(words) + len(other))


BERTSCORE_VERSION = 1
"""Part of the key of a cached score: another formula needs another number."""

_STORED_AT_ONCE = 16  # pairs: some seconds of work with a large encoder
_MOST_HELD = 64  # texts whose vectors are kept: with a large encoder 2 MB each, of 512 tokens


class TextEncoder(Protocol):
    def encode(self, texts: Sequence[str]) -> "list[Encoded]": ...


@dataclass(frozen=True)
class BertScore:
    """How alike two texts are: 1 where they are the same; around 0, also below, where nothing is alike."""

    precision: float
    recall: float
    f1: float


_NOTHING = BertScore(0.0, 0.0, 0.0)


# Zhang et al., BERTScore (https://arxiv.org/abs/1904.09675): each token is compared by cosine with all tokens
# of the other text, of which the best match counts. Special tokens can be a match, but weigh nothing. This is
# what the package bert-score 0.3.13 computes without idf weights and without rescaling.
def score_pair(candidate: "Encoded", reference: "Encoded") -> BertScore:
    """Compare two texts of one encoder. All scores are 0 where one of them has no token that weighs."""
    if not candidate.weights.any() or not reference.weights.any():
        return _NOTHING
    similarity = candidate.vectors @ reference.vectors.T
    precision = float(np.average(similarity.max(axis=1), weights=candidate.weights))
    recall = float(np.average(similarity.max(axis=0), weights=reference.weights))
    both = precision + recall
    return BertScore(precision, recall, 2 * precision * recall / both if both else 0.0)


# The scores of pairs are remembered, not the vectors of all texts: those of 12,000 would be gigabytes.
def bert_scores(
    pairs: Sequence[tuple[str, str]],
    encoder_hash: str,
    open_encoder: Callable[[], AbstractContextManager[TextEncoder]],
    store: RunStore,
    cancel: CancelToken,
) -> Generator[MeasureProgress, None, list[BertScore]]:
    """Score all pairs of a candidate and a reference, white space around aside; a pair with an empty text
    scores 0. What `store` knows is not computed again, and equal pairs once. `encoder_hash`: all that vectors
    depend on, the encoder's file and the build of llama.cpp. `open_encoder` is called only where something is
    left to score. After Cancelled the same call goes on where it was. Raises what `open_encoder` does,
    StoreError.
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
            encoded = lru_cache(_MOST_HELD)(lambda text: encoder.encode([text])[0])
            waiting = list(left)
            for start in range(0, len(waiting), _STORED_AT_ONCE):
                group = waiting[start : start + _STORED_AT_ONCE]
                for key in group:
                    cancel.raise_if_requested()
                    found[key] = score_pair(*map(encoded, left[key]))
                    done += counts[key]
                    yield MeasureProgress(done, len(pairs))
                # In parts: a measure that is stopped goes on from here.
                store.remember({key: astuple(found[key]) for key in group})
    return [found[key] for key in keys]


EXPLANATION_MEASURES = ("rouge_l", "bertscore", "agreement")


@dataclass(frozen=True)
class ModelScores:
    """For each explained pair in order, None where not asked for. `bertscores`: F1 (at most 1). `agreements`:
    Unscored where the judge model could not be asked.
    """

    bertscores: Sequence[float] | None = None
    agreements: Sequence[Agreement | Unscored] | None = None


@dataclass(frozen=True, kw_only=True)
class ExplanationMeasures:
    """One criterion over the `items` that have a human explanation. One that the system did not explain
    (`unexplained`) counts 0 in `rouge_l`, `bertscore`, `agreement` and `p_yes`: means x 100, None where they
    were not measured. `unmeasured`: explanations that the judge model could not be asked about, omitted from
    `agreement` and `p_yes`. `answer_mass`: the mean share (0 to 1) of all probability that yes and no hold.
    `typical`: ROUGE-L x 100 of giving each item the most typical human explanation of its most frequent
    label, cross-validated; None for a single instruction. `wordless`, `own_wordless`: how many of the human
    explanations, and of the system's, hold no word that ROUGE-L knows; where most of the human ones do,
    `rouge_l` and `typical` are None: they would be 0 whatever the system says. `words`, `human_words`: mean
    length, split at white space. By measure: `by_item`: 0 to 1 (BERTScore may be below 0), by item id;
    `intervals`: the 95 % interval of the mean x 100, None for a single instruction.
    """

    criterion: str
    items: int
    unexplained: int
    rouge_l: float | None = None
    bertscore: float | None = None
    agreement: float | None = None
    p_yes: float | None = None
    answer_mass: float | None = None
    unmeasured: int = 0
    typical: float | None
    words: float | None
    human_words: float
    wordless: int
    own_wordless: int
    by_item: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    intervals: Mapping[str, Interval | None] = field(default_factory=dict)


def explained_pairs(matched: Matched, criterion: str) -> list[Pair]:
    """The pairs with a human explanation and one of the system: what ModelScores are of."""
    return [pair for pair in _with_reference(matched.pairs[criterion]) if pair.prediction.explanation]


def measure_explanations(criterion: str, pairs: Sequence[Pair]) -> ExplanationMeasures | None:
    """The measures of one criterion that need no model; None where no item has a human explanation."""
    known = _with_reference(pairs)
    if not known:
        return None
    explained = [pair for pair in known if pair.prediction.explanation]
    wordless = sum(not _words(pair.gold.explanation or "") for pair in known)
    mostly = 2 * wordless > len(known)
    measures = ExplanationMeasures(
        criterion=criterion,
        items=len(known),
        unexplained=len(known) - len(explained),
        typical=None if mostly else _typical(known),
        words=mean([len((pair.prediction.explanation or "").split()) for pair in explained]),
        human_words=sum(len((pair.gold.explanation or "").split()) for pair in known) / len(known),
        wordless=wordless,
        own_wordless=sum(not _words(pair.prediction.explanation or "") for pair in explained),
    )
    if mostly:
        return measures
    rouge = [rouge_l(pair.prediction.explanation or "", pair.gold.explanation or "") for pair in known]
    return _with_values(measures, "rouge_l", list(zip(known, rouge, strict=True)))


def mean_explanation_interval(
    measure: str, measures: Sequence[ExplanationMeasures], instructions: Mapping[str, str]
) -> Interval | None:
    """Of the mean of one of EXPLANATION_MEASURES (x 100) over some criteria; None for a single instruction,
    where a criterion was not measured, and without any. `instructions`: by item id.
    """
    columns = {one.criterion: one.by_item.get(measure, {}) for one in measures}
    if not all(columns.values()):
        return None
    groups = {name: [instructions[item_id] for item_id in values] for name, values in columns.items()}
    values = {name: list(column.values()) for name, column in columns.items()}
    return _interval(measure, OverInstructions.of(values, groups))


def add_model_scores(
    measures: ExplanationMeasures, pairs: Sequence[Pair], model_scores: ModelScores
) -> ExplanationMeasures:
    """The same measures with scores of these pairs that needed a model; what `model_scores` lacks stays."""
    known = _with_reference(pairs)
    explained = [pair for pair in known if pair.prediction.explanation]
    zeros = [(pair, 0.0) for pair in known if not pair.prediction.explanation]
    if model_scores.bertscores is not None:
        scored = zip(explained, model_scores.bertscores, strict=True)
        measures = _with_values(measures, "bertscore", [*scored, *zeros])
    if model_scores.agreements is None:
        return measures
    answers = zip(explained, model_scores.agreements, strict=True)
    asked = [(pair, answer) for pair, answer in answers if isinstance(answer, Agreement)]
    agrees = [(pair, float(answer.agrees)) for pair, answer in asked]
    p_yes = mean([*(answer.share for _, answer in asked), *(zero for _, zero in zeros)])
    return replace(
        _with_values(measures, "agreement", [*agrees, *zeros]),
        p_yes=p_yes and 100 * p_yes,
        answer_mass=mean([answer.answer_mass for _, answer in asked]),
        unmeasured=len(model_scores.agreements) - len(asked),
    )


def _with_values(
    measures: ExplanationMeasures, measure: str, values: Sequence[tuple[Pair, float]]
) -> ExplanationMeasures:
    """With the mean of a measure, its interval, and what it is of each item; as it was without any."""
    if not values:
        return measures
    numbers = [value for _, value in values]
    over = OverInstructions.of_one(numbers, [pair.item.group for pair, _ in values])
    means: dict[str, Any] = {measure: 100 * sum(numbers) / len(numbers)}
    return replace(
        measures,
        **means,
        by_item={**measures.by_item, measure: {pair.item.id: value for pair, value in values}},
        intervals={**measures.intervals, measure: _interval(measure, over)},
    )


def _interval(measure: str, over: OverInstructions | None) -> Interval | None:
    """Of a mean x 100."""
    if over is None:
        return None
    if measure == "agreement":  # 0 or 1
        ends: Interval | None = over.share_interval()
    # BERTScores of two texts are .7 or more, whatever these say, and what is missing and counts 0 is seen: by
    # the other interval, for 100 instructions, that of BERTScores was 2.8 times as wide.
    else:
        ends = over.skewed_interval() if measure == "bertscore" else over.score_interval()
    return ends and Interval(100 * max(ends.low, 0.0), 100 * min(ends.high, 1.0))


def _with_reference(pairs: Sequence[Pair]) -> list[Pair]:
    return [pair for pair in pairs if pair.gold.explanation]


def _typical(pairs: Sequence[Pair]) -> float | None:
    """ROUGE-L x 100 of the most typical explanation of the most frequent label, from the other folds."""
    guessed = most_frequent_by_fold(pairs)
    if not guessed:
        return None
    texts = [pair.gold.explanation or "" for pair in pairs]
    chosen = _most_typical_by_fold(pairs, guessed)
    return 100 * sum(map(rouge_l, [texts[index] for index in chosen], texts)) / len(texts)


def _most_typical_by_fold(pairs: Sequence[Pair], guessed: Sequence[Preference | None]) -> list[int]:
    candidates = {
        label: [index for index, pair in enumerate(pairs) if agree(label, pair.gold.label)]
        for label in set(guessed)
    }
    typicality = {
        label: Typicality([pairs[index].gold.explanation or "" for index in indices])
        for label, indices in candidates.items()
    }
    chosen = [0] * len(pairs)
    for train, test in grouped_folds([pair.item.group for pair in pairs]):
        label = guessed[test[0]]
        known = set(train.tolist())
        among = [place for place, index in enumerate(candidates[label]) if index in known]
        place = typicality[label].most_typical(among)
        assert place is not None  # the label is the most frequent of these
        for index in test:
            chosen[index] = candidates[label][place]
    return chosen
