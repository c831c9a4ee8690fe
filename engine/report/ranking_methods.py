"""How a ranking was made, as sentences for a paper.

Knows: which methods a ranking uses. Does not know: formulas, how a paragraph is written, files.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from engine.core import VERSION
from engine.core.formatting import counted, listed, words
from engine.rank.by_labels import RankedByLabels
from engine.rank.contests import left_out_in_words
from engine.rank.correction import Correction
from engine.rank.labelled_part import LabelledPart
from engine.rank.ranking import Ranking
from engine.rank.strengths import DRAWS
from engine.report.methods import COMPUTED, Statement, labels_of_system
from engine.report.ranked_by import RankedBy
from engine.report.works import (
    ANGELOPOULOS,
    BRADLEY_TERRY,
    DAVIDSON,
    DUBOIS,
    HESTERBERG,
    HOLM,
    KORN_GRAUBARD,
    WILSON,
)

_MOST_NAMES = 100


def ranking_methods(
    ranked: RankedBy, ranking: Ranking, seed: int, corrected: RankedByLabels | None = None
) -> Sequence[Statement]:
    """What is to be said of a ranking: its data, its labels, its numbers, and how these are corrected;
    `seed`: of the draws; `corrected`: what human labels make of it.
    """
    said = [*_data(ranked, ranking), *_labels(ranked), *_numbers(ranking, seed)]
    if corrected is not None and corrected.part is not None and corrected.correction is not None:
        said += _correction(ranked, corrected.part, corrected.correction, seed)
    return [*said, COMPUTED]


def _data(ranked: RankedBy, ranking: Ranking) -> Iterator[Statement]:
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
            f"Tiebreak {VERSION}, engine/rank/strengths.py",
            (BRADLEY_TERRY, DAVIDSON, HESTERBERG, HOLM),
        )
    if ranking.lengths is not None and ranking.lengths.rates:
        yield Statement(
            "Length-controlled win rates are those of a logistic regression on candidates and length"
            f" differences, after {DUBOIS.said}.",
            f"Tiebreak {VERSION}, engine/rank/lengths.py",
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
