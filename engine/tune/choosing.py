"""Which settings are chosen: the cheapest of those that are within one standard error of the best.

Each is measured as it would be used: calibrated, on the log-loss of items without whose fold it was fitted.

Knows: looks at runs, labels, folds. Does not know: how runs are made, items that took no part.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from engine.calibrate.fitting import chosen
from engine.calibrate.labelled import Labelled
from engine.core.cancel import CancelToken
from engine.core.events import MeasureProgress
from engine.core.log_probs import FloatArray
from engine.data.dataset import Dataset
from engine.decisions.run_results import RunResults
from engine.measure.intervals import OverInstructions
from engine.measure.matching import Matched, match
from engine.measure.systems import system_of_run
from engine.tune.tried import Prompt, TriedSettings

_AS_GOOD = 1e-12  # nats
_MOST_LACKING = 0.1  # of a prompt's items, without a judgment, more than of the first prompt's


@dataclass(frozen=True)
class Cost:
    """Of an item: tokens that the model reads, and seconds on this computer."""

    tokens: float
    seconds: float


@dataclass(frozen=True)
class Rated:
    """What a look is worth on the items that settings are chosen by.

    `log_loss`: nats, cross-validated, in the mean over the criteria. `behind`: by how much the best one's is
    less, and its `error`, the standard error of that difference over instructions.
    """

    look: TriedSettings
    cost: Cost
    log_loss: float
    behind: float
    error: float

    @property
    def as_good(self) -> bool:
        """Whether it is within one standard error of the best."""
        return self.behind <= self.error + _AS_GOOD


@dataclass(frozen=True)
class Seen:
    """The results of a prompt's run on the items that are looked at, held against the labels; and what each
    look at it costs.
    """

    prompt: Prompt
    results: RunResults
    costs: Mapping[TriedSettings, Cost]


@dataclass(frozen=True)
class SettingsChoice:
    """All that were compared, the best first, on how many `items`; and the one that is `chosen`.

    `lacking`: prompts that took no part, each with how many of the items it left without a judgment.
    """

    standings: tuple[Rated, ...]
    items: int
    chosen: Rated
    lacking: Mapping[Prompt, int]


def choose(
    seen: Sequence[Seen], gold: Dataset, criteria: Sequence[str], cancel: CancelToken
) -> Generator[MeasureProgress, None, SettingsChoice]:
    """Compare all looks at these runs on the items that each of them judged; the first prompt takes part
    whatever it lacks. Cancelled between two steps. ValueError where no item was judged by it.
    """
    judged = {each.prompt: scored_items(each.results, criteria) for each in seen}
    unscored = {each.prompt: len(each.results.judged) - len(judged[each.prompt]) for each in seen}
    first = seen[0].prompt
    lacking = {
        each.prompt: unscored[each.prompt]
        for each in seen
        if unscored[each.prompt] - unscored[first] > _MOST_LACKING * len(each.results.judged)
    }
    compared = [each for each in seen if each.prompt not in lacking]
    shared = frozenset.intersection(*(judged[each.prompt] for each in compared))
    looks = [(look, cost, each.results) for each in compared for look, cost in each.costs.items()]
    losses: dict[TriedSettings, dict[str, FloatArray]] = {}
    groups: dict[str, Sequence[str]] = {}
    for done, (look, _, results) in enumerate(looks):
        yield MeasureProgress(done, len(looks))
        matched = held_against(results.as_asked(look.ways, look.orders), gold, shared)
        labelled = {name: labelled_of(matched, name) for name in criteria if name in matched.pairs}
        losses[look] = {name: chosen(each.views(), cancel).losses for name, each in labelled.items()}
        groups = {name: each.groups for name, each in labelled.items()}
    yield MeasureProgress(len(looks), len(looks))
    standings = _standings({look: cost for look, cost, _ in looks}, losses, groups)
    as_good = [each for each in standings if each.as_good]
    cheapest = min(as_good, key=lambda each: (each.cost.tokens, each.log_loss))
    return SettingsChoice(tuple(standings), len(shared), cheapest, lacking)


def held_against(results: RunResults, gold: Dataset, ids: frozenset[str]) -> Matched:
    """A run, on some of its items, beside their labels."""
    return match(system_of_run(results.model_alone().only(ids)), gold.only(ids), partial=True)


def labelled_of(matched: Matched, criterion: str) -> Labelled:
    """The items of a criterion that have a judgment and a label."""
    results = matched.system.results
    assert results is not None  # it is of a run
    pairs = [pair for pair in matched.pairs[criterion] if pair.judgment is not None]
    return Labelled.of(criterion, pairs, results, results.run.in_both_orders, lengths=False)


def scored_items(results: RunResults, criteria: Sequence[str]) -> frozenset[str]:
    """The ids of the items with a judgment on each criterion."""
    return frozenset(
        item.item_id for item in results.judged if all(name not in item.unscored for name in criteria)
    )


def _standings(
    costs: Mapping[TriedSettings, Cost],
    losses: Mapping[TriedSettings, Mapping[str, FloatArray]],
    groups: Mapping[str, Sequence[str]],
) -> list[Rated]:
    means = {look: fmean(float(own.mean()) for own in of.values()) for look, of in losses.items()}
    best = losses[min(means, key=lambda look: (means[look], costs[look].tokens))]
    found = []
    for look, own in losses.items():
        more = {name: np.subtract(own[name], best[name]).tolist() for name in own}
        behind = OverInstructions.of(more, groups)
        assert behind is not None  # there are several instructions
        found.append(Rated(look, costs[look], means[look], behind.mean, behind.standard_error))
    return sorted(found, key=lambda each: (each.log_loss, each.cost.tokens))
