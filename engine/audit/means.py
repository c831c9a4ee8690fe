"""Means over items and criteria, where some have no value, and the lines that are made of them.

Knows: intervals over instructions, how few are too few. Does not know: what is measured.
"""

from collections.abc import Hashable, Sequence

import numpy as np

from engine.audit.lines import AuditLine
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


def of_mean(found: OverInstructions) -> Estimate:
    """With its interval; where no value varies, that of differences, which is wider."""
    return Estimate(found.mean, found.mean_interval() or found.difference_interval())


def of_share(found: OverInstructions) -> Estimate:
    """With its interval."""
    return Estimate(found.mean, found.share_interval())


def of_score(found: OverInstructions) -> Estimate:
    """With its interval; where no value varies, that of a share."""
    return Estimate(found.mean, found.score_interval() or found.share_interval())


def turned(estimate: Estimate) -> Estimate:
    """That of the other side, whose ends are an Interval as well."""
    of_other = estimate.turned()
    return Estimate(of_other.value, of_other.ends and Interval(*of_other.ends))


def too_few(name: str, title: str, instructions: int, what: str) -> AuditLine:
    """A line that lacks items; `what`: what these would have to have, as `with copies`."""
    found = counted(instructions, "instruction", "instructions")
    return AuditLine.untold(name, title, f"{found} {what}; it takes {FEW}.")


def far_from_zero(found: OverInstructions, bound: float) -> float:
    """Two-sided, how probable it would be to find a mean so far from 0, were it no farther than `bound`."""
    larger = found if found.mean >= 0 else found.mirrored()
    return min(1.0, 2 * larger.p_mean_above(bound))
