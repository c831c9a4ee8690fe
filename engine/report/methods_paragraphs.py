"""How a ranking was made, as sentences for a paper.

How a system was compared with human labels, as sentences for a paper.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from engine.core import VERSION
from engine.core.formatting import capitalised, counted, listed, words
from engine.metrics.evaluation import Evaluation, wordless_in_words
from engine.ranking.bradley_terry import DRAWS
from engine.ranking.comparisons import left_out_in_words
from engine.ranking.correction import Correction
from engine.ranking.labelled_part import LabelledPart, RankedByLabels
from engine.ranking.ranking import Ranking
from engine.report.methods import (
    ANGELOPOULOS,
    BERGER,
    BRADLEY_TERRY,
    COHEN,
    COMPUTED,
    DAVIDSON,
    DUBOIS,
    HESTERBERG,
    HOLM,
    KORN_GRAUBARD,
    LIN,
    WILSON,
    ZHANG,
    Reference,
    Statement,
    labels_of_system,
)
from engine.report.ranking import RankedBy

_MEASURES = f"Tiebreak {VERSION}, docs/measures.md"
_LABELS = f"{_MEASURES}, Labels"
_NUMBERS = (
    Statement(
        "Accuracy is the share of human labels that the judge also gives; a human label that is only"
        f" “tie” agrees with both kinds of ties. Its 95 % interval is that of {KORN_GRAUBARD.said} over"
        " instructions.",
        _LABELS,
        (KORN_GRAUBARD,),
    ),
    Statement(
        "It is compared with the best of four baselines that do not read the responses: the most"
        " frequent human label of these items, always A, the longer response, and a random label. The"
        f" judge beats the baseline if it is significantly better than each of them ({BERGER.short})."
        f" Kappa is Cohen's ({COHEN.short}), with unscored as a label of its own; macro-F1 is the mean"
        " over the labels that occur.",
        f"{_MEASURES}, Baselines",
        (BERGER, COHEN),
    ),
)


def evaluation_methods(
    evaluation: Evaluation, encoder: str | None = None, judge_model: str | None = None
) -> Sequence[Statement]:
    """What is to be said of it: its data, whose labels are measured, its numbers.

    `encoder`, `judge_model`: the models of BERTScore and of agreement, where these were measured.
    """
    said = [
        *_data(evaluation),
        *labels_of_system(evaluation.matched.system, None),
        _unscored(evaluation),
        *_NUMBERS,
    ]
    if evaluation.explanations:
        said.append(_explanations(evaluation, encoder, judge_model))
    return [*said, COMPUTED]


def _data(evaluation: Evaluation) -> Iterator[Statement]:
    matched = evaluation.matched
    dataset = matched.dataset
    items = matched.labelled_items
    labels = sum(map(len, matched.pairs.values()))
    criteria = ", ".join(f"{words(name)} ({len(pairs):,})" for name, pairs in matched.pairs.items())
    several = any(pair.gold.annotators for pairs in matched.pairs.values() for pair in pairs)
    majority = " If several annotators labelled an item, their majority label counts." if several else ""
    yield Statement(
        f"{capitalised(evaluation.name)} was compared with"
        f" {counted(labels, 'human label', 'human labels')} of {counted(len(items), 'item', 'items')},"
        " pairs of responses to"
        f" {counted(len({item.group for item in items}), 'instruction', 'instructions')}, on"
        f" {counted(len(matched.pairs), 'criterion', 'criteria')}: {criteria}.{majority}",
        f"{dataset.path.name}, the columns of human labels; SHA-256 of its texts {dataset.hash}",
    )
    if known := [*matched.left_out, *matched.caveats]:
        yield Statement(" ".join(map(_sentence, known)), f"{dataset.path.name}, {evaluation.name}")


def _unscored(evaluation: Evaluation) -> Statement:
    """How many labels the system lacks, and how they count."""
    lacking = {name: one.unscored for name, one in evaluation.labels.items() if one.unscored}
    of = counted(sum(one.items for one in evaluation.labels.values()), "human label", "human labels")
    if not lacking:
        return Statement(f"The judge has a label for each of the {of}: none is unscored.", _LABELS)
    each = ", ".join(f"{words(name)} ({count:,})" for name, count in lacking.items())
    are = "is" if sum(lacking.values()) == 1 else "are"
    return Statement(
        f"Of the {of} {sum(lacking.values()):,} {are} unscored by the judge and count as wrong: {each}.",
        _LABELS,
    )


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _explanations(evaluation: Evaluation, encoder: str | None, judge_model: str | None) -> Statement:
    """Of the measures of explanations that were taken, and what they are without."""
    found = evaluation.explanations.values()
    of, lacking, unmeasured = (
        sum(getattr(one, name) for one in found) for name in ("items", "unexplained", "unmeasured")
    )
    by_words = any(one.rouge_l is not None for one in found)
    taken: list[tuple[str, Reference | None]] = [(f"ROUGE-L ({LIN.short})", LIN)] if by_words else []
    if encoder is not None:
        taken.append((f"BERTScore ({ZHANG.short}) by the encoder {encoder}", ZHANG))
    if judge_model is not None:
        taken.append((f"whether the judge model {judge_model} rates them as agreeing", None))
    named = listed([name for name, _ in taken], shown=str)
    held = [f"Explanations are compared with human ones by {named}."] if taken else []
    lacks = [f"The judge explains {of - lacking:,} of {of:,}; the others count 0."] if lacking else []
    if unmeasured:
        lacks.append(
            f"The judge model could not rate {unmeasured:,} of them; these are omitted from the agreement."
        )
    return Statement(
        " ".join(filter(None, (*held, *lacks, wordless_in_words(found)))),
        f"{_MEASURES}, Explanations",
        tuple(work for _, work in taken if work is not None),
    )


_MOST_NAMES = 100


def ranking_methods(
    ranked: RankedBy, ranking: Ranking, seed: int, corrected: RankedByLabels | None = None
) -> Sequence[Statement]:
    """What is to be said of a ranking: its data, its labels, its numbers, and how these are corrected;
    `seed`: of the draws; `corrected`: what human labels make of it.
    """
    said = [*_ranking_methods_data(ranked, ranking), *_labels(ranked), *_numbers(ranking, seed)]
    if corrected is not None and corrected.part is not None and corrected.correction is not None:
        said += _correction(ranked, corrected.part, corrected.correction, seed)
    return [*said, COMPUTED]


def _ranking_methods_data(ranked: RankedBy, ranking: Ranking) -> Iterator[Statement]:
    dataset, comparisons = ranked.dataset, ranking.comparisons
    known = int(np.sum(comparisons.known))
    pairs = counted(len(comparisons), "pair of responses", "pairs of responses")
    labelled = "" if known == len(comparisons) else f", {known:,} of which have a label and count"
    instructions = len(np.unique(comparisons.instructions))
    compared = (
        f"{counted(len(comparisons.names), 'candidate', 'candidates')}"
        f" ({listed(comparisons.names, _MOST_NAMES)}) were compared in {pairs} to"
        f" {counted(instructions, 'instruction', 'instructions')}{labelled}."
    )
    yield Statement(
        " ".join(filter(None, (compared, left_out_in_words(comparisons.left_out)))),
        f"{dataset.path.name}, its columns that name candidates; SHA-256 of its texts {dataset.hash}",
    )


def _labels(ranked: RankedBy) -> Iterator[Statement]:
    dataset, system, criterion = ranked.dataset, ranked.system, ranked.criterion
    if system is None and criterion is not None:
        several = any(item.gold[criterion].annotators for item in dataset if criterion in item.gold)
        label = "the shares of its annotators' labels" if several else "one label"
        yield Statement(
            f"The labels are human ones, on {words(criterion)}: for each pair {label}.",
            f"{dataset.path.name}, the columns of human labels",
        )
    elif system is not None:
        yield from labels_of_system(system, criterion)
    if ranked.weighted_scoring is not None:
        weights = ", ".join(
            f"{words(name)} {weight:g}" for name, weight in ranked.weighted_scoring.weights.items()
        )
        yield Statement(
            f"The winner of a pair is that of the weighted sum of scores ({weights}); differences up to"
            f" {ranked.weighted_scoring.tie_threshold:g} points are ties.",
            f"Tiebreak {VERSION}, docs/measures.md, Weighted judge; weights as given to the command or the"
            " rubric",
        )


def _numbers(ranking: Ranking, seed: int) -> Iterator[Statement]:
    yield Statement(
        "A win rate is the share of comparisons won, a tie counting half; its 95 % interval is that of"
        f" {KORN_GRAUBARD.said} over instructions.",
        f"Tiebreak {VERSION}, docs/measures.md, Intervals and tests",
        (KORN_GRAUBARD,),
    )
    if ranking.bradley_terry is not None:
        yield Statement(
            f"Bradley-Terry scores are maximum-likelihood estimates ({BRADLEY_TERRY.short}) with ties"
            f" ({DAVIDSON.short}); their 95 % intervals are expanded percentiles ({HESTERBERG.short}) of"
            f" {DRAWS:,} bootstrap samples of instructions (seed {seed}), and two candidates differ"
            f" significantly if their difference is significant at 5 % over all pairs ({HOLM.short}).",
            f"Tiebreak {VERSION}, engine/ranking/bradley_terry.py",
            (BRADLEY_TERRY, DAVIDSON, HESTERBERG, HOLM),
        )
    if ranking.lengths is not None and ranking.lengths.rates:
        yield Statement(
            "Length-controlled win rates are those of a logistic regression on candidates and length"
            f" differences, after {DUBOIS.said}.",
            f"Tiebreak {VERSION}, engine/ranking/length_control.py",
            (DUBOIS,),
        )


def _correction(
    ranked: RankedBy, part: LabelledPart, correction: Correction, seed: int
) -> Iterator[Statement]:
    """Nothing where there are too few labels for any candidate: then no number is corrected."""
    if not correction.candidates:
        return
    results = ranked.system.results if ranked.system is not None else None
    kept = f"{ranked.dataset.path.name}, the columns of human labels"
    of_run = f"Tiebreak's store, run {results.run.id}, its annotations; {kept}" if results else kept
    yield Statement(f"Human labels correct these numbers. {' '.join(part.remarks)}", of_run)
    drawn = (
        " Corrected Bradley-Terry scores are fitted to the likelihood corrected in the same way, with"
        f" intervals from {DRAWS:,} bootstrap samples of instructions (seed {seed})."
        if correction.bradley_terry is not None
        else ""
    )
    yield Statement(
        "Corrected win rates are those of prediction-powered inference with a tuned weight"
        f" ({ANGELOPOULOS.short}), with 95 % intervals by Wilson's formula ({WILSON.short}) and Student's t"
        f" over labelled instructions.{drawn}",
        f"Tiebreak {VERSION}, docs/measures.md, A judge corrected by labels",
        (ANGELOPOULOS, WILSON),
    )
