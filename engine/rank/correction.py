"""A ranking by the judge, corrected by people's labels of a random part of the items.

Knows: two `Contests` of the same items, what people said of a part, what the judge expects of all. Does not
know: how the part was picked, how it is shown.
"""

from collections.abc import Container, Generator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from engine.core.cancel import CancelToken
from engine.core.events import MeasureProgress
from engine.core.item_sample import USUAL_SEED
from engine.core.items import HUMAN_LABELS, Tie
from engine.core.log_probs import BoolArray, FloatArray, IntArray
from engine.measure.intervals import FEW
from engine.rank.contests import Contests
from engine.rank.corrected import Corrected, corrected, tuned_weight
from engine.rank.strengths import (
    DRAWS,
    Strengths,
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
"""The share of the random part without a label up to which strengths, which have no worst cases, are
corrected: with as much of it missing, mostly what is not won, intervals without worst cases held in .94 of
drawn worlds.
"""


@dataclass(frozen=True, eq=False)
class Correction:
    """What people would say of all items, out of their labels on a part and the judge's word on all.

    `candidates`, `pairs` (in both directions), `shares` (of labels, by name): those with labels on FEW or
    more instructions. `strengths`: by the corrected contests; None where these do not hold all candidates
    together. `labelled`, `items`: how many. `correlation`: of the judge with people, of what A wins of a
    labelled item; None where either never varies. `unlabelled`: the candidates without enough labels.
    `missing`: how many items of the random part have no label, which widens intervals; of more than
    MOST_MISSING there are no strengths.
    """

    candidates: dict[str, Corrected]
    pairs: dict[tuple[str, str], Corrected]
    shares: dict[str, Corrected]
    strengths: Strengths | None
    labelled: int
    items: int
    correlation: float | None
    unlabelled: tuple[str, ...]
    missing: int = 0

    @property
    def too_many_missing(self) -> bool:
        """Whether too much of the random part has no label for strengths to be corrected."""
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
        """Whether the judge makes the rate of any candidate surer."""
        return any(one.is_helped for one in self.candidates.values())


def correct(
    people: Contests,
    judge: Contests,
    seed: int = USUAL_SEED,
    draws: int = DRAWS,
    cancel: CancelToken | None = None,
    *,
    missing: Container[str] = (),
) -> Generator[MeasureProgress, None, Correction]:
    """`people`, `judge`: the same contests; of which something was said by people, and the `missing` ones, by
    their ids, are a random part of all.

    What the judge could not say is put as what it says on the average, with neither side before the other:
    the judge's word may be anything. `draws`: of the strengths, which are left out at 0; tells how many of
    them are done. Raises Cancelled.
    """
    judge = judge.with_said(_filled(judge))
    _, numbers = np.unique(judge.instructions, return_inverse=True)
    people, judge = (replace(each, instructions=numbers) for each in (people, judge))
    known = people.known
    lacking = np.array([item_id in missing for item_id in people.ids], np.bool_) & ~known
    candidates = {name: _of(people, judge, lacking, place) for place, name in enumerate(judge.names)}
    pairs: dict[tuple[str, str], Corrected] = {}
    for one, other in combinations(range(len(judge.names)), 2):
        found = _of(people, judge, lacking, one, other)
        if found is not None:
            names = judge.names[one], judge.names[other]
            pairs[names], pairs[names[::-1]] = found, found.turned()
    made = Correction(
        candidates={name: found for name, found in candidates.items() if found is not None},
        pairs=pairs,
        shares=_shares(people, judge, lacking),
        strengths=None,
        labelled=int(known.sum()),
        items=len(people),
        correlation=_correlation(people.scores[known], judge.scores[known]),
        unlabelled=tuple(name for name, found in candidates.items() if found is None),
        missing=int(lacking.sum()),
    )
    enough = draws > 0 and len(np.unique(numbers[known])) >= FEW and not known.all()
    if not enough or len(people.components) > 1 or made.too_many_missing:
        return made
    strengths = yield from _strengths(people, judge, seed, draws, cancel)
    return replace(made, strengths=strengths)


def _filled(judge: Contests) -> FloatArray:
    usual = judge.said[judge.known].mean(axis=0) if judge.known.any() else np.eye(len(HUMAN_LABELS))[-1]
    usual[:2] = usual[:2].mean()
    said: FloatArray = np.where(judge.known[:, None], judge.said, usual)
    return said


def _of(
    people: Contests, judge: Contests, lacking: BoolArray, candidate: int, other: int | None = None
) -> Corrected | None:
    """What a candidate won against all others, or one; None with labels on fewer than FEW instructions."""
    places, won = judge.of(candidate)  # the judge says something of all
    if other is not None:
        against = (judge.first[places] == other) | (judge.second[places] == other)
        places, won = places[against], won[against]
    scores = people.scores[places]
    by_people = np.where(judge.first[places] == candidate, scores, 1 - scores)
    return _enough(by_people, won, judge, lacking, places)


def _enough(
    by_people: FloatArray, by_judge: FloatArray, judge: Contests, lacking: BoolArray, places: IntArray
) -> Corrected | None:
    count = int(judge.instructions.max(initial=-1)) + 1
    found = corrected(by_people, by_judge, judge.instructions[places], count, lacking[places])
    return None if found is None or found.instructions < FEW else found


def _shares(people: Contests, judge: Contests, lacking: BoolArray) -> dict[str, Corrected]:
    """Of each label that people or the judge gave; of all ties together where people say no more of them."""
    plain = bool(np.nansum(people.said[:, -1]))
    columns = {label.value: place for place, label in enumerate(HUMAN_LABELS) if label is not Tie.TIE}
    found: dict[str, Corrected | None] = {}
    everywhere = np.arange(len(judge))
    for name, place in list(columns.items())[: 2 if plain else None]:
        found[name] = _enough(people.said[:, place], judge.said[:, place], judge, lacking, everywhere)
    if plain:
        found[ANY_TIE] = _enough(people.ties, judge.ties, judge, lacking, everywhere)
    return {name: one for name, one in found.items() if one is not None}


def _correlation(people: FloatArray, judge: FloatArray) -> float | None:
    if len(people) < 2 or people.std() == 0 or judge.std() == 0:
        return None
    return float(np.corrcoef(people, judge)[0, 1])


def _strengths(
    people: Contests, judge: Contests, seed: int, draws: int, cancel: CancelToken | None
) -> Generator[MeasureProgress, None, Strengths]:
    """Davidson's model fitted to what PPI++ makes of its likelihood.

    That is the mean over labelled items by people's labels, and `weight` times the mean over the others less
    that over the labelled, both by the judge's: with what Davidson's model needs, numbers of contests and
    what was won and tied, linear in each, again such numbers. A draw of the bootstrap draws instructions with
    all of their items; the weight stays that of the whole. Intervals are as wide as Student's t asks of as
    few labelled instructions as a candidate has.
    """
    known = people.known
    weight = _weight_of_strengths(people, judge, known)
    here, there = known * 1.0, (~known) * 1.0
    won, tied = won_by_lower(judge), judge.ties
    columns = [here, there, np.where(known, won_by_lower(people), 0.0), here * won, there * won]
    columns += [np.where(known, people.ties, 0.0), here * tied, there * tied]
    sums = sums_by_instruction(judge, columns)
    first, second = pairs_met(judge)
    size = float(known.sum())  # as many contests as there are labels

    def tallied(weights: FloatArray) -> Tallies:
        drawn = [np.asarray(weights @ each) for each in sums]
        inside, outside = (np.maximum(each.sum(axis=1, keepdims=True), 1.0) for each in drawn[:2])
        labelled, others = drawn[0] / inside, drawn[1] / outside
        by_people, by_judge, elsewhere = drawn[2] / inside, drawn[3] / inside, drawn[4] / outside
        ties, judged_ties, ties_elsewhere = drawn[5] / inside, drawn[6] / inside, drawn[7] / outside
        return Tallies(
            candidates=len(people.names),
            first=first,
            second=second,
            contests=size * ((1 - weight) * labelled + weight * others),
            won=size * (by_people + weight * (elsewhere - by_judge)),
            tied=size * (ties + weight * (ties_elsewhere - judged_ties)),
        )

    count = int(judge.instructions.max()) + 1
    worth = _instructions_of_one(people.at(known))
    return (
        yield from bootstrapped(people.names, tallied, count, worth, seed=seed, draws=draws, cancel=cancel)
    )


def _instructions_of_one(labelled: Contests) -> float:
    """On how many instructions labels say anything of a candidate, in the mean."""
    of_each = [labelled.of(place)[0] for place in range(len(labelled.names))]
    return float(np.mean([len(np.unique(labelled.instructions[places])) for places in of_each]))


def _weight_of_strengths(people: Contests, judge: Contests, known: BoolArray) -> float:
    """The tuned weight of what was won beyond what the strengths by the judge alone let expect."""
    by_judge = fitted(tallies_of(judge))
    difference = by_judge.strengths[0][judge.first] - by_judge.strengths[0][judge.second]
    expected = expected_score(difference, by_judge.tie[0])
    beyond = judge.scores - expected
    return tuned_weight(people.scores[known] - expected[known], beyond[known], beyond[~known])
