"""Learning curves: how well labels are predicted on items that took no part, by number of training labels;
and what reading the second order only if uncertain keeps or saves, margin by margin. Each instruction is
asked in turn, in one of some folds, by a fit on labels of the others: the first few of them in an order that
is drawn, then twice as many, and so on to all; and that in several such orders. So all sizes are measured on
the same items, and what one of them gains over another is known item by item.
"""

from collections.abc import Generator, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from engine.calibration.fitting import LEAST_FOR_FITTING, Views, fitted
from engine.calibration.run_calibration import CalibrationInputs, Wishes, scored
from engine.calibration.scaling import is_right, log_frequencies
from engine.core.errors import SetupError
from engine.core.events import CancelToken, MeasureProgress, Reports
from engine.core.numeric import BoolArray, FloatArray, IntArray
from engine.core.tables import Estimate
from engine.metrics.annotator_agreement import AgainstOthers, annotators_against_others
from engine.metrics.intervals import (
    LEAST_GROUPS,
    Fold,
    Interval,
    OverInstructions,
    group_numbers,
    grouped_folds,
    share_interval,
)
from engine.metrics.matching import Matched
from engine.results.second_order import BothOrders

LEAST_TO_LEARN = 2 * LEAST_FOR_FITTING
"""The minimum number of labelled instructions per criterion for a learning curve."""
_SEED = 0  # the same items make the same curve
# How much wider intervals of nats are than items alone tell: the training labels vary too, and all folds
# share most of them. A few items may lose far more than the rest, too: see `skewed_interval`. Without both,
# intervals of 95 % held 90 % in simulations (`bench/coverage/learning.py`).
_WIDER = 1.2


class Thoroughness(NamedTuple):
    """How much is done for a curve: `folds`, and in how many `orders` the labels of each teach."""

    folds: int = 5
    orders: int = 2


_USUAL = Thoroughness()


class Nats(NamedTuple):
    """Nats (a log-loss, a difference of two), with the 95 % interval over instructions if these vary."""

    value: float
    interval: Interval | None

    @property
    def significantly_above(self) -> bool:
        return self.interval is not None and self.interval.low > 0

    @property
    def significantly_below(self) -> bool:
        return self.interval is not None and self.interval.high < 0

    def turned(self) -> "Nats":
        ends = None if self.interval is None else Interval(-self.interval.high, -self.interval.low)
        return Nats(-self.value, ends)

    def as_json(self) -> dict[str, Any]:
        return {"nats": self.value, "interval": self.interval}


@dataclass(frozen=True)
class LearningPoint:
    """Means over the criteria, on items that took no part. `labels`: of one criterion. `right`: the share of
    labels that are. `frequencies`: the log-loss (nats) of those of the same labels, `ahead`: how much more
    that is than `log_loss`; `frequent`: how often their most frequent is right, in the dataset's places.
    """

    labels: int
    log_loss: Nats
    right: Estimate
    frequencies: float
    ahead: Nats
    frequent: Estimate

    def as_json(self) -> dict[str, Any]:
        return {
            "labels": self.labels,
            "log_loss": self.log_loss.as_json(),
            "right": _estimate_json(self.right),
            "frequencies": {"log_loss": self.frequencies, "right": _estimate_json(self.frequent)},
            "below_frequencies": {**self.ahead.as_json(), "surely": self.ahead.significantly_above},
        }


@dataclass(frozen=True)
class Doubling:
    """`gained`: by how much the log-loss fell; `more_right`: how many more labels are right, -1 to 1."""

    from_labels: int
    to_labels: int
    gained: Nats
    more_right: Estimate

    def as_json(self) -> dict[str, Any]:
        return {
            "from_labels": self.from_labels,
            "to_labels": self.to_labels,
            "less_log_loss": {**self.gained.as_json(), "surely": self.gained.significantly_above},
            "more_right": _estimate_json(self.more_right),
        }


