"""Jobs of the weighted judge: decide all items by weighted criteria, and fit the weights.

Knows: how margins are counted. Does not know: windows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from engine.core.errors import SetupError
from engine.core.fitted_on import FittedOn, Overlap
from engine.core.value_tables import Table
from gui.weigh.run_weights import BY_HAND, Wish
from gui.work.lanes import Job, JobControl

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.measure.systems import System
    from engine.weigh.system_weighing import ScoredPairs, Weighing

MARGIN_BINS = 20
HIGHEST_MARGIN = 10.0  # points: that of two responses with the scores 10 and 0 on every criterion


@dataclass(frozen=True)
class Weighed:
    """What the weighted judge made of a run. `bins`: how many A wins, B wins and ties have such a margin."""

    wish: Wish
    comparisons: int
    left_out: int
    a: float
    b: float
    tie: float
    mean_margin: float
    bins: Sequence[tuple[int, int, int]]
    agreement: Table | None
    caveats: Sequence[str] = ()


@dataclass(frozen=True)
class Basis:
    """A run, the human labels that fit it, and its response scores by the criteria that count.

    `known` and `overlaps` are filled on the lane of the jobs.
    """

    system: "System"
    gold: "Dataset | None"
    known: "dict[tuple[str, ...], ScoredPairs]" = field(default_factory=dict, compare=False, repr=False)
    overlaps: dict[FittedOn, Overlap] = field(default_factory=dict, compare=False, repr=False)


def weigh(basis: Basis, wish: Wish) -> Job[Weighed]:
    """Decide all items of the run. SetupError where no criterion counts."""

    def work(_control: JobControl) -> Weighed:
        weighing = weighed(basis, wish)
        decided = weighing.result
        return Weighed(
            wish,
            comparisons=len(decided["results"]),
            left_out=len(weighing.left_out),
            a=decided["win_rate_a"],
            b=decided["win_rate_b"],
            tie=decided["tie_rate"],
            mean_margin=decided["avg_margin"],
            bins=_bins(weighing),
            agreement=_agreement(weighing),
            caveats=[weighing.fit_in_words] if weighing.fit_in_words else [],
        )

    return work


def weighed(basis: Basis, wish: Wish) -> "Weighing":
    """What the engine makes of it; on the lane of a job."""
    from engine.weigh.system_weighing import weigh

    system = basis.system
    weights = {
        name: weight for name, weight in wish.weights.items() if weight > 0 and name in system.criteria
    }
    if not weights:
        raise SetupError("All weights are 0.", "Give at least one criterion a weight.")
    made = weigh(_scored_pairs(basis, tuple(weights)), weights, wish.tie_threshold, basis.gold, system)
    return replace(made, fit_in_words=_fit_in_words(basis, wish))


def _fit_in_words(basis: Basis, wish: Wish) -> str:
    """How many of the items took part in the fit that the weights come from; empty where none did."""
    if wish.fit is None:
        return ""
    fitted_on, gold, system = wish.fit.fitted_on, basis.gold, basis.system
    if fitted_on not in basis.overlaps:
        basis.overlaps[fitted_on] = (
            fitted_on.overlap_of_hashes(system.content_hashes.values())
            if gold is None
            else fitted_on.overlap(item for item in gold if item.id in system.rows)
        )
    began = "the weights that these were set from" if wish.source == BY_HAND else "the weights"
    return wish.fit.in_words(basis.overlaps[fitted_on], began)


def decided_items(
    basis: Basis, wish: Wish, winner: str | None, margins: tuple[float, float] | None = None
) -> Job[frozenset[str]]:
    """The ids of the items with a winner (`A`, `B` or `tie`; None for any) and a margin from the first of
    two on, below the second; the highest bin holds all above it too.
    """

    def work(_control: JobControl) -> frozenset[str]:
        low, high = margins or (0.0, HIGHEST_MARGIN)
        last = high >= HIGHEST_MARGIN
        return frozenset(
            decision["id"]
            for decision in weighed(basis, wish).result["results"]
            if winner in (None, decision["winner"])
            and low <= decision["margin"]
            and (last or decision["margin"] < high)
        )

    return work


def _scored_pairs(basis: Basis, criteria: tuple[str, ...]) -> "ScoredPairs":
    from engine.weigh.system_weighing import scored_pairs_of

    if criteria not in basis.known:
        basis.known[criteria] = scored_pairs_of(basis.system, criteria)
    return basis.known[criteria]


def _bins(weighing: "Weighing") -> list[tuple[int, int, int]]:
    places = {"A": 0, "B": 1, "tie": 2}
    counts = [[0, 0, 0] for _ in range(MARGIN_BINS)]
    for decision in weighing.result["results"]:
        place = min(MARGIN_BINS - 1, int(decision["margin"] * MARGIN_BINS / HIGHEST_MARGIN))
        counts[place][places[decision["winner"]]] += 1
    return [(a, b, tie) for a, b, tie in counts]


def _agreement(weighing: "Weighing") -> Table | None:
    from engine.report.weighing_tables import overall_agreement_table

    return overall_agreement_table(weighing.agreement) if weighing.agreement else None


@dataclass(frozen=True)
class Fitted:
    """Weights that fit the human overall labels best, the largest 10, and what they are worth."""

    wish: Wish
    quality: Table


def fit(basis: Basis) -> Job[Fitted]:
    """Fit weights and tie threshold to the human overall labels. SetupError where that cannot be done."""

    def work(_control: JobControl) -> Fitted:
        from engine.report.weighing_tables import fit_table
        from engine.weigh.fitted_weights import kept_of
        from engine.weigh.system_weighing import human_winners
        from engine.weigh.weight_fit import fit_weights

        gold = basis.gold
        if gold is None:
            raise SetupError(
                "There are no human labels to fit weights to.", "Choose them with “Other labels…”."
            )
        pairs = _scored_pairs(basis, basis.system.criteria)
        instructions = {item.id: item.instruction for item in gold}
        human = human_winners(gold)
        found = fit_weights(pairs.rows, human, instructions)
        kept = kept_of(found, gold, human.keys() & {row["id"] for row in pairs.rows})
        largest = max(found.weights.values())
        weights = {name: HIGHEST_MARGIN * weight / largest for name, weight in found.weights.items()}
        source = f"as fitted on {gold.name}"
        return Fitted(Wish(weights, found.tie_threshold, source, kept), fit_table(found))

    return work
