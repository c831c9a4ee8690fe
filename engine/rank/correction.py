"""A ranking by the judge, corrected by human labels of a random part of the items.

Knows: two `PairComparisons` of the same items, the annotations of a part, what the judge expects of all.
Does not know: how the part was picked, how it is shown.
"""

from collections.abc import Container, Generator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from engine.core.cancel import CancelToken
from engine.core.events import MeasureProgress
from engine.core.item_sample import DEFAULT_SEED
from engine.core.items import HUMAN_LABELS, Tie
from engine.core.log_probs import BoolArray, FloatArray, IntArray
from engine.measure.intervals import FEW
from engine.rank.contests import PairComparisons
from engine.rank.corrected import Corrected, corrected, tuned_weight
from engine.rank.strengths import (
    DRAWS,
    BradleyTerryScores,
    Tallies,
    bootstrapped,
    expected_score,
    fitted,
    pairs_met,
    sums_by_instruction,
    tallies_of,
    won_by_lower,
)

ANY_TIE = "tie of any kind"
MOST_MISSING = 0.02
"""Bradley-Terry scores, which have no worst-case bounds, are corrected if at most this share of the random
part has no label. With this share missing, mostly losses, the intervals without worst cases covered in .94 of
simulations.
"""


@dataclass(frozen=True, eq=False)
class Correction:
    """What annotators would say of all items, out of their labels on a part and the judge's predictions on
    all.

    `candidates`, `pairs` (in both directions), `shares` (of labels, by name): those with labels on FEW or
    more instructions. `bradley_terry`: by the corrected comparisons; None where these do not hold all
    candidates together. `labelled`, `items`: how many. `correlation`: of the judge with annotators, of what A
    wins of a labelled item; None where either never varies. `unlabelled`: the candidates without enough
    labels. `missing`: how many items of the random part have no label, which widens intervals; of more than
    MOST_MISSING there are no Bradley-Terry scores.
    """

    candidates: dict[str, Corrected]
    pairs: dict[tuple[str, str], Corrected]
    shares: dict[str, Corrected]
    bradley_terry: BradleyTerryScores | None
    labelled: int
    items: int
    correlation: float | None
    unlabelled: tuple[str, ...]
    missing: int = 0

    @property
    def too_many_missing(self) -> bool:
        """Whether too much of the random part has no label for Bradley-Terry scores to be corrected."""
        return self.missing > MOST_MISSING * (self.labelled + self.missing)

    @property
    def worth(self) -> float:
        """How many times the labels it would take to know the candidates' rates by labels alone: of half of
        the candidates less, of half more.
        """
        return float(np.median([one.worth for one in self.candidates.values()])) if self.candidates else 1.0

    @property
    def are_held(self) -> bool:
        """Whether half of the candidates or more have an interval that is kept wide, for labels are few."""
        held = [one.is_held for one in self.candidates.values()]
        return 2 * sum(held) >= len(held) > 0

    @property
    def is_helped(self) -> bool:
        """Whether the judge makes the rate of any candidate more precise."""
        return any(one.is_helped for one in self.candidates.values())


def correct(
    annotators: PairComparisons,
    judge: PairComparisons,
    seed: int = DEFAULT_SEED,
    draws: int = DRAWS,
    cancel: CancelToken | None = None,
    *,
    missing: Container[str] = (),
) -> Generator[MeasureProgress, None, Correction]:
    """`annotators`, `judge`: the same comparisons; of which something was said by annotators, and the
    `missing` ones, by their ids, are a random part of all.

    What the judge could not say is put as what it says on the average, with neither side before the other:
    the judge's predictions may be anything. `draws`: of the Bradley-Terry scores, which are omitted at 0;
    tells how many of them are done. Raises Cancelled.
    """
    judge = judge.with_said(_filled(judge))
    _, numbers = np.unique(judge.instructions, return_inverse=True)
    annotators, judge = (replace(each, instructions=numbers) for each in (annotators, judge))
    known = annotators.known
    lacking = np.array([item_id in missing for item_id in annotators.ids], np.bool_) & ~known
    candidates = {name: _of(annotators, judge, lacking, place) for place, name in enumerate(judge.names)}
    pairs: dict[tuple[str, str], Corrected] = {}
    for one, other in combinations(range(len(judge.names)), 2):
        found = _of(annotators, judge, lacking, one, other)
        if found is not None:
            names = judge.names[one], judge.names[other]
            pairs[names], pairs[names[::-1]] = found, found.turned()
    made = Correction(
        candidates={name: found for name, found in candidates.items() if found is not None},
        pairs=pairs,
        shares=_shares(annotators, judge, lacking),
        bradley_terry=None,
        labelled=int(known.sum()),
        items=len(annotators),
        correlation=_correlation(annotators.scores[known], judge.scores[known]),
        unlabelled=tuple(name for name, found in candidates.items() if found is None),
        missing=int(lacking.sum()),
    )
    enough = draws > 0 and len(np.unique(numbers[known])) >= FEW and not known.all()
    if not enough or len(annotators.components) > 1 or made.too_many_missing:
        return made
    bradley_terry = yield from _strengths(annotators, judge, seed, draws, cancel)
    return replace(made, bradley_terry=bradley_terry)


def _filled(judge: PairComparisons) -> FloatArray:
    default = judge.said[judge.known].mean(axis=0) if judge.known.any() else np.eye(len(HUMAN_LABELS))[-1]
    default[:2] = default[:2].mean()
    said: FloatArray = np.where(judge.known[:, None], judge.said, default)
    return said