@dataclass(frozen=True)
class LearningCurve:
    """From few labels to many; `last`: what the last doubling brought in the mean, `by_criterion` on each.
    `labelled`: all labels of these. `left_out`: criteria with too few, with their instructions. `annotators`:
    each against the majority of the others on these together, all in turn first.
    """

    points: tuple[LearningPoint, ...]
    last: Doubling
    by_criterion: Mapping[str, Doubling]
    labelled: Mapping[str, int]
    left_out: Mapping[str, int]
    annotators: tuple[AgainstOthers, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "points": [point.as_json() for point in self.points],
            "last_doubling": self.last.as_json(),
            "criteria": {
                name: {"labels": self.labelled[name], "last_doubling": last.as_json()}
                for name, last in self.by_criterion.items()
            },
            "left_out": {name: {"instructions": count} for name, count in self.left_out.items()},
            "people": [
                {"person": held.annotator, "items": held.items, "the_others_label": _estimate_json(held.own)}
                for held in self.annotators
            ],
        }


def _estimate_json(found: Estimate) -> dict[str, Any]:
    return {"value": found.value, "interval": found.ends}


@dataclass(frozen=True)
class _Trained:
    """The results of a criterion by number of training labels. `sizes`: the least first. Of each of its
    items, shape (sizes, items): the loss and how right the label is, and both of the frequencies. `groups`:
    their instructions.
    """

    sizes: Sequence[int]
    losses: FloatArray
    right: FloatArray
    frequencies: FloatArray
    frequent: FloatArray
    groups: Sequence[Hashable]


def run_curve(
    matched: Matched,
    cancel: CancelToken | None = None,
    wishes: Wishes | None = None,
    thorough: Thoroughness = _USUAL,
) -> Generator[MeasureProgress, None, LearningCurve]:
    """Of a run's own raw predictions, as `calibrating` takes them; by default as its calibration does.
    SetupError for a submission, and for too few labels; Cancelled between two fits.
    """
    results = matched.system.results
    if wishes is None:
        wishes = Wishes.of(results.calibration if results is not None else None)
    inputs = CalibrationInputs.of(matched, wishes, "have a learning curve")
    read = {name: scored(pairs) for name, pairs in matched.pairs.items()}
    left_out = {name: 0 for name, pairs in read.items() if not pairs}
    seen = {name: inputs.labelled(name, pairs).views() for name, pairs in read.items() if pairs}
    curve = yield from learning(seen, cancel, thorough, left_out)
    annotators = annotators_against_others(inputs.results, matched.dataset, tuple(curve.labelled))
    return replace(curve, annotators=tuple(annotators))


def learning(
    seen: Mapping[str, Views],
    cancel: CancelToken | None = None,
    thorough: Thoroughness = _USUAL,
    left_out: Mapping[str, int] | None = None,
) -> Generator[MeasureProgress, None, LearningCurve]:
    """By criterion, without annotators; `left_out`: criteria without labels. SetupError where none has
    LEAST_TO_LEARN instructions; Cancelled between two fits.
    """
    few = {name: views.instructions for name, views in seen.items() if views.instructions < LEAST_TO_LEARN}
    few |= left_out or {}
    enough = {name: views for name, views in seen.items() if name not in few}
    if not enough:
        raise SetupError(
            f"A learning curve needs labels of {LEAST_TO_LEARN} different instructions; there are"
            f" {max(few.values(), default=0)}.",
            "Label more items.",
        )
    folds = {name: grouped_folds(views.groups, thorough.folds) for name, views in enough.items()}
    halved = {name: _halved(min(len(train) for train, _ in of_one)) for name, of_one in folds.items()}
    rows = min(map(len, halved.values()))
    sizes = {name: sizes[-rows:] for name, sizes in halved.items()}
    steps, done = sum(map(len, folds.values())) * thorough.orders, 0
    trained_on = []
    yield MeasureProgress(0, steps)
    for name, views in enough.items():
        work = Reports(_teaching(views, folds[name], sizes[name], thorough.orders, cancel or CancelToken()))
        for _ in work:
            done += 1
            yield MeasureProgress(done, steps)
        trained_on.append(work.result)
    return LearningCurve(
        points=tuple(_point(trained_on, row) for row in range(len(trained_on[0].sizes))),
        last=_doubling(trained_on),
        by_criterion={name: _doubling([each]) for name, each in zip(enough, trained_on, strict=True)},
        labelled={name: len(views.groups) for name, views in enough.items()},
        left_out=few,
    )


