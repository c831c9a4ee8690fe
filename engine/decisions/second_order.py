"""Where one order leaves a decision open, so that the second must be read.

Knows: readings and decisions. Does not know: how a reading is made, what it costs, human labels.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.core.errors import SetupError
from engine.core.formatting import counted
from engine.core.items import PREFERENCES, Order
from engine.core.judgments import JudgedItem, Judgment, Reading
from engine.core.log_probs import BoolArray, FloatArray
from engine.core.remedies import Remedy, Step
from engine.core.run_records import StoredRun, refuse_submitted
from engine.core.settings import settings_of
from engine.decisions.decision import average, decide_all
from engine.decisions.run_results import RunResults

MARGINS = tuple(step / 100 for step in range(1, 101))
"""Those that are tried, the least first; the last reads the second order of nearly all items."""
KEEP = 0.99
"""The share of labels that shall stay equal, where nothing else is said."""
LEAST_ITEMS = 20
"""Of fewer no margin is learned."""


def margin(probabilities: Sequence[float]) -> float:
    """The highest probability minus the second, 0 to 1."""
    *_, second, first = sorted(probabilities)
    return first - second


def leaves_open(readings: Iterable[Sequence[Reading]], below: float) -> bool:
    """Whether the margin of any criterion's readings, in one order and as they were read, is below this.

    Readings without finite probabilities leave nothing open: no second order makes a judgment of them.
    """
    return any(_margin_of(own) < below for own in readings)


def _margin_of(readings: Sequence[Reading]) -> float:
    if not all(map(math.isfinite, (value for reading in readings for value in reading.log_probs))):
        return 1.0
    return margin(np.exp(average(readings)).tolist())


@dataclass(frozen=True)
class BothOrders:
    """What AB alone said of the items of a run that were read in both orders, without a calibration.

    `margins`, `equal`: shape (items, criteria): the margin of AB, and whether its label is that of both
    orders. Items with a criterion that is unscored take no part. `ids`: of the items.
    """

    criteria: tuple[str, ...]
    ids: tuple[str, ...]
    margins: FloatArray
    equal: BoolArray

    @cached_property
    def least(self) -> FloatArray:
        """The least margin of each item over its criteria, shape (items,)."""
        return np.asarray(self.margins.min(axis=1))

    def read(self, below: float) -> BoolArray:
        """Of which items the second order would be read, shape (items,)."""
        return np.asarray(self.least < below)

    def kept(self, below: float) -> BoolArray:
        """Which labels would be those of both orders, shape (items, criteria)."""
        return np.asarray(self.equal | self.read(below)[:, np.newaxis])

    def least_margin(self, keep: float, places: Sequence[int] | None = None) -> float:
        """The least of MARGINS that keeps this share of the labels of every criterion; the largest where
        none does. `places`: look at these items alone.
        """
        looked_at = range(len(self.ids)) if places is None else places
        for below in MARGINS:
            if self.kept(below)[looked_at].mean(axis=0).min() >= keep:
                return below
        return MARGINS[-1]


def both_orders(judged: Iterable[JudgedItem], criteria: Sequence[str]) -> BothOrders:
    """The items among these that were read in both orders on all these criteria."""
    read_twice = [
        item
        for item in judged
        if all({each.order for each in item.readings.get(name, ())} == set(Order) for name in criteria)
    ]
    decided = [decide_all(read_twice, name) for name in criteria]
    ids, margins, equal = [], [], []
    for item, *judgments in zip(read_twice, *decided, strict=True):
        scored = [each for each in judgments if isinstance(each, Judgment)]
        if len(scored) < len(judgments):
            continue
        first = [average([r for r in each.readings if r.order is Order.AB]) for each in scored]
        labels = [PREFERENCES.index(each.preference) for each in scored]
        ids.append(item.item_id)
        margins.append([margin(np.exp(row).tolist()) for row in first])
        equal.append([int(row.argmax()) == label for row, label in zip(first, labels, strict=True)])
    shape = (len(ids), len(criteria))
    return BothOrders(
        tuple(criteria),
        tuple(ids),
        np.array(margins, dtype=np.float64).reshape(shape),
        np.array(equal, dtype=np.bool_).reshape(shape),
    )


def orders_read(item: JudgedItem) -> int:
    """In how many orders an item was read: 0 where it is unscored or a submission's."""
    return max((len({each.order for each in readings}) for readings in item.readings.values()), default=0)


def read_in_words(results: RunResults) -> str:
    """How a run's items were read: `both orders`, `one order`, `12 of 60 items in both orders`."""
    if settings_of(results.run.identity.settings).second_order_below is None:
        return "both orders" if len(results.run.identity.settings["orders"]) > 1 else "one order"
    counts = [orders_read(item) for item in results.judged]
    read = sum(count > 0 for count in counts)
    return f"{sum(count > 1 for count in counts):,} of {counted(read, 'item', 'items')} in both orders"


def learned_from(
    run: StoredRun, judged: Iterable[JudgedItem], criteria: Sequence[str] | None = None
) -> BothOrders:
    """The items of a run from which a margin can be learned, for some of its criteria.

    SetupError for a run that read only some items in both orders, or too few, or other criteria.
    """
    refuse_submitted(run, "teach a margin")
    wanted = run.identity.criteria if criteria is None else tuple(criteria)
    if missing := [name for name in wanted if name not in run.identity.criteria]:
        raise SetupError(
            f"Run {run.id} was not asked for {', '.join(missing)}: no margin can be learned for it.",
            Remedy(Step.CHOOSE_RUN),
        )
    settings = run.identity.settings
    if set(settings["orders"]) != set(Order) or settings.get("second_order_below") is not None:
        raise SetupError(
            f"Run {run.id} did not read all items in both orders: it cannot tell what the second changes.",
            "Judge some items in both orders first, 100 or more, and name that run.",
        )
    found = both_orders(judged, wanted)
    if len(found.ids) < LEAST_ITEMS:
        raise SetupError(
            f"Run {run.id} has {len(found.ids)} items with all criteria in both orders: too few to learn a"
            f" margin from ({LEAST_ITEMS} or more).",
            "Judge more items in both orders, 100 or more, and name that run.",
        )
    return found
