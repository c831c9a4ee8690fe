"""How many human labels it takes, before any is given: for an interval of a wanted half width, or to find
something that is so in `power` of the cases. All is for a test at 5 % or an interval of 95 %, and for labels
that are independent; `items_for` adds what labels of one instruction have in common.
"""

from collections.abc import Callable
from math import ceil, sqrt
from operator import sub
from statistics import NormalDist

from engine.core.numeric import chance_of_share, clopper_pearson
from engine.metrics.trust import ALIKE

POWER = 0.8
_quantile = NormalDist().inv_cdf
_Z = _quantile(0.975)
_MOST = 10_000_000  # labels: more than anyone gives


def labels_for_share(expected: float, half: float) -> int:
    """For Clopper and Pearson's interval of a share, such as an accuracy, to be at most 2 `half` wide."""
    return _least(lambda labels: sub(*clopper_pearson(expected, labels)) >= -2 * half)


def labels_for_kappa(expected: float, half: float, chance: float) -> int:
    """For Cohen's kappa, by its large-sample variance po (1 - po) / (n (1 - pe)^2) (Cohen, A Coefficient of
    Agreement for Nominal Scales, 1960). `chance`: pe, the agreement that is expected by chance.
    """
    agreed = expected * (1 - chance) + chance
    return max(ceil(_Z**2 * agreed * (1 - agreed) / ((1 - chance) * half) ** 2), 1)


def labels_for_lead(accuracy: float, baseline: float, power: float = POWER) -> int:
    """To find that a judge beats a baseline, by the paired test of their labels (Connor, Sample Size for
    Testing Differences in Proportions for the Paired-Sample Design, 1987), both right independently.
    """
    lead = accuracy - baseline
    differ = accuracy * (1 - baseline) + baseline * (1 - accuracy)
    errors = _Z * sqrt(differ) + _quantile(power) * sqrt(differ - lead**2)
    return ceil((errors / lead) ** 2)


def labels_for_trust(agreement: float, target: float, risk: float, power: float = POWER) -> int:
    """For all labels of a judge to be let stand by `trust`, by its exact binomial test: agreeing as the worst
    1 - `power` of samples do, normally distributed.
    """
    below = _quantile(power) * sqrt(agreement * (1 - agreement))
    return _least(lambda n: chance_of_share(agreement - below / sqrt(n), n, target) <= risk)


def items_for(labels: int, each: float, alike: float = ALIKE) -> int:
    """How many items that is where an instruction has `each` on average, whose labels have the intraclass
    correlation `alike` (Kish, Survey Sampling, 1965: the design effect 1 + (m - 1) rho).
    """
    return ceil(labels * (1 + (each - 1) * alike))


def _least(is_enough: Callable[[int], bool]) -> int:
    """The least number of labels from which on something is so; _MOST if none."""
    low, high = 0, 1
    while high < _MOST and not is_enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return min(high, _MOST)
