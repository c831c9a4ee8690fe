"""How many judges a jury is worth, before it is made: judges that err on the same items count as fewer, and
what each adds to the accuracy of the mean of all.
"""

from collections.abc import Generator, Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.calibration.jury import DEFAULT_CERTAINTY, make_jury
from engine.core.errors import SetupError
from engine.core.events import CancelToken, MeasureProgress
from engine.core.numeric import BoolArray, FloatArray, IntArray
from engine.core.tables import Estimate
from engine.data.dataset import Dataset
from engine.metrics.accuracy import is_right
from engine.metrics.intervals import FEW, OverInstructions, group_numbers, holm
from engine.metrics.matching import System, match_together, system_of_run

_OPPOSITE = 1e-9  # the sum of correlations: 0 of two judges of which always one alone is right


@dataclass(frozen=True)
class JudgeWorth:
    """`accuracy`: of the judge alone, 0 to 1. `adds`: how much more accurate the mean of all judges is than
    that of the others, -1 to 1; `p_holm`: that this is 0, corrected for all judges.
    """

    name: str
    accuracy: float
    adds: Estimate
    p_holm: float


@dataclass(frozen=True)
class JuryWorth:
    """`accuracy`: of the mean of all, 0 to 1. `effective`: how many independent judges they are worth, None
    where one never errs, or always, or just where another does not.
    """

    judges: tuple[JudgeWorth, ...]
    accuracy: float
    effective: Estimate | None
    labels: int
    instructions: int

    @property
    def correlation(self) -> float | None:
        """Of two judges' errors, the mean over all pairs, -1 to 1; what `effective` says of it."""
        judges = len(self.judges)
        return None if self.effective is None else (judges / self.effective.value - 1) / (judges - 1)


def effective_number(wrong: BoolArray, criteria: IntArray, groups: IntArray) -> Estimate | None:
    """N / (1 + (n - 1) rho) with rho the average correlation of two judges' errors: Kish's design effect
    (Survey Sampling, 1965, 5.4) of the mean of n judges, here n^2 over the sum of their correlation matrix.
    `wrong`: (judges, labels); errors are compared within the criterion of each label. None where a judge's
    errors never vary, and of two of which one errs just where the other does not. The interval is of the
    logarithm, by the influence of each instruction on the correlations: the lower end as if all judges erred
    on one instruction more, the upper as if one of them did, since few errors may seem more alike, or less,
    than they are. Simulated: `bench/coverage/juries.py`.
    """
    judges, labels = wrong.shape
    found = _log_effective(wrong, criteria, groups, np.ones(labels))
    if found is None:
        return None
    value = float(np.exp(found.mean))
    of_each, counts = np.unique(criteria, return_counts=True)
    count = int(groups.max()) + 1
    ends = []
    for erring in (np.ones(judges, np.bool_), *np.eye(judges, dtype=np.bool_)):
        more = _log_effective(
            np.column_stack([wrong, *[erring] * len(of_each)]),
            np.concatenate([criteria, of_each]),
            np.concatenate([groups, np.full(len(of_each), count)]),
            np.concatenate([np.ones(labels), counts / count]),
        )
        if more is None or (interval := more.skewed_interval()) is None:
            return Estimate(value)
        ends.append(interval)
    low, high = ends[0].low, max(each.high for each in ends[1:])
    shown = min(max(float(np.exp(low)), 1.0), value), float(np.exp(high))
    return Estimate(value, shown)


def _log_effective(
    wrong: BoolArray, criteria: IntArray, groups: IntArray, weights: FloatArray
) -> OverInstructions | None:
    """`weights`: how much each label counts, (labels,)."""
    errors, shares = wrong.astype(np.float64), weights / weights.sum()
    for criterion in np.unique(criteria):
        own = criteria == criterion
        errors[:, own] -= np.average(errors[:, own], axis=1, weights=shares[own])[:, None]
    spread = np.sqrt(errors**2 @ shares)
    if not spread.all():
        return None
    errors /= spread[:, None]
    correlations = (errors * shares) @ errors.T
    total = float(correlations.sum())
    if total < _OPPOSITE:
        return None
    pulls = shares * (correlations.sum(axis=0) @ errors**2 - errors.sum(axis=0) ** 2) / total
    mean = float(np.log(len(wrong) ** 2 / total))
    return OverInstructions.of_pulls(mean, pulls.tolist(), shares.tolist(), groups.tolist())


def worth_of(
    names: Sequence[str], right: BoolArray, criteria: IntArray, groups: Sequence[Hashable] | IntArray
) -> JuryWorth:
    """`right`: whether each judge is, then the mean of all, then that of all but each judge: (2 judges + 1,
    labels). SetupError for fewer than FEW instructions.
    """
    numbers = group_numbers(groups)
    if (instructions := int(numbers.max(initial=-1)) + 1) < FEW:
        raise SetupError(
            f"The judges have human labels of fewer than {FEW} different instructions in common.",
            "Label more items, or make the jury without this.",
        )
    places = {str(name): criteria == name for name in np.unique(criteria)}
    grouped = {name: numbers[own] for name, own in places.items()}

    def over(values: FloatArray | BoolArray) -> OverInstructions:
        return OverInstructions.of_enough({name: values[own] for name, own in places.items()}, grouped)

    own, together, without = right[: len(names)], right[len(names)], right[len(names) + 1 :]
    adds = [over(together.astype(np.float64) - others) for others in without]
    p_values = holm([one.p_value for one in adds])
    judges = tuple(
        JudgeWorth(name, over(of_one).mean, Estimate(gain.mean, gain.difference_interval()), p_holm)
        for name, of_one, gain, p_holm in zip(names, own, adds, p_values, strict=True)
    )
    effective = effective_number(~own, criteria, numbers)
    return JuryWorth(judges, over(together).mean, effective, right.shape[1], instructions)


def jury_worth(
    systems: Sequence[System],
    items: Dataset,
    gold: Dataset,
    cancel: CancelToken,
    *,
    partial: bool = False,
    certainty: float = DEFAULT_CERTAINTY,
) -> Generator[MeasureProgress, None, JuryWorth]:
    """Of the mean of all judges, as `make_jury` takes them: without human overrides and calibrations.
    SetupError for what cannot be a jury, and for labels of fewer than FEW instructions. Raises Cancelled.
    """
    alone = [
        one if one.results is None else replace(system_of_run(one.results.calibrated(None)), name=one.name)
        for one in systems
    ]
    every = [*alone]
    for place in range(len(systems) + 1):
        cancel.raise_if_requested()
        yield MeasureProgress(place, len(systems) + 1)
        # The first is the jury of all: what cannot be one is refused there.
        rest = [number for number in range(len(systems)) if number != place - 1]
        several = [systems[number] for number in rest] if len(rest) > 1 or not place else []
        jury = make_jury(several, items, partial, certainty) if several else None
        every.append(system_of_run(jury.results) if jury else alone[rest[0]])
    matched = match_together(every, gold, partial=True)
    criteria = [name for name in every[len(systems)].criteria if all(name in one.pairs for one in matched)]
    right = [[is_right(pair) for name in criteria for pair in one.pairs[name]] for one in matched]
    groups = [pair.item.group for name in criteria for pair in matched[0].pairs[name]]
    numbers = np.repeat(np.arange(len(criteria)), [len(matched[0].pairs[name]) for name in criteria])
    return worth_of([system.name for system in systems], np.array(right), numbers, groups)
