"""What reading the second order only if uncertain keeps or saves, margin by margin.

Knows: what both orders said of a run's items. Does not know: how they were read, files, human labels.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.core.errors import SetupError
from engine.core.numeric import BoolArray
from engine.metrics.intervals import (
    LEAST_GROUPS,
    Interval,
    OverInstructions,
    group_numbers,
    grouped_folds,
    share_interval,
)
from engine.results.second_order import BothOrders

SHOWN = (0.05, *(step / 10 for step in range(1, 10)), 0.95, 1.0)


@dataclass(frozen=True)
class OrderTokens:
    """Tokens to read for an item: of the first order with all that is read once, and of the second."""

    first: int
    second: int


@dataclass(frozen=True)
class MarginPoint:
    """One margin over some `items`.

    `below`: the margin; None where each item has the one that was chosen without it. `read`: share (0 to 1)
    of the items whose second order is read. `saved`: share of all tokens to read, None where these are not
    known. `kept`: share of labels equal to those of both orders, by criterion, and `intervals`: of each;
    `equal`: the mean over the criteria, `interval_of_equal`: of that. Intervals are over instructions. Of
    labels without a calibration; `calibrated`: the same point of calibrated ones, None where there are none.
    """

    below: float | None
    items: int
    read: float
    saved: float | None
    kept: Mapping[str, float]
    intervals: Mapping[str, Interval | None]
    equal: float
    interval_of_equal: Interval | None
    calibrated: "MarginPoint | None" = None

    @property
    def kept_at_least(self) -> float:
        """The least share of all criteria, calibrated too."""
        return min(*self.kept.values(), *(self.calibrated.kept.values() if self.calibrated else ()), 1.0)


@dataclass(frozen=True)
class MarginReport:
    """The points of a run; `least`: that of the least margin that keeps `keep` of each criterion's labels.

    A point is of the items that it is measured on; the least margin was chosen by them, so its own share is
    likely too good. `checked`: the same choice made without the items that it is measured on; None for a run
    with one instruction only. `reached`: whether any margin keeps so many.
    """

    keep: float
    points: tuple[MarginPoint, ...]
    least: MarginPoint
    checked: MarginPoint | None
    reached: bool
    criteria: tuple[str, ...]


def margin_report(
    read: BothOrders,
    instructions: Sequence[Hashable],
    keep: float,
    tokens: Sequence[OrderTokens] | None = None,
) -> MarginReport:
    """Measure MARGINS on items; `instructions` and `tokens`: of each item in the order of `read.ids`.

    SetupError where `keep` is no share.
    """
    if not 0 < keep <= 1:
        raise SetupError(
            f"The share of labels to keep is {keep}.", "Use more than 0 and at most 1, for example 0.99."
        )
    items = _Items(read, instructions, tokens)
    least = read.least_margin(keep)
    points = {below: items.at(below) for below in sorted({*SHOWN, least})}
    return MarginReport(
        keep=keep,
        points=tuple(points.values()),
        least=points[least],
        checked=items.checked(keep),
        reached=points[least].kept_at_least >= keep,
        criteria=read.criteria,
    )


def groups_by_instruction(ids: Sequence[str], instructions: Mapping[str, str]) -> list[str | tuple[str, str]]:
    """What items of these ids are grouped by: the instruction, or a mark of its own where it is not known."""
    return [instructions.get(item_id, ("id", item_id)) for item_id in ids]


@dataclass(frozen=True)
class _Items:
    """The items of a run, by what both orders said of them."""

    read: BothOrders
    instructions: Sequence[Hashable]
    tokens: Sequence[OrderTokens] | None

    def at(self, below: float) -> MarginPoint:
        """A margin on all items."""
        kept, calibrated = self.read.kept(below), self.read.kept_calibrated(below)
        return self._point(below, self.read.read(below), kept, calibrated)

    def checked(self, keep: float) -> MarginPoint | None:
        """Each fold of instructions by the margin that the others choose."""
        if len(set(group_numbers(self.instructions).tolist())) < LEAST_GROUPS:
            return None
        twice = np.zeros(len(self.read.ids), dtype=np.bool_)
        kept = np.zeros(self.read.equal.shape, dtype=np.bool_)
        calibrated = None if self.read.calibrated is None else kept.copy()
        for train, test in grouped_folds(self.instructions):
            below = self.read.least_margin(keep, train.tolist())
            twice[test], kept[test] = self.read.read(below)[test], self.read.kept(below)[test]
            known = self.read.kept_calibrated(below)
            if calibrated is not None and known is not None:
                calibrated[test] = known[test]
        return self._point(None, twice, kept, calibrated)

    def _point(
        self, below: float | None, twice: BoolArray, kept: BoolArray, calibrated: BoolArray | None = None
    ) -> MarginPoint:
        columns = {name: column.tolist() for name, column in zip(self.read.criteria, kept.T, strict=True)}
        together = OverInstructions.of(columns, dict.fromkeys(columns, self.instructions))
        return MarginPoint(
            below=below,
            items=len(twice),
            read=float(twice.mean()),
            saved=None if self.tokens is None else _saved(twice, self.tokens),
            kept=dict(zip(self.read.criteria, kept.mean(axis=0).tolist(), strict=True)),
            intervals={name: share_interval(column, self.instructions) for name, column in columns.items()},
            equal=float(kept.mean()),
            interval_of_equal=together.share_interval() if together else None,
            calibrated=None if calibrated is None else self._point(below, twice, calibrated),
        )


def _saved(twice: BoolArray, tokens: Sequence[OrderTokens]) -> float:
    unread = sum(each.second for each, is_read in zip(tokens, twice.tolist(), strict=True) if not is_read)
    return unread / sum(each.first + each.second for each in tokens)
