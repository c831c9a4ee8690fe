"""What became of one hostile case, and how many of each there were.

Knows: which ends are sound and which are not. Does not know: what the cases are, processes.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum


class Ending(StrEnum):
    """How the program took a case; the value is its name in the figures."""

    TAKEN = "taken, and rightly"
    REFUSED = "refused with an error for people"
    BROKE_IN_TRIAL = "refused: ended the trial's child process"
    REFUSED_LATE = "refused with an error for people, but only after a good trial"
    FAULT = "fault of the program (exit 3)"
    CRASH = "crash outside the trial"
    HANG = "hang"
    LOSS = "silent loss, or another text than the file has"
    WRONGLY_REFUSED = "sound, and refused"
    LET_IN = "control or structure token from foreign text"
    CONTROL_CHARACTER = "raw control character in the output"


SOUND = frozenset((Ending.TAKEN, Ending.REFUSED, Ending.REFUSED_LATE, Ending.BROKE_IN_TRIAL))


@dataclass(frozen=True)
class Outcome:
    """How a case ended. `case`: what it was, in words; `words`: what was found, for whoever mends it."""

    ending: Ending
    case: str = ""
    words: str = ""

    @property
    def sound(self) -> bool:
        """Whether that is as it should be."""
        return self.ending in SOUND


@dataclass
class ValueCounts:
    """The outcomes of one kind of cases."""

    kind: str
    counts: Counter[Ending] = field(default_factory=Counter)
    unsound: list[tuple[int, Outcome]] = field(default_factory=list)
    seconds: float = 0.0
    slowest: tuple[float, int] = (0.0, -1)

    def add(self, number: int, outcome: Outcome, seconds: float) -> None:
        """Count the outcome of the case `number`, which took so many seconds."""
        self.counts[outcome.ending] += 1
        self.seconds += seconds
        self.slowest = max(self.slowest, (seconds, number))
        if not outcome.sound:
            self.unsound.append((number, outcome))

    def lines(self) -> Iterator[str]:
        """The figures, for a person; what must not be is named also where there is none of it."""
        slowest, number = self.slowest
        yield (
            f"{self.kind}: {self.counts.total():,} cases in {self.seconds:,.0f} s,"
            f" the slowest (number {number}) in {slowest:.1f} s"
        )
        for ending in Ending:
            yield f"  {self.counts[ending]:7,}  {ending}"
