"""Where one order leaves a decision open, so that the second must be read."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.core.errors import Hint, SetupError, Step
from engine.core.formatting import counted
from engine.core.items import Order
from engine.core.judgments import CriterionCalibration, JudgedItem, Judgment, RawPrediction
from engine.core.numeric import BoolArray, FloatArray
from engine.results.calibration import Calibration
from engine.results.decision import RunPredictions, average, calibrated, decide_all
from engine.results.run_results import RunResults
from engine.settings.identity import StoredRun, refuse_unasked

MARGINS = tuple(step / 100 for step in range(1, 101))
"""The thresholds that are tried, the smallest first; the last reads the second order of nearly all items."""
KEEP = 0.99
"""The default share of labels that must stay the same."""
LEAST_ITEMS = 20
"""With fewer items, no threshold is fitted."""


def margin(probabilities: Sequence[float]) -> float:
    """The highest probability minus the second, 0 to 1."""
    *_, second, first = sorted(probabilities)
    return first - second


Calibrations = Mapping[str, CriterionCalibration]
"""By criterion; none if it is not calibrated."""


def leaves_open(
    raw_predictions: Mapping[str, Sequence[RawPrediction]],
    below: float,
    calibrations: Calibrations,
    lengths: tuple[int, int] | None = None,
) -> bool:
    """Whether the margin of any criterion's raw predictions, in one order, is below this: as they were read,
    or as calibrated for one order; `lengths`: of the responses. What is not finite leaves nothing open.
    """
    item = JudgedItem(0, "", "", {name: tuple(own) for name, own in raw_predictions.items()}, lengths=lengths)
    return any(_margin_of(item, name, calibrations.get(name)) < below for name in raw_predictions)


def of_item(calibrations: Calibrations, content_hash: str) -> Calibrations:
    """What decides an item: what was fitted without it."""
    return {name: each.for_item(content_hash) for name, each in calibrations.items()}


def _margin_of(item: JudgedItem, criterion: str, calibration: CriterionCalibration | None) -> float:
    """The margin of one order: the lesser of those before and after the calibration."""
    read = average(item.raw_predictions[criterion])
    if not np.isfinite(read).all():
        return 1.0
    rows = [read]
    first = calibration.first_order if calibration else None
    # Where it trusts no raw prediction, no second one changes anything.
    if first is not None and first.judges:
        (beside,) = RunPredictions([item]).part_values(criterion, tuple(first.parts))
        rows.append(calibrated(read, first, beside))
    return min(margin(np.exp(row).tolist()) for row in rows)


@dataclass(frozen=True)
class BothOrders:
    """What AB alone said of the items of a run that were read in both orders, without unscored ones.

    `margins`, `equal`: shape (items, criteria): the margin of AB, by which it is uncertain, and whether its
    label, without a calibration, is that of both orders. `calibrated`: the same of the calibrated labels.
    """

    criteria: tuple[str, ...]
    ids: tuple[str, ...]
    margins: FloatArray
    equal: BoolArray
    calibrated: BoolArray | None = None

    def read(self, below: float) -> BoolArray:
        """Of which items the second order would be read, shape (items,)."""
        return np.asarray(self.margins.min(axis=1) < below)

    def kept(self, below: float) -> BoolArray:
        """Which labels would be those of both orders, shape (items, criteria)."""
        return np.asarray(self.equal | self.read(below)[:, np.newaxis])

    def kept_calibrated(self, below: float) -> BoolArray | None:
        """The same of the calibrated labels; None without a calibration."""
        return None if self.calibrated is None else replace(self, equal=self.calibrated).kept(below)

    def least_margin(self, keep: float, places: Sequence[int] | None = None) -> float:
        """The least of MARGINS that keeps this share of the labels of every criterion, calibrated too; the
        largest where none does. `places`: look at these items alone.
        """
        looked_at = range(len(self.ids)) if places is None else places
        for below in MARGINS:
            kept = [each for each in (self.kept(below), self.kept_calibrated(below)) if each is not None]
            if np.hstack(kept)[looked_at].mean(axis=0).min() >= keep:
                return below
        return MARGINS[-1]


def both_orders(
    judged: Iterable[JudgedItem], criteria: Sequence[str], calibrations: Calibrations
) -> BothOrders:
    """The items among these that were read in both orders on all these criteria, calibrated so."""
    twice = [
        item
        for item in judged
        if all({each.order for each in item.raw_predictions.get(name, ())} == set(Order) for name in criteria)
    ]
    decided = zip(twice, *(decide_all(twice, name) for name in criteria), strict=True)
    scored = [item for item, *own in decided if all(isinstance(each, Judgment) for each in own)]
    alone = [item.only(lambda read: read.order is Order.AB) for item in scored]
    margins = [
        [_margin_of(item, name, own.get(name)) for name in criteria]
        for item in alone
        for own in [of_item(calibrations, item.content_hash)]
    ]
    shape = (len(scored), len(criteria))
    return BothOrders(
        tuple(criteria),
        tuple(item.item_id for item in scored),
        np.array(margins, dtype=np.float64).reshape(shape),
        _equal(scored, alone, criteria, {}),
        _equal(scored, alone, criteria, calibrations) if calibrations else None,
    )


def _equal(
    both: Sequence[JudgedItem], alone: Sequence[JudgedItem], criteria: Sequence[str], by: Calibrations
) -> BoolArray:
    """Which items have the same label in both orders and in the first alone, shape (items, criteria)."""
    decided = [[decide_all(items, name, by.get(name)) for name in criteria] for items in (both, alone)]
    labels = [
        [[one.preference for one in column if isinstance(one, Judgment)] for column in columns]
        for columns in decided
    ]
    return np.asarray(np.equal(*map(np.array, labels)).reshape(len(criteria), len(both)).T)


def orders_read(item: JudgedItem) -> int:
    """In how many orders an item was read: 0 where it is unscored or a submission's."""
    return max((len({each.order for each in own}) for own in item.raw_predictions.values()), default=0)