def _of(
    annotators: PairComparisons,
    judge: PairComparisons,
    lacking: BoolArray,
    candidate: int,
    other: int | None = None,
) -> Corrected | None:
    """What a candidate won against all others, or one; None with labels on fewer than FEW instructions."""
    places, won = judge.of(candidate)  # the judge says something of all
    if other is not None:
        against = (judge.first[places] == other) | (judge.second[places] == other)
        places, won = places[against], won[against]
    scores = annotators.scores[places]
    by_annotators = np.where(judge.first[places] == candidate, scores, 1 - scores)
    return _enough(by_annotators, won, judge, lacking, places)


def _enough(
    by_annotators: FloatArray,
    by_judge: FloatArray,
    judge: PairComparisons,
    lacking: BoolArray,
    places: IntArray,
) -> Corrected | None:
    count = int(judge.instructions.max(initial=-1)) + 1
    found = corrected(by_annotators, by_judge, judge.instructions[places], count, lacking[places])
    return None if found is None or found.instructions < FEW else found


def _shares(annotators: PairComparisons, judge: PairComparisons, lacking: BoolArray) -> dict[str, Corrected]:
    """Of each label that annotators or the judge gave; of all ties together where annotators say no more of
    them.
    """
    plain = bool(np.nansum(annotators.said[:, -1]))
    columns = {label.value: place for place, label in enumerate(HUMAN_LABELS) if label is not Tie.TIE}
    found: dict[str, Corrected | None] = {}
    everywhere = np.arange(len(judge))
    for name, place in list(columns.items())[: 2 if plain else None]:
        found[name] = _enough(annotators.said[:, place], judge.said[:, place], judge, lacking, everywhere)
    if plain:
        found[ANY_TIE] = _enough(annotators.ties, judge.ties, judge, lacking, everywhere)
    return {name: one for name, one in found.items() if one is not None}


def _correlation(annotators: FloatArray, judge: FloatArray) -> float | None:
    if len(annotators) < 2 or annotators.std() == 0 or judge.std() == 0:
        return None
    return float(np.corrcoef(annotators, judge)[0, 1])


def _strengths(
    annotators: PairComparisons, judge: PairComparisons, seed: int, draws: int, cancel: CancelToken | None
) -> Generator[MeasureProgress, None, BradleyTerryScores]:
    """Davidson's model fitted to what PPI++ makes of its likelihood.

    That is the mean over labelled items by human labels, and `weight` times the mean over the others less
    that over the labelled, both by the judge's: with what Davidson's model needs, numbers of comparisons and
    what was won and tied, linear in each, again such numbers. A draw of the bootstrap draws instructions with
    all of their items; the weight stays that of the whole. Intervals are as wide as Student's t asks of as
    few labelled instructions as a candidate has.
    """
    known = annotators.known
    weight = _weight_of_strengths(annotators, judge, known)
    here, there = known * 1.0, (~known) * 1.0
    won, tied = won_by_lower(judge), judge.ties
    columns = [here, there, np.where(known, won_by_lower(annotators), 0.0), here * won, there * won]
    columns += [np.where(known, annotators.ties, 0.0), here * tied, there * tied]
    sums = sums_by_instruction(judge, columns)
    first, second = pairs_met(judge)
    size = float(known.sum())  # as many comparisons as there are labels

    def tallied(weights: FloatArray) -> Tallies:
        drawn = [np.asarray(weights @ each) for each in sums]
        inside, outside = (np.maximum(each.sum(axis=1, keepdims=True), 1.0) for each in drawn[:2])
        labelled, others = drawn[0] / inside, drawn[1] / outside
        by_annotators, by_judge, elsewhere = drawn[2] / inside, drawn[3] / inside, drawn[4] / outside
        ties, judged_ties, ties_elsewhere = drawn[5] / inside, drawn[6] / inside, drawn[7] / outside
        return Tallies(
            candidates=len(annotators.names),
            first=first,
            second=second,
            comparisons=size * ((1 - weight) * labelled + weight * others),
            won=size * (by_annotators + weight * (elsewhere - by_judge)),
            tied=size * (ties + weight * (ties_elsewhere - judged_ties)),
        )

    count = int(judge.instructions.max()) + 1
    worth = _instructions_of_one(annotators.at(known))
    return (
        yield from bootstrapped(
            annotators.names, tallied, count, worth, seed=seed, draws=draws, cancel=cancel
        )
    )


def _instructions_of_one(labelled: PairComparisons) -> float:
    """On how many instructions labels say anything of a candidate, on average."""
    of_each = [labelled.of(place)[0] for place in range(len(labelled.names))]
    return float(np.mean([len(np.unique(labelled.instructions[places])) for places in of_each]))


def _weight_of_strengths(annotators: PairComparisons, judge: PairComparisons, known: BoolArray) -> float:
    """The tuned weight of what was won beyond what the Bradley-Terry scores by the judge alone let expect."""
    by_judge = fitted(tallies_of(judge))
    difference = by_judge.bradley_terry[0][judge.first] - by_judge.bradley_terry[0][judge.second]
    expected = expected_score(difference, by_judge.tie[0])
    beyond = judge.scores - expected
    return tuned_weight(annotators.scores[known] - expected[known], beyond[known], beyond[~known])
