"""What the ways of asking say together: one reading for each order.

Knows: readings of several ways. Does not know: any one way, decisions, calibrations.
"""

from collections.abc import Sequence
from statistics import fmean

from engine.core.items import Order
from engine.core.judgments import RawAnswer, Reading
from engine.core.ways.log_space import among, of_mass


def together(readings: Sequence[Reading]) -> tuple[Reading, ...]:
    """For each order, in which they come, the mean of the ways' log-probabilities, each way normalised first.

    Readings of one way are given back as they are. What the labels hold together is the mean of what they
    held in each way.
    """
    if len({reading.way for reading in readings}) < 2:
        return tuple(readings)
    by_order: dict[Order, list[Reading]] = {}
    for reading in readings:
        by_order.setdefault(reading.order, []).append(reading)
    return tuple(_mean(order, own) for order, own in by_order.items())


def _mean(order: Order, readings: Sequence[Reading]) -> Reading:
    said = [RawAnswer("", reading.log_probs) for reading in readings]
    columns = zip(*map(among, said), strict=True)
    return Reading(order, of_mass([fmean(column) for column in columns], said))
