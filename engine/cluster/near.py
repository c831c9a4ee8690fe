"""How many labels of a run are so close to another one that another computer could decide them otherwise.

Knows: judgments and their margins. Does not know: workers, stores.
"""

import math
from collections.abc import Iterable
from itertools import islice

from engine.core.judgments import JudgedItem, Judgment
from engine.decisions.decision import decide_all
from engine.judge.plan import RunPlan

NEAR = 0.15
"""In natural-log units, between the likeliest label and the next. Why this much: docs/cluster.md."""
_AT_ONCE = 500


def nearly_tied(judged: Iterable[JudgedItem], plan: RunPlan) -> tuple[int, int]:
    """How many labels are decided by less than NEAR, and how many there are."""
    near = labels = 0
    calibrations = plan.calibration.criteria if plan.calibration else {}
    waiting = iter(judged)
    while items := list(islice(waiting, _AT_ONCE)):
        for name in plan.rubric.names:
            for judgment in decide_all(items, name, calibrations.get(name)):
                if isinstance(judgment, Judgment):
                    labels += 1
                    near += margin(judgment) < NEAR
    return near, labels


def margin(judgment: Judgment) -> float:
    """By how much the decided label's log-probability is above the next one's."""
    second, first = sorted(judgment.probabilities)[-2:]
    return math.inf if second <= 0 else math.log(first / second)
