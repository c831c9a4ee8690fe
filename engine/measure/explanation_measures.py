"""How good a system's explanations are, held against human ones: ROUGE-L, BERTScore, LLM agreement.

ROUGE-L is computed here; BERTScore and agreement, which need a model, are measured elsewhere.

Knows: matched pairs. Does not know: models, files, labels' accuracy.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from engine.core.items import Preference, agree
from engine.core.judgments import Agreement, Unscored
from engine.measure.accuracy import mean
from engine.measure.baselines import most_frequent_by_fold
from engine.measure.folds import grouped_folds
from engine.measure.intervals import Interval, OverInstructions
from engine.measure.matching import Matched, Pair
from engine.measure.rouge import Typicality, rouge_l


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
    and `p_yes`; all four are means x 100, the last three None where they were not measured. `interval`: the
    95 % interval of `rouge_l`. `unmeasured`: explanations that the judge model could not be
    asked about, left out of `agreement` and `p_yes`. `format_mass`: the mean share (0 to 1) of all
    probability that yes and no hold; well below 1, the judge model did not understand what it was asked.
    `typical`: ROUGE-L x 100 of giving each item the most typical human explanation of its most frequent
    label, cross-validated; None for a single instruction.
    `words`, `human_words`: mean length of the explanations, split at white space. `rouge_by_item`: 0 to 1, by
    item id.
    """

    criterion: str
    items: int
    unexplained: int
    rouge_l: float
    interval: Interval | None
    bertscore: float | None
    agreement: float | None
    p_yes: float | None
    format_mass: float | None
    unmeasured: int
    typical: float | None
    words: float | None
    human_words: float
    rouge_by_item: Mapping[str, float]


def explained_pairs(matched: Matched, criterion: str) -> list[Pair]:
    """The pairs with a human explanation and one of the system: what ModelScores are of."""
    return [pair for pair in _with_reference(matched.pairs[criterion]) if pair.prediction.explanation]


def measure_explanations(criterion: str, pairs: Sequence[Pair]) -> ExplanationMeasures | None:
    """The measures of one criterion that need no model; None where no item has a human explanation."""
    known = _with_reference(pairs)
    if not known:
        return None
    explained = [pair for pair in known if pair.prediction.explanation]
    rouge = [rouge_l(pair.prediction.explanation or "", pair.gold.explanation or "") for pair in known]
    percents = [100 * value for value in rouge]
    over = OverInstructions.of_one(percents, [pair.item.instruction for pair in known])
    return ExplanationMeasures(
        criterion=criterion,
        items=len(known),
        unexplained=len(known) - len(explained),
        rouge_l=sum(percents) / len(percents),
        interval=over.mean_interval() if over else None,
        bertscore=None,
        agreement=None,
        p_yes=None,
        format_mass=None,
        unmeasured=0,
        typical=_typical(known),
        words=mean([len((pair.prediction.explanation or "").split()) for pair in explained]),
        human_words=sum(len((pair.gold.explanation or "").split()) for pair in known) / len(known),
        rouge_by_item={pair.item.id: value for pair, value in zip(known, rouge, strict=True)},
    )


def mean_rouge_interval(
    measures: Sequence[ExplanationMeasures], instructions: Mapping[str, str]
) -> Interval | None:
    """Of the mean of ROUGE-L (x 100) over some criteria; None for a single instruction, and without any.

    `instructions`: by item id.
    """
    over = OverInstructions.of(
        {one.criterion: [100 * value for value in one.rouge_by_item.values()] for one in measures},
        {one.criterion: [instructions[item_id] for item_id in one.rouge_by_item] for one in measures},
    )
    return over.mean_interval() if over else None


def add_model_scores(measures: ExplanationMeasures, model_scores: ModelScores) -> ExplanationMeasures:
    """The same measures with the scores that needed a model; what `model_scores` lacks stays."""
    missing = measures.unexplained
    if model_scores.bertscores is not None:
        measures = replace(measures, bertscore=_percent(model_scores.bertscores, missing))
    if model_scores.agreements is None:
        return measures
    asked = [answer for answer in model_scores.agreements if isinstance(answer, Agreement)]
    return replace(
        measures,
        agreement=_percent([float(answer.agrees) for answer in asked], missing),
        p_yes=_percent([answer.share for answer in asked], missing),
        format_mass=mean([answer.format_mass for answer in asked]),
        unmeasured=len(model_scores.agreements) - len(asked),
    )


def _with_reference(pairs: Sequence[Pair]) -> list[Pair]:
    return [pair for pair in pairs if pair.gold.explanation]


def _percent(scores: Sequence[float], missing: int) -> float | None:
    """The mean x 100, with 0 for what is missing; None where nothing could be measured."""
    if not len(scores) + missing:
        return None
    return 100 * sum(scores) / (len(scores) + missing)


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
    for train, test in grouped_folds([pair.item.instruction for pair in pairs]):
        label = guessed[test[0]]
        known = set(train.tolist())
        among = [place for place, index in enumerate(candidates[label]) if index in known]
        place = typicality[label].most_typical(among)
        assert place is not None  # the label is the most frequent of these
        for index in test:
            chosen[index] = candidates[label][place]
    return chosen
