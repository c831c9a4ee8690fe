"""How many labels it takes: what these data could show, what more labels would, how many a difference needs.

With n labels on the N items that the judge read, whose word has the correlation r with annotators', a rate
has the variance K (r²/N + (1 - r²)/n): Angelopoulos, Duchi and Zrnic, PPI++ (2023), with the tuned weight. K
and r are those of the run itself where it has labels; before, K is of the judge's own labels and r a typical
one.

Knows: formulas, corrections. Does not know: how labels are given, how anything is shown.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil, sqrt

import numpy as np

from engine.core.log_probs import FloatArray
from engine.rank.contests import PairComparisons
from engine.rank.correction import Correction

MORE = (20, 50, 100)
"""Numbers of additional labels whose effect is shown."""
DIFFERENCES = (0.03, 0.05, 0.1)
"""Differences of two candidates' win rates, 0 to 1, for which the needed labels are shown."""
TYPICAL = (0.3, 0.5, 0.6)
"""Correlations of judges with annotators in A's win per item: a weak one; on PandaLM's 999 pairs, compared
with the mean of three annotators, .51 for PandaLM-7B and .59 for GPT-3.5. One annotator compared with the
other two has .90 there."""
COST = 20
"""Items that the judge reads in the time of one human label: a minute, compared with three seconds on a
laptop."""
_FOUND = 2.802
"""Standard errors of a difference that a test at 5 % finds in four of five samples: 1.960 + 0.842."""
_MOST = 0.99


@dataclass(frozen=True)
class Needed:
    """To tell two candidates apart whose rates differ by `difference` (0 to 1), in four of five samples: so
    many `items` that the judge reads, of which `labels` are labelled; `alone`: labels without any judge.
    """

    difference: float
    items: int
    labels: int
    alone: int


@dataclass(frozen=True)
class Design:
    """`spread`: K, the variance of a difference of two candidates' rates times the labels; `likeness`: r².

    The middle one of all pairs of candidates.
    """

    spread: float
    likeness: float

    def variance(self, labels: float, items: float) -> float:
        """Of a difference of two rates."""
        return self.spread * (self.likeness / items + (1 - self.likeness) / labels)

    def smallest(self, labels: int, items: int) -> float:
        """The smallest difference (0 to 1) that so many would show in four of five samples."""
        return _FOUND * sqrt(self.variance(labels, items))

    def needed(self, difference: float, items: int) -> Needed:
        """For a difference; the judge reads all items there are, and as many more as are worth it where a
        label costs what COST items cost the judge.
        """
        alone = self.spread / (difference / _FOUND) ** 2
        alike, unlike = sqrt(self.likeness), sqrt(1 - self.likeness)
        read = max(items, ceil(alone * alike * (unlike * sqrt(COST) + alike)))
        left = 1 / alone - self.likeness / read  # of the variance, for the labels
        labels = ceil((1 - self.likeness) / left) if left > 0 else read
        if labels >= read:  # a judge is of no use where all is labelled
            read = labels = ceil(alone)
        return Needed(difference, read, labels, ceil(alone))


@dataclass(frozen=True)
class SampleSize:
    """`labels` on `items` now; `smallest`, `smallest_alone`: the difference of two candidates' rates (0 to 1)
    that these can show, with the judge and by labels alone, None before there are enough labels.
    `half`: half the width of a candidate's interval now, 0 to 1; `with_more`: the same with each of MORE, as
    far as there are items. `needed`: by correlation, each of DIFFERENCES; `is_own`: whether the correlation
    is the run's own.
    """

    labels: int
    items: int
    smallest: float | None
    smallest_alone: float | None
    half: float | None
    with_more: dict[int, float]
    needed: dict[float, list[Needed]]
    is_own: bool


def sample_size(judge: PairComparisons, correction: Correction | None) -> SampleSize | None:
    """By the run's own labels, where it has enough of them, else by what is typical; None where fewer than
    two candidates have two comparisons.
    """
    items = len(judge)
    if correction is not None and len(correction.candidates) > 1:
        found = list(correction.candidates.values())
        labels = correction.labelled
        alone = _middle([one.labels_pulls for one in found])
        with_judge = _middle([one.pulls for one in found])
        if alone > 0:
            gain = (1 - with_judge / alone) * items / (items - labels)
            own = Design(alone * labels, min(max(gain, 0.0), _MOST))
            return _by_own(own, correction, [one.rate.ends for one in found])
    spread = _spread_of_judge(judge)
    if spread is None:
        return None
    designs = {typical: Design(spread, typical**2) for typical in TYPICAL}
    needed = {typical: _needed(design, items) for typical, design in designs.items()}
    labels = correction.labelled if correction is not None else 0
    return SampleSize(labels, items, None, None, None, {}, needed, is_own=False)


def _by_own(own: Design, correction: Correction, ends: Sequence[tuple[float, float] | None]) -> SampleSize:
    labels, items = correction.labelled, correction.items
    half = float(np.median([(high - low) / 2 for low, high in filter(None, ends)]))
    now = own.variance(labels, items)
    return SampleSize(
        labels=labels,
        items=items,
        smallest=own.smallest(labels, items),
        smallest_alone=Design(own.spread, 0.0).smallest(labels, items),
        half=half,
        with_more={
            more: half * sqrt(own.variance(labels + more, items) / now)
            for more in MORE
            if labels + more <= items
        },
        needed={sqrt(own.likeness): _needed(own, items)},
        is_own=True,
    )


def _needed(design: Design, items: int) -> list[Needed]:
    return [design.needed(difference, items) for difference in DIFFERENCES]


def _middle(pulls: Sequence[FloatArray]) -> float:
    """The variance of the difference of two candidates' rates: of half of the pairs less, of half more."""
    return float(np.median([np.sum((one - other) ** 2) for one, other in combinations(pulls, 2)]))


def _spread_of_judge(judge: PairComparisons) -> float | None:
    """K, by what the judge itself takes for the more likely label, as if annotators had said that."""
    known = judge.at(judge.known)
    if not len(known):
        return None
    decided = known.with_said(np.eye(known.said.shape[1])[known.said.argmax(axis=1)])
    pulls = []
    for candidate in range(len(decided.names)):
        places, won = decided.of(candidate)
        if len(places) > 1:
            # Each item by itself: a few labels at random seldom fall on one instruction twice.
            parts = np.zeros(len(decided))
            parts[places] = (won - won.mean()) / len(won)
            pulls.append(parts)
    return (_middle(pulls) * len(known) or None) if len(pulls) > 1 else None
