"""What chosen settings are worth on items that took no part in the choice.

Against always giving the most frequent label each response stands in its own place: A and B are alike to what
is calibrated, not to that. Settings are held against each other in both places, as they are calibrated.

Knows: fits to some items, held against others; the frequencies of labels. Does not know: how settings were
chosen, files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil

import numpy as np

from engine.analysis.tuning_choice import BesideLabels, DataSplit, TriedSettings, over_instructions
from engine.calibration.fitting import LEAST_FOR_FITTING, Views, fitted
from engine.calibration.learning import Nats
from engine.core.events import CancelToken
from engine.core.numeric import FloatArray
from engine.core.tables import Estimate
from engine.data.dataset import Dataset
from engine.results.run_results import RunResults

GAIN_TO_SEE = 0.03
"""Of the share of labels that are right: a gain of which it is said how many labels would show it."""
_CERTAINLY_SEEN = ((1.96 + 0.84) / 1.96) ** 2  # times as many show it in 80 of 100 cases, not in half


@dataclass(frozen=True)
class Gain:
    """By how much something is better than something else on the same items, in the mean over criteria.

    `nats`: by how much the log-loss is lower; `right`: of the share of labels that are right, -1 to 1.
    """

    nats: Nats
    right: Estimate

    @property
    def significantly_better(self) -> bool:
        """Whether its labels are surely right more often, or its probabilities surely say more."""
        return self.nats.significantly_above or (self.right.ends is not None and self.right.ends[0] > 0)


@dataclass(frozen=True)
class HeldOut:
    """Chosen settings on `items` of this many `instructions` that took no part, fitted to those that did.

    `criteria`: with labels enough of both; `unscored`: judgments that could not be made there, and take no
    part. `log_loss`: nats; `right`: the share of labels that are right; `frequent`: that of the label which
    is most frequent where it was fitted. `over_frequent`, `over_default`: the gain over the class prior,
    and over the default settings fitted in the same way, on the items that these judged too; None for the
    latter where these were chosen, or judged too few. `needed`: this many held-out instructions would let a
    gain of GAIN_TO_SEE over the most frequent label be seen in four of five cases.
    """

    items: int
    instructions: int
    criteria: tuple[str, ...]
    unscored: int
    log_loss: float
    right: Estimate
    frequent: Estimate
    over_frequent: Gain
    over_default: Gain | None
    needed: int

    @property
    def beats_frequent(self) -> bool:
        """Whether it surely beats the most frequent label, by its labels or by its probabilities."""
        return self.over_frequent.significantly_better


@dataclass(frozen=True)
class TriedRun:
    """Settings, and the results of a run in which they can be looked at."""

    tried: TriedSettings
    results: RunResults

    @property
    def judged(self) -> frozenset[str]:
        """The ids of its items."""
        return frozenset(item.item_id for item in self.results.judged)

    def beside(self, gold: Dataset, ids: frozenset[str]) -> BesideLabels:
        """Beside the labels of these items."""
        return BesideLabels.of(self.tried, self.results, gold, ids)


@dataclass
class _Reported:
    """By criterion, what is said of each held-out item: its loss, whether it is right."""

    losses: dict[str, FloatArray] = field(default_factory=dict)
    right: dict[str, FloatArray] = field(default_factory=dict)

    def add(self, name: str, views: Views, after: FloatArray, read: FloatArray) -> None:
        """What is said `after` of some items as they are; of equals that which is likelier as `read`."""
        self.losses[name] = views.losses(after)
        self.right[name] = np.asarray(views.right(after, read))


@dataclass
class _Compared:
    """What rivals say of the same held-out items, and what the frequencies of the labels do."""

    rivals: list[_Reported]
    frequent: _Reported
    groups: dict[str, Sequence[str]]
    items: frozenset[str]


def held_out(
    chosen: TriedRun, default: TriedRun | None, gold: Dataset, parts: DataSplit, cancel: CancelToken
) -> HeldOut | None:
    """What `chosen` is worth, next to the `default` settings where these are others, on held-out items. None
    where too few of either part were judged. Cancelled.
    """
    alone = _compared([chosen], gold, parts, cancel, as_they_are=True)
    if alone is None:
        return None
    both = None if default is None else _compared([chosen, default], gold, parts, cancel, as_they_are=False)
    (told,), groups = alone.rivals, alone.groups
    over = _gain(told, alone.frequent, groups)
    loss = over_instructions(told.losses, groups)
    return HeldOut(
        items=len(alone.items),
        instructions=loss.instructions,
        criteria=tuple(groups),
        unscored=_unscored(chosen, gold, parts),
        log_loss=loss.mean,
        right=_share(told.right, groups),
        frequent=_share(alone.frequent.right, groups),
        over_frequent=over,
        over_default=None if both is None else _gain(both.rivals[0], both.rivals[1], both.groups),
        needed=_needed(over, loss.instructions),
    )


def _compared(
    rivals: Sequence[TriedRun], gold: Dataset, parts: DataSplit, cancel: CancelToken, *, as_they_are: bool
) -> _Compared | None:
    """On the items that all rivals have a judgment of; None where there are too few. `as_they_are`: else each
    also counts with its responses in the other places.
    """
    judged = frozenset.intersection(*(rival.judged for rival in rivals))
    known, asked = judged & set(parts.to_choose_by), judged & set(parts.held_out)
    if not known or not asked:
        return None
    sides = [[rival.beside(gold, ids) for rival in rivals] for ids in (known, asked)]
    found = _Compared([_Reported() for _ in rivals], _Reported(), {}, asked)
    for name in sides[0][0].criteria:
        if name not in sides[1][0].criteria:
            continue
        scored = [frozenset.intersection(*(each.scored(name) for each in side)) for side in sides]
        if not all(scored):
            continue
        for place, rival in enumerate(found.rivals):
            learned, seen = (side[place].views(name, ids) for side, ids in zip(sides, scored, strict=True))
            if min(learned.instructions, seen.instructions) < LEAST_FOR_FITTING:
                break
            after = seen.decided(fitted(learned, cancel))
            if as_they_are:
                learned, seen, after = learned.as_they_are, seen.as_they_are, after[:1]
            rival.add(name, seen, after, seen.log_probs)
            if place == 0:
                guess = np.broadcast_to(learned.frequencies, seen.log_probs.shape)
                found.frequent.add(name, seen, guess, guess)
                found.groups[name] = tuple(map(str, seen.groups))
    return found if found.groups else None


def _unscored(chosen: TriedRun, gold: Dataset, parts: DataSplit) -> int:
    """How many judgments with a label the chosen settings lack among the held-out items that they judged."""
    beside = chosen.beside(gold, chosen.judged & set(parts.held_out))
    return sum(len(pairs) - len(beside.scored(name)) for name, pairs in beside.matched.pairs.items())


def _gain(one: _Reported, other: _Reported, groups: Mapping[str, Sequence[str]]) -> Gain:
    nats = over_instructions(
        {name: np.round(other.losses[name] - one.losses[name], 12) for name in groups}, groups
    )
    right = over_instructions({name: one.right[name] - other.right[name] for name in groups}, groups)
    return Gain(Nats(nats.mean, nats.mean_interval()), Estimate(right.mean, right.difference_interval()))


def _needed(over: Gain, instructions: int) -> int:
    """As wide an interval as now goes with one over the square root of the number of instructions."""
    ends = over.right.ends
    assert ends is not None  # there are several instructions
    half = (ends[1] - ends[0]) / 2
    return ceil(instructions * (half / GAIN_TO_SEE) ** 2 * _CERTAINLY_SEEN)


def _share(values: Mapping[str, FloatArray], groups: Mapping[str, Sequence[str]]) -> Estimate:
    found = over_instructions(values, groups)
    return Estimate(found.mean, found.share_interval())
