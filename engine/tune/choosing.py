"""Which settings are chosen: the cheapest of those that are within one standard error of the best.

Each is measured as it would be used: calibrated, on the log-loss of items without whose fold it was fitted. A
and B are alike to all of them: one order too is read as it would be with the responses in the other places,
so none of them gains by what places mean in the data.

Knows: looks at runs, labels, folds. Does not know: how runs are made, items that took no part.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from statistics import fmean

import numpy as np

from engine.calibrate.fitting import LEAST_FOR_FITTING, ChosenRegularisation, Views, chosen
from engine.calibrate.labelled import Labelled
from engine.calibrate.learning import Nats
from engine.core.cancel import CancelToken
from engine.core.events import MeasureProgress
from engine.core.formatting import counted
from engine.core.log_probs import FloatArray
from engine.data.dataset import Dataset
from engine.decisions.run_results import RunResults
from engine.measure.intervals import OverInstructions
from engine.measure.matching import Matched, match
from engine.measure.systems import system_of_run
from engine.tune.tried import BOTH, Prompt, TriedSettings

NO_TIME = "no time was left for it"
"""Why a prompt took no part, as a clause."""
_AS_GOOD = 1e-12  # nats
_MOST_LACKING = 0.1  # of a prompt's items, without a judgment, more than of the first prompt's
_LEAST_JUDGED = 0.8  # of the items that the first prompt judged; with fewer, all would be compared on few


@dataclass(frozen=True)
class ItemCost:
    """Of an item: tokens that the model reads, and seconds on this computer."""

    tokens: float
    seconds: float


@dataclass(frozen=True)
class BesideLabels:
    """A run of a prompt next to human labels, looked at as some settings say; `matched`: in all orders."""

    tried: TriedSettings
    matched: Matched

    @classmethod
    def of(
        cls, tried: TriedSettings, results: RunResults, gold: Dataset, ids: frozenset[str]
    ) -> "BesideLabels":
        """Of these items."""
        return cls(tried, held_against(results.as_asked(tried.methods, BOTH), gold, ids))

    @property
    def criteria(self) -> tuple[str, ...]:
        """Those with a label."""
        return tuple(self.matched.pairs)

    def scored(self, criterion: str) -> frozenset[str]:
        """The ids of the items with a judgment and a label on a criterion."""
        return frozenset(pair.item.id for pair in self.matched.pairs[criterion] if pair.judgment is not None)

    def views(self, criterion: str, ids: frozenset[str]) -> Views:
        """These items, all of which are scored, as what is calibrated sees them."""
        results = self.matched.system.results
        assert results is not None  # it is of a run
        pairs = [pair for pair in self.matched.pairs[criterion] if pair.item.id in ids]
        labelled = Labelled.of(criterion, pairs, results, alike=True, lengths=False)
        first = labelled.in_first_order() if self.tried.orders != BOTH else None
        return first or labelled.views()


@dataclass(frozen=True)
class RatedSettings:
    """What a look is worth on the items that settings are chosen by.

    `log_loss`: nats, cross-validated, in the mean over the criteria. `behind`: by how much the best one's is
    less, and its `error`, the standard error of that difference over instructions.
    """

    look: TriedSettings
    cost: ItemCost
    log_loss: float
    behind: float
    error: float

    @property
    def as_good(self) -> bool:
        """Whether it is within one standard error of the best."""
        return self.behind <= self.error + _AS_GOOD


@dataclass(frozen=True)
class SettingsRun:
    """The results of a prompt's run on the items that are looked at, held against the labels; and what each
    look at it costs.
    """

    prompt: Prompt
    results: RunResults
    costs: Mapping[TriedSettings, ItemCost]


@dataclass(frozen=True)
class SettingsChoice:
    """All that were compared, the best first, on how many `items`; and the one that is `chosen`.

    `over_frequencies`: by how much the log-loss of the best is below that of the frequencies of the labels,
    on these items, by which it was found to be the best. `left_out`: prompts that took no part, and why.
    `uncompared`: how many looks there was no time for.
    """

    standings: tuple[RatedSettings, ...]
    items: int
    chosen: RatedSettings
    over_frequencies: Nats
    left_out: Mapping[Prompt, str]
    uncompared: int = 0


def choose(
    seen: Sequence[SettingsRun],
    gold: Dataset,
    criteria: Sequence[str],
    cancel: CancelToken,
    time_left: Callable[[], float] = lambda: inf,
) -> Generator[MeasureProgress, None, SettingsChoice]:
    """Compare all looks at these runs on the items that each of them judged, or as many as there is time for
    (`time_left`: seconds), but one; the first prompt takes part whatever it lacks. Cancelled between two
    steps. ValueError where no item was judged by it.
    """
    judged = {each.prompt: scored_items(each.results, criteria) for each in seen}
    left_out = {each.prompt: why for each in seen[1:] if (why := _why_left_out(each, seen[0], judged))}
    compared = [each for each in seen if each.prompt not in left_out]
    shared = frozenset.intersection(*(judged[each.prompt] for each in compared))
    of_each = [[(look, cost, each.results) for look, cost in each.costs.items()] for each in compared]
    # In turn: where the time ends, each prompt was looked at as often as the others.
    looks = [look for together in zip(*of_each, strict=True) for look in together]
    found: dict[TriedSettings, dict[str, ChosenRegularisation]] = {}
    groups: dict[str, Sequence[str]] = {}
    for done, (look, _, results) in enumerate(looks):
        yield MeasureProgress(done, len(looks))
        beside = BesideLabels.of(look, results, gold, shared)
        known = {name: beside.views(name, shared) for name in criteria if name in beside.criteria}
        enough = {name: views for name, views in known.items() if views.instructions >= LEAST_FOR_FITTING}
        losses: dict[str, ChosenRegularisation] = {}
        for name, views in (enough or known).items():
            if found and time_left() <= 0:
                break
            losses[name] = chosen(views, cancel)
        if len(losses) < len(enough or known):
            break
        found[look] = losses
        groups = {name: tuple(map(str, known[name].groups)) for name in losses}
    yield MeasureProgress(len(found), len(looks))
    there = {look.prompt for look in found}
    left_out |= {each.prompt: NO_TIME for each in compared if each.prompt not in there}
    costs = {look: cost for look, cost, _ in looks}
    standings, over = _standings(costs, found, groups)
    as_good = [each for each in standings if each.as_good]
    cheapest = min(as_good, key=lambda each: (each.cost.tokens, each.log_loss))
    uncompared = len(looks) - len(found)
    return SettingsChoice(tuple(standings), len(shared), cheapest, over, left_out, uncompared)


def _why_left_out(seen: SettingsRun, first: SettingsRun, judged: Mapping[Prompt, frozenset[str]]) -> str:
    """Why a prompt takes no part, as a clause; empty where it does."""
    unscored, of_first = (len(each.results.judged) - len(judged[each.prompt]) for each in (seen, first))
    if unscored - of_first > _MOST_LACKING * len(seen.results.judged):
        return f"it left {counted(unscored, 'item', 'items')} without a judgment"
    if len(seen.results.judged) < _LEAST_JUDGED * len(first.results.judged):
        few = counted(len(seen.results.judged), "item", "items")
        return f"there was time for {few} of {len(first.results.judged):,} alone"
    return ""


def held_against(results: RunResults, gold: Dataset, ids: frozenset[str]) -> Matched:
    """A run, on some of its items, next to their labels."""
    return match(system_of_run(results.model_alone().only(ids)), gold.only(ids), partial=True)


def scored_items(results: RunResults, criteria: Sequence[str]) -> frozenset[str]:
    """The ids of the items with a judgment on each criterion."""
    return frozenset(
        item.item_id for item in results.judged if all(name not in item.unscored for name in criteria)
    )


def _standings(
    costs: Mapping[TriedSettings, ItemCost],
    found: Mapping[TriedSettings, Mapping[str, ChosenRegularisation]],
    groups: Mapping[str, Sequence[str]],
) -> tuple[list[RatedSettings], Nats]:
    """All, the best first; by how much that one is below the frequencies."""
    means = {look: fmean(float(own.losses.mean()) for own in of.values()) for look, of in found.items()}
    best = found[min(means, key=lambda look: (means[look], costs[look].tokens))]
    rated = []
    for look, own in found.items():
        more = {name: own[name].losses - best[name].losses for name in own}
        behind = over_instructions(more, groups)
        rated.append(RatedSettings(look, costs[look], means[look], behind.mean, behind.standard_error))
    less = {name: np.round(own.frequencies - own.losses, 12) for name, own in best.items()}
    over = over_instructions(less, groups)
    standings = sorted(rated, key=lambda each: (each.log_loss, each.cost.tokens))
    return standings, Nats(over.mean, over.mean_interval())


def over_instructions(
    values: Mapping[str, FloatArray], groups: Mapping[str, Sequence[str]]
) -> OverInstructions:
    """The mean over criteria of the mean of their values, shape (items,); there are several instructions."""
    over = OverInstructions.of({name: own.tolist() for name, own in values.items()}, groups)
    assert over is not None
    return over