def read_in_words(results: RunResults) -> str:
    """How a run's items were read: `both orders`, `one order`, `12 of 60 items in both orders`."""
    if results.run.identity.second_order_below is None:
        return "both orders" if len(results.run.identity.orders) > 1 else "one order"
    counts = [orders_read(item) for item in results.judged]
    read = sum(count > 0 for count in counts)
    return f"{sum(count > 1 for count in counts):,} of {counted(read, 'item', 'items')} in both orders"


def learned_from(
    run: StoredRun,
    judged: Sequence[JudgedItem],
    criteria: Sequence[str] | None = None,
    calibration: Calibration | None = None,
) -> BothOrders:
    """The items of a run from which a margin can be learned, for some of its criteria, calibrated so.
    SetupError for a run that read only some items in both orders, too few, or other criteria.
    """
    refuse_unasked(run, "choose a margin threshold")
    wanted = run.identity.criteria if criteria is None else tuple(criteria)
    if missing := [name for name in wanted if name not in run.identity.criteria]:
        raise SetupError(
            f"Run {run.id} was not asked for {', '.join(missing)}: no margin threshold can be chosen for it.",
            Hint(Step.CHOOSE_RUN),
        )
    if set(run.identity.orders) != set(Order) or run.identity.second_order_below is not None:
        raise SetupError(
            f"Run {run.id} did not read all items in both orders, so it does not show what the second"
            " order changes.",
            "Judge some items in both orders first, 100 or more, and name that run.",
        )
    if calibration is not None:
        calibration.check_run(run, judged)
    found = both_orders(judged, wanted, calibration.criteria if calibration else {})
    if len(found.ids) < LEAST_ITEMS:
        raise SetupError(
            f"Run {run.id} has {len(found.ids)} items with all criteria in both orders: too few to choose"
            f" a margin threshold ({LEAST_ITEMS} or more).",
            "Judge more items in both orders, 100 or more, and name that run.",
        )
    return found
