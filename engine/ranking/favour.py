"""Whether a judge favours candidates: the win rate of each by the judge minus that by annotators, on the
items that both labelled; and whether the judge is of the same family as some.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from engine.core.tables import Estimate
from engine.metrics.intervals import FEW, OverInstructions, holm
from engine.metrics.matching import System
from engine.models.families import families_named, families_of_file
from engine.ranking.comparisons import PairComparisons

_LEVEL = 0.05


@dataclass(frozen=True)
class Favour:
    """`difference`: the win rate by the judge minus that by annotators, -1 to 1, 95 % interval over
    instructions. `p_holm`: that it is 0, corrected for all candidates.
    """

    difference: Estimate
    standard_error: float
    p_holm: float
    items: int
    instructions: int

    @property
    def is_significant(self) -> bool:
        return self.p_holm < _LEVEL

    @property
    def at_most(self) -> float:
        """How far from 0 its interval reaches."""
        return max(map(abs, self.difference.ends or (1.0,)))


def favour(annotators: PairComparisons, judge: PairComparisons) -> dict[str, Favour]:
    """By candidate, the most favoured first: those that both labelled on FEW instructions or more. The same
    comparisons, of which each said something. Simulated: `bench/coverage/favour.py`.
    """
    both = annotators.known & judge.known
    annotators, judge = annotators.at(both), judge.at(both)
    known: dict[str, OverInstructions] = {}
    for candidate, places in enumerate(annotators.of):
        differences = judge.won(candidate, places) - annotators.won(candidate, places)
        found = OverInstructions.of_one(differences, annotators.instructions[places])
        if found is not None and found.instructions >= FEW:
            known[annotators.names[candidate]] = found
    corrected = holm([one.p_value for one in known.values()])
    made = {
        name: Favour(
            Estimate(one.mean, one.difference_interval()),
            one.standard_error,
            p_holm,
            round(one.values),
            one.instructions,
        )
        for (name, one), p_holm in zip(known.items(), corrected, strict=True)
    }
    return dict(sorted(made.items(), key=lambda each: -each[1].difference.value))


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
