"""Jobs of weighted scoring: decide all items by weighted criteria, and fit the weights."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

from engine.core.errors import SetupError
from engine.core.judgments import FittedOn, Overlap
from engine.core.tables import Table
from gui.results.run_weights import BY_HAND, WeightsChoice
from gui.workspace.threads import JobControl, job

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.metrics.matching import System
    from engine.ranking.weighted_scoring import ScoredPairs, WeightedScoring

Share = tuple[float, tuple[float, float] | None]
"""0 to 1, and its 95 % interval."""

MARGIN_BINS = 20
HIGHEST_MARGIN = 10.0  # points: that of two responses with the scores 10 and 0 on every criterion


@dataclass(frozen=True)
class WeightedResult:
    tie_threshold: float
    comparisons: int
    left_out: int
    rates: Mapping[str, Share]  # by `A`, `B` and `tie`; an interval where the instructions are known
    mean_margin: float
    bins: Sequence[tuple[int, int, int]]  # how many A wins, B wins and ties have such a margin
    agreement: Table | None = None
    caveats: Sequence[str] = ()  # what must be said before all of it


@dataclass(frozen=True)
class Basis:
    """A run, the human labels that fit it, and its response scores by the criteria that count; the last three
    are found on the jobs' thread.
    """

    system: "System"
    gold: "Dataset | None"
    own: "Dataset | None" = None  # the run's dataset, if it is there
    known: "dict[tuple[str, ...], ScoredPairs]" = field(default_factory=dict, compare=False, repr=False)
    overlaps: dict[FittedOn, Overlap] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def items(self) -> "Dataset | None":
        """Whose instructions give the intervals where there are no human labels; None if it is not there."""
        from engine.results.run_dataset import dataset_of_run

        if self.own is not None or self.gold is not None or self.system.results is None:
            return self.own
        try:
            return dataset_of_run(self.system.results.run)
        except SetupError:
            return None


@job
def weigh(_control: JobControl, basis: Basis, request: WeightsChoice) -> WeightedResult:
    """Decide all items of the run. SetupError where no criterion counts, or none is informative."""
    from engine.report.weighted_scoring import overall_agreement_table

    found = weighed(basis, request)
    found.informative.check()
    return WeightedResult(
        request.tie_threshold,
        comparisons=len(found.result["results"]),
        left_out=len(found.left_out),
        rates=found.rates,
        mean_margin=found.result["avg_margin"],
        bins=_bins(found),
        agreement=overall_agreement_table(found.agreement) if found.agreement else None,
        caveats=[*found.informative.sentences, *filter(None, [found.fit_in_words])],
    )


def weighed(basis: Basis, request: WeightsChoice) -> "WeightedScoring":
    from engine.ranking.weighted_scoring import weigh

    weights = _weights(basis, request)
    pairs = _scored_pairs(basis, tuple(weights))
    made = weigh(pairs, weights, request.tie_threshold, basis.gold, basis.system, items=basis.items)
    return replace(made, fit_in_words=_fit_in_words(basis, request))


def _fit_in_words(basis: Basis, request: WeightsChoice) -> str:
    """How many of the items took part in the fit that the weights come from; empty where none did."""
    if request.fit is None:
        return ""
    fitted_on, gold, system = request.fit.fitted_on, basis.gold, basis.system
    if fitted_on not in basis.overlaps:
        basis.overlaps[fitted_on] = (
            fitted_on.overlap_of_hashes(system.content_hashes.values())
            if gold is None
            else fitted_on.overlap(item for item in gold if item.id in system.rows)
        )
    began = "the weights that these were set from" if request.source == BY_HAND else "the weights"
    return request.fit.in_words(basis.overlaps[fitted_on], began)


@job
def decided_items(
    _control: JobControl,
    basis: Basis,
    request: WeightsChoice,
    winner: str | None,
    margins: tuple[float, float] | None = None,
) -> frozenset[str]:
    """The ids of the items with a winner (`A`, `B` or `tie`; None for any) and a margin from the first of
    two on, below the second; the highest bin holds all above it too.
    """
    low, high = margins or (0.0, HIGHEST_MARGIN)
    high = inf if high >= HIGHEST_MARGIN else high
    decided = weighed(basis, request).result["results"]
    of_winner = (each for each in decided if winner in (None, each["winner"]))
    return frozenset(each["id"] for each in of_winner if low <= each["margin"] < high)


def _weights(basis: Basis, request: WeightsChoice) -> dict[str, float]:
    known = basis.system.criteria
    weights = {name: weight for name, weight in request.weights.items() if weight > 0 and name in known}
    if not weights:
        raise SetupError("All weights are 0.", "Give at least one criterion a weight.")
    return weights


def _scored_pairs(basis: Basis, criteria: tuple[str, ...]) -> "ScoredPairs":
    from engine.ranking.weighted_scoring import scored_pairs_of

    if criteria not in basis.known:
        basis.known[criteria] = scored_pairs_of(basis.system, criteria)
    return basis.known[criteria]


def _bins(weighted_scoring: "WeightedScoring") -> list[tuple[int, int, int]]:
    counts = Counter(
        (min(MARGIN_BINS - 1, int(decision["margin"] * MARGIN_BINS / HIGHEST_MARGIN)), decision["winner"])
        for decision in weighted_scoring.result["results"]
    )
    return [(counts[place, "A"], counts[place, "B"], counts[place, "tie"]) for place in range(MARGIN_BINS)]


@dataclass(frozen=True)
class Fitted:
    """Weights that fit the human overall labels best, the largest 10; `note`: what to say of the ranges."""

    source: str
    request: WeightsChoice
    weights: Table
    quality: Table
    note: str


@job
def fit(_control: JobControl, basis: Basis, request: WeightsChoice) -> Fitted:
    """Fit the weights that are not 0, and the tie threshold, to human overall labels. Raises SetupError."""
    from engine.operations.measuring import fit_weights_to
    from engine.report.weighted_scoring import RANGES, fit_table, fitted_weight_table, ranges_in_words

    gold = basis.gold
    if gold is None:
        raise SetupError("There are no human labels to fit weights to.", "Choose them with “Choose labels…”.")
    criteria = tuple(_weights(basis, request))
    found, kept = fit_weights_to(gold, _scored_pairs(basis, criteria), criteria)
    largest = max(found.weights.values())
    weights = {name: HIGHEST_MARGIN * weight / largest for name, weight in found.weights.items()}
    rest = dict.fromkeys(basis.system.criteria, 0.0)
    source = f"fitted on {gold.name}"
    of_request = f"as {source} ({ranges_in_words(found)})"
    fitted = WeightsChoice(rest | weights, found.tie_threshold, of_request, kept)
    return Fitted(source, fitted, fitted_weight_table(found), fit_table(found), RANGES)
