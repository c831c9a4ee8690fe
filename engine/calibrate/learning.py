"""Learning curves: how well labels are predicted on items that took no part, by how many labels taught.

Each instruction is asked in turn, in one of FOLDS parts, while labels of the others teach: the first few of
them in an order that is drawn, then twice as many, and so on to all; and that in several such orders. So all
sizes are measured on the same items, and what one of them gains over another is known item by item.

Knows: readings with human labels, folds, orders that are drawn. Does not know: how what decides is fitted,
runs.
"""

from collections.abc import Generator, Hashable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from engine.calibrate.fitting import LEAST_FOR_FITTING, Views, fitted
from engine.core.cancel import CancelToken
from engine.core.errors import SetupError
from engine.core.events import MeasureProgress, Reports
from engine.core.log_probs import FloatArray, IntArray
from engine.core.value_tables import Estimate
from engine.measure.folds import grouped_folds
from engine.measure.intervals import Interval, OverInstructions

FOLDS = 5
ORDERS = 2
"""In how many orders the labels of each fold teach."""
LEAST_TO_LEARN = 2 * LEAST_FOR_FITTING
"""Instructions with labels: of fewer no curve is drawn."""
_SEED = 0  # the same items make the same curve


@dataclass(frozen=True)
class LearningPoint:
    """What so many labels of a criterion teach, in the mean over the criteria.

    `log_loss`: nats, on items that took no part, and its `interval` over instructions; `right`: the share of
    labels that are right there. `frequencies`: the log-loss of the frequencies of the same labels, and
    `frequent`: how often the most frequent of them is right.
    """

    labels: int
    log_loss: float
    interval: Interval | None
    right: Estimate
    frequencies: float
    frequent: Estimate


@dataclass(frozen=True)
class LearningCurve:
    """The points from few labels to many, of some criteria; and what doubling the labels brought last.

    `from_labels`, `to_labels`: from how many to how many that was. `gained`: by how many nats the log-loss
    fell, and its `interval` over instructions; `more_right`: how many more labels are right. `left_out`: the
    criteria with too few labels, with how many different instructions.
    """

    criteria: tuple[str, ...]
    points: tuple[LearningPoint, ...]
    from_labels: int
    to_labels: int
    gained: float
    interval: Interval | None
    more_right: Estimate
    left_out: Mapping[str, int]

    @property
    def still_learns(self) -> bool:
        """Whether the last doubling surely brought something."""
        return self.interval is not None and self.interval.low > 0


@dataclass(frozen=True)
class _Taught:
    """Of each item of a criterion, shape (sizes, items): loss, how right it is, both of the frequencies."""

    losses: FloatArray
    right: FloatArray
    frequencies: FloatArray
    frequent: FloatArray


def learning(
    seen: Mapping[str, Views], cancel: CancelToken | None = None
) -> Generator[MeasureProgress, None, LearningCurve]:
    """The curve of labelled readings, by criterion.

    SetupError where no criterion has labels of LEAST_TO_LEARN instructions; Cancelled between two steps.
    """
    enough = {name: views for name, views in seen.items() if views.instructions >= LEAST_TO_LEARN}
    if not enough:
        most = max((views.instructions for views in seen.values()), default=0)
        raise SetupError(
            f"A learning curve needs labels of {LEAST_TO_LEARN} different instructions; there are {most}.",
            "Label more items.",
        )
    sizes = _sizes(min(len(views.groups) for views in enough.values()))
    steps, done = len(enough) * FOLDS * ORDERS, 0
    taught = {}
    for name, views in enough.items():
        work = Reports(_teaching(views, sizes, cancel or CancelToken()))
        for _ in work:
            done += 1
            yield MeasureProgress(done, steps)
        taught[name] = work.result
    groups = {name: views.groups for name, views in enough.items()}
    left_out = {name: views.instructions for name, views in seen.items() if name not in enough}
    return _curve(sizes, taught, groups, left_out)


def _sizes(items: int) -> list[int]:
    """What teaches in each fold, half of it, half of that and so on, the least first: LEAST_FOR_FITTING or
    more, but for the last two.
    """
    sizes = [items * (FOLDS - 1) // FOLDS]
    while len(sizes) == 1 or sizes[0] // 2 >= LEAST_FOR_FITTING:
        sizes.insert(0, sizes[0] // 2)
    return sizes


def _teaching(seen: Views, sizes: Sequence[int], cancel: CancelToken) -> Generator[None, None, _Taught]:
    """Fit by each size in each fold and order; a step for each fold and order."""
    shape = (len(sizes), len(seen.groups))
    sums = [np.zeros(shape) for _ in range(4)]
    random = np.random.default_rng(_SEED)
    for train, test in grouped_folds(seen.groups, FOLDS):
        asked = seen.only(test)
        for _ in range(ORDERS):
            drawn = _in_drawn_order(seen, train, random)
            for row, size in enumerate(sizes):
                cancel.raise_if_requested()
                known = seen.only(drawn[:size])
                frequencies = np.broadcast_to(known.frequencies, asked.log_probs.shape)
                after = asked.decided(fitted(known, cancel))
                found = (
                    *(asked.losses(each) for each in (after, frequencies)),
                    *(asked.right(each, asked.log_probs) for each in (after, frequencies)),
                )
                for of_all, own in zip(sums, found, strict=True):
                    of_all[row, test] += np.asarray(own) / ORDERS
            yield
    losses, frequencies, right, frequent = sums
    return _Taught(losses, right, frequencies, frequent)


def _in_drawn_order(seen: Views, train: IntArray, random: np.random.Generator) -> IntArray:
    """The places of items, all of one instruction after all of another."""
    drawn: dict[Hashable, float] = {}
    for place in train.tolist():
        drawn.setdefault(seen.groups[place], float(random.random()))
    keys = [drawn[seen.groups[place]] for place in train.tolist()]
    return np.asarray(train[np.argsort(keys, kind="stable")])


def _curve(
    sizes: Sequence[int],
    taught: Mapping[str, _Taught],
    groups: Mapping[str, Sequence[Hashable]],
    left_out: Mapping[str, int],
) -> LearningCurve:
    points = []
    for row, size in enumerate(sizes):
        loss = _mean({name: each.losses[row] for name, each in taught.items()}, groups)
        points.append(
            LearningPoint(
                labels=size,
                log_loss=loss.mean,
                interval=loss.mean_interval(),
                right=_share({name: each.right[row] for name, each in taught.items()}, groups),
                frequencies=fmean(float(each.frequencies[row].mean()) for each in taught.values()),
                frequent=_share({name: each.frequent[row] for name, each in taught.items()}, groups),
            )
        )
    gained = _mean({name: each.losses[-2] - each.losses[-1] for name, each in taught.items()}, groups)
    more = _mean({name: each.right[-1] - each.right[-2] for name, each in taught.items()}, groups)
    return LearningCurve(
        criteria=tuple(taught),
        points=tuple(points),
        from_labels=sizes[-2],
        to_labels=sizes[-1],
        gained=gained.mean,
        interval=gained.mean_interval(),
        more_right=Estimate(more.mean, more.difference_interval()),
        left_out=left_out,
    )


def _mean(values: Mapping[str, FloatArray], groups: Mapping[str, Sequence[Hashable]]) -> OverInstructions:
    found = OverInstructions.of({name: each.tolist() for name, each in values.items()}, groups)
    assert found is not None  # there are two instructions
    return found


def _share(values: Mapping[str, FloatArray], groups: Mapping[str, Sequence[Hashable]]) -> Estimate:
    found = _mean(values, groups)
    return Estimate(found.mean, found.share_interval())
