"""How many human labels it takes, before any is given: for an interval of a wanted half width, or to find
something that is so in `power` of the cases. All is for a test at 5 % or an interval of 95 %, and for labels
that are independent; `items_for` adds what labels of one instruction have in common.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from math import ceil, sqrt
from operator import sub
from statistics import NormalDist

from engine.core.errors import SetupError
from engine.core.formatting import percent, points
from engine.core.numeric import chance_of_share, clopper_pearson
from engine.metrics.trust import ALIKE, RISK, TARGET

POWER = 0.8
_quantile = NormalDist().inv_cdf
_Z = _quantile(0.975)
_MOST = 10_000_000  # labels: more than anyone gives


@dataclass(frozen=True)
class LabelGoals:
    """What labels are to show: the expected accuracy and kappa, with this agreement by chance, within `half`;
    a lead on the accuracy of the best baseline; that labels of which `target` agrees may stand, at this risk;
    in `power` of cases. Each above 0 and below 1, else SetupError.
    """

    accuracy: float = 0.7
    kappa: float = 0.4
    chance: float = 0.3
    baseline: float = 0.6
    half: float = 0.05
    target: float = TARGET
    risk: float = RISK
    power: float = POWER

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not 0 < value < 1:
                raise SetupError(f"{name} is {value:g}.", "It is between 0 and 1.")

    def items(self, each: float) -> dict[str, int | None]:
        """By what is wanted how many items it takes, where an instruction has `each` on average; None where
        no number of labels shows it.
        """
        right, half = self.accuracy, self.half
        lead = right > self.baseline and labels_for_lead(right, self.baseline, self.power)
        promised = self.target, self.risk, self.power
        stand = right > self.target and labels_for_trust(right, *promised)
        labels: dict[str, int] = {
            f"accuracy of {percent(right)} within {points(half)}": labels_for_share(right, half),
            f"kappa of {self.kappa:g} within {half:g}": labels_for_kappa(self.kappa, half, self.chance),
            f"{percent(right)} beats a baseline of {percent(self.baseline)}": lead,
            f"all labels may stand: {percent(right)} agree, target {percent(self.target)}": stand,
        }
        return {name: items_for(count, each) or None for name, count in labels.items()}


def size_of_groups(groups: Iterable[str]) -> float:
    """How many items an instruction has, over items, as a design effect counts (Kish 1965)."""
    sizes = Counter(groups).values()
    return sum(size**2 for size in sizes) / sum(sizes)


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
