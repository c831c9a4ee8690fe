"""How a ranking was made, as sentences for a paper.

Knows: which methods a ranking uses. Does not know: formulas, how a paragraph is written, files.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from engine.core import VERSION
from engine.core.formatting import counted, listed, words
from engine.rank.by_labels import ByLabels
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
    ranked: RankedBy, ranking: Ranking, seed: int, corrected: ByLabels | None = None
) -> Sequence[Statement]:
    """What is to be said of a ranking: its data, its labels, its numbers, and how these are corrected;
    `seed`: of the draws; `corrected`: what people's labels make of it.
    """
    said = [*_data(ranked, ranking), *_labels(ranked), *_numbers(ranking, seed)]
    if corrected is not None and corrected.part is not None and corrected.correction is not None:
        said += _correction(ranked, corrected.part, corrected.correction, seed)
    return [*said, COMPUTED]


def _data(ranked: RankedBy, ranking: Ranking) -> Iterator[Statement]:
    dataset, contests = ranked.dataset, ranking.contests
    known = int(np.sum(contests.known))
    pairs = counted(len(contests), "pair of responses", "pairs of responses")
    labelled = "" if known == len(contests) else f", {known:,} of which have a label and count"
    instructions = len(np.unique(contests.instructions))
    compared = (
        f"{counted(len(contests.names), 'candidate', 'candidates')}"
        f" ({listed(contests.names, _MOST_NAMES)}) were compared in {pairs} to"
        f" {counted(instructions, 'instruction', 'instructions')}{labelled}."
    )
    yield Statement(
        " ".join(filter(None, (compared, left_out_in_words(contests.left_out)))),
        f"{dataset.path.name}, its columns that name candidates; SHA-256 of its texts {dataset.hash}",
    )


def _labels(ranked: RankedBy) -> Iterator[Statement]:
    dataset, system, criterion = ranked.dataset, ranked.system, ranked.criterion
    if system is None and criterion is not None:
        several = any(item.gold[criterion].annotators for item in dataset if criterion in item.gold)
        label = "the shares of its annotators' labels" if several else "one label"
        yield Statement(
            f"The labels are people's, on {words(criterion)}: of each pair {label}.",
            f"{dataset.path.name}, the columns of human labels",
        )
    elif system is not None:
        yield from labels_of_system(system, criterion)
    if ranked.weighing is not None:
        weights = ", ".join(f"{words(name)} {weight:g}" for name, weight in ranked.weighing.weights.items())
        yield Statement(
            f"The winner of a pair is that of the weighted sum of scores ({weights}); differences up to"
            f" {ranked.weighing.tie_threshold:g} points are ties.",
            f"Tiebreak {VERSION}, docs/measures.md, Weighted judge; weights as given to the command or the"
            " rubric",
        )


def _numbers(ranking: Ranking, seed: int) -> Iterator[Statement]:
    yield Statement(
        "A win rate is the share of contests won, a tie counting half; its 95 % interval is that of"
        f" {KORN_GRAUBARD.said} over instructions.",
        f"Tiebreak {VERSION}, docs/measures.md, Intervals and tests",
        (KORN_GRAUBARD,),
    )
    if ranking.strengths is not None:
        yield Statement(
            f"Strengths are the largest likelihood of the Bradley-Terry model ({BRADLEY_TERRY.short}) with"
            f" ties ({DAVIDSON.short}); their 95 % intervals are expanded percentiles ({HESTERBERG.short}) of"
            f" {DRAWS:,} bootstrap draws of instructions (seed {seed}), and two candidates are told apart"
            f" where their difference is sure at 5 % over all pairs ({HOLM.short}).",
            f"Tiebreak {VERSION}, engine/rank/strengths.py",
            (BRADLEY_TERRY, DAVIDSON, HESTERBERG, HOLM),
        )
    if ranking.lengths is not None and ranking.lengths.rates:
        yield Statement(
            "Win rates at equal length are those of a logistic regression on candidates and the difference of"
            f" lengths, after {DUBOIS.said}.",
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
    of_run = f"Tiebreak's store, run {results.run.id}, what people said of it; {kept}" if results else kept
    yield Statement(f"Labels of people correct these numbers. {' '.join(part.remarks)}", of_run)
    drawn = (
        " Corrected strengths are fitted to the likelihood that is corrected in the same way, with intervals"
        f" of {DRAWS:,} draws of instructions (seed {seed})."
        if correction.strengths is not None
        else ""
    )
    yield Statement(
        "Corrected win rates are those of prediction-powered inference with a tuned weight"
        f" ({ANGELOPOULOS.short}), with 95 % intervals by Wilson's formula ({WILSON.short}) and Student's t"
        f" over labelled instructions.{drawn}",
        f"Tiebreak {VERSION}, docs/measures.md, A judge corrected by labels",
        (ANGELOPOULOS, WILSON),
    )
