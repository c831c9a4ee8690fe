"""The lines of an audit: what was measured of a judge, and which of it is an issue."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np

from engine.core.formatting import counted
from engine.core.numeric import FloatArray
from engine.core.tables import Estimate
from engine.metrics.intervals import FEW, Interval, OverInstructions, holm

UNCERTAINTY = 0.05
"""The family-wise error rate: how often a judge that is nowhere beyond a bound may be found to have any
issue."""

MOST_TIMES = 25
"""The largest multiple of the items that is tried for a clear verdict."""


class AuditVerdict(StrEnum):
    """The verdict on a check. The value is its name in JSON."""

    FAULT = "fault"
    PERHAPS = "perhaps"  # beyond its bound, but it may be chance
    NONE_FOUND = "none found"  # within it, but its interval reaches beyond
    SOUND = "sound"  # significantly within it
    UNKNOWN = "cannot be told"
    FACT = "-"  # no bound is compared with it


@dataclass(frozen=True)
class AuditLine:
    """One thing that is looked at. `value`: a share (0 to 1) or a difference of shares (-1 to 1) with its 95
    % interval. `bound`: from where on it is an issue; `below`: one that lies below it; `two_sided`: one as
    far on either side. `p`: how probable so much would be, were the truth at the bound. `shown`: a value that
    is no share, as text. `times`: with how many times the items, if they are like these, the interval would
    lie on one side of the bound; None for more than MOST_TIMES.
    """

    name: str
    title: str
    value: Estimate | None
    sentence: str
    bound: float | None = None
    p: float | None = None
    below: bool = False
    two_sided: bool = False
    shown: str = ""
    times: int | None = None
    verdict: AuditVerdict = AuditVerdict.FACT

    @classmethod
    def untold(cls, name: str, title: str, why: str) -> "AuditLine":
        return cls(name, title, None, why, verdict=AuditVerdict.UNKNOWN)

    @property
    def found(self) -> bool | None:
        """Whether it is an issue; None where that cannot be measured, or nothing is compared with it."""
        known = self.verdict not in (AuditVerdict.UNKNOWN, AuditVerdict.FACT)
        return self.verdict is AuditVerdict.FAULT if known else None

    @property
    def value_text(self) -> str:
        return self.shown or ("-" if self.value is None else str(self.value))

    @property
    def bound_text(self) -> str:
        """From where on it is an issue: `over 2.0`, `under 90.0`, `over ±5.0`."""
        side = f"{'under' if self.below else 'over'} {'±' if self.two_sided else ''}"
        return "" if self.bound is None else f"{side}{100 * self.bound:.1f}"

    def as_json(self) -> dict[str, Any]:
        known = self.value is not None
        return {
            "line": self.name,
            "title": self.title,
            "value": self.value.value if self.value else None,
            "interval": list(self.value.ends) if self.value and self.value.ends else None,
            "bound": self.bound if known else None,
            "p": self.p,
            "verdict": self.verdict.value,
            "found": self.found,
            "sentence": self.sentence,
        }

    def is_told_by(self, estimate: Estimate) -> bool:
        """Whether an interval lies wholly on one side of the bound."""
        if estimate.ends is None:
            return False
        low, high = estimate.ends
        nearest = min(max(low, 0.0), high) if self.two_sided else (high if self.below else low)
        return max(map(self._how_far, (low, high))) <= 0 or self._how_far(nearest) > 0

    def _how_far(self, value: float) -> float:
        """By how much a value is beyond the bound; below 0 within it."""
        assert self.bound is not None
        if self.below:
            return self.bound - value
        return (abs(value) if self.two_sided else value) - self.bound

    def with_more(self, items: int) -> "AuditLine":
        """The same of so many items, saying how many more would tell what is not known."""
        if self.verdict not in (AuditVerdict.PERHAPS, AuditVerdict.NONE_FOUND):
            return self
        more = f"about {((self.times or 0) - 1) * items:,} more items would be enough"
        if self.times is None:
            more = f"{(MOST_TIMES - 1) * items:,} more items would not be enough"
        where = "beyond" if self.verdict is AuditVerdict.PERHAPS else "within"
        said = f"Not significant whether it is {where} its bound: {more}, if they are like these."
        return replace(self, sentence=f"{self.sentence} {said}")

    def judged(self, is_fault: bool) -> "AuditLine":
        assert self.value is not None
        if is_fault:
            verdict = AuditVerdict.FAULT
        elif self._how_far(self.value.value) > 0:
            verdict = AuditVerdict.PERHAPS
        elif self.value.ends is None or max(map(self._how_far, self.value.ends)) > 0:
            verdict = AuditVerdict.NONE_FOUND
        else:
            verdict = AuditVerdict.SOUND
        return replace(self, verdict=verdict)


# Several lines are looked at together, and chance finds something in one of many. So a line is an issue only
# where Holm's procedure says so: of all audits of a judge that is nowhere beyond a bound, at most 5 % call
# any line an issue (Holm, A Simple Sequentially Rejective Multiple Test Procedure, 1979).
def judged_together(lines: Iterable[AuditLine]) -> tuple[AuditLine, ...]:
    given = list(lines)
    known = [place for place, line in enumerate(given) if line.p is not None]
    corrected = holm([line.p for line in given if line.p is not None])
    faults = {place for place, p in zip(known, corrected, strict=True) if p <= UNCERTAINTY}
    return tuple(line if line.p is None else line.judged(place in faults) for place, line in enumerate(given))


def over_criteria(values: FloatArray, groups: Sequence[Hashable]) -> OverInstructions | None:
    """The mean over the criteria of the mean over items of values, shape (criteria, items), NaN for none;
    `groups`: the instruction of each item. None for too few instructions.
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
    """Of a mean: its interval, and, one-sided, how probable so large a one would be, were it at a bound."""

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
judge is hardly called faulty for what it wins everywhere but in 4 % of the items (the same file).
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
        if below:  # that of the other side, whose ends are an Interval as well
            rest = kind.estimate(found).turned()
            return Estimate(rest.value, rest.ends and Interval(*rest.ends))
        if not is_negative:
            return kind.estimate(found)
        other = kind.estimate(found.mirrored())
        return Estimate(-other.value, other.ends and Interval(-other.ends[1], -other.ends[0]))

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


def too_few(name: str, title: str, instructions: int, what: str) -> AuditLine:
    found = counted(instructions, "instruction", "instructions")
    return AuditLine.untold(name, title, f"{found} {what}; {FEW} are needed.")
