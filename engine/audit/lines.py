"""The lines of an audit: what was measured of a judge, and which of it is an issue.

Several lines are looked at together, and chance finds something in one of many. So a line is an issue only
where Holm's procedure says so: of all audits of a judge that is nowhere beyond a bound, at most 5 % call any
line an issue (Holm, A Simple Sequentially Rejective Multiple Test Procedure, 1979).

Knows: values, bounds, how probable chance is. Does not know: how anything is measured, where it is shown.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from engine.core.value_tables import Estimate
from engine.measure.intervals import holm

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
    """One thing that is looked at.

    `name`: its key; `title`: in words. `value`: a share (0 to 1) or a difference of shares (-1 to 1) with its
    95 % interval, None where it cannot be measured. `bound`: from where on it is an issue; `below`: one that
    lies below it; `two_sided`: one as far on either side. `p`: how probable it would be to find so much, were
    the truth at the bound. `sentence`: what it means. `shown`: a value that is no share, as text. `times`:
    with how many times the items, if they are like these, the interval would lie on one side of the bound;
    None for more than MOST_TIMES.
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
        """One that cannot be measured: why, and what would tell it."""
        return cls(name, title, None, why, verdict=AuditVerdict.UNKNOWN)

    @property
    def found(self) -> bool | None:
        """Whether it is an issue; None where that cannot be measured, or nothing is compared with it."""
        if self.verdict in (AuditVerdict.UNKNOWN, AuditVerdict.FACT):
            return None
        return self.verdict is AuditVerdict.FAULT

    @property
    def value_text(self) -> str:
        """The value as text."""
        return self.shown or ("-" if self.value is None else str(self.value))

    @property
    def bound_text(self) -> str:
        """From where on it is an issue: `over 2.0`, `under 90.0`, `over ±5.0`."""
        if self.bound is None:
            return ""
        side = "under" if self.below else "over"
        return f"{side} {'±' if self.two_sided else ''}{100 * self.bound:.1f}"

    def as_json(self) -> dict[str, Any]:
        """All of it as plain values."""
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
        if self.times is None:
            more = f"{(MOST_TIMES - 1) * items:,} more items would not be enough, if they are like these"
        else:
            more = f"about {(self.times - 1) * items:,} more items would be enough, if they are like these"
        where = "beyond" if self.verdict is AuditVerdict.PERHAPS else "within"
        return replace(
            self, sentence=f"{self.sentence} Not significant whether it is {where} its bound: {more}."
        )

    def judged(self, is_fault: bool) -> "AuditLine":
        """The same with its verdict."""
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


def judged_together(lines: Iterable[AuditLine]) -> tuple[AuditLine, ...]:
    """The lines with their verdicts, in their order."""
    given = list(lines)
    known = [place for place, line in enumerate(given) if line.p is not None]
    corrected = holm([line.p for line in given if line.p is not None])
    faults = {place for place, p in zip(known, corrected, strict=True) if p <= UNCERTAINTY}
    return tuple(line if line.p is None else line.judged(place in faults) for place, line in enumerate(given))
