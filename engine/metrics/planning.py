"""How many human labels it takes, before any is given: for an interval of a wanted half width, or to find
something that is so in `power` of the cases. All is for a test at 5 % or an interval of 95 %, and for labels
that are independent; `items_for` adds what labels of one instruction have in common.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import ceil

from scipy.special import ndtri

from engine.core.errors import SetupError
from engine.core.formatting import percent, points, words
from engine.core.numeric import chance_of_share, clopper_pearson
from engine.metrics.trust import ALIKE, RISK, TARGET

POWER = 0.8
_Z = float(ndtri(0.975))
_MOST = 10_000_000  # labels: more than anyone gives


def labels_for_share(expected: float, half: float) -> int:
    """For Clopper and Pearson's interval of a share, such as an accuracy, to be at most 2 `half` wide."""

    def is_narrow(labels: int) -> bool:
        low, high = clopper_pearson(expected, labels)
        return high - low <= 2 * half

    return _least(is_narrow)


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
    return ceil(((_Z * differ**0.5 + float(ndtri(power)) * (differ - lead**2) ** 0.5) / lead) ** 2)


def labels_for_trust(agreement: float, target: float, risk: float, power: float = POWER) -> int:
    """For all labels of a judge to be let stand by `trust`, by its exact binomial test: agreeing as the worst
    1 - `power` of samples do, normally distributed.
    """
    below = float(ndtri(power)) * (agreement * (1 - agreement)) ** 0.5
    return _least(lambda n: chance_of_share(agreement - below / n**0.5, n, target) <= risk)


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


@dataclass(frozen=True)
class LabelPlan:
    """What is expected and wanted, all 0 to 1. `each`: items of an instruction, on average."""

    accuracy: float = 0.7
    kappa: float = 0.4
    chance: float = 0.3
    baseline: float = 0.6
    half: float = 0.05
    target: float = TARGET
    risk: float = RISK
    power: float = POWER
    each: float = 1.0

    def __post_init__(self) -> None:
        for name in ("accuracy", "kappa", "chance", "baseline", "half", "target", "risk", "power"):
            if not 0 < (value := getattr(self, name)) < 1:
                raise SetupError(f"{words(name)} is {value:g}.", "It is between 0 and 1.")
        if self.each < 1:
            raise SetupError(f"An instruction has {self.each:g} items.", "Use 1 or more.")

    @property
    def needed(self) -> dict[str, int | None]:
        """By what is wanted, in words, so many items; None where no number of labels shows it."""
        right, half = self.accuracy, self.half
        lead = right > self.baseline and labels_for_lead(right, self.baseline, self.power)
        stand = right > self.target and labels_for_trust(right, self.target, self.risk, self.power)
        found = {
            f"accuracy of {percent(right)} within {points(half)}": labels_for_share(right, half),
            f"kappa of {self.kappa:g} within {half:g}": labels_for_kappa(self.kappa, half, self.chance),
            f"{percent(right)} beats a baseline of {percent(self.baseline)}": lead,
            f"all labels may stand: {percent(right)} agree, target {percent(self.target)}": stand,
        }
        return {name: items_for(labels, self.each) if labels else None for name, labels in found.items()}


def items_of_each(instructions: Iterable[str]) -> float:
    """How many items an instruction has on average, over items: what a design effect counts (Kish 1965)."""
    sizes = Counter(instructions).values()
    return sum(size**2 for size in sizes) / max(sum(sizes), 1)
