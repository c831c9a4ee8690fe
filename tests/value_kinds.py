"""Values of tables, of every kind that there is."""

import math

from engine.core.tables import Estimate, Fact, Kind, Partial, PartOf, Ranked, Value

ASCENDING: dict[Kind, list[Value]] = {
    Kind.NAME: [None, "mean", "safety"],
    Kind.TEXT: [None, "10", "9", "a"],
    Kind.FLAG: [None, False, True],
    Kind.COUNT: [None, 9, 10, 12345],
    Kind.SHARE: [None, 0.0, 0.095, 0.5, 1.0],
    Kind.NUMBER: [None, -1.5, -0.5, 0.0, 9.0, 10.0],
    Kind.SHORTEST: [None, 0.03, 3.0, 10.0, math.inf],
    Kind.INTERVAL: [None, (-2.0, 9.0), (3.0, 5.0), (10.0, 11.0)],
    Kind.SHARE_INTERVAL: [None, (0.09, 0.9), (0.1, 0.2)],
    Kind.PAIR: [None, (0, 7), (4, 0), (10, 1)],
    Kind.RANKED: [Ranked(None), Ranked(9.5, 3), Ranked(10), Ranked(85, 1, (80.0, 90.0))],
    Kind.PARTIAL: [Partial(None, 3), Partial(9.5, 2), Partial(10)],
    Kind.PART: [None, PartOf(3, 40), PartOf(20, None), PartOf(100, 120)],
    Kind.ESTIMATE: [None, Estimate(-0.5), Estimate(0.2, (0.1, 0.9)), Estimate(0.3)],
    Kind.MEASURE: [None, Estimate(-0.5), Estimate(0.2, (0.1, 0.9)), Estimate(0.3)],
    Kind.FACT: [Fact(Kind.SHARE, None), Fact(Kind.SHARE, 0.5), Fact(Kind.COUNT, 3), Fact(Kind.COUNT, 20)],
}
"""Values of every kind, in the order in which they are sorted."""
