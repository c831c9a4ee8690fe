"""Whether a judge favours candidates, their families, or features of responses such as length: what is won
by the judge minus what is won by annotators, on the items that both labelled; and whether the judge is of the
same family as some candidates.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from engine.core.numeric import BoolArray, FloatArray, IntArray
from engine.core.tables import Estimate
from engine.metrics.intervals import FEW, OverInstructions, holm
from engine.metrics.matching import System
from engine.models.families import families_named, families_of_file
from engine.ranking.comparisons import PairComparisons
from engine.ranking.features import standardised

_LEVEL = 0.05
_CONFOUNDED = 1e-6  # what a feature has beside all others, of its squares
POSITION = "position A"


@dataclass(frozen=True)
class Favour:
    """`difference`: the win rate by the judge minus that by annotators, -1 to 1, 95 % interval over
    instructions. `p_holm`: that it is 0, corrected for all that were compared together. `members`: of a
    family its candidates.
    """

    difference: Estimate
    standard_error: float
    p_holm: float
    items: int
    instructions: int
    members: tuple[str, ...] = ()

    @property
    def is_significant(self) -> bool:
        return self.p_holm < _LEVEL

    @property
    def at_most(self) -> float:
        """How far from 0 its interval reaches."""
        return max(map(abs, self.difference.ends or (1.0,)))


def favour(annotators: PairComparisons, judge: PairComparisons) -> dict[str, Favour]:
    """By candidate, the most favoured first: those that both labelled on FEW instructions or more. Then by
    family of two candidates or more, `llama (family)`, against candidates of others. The same comparisons, of
    which each said something. Simulated: `bench/coverage/favour.py`.
    """
    both = annotators.known & judge.known
    annotators, judge = annotators.at(both), judge.at(both)
    families = _families(annotators.names)
    sides: list[tuple[str, IntArray, BoolArray]] = [
        (name, places, annotators.first[places] == candidate)
        for candidate, (name, places) in enumerate(zip(annotators.names, annotators.of, strict=True))
    ]
    for name, members in families.items():
        own = np.array([each in members for each in annotators.names])
        first, second = own[annotators.first], own[annotators.second]
        places = np.flatnonzero(first != second)
        sides.append((name, places, first[places]))
    known: dict[str, OverInstructions] = {}
    for name, places, is_first in sides:
        said = (each.scores[places] for each in (judge, annotators))
        by_judge, by_annotators = (np.where(is_first, scores, 1 - scores) for scores in said)
        found = OverInstructions.of_one(by_judge - by_annotators, annotators.instructions[places])
        if found is not None and found.instructions >= FEW:
            known[name] = found
    items = {name: round(found.values) for name, found in known.items()}
    made = _together(known, items, families)
    return dict(sorted(made.items(), key=lambda each: (bool(each[1].members), -each[1].difference.value)))


def _families(names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The candidates of each family that has several."""
    found: dict[str, list[str]] = {}
    for name in names:
        for family in sorted(families_named(name)):
            found.setdefault(f"{family} (family)", []).append(name)
    return {family: tuple(own) for family, own in found.items() if len(own) > 1}


def favoured_features(
    annotators: PairComparisons, judge: PairComparisons, features: Mapping[str, FloatArray]
) -> dict[str, Favour]:
    """By feature: how far much more of it moves A's win rate by the judge away from that by annotators, all
    others alike; before these the position as A. A regression of the one minus the other on all differences,
    standardised. Each said something of all items. `features`: A's minus B's of each item; those that differ
    on fewer than FEW instructions, or just as others do, are left out.
    """
    difference, groups = judge.scores - annotators.scores, annotators.instructions
    columns = {POSITION: np.ones(len(groups))}
    for name, values in features.items():
        if len(np.unique(groups[values != 0])) >= FEW:
            columns[name] = standardised(values)
    if len(np.unique(groups)) < FEW:
        return {}
    known: dict[str, OverInstructions] = {}
    every, numbers = np.stack([*columns.values()], axis=1), groups.tolist()
    for place, name in enumerate(columns):
        found = OverInstructions.of_slope(difference, every, place, numbers, _CONFOUNDED)
        if found is not None:
            known[name] = found
    return _together(known, {name: int(np.count_nonzero(columns[name])) for name in known})


def _together(
    known: Mapping[str, OverInstructions],
    items: Mapping[str, int],
    members: Mapping[str, tuple[str, ...]] | None = None,
) -> dict[str, Favour]:
    """Each with its p-value corrected for all (Holm 1979)."""
    corrected = holm([one.p_value for one in known.values()])
    return {
        name: Favour(
            Estimate(one.mean, one.difference_interval()),
            one.standard_error,
            p_holm,
            items[name],
            one.instructions,
            (members or {}).get(name, ()),
        )
        for (name, one), p_holm in zip(known.items(), corrected, strict=True)
    }


def same_family(system: System, candidates: Iterable[str]) -> dict[str, list[str]]:
    """By family of the judge, the candidates whose names say that they are of it; families without any are
    left out. The judge is known by its name, and by the header of its file where that is still there.
    """
    families = families_named(system.name)
    if system.results is not None:
        run = system.results.run
        families |= families_named(run.identity.model_name)
        families |= families_of_file(run.identity.model_path) if run.by_a_model else frozenset()
    of = {name: families_named(name) for name in candidates}
    found = {family: [name for name in of if family in of[name]] for family in sorted(families)}
    return {family: names for family, names in found.items() if names}