def _halved(most: int) -> list[int]:
    """A number, half of it and so on, the least first: LEAST_FOR_FITTING or more, but for the last two."""
    sizes = [most]
    while len(sizes) == 1 or sizes[0] // 2 >= LEAST_FOR_FITTING:
        sizes.insert(0, sizes[0] // 2)
    return sizes


def _teaching(
    seen: Views, folds: Sequence[Fold], sizes: Sequence[int], orders: int, cancel: CancelToken
) -> Generator[None, None, _Trained]:
    """Fit by each size in each fold and order; a step for each fold and order."""
    losses, right, frequencies, frequent = np.zeros((4, len(sizes), len(seen.groups)))
    random = np.random.default_rng(_SEED)
    for train, test in folds:
        asked = seen.only(test)
        for _ in range(orders):
            drawn = _in_drawn_order(seen, train, random)
            for row, size in enumerate(sizes):
                known = seen.only(drawn[:size])
                plain = np.broadcast_to(known.frequencies, asked.log_probs.shape)
                after = asked.decided(fitted(known, cancel))
                losses[row, test] += asked.losses(after) / orders
                right[row, test] += np.divide(asked.right(after, asked.log_probs), orders)
                frequencies[row, test] += asked.losses(plain) / orders
                # Of equals the first, in their own places: in both together A and B are equally frequent, and
                # where A is usual that would be far below always A.
                default = np.full(len(asked.groups), log_frequencies(known.labels[0]).argmax())
                frequent[row, test] += is_right(default, asked.labels[0]) / orders
            yield
    return _Trained(sizes, losses, right, frequencies, frequent, seen.groups)


def _in_drawn_order(seen: Views, train: IntArray, random: np.random.Generator) -> IntArray:
    """The places of items, all of one instruction after all of another."""
    drawn: dict[Hashable, float] = {}
    for place in train.tolist():
        drawn.setdefault(seen.groups[place], float(random.random()))
    keys = [drawn[seen.groups[place]] for place in train.tolist()]
    return np.asarray(train[np.argsort(keys, kind="stable")])


def _point(trained_on: Sequence[_Trained], row: int) -> LearningPoint:
    loss = _mean(trained_on, [each.losses[row] for each in trained_on])
    plain = _mean(trained_on, [each.frequencies[row] for each in trained_on])
    right = _mean(trained_on, [each.right[row] for each in trained_on])
    frequent = _mean(trained_on, [each.frequent[row] for each in trained_on])
    return LearningPoint(
        labels=_labels(trained_on, row),
        log_loss=_with_interval(loss),
        right=Estimate(right.mean, right.share_interval()),
        frequencies=plain.mean,
        ahead=_nats(trained_on, [each.frequencies[row] - each.losses[row] for each in trained_on]),
        frequent=Estimate(frequent.mean, frequent.share_interval()),
    )


def _doubling(trained_on: Sequence[_Trained]) -> Doubling:
    more = _mean(trained_on, [each.right[-1] - each.right[-2] for each in trained_on])
    return Doubling(
        _labels(trained_on, -2),
        _labels(trained_on, -1),
        _nats(trained_on, [each.losses[-2] - each.losses[-1] for each in trained_on]),
        Estimate(more.mean, more.difference_interval()),
    )


def _labels(trained_on: Sequence[_Trained], row: int) -> int:
    """As the mean over the criteria."""
    return round(fmean(each.sizes[row] for each in trained_on))


def _nats(trained_on: Sequence[_Trained], gains: Sequence[FloatArray]) -> Nats:
    """The mean of differences of losses."""
    # Both may be those of the frequencies, but for rounding.
    return _with_interval(_mean(trained_on, [np.round(each, 12) for each in gains]))


def _with_interval(found: OverInstructions) -> Nats:
    ends = found.skewed_interval()
    if ends is None:
        return Nats(found.mean, None)
    half = _WIDER * (ends.high - found.mean)
    return Nats(found.mean, Interval(found.mean - half, found.mean + half))


def _mean(trained_on: Sequence[_Trained], values: Sequence[FloatArray]) -> OverInstructions:
    """Over the criteria, of the means over their items."""
    return OverInstructions.of_enough(
        {str(place): each for place, each in enumerate(values)},
        {str(place): each.groups for place, each in enumerate(trained_on)},
    )


SHOWN = (0.05, *(step / 10 for step in range(1, 10)), 0.95, 1.0)


@dataclass(frozen=True)
class OrderTokens:
    """Tokens to read for an item: of the first order with all that is read once, and of the second."""

    first: int
    second: int


@dataclass(frozen=True)
class MarginPoint:
    """`below`: the margin; None where each item has the one that was chosen without it. `read`: share (0 to
    1) of items whose second order is read; `saved`: of all tokens, None where not known. `kept`: share of
    labels equal to those of both orders, by criterion, with `intervals` over instructions; `equal`: their
    mean. `calibrated`: the same point of calibrated labels, None without a calibration.
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


@dataclass(frozen=True)
class MarginReport:
    """`least`: the least margin that keeps `keep` of each criterion's labels, chosen by the same items: its
    own share is likely too good; `checked`: chosen without them, None for a single instruction. `reached`:
    whether any margin keeps so many.
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
    """`instructions`, `tokens`: of each of `read.ids`. SetupError where `keep` is no share."""
    if not 0 < keep <= 1:
        raise SetupError(
            f"The share of labels to keep is {keep}.", "Use more than 0 and at most 1, for example 0.99."
        )
    items = _Items(read, instructions, tokens)
    least = read.least_margin(keep)
    points = {below: items.at(below) for below in sorted({*SHOWN, least})}
    kinds = [each for each in (points[least], points[least].calibrated) if each]
    return MarginReport(
        keep=keep,
        points=tuple(points.values()),
        least=points[least],
        checked=items.checked(keep),
        reached=all(share >= keep for each in kinds for share in each.kept.values()),
        criteria=read.criteria,
    )


def groups_by_instruction(ids: Sequence[str], instructions: Mapping[str, str]) -> list[str | tuple[str, str]]:
    """What items of these ids are grouped by: the instruction, or a mark of its own where it is not known."""
    return [instructions.get(item_id, ("id", item_id)) for item_id in ids]


@dataclass(frozen=True)
class _Items:
    read: BothOrders
    instructions: Sequence[Hashable]
    tokens: Sequence[OrderTokens] | None

    def at(self, below: float) -> MarginPoint:
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

    def _saved(self, twice: BoolArray) -> float | None:
        if self.tokens is None:
            return None
        unread = sum(each.second for each, read in zip(self.tokens, twice.tolist(), strict=True) if not read)
        return unread / sum(each.first + each.second for each in self.tokens)

    def _point(
        self, below: float | None, twice: BoolArray, kept: BoolArray, calibrated: BoolArray | None = None
    ) -> MarginPoint:
        columns = {name: column.tolist() for name, column in zip(self.read.criteria, kept.T, strict=True)}
        together = OverInstructions.of(columns, dict.fromkeys(columns, self.instructions))
        return MarginPoint(
            below=below,
            items=len(twice),
            read=float(twice.mean()),
            saved=self._saved(twice),
            kept=dict(zip(self.read.criteria, kept.mean(axis=0).tolist(), strict=True)),
            intervals={name: share_interval(column, self.instructions) for name, column in columns.items()},
            equal=float(kept.mean()),
            interval_of_equal=together.share_interval() if together else None,
            calibrated=None if calibrated is None else self._point(below, twice, calibrated),
        )
