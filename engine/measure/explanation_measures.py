"""How good a system's explanations are, compared with human ones: ROUGE-L, BERTScore, LLM agreement.

ROUGE-L is computed here; BERTScore and agreement, which need a model, are measured elsewhere.

Knows: matched pairs. Does not know: models, files, labels' accuracy.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine.core.items import Preference, agree
from engine.core.judgments import Agreement, Unscored
from engine.measure.accuracy import mean
from engine.measure.baselines import most_frequent_by_fold
from engine.measure.folds import grouped_folds
from engine.measure.intervals import Interval, OverInstructions
from engine.measure.matching import Matched, Pair
from engine.measure.rouge import Typicality, holds_words, rouge_l

EXPLANATION_MEASURES = ("rouge_l", "bertscore", "agreement")
_SHARES = ("agreement",)  # of 0 and 1
_CLOSE = ("bertscore",)  # together, far from 0


@dataclass(frozen=True)
class ModelScores:
    """Scores of one criterion that need a model, for each explained pair in order.

    `bertscores`: F1 (at most 1). `agreements`: Unscored for a pair that the judge model could not be asked
    about. Either is None where it was not asked for.
    """

    bertscores: Sequence[float] | None = None
    agreements: Sequence[Agreement | Unscored] | None = None


@dataclass(frozen=True)
class ExplanationMeasures:
    """One criterion over the `items` that have a human explanation.

    An item that the system did not explain (`unexplained`) counts 0 in `rouge_l`, `bertscore`, `agreement`
    and `p_yes`; all four are means x 100, None where they were not measured. `unmeasured`:
    explanations that the judge model could not be asked about, omitted from `agreement` and `p_yes`.
    `answer_mass`: the mean share (0 to 1) of all probability that yes and no hold; well below 1, the judge
    model did not understand what it was asked. `typical`: ROUGE-L x 100 of giving each item the most typical
    human explanation of its most frequent label, cross-validated; None for a single instruction.
    `wordless`, `own_wordless`: how many of the human explanations, and of the system's, hold no word that
    ROUGE-L knows; where most of the human ones do, `rouge_l` and `typical` are None: they would be 0 whatever
    the system says.
    `words`, `human_words`: mean length of the explanations, split at white space.
    By those of EXPLANATION_MEASURES that were measured, `by_item`: 0 to 1 (BERTScore may be below 0), by item
    id; `intervals`: the 95 % interval of the mean x 100, None for a single instruction.
    """

    criterion: str
    items: int
    unexplained: int
    rouge_l: float | None
    bertscore: float | None
    agreement: float | None
    p_yes: float | None
    answer_mass: float | None
    unmeasured: int
    typical: float | None
    words: float | None
    human_words: float
    wordless: int
    own_wordless: int
    by_item: Mapping[str, Mapping[str, float]]
    intervals: Mapping[str, Interval | None]


def explained_pairs(matched: Matched, criterion: str) -> list[Pair]:
    """The pairs with a human explanation and one of the system: what ModelScores are of."""
    return [pair for pair in _with_reference(matched.pairs[criterion]) if pair.prediction.explanation]


def measure_explanations(criterion: str, pairs: Sequence[Pair]) -> ExplanationMeasures | None:
    """The measures of one criterion that need no model; None where no item has a human explanation."""
    known = _with_reference(pairs)
    if not known:
        return None
    explained = [pair for pair in known if pair.prediction.explanation]
    wordless = sum(not holds_words(pair.gold.explanation or "") for pair in known)
    mostly = 2 * wordless > len(known)
    measures = ExplanationMeasures(
        criterion=criterion,
        items=len(known),
        unexplained=len(known) - len(explained),
        rouge_l=None,
        bertscore=None,
        agreement=None,
        p_yes=None,
        answer_mass=None,
        unmeasured=0,
        typical=None if mostly else _typical(known),
        words=mean([len((pair.prediction.explanation or "").split()) for pair in explained]),
        human_words=sum(len((pair.gold.explanation or "").split()) for pair in known) / len(known),
        wordless=wordless,
        own_wordless=sum(not holds_words(pair.prediction.explanation or "") for pair in explained),
        by_item={},
        intervals={},
    )
    if mostly:
        return measures
    rouge = [rouge_l(pair.prediction.explanation or "", pair.gold.explanation or "") for pair in known]
    return _with_values(measures, "rouge_l", list(zip(known, rouge, strict=True)))


def mean_explanation_interval(
    measure: str, measures: Sequence[ExplanationMeasures], instructions: Mapping[str, str]
) -> Interval | None:
    """Of the mean of one of EXPLANATION_MEASURES (x 100) over some criteria; None for a single instruction,
    where a criterion was not measured, and without any.

    `instructions`: by item id.
    """
    columns = {one.criterion: one.by_item.get(measure, {}) for one in measures}
    if not all(columns.values()):
        return None
    return _interval(
        measure,
        OverInstructions.of(
            {name: list(values.values()) for name, values in columns.items()},
            {name: [instructions[item_id] for item_id in values] for name, values in columns.items()},
        ),
    )


def add_model_scores(
    measures: ExplanationMeasures, pairs: Sequence[Pair], model_scores: ModelScores
) -> ExplanationMeasures:
    """The same measures with scores of these pairs that needed a model; what `model_scores` lacks stays."""
    explained: list[Pair] = []
    missing: list[Pair] = []
    for pair in _with_reference(pairs):
        (explained if pair.prediction.explanation else missing).append(pair)
    zeros = [(pair, 0.0) for pair in missing]
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
    """Of a mean x 100.

    BERTScores of two texts are .7 or more, whatever these say, and what is missing and counts 0 is seen: with
    one at the end of the range, as for ROUGE-L, their interval was 2.8 times as wide for 100 instructions.
    """
    if over is None:
        return None
    if measure in _SHARES:
        ends: Interval | None = over.share_interval()
    else:
        ends = over.skewed_interval() if measure in _CLOSE else over.score_interval()
    return ends and Interval(100 * max(ends.low, 0.0), 100 * min(ends.high, 1.0))


def _with_reference(pairs: Sequence[Pair]) -> list[Pair]:
    return [pair for pair in pairs if pair.gold.explanation]


def _typical(pairs: Sequence[Pair]) -> float | None:
    """ROUGE-L x 100 of the most typical explanation of the most frequent label, from the other folds."""
    guessed = most_frequent_by_fold(pairs)
    if not guessed:
        return None
    chosen = _most_typical_by_fold(pairs, guessed)
    scores = [
        rouge_l(pairs[index].gold.explanation or "", pair.gold.explanation or "")
        for index, pair in zip(chosen, pairs, strict=True)
    ]
    return 100 * sum(scores) / len(scores)


def _most_typical_by_fold(pairs: Sequence[Pair], guessed: Sequence[Preference | None]) -> list[int]:
    """For each pair the index of the explanation that it is given."""
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
