"""The weighted judge on each slice of the items.

Knows: scored pairs, slices. Does not know: by what items are divided, tables, files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from engine.data.dataset import Dataset
from engine.data.slices import OfSlices, Slice, Slicing
from engine.measure.intervals import Interval, share_interval
from engine.measure.matching import Matched
from engine.weigh.system_weighing import (
    OverallAgreement,
    ScoredPairs,
    Weighing,
    human_winners,
    scored_pairs_of,
    weigh,
)
from engine.weigh.weighted_judge import WINNERS


@dataclass(frozen=True)
class SliceWeighing:
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


SlicedWeighing = OfSlices[SliceWeighing]
"""The slices of a division in which anything is decided."""


def weigh_slices(pairs: ScoredPairs, weighing: Weighing, gold: Dataset, division: Slicing) -> SlicedWeighing:
    """What was decided of `pairs`, slice by slice; slices without a decision are left out."""
    instructions = dict(zip(gold.ids, gold.texts("instruction").to_pylist(), strict=True))
    human = human_winners(gold)
    rows = {row["id"]: row for row in pairs.rows}
    found = []
    for part in division.slices:
        of_slice = [rows[item_id] for item_id in part.ids if item_id in rows]
        if of_slice:
            decided = weigh(ScoredPairs(of_slice), weighing.weights, weighing.tie_threshold, gold)
            found.append(_of_slice(part, decided, instructions, human))
    return SlicedWeighing(division, tuple(found))


def weigh_as_usual(matched: Matched, division: Slicing) -> SlicedWeighing | None:
    """What a system decides by the weights of its rubric, slice by slice; None where it decides nothing.

    A run has its own rubric, a submission that of the labels.
    """
    system = matched.system
    rubric = system.asked or matched.dataset.rubric
    weights = rubric.weights(system.criteria)
    known = frozenset(matched.dataset.ids)
    pairs = scored_pairs_of(system, list(weights), known) if weights else ScoredPairs([])
    if not pairs.rows:
        return None
    return weigh_slices(pairs, weigh(pairs, weights, rubric.tie_threshold), matched.dataset, division)


def _of_slice(
    part: Slice, decided: Weighing, instructions: Mapping[str, str], human: Mapping[str, str]
) -> SliceWeighing:
    winners = {decision["id"]: decision["winner"] for decision in decided.result["results"]}
    asked = [instructions[item_id] for item_id in winners]
    rates = {}
    for name in WINNERS:
        wins = [float(winner == name) for winner in winners.values()]
        rates[name] = sum(wins) / len(wins), share_interval(wins, asked)
    known: Sequence[str] = [item_id for item_id in winners if item_id in human]
    same = [float(winners[item_id] == human[item_id]) for item_id in known]
    interval = share_interval(same, [instructions[item_id] for item_id in known]) if known else None
    return SliceWeighing(part, len(winners), len(set(asked)), rates, decided.agreement, interval)
