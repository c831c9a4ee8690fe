"""The weighted judge on each slice of the items.

Knows: scored pairs, slices. Does not know: by what items are divided, tables, files.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from engine.data.dataset import Dataset
from engine.data.slices import OfSlices, Slice, Slicing
from engine.measure.intervals import Interval
from engine.measure.matching import Matched
from engine.weigh.system_weighing import (
    OverallAgreement,
    ScoredPairs,
    WeightedScoring,
    scored_pairs_of,
    weigh,
)


@dataclass(frozen=True)
class SliceScoring:
    """One slice, whose items have `instructions` different ones.

    `rates`: the share (0 to 1) of its comparisons that A wins, B wins, and that are a tie, by the names of
    WINNERS, each with its interval. `agreement` with human overall labels, None without any.
    """

    part: Slice
    items: int
    instructions: int
    rates: Mapping[str, tuple[float, Interval | None]]
    agreement: OverallAgreement | None
    interval: Interval | None

    def as_json(self) -> dict[str, Any]:
        """All of it under names of its own."""
        rates = {name: {"share": share, "interval": ends} for name, (share, ends) in self.rates.items()}
        return self.part.as_json(
            {
                "items": self.items,
                "rates": rates,
                "agreement": self.agreement and asdict(self.agreement),
                "interval": self.interval,
            }
        )


SlicedWeightedScoring = OfSlices[SliceScoring]
"""The slices of a division in which anything is decided."""


def weigh_slices(
    pairs: ScoredPairs, weighted_scoring: WeightedScoring, gold: Dataset, division: Slicing
) -> SlicedWeightedScoring:
    """What was decided of `pairs`, slice by slice; slices without a decision are omitted."""
    instructions = gold.groups
    rows = {row["id"]: row for row in pairs.rows}
    found = []
    for part in division.slices:
        of_slice = [rows[item_id] for item_id in part.ids if item_id in rows]
        if of_slice:
            decided = weigh(
                ScoredPairs(of_slice), weighted_scoring.weights, weighted_scoring.tie_threshold, gold
            )
            asked = {instructions[row["id"]] for row in of_slice}
            found.append(_of_slice(part, decided, len(asked)))
    return SlicedWeightedScoring(division, tuple(found))


def weigh_by_default(matched: Matched, division: Slicing) -> SlicedWeightedScoring | None:
    """What a system decides by the weights of its rubric, slice by slice; None where it decides nothing, or
    carries nothing that could be weighed.

    A run has its own rubric, a submission that of the labels.
    """
    system = matched.system
    rubric = system.asked or matched.dataset.rubric
    weights = rubric.weights(system.criteria)
    known = frozenset(matched.dataset.ids)
    pairs = scored_pairs_of(system, list(weights), known) if weights else ScoredPairs([])
    if not pairs.rows:
        return None
    weighted_scoring = weigh(pairs, weights, rubric.tie_threshold, matched.dataset, system)
    return (
        None
        if weighted_scoring.informative.refused
        else weigh_slices(pairs, weighted_scoring, matched.dataset, division)
    )


def _of_slice(part: Slice, decided: WeightedScoring, instructions: int) -> SliceScoring:
    agreement = decided.agreement
    interval = agreement.intervals["accuracy"] if agreement else None
    items = len(decided.result["results"])
    return SliceScoring(part, items, instructions, decided.rates, agreement, interval)
