"""What reading the second order only in doubt keeps or saves, margin by margin.

Knows: what both orders said of a run's items. Does not know: how they were read, files, human labels.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.core.errors import SetupError
from engine.core.log_probs import BoolArray
from engine.decisions.second_order import BothOrders
from engine.measure.bootstrap import Interval
from engine.measure.folds import LEAST_GROUPS, group_numbers, grouped_folds

SHOWN = (0.05, *(step / 10 for step in range(1, 10)), 0.95, 1.0)
_Z = 1.959964  # of 95 %


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
    `equal`: the mean over the criteria, `interval_of_equal` as if all labels of an item were one.
    """

    below: float | None
    items: int
    read: float
    saved: float | None
    kept: Mapping[str, float]
    intervals: Mapping[str, Interval]
    equal: float
    interval_of_equal: Interval


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
        raise SetupError(f"The share of labels to keep is {keep}.", "Use more than 0 and at most 1, as 0.99.")
    least = read.least_margin(keep)
    at = sorted({*SHOWN, least})
    points = {below: _point(below, read, read.read(below), read.kept(below), tokens) for below in at}
    return MarginReport(
        keep=keep,
        points=tuple(points.values()),
        least=points[least],
        checked=_checked(read, instructions, keep, tokens),
        reached=min(points[least].kept.values()) >= keep,
        criteria=read.criteria,
    )


def groups_by_instruction(ids: Sequence[str], instructions: Mapping[str, str]) -> list[str | tuple[str, str]]:
    """What items of these ids are grouped by: the instruction, or a mark of its own where it is not known."""
    return [instructions.get(item_id, ("id", item_id)) for item_id in ids]


def _checked(
    read: BothOrders, instructions: Sequence[Hashable], keep: float, tokens: Sequence[OrderTokens] | None
) -> MarginPoint | None:
    """Each fold of instructions by the margin that the others choose."""
    if len(set(group_numbers(instructions).tolist())) < LEAST_GROUPS:
        return None
    twice = np.zeros(len(read.ids), dtype=np.bool_)
    kept = np.zeros(read.equal.shape, dtype=np.bool_)
    for train, test in grouped_folds(instructions):
        below = read.least_margin(keep, train.tolist())
        twice[test], kept[test] = read.read(below)[test], read.kept(below)[test]
    return _point(None, read, twice, kept, tokens)


def _point(
    below: float | None,
    read: BothOrders,
    twice: BoolArray,
    kept: BoolArray,
    tokens: Sequence[OrderTokens] | None,
) -> MarginPoint:
    items, shares = len(twice), kept.mean(axis=0).tolist()
    equal = float(kept.mean())
    return MarginPoint(
        below=below,
        items=items,
        read=float(twice.mean()),
        saved=None if tokens is None else _saved(twice, tokens),
        kept=dict(zip(read.criteria, shares, strict=True)),
        intervals={name: wilson(share, items) for name, share in zip(read.criteria, shares, strict=True)},
        equal=equal,
        interval_of_equal=wilson(equal, items),
    )


def _saved(twice: BoolArray, tokens: Sequence[OrderTokens]) -> float:
    unread = sum(each.second for each, is_read in zip(tokens, twice.tolist(), strict=True) if not is_read)
    return unread / sum(each.first + each.second for each in tokens)


def wilson(share: float, count: int) -> Interval:
    """The 95 % score interval of a share (0 to 1) of so many independent cases, at least one.

    It has a width where the share is 0 or 1, too. Source: Wilson, Probable Inference (1927), JASA 22.
    """
    weight = _Z * _Z / count
    middle = (share + weight / 2) / (1 + weight)
    half = _Z * math.sqrt(share * (1 - share) / count + weight / (4 * count)) / (1 + weight)
    return Interval(max(0.0, middle - half), min(1.0, middle + half))
