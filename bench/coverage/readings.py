"""Items as a run has them, from log-probabilities that were drawn."""

from collections.abc import Mapping

from engine.core.items import Method, Order, digest
from engine.core.judgments import JudgedItem, RawPrediction
from engine.core.numeric import FloatArray

CRITERION = "safety"
Asked = tuple[Order, Method, int]
"""The order, the method, and which judge of a jury, 0 in a run of one."""


def judged_items(read: Mapping[Asked, FloatArray]) -> list[JudgedItem]:
    """Items of which so much was read, shape (items, labels) each, on one criterion."""
    rows = {asked: values.tolist() for asked, values in read.items()}
    return [
        JudgedItem(
            place,
            str(place),
            digest(place),
            {
                CRITERION: tuple(
                    RawPrediction(order, tuple(values[place]), method, judge=judge)
                    for (order, method, judge), values in rows.items()
                )
            },
        )
        for place in range(len(next(iter(rows.values()))))
    ]
