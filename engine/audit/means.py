"""Means over items and criteria, where some have no value, and the lines that are made of them.

Knows: intervals over instructions, how few are too few. Does not know: what is measured.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from engine.audit.lines import MOST_TIMES, AuditLine
from engine.core.formatting import counted
from engine.core.log_probs import FloatArray
from engine.core.value_tables import Estimate
from engine.measure.intervals import FEW, Interval, OverInstructions


def over_criteria(values: FloatArray, groups: Sequence[Hashable]) -> OverInstructions | None:
    """The mean over the criteria of the mean over items of values, shape (criteria, items), NaN where there
    is none; `groups`: the instruction of each item. None for too few instructions.
    """
    named: dict[str, list[float]] = {}
    groups_of: dict[str, list[Hashable]] = {}
    for row, of_one in enumerate(values):
        places = np.flatnonzero(np.isfinite(of_one)).tolist()
        if places:
            named[str(row)] = [float(of_one[place]) for place in places]
            groups_of[str(row)] = [groups[place] for place in places]
    return enough(OverInstructions.of(named, groups_of)) if named else None


def mean_known(values: FloatArray, axis: int) -> FloatArray:
    """The mean along an axis of those that are known; NaN where none is."""
    known = np.isfinite(values)
    count = known.sum(axis=axis)
    total = np.where(known, values, 0.0).sum(axis=axis)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan))


def enough(found: OverInstructions | None) -> OverInstructions | None:
    """None where there are too few instructions to say anything."""
    return found if found is not None and found.instructions >= FEW else None


class MeanKind(NamedTuple):
    """The uncertainty of a mean: itself with its interval, and, one-sided, how probable it would be to find
    so large a one, were it no more than a bound.
    """

    estimate: Callable[[OverInstructions], Estimate]
    p: Callable[[OverInstructions, float], float]


def within(most: float, unseen: float, floor: float | None = None) -> MeanKind:
    """Of a mean of values up to `most`, of which a large one may be rare. At the lower end, by which it may
    be an issue, one instruction more loses no more than `unseen`; `floor`: how far values reach below that.
    """
    return MeanKind(
        lambda found: Estimate(found.mean, found.interval_within(-unseen, most, floor)),
        lambda found, bound: found.p_above_within(bound, -unseen),
    )


SHARE = MeanKind(
    lambda found: Estimate(found.mean, found.share_interval()),
    lambda found, bound: found.p_share_above(bound),
)
SCORE = within(1.0, 0.0)
WON = within(1.0, 0.25, -1.0)
"""What is won, -1 to 1. A loss that none of the instructions shows may be larger than .25, but counted as one
the issues that are planted in `bench/coverage/audits.py` would not be found with 40 items; with as much a
judge is hardly called faulty for what it wins everywhere but in 4 % of the items (`bench/coverage/rare.py`).
"""
DIFFERENCE = MeanKind(
    lambda found: Estimate(found.mean, found.difference_interval()),
    lambda found, bound: found.p_difference_above(bound),
)


def held(
    name: tuple[str, str],
    found: OverInstructions,
    kind: MeanKind,
    bound: float,
    sentence: str,
    *,
    among: int = 1,
    below: bool = False,
    two_sided: bool = False,
) -> AuditLine:
    """A mean compared with its bound; `below`: the mean is of what is lost, and the line of the rest.
    `among`: of how many it is the one that is most significantly beyond. `name`: its key and title.
    """

    def estimate(found: OverInstructions) -> Estimate:
        if below:
            return _turned(kind.estimate(found))
        return _mirrored(kind.estimate(found.mirrored())) if is_negative else kind.estimate(found)

    is_negative = two_sided and found.mean < 0
    p = kind.p(found.mirrored() if is_negative else found, 1 - bound if below else bound)
    line = AuditLine(
        *name,
        estimate(found),
        sentence,
        bound,
        min(1.0, p * among * (2 if two_sided else 1)),
        below=below,
        two_sided=two_sided,
    )
    enough = (times for times in range(2, MOST_TIMES + 1) if line.is_told_by(estimate(found.repeated(times))))
    return replace(line, times=next(enough, None))


def _turned(estimate: Estimate) -> Estimate:
    """That of the other side, whose ends are an Interval as well."""
    of_other = estimate.turned()
    return Estimate(of_other.value, of_other.ends and Interval(*of_other.ends))


def _mirrored(estimate: Estimate) -> Estimate:
    return Estimate(-estimate.value, estimate.ends and Interval(-estimate.ends[1], -estimate.ends[0]))


def too_few(name: str, title: str, instructions: int, what: str) -> AuditLine:
    """A line that lacks items; `what`: what these would have to have, as `with copies`."""
    found = counted(instructions, "instruction", "instructions")
    return AuditLine.untold(name, title, f"{found} {what}; {FEW} are needed.")
