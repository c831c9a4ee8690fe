"""What single ways of asking said of the item's own A and B, in words.

Knows: how the answers of some ways are read. Does not know: widgets, painting.
"""

import math
from collections.abc import Iterator, Sequence
from statistics import fmean

from engine.core.formatting import percent
from engine.core.items import Order, Way
from engine.core.judgments import RawAnswer, Reading
from engine.core.ways.graded import mean_grade
from engine.core.ways.question import among

_YES = 0


def said_of_each(readings: Sequence[Reading]) -> Iterator[str]:
    """A sentence for each way that asks of each response: its mean over the orders."""
    for way, what, value, words in (
        (Way.ABSOLUTE, "how likely it is good", _good, percent),
        (Way.GRADED, "mean grade, 1 to 5", mean_grade, "{:.2f}".format),
    ):
        own = [_by_response(reading) for reading in readings if reading.way is way]
        if own:
            a, b = (fmean(value(pair[place]) for pair in own) for place in (0, 1))
            orders = ", in both orders together" if len(own) > 1 else ""
            yield f"{way.capitalize()}, {what}: A {words(a)}, B {words(b)}{orders}."


def _by_response(reading: Reading) -> tuple[RawAnswer, RawAnswer]:
    """What was said of the item's own A, and of its B: the model calls A what it sees first."""
    first, second = reading.answers
    return (first, second) if reading.order is Order.AB else (second, first)


def _good(answer: RawAnswer) -> float:
    return math.exp(among(answer)[_YES])
