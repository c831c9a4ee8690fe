"""What chosen settings are worth on items that took no part in the choice.

Knows: fits to some items, held against others; the frequencies of labels. Does not know: how settings were
chosen, files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil

import numpy as np

from engine.calibrate.fitting import LEAST_FOR_FITTING, Views, fitted
from engine.calibrate.learning import Nats
from engine.core.cancel import CancelToken
from engine.core.log_probs import FloatArray
from engine.core.value_tables import Estimate
from engine.data.dataset import Dataset
from engine.decisions.run_results import RunResults
from engine.measure.intervals import OverInstructions
from engine.tune.choosing import held_against, labelled_of
from engine.tune.parts import Parts

GAIN_TO_SEE = 0.03
"""Of the share of labels that are right: a gain of which it is said how many labels would show it."""


@dataclass(frozen=True)
class Gain:
    """By how much something is better than something else on the same items, in the mean over criteria.

    `nats`: by how much the log-loss is lower; `right`: of the share of labels that are right, -1 to 1.
    """

    nats: Nats
    right: Estimate

    @property
    def surely_better(self) -> bool:
        """Whether its labels are surely right more often, or its probabilities surely say more."""
        return self.nats.surely_above or (self.right.ends is not None and self.right.ends[0] > 0)


@dataclass(frozen=True)
class HeldOut:
    """Chosen settings on `items` of so many `instructions` that took no part, fitted to those that did.

    `log_loss`: nats; `right`: the share of labels that are right; `frequent`: that of the label which is most
    frequent where it was fitted. `over_frequent`, `over_usual`: the gain over the frequencies there, and over
    the usual settings fitted in the same way; None for the latter where these were chosen. `needed`: so many
    held-out instructions would let a gain of GAIN_TO_SEE over the most frequent label be seen.
    """

    items: int
    instructions: int
    criteria: tuple[str, ...]
    log_loss: float
    right: Estimate
    frequent: Estimate
    over_frequent: Gain
    over_usual: Gain | None
    needed: int

    @property
    def beats_frequent(self) -> bool:
        """Whether it surely beats the most frequent label, by its labels or by its probabilities."""
        return self.over_frequent.surely_better


@dataclass
class _Told:
    """By criterion, what is said of each held-out item: its loss, whether it is right; its instruction."""

    losses: dict[str, FloatArray] = field(default_factory=dict)
    right: dict[str, FloatArray] = field(default_factory=dict)

    def add(self, name: str, losses: FloatArray, right: Sequence[float]) -> None:
        self.losses[name] = losses
        self.right[name] = np.asarray(right)


def held_out(
    chosen: RunResults, usual: RunResults | None, gold: Dataset, parts: Parts, cancel: CancelToken
) -> HeldOut | None:
    """What `chosen` is worth, beside the `usual` settings where these are others, on the held-out items that
    both judged. None where too few of either part are there. Cancelled.
    """
    rivals = [each for each in (chosen, usual) if each is not None]
    both = frozenset(item.item_id for item in chosen.judged)
    if usual is not None:
        both &= {item.item_id for item in usual.judged}
    known, told = both & set(parts.to_choose_by), both & set(parts.held_out)
    if not known or not told:
        return None
    views = [_both_parts(each, gold, known, told) for each in rivals]
    criteria = [name for name in views[0] if all(name in other for other in views)]
    if not criteria:
        return None
    frequent, by_rival = _Told(), [_Told() for _ in rivals]
    groups: dict[str, Sequence[str]] = {}
    for name in criteria:
        known_views, told_views = views[0][name]
        guess = np.broadcast_to(known_views.frequencies, told_views.log_probs.shape)
        frequent.add(name, told_views.losses(guess), told_views.right(guess, guess))
        groups[name] = tuple(map(str, told_views.groups))
        for rival, of_rival in zip(by_rival, views, strict=True):
            learned, seen = of_rival[name]
            after = seen.decided(fitted(learned, cancel))
            rival.add(name, seen.losses(after), seen.right(after, seen.log_probs))
    return _measured(by_rival, frequent, groups, len(told))


def _both_parts(
    results: RunResults, gold: Dataset, known: frozenset[str], told: frozenset[str]
) -> dict[str, tuple[Views, Views]]:
    """By criterion with enough of both, the items that are fitted to, and those that are asked."""
    one, other = (held_against(results, gold, ids) for ids in (known, told))
    found = {}
    for name in one.pairs:
        if name not in other.pairs:
            continue
        learned, seen = labelled_of(one, name), labelled_of(other, name)
        if len(set(learned.groups)) >= LEAST_FOR_FITTING and len(set(seen.groups)) >= LEAST_FOR_FITTING:
            found[name] = (learned.views(), seen.views())
    return found


def _measured(
    rivals: Sequence[_Told], frequent: _Told, groups: Mapping[str, Sequence[str]], items: int
) -> HeldOut:
    chosen = rivals[0]
    over = _gain(chosen, frequent, groups)
    loss = _over(chosen.losses, groups)
    return HeldOut(
        items=items,
        instructions=loss.instructions,
        criteria=tuple(groups),
        log_loss=loss.mean,
        right=_share(chosen.right, groups),
        frequent=_share(frequent.right, groups),
        over_frequent=over,
        over_usual=_gain(chosen, rivals[1], groups) if len(rivals) > 1 else None,
        needed=_needed(over, loss.instructions),
    )


def _gain(one: _Told, other: _Told, groups: Mapping[str, Sequence[str]]) -> Gain:
    nats = _over({name: np.round(other.losses[name] - one.losses[name], 12) for name in groups}, groups)
    right = _over({name: one.right[name] - other.right[name] for name in groups}, groups)
    return Gain(Nats(nats.mean, nats.mean_interval()), Estimate(right.mean, right.difference_interval()))


def _needed(over: Gain, instructions: int) -> int:
    """As wide an interval as now goes with one over the square root of the number of instructions."""
    ends = over.right.ends
    assert ends is not None  # there are several instructions
    half = (ends[1] - ends[0]) / 2
    return ceil(instructions * (half / GAIN_TO_SEE) ** 2)


def _share(values: Mapping[str, FloatArray], groups: Mapping[str, Sequence[str]]) -> Estimate:
    found = _over(values, groups)
    return Estimate(found.mean, found.share_interval())


def _over(values: Mapping[str, FloatArray], groups: Mapping[str, Sequence[str]]) -> OverInstructions:
    found = OverInstructions.of({name: own.tolist() for name, own in values.items()}, groups)
    assert found is not None  # there are several instructions
    return found
